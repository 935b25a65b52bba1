//! A guard that a change loosens is named at the top of its plan, with the changes that it now lets through.

use pushplan_testing::{Project, says};
use serde_json::{Value, json};

const BASE: &str = "\
segments:
  readers: {criteria: {tag: newsletter}}
scheduled_pushes:
  april:
    schedule: {scheduled_time: 2035-04-01T10:00}
    push: {audience: {segment: readers}, device_types: [ios], notification: {alert: What is new}}
    lifecycle: {protect: true}
";

const STRICT: &str = "\
on_drift = \"stop\"
max_deletes = 3
quiet_hours = {from = \"21:00\", to = \"08:00\"}
apart = \"12h\"
min_lead = \"10m\"
test_recipients = [\"named_user:qa-*\"]
";

/// The setting of each guard that a plan calls loosened, with its resource.
fn loosened(project: &Project, arguments: &[&str]) -> Vec<String> {
    let ran = project.good(&[&["plan", "--format", "json"], arguments].concat());
    let plan: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let text = |value: &Value| value.as_str().unwrap_or("target").to_owned();
    let told = |one: &Value| format!("{} {}", text(&one["address"]), text(&one["setting"]));
    plan["loosened"].as_array().expect("a list").iter().map(told).collect()
}

#[test]
fn every_safety_setting_is_named_if_it_is_loosened_and_not_if_it_is_tightened() {
    let project = Project::with(BASE, STRICT);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    let toml = project.folder.read("pushplan.toml");
    let of_target = [
        ("on_drift = \"stop\"", "on_drift = \"overwrite\"", &["target on_drift"][..]),
        ("on_drift = \"stop\"", "", &["target on_drift"]),
        ("max_deletes = 3", "max_deletes = 30", &["target max_deletes"]),
        ("max_deletes = 3", "max_deletes = 1", &[]),
        ("max_deletes = 3", "", &["target max_deletes"]),
        ("to = \"08:00\"", "to = \"07:00\"", &["target quiet_hours"]),
        ("to = \"08:00\"", "to = \"09:00\"", &[]),
        ("from = \"21:00\"", "from = \"22:00\"", &["target quiet_hours"]),
        ("quiet_hours = {from = \"21:00\", to = \"08:00\"}", "", &["target quiet_hours"]),
        ("apart = \"12h\"", "apart = \"6h\"", &["target apart"]),
        ("apart = \"12h\"", "apart = \"24h\"", &[]),
        ("min_lead = \"10m\"", "", &["target min_lead"]),
        ("min_lead = \"10m\"", "min_lead = \"1h\"", &[]),
        ("test_recipients", "test_sends = true\ntest_recipients", &["target test_sends"]),
        ("\"named_user:qa-*\"", "\"named_user:*\"", &["target test_recipients"]),
        ("on_drift", "prune = {segments = true}\non_drift", &["target prune"]),
        ("[targets.local]", "[checks]\nAU101 = \"off\"\n[targets.local]", &["target checks.AU101"]),
        ("[targets.local]", "[checks]\nAU101 = \"warning\"\n[targets.local]", &["target checks.AU101"]),
        ("[targets.local]", "[checks]\nAU101 = \"error\"\n[targets.local]", &[]),
    ];
    for (old, new, expected) in of_target {
        assert!(toml.contains(old), "{old}");
        project.folder.write("pushplan.toml", toml.replace(old, new));
        assert_eq!(loosened(&project, &[]), expected, "{old} becomes {new}");
    }
    project.folder.write("pushplan.toml", &toml);
    let push = "scheduled_pushes/april lifecycle";
    let of_resource = [
        ("{protect: true}", "{protect: true, broadcast: true}", vec![format!("{push}.broadcast")]),
        ("{protect: true}", "{protect: true, allow: [AU101]}", vec![format!("{push}.allow")]),
        ("{protect: true}", "{protect: true, warn: [AU101]}", vec![format!("{push}.warn")]),
        ("{protect: true}", "{protect: true, ignore: [push.notification]}", vec![format!("{push}.ignore")]),
        ("{protect: true}", "{protect: false}", vec![format!("{push}.protect")]),
        // A resource stays protected until the files say otherwise.
        ("\n    lifecycle: {protect: true}", "", vec![]),
    ];
    for (old, new, expected) in of_resource {
        assert!(BASE.contains(old), "{old}");
        project.write(&BASE.replace(old, new));
        assert_eq!(loosened(&project, &[]), expected, "{old} becomes {new}");
    }
}

#[test]
fn a_lifted_guard_is_shown_in_every_form_until_it_is_applied() {
    let project = Project::with(BASE, STRICT);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    let wide = BASE.replace("{segment: readers}", "all").replace("protect: true", "protect: true, broadcast: true");
    project.write(&wide);
    let words = "broadcast: true was added";
    let text = project.good(&["plan"]).stdout;
    let stake = "scheduled_pushes/april reaches everyone. scheduled_pushes/april may now reach every device:\n`broadcast: true` was added.";
    assert!(text.starts_with(stake), "{text}");
    says(&text, &["Guards", "LOOSENED   scheduled_pushes/april", words, "(messages.yaml:4)"]);
    for format in ["markdown", "html"] {
        let page = project.good(&["plan", "--format", format]).stdout;
        says(&page, &["scheduled_pushes/april may now reach every device", "Guards", "LOOSENED", words]);
    }
    // A change left out of an apply still loosens the guard afterwards.
    project.edit("tag: newsletter", "tag: letter");
    project.good(&["apply", "--yes", "--only", "segments/readers"]);
    assert_eq!(loosened(&project, &[]), ["scheduled_pushes/april lifecycle.broadcast"]);
    project.good(&["apply", "--yes"]);
    assert_eq!(loosened(&project, &[]), [""; 0]);
}

/// A change of settings without other changes is not recorded in the ledger, so the next plan still names it.
#[test]
fn a_setting_that_is_loosened_alone_is_named_although_nothing_else_changes() {
    let project = Project::with(BASE, STRICT);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    let toml = project.folder.read("pushplan.toml");
    project.folder.write("pushplan.toml", toml.replace("max_deletes = 3", "max_deletes = 30"));
    let words = "max_deletes is now 30, was 3: one plan may delete 30 resources";
    let text = project.good(&["plan"]).stdout;
    says(
        &text,
        &[
            "No message changes. 1 guard was loosened, with no effect on this plan.",
            "LOOSENED   target local",
            words,
            "No changes.",
        ],
    );
    for format in ["markdown", "html"] {
        says(&project.good(&["plan", "--format", format]).stdout, &["LOOSENED", words]);
    }
    project.good(&["apply", "--yes"]);
    assert_eq!(loosened(&project, &[]), ["target max_deletes"]);
    project.edit("What is new", "What is next");
    project.good(&["apply", "--yes"]);
    assert_eq!(loosened(&project, &[]), [""; 0]);
}

/// The changes that each loosened setting of a plan lets through.
fn through(plan: &str) -> Value {
    let plan: Value = serde_json::from_str(plan).expect("JSON");
    let all = plan["loosened"].as_array().expect("a list");
    all.iter().map(|one| json!([one["setting"], one["lets_through"]])).collect()
}

#[test]
fn drift_that_a_change_allows_to_be_reverted_is_named() {
    let base = "templates:\n  hello: {push: {notification: {alert: Our words}}}\n";
    let project = Project::with(base, "on_drift = \"stop\"\n");
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let listed = service.get("/api/templates");
    let id = listed["templates"][0]["template_id"].as_str().or(listed["templates"][0]["id"].as_str()).expect("an id");
    let body = json!({ "name": "hello", "push": { "notification": { "alert": "Their words" } } });
    service.post(&format!("/api/templates/{id}"), &body);
    says(&project.refused(&[]).stdout, &["Apply refuses this plan: it would revert 1 change made on the service"]);
    let toml = project.folder.read("pushplan.toml");
    project.folder.write("pushplan.toml", toml.replace("on_drift = \"stop\"", "on_drift = \"overwrite\""));
    let plan = project.good(&["plan", "--format", "json"]).stdout;
    assert_eq!(through(&plan), json!([["on_drift", ["templates/hello"]]]));
    for format in ["text", "markdown", "html"] {
        let told = project.good(&["plan", "--format", format]).stdout;
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        says(
            &told,
            &["1 guard was loosened, with an effect on templates/hello.", "undone; this affects templates/hello"],
        );
    }
    // A user who passes the stricter setting is still refused.
    let plan = project.refused(&["--on-drift", "stop", "--format", "json"]).stdout;
    assert_eq!(through(&plan), json!([["on_drift", []]]));
    project.good(&["apply", "--yes"]);
    assert_eq!(service.get("/api/templates")["templates"][0]["push"]["notification"]["alert"], "Our words");
}

#[test]
fn a_protection_that_is_lifted_holds_until_that_is_applied() {
    let base = "segments:\n  a: {criteria: {tag: a}, lifecycle: {protect: true}}\n";
    let project = Project::documented(base);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    let lifted = base.replace("protect: true", "protect: false");
    project.write(&lifted.replace("tag: a", "tag: b"));
    let told = project.refused(&[]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    says(&told, &["Apply refuses this plan: segments/a is protected and would be deleted or replaced"]);
    says(&told, &["protect is now false: it can be deleted; this takes effect after this apply"]);
    assert!(!told.contains("this affects"), "{told}");
    let plan = project.refused(&["--format", "json"]).stdout;
    assert_eq!(through(&plan), json!([["lifecycle.protect", []]]));
    assert_eq!(project.run(&["apply", "--yes"]).code, 7);
    project.write(&lifted);
    project.good(&["apply", "--yes"]);
    project.write(&lifted.replace("tag: a", "tag: b"));
    assert_eq!(through(&project.good(&["plan", "--format", "json"]).stdout), json!([]));
    project.good(&["apply", "--yes"]);
}

#[test]
fn what_a_change_allows_to_be_pruned_is_named() {
    let base = "segments:\n  a: {criteria: {tag: a}}\n";
    let project = Project::with(base, "prune = {}\n");
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    service.segment("Other", "other");
    service.segment("Legacy", "legacy");
    let toml = project.folder.read("pushplan.toml");
    assert_eq!(through(&project.good(&["plan", "--format", "json"]).stdout), json!([]));
    project.folder.write("pushplan.toml", toml.replace("prune = {}", "prune = {segments = true, templates = true}"));
    let plan = project.good(&["plan", "--format", "json"]).stdout;
    assert_eq!(through(&plan), json!([["prune", ["segments/legacy", "segments/other"]]]));
    for format in ["text", "markdown", "html"] {
        let told = project.good(&["plan", "--format", format]).stdout;
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        says(&told, &["1 guard was loosened, with an effect on segments/legacy and segments/other."]);
    }
    project.good(&["apply", "--yes"]);
    assert_eq!(service.segments(), ["a"]);
    // A kind that was already pruned is not new.
    service.segment("Third", "third");
    assert_eq!(through(&project.good(&["plan", "--format", "json"]).stdout), json!([]));
}
