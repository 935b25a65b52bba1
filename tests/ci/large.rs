//! A pull request for 120 targets: few requests, and one comment that begins with what differs.

use pushplan_testing::hosts::KINDS;
use pushplan_testing::says;

use crate::shops::Shops;

const TARGETS: usize = 120;

/// The resources of each target. The most that is tried is `PUSHPLAN_RESOURCES=200`.
fn resources() -> usize {
    std::env::var("PUSHPLAN_RESOURCES").ok().and_then(|number| number.parse().ok()).unwrap_or(3)
}

/// One template, and segments. One target has its own city, and another one its own name of a segment.
fn manifest(text: &str, name: &str) -> String {
    let segment = |number| format!("  s{number}: {{criteria: {{tag: tag-{number}}}}}\n");
    let segments: String = (1..resources()).map(segment).collect();
    format!(
        "templates:\n  hello: {{push: {{notification: {{alert: \"{text} ${{var.city}}\"}}}}}}\nsegments:\n{segments}\
         overlays:\n  shop-042: {{segments: {{s1: {{display_name: {name}}}}}}}\n"
    )
}

#[test]
fn an_edit_for_all_targets_is_reviewed_applied_and_watched_with_few_requests() {
    for kind in KINDS {
        let shops = Shops::new(kind, TARGETS);
        let city = |number: usize| {
            let city = if number == 7 { "Paris" } else { "Berlin" };
            format!("[targets.shop-{number:03}.variables]\ncity = \"{city}\"\n")
        };
        let groups = "[groups.staging]\ntargets = [\"shop-00*\"]\n[groups.production]\ntargets = [\"shop-1*\"]\n";
        shops.settle("", &((0..TARGETS).map(city).collect::<String>() + groups));
        shops.team.project.write(&manifest("Hello", "Tagged"));
        shops.good(&["apply", "--all-targets", "--yes", "--concurrency", "64"], &vec![]);
        shops.team.project.write(&manifest("Good evening", "Loyal"));
        let asked = || std::mem::take(&mut shops.team.host.state().asked).len();
        assert_eq!(shops.comment(), 0);
        let number = asked();
        assert!(number <= 10, "{number} calls");
        let body = shops.team.host.only(7);
        let first: Vec<&str> = body.lines().skip(1).take(20).collect();
        let first = first.join("\n");
        says(&first, &["## Plan for 120 targets: 120 with changes", "shop-042", "**Unlike the "]);
        says(&body, &["| Environment | With changes |", "| staging | 10 of 10 |"]);
        says(&body, &["| Variable | Value |", "Paris", "on shop-007", "Loyal"]);
        assert!(body.len() <= 60_000 && !body.contains("--accept-truncated"), "{} bytes: {body}", body.len());
        let summary = shops.good(&["ci", "summary", "--plan", "plans"], &vec![]);
        says(&summary.stdout, &["## Plan for 120 targets", "templates/hello"]);
        let commit = shops.team.host.merge(7);
        shops.good(&["apply", "--approved", "--yes", "--all-targets"], &shops.team.on_main(&commit));
        let number = asked();
        assert!(number <= 10, "{number} calls");
        let body = shops.team.host.only(7);
        says(&body, &["**Applied to** `shop-000`", "and 107 more targets", "1 updated.", "2 updated."]);
        assert!(body.chars().count() < 65_536);
        let ran = shops.good(&["drift", "--all-targets", "--detailed-exitcode"], &vec![]);
        says(&ran.stdout, &["120 targets, none with drift."]);
    }
}
