//! `list`, and addresses that are only a key.

use pushplan_testing::{Project, checked, says};

const TWO: &str = "\
segments:
  lapsed: {display_name: Lapsed buyers, criteria: {tag: lapsed}}
  vip: {criteria: {tag: vip}}
scheduled_pushes:
  vip:
    schedule: {scheduled_time: \"2035-11-23T09:00Z\"}
    push: {audience: {segment: vip}, device_types: [ios], notification: {alert: Hello}}
";

#[test]
fn what_is_managed_is_listed_from_the_ledger_alone() {
    let project = Project::new(TWO);
    says(&project.good(&["list"]).stdout, &["The ledger of local is empty. Next: pushplan plan"]);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let id = service.segment_id("Lapsed buyers");
    service.forget();
    let listed = project.good(&["list"]).stdout;
    let row = listed.lines().find(|line| line.starts_with("segments/lapsed ")).expect("a row");
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["segments/lapsed", "applied", "Lapsed", "buyers", &id]);
    let waiting = listed.lines().find(|line| line.starts_with("scheduled_pushes/vip ")).expect("a row");
    assert_eq!(waiting.split_whitespace().nth(1), Some("waiting"), "{listed}");
    assert_eq!(service.asked(), Vec::<String>::new(), "the ledger says it");
    for command in [&["ls"][..], &["state", "list"]] {
        assert_eq!(project.good(command).stdout, listed, "{command:?}");
    }
    assert_eq!(project.good(&["list", "segments"]).stdout.lines().count(), 3);
    assert_eq!(project.good(&["list", "segments/la*"]).stdout.lines().count(), 2);
    says(&project.good(&["list", "templates"]).stdout, &["has no such resource"]);
    let json = checked(&project.good(&["list", "--format", "json"]), "list.schema.json");
    assert_eq!(json["resources"][1]["address"], "segments/lapsed");
    assert_eq!((&json["resources"][1]["state"], &json["resources"][1]["id"]), (&"applied".into(), &id.into()));
}

#[test]
fn a_key_without_its_kind_is_found_if_one_resource_has_it() {
    let project = Project::new(TWO);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    says(&project.good(&["show", "lapsed"]).stdout, &["segments/lapsed"]);
    let ran = project.run(&["show", "vip"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["`vip` is the key of 2 resources", "write scheduled_pushes/vip or segments/vip"]);
    let ran = project.run(&["show", "lapsd"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["did you mean segments/lapsed?"]);
    says(&project.good(&["show", "scheduled-pushes/vip"]).stdout, &["scheduled_pushes/vip"]);
    project.good(&["mv", "lapsed", "gone"]);
    says(&project.good(&["plan"]).stdout, &["No changes."]);
    // Only the ledger has it.
    project.write("segments: {}\n");
    project.good(&["forget", "gone"]);
    assert!(!project.good(&["list"]).stdout.contains("segments/gone"));
}

#[test]
fn a_replacement_is_one_change_in_the_plan_and_in_the_history() {
    let project = Project::documented(TWO);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("criteria: {tag: lapsed}", "criteria: {tag: left}");
    let plan = project.good(&["plan"]);
    says(&plan.stdout, &["1 to replace"]);
    let applied = project.good(&["apply", "--yes"]);
    let history = project.good(&["history"]).stdout;
    assert!(history.lines().next().is_some_and(|line| line.ends_with("1 replaced")), "{plan}{applied}{history}");
}

/// An experiment is deleted before its new version is created.
#[test]
fn a_replacement_that_deletes_first_is_one_change_in_the_history_too() {
    let experiment = "experiments:
  texts:
    audience: {country: US}
    device_types: [ios]
    variants:
      - {push: {notification: {alert: One}}, schedule: {scheduled_time: \"2035-11-23T09:00\"}}
      - {push: {notification: {alert: Two}}, schedule: {scheduled_time: \"2035-11-23T09:00\"}}
";
    let project = Project::documented(experiment);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("alert: Two", "alert: Three");
    says(&project.good(&["plan"]).stdout, &["1 to replace"]);
    says(&project.good(&["apply", "--yes"]).stdout, &["1 replaced."]);
    let history = project.good(&["history"]).stdout;
    assert!(history.lines().next().is_some_and(|line| line.ends_with("1 replaced")), "{history}");
}

#[test]
fn the_way_to_undo_drift_is_not_refused() {
    let project = Project::with(TWO, "on_drift = \"stop\"\n");
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let id = service.segment_id("Lapsed buyers");
    let theirs = serde_json::json!({"display_name": "Lapsed buyers", "criteria": {"tag": "theirs"}});
    service.put(&format!("/api/segments/{id}"), &theirs);
    let drift = project.run(&["drift"]).stdout;
    let command = drift.lines().find_map(|line| line.trim().strip_prefix("to undo")).expect("a command").trim();
    assert_eq!(command, "pushplan apply --only segments/lapsed --on-drift overwrite");
    let words: Vec<&str> = command.split(' ').skip(1).chain(["--yes"]).collect();
    project.good(&words);
    says(&project.good(&["drift"]).stdout, &["No drift: "]);
}

#[test]
fn without_a_user_in_the_environment_the_history_names_the_author_of_git() {
    let project = Project::new(TWO);
    let _service = project.serve();
    let home = project.folder.path().join("home");
    project.folder.write("home/.gitconfig", "[user]\n\tname = Ada Lovelace\n");
    let none = ["USER", "LOGNAME", "GITHUB_ACTOR", "GITLAB_USER_LOGIN", "GIT_AUTHOR_NAME"].map(|name| (name, ""));
    let home = home.to_str().expect("UTF-8");
    let env: Vec<(&str, &str)> = none.into_iter().chain([("HOME", home)]).collect();
    let ran = project.run_as(&["apply", "--yes"], &env);
    assert_eq!(ran.code, 0, "{ran}");
    says(&project.good(&["history"]).stdout, &["Ada Lovelace on "]);
}

#[test]
fn a_ledger_in_git_does_not_keep_a_project_outside_of_git_from_renaming() {
    let other = "\n[targets.production]\nbase_url = \"https://messaging.example\"\nledger = \"git\"\n";
    let project = Project::with(TWO, other);
    let _service = project.serve();
    project.good(&["apply", "--target", "local", "--yes"]);
    let ran = project.good(&["mv", "segments/lapsed", "segments/gone", "--target", "local"]);
    says(&format!("{}{}", ran.stdout, ran.stderr), &["production has no ledger here"]);
    says(&project.good(&["plan", "--target", "local"]).stdout, &["No changes."]);
}

#[test]
fn what_the_service_refuses_is_to_be_corrected_in_the_manifest() {
    let project = Project::new(&TWO.replace("{alert: Hello}", "{alert: Hello, nonsense: 1}"));
    let _service = project.serve();
    let ran = project.run(&["apply", "--yes"]);
    assert_ne!(ran.code, 0, "{ran}");
    says(&format!("{}{}", ran.stdout, ran.stderr), &["Correct the manifest, then run"]);
}

#[test]
fn what_is_not_managed_is_called_so_in_drift() {
    let project = Project::new(TWO);
    project.good(&["apply", "--yes"]);
    let told = project.good(&["drift"]).stdout;
    says(&told, &["may be new: the service does not say when they were created"]);
}

#[test]
fn a_tag_of_a_managed_open_channel_is_in_git() {
    let channel =
        "open_channels:\n  till: {address: till-1, open: {open_platform_name: pos}, opt_in: true, tags: [shop]}\n";
    let project = Project::new(channel);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    says(&project.good(&["plan"]).stdout, &["No changes. local matches your files (1 resource).\n"]);
    assert!(!project.good(&["plan"]).stdout.contains("Not in git"), "the tag comes from the channel");
    says(&project.good(&["drift"]).stdout, &["No drift"]);
    assert!(!project.good(&["drift"]).stdout.contains("may be new"));
    service.put("/api/tags/other", &serde_json::json!({}));
    says(&project.good(&["plan"]).stdout, &["Not in git: 1 legacy tag; pushplan unmanaged lists it."]);
}
