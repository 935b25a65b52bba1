//! `forget` for resources that send messages by themselves, and their adoption.

use pushplan_testing::{Project, Service, changes, says};
use serde_json::json;

const PUSH: &str = "\
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2035-01-22T10:00}
    push: {audience: {segment: vip}, device_types: [ios], notification: {alert: Sale}}
segments:
  vip: {criteria: {tag: vip}}
";

fn pushes(service: &Service) -> usize {
    service.names("/api/schedules", "schedules", "name").len()
}

#[test]
fn a_pending_push_that_cannot_be_listed_is_forgotten_only_on_purpose() {
    let project = Project::documented(PUSH);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let ran = project.run(&["forget", "scheduled_pushes/sale"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(
        &ran.stderr,
        &[
            "scheduled_pushes/sale is pending, and this API cannot list it",
            "a later apply would create it again",
            "pushplan forget scheduled_pushes/sale --even-if-pending",
        ],
    );
    project.good(&["apply", "--yes"]);
    assert_eq!(pushes(&service), 1);
    project.good(&["forget", "scheduled_pushes/sale", "--even-if-pending"]);
    assert_eq!(project.changes(&[]), ["+ scheduled_pushes/sale"]);
}

#[test]
fn a_pending_push_that_is_listed_can_be_let_go() {
    let project = Project::new(PUSH);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.good(&["forget", "scheduled_pushes/sale"]);
    assert_eq!(changes(&project.refused(&[])), ["! scheduled_pushes/sale"]);
    assert_eq!(pushes(&service), 1);
}

#[test]
fn a_push_that_cannot_be_listed_is_adopted_on_its_authors_word() {
    let project = Project::documented(PUSH);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let url = service.get("/api/schedules")["schedules"][0]["url"].as_str().expect("a url").to_owned();
    let id = url.rsplit('/').next().expect("an id");
    project.good(&["forget", "scheduled_pushes/sale", "--even-if-pending"]);
    let ran = project.run(&["adopt", "scheduled_pushes/sale"]);
    assert_eq!(ran.code, 1, "{ran}");
    says(
        &ran.stderr,
        &["this API cannot show whether the service has scheduled_pushes/sale", "scheduled_pushes/sale --id ID"],
    );
    assert_eq!(project.run(&["adopt", "scheduled_pushes/sale", "--id", " "]).code, 64);
    let ran = project.good(&["adopt", "scheduled_pushes/sale", "--id", id]);
    says(&ran.stdout, &["scheduled_pushes/sale  ", id, "1 resource adopted"]);
    says(&ran.stderr, &["scheduled_pushes/sale is adopted as declared", "cannot show whether it exists"]);
    assert_eq!(project.good(&["plan"]).stdout, "No changes. local matches your files (2 resources).\n");
    assert_eq!(pushes(&service), 1);
    // It is managed with everything it names: a change of that is a manual step, as for any other.
    project.edit("tag: vip", "tag: gold");
    let mut shown = project.changes(&[]);
    shown.sort();
    assert_eq!(shown, ["! scheduled_pushes/sale", "± segments/vip"]);
}

#[test]
fn a_push_in_doubt_is_not_adopted_past_the_doubt() {
    let project = Project::documented(PUSH);
    let _service =
        project.faulty("[[fault]]\nkind = \"close\"\nwhen = \"after\"\nmethod = \"POST\"\npath = \"/api/schedules\"\n");
    assert_eq!(project.run(&["apply", "--yes"]).code, 6);
    let ran = project.run(&["adopt", "scheduled_pushes/sale", "--id", "x"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["the state of scheduled_pushes/sale is unknown", "pushplan resolve scheduled_pushes/sale"]);
}

/// A segment of which an older version stays for a push that cannot be changed.
const HELD: &str = "\
segments:
  vip: {display_name: VIP, criteria: {tag: vip}}
  other: {criteria: {tag: other}}
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2035-07-01T10:00}
    push: {audience: {segment: vip}, device_types: [ios], notification: {alert: Sale}}
";

#[test]
fn older_versions_are_let_go_too() {
    let project = Project::documented(HELD);
    let service = project.serve_with(&["--clock", "2035-06-01T00:00Z"]);
    project.good(&["apply", "--yes"]);
    project.edit("tag: vip", "tag: gold");
    project.manual(&["apply", "--yes"]);
    assert_eq!(service.segments(), ["VIP", "VIP", "other"]);
    says(&project.good(&["forget", "segments/vip"]).stdout, &["Forgot segments/vip"]);
    assert_eq!(project.run(&["forget", "segments/vip"]).code, 64, "there is nothing left to let go");
    // The push was sent, so nothing refers to the older version any more.
    service.post("/local/clock", &json!({"to": "2035-08-01T00:00:00Z"}));
    project.write("segments:\n  other: {criteria: {tag: other}}\n");
    service.forget();
    project.good(&["apply", "--yes", "--allow-deletes", "9"]);
    assert_eq!(service.writes(), Vec::<String>::new());
    assert_eq!(service.segments(), ["VIP", "VIP", "other"]);
}

#[test]
fn what_has_only_an_older_version_left_can_be_let_go() {
    let project = Project::documented(HELD);
    let service = project.serve_with(&["--clock", "2035-06-01T00:00Z"]);
    project.good(&["apply", "--yes"]);
    project.edit("tag: vip", "tag: gold");
    project.manual(&["apply", "--yes"]);
    project.write("segments:\n  other: {criteria: {tag: other}}\n");
    project.manual(&["apply", "--yes", "--allow-deletes", "9"]);
    assert_eq!(service.segments(), ["VIP", "other"], "the older one is still named");
    project.good(&["forget", "segments/vip"]);
    service.post("/local/clock", &json!({"to": "2035-08-01T00:00:00Z"}));
    service.forget();
    project.good(&["apply", "--yes", "--allow-deletes", "9"]);
    assert_eq!(service.writes(), Vec::<String>::new());
    assert_eq!(service.segments(), ["VIP", "other"]);
}

#[test]
fn a_push_has_gone_out_by_the_clock_of_the_service() {
    let project = Project::documented(PUSH);
    let service = project.serve_with(&["--clock", "2035-01-01T00:00Z"]);
    project.good(&["apply", "--yes"]);
    assert_eq!(project.run(&["forget", "scheduled_pushes/sale"]).code, 7);
    service.post("/local/clock", &json!({"to": "2035-02-01T00:00:00Z"}));
    let ran = project.good(&["forget", "scheduled_pushes/sale"]);
    says(&ran.stdout, &["A sent message cannot be undone"]);
    // If the service cannot be reached, the real time counts.
    drop(service);
    project.good(&["forget", "segments/vip"]);
}

#[test]
fn what_the_target_would_prune_is_not_let_go_of() {
    let project = Project::with(PUSH, "prune = {segments = true, scheduled_pushes = true}\n");
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    // A person decides about declared resources.
    project.good(&["forget", "segments/vip", "scheduled_pushes/sale"]);
    project.good(&["adopt", "--all-matching"]);
    project.write("templates:\n  t: {push: {notification: {alert: Hi}}}\n");
    let ran = project.run(&["forget", "segments/vip", "scheduled_pushes/sale"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(
        &ran.stderr,
        &[
            "scheduled_pushes/sale is not in your files, and prune.scheduled_pushes of local deletes",
            "ignore_unmanaged = [\"scheduled_pushes/sale\"]",
        ],
    );
    let toml = project.folder.read("pushplan.toml");
    let ignore = "ignore_unmanaged = [\"scheduled_pushes/sale\", \"segments/vip\"]\n";
    project.folder.write("pushplan.toml", format!("{toml}{ignore}"));
    project.good(&["forget", "segments/vip", "scheduled_pushes/sale"]);
    project.good(&["apply", "--yes"]);
    assert_eq!((service.segments(), pushes(&service)), (vec!["vip".to_owned()], 1));
}

#[test]
fn a_forgotten_segment_changes_nothing_that_names_it() {
    let project = Project::new(
        "\
segments:
  a: {display_name: A, criteria: {tag: a}}
  b: {display_name: B, criteria: {and: [{segment: a}, {tag: b}]}}
scheduled_pushes:
  p:
    schedule: {scheduled_time: 2035-07-01T10:00}
    push: {audience: {segment: a}, device_types: [ios], notification: {alert: One}}
",
    );
    let service = project.serve_with(&["--clock", "2035-06-01T00:00Z"]);
    project.good(&["apply", "--yes"]);
    let ran = project.good(&["forget", "segments/a"]);
    says(&ran.stdout, &["If your files still declare it, apply refuses until you adopt it"]);
    service.forget();
    let ran = project.run(&["apply", "--yes"]);
    assert_eq!(ran.code, 7, "{ran}");
    assert_eq!(service.writes(), Vec::<String>::new());
    let plan = project.run(&["plan"]);
    assert_eq!((plan.code, changes(&plan)), (7, vec!["! segments/a".to_owned()]), "{plan}");
    says(&plan.stdout, &["pushplan adopt segments/a", "1 manual step, 2 unchanged"]);
    assert!(!plan.stdout.contains("changed on the service"), "{plan}");
    says(&project.good(&["drift"]).stdout, &["1 added, 2 unchanged"]);
    project.good(&["adopt", "segments/a"]);
    says(&project.good(&["plan"]).stdout, &["No changes."]);
}

#[test]
fn a_forgotten_named_user_is_adopted_with_all_its_channels() {
    let phone = |id: &str| format!("{{channel_id: {id}, device_type: ios}}");
    let project = Project::new(&format!("named_users:\n  ann: {{channels: [{}, {}]}}\n", phone("one"), phone("two")));
    let service = project.serve();
    for id in ["one", "two"] {
        service.put(&format!("/local/devices/{id}"), &json!({"device_type": "ios"}));
    }
    project.good(&["apply", "--yes"]);
    project.good(&["forget", "named_users/ann"]);
    says(&project.good(&["adopt", "named_users/ann"]).stdout, &["named_users/ann/one", "1 resource adopted"]);
    says(&project.good(&["plan"]).stdout, &["No changes."]);
}
