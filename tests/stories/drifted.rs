//! `pushplan drift`, and plans that must not revert changes made on the service.

use pushplan_testing::{Project, Service, says};
use serde_json::{Value, json};

const ONE: &str = "\
segments:
  lapsed: {display_name: Lapsed, criteria: {tag: lapsed}}
  buyers: {criteria: {tag: buyer}}
templates:
  winback: {push: {notification: {alert: Hello there my friends}}}
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2035-01-22T10:00}
    push: {audience: {segment: lapsed}, device_types: [ios], notification: {alert: Sale}}
";

fn template(service: &Service, alert: &str) {
    let id = service.get("/api/templates")["templates"][0]["id"].as_str().expect("an id").to_owned();
    service.post(&format!("/api/templates/{id}"), &json!({"push": {"notification": {"alert": alert}}}));
}

fn retag(service: &Service, name: &str, tag: &str) {
    let id = service.segment_id(name);
    service.put(&format!("/api/segments/{id}"), &json!({"display_name": name, "criteria": {"tag": tag}}));
}

fn json_of(project: &Project, arguments: &[&str]) -> Value {
    let ran = project.good(&[arguments, &["--format", "json"]].concat());
    serde_json::from_str(&ran.stdout).expect("JSON")
}

#[test]
fn what_somebody_changed_removed_and_added_is_told_without_a_manifest() {
    let project = Project::new(ONE);
    let service = project.serve();
    service.segment("Old one", "old");
    project.good(&["apply", "--yes"]);
    says(
        &project.good(&["drift"]).stdout,
        &["No drift: local is unchanged since the last apply on", "(4 managed\nresources)."],
    );
    assert_eq!(project.run(&["drift", "--detailed-exitcode"]).code, 0);

    retag(&service, "Lapsed", "theirs");
    template(&service, "Hello there my dear friends");
    service.delete(&format!("/api/segments/{}", service.segment_id("buyers")));
    // A resource created in the same second as the apply does not count as newer.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    service.segment("Blue", "blue");
    // Neither the content of the files nor their errors matter.
    for manifest in ["segments: [", ""] {
        project.write(manifest);
        service.forget();
        let ran = project.run(&["drift", "--detailed-exitcode"]);
        assert_eq!(ran.code, 2, "{ran}");
        says(
            &ran.stdout,
            &[
                "≠ Changed on local since the last apply (",
                "~ segments/lapsed  \"Lapsed\"",
                "- tag lapsed",
                "+ tag theirs",
                "edited     ",
                "to keep    pushplan pull segments/lapsed",
                "to undo    pushplan apply --only segments/lapsed",
                "- segments/buyers",
                "to accept  remove it from your files",
                "~ templates/winback",
                "push.notification.alert  Hello there my {+dear +}friends",
                "+ segment \"Blue\" (",
                "to add it to git: pushplan pull segments",
                "Drift: 2 changed, 1 removed, 1 added, 1 unchanged.",
            ],
        );
        assert!(!ran.stdout.contains("Old one"), "{ran}");
        assert_eq!(service.writes(), Vec::<String>::new());
    }
    assert_eq!(project.run(&["drift"]).code, 0);

    let drift = json_of(&project, &["drift"]);
    assert_eq!(drift["drifted"], true);
    assert_eq!(drift["counts"]["changed"], 2);
    let addresses: Vec<&str> =
        drift["changes"].as_array().expect("a list").iter().filter_map(|one| one["address"].as_str()).collect();
    assert_eq!(addresses, ["segments/buyers", "segments/lapsed", "templates/winback"]);
    assert_eq!(drift["changes"][0]["what"], "removed");
    assert_eq!(drift["changes"][2]["fields"][0]["path"], "push.notification.alert");
    assert!(drift["changes"][2]["edited"].is_string(), "{drift}");
    assert_eq!(drift["added"][0]["name"], "Blue");

    let markdown = project.good(&["drift", "--format", "markdown"]).stdout;
    says(
        &markdown,
        &[
            "<!-- pushplan drift target=local -->",
            "## Drift of local — 2 changed, 1 removed, 1 added, 1 unchanged",
            "<details><summary>~ segments/lapsed “Lapsed” — edited</summary>",
            "+   tag theirs",
            "### Created in the dashboard",
        ],
    );
}

#[test]
fn drift_is_put_back_and_then_there_is_none() {
    let project = Project::new(ONE);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    retag(&service, "Lapsed", "theirs");
    template(&service, "Theirs");
    project.good(&["apply", "--yes", "--only", "segments/lapsed"]);
    let ran = project.good(&["drift"]);
    says(&ran.stdout, &["~ templates/winback", "Drift: 1 changed, 3 unchanged."]);
    assert!(!ran.stdout.contains("segments/lapsed"), "{ran}");
    let ran = project.good(&["drift", "--except", "templates/*"]);
    says(&ran.stdout, &["No drift in the selected part: 3 managed resources"]);
    let ran = project.run(&["drift", "--only", "templates/winbakc"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(
        &ran.stderr,
        &["`templates/winbakc` matches nothing that pushplan manages", "did you mean templates/winback?"],
    );
}

#[test]
fn before_the_first_apply_there_is_nothing_to_compare() {
    let project = Project::new(ONE);
    let service = project.serve();
    service.segment("Blue", "blue");
    let ran = project.run(&["drift", "--detailed-exitcode"]);
    assert_eq!(ran.code, 0, "{ran}");
    says(&ran.stdout, &["Nothing was applied to local yet, so there is nothing to compare."]);
}

#[test]
fn a_plan_that_would_undo_an_edit_is_refused_where_that_is_wanted() {
    let project = Project::new(ONE);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    template(&service, "Theirs");
    let stop = ["--on-drift", "stop"];
    // Changes without drift are applied anyway.
    project.edit("tag: buyer", "tag: shopper");
    project.good(&["apply", "--yes", "--on-drift", "stop", "--except", "templates/winback"]);
    // A recent change is visible through its version stamp only after the settle time.
    std::thread::sleep(std::time::Duration::from_millis(1200));
    service.forget();
    let ran = project.run(&[&["apply", "--yes"][..], &stop].concat());
    assert_eq!(ran.code, 7, "{ran}");
    says(
        &ran.stderr,
        &[
            "it would revert 1 change made on the service since the last apply: templates/winback \
             (push.notification.alert)",
            "keep the service's version with pushplan pull templates/winback; skip it with --except templates/winback",
            "--on-drift overwrite",
        ],
    );
    assert_eq!(service.writes(), Vec::<String>::new());
    let ran = project.run(&[&["plan"][..], &stop].concat());
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stdout, &["Apply will refuse this plan:", "refused: it would revert 1 change made on the service"]);
    let ran = project.run(&["plan", "--on-drift", "stop", "--format", "json", "--detailed-exitcode"]);
    assert_eq!(ran.code, 7, "{ran}");
    let plan: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(plan["refused"][0]["guard"], "drift");

    // The target may set it, and the command line overrides that.
    project
        .folder
        .write("pushplan.toml", "[targets.local]\nsettle = \"1s\"\nsend_within = \"2s\"\non_drift = \"stop\"\n");
    assert_eq!(project.run(&["apply", "--yes"]).code, 7);
    says(&project.good(&["plan", "--on-drift", "overwrite"]).stdout, &["Next: pushplan apply --on-drift overwrite"]);
    // A saved plan keeps the setting.
    project.refused(&["--out", "stops"]);
    let ran = project.run(&["apply", "stops"]);
    assert_eq!(ran.code, 7, "{ran}");
    assert_eq!(project.run(&["apply", "stops", "--on-drift", "overwrite"]).code, 64);
    project.good(&["plan", "--out", "goes", "--on-drift", "overwrite"]);
    project.good(&["apply", "goes"]);
    says(&project.good(&["drift"]).stdout, &["No drift: "]);
}

#[test]
fn what_somebody_removed_or_edited_before_it_is_deleted_stops_a_plan_too() {
    let project = Project::with(ONE, "on_drift = \"stop\"\n");
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    service.delete(&format!("/api/segments/{}", service.segment_id("buyers")));
    let ran = project.run(&["apply", "--yes"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["segments/buyers (removed there)"]);
    // After the removal from git, no drift is left: neither side has it.
    project.edit("  buyers: {criteria: {tag: buyer}}\n", "");
    template(&service, "Theirs");
    project.edit("templates:\n  winback: {push: {notification: {alert: Hello there my friends}}}\n", "");
    let ran = project.run(&["apply", "--yes"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["it would revert 1 change made on the service", "templates/winback (push.notification.alert)"]);
    says(&ran.stdout, &["edited on the service since the last apply; it will still be deleted"]);
    project.good(&["apply", "--yes", "--on-drift", "overwrite"]);
    assert_eq!(service.templates(), Vec::<String>::new());
}

#[test]
fn a_word_that_on_drift_does_not_know_is_an_error() {
    let project = Project::with(ONE, "on_drift = \"stopp\"\n");
    let ran = project.run(&["validate"]);
    assert_eq!(ran.code, 3, "{ran}");
    says(&ran.stdout, &["expected \"overwrite\" or \"stop\"", "did you mean \"stop\"?"]);
}

#[test]
fn what_is_left_to_the_dashboard_is_shown_as_the_file_declares_it() {
    let yaml = "\
templates:
  t: {name: T, description: mine, lifecycle: {ignore: [description]}, push: {notification: {alert: Hi}}}
";
    let project = Project::new(yaml);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let id = service.get("/api/templates")["templates"][0]["id"].as_str().expect("an id").to_owned();
    service.post(&format!("/api/templates/{id}"), &serde_json::json!({"description": "theirs"}));
    std::thread::sleep(std::time::Duration::from_millis(1200));
    let ran = project.good(&["show", "templates/t"]);
    says(&ran.stdout, &["declared mine", "service  theirs"]);
}

#[test]
fn drift_claims_nothing_of_what_was_not_asked_about_or_never_applied() {
    let project = Project::new(ONE);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    template(&service, "Theirs");
    let told = project.good(&["drift", "--only", "segments/*"]).stdout;
    says(
        &told,
        &["No drift in the selected part: 2 managed resources on local, since the last apply (", "2 resources."],
    );
    assert!(!told.contains("No drift: "), "{told}");
    let told = json_of(&project, &["drift", "--only", "segments/*"]);
    assert_eq!(told["counts"]["as_applied"], 2, "{told}");

    let project = Project::new("");
    let service = project.serve();
    service.segment("Theirs", "theirs");
    project.good(&["pull", "segments"]);
    says(&project.good(&["drift"]).stdout, &["No drift: local is unchanged since the adoption on"]);
}

#[test]
fn the_ways_out_of_drift_lead_somewhere() {
    let project = Project::new(ONE);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let push = service.get("/api/schedules")["schedules"][0]["url"].as_str().expect("a url").to_owned();
    service.delete(&format!("/api/schedules/{}", push.rsplit('/').next().expect("an id")));
    template(&service, "Theirs");
    project.write(&ONE.replace("templates:\n  winback: {push: {notification: {alert: Hello there my friends}}}\n", ""));

    let told = project.good(&["drift"]).stdout;
    says(
        &told,
        &[
            "to undo    pushplan forget scheduled_pushes/sale, then",
            "pushplan apply --only scheduled_pushes/sale creates it again",
            "to keep    pushplan pull templates/winback\n",
            "an apply deletes it",
        ],
    );
    let refused = project.run(&["apply", "--yes", "--on-drift", "stop"]);
    assert_eq!(refused.code, 7, "{refused}");
    says(&refused.stderr, &["keep resources that are no longer in your files with pushplan pull templates/winback"]);
    project.good(&["pull", "templates/winback"]);
    says(&project.good(&["plan"]).stdout, &["scheduled_pushes/sale"]);
    assert!(!project.good(&["plan"]).stdout.contains("templates/winback"));
}
