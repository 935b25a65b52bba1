//! Past pushes. They are never sent again, regardless of edits.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pushplan::address::Address;
use pushplan::ledger::{Adopted, Chain, Entry, Log, Record};
use pushplan_testing::{Project, changes, says};
use serde_json::{Value, json};

const SALE: &str = "\
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2024-01-22T10:00}
    push: {audience: {tag: vip}, device_types: [ios], notification: {alert: Sale}}
segments:
  a: {criteria: {tag: a}}
";

const TEXTS: &str = "\
experiments:
  texts:
    audience: {tag: vip}
    device_types: [ios]
    variants:
      - {push: {notification: {alert: A}}, schedule: {scheduled_time: 2024-02-01T10:00}}
      - {push: {notification: {alert: B}}, schedule: {scheduled_time: 2024-02-01T10:00}}
segments:
  a: {criteria: {tag: a}}
";

/// The ledger of a project that applied something years ago.
fn applied(project: &Project, address: Address, spec: Value) {
    applied_as(project, address, "an-old-id", spec);
}

fn applied_as(project: &Project, address: Address, id: &str, spec: Value) {
    let log = Chain::in_files(project.folder.path(), "local");
    let adopted = Adopted {
        address,
        id: id.into(),
        spec: spec.into(),
        refs: BTreeMap::new(),
        stamp: None,
        protect: false,
        past: false,
        push_ids: vec![],
        zone: None,
        pruned: false,
    };
    let at: Timestamp = "2024-01-01T00:00:00Z".parse().expect("a time");
    let entry = Entry { seq: 1, at, actor: "ada".into(), record: Record::Adopt(vec![adopted]) };
    tokio::runtime::Runtime::new().expect("a runtime").block_on(log.append(&entry)).expect("a ledger");
}

fn sale(project: &Project) {
    let spec = json!({
        "name": "sale",
        "schedule": [{"scheduled_time": "2024-01-22T1000"}],
        "push": {"audience": {"tag": "vip"}, "device_types": ["ios"], "notification": {"alert": "Sale"}},
    });
    applied(project, Address::new("scheduled_pushes", "sale"), spec);
}

#[test]
fn a_past_push_is_shown_once_and_never_made_again() {
    for project in [Project::documented(SALE), Project::new(SALE)] {
        sale(&project);
        let service = project.serve();
        let ran = project.good(&["plan"]);
        let went = "· scheduled_pushes/sale was due on Mon 22 Jan 2024 10:00 UTC; it will not be sent again";
        assert_eq!(changes(&ran), ["+ segments/a", went]);
        project.good(&["apply", "--yes"]);
        assert_eq!(project.good(&["plan"]).stdout, "No changes. local matches your files (2 resources).\n");
        // An edit of a sent push is reported, and changes nothing.
        project.edit("alert: Sale", "alert: SALE");
        let ran = project.good(&["apply", "--yes"]);
        says(&ran.stdout, &["scheduled_pushes/sale"]);
        project.edit("2024-01-22", "2035-01-22");
        project.good(&["apply", "--yes"]);
        assert_eq!(service.writes(), ["POST /api/segments"]);
        // An undeclared one is removed from the ledger: there is nothing left to delete.
        project.write("segments:\n  a: {criteria: {tag: a}}\n");
        project.good(&["apply", "--yes"]);
        assert_eq!(service.writes(), ["POST /api/segments"]);
        assert_eq!(project.changes(&[]), Vec::<String>::new());
    }
}

#[test]
fn nobody_is_told_that_the_service_still_has_what_went_out() {
    for project in [Project::documented(SALE), Project::new(SALE)] {
        sale(&project);
        let ran = project.good(&["forget", "scheduled_pushes/sale"]);
        says(&ran.stdout, &["Forgot scheduled_pushes/sale", "A sent message cannot be undone."]);
        assert!(!ran.stdout.contains("still has"), "{ran}");
    }
}

#[test]
fn a_past_push_is_sent_at_a_new_time_under_a_new_key() {
    let project = Project::documented(SALE);
    sale(&project);
    let service = project.serve();
    project.edit("  sale:", "  sale-again:");
    project.edit("2024-01-22", "2035-01-22");
    project.good(&["apply", "--yes"]);
    assert!(service.writes().contains(&"POST /api/schedules".to_owned()));
    assert_eq!(project.changes(&[]), Vec::<String>::new());
}

#[test]
fn an_experiment_that_has_started_is_neither_replaced_nor_made_again() {
    for project in [Project::documented(TEXTS), Project::new(TEXTS)] {
        let variant = |alert: &str| {
            json!({
                "push": {"notification": {"alert": alert}},
                "schedule": {"scheduled_time": "2024-02-01T1000"},
            })
        };
        let spec = json!({
            "name": "texts",
            "audience": {"tag": "vip"},
            "device_types": ["ios"],
            "variants": [variant("A"), variant("B")],
        });
        applied(&project, Address::new("experiments", "texts"), spec);
        let service = project.serve();
        project.edit("alert: A", "alert: C");
        let ran = project.good(&["apply", "--yes"]);
        says(&ran.stdout, &["· experiments/texts"]);
        assert_eq!(service.writes(), ["POST /api/segments"]);
    }
}

#[test]
fn a_new_push_whose_time_has_passed_is_refused() {
    let project = Project::new(SALE);
    let service = project.serve();
    let ran = project.run(&["apply", "--yes"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["the time of scheduled_pushes/sale has passed"]);
    assert_eq!(service.writes(), Vec::<String>::new());
    project.good(&["apply", "--yes", "--except", "scheduled_pushes/*"]);
    assert_eq!(service.writes(), ["POST /api/segments"]);
}

#[test]
fn the_clock_of_the_built_in_service_says_what_is_past() {
    let project = Project::new(&SALE.replace("2024-01-22T10:00", "2035-01-22T10:00"));
    let service = project.serve_with(&["--api", "extended", "--clock", "2035-01-22T09:00Z"]);
    project.good(&["apply", "--yes"]);
    service.post("/local/clock", &json!({ "by": "2h" }));
    let ran = project.good(&["plan"]);
    says(&ran.stdout, &["· scheduled_pushes/sale was due on Mon 22 Jan 2035 10:00 UTC", "No changes."]);
    project.good(&["apply", "--yes"]);
    assert_eq!(project.changes(&[]), Vec::<String>::new());
}

#[test]
fn a_segment_waits_until_its_push_went_out_by_every_clock() {
    let project = Project::new(
        "\
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2035-01-22T10:00}
    push: {audience: {segment: a}, device_types: [ios], notification: {alert: Sale}}
segments:
  a: {criteria: {tag: a}}
  b: {criteria: {tag: b}}
",
    );
    let service = project.serve_with(&["--api", "extended", "--clock", "2035-01-22T09:00Z"]);
    project.good(&["apply", "--yes"]);
    project.edit("audience: {segment: a}", "audience: {segment: b}");
    project.edit("  a: {criteria: {tag: a}}\n", "");
    // A service with a slow clock has not sent it yet, regardless of its current time in git.
    service.post("/local/clock", &json!({ "by": "61m" }));
    for _ in ["as it is found", "as the ledger has it as past"] {
        let ran = project.good(&["apply", "--yes"]);
        says(&ran.stdout, &["! segments/a", "is not deleted yet: scheduled_pushes/sale"]);
        assert_eq!(service.segments(), ["a", "b"]);
    }
    service.post("/local/clock", &json!({ "by": "10m" }));
    project.good(&["apply", "--yes"]);
    assert_eq!(service.segments(), ["b"]);
}

#[test]
fn a_segment_waits_for_the_last_variant_that_names_it() {
    let project = Project::new(
        "\
experiments:
  texts:
    audience: {segment: a}
    device_types: [ios]
    variants:
      - {push: {notification: {alert: A}}, schedule: {scheduled_time: 2035-02-01T10:00}}
      - {push: {notification: {alert: B}}, schedule: {scheduled_time: 2035-02-03T10:00}}
segments:
  a: {criteria: {tag: a}}
  b: {criteria: {tag: b}}
",
    );
    let service = project.serve_with(&["--api", "extended", "--clock", "2035-02-01T09:00Z"]);
    project.good(&["apply", "--yes"]);
    service.post("/local/clock", &json!({ "by": "2h" }));
    // The ledger records that it has begun.
    project.good(&["apply", "--yes"]);
    project.edit("audience: {segment: a}", "audience: {segment: b}");
    project.edit("  a: {criteria: {tag: a}}\n", "");
    let ran = project.manual(&["apply", "--yes"]);
    says(&ran.stdout, &["! segments/a", "is not deleted yet: experiments/texts"]);
    assert_eq!(service.segments(), ["a", "b"]);
    service.post("/local/clock", &json!({ "by": "72h" }));
    project.good(&["apply", "--yes"]);
    assert_eq!(service.segments(), ["b"]);
}

#[test]
fn the_clock_of_the_built_in_service_says_what_can_still_be_made() {
    let project = Project::new(SALE);
    let service = project.serve_with(&["--clock", "2024-01-22T09:00Z"]);
    project.good(&["apply", "--yes"]);
    assert_eq!(service.names("/api/schedules", "schedules", "name"), ["sale"]);
    // A push that is too late for the service is too late even if the real time differs.
    service.post("/local/clock", &json!({ "by": "57m" }));
    project.edit("  sale:", "  another:");
    assert_eq!(project.run(&["apply", "--yes"]).code, 7);
    assert_eq!(service.names("/api/schedules", "schedules", "name"), ["sale"]);
}

#[test]
fn a_push_that_somebody_put_off_is_not_past_while_it_waits() {
    let project = Project::new(SALE);
    let service = project.serve();
    let spec = |time: &str| {
        json!({
            "name": "sale",
            "schedule": {"scheduled_time": time},
            "push": {"audience": {"tag": "vip"}, "device_types": ["ios"], "notification": {"alert": "Sale"}},
        })
    };
    let made = service.post("/api/schedules", &spec("2035-01-22T10:00:00"));
    let id = made["schedule_urls"][0].as_str().and_then(|url| url.rsplit('/').next()).expect("an id").to_owned();
    let mut ours = spec("2024-01-22T1000");
    ours["schedule"] = json!([ours["schedule"]]);
    applied_as(&project, Address::new("scheduled_pushes", "sale"), &id, ours);
    let ran = project.good(&["plan"]);
    assert_eq!(changes(&ran), ["! scheduled_pushes/sale", "+ segments/a"]);
    says(&ran.stdout, &["changed on the service since the last apply", "someone postponed it", "write that time"]);
    project.manual(&["apply", "--yes"]);
    assert_eq!(project.changes(&[]), ["! scheduled_pushes/sale"]);
    // This time in the files resolves it; without the push in the files, it is cancelled.
    project.edit("2024-01-22T10:00", "2035-01-22T10:00");
    assert_eq!(project.changes(&[]), Vec::<String>::new());
    project.edit("2035-01-22T10:00", "2024-01-22T10:00");
    project.write("segments:\n  a: {criteria: {tag: a}}\n");
    service.forget();
    project.good(&["apply", "--yes"]);
    assert_eq!(service.writes(), [format!("DELETE /api/schedules/{id}")]);
    assert_eq!(project.changes(&[]), Vec::<String>::new());
}

#[test]
fn a_record_of_the_past_is_left_alone_and_stops_nothing() {
    for project in [Project::documented(SALE), Project::new(SALE)] {
        project.edit("alert: Sale}}", "alert: Sale}}\n    lifecycle: {allow: [SC101]}");
        let service = project.serve();
        let ran = project.good(&["plan"]);
        says(
            &ran.stdout,
            &[
                "· scheduled_pushes/sale was scheduled for Mon 22 Jan 2024 10:00 UTC and is not sent",
                "Plan: 1 to create, 1 unchanged.",
            ],
        );
        project.good(&["apply", "--yes"]);
        assert_eq!(service.writes(), ["POST /api/segments"]);
        says(&project.good(&["plan"]).stdout, &["No changes."]);
    }
}

#[test]
fn an_edit_of_what_went_out_says_how_to_send_again() {
    let project = Project::new(SALE);
    sale(&project);
    project.edit("alert: Sale", "alert: SALE");
    says(&project.good(&["plan"]).stdout, &["to send it again, use a new key"]);
}

#[test]
fn a_pending_push_that_is_edited_into_the_past_keeps_its_time() {
    let project = Project::new(&SALE.replace("2024", "2035"));
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("2035-01-22", "2024-01-22");
    let ran = project.refused(&[]);
    let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    says(
        &said,
        &[
            "has passed: on the service it keeps the time of the last apply",
            "give it a later time, or remove it to cancel it",
        ],
    );
    assert!(!said.contains("will not be made"), "{ran}");
    assert_eq!(project.run(&["apply", "--yes"]).code, 7);
    assert_eq!(service.names("/api/schedules", "schedules", "name").len(), 1);
}
