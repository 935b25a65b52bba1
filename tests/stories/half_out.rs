//! Pushes with several times that have begun: the remaining ones are sent as they were applied, unless they are
//! cancelled.

use pushplan_testing::{Project, Ran, Service, changes, says};
use serde_json::{Value, json};

const SALE: &str = "\
scheduled_pushes:
  sale:
    schedule: [{scheduled_time: 2035-01-18T14:00}, {scheduled_time: 2035-01-20T14:00}]
    push: {audience: {segment: vip}, device_types: [ios], notification: {alert: Sale 10%}}
segments:
  vip: {criteria: {tag: vip}}
";

const TEXTS: &str = "\
experiments:
  texts:
    audience: {segment: vip}
    device_types: [ios]
    variants:
      - {push: {notification: {alert: A}}, schedule: {scheduled_time: 2035-01-18T14:00}}
      - {push: {notification: {alert: B}}, schedule: {scheduled_time: 2035-01-20T14:00}}
segments:
  vip: {criteria: {tag: vip}}
";

const VIP: &str = "segments:\n  vip: {criteria: {tag: vip}}\n";

const STILL: &str = "was due on Thu 18 Jan 2035 14:00 UTC and is still sent on Sat 20 Jan 2035 14:00 UTC";

/// Everything is applied, and the first time has passed.
fn half_out(project: &Project, api: &str) -> Service {
    let service = project.serve_with(&["--api", api, "--clock", "2035-01-17T09:00Z"]);
    project.good(&["apply", "--yes"]);
    service.post("/local/clock", &json!({ "by": "48h" }));
    service.forget();
    service
}

/// The output on one line.
fn flat(ran: &Ran) -> String {
    ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_half_out_is_told_as_that_and_an_edit_changes_nothing_of_it() {
    for (manifest, address, api, how) in [
        (SALE, "scheduled_pushes/sale", "extended", "remove it from your files and apply"),
        (SALE, "scheduled_pushes/sale", "documented", "in the service's dashboard (AP103) and from your files"),
        (TEXTS, "experiments/texts", "extended", "in the service's dashboard (AP104)"),
        (TEXTS, "experiments/texts", "documented", "in the service's dashboard (AP104)"),
    ] {
        let project = if api == "extended" { Project::new(manifest) } else { Project::documented(manifest) };
        let service = half_out(&project, api);
        let ran = project.good(&["plan"]);
        says(&flat(&ran), &[&format!("· {address} {STILL}"), "No changes."]);
        assert!(!flat(&ran).contains("not be sent again"), "{ran}");
        // An unedited push is reported once.
        project.good(&["apply", "--yes"]);
        assert_eq!(project.changes(&[]), Vec::<String>::new());
        project
            .edit(if manifest == SALE { "10%" } else { "alert: B" }, if manifest == SALE { "20%" } else { "alert: C" });
        for format in ["text", "markdown", "html", "json"] {
            let ran = project.good(&["plan", "--format", format]);
            let text = flat(&ran).replace("&#39;", "'");
            says(&text, &[STILL, "as it was applied, without the later edits", "to cancel the rest", how]);
            assert!(!text.contains("to send it again, use a new key"), "{ran}");
        }
        assert_eq!(project.changes(&[]), [format!("! {address}")]);
        project.manual(&["apply", "--yes"]);
        assert_eq!(service.writes(), Vec::<String>::new());
        // After its end, nothing is left to cancel.
        service.post("/local/clock", &json!({ "by": "48h" }));
        let ran = project.good(&["plan"]);
        says(&flat(&ran), &[&format!("· {address} was due on"), "it will not be sent again, even if you edit it"]);
        project.good(&["apply", "--yes"]);
        assert_eq!(service.writes(), Vec::<String>::new());
    }
}

#[test]
fn programs_learn_which_times_are_still_to_come() {
    let project = Project::new(SALE);
    let _service = half_out(&project, "extended");
    let plan: Value = serde_json::from_str(&project.good(&["plan", "--format", "json"]).stdout).expect("JSON");
    let rest = json!([{"from": "2035-01-20T14:00:00Z", "to": "2035-01-20T14:00:00Z"}]);
    assert_eq!(plan["changes"][0]["reasons"][0]["about"]["rest"], rest, "{plan:#}");
}

#[test]
fn the_rest_of_a_push_is_called_off_where_the_service_can_delete_it() {
    for command in ["apply", "destroy"] {
        let project = Project::new(SALE);
        let service = half_out(&project, "extended");
        if command == "apply" {
            project.write(VIP);
            let ran = project.good(&["plan"]);
            assert_eq!(changes(&ran), ["- scheduled_pushes/sale"]);
            says(
                &flat(&ran),
                &[
                    "cancels what was due on Thu 18 Jan 2035 14:00 UTC cannot be undone",
                    "it is no longer sent on Sat 20 Jan 2035 14:00 UTC",
                ],
            );
        }
        project.good(if command == "apply" { &["apply", "--yes"] } else { &["destroy", "--confirm", "local"] });
        assert!(service.writes()[0].starts_with("DELETE /api/schedules/"), "{:?}", service.writes());
        assert_eq!(service.names("/api/schedules", "schedules", "name"), Vec::<String>::new());
        if command == "apply" {
            assert_eq!(project.changes(&[]), Vec::<String>::new());
        }
    }
}

#[test]
fn what_cannot_be_called_off_is_named_until_it_is_over() {
    for (manifest, address, api, cannot) in [
        (SALE, "scheduled_pushes/sale", "documented", "this API can neither change nor remove a scheduled push"),
        (TEXTS, "experiments/texts", "extended", "this API cannot remove an experiment that has started"),
        (TEXTS, "experiments/texts", "documented", "this API cannot remove an experiment that has started"),
    ] {
        let project = if api == "extended" { Project::new(manifest) } else { Project::documented(manifest) };
        let service = half_out(&project, api);
        project.write("segments:\n  other: {criteria: {tag: other}}\n");
        let ran = project.manual(&["apply", "--yes"]);
        says(&flat(&ran), &[&format!("! {address}"), STILL, cannot, "is not deleted yet"]);
        assert_eq!(service.writes(), ["POST /api/segments"]);
        says(&flat(&project.run(&["destroy", "--confirm", "local"])), &[&format!("! {address}"), STILL]);
        service.post("/local/clock", &json!({ "by": "48h" }));
        project.good(&["apply", "--yes", "--except", "segments/other"]);
        assert!(!project.changes(&[]).iter().any(|change| change.contains(address)));
    }
}

#[test]
fn by_each_devices_own_clock_it_is_over_when_it_is_for_the_last() {
    let project = Project::new(&SALE.replace(
        "[{scheduled_time: 2035-01-18T14:00}, {scheduled_time: 2035-01-20T14:00}]",
        "{local_scheduled_time: 2035-01-19T14:00}",
    ));
    let _service = half_out(&project, "extended");
    project.edit("10%", "20%");
    let ran = project.good(&["plan"]);
    assert_eq!(changes(&ran), ["! scheduled_pushes/sale"]);
    says(&flat(&ran), &["was due on Fri 19 Jan 2035 00:00 UTC and is still sent until Sat 20 Jan 2035 02:00 UTC"]);
}

#[test]
fn what_is_still_to_come_counts_for_segments_and_for_what_is_near() {
    let project = Project::new(SALE);
    let _service = half_out(&project, "extended");
    project.edit("criteria: {tag: vip}", "criteria: {tag: vips}");
    project.edit(
        "segments:",
        "  more:
    schedule: {scheduled_time: 2035-01-20T15:00}
    push: {audience: {segment: vip}, device_types: [ios], notification: {alert: More}}
segments:",
    );
    for _ in ["as it is found", "as the ledger has it"] {
        let ran = project.good(&["plan"]);
        let said = flat(&ran);
        says(
            &said,
            &[
                "scheduled_pushes/sale is still sent on Sat 20 Jan 2035 14:00 UTC",
                "too close 60 minutes after scheduled_pushes/sale",
            ],
        );
        project.good(&["apply", "--yes", "--except", "segments/vip", "--except", "scheduled_pushes/more"]);
    }
    // The text that is sent is the old one; the edited time has no effect.
    project.edit("2035-01-20T14:00", "2035-01-25T14:00");
    says(
        &flat(&project.good(&["plan"])),
        &["is still sent on Sat 20 Jan 2035 14:00 UTC", "too close 60 minutes after scheduled_pushes/sale"],
    );
}

#[test]
fn what_somebody_removed_half_way_is_told_and_let_go() {
    let project = Project::new(SALE);
    let service = half_out(&project, "extended");
    project.good(&["apply", "--yes"]);
    let schedules = service.get("/api/schedules");
    let url = schedules["schedules"][0]["url"].as_str().expect("a URL");
    service.delete(&url[url.find("/api/").expect("a path")..]);
    says(&flat(&project.run(&["drift"])), &["scheduled_pushes/sale"]);
    says(
        &flat(&project.good(&["plan"])),
        &["the service no longer has the remaining sends, and it will not be sent again"],
    );
    project.write(VIP);
    let ran = project.good(&["apply", "--yes"]);
    assert_eq!(changes(&ran), [". scheduled_pushes/sale"]);
    assert_eq!(project.changes(&[]), Vec::<String>::new());
}

#[test]
fn what_is_half_out_and_is_forgotten_goes_out_all_the_same() {
    let project = Project::new(SALE);
    let _service = half_out(&project, "extended");
    let ran = project.good(&["forget", "scheduled_pushes/sale"]);
    says(&ran.stdout, &["Pending messages of scheduled_pushes/sale will still be sent."]);
    let project = Project::documented(SALE);
    let _service = half_out(&project, "documented");
    project.good(&["apply", "--yes"]);
    let ran = project.run(&["forget", "scheduled_pushes/sale"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["scheduled_pushes/sale is pending"]);
}

#[test]
fn a_creation_that_is_reverted_half_way_is_called_off() {
    let project = Project::new(SALE);
    let service = half_out(&project, "extended");
    let ran = project.good(&["revert", "1", "--yes"]);
    says(&flat(&ran), &["it is no longer sent on Sat 20 Jan 2035 14:00 UTC"]);
    assert_eq!(service.names("/api/schedules", "schedules", "name"), Vec::<String>::new());
}

#[test]
fn a_new_key_for_what_is_half_out_is_asked_about_and_waits_for_the_old_one_to_go() {
    let project = Project::new(SALE);
    let service = half_out(&project, "extended");
    project.edit("  sale:\n", "  again:\n");
    project.edit(
        "[{scheduled_time: 2035-01-18T14:00}, {scheduled_time: 2035-01-20T14:00}]",
        "{scheduled_time: 2035-01-20T14:00}",
    );
    says(&flat(&project.good(&["plan"])), &["is this a rename? scheduled_pushes/sale has the same content", "cancels"]);
    project.good(&["apply", "--yes"]);
    let writes = service.writes();
    let place = |method: &str| writes.iter().position(|write| write.starts_with(&format!("{method} /api/schedules")));
    assert!(place("DELETE").expect("the old one goes") < place("POST").expect("the new one comes"), "{writes:?}");
}

#[test]
fn a_comment_tells_what_was_edited_after_its_time() {
    let project = Project::new(SALE);
    let service = half_out(&project, "extended");
    service.post("/local/clock", &json!({ "by": "96h" }));
    project.edit("2035-01-20T14:00", "2035-02-20T14:00");
    let ran = project.good(&["plan", "--format", "markdown"]);
    says(&ran.stdout, &["No changes.", "### Past", "it will not be sent again, even if you edit it"]);
}
