//! The report of an apply, and its behaviour when the service is busy.

use std::time::{Duration, Instant};

use pushplan_testing::{Project, Ran, says};
use serde_json::Value;

const MIXED: &str = "\
segments:
  a: {criteria: {tag: a}}
  b: {criteria: {and: [{segment: a}, {tag: b}]}}
named_users:
  u: {channels: [{channel_id: 04cc8283-ae38-4177-b206-6f92cf1992cb, device_type: ios}]}
";

fn lines(ran: &Ran) -> Vec<Value> {
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}

#[test]
fn a_plan_as_json_is_one_value_with_everything() {
    let project = Project::new(MIXED);
    let _service = project.serve();
    let ran = project.good(&["plan", "--format", "json"]);
    let plan: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let changes = plan["changes"].as_array().expect("changes");
    let addresses: Vec<&str> = changes.iter().map(|change| change["address"].as_str().expect("an address")).collect();
    assert_eq!(addresses, ["named_users/u/04cc8283-ae38-4177-b206-6f92cf1992cb", "segments/a", "segments/b"]);
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_report_as_json_is_one_value_with_every_step() {
    let project = Project::new(MIXED);
    let _service = project.serve();
    let ran = project.run(&["apply", "--yes", "--format", "json", "--on-error", "continue"]);
    assert_eq!(ran.code, 6, "{ran}");
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let steps = report["steps"].as_array().expect("steps");
    assert_eq!(steps.len(), 3);
    let text = report.to_string();
    says(&text, &["segments/a", "segments/b", "\"failed\"", "\"done\""]);
    // Also if there is nothing to do.
    let project = Project::new("segments: {}\n");
    let _service = project.serve();
    let ran = project.good(&["apply", "--yes", "--format", "json"]);
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(report["steps"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_report_as_lines_has_one_for_each_step_and_one_for_the_end() {
    let project = Project::new(MIXED);
    let _service = project.serve();
    let ran = project.run(&["apply", "--yes", "--format", "jsonl", "--on-error", "continue"]);
    assert_eq!(ran.code, 6, "{ran}");
    let lines = lines(&ran);
    assert_eq!(lines.len(), 4);
    let mut addresses: Vec<&str> = lines.iter().filter_map(|line| line["address"].as_str()).collect();
    addresses.sort_unstable();
    assert_eq!(addresses, ["named_users/u/04cc8283-ae38-4177-b206-6f92cf1992cb", "segments/a", "segments/b"]);
}

#[test]
fn stop_begins_nothing_more_and_continue_does_what_can_be_done() {
    let manifest = "\
named_users:
  u: {channels: [{channel_id: 04cc8283-ae38-4177-b206-6f92cf1992cb, device_type: ios}]}
segments:
  z: {criteria: {tag: z}}
";
    let project = Project::new(manifest);
    let service = project.serve();
    let ran = project.run(&["apply", "--yes", "--concurrency", "1"]);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stdout, &["Failed: 1", "Not started: 1", "was not applied"]);
    assert_eq!(service.segments(), Vec::<String>::new());
    let ran = project.run(&["apply", "--yes", "--concurrency", "1", "--on-error", "continue"]);
    assert_eq!(ran.code, 6, "{ran}");
    says(&ran.stdout, &["Failed: 1", "1 created"]);
    assert_eq!(service.segments(), ["z"]);
}

#[test]
fn one_at_a_time_does_the_same_as_many() {
    let project = Project::new(&MIXED.replace("named_users", "x-later"));
    let service = project.serve();
    project.good(&["apply", "--yes", "--concurrency", "1"]);
    assert_eq!(service.segments(), ["a", "b"]);
    assert_eq!(project.changes(&[]), Vec::<String>::new());
}

#[test]
fn a_busy_service_is_given_the_time_that_it_asks_for() {
    let rules = "[[fault]]\nkind = \"rate-limit\"\nretry_after = 1\nmethod = \"POST\"\ntimes = 2\n";
    let project = Project::new("segments:\n  a: {criteria: {tag: a}}\n  b: {criteria: {tag: b}}\n");
    let service = project.faulty(rules);
    let began = Instant::now();
    let ran = project.good(&["apply", "--yes"]);
    assert!(began.elapsed() >= Duration::from_secs(1), "{ran}");
    says(&ran.stderr, &["The service limits the rate of requests. Waiting 1 s."]);
    assert_eq!(service.segments(), ["a", "b"]);
    assert_eq!(project.changes(&[]), Vec::<String>::new());
}

#[test]
fn a_busy_service_may_ask_for_more_time_than_a_request_has_to_leave() {
    let rules = "[[fault]]\nkind = \"rate-limit\"\nretry_after = 3\nmethod = \"POST\"\ntimes = 1\n";
    let project = Project::new("segments:\n  a: {criteria: {tag: a}}\n");
    let service = project.faulty(rules);
    project.good(&["apply", "--yes"]);
    assert_eq!(service.segments(), ["a"]);
}

#[test]
fn nonsense_about_when_to_come_back_is_survived() {
    for retry_after in ["\"soon\"", "\"Fri, 31 Dec 1999 23:59:59 GMT\"", "0"] {
        let rules =
            format!("[[fault]]\nkind = \"rate-limit\"\nretry_after = {retry_after}\nmethod = \"POST\"\ntimes = 1\n");
        let project = Project::new("segments:\n  a: {criteria: {tag: a}}\n");
        let service = project.faulty(&rules);
        project.good(&["apply", "--yes"]);
        assert_eq!(service.segments(), ["a"]);
    }
}

#[test]
fn what_is_replaced_or_made_again_is_told_with_its_new_id() {
    let project = Project::documented("segments:\n  a: {criteria: {tag: a}}\n");
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("tag: a", "tag: b");
    let ran = project.good(&["apply", "--yes"]);
    let id = service.segment_id("a");
    says(&ran.stderr, &[&format!("± segments/a replaced ({id})\n")]);
    says(&ran.stdout, &["\n1 replaced.\n"]);
    service.delete(&format!("/api/segments/{id}"));
    let ran = project.good(&["apply", "--yes"]);
    says(&ran.stderr, &[&format!("+ segments/a created ({})\n", service.segment_id("a"))]);
    says(&ran.stdout, &["\n1 created.\n"]);
}

#[test]
fn what_the_ledger_alone_takes_note_of_is_no_change() {
    let project = Project::new("segments:\n  a: {criteria: {tag: a}}\n");
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("{tag: a}}", "{tag: a}, lifecycle: {protect: true}}");
    let ran = project.good(&["apply"]);
    assert_eq!(ran.stdout, "No changes. local matches your files (1 resource).\n");
    assert_eq!(ran.stderr, "");
    // The ledger has recorded it anyway.
    project.write("segments:\n  b: {criteria: {tag: b}}\n");
    says(&project.run(&["apply", "--yes"]).stderr, &["segments/a is protected"]);
    // For users, removing the protection is a change.
    project.write("segments:\n  a: {criteria: {tag: a}, lifecycle: {protect: false}}\n");
    says(&project.good(&["apply", "--yes"]).stdout, &["\n1 unprotected.\n"]);
    for format in ["json", "jsonl"] {
        let project = Project::new("segments:\n  a: {criteria: {tag: a}}\n");
        let _service = project.serve();
        project.good(&["apply", "--yes"]);
        // The version stamp of the created resource.
        let ran = project.good(&["apply", "--format", format]);
        let report: Value = serde_json::from_str(&ran.stdout).expect("one value");
        assert_eq!(report["counts"]["done"], 0, "{ran}");
        assert_eq!(report["steps"].as_array().map(Vec::len), Some(0), "{ran}");
        assert_eq!(report["ending"], "done");
    }
}
