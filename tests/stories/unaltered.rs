//! A plan shows only its own effects: a deferred deletion, a refused time or a missing push changes no message.

use pushplan_testing::{Project, says};

const BASE: &str = "\
segments:
  lapsed: {criteria: {and: [{tag: buyer}, {tag: lapsed}]}}
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2035-12-10T10:00}
    push: {audience: {segment: lapsed}, device_types: [ios], notification: {alert: Sale}}
";

#[test]
fn a_deletion_that_waits_changes_no_message() {
    let project = Project::new(BASE);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    let ran = project.good(&["destroy", "--dry-run", "--only", "segments/lapsed"]);
    says(
        &ran.stdout,
        &["No message changes.", "is not deleted yet: scheduled_pushes/sale", "Plan: 1 to delete later, "],
    );
    for wrong in ["joins", "leaves", "- all of", "manual step", "by hand"] {
        assert!(!ran.stdout.contains(wrong), "{wrong}: {ran}");
    }
}

#[test]
fn a_time_that_has_passed_is_no_new_time_of_a_push() {
    let project = Project::new(BASE);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("2035-12-10T10:00", "2020-12-10T10:00");
    let ran = project.refused(&[]);
    says(
        &ran.stdout,
        &["No message changes.", "has passed", "Plan: 1 unchanged. 1 is too late (", "Apply refuses this plan"],
    );
    assert!(!ran.stdout.contains("another time"), "{ran}");
    // One that does not exist is not created either.
    let project = Project::new(&BASE.replace("2035-12-10", "2020-12-10"));
    let _service = project.serve();
    let ran = project.refused(&[]);
    says(&ran.stdout, &["No message changes.", "Plan: 1 to create, 0 unchanged. 1 is too late ("]);
}

#[test]
fn a_push_that_is_gone_and_not_created_again_is_cancelled() {
    let project = Project::new(BASE);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let schedules = service.get("/api/schedules");
    let url = schedules["schedules"][0]["url"].as_str().expect("a URL").to_owned();
    service.delete(&url[url.find("/api/").expect("a path")..]);
    project.edit("{tag: buyer}, ", "");
    let ran = project.run(&["plan", "--format", "json"]);
    let plan: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let messages = plan["messages"].as_array().expect("messages");
    let actions: Vec<&str> = messages.iter().filter_map(|message| message["action"].as_str()).collect();
    assert_eq!(actions, ["cancel"], "{ran}");
    let ran = project.run(&["plan"]);
    says(
        &ran.stdout,
        &[
            "CANCELLED",
            "because scheduled_pushes/sale was deleted on the service since the last apply",
            "will not create it again",
        ],
    );
    assert!(!ran.stdout.contains("more people"), "{ran}");
}

#[test]
fn the_zone_of_a_default_is_no_cause_of_an_edited_time() {
    let defaults = "defaults:\n  scheduled_pushes: {schedule: {time_zone: Europe/Paris}}\n";
    let project = Project::new(&format!("{defaults}{BASE}"));
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("2035-12-10T10:00", "2035-12-10T11:00");
    let ran = project.good(&["plan"]);
    says(&ran.stdout, &["Mon 10 Dec 2035 10:00 → 11:00 Europe/Paris"]);
    assert!(!ran.stdout.contains("because defaults"), "{ran}");
    project.edit("2035-12-10T11:00", "2035-12-10T10:00");
    project.edit("Europe/Paris", "Europe/London");
    let ran = project.good(&["plan"]);
    says(&ran.stdout, &["because defaults.scheduled_pushes changes schedule (messages.yaml:2)"]);
}
