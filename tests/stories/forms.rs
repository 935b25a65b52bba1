//! A plan in several forms at once, each in its file.

use pushplan::plan::Plan;
use pushplan::render::plan::{self, NextSteps};
use pushplan::render::{Style, html};
use pushplan_testing::{Project, says};
use serde_json::Value;

const SALE: &str = "\
segments:
  buyers: {criteria: {and: [{tag: buyer}, {country: [US, CA]}]}}
templates:
  winback:
    variables: [{key: NAME, name: Name, default_value: friend}]
    previews: {long: {NAME: Maximiliane-Charlotte}}
    push: {notification: {alert: 'Hi {{NAME}}, we miss you'}}
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2035-11-27T09:00, time_zone: America/New_York}
    push: {audience: {segment: buyers}, device_types: [ios], notification: {alert: The sale is on}}
";

#[test]
fn one_run_writes_all_forms_and_the_plan_itself() {
    let project = Project::new(SALE);
    let settings = project.folder.read("pushplan.toml");
    project.folder.write("pushplan.toml", format!("[project]\nname = \"Shoes\"\n{settings}"));
    let _service = project.serve();
    let arguments = [
        "plan", "--out", "p.plan", "--format", "json", "--out", "p.json", "--format", "markdown", "--out", "p.md",
        "--format", "html", "--out", "p.html", "--format", "text",
    ];
    let ran = project.good(&arguments);
    says(&ran.stdout, &["+ scheduled_pushes/sale", "Next: pushplan apply p.plan"]);
    assert_eq!(ran.stderr, "Wrote p.json\nWrote p.md\nWrote p.html\n");
    let json: Value = serde_json::from_str(&project.folder.read("p.json")).expect("JSON");
    assert_eq!(json["counts"]["create"], 3);
    let page = project.folder.read("p.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("Shoes"), "the message comes from the project");
    let digest = json["digest"].as_str().expect("a digest");
    for file in ["p.md", "p.html"] {
        let text = project.folder.read(file);
        assert!(
            text.contains(&digest[..12]) || text.contains(json["short_digest"].as_str().expect("a digest")),
            "{file}"
        );
        says(&text, &["The sale is on", "Maximiliane-Charlotte"]);
    }
    says(&project.good(&["apply", "p.plan"]).stdout, &["3 created."]);
}

#[test]
fn every_fact_of_the_text_is_in_the_json() {
    let project = Project::new(SALE);
    let _service = project.serve();
    let text = project.good(&["plan"]).stdout;
    says(
        &text,
        &["09:00 America/New_York = 14:00 UTC", "Los Angeles 06:00 Tue", "shown as", "long: Hi Maximiliane-Charlotte"],
    );
    let json: Value = serde_json::from_str(&project.good(&["plan", "--format", "json"]).stdout).expect("JSON");
    let of = |address: &str| {
        let all = json["changes"].as_array().expect("changes");
        all.iter().find(|change| change["address"] == address).cloned().expect("a change")
    };
    let sale = of("scheduled_pushes/sale");
    assert_eq!(sale["times"][0]["at"], "2035-11-27T14:00:00Z");
    assert_eq!(sale["times"][0]["zone"], "America/New_York");
    let cities: Vec<&str> = sale["times"][0]["there"]
        .as_array()
        .expect("places")
        .iter()
        .filter_map(|there| there["city"].as_str())
        .collect();
    assert!(cities.contains(&"Los Angeles"), "{cities:?}");
    assert_eq!(sale["audiences"][0]["words"], "segment buyers");
    assert_eq!(sale["messages"][0]["text"], "The sale is on");
    assert_eq!(of("templates/winback")["messages"][1]["text"], "Hi Maximiliane-Charlotte, we miss you");
    assert_eq!(of("segments/buyers")["used_by"][0]["address"], "scheduled_pushes/sale");
}

#[test]
fn a_plan_that_is_only_shown_is_not_applied() {
    let project = Project::new(SALE);
    let _service = project.serve();
    let ran = project.good(&["plan", "--format", "json", "--out", "p.json"]);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", "Wrote p.json\n"));
    let ran = project.run(&["apply", "p.json"]);
    assert_eq!(ran.code, 5, "{ran}");
    says(
        &ran.stderr,
        &["p.json is not a saved plan: it was written by --format json", "make a new plan: pushplan plan --out FILE"],
    );
}

#[test]
fn the_same_plan_is_the_same_bytes_in_every_form() {
    let project = Project::new(SALE);
    let _service = project.serve();
    project.good(&["plan", "--out", "p.plan"]);
    let read = || Plan::load(&project.folder.read("p.plan")).expect("a plan");
    let (one, other) = (read(), read());
    let forms = |plan: &Plan| {
        let ahead = NextSteps::default();
        [
            plan::text(plan, &ahead, Style::PLAIN),
            plan::json(plan, &ahead),
            plan::markdown(plan, &ahead),
            html::report::html(plan, &ahead),
        ]
    };
    for (one, other) in forms(&one).iter().zip(&forms(&other)) {
        assert_eq!(one, other);
    }
}

#[test]
fn two_forms_cannot_share_standard_output() {
    let project = Project::new(SALE);
    let ran = project.run(&["plan", "--format", "text", "--format", "json"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["only one form can go to standard output"]);
}

const PUSH: &str = "\
segments:
  base: {criteria: {country: [US, CA]}}
scheduled_pushes:
  one:
    name: Sale
    schedule: {scheduled_time: 2035-11-27T09:00}
    push: {audience: {segment: base}, device_types: [ios, android], notification: {alert: Sale}}
";

#[test]
fn what_is_left_out_changes_nobody() {
    let project = Project::new(PUSH);
    let _service = project.serve();
    says(&project.good(&["plan"]).stdout, &["alert         Sale"]);
    project.good(&["apply", "--yes"]);
    project.edit("[US, CA]", "[US, GB]");
    project.edit("alert: Sale", "alert: The sale is on");
    let whole = project.good(&["plan"]).stdout;
    says(&whole, &["effect", "(through a segment in the audience)"]);
    let part = project.good(&["plan", "--except", "segments/base"]).stdout;
    assert!(!part.contains("effect") && part.contains("country = CA or US"), "{part}");
}

#[test]
fn other_kinds_of_device_are_no_change_of_a_segment() {
    let project = Project::new(PUSH);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("[ios, android]", "[ios]");
    let shown = project.good(&["plan"]).stdout;
    says(&shown, &["narrower: nobody joins; some leave, such as an Android device"]);
    assert!(!shown.contains("through a segment"), "{shown}");
}

#[test]
fn a_segment_of_ours_that_is_named_by_its_id_is_the_same_and_stays() {
    let project = Project::new(PUSH);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let id = service.segment_id("base");
    project.edit("audience: {segment: base}", &format!("audience: {{segment: {{id: {id}}}}}"));
    says(&project.good(&["plan"]).stdout, &["No changes."]);
    project.edit("segments:\n  base: {criteria: {country: [US, CA]}}\n", "");
    let ran = project.good(&["apply", "--yes"]);
    assert_eq!(service.segments(), ["base"], "a push names it: {ran}");
    says(&project.good(&["plan"]).stdout, &["is not deleted yet: scheduled_pushes/one still"]);
}

#[test]
fn a_line_break_that_takes_the_place_of_a_blank_is_seen() {
    let project = Project::new("templates:\n  hi: {push: {notification: {alert: \"Hello dear reader of ours\"}}}\n");
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("dear reader", "dear\\nreader");
    says(&project.good(&["plan"]).stdout, &["Hello dear[- -]{+\\n+}reader of ours"]);
    let markdown = project.good(&["plan", "--format", "markdown"]).stdout;
    says(&markdown, &["- alert: Hello dear reader of ours", "+ alert: Hello dear\\nreader of ours"]);
    says(&project.good(&["plan", "--format", "html"]).stdout, &["<del> </del><ins>\\n</ins>"]);
}

#[test]
fn an_alert_is_no_page_whatever_it_looks_like() {
    let project =
        Project::new("templates:\n  sale: {push: {notification: {alert: \"<p>Sale today</p> <!-- 10% off -->\"}}}\n");
    let _service = project.serve();
    says(&project.good(&["plan"]).stdout, &["<p>Sale today</p> <!-- 10% off -->"]);
    project.good(&["apply", "--yes"]);
    project.edit("10%", "90%");
    let ran = project.good(&["plan"]);
    says(&ran.stdout, &["<!-- [-10-]{+90+}% off -->"]);
    assert!(!ran.stdout.contains("markup"), "{ran}");
}
