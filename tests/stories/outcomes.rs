//! `pushplan outcome`: the reach of pushes that were scheduled from git.

use pushplan_testing::{Project, Service, checked, says};
use serde_json::{Value, json};

const PUSHES: &str = "\
segments:
  vips: {criteria: {tag: vip}}
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2035-01-22T10:00}
    push: {audience: {segment: vips}, device_types: [ios, android], notification: {alert: Sale}}
  twice:
    schedule: [{scheduled_time: 2035-01-22T11:00}, {scheduled_time: 2035-01-24T11:00}]
    push: {audience: {tag: vip}, device_types: [ios], notification: {alert: Again}}
  later:
    schedule: {scheduled_time: 2035-03-01T10:00}
    push: {audience: {tag: vip}, device_types: [ios], notification: {alert: Later}}
experiments:
  words:
    audience: {tag: vip}
    device_types: [ios, android]
    variants:
      - {push: {notification: {alert: One}}, schedule: {scheduled_time: 2035-01-22T10:30}}
      - {push: {notification: {alert: Two}}, schedule: {scheduled_time: 2035-01-22T10:30}}
";

const ONE: &str = "\
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2035-01-22T10:00}
    push: {audience: {tag: vip}, device_types: [ios], notification: {alert: Sale}}
";

fn devices(service: &Service, opt_in: bool) {
    for (id, kind) in [("phone", "ios"), ("tablet", "android"), ("other", "ios")] {
        let tags = if id == "other" { json!([]) } else { json!(["vip"]) };
        service.put(&format!("/local/devices/{id}"), &json!({"device_type": kind, "tags": tags, "opt_in": opt_in}));
    }
}

fn served(project: &Project, faults: &str) -> Service {
    let path = project.folder.write("faults.toml", faults);
    project.serve_with(&["--faults", path.to_str().expect("UTF-8"), "--clock", "2035-01-20T00:00Z"])
}

fn move_to(service: &Service, time: &str) {
    service.post("/local/clock", &json!({ "to": time }));
}

/// The state of each push, with its reach.
fn states(project: &Project, code: i32) -> Vec<String> {
    let ran = project.run(&["outcome", "--format", "json"]);
    assert_eq!(ran.code, code, "{ran}");
    let document = checked(&ran, "outcome.schema.json");
    let told = |push: &Value| {
        let number = push["number"].as_u64().map(|number| format!("#{number}")).unwrap_or_default();
        let sends = push["sends"].as_u64().map(|sends| format!(" {sends}")).unwrap_or_default();
        let matched = if push["matched"] == true { " matched" } else { "" };
        let text = |key: &str| push[key].as_str().unwrap_or_default().to_owned();
        format!("{}{number} {}{sends}{matched}", text("address"), text("state"))
    };
    document["pushes"].as_array().expect("pushes").iter().map(told).collect()
}

#[test]
fn what_was_reached_is_told_for_each_push_and_time() {
    let project = Project::new(PUSHES);
    let service = served(&project, "");
    devices(&service, true);
    project.good(&["apply", "--yes"]);
    let before = project.good(&["outcome"]);
    says(
        &before.stdout,
        &["scheduled_pushes/sale", "will be sent Mon 22 Jan 2035 10:00 UTC", "Outcome: 5 not sent yet."],
    );
    move_to(&service, "2035-01-22T12:00:00Z");
    let sale = service.get("/local/devices/tablet/received")["received"][0]["push_id"].clone();
    service.post("/local/devices/tablet/tap", &json!({ "push_id": sale }));
    service.forget();
    let ran = project.good(&["outcome"]);
    says(
        &ran.stdout,
        &[
            "scheduled_pushes/sale           2 devices",
            "experiments/words               2 devices",
            "scheduled_pushes/twice, time 1   1 device   0 direct responses    0.0 %\n",
            "sent Mon 22 Jan 2035 11:00 UTC",
            "scheduled_pushes/twice, time 2  will be sent Wed 24 Jan 2035 11:00 UTC",
            "1 direct response   50.0 %",
            "Outcome: 3 reached people, 2 not sent yet.",
        ],
    );
    // For a pending push, only its time is requested, besides the reports.
    let asked = service.asked();
    let count = |path: &str| asked.iter().filter(|line| line.starts_with(&format!("GET {path}"))).count();
    assert_eq!((count("/api/schedules/"), count("/api/reports/responses/")), (2, 3), "{asked:?}");
    assert_eq!((count("/api/reports/experiment/overview/"), asked.len()), (1, 6), "{asked:?}");
    assert_eq!(
        states(&project, 0),
        [
            "scheduled_pushes/sale reached 2",
            "experiments/words reached 2",
            "scheduled_pushes/twice#1 reached 1",
            "scheduled_pushes/twice#2 not_yet",
            "scheduled_pushes/later not_yet",
        ]
    );
    let one = project.good(&["outcome", "experiments/words"]);
    assert!(!one.stdout.contains("scheduled_pushes"), "{one}");
    // A past push is marked as such; the ids stay.
    project.good(&["apply", "--yes"]);
    assert_eq!(states(&project, 0).len(), 5);
    assert_eq!(states(&project, 0)[0], "scheduled_pushes/sale reached 2");
}

#[test]
fn a_push_that_reached_nobody_is_an_error_with_who_was_meant() {
    for opted_out in [true, false] {
        let project = Project::new(PUSHES);
        let service = served(&project, "");
        if opted_out {
            devices(&service, false);
        }
        project.good(&["apply", "--yes"]);
        move_to(&service, "2035-01-22T10:05:00Z");
        let ran = project.run(&["outcome"]);
        assert_eq!(ran.code, 1, "{ran}");
        let told = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        says(
            &told,
            &["nobody 0 direct responses", "(tag vip)", "on ios and android", "1 reached nobody, 4 not sent yet"],
        );
        says(&ran.stderr, &["scheduled_pushes/sale reached nobody", "vips", "(tag vip)", "are opted in"]);
        assert_eq!(states(&project, 1)[0], "scheduled_pushes/sale nobody 0");
        assert_eq!(project.run(&["outcome", "scheduled_pushes/later"]).code, 0, "it is not about that one");
    }
}

#[test]
fn what_the_service_has_no_report_of_is_said_and_is_no_error() {
    let project = Project::new(ONE);
    let service = served(&project, "");
    devices(&service, true);
    project.good(&["apply", "--yes"]);
    let id = service.get("/api/schedules")["schedules"][0]["url"].as_str().expect("a URL").to_owned();
    service.delete(&format!("/api/schedules/{}", id.rsplit('/').next().expect("an id")));
    move_to(&service, "2035-01-22T12:00:00Z");
    let ran = project.good(&["outcome"]);
    says(&ran.stdout, &["not known", "the service has no report of it", "Outcome: 1 not known."]);
    assert_eq!(states(&project, 0), ["scheduled_pushes/sale unknown"]);
}

#[test]
fn a_push_whose_id_nobody_knows_is_matched_by_its_time() {
    let project = Project::documented(ONE);
    let lost =
        "[[fault]]\nkind = \"close\"\nwhen = \"after\"\nmethod = \"POST\"\npath = \"/api/schedules\"\ntimes = 1\n";
    let service = served(&project, lost);
    devices(&service, true);
    assert_eq!(project.run(&["apply", "--yes"]).code, 6);
    assert_eq!(states(&project, 0), ["scheduled_pushes/sale unknown"], "whether it was scheduled is not known");
    let url = service.get("/api/schedules")["schedules"][0]["url"].as_str().expect("a URL").to_owned();
    let id = url.rsplit('/').next().expect("an id");
    project.good(&["resolve", "scheduled_pushes/sale", "--created", id]);
    // Another user sends something too.
    service.post("/api/push", &json!({"audience": "all", "device_types": "all", "notification": {"alert": "x"}}));
    move_to(&service, "2035-01-22T12:00:00Z");
    let ran = project.good(&["outcome"]);
    says(&ran.stdout, &["1 device", "its push id is unknown: this is the only push sent at that time"]);
    assert_eq!(states(&project, 0), ["scheduled_pushes/sale reached 1 matched"]);
}

#[test]
fn what_was_found_again_after_a_lost_answer_has_its_push_id_from_the_listing() {
    let project = Project::new(ONE);
    let lost =
        "[[fault]]\nkind = \"close\"\nwhen = \"after\"\nmethod = \"POST\"\npath = \"/api/schedules\"\ntimes = 1\n";
    let service = served(&project, lost);
    devices(&service, true);
    assert_eq!(project.run(&["apply", "--yes"]).code, 6);
    project.good(&["apply", "--yes"]);
    move_to(&service, "2035-01-22T12:00:00Z");
    assert_eq!(states(&project, 0), ["scheduled_pushes/sale reached 1"], "it is known, not matched");
}

#[test]
fn an_experiment_tells_its_push_id_where_the_ledger_does_not_know_it() {
    let manifest = PUSHES.split("experiments:").nth(1).map(|rest| format!("experiments:{rest}")).expect("experiments");
    let project = Project::new(&manifest);
    let service = served(&project, "");
    devices(&service, true);
    project.good(&["apply", "--yes"]);
    let id = service.get("/api/experiments")["experiments"][0]["experiment_id"].as_str().expect("an id").to_owned();
    // The record of an earlier version: managed, without the id of its push.
    project.good(&["forget", "experiments/words"]);
    project.folder.write("pushplan.toml", "[targets.local]\napi = \"documented\"\n");
    project.good(&["adopt", "experiments/words", "--id", &id]);
    move_to(&service, "2035-01-22T12:00:00Z");
    assert_eq!(states(&project, 0), ["experiments/words reached 2 matched"]);
    project.folder.write("pushplan.toml", "[targets.local]\n");
    assert_eq!(states(&project, 0), ["experiments/words reached 2"]);
}

#[test]
fn what_sends_nothing_at_a_time_has_no_outcome() {
    let project = Project::new(PUSHES);
    let _service = served(&project, "");
    let ran = project.good(&["outcome"]);
    says(&ran.stdout, &["No scheduled push or experiment was applied to local yet."]);
    project.good(&["apply", "--yes"]);
    for (address, words) in [
        ("segments/vips", "segments/vips has no send time"),
        ("scheduled_pushes/sael", "did you mean scheduled_pushes/sale?"),
    ] {
        let ran = project.run(&["outcome", address]);
        assert_eq!(ran.code, 64, "{ran}");
        says(&ran.stderr, &[words]);
    }
    let ran = project.run(&["report", "push", "segments/vips"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["segments/vips has no send time"]);
}

#[test]
fn a_push_that_was_moved_on_the_service_is_told_with_its_live_time() {
    let project = Project::new(ONE);
    let service = served(&project, "");
    devices(&service, true);
    project.good(&["apply", "--yes"]);
    let listed = service.get("/api/schedules");
    let url = listed["schedules"][0]["url"].as_str().expect("a url");
    let id = url.rsplit('/').next().expect("an id");
    let push = json!({"name": "sale", "schedule": {"scheduled_time": "2035-01-22T12:00:00"}, "push": {
        "audience": {"tag": "vip"}, "device_types": ["ios"], "notification": {"alert": "Sale"}}});
    service.put(&format!("/api/schedules/{id}"), &push);
    let moved = "moved on the service: it was applied for Mon 22 Jan 2035";
    for time in ["2035-01-22T09:00Z", "2035-01-22T10:30Z"] {
        move_to(&service, time);
        let told = project.good(&["outcome"]).stdout;
        says(&told, &["will be sent Mon 22 Jan 2035 12:00 UTC", moved]);
    }
    move_to(&service, "2035-01-22T12:30Z");
    says(&project.good(&["outcome"]).stdout, &["1 reached people"]);
}

#[test]
fn the_report_of_a_push_is_found_by_the_address_of_what_sent_it() {
    let project = Project::new(ONE);
    let service = served(&project, "");
    devices(&service, true);
    project.good(&["apply", "--yes"]);
    move_to(&service, "2035-01-22T12:30Z");
    let ran = project.good(&["report", "push", "scheduled_pushes/sale", "--format", "json"]);
    let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert!(ran.stdout.contains("\"sends\": 1"), "{told}");
    let ran = project.run(&["report", "push", "scheduled_pushes/other"]);
    says(&ran.stderr, &["the ledger of `local` has nothing at scheduled_pushes/other"]);
}
