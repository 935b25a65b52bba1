//! Git has changed since staging was applied: production gets staging's state, without anything specific to staging.

use pushplan_testing::says;
use reqwest::Method;
use serde_json::json;

use super::{tag, two};

const PROMOTE: [&str; 5] = ["promote", "--from", "staging", "--to", "production"];

fn yes() -> Vec<&'static str> {
    [&PROMOTE[..], &["--yes"]].concat()
}

#[test]
fn production_gets_what_staging_has_where_git_has_gone_on() {
    let with = |name: &str| format!("segments:\n  c: {{display_name: {name}, criteria: {{tag: \"c-${{var.of}}\"}}}}\n");
    let world = two(&with("C new"));
    world.good(&["apply", "--target", "staging,production", "--yes"]);
    world.project.write(&with("C v2"));
    world.good(&["apply", "--target", "staging", "--yes"]);
    world.project.write(&with("C v3"));
    says(
        &world.good(&PROMOTE).stdout,
        &["~ segments/c", "C v2", "segments/c: your latest version is not on staging yet"],
    );
    world.good(&yes());
    assert_eq!(world.segments("shop-us"), vec![("C v2".into(), tag("c-live"))]);
    let told = world.good(&PROMOTE).stdout;
    says(
        &told,
        &[
            "No changes. production has everything that staging has.",
            "segments/c: your latest version is not on staging yet",
        ],
    );
    says(&told, &["your latest version is not on staging yet; the version on staging is already on this", "target"]);
}

#[test]
fn what_may_be_of_staging_alone_is_held_back_and_the_end_says_so() {
    let world = two("segments:\n  a: {criteria: {tag: a}}\n  b: {criteria: {tag: \"b-${var.of}\"}}\n");
    world.good(&["apply", "--target", "staging", "--yes"]);
    // Git now has the same b for both targets, and a different a for each.
    world.project.write("segments:\n  a: {criteria: {tag: \"a-${var.of}\"}}\n  b: {criteria: {tag: b}}\n");
    let ran = world.good(&PROMOTE);
    says(
        &ran.stdout,
        &[
            "No changes. production may differ from staging: 2 resources are blocked.",
            "segments/a: blocked: ",
            "segments/b: blocked: criteria.tag on staging may be for staging only",
        ],
    );
    let ran = world.run(&yes());
    assert_eq!(ran.code, 6, "{ran}");
    assert_eq!(world.segments("shop-us"), vec![]);
    // Several targets have the same result.
    let ran = world.run(&["promote", "--from", "staging", "--to", "prod*,production", "--yes"]);
    assert_eq!(ran.code, 6, "{ran}");
    world.good(&["apply", "--target", "staging", "--yes"]);
    world.good(&yes());
    assert_eq!(world.segments("shop-us"), vec![("a".into(), tag("a-live")), ("b".into(), tag("b"))]);
}

#[test]
fn what_is_held_back_stays_also_where_it_has_another_key_by_now() {
    let with = |key: &str, name: &str| {
        format!("segments:\n  {key}\n    display_name: Lapsed\n    criteria: {{tag: \"{name}-${{var.of}}\"}}\n")
    };
    let world = two(&with("old:", "one"));
    world.good(&["apply", "--target", "staging,production", "--yes"]);
    let renamed = "new:\n    lifecycle: {renamed_from: old}";
    world.project.write(&with(renamed, "one"));
    world.good(&["apply", "--target", "staging", "--yes"]);
    world.project.write(&with(renamed, "two"));
    let plan = world.good(&PROMOTE).stdout;
    says(&plan, &["segments/new: blocked"]);
    assert!(!plan.contains("segments/old deleted") && !plan.contains("- segments/old"), "{plan}");
    let ran = world.run(&yes());
    assert_eq!(ran.code, 6, "{ran}");
    assert_eq!(world.segments("shop-us"), vec![("Lapsed".into(), tag("one-live"))]);
    // If staging has everything, only the same change remains.
    world.good(&["apply", "--target", "staging", "--yes"]);
    let ran = world.good(&yes());
    assert!(!ran.stdout.contains("created") && !ran.stdout.contains("deleted"), "{ran}");
    assert_eq!(world.segments("shop-us"), vec![("Lapsed".into(), tag("two-live"))]);
}

#[test]
fn what_is_left_to_the_dashboard_of_staging_does_not_come_to_production() {
    let with = |country: &str| {
        format!(
            "segments:\n  c: {{display_name: C, criteria: {{tag: {country}}}, lifecycle: {{ignore: [display_name]}}}}\n"
        )
    };
    let world = two(&with("v1"));
    world.good(&["apply", "--target", "staging", "--yes"]);
    let all = world.ask("shop-de", Method::GET, "/api/segments", None);
    let path = format!("/api/segments/{}", all["segments"][0]["id"].as_str().expect("an id"));
    let edited = json!({"display_name": "Test by Bob", "criteria": {"tag": "v1"}});
    world.ask("shop-de", Method::PUT, &path, Some(&edited));
    world.project.write(&with("v2"));
    world.good(&["apply", "--target", "staging", "--yes"]);
    assert_eq!(world.segments("shop-de"), vec![("Test by Bob".into(), tag("v2"))]);
    // Git continues: the condition is staging's, the name is git's.
    world.project.write(&with("v3"));
    world.good(&yes());
    assert_eq!(world.segments("shop-us"), vec![("C".into(), tag("v2"))]);
}

#[test]
fn a_promotion_that_would_be_refused_exits_with_7() {
    let segments = |count: usize| {
        let all: String = (0..count).map(|number| format!("  s{number}: {{criteria: {{tag: t{number}}}}}\n")).collect();
        format!("segments:\n{all}")
    };
    let world = two(&segments(12));
    world.good(&["apply", "--target", "staging,production", "--yes"]);
    world.project.write(&segments(6));
    world.good(&["apply", "--target", "staging", "--yes", "--allow-deletes", "6"]);
    for command in [&PROMOTE[..], &yes()] {
        let ran = world.run(command);
        assert_eq!(ran.code, 7, "{ran}");
        says(&format!("{}{}", ran.stdout, ran.stderr), &["6 deletions (6 of 12 in segments (50 %))"]);
    }
    assert_eq!(world.segments("shop-us").len(), 12);
}
