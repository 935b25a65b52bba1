//! Files that are older than the last applied ones: an outdated clone reverts nothing.

use std::path::Path;
use std::process::Command;

use pushplan_testing::{Project, Ran, Service, says};
use serde_json::Value;

const FIRST: &str = "\
scheduled_pushes:
  first:
    schedule: {scheduled_time: 2035-01-22T10:00}
    push: {audience: {tag: vip}, device_types: [ios], notification: {alert: The first one}}
";
const SALE: &str = "  sale:
    schedule: {scheduled_time: 2035-06-01T10:00}
    push: {audience: {tag: all}, device_types: [android], notification: {alert: Everything must go}}
";

fn git(folder: &Path, arguments: &[&str]) {
    let config = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main"];
    let ran = Command::new("git").args(config).args(arguments).current_dir(folder).output().expect("git runs");
    assert!(ran.status.success(), "git {arguments:?}: {ran:?}");
}

/// A project in a repository with two commits: the second one adds a push, and was applied.
fn merged() -> (Project, Service) {
    let project = Project::new(FIRST);
    let service = project.serve();
    let folder = project.folder.path();
    git(folder, &["init", "-q"]);
    commit(&project, "first");
    project.good(&["apply", "--yes"]);
    project.write(&format!("{FIRST}{SALE}"));
    commit(&project, "sale");
    project.good(&["apply", "--yes"]);
    (project, service)
}

fn commit(project: &Project, message: &str) {
    git(project.folder.path(), &["add", "--", "messages.yaml", "pushplan.toml"]);
    git(project.folder.path(), &["commit", "-q", "-m", message]);
}

fn pushes(service: &Service) -> Vec<String> {
    let mut names = service.names("/api/schedules", "schedules", "name");
    names.sort();
    names
}

fn refused(ran: &Ran, words: &[&str]) {
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.to_string(), words);
}

#[test]
fn one_commit_behind_nothing_that_was_merged_is_deleted() {
    let (project, service) = merged();
    git(project.folder.path(), &["checkout", "-q", "HEAD~1"]);
    let said = ["These files are older than the last apply", "is behind", "scheduled_pushes/sale", "--allow-older"];
    refused(&project.run(&["reconcile", "--once", "--drift", "fix"]), &said);
    refused(&project.run(&["apply", "--yes"]), &[&said[..], &["git pull"]].concat());
    assert_eq!(pushes(&service), ["first", "sale"]);

    // Every form of the plan starts with it.
    let text = project.refused(&[]).stdout;
    assert!(text.starts_with("These files are older than the last apply: this checkout, "), "{text}");
    let json: Value = serde_json::from_str(&project.refused(&["--format", "json"]).stdout).expect("JSON");
    assert_eq!(json["older"]["relation"], "behind", "{json}");
    assert_eq!(json["refused"][0]["guard"], "older", "{json}");
    let markdown = project.refused(&["--format", "markdown"]).stdout;
    says(&markdown, &["> [!WARNING]\n> These files are older than the last apply"]);
    says(&project.refused(&["--format", "html"]).stdout, &["These files are older than the last apply"]);

    // Applying a part does not make these files the newest.
    project.good(&["apply", "--yes", "--only", "scheduled_pushes/first"]);
    refused(&project.run(&["apply", "--yes"]), &said);
    project.good(&["apply", "--yes", "--allow-older"]);
    assert_eq!(pushes(&service), ["first"]);
}

#[test]
fn older_files_neither_take_an_edit_back_nor_bring_back_what_was_removed() {
    let (project, service) = merged();
    let folder = project.folder.path();
    project.edit("The first one", "Corrected");
    commit(&project, "correct");
    project.good(&["apply", "--yes"]);
    git(folder, &["checkout", "-q", "HEAD~1"]);
    refused(&project.run(&["apply", "--yes"]), &["is behind", "scheduled_pushes/first"]);
    git(folder, &["checkout", "-q", "main"]);
    project.write(&project.folder.read("messages.yaml").replace(SALE, ""));
    commit(&project, "no sale");
    project.good(&["apply", "--yes"]);
    assert_eq!(pushes(&service), ["first"]);
    git(folder, &["checkout", "-q", "HEAD~1"]);
    refused(&project.run(&["apply", "--yes"]), &["is behind", "scheduled_pushes/sale"]);
    assert_eq!(pushes(&service), ["first"]);
    // A commit that reverts another one is not an older one.
    git(folder, &["checkout", "-q", "main"]);
    git(folder, &["revert", "--no-edit", "HEAD"]);
    project.good(&["apply", "--yes"]);
    assert_eq!(pushes(&service), ["first", "sale"]);
}

#[test]
fn older_files_put_back_what_somebody_changed_on_the_service() {
    let (project, service) = merged();
    git(project.folder.path(), &["checkout", "-q", "HEAD~1"]);
    // The commit is older, and the files have the applied content.
    project.write(&format!("{FIRST}{SALE}"));
    says(
        &project.good(&["plan"]).stdout,
        &["These files are older than the last apply", "with uncommitted changes", "No changes."],
    );
    let listed = service.get("/api/schedules");
    let sale = listed["schedules"].as_array().expect("a list").iter().find(|one| one["name"] == "sale");
    let mut sale = sale.expect("a push").clone();
    let path = sale["url"].as_str().and_then(|url| url.split_once("/api/")).expect("a path").1.to_owned();
    sale["push"]["notification"]["alert"] = "Something else".into();
    let fields = ["name", "schedule", "push"].map(|field| (field.to_owned(), sale[field].clone()));
    service.put(&format!("/api/{path}"), &Value::Object(fields.into_iter().collect()));
    project.good(&["apply", "--yes"]);
    assert!(service.get("/api/schedules").to_string().contains("Everything must go"));
}

#[test]
fn another_branch_deletes_nothing_and_brings_no_cancelled_message_back() {
    let (project, service) = merged();
    let folder = project.folder.path();
    git(folder, &["checkout", "-q", "-b", "other"]);
    project.write(&format!("templates:\n  hello:\n    push: {{notification: {{alert: Hello}}}}\n{FIRST}{SALE}"));
    commit(&project, "other");
    git(folder, &["checkout", "-q", "main"]);
    project.write(FIRST);
    commit(&project, "cancel the sale");
    project.good(&["apply", "--yes"]);
    assert_eq!(pushes(&service), ["first"]);

    // The branch began before the sale was cancelled.
    git(folder, &["checkout", "-q", "other"]);
    let said = "These files do not contain the last apply: this checkout, ";
    let all = [said, "(other), is not a descendant of", "scheduled_pushes/sale", "merge or rebase", "--allow-older"];
    refused(&project.run(&["apply", "--yes"]), &all);
    refused(&project.run(&["apply", "--yes", "--only", "scheduled_pushes/sale"]), &all);
    assert_eq!(pushes(&service), ["first"]);

    // Resources that send no messages may be new.
    project.good(&["apply", "--yes", "--only", "templates/hello"]);
    git(folder, &["checkout", "-q", "main"]);
    git(folder, &["merge", "-q", "-m", "merge", "other"]);
    project.good(&["apply", "--yes"]);
    assert_eq!(pushes(&service), ["first"]);
}

#[test]
fn older_files_do_not_bring_back_what_was_turned_off_in_the_dashboard() {
    let pipeline = "\
pipelines:
  remind:
    enabled: true
    immediate_trigger: {tag_added: remind}
    outcome: {push: {audience: triggered, device_types: [ios], notification: {alert: Hello}}}
";
    let (project, service) = merged();
    let folder = project.folder.path();
    project.write(&format!("{FIRST}{SALE}{pipeline}"));
    commit(&project, "remind");
    project.good(&["apply", "--yes"]);
    project.write(&format!("{FIRST}{SALE}").replace("The first one", "Corrected"));
    commit(&project, "do not remind");
    // The commit is applied except for the deletion, which a person does in the dashboard.
    project.good(&["apply", "--yes", "--except", "pipelines/remind"]);
    let pipelines = || service.get("/api/pipelines")["pipelines"].as_array().expect("a list").clone();
    let id = pipelines()[0]["uid"].as_str().expect("an id").to_owned();
    service.delete(&format!("/api/pipelines/{id}"));
    git(folder, &["checkout", "-q", "HEAD~1"]);
    refused(&project.run(&["apply", "--yes"]), &["is behind", "pipelines/remind"]);
    assert!(pipelines().is_empty());
}

/// A clone of a project, with the same ledger and service.
fn cloned(project: &Project, options: &[&str]) -> Project {
    let clone = Project::new("");
    let (from, to) = (project.folder.path(), clone.folder.path());
    std::fs::remove_dir_all(to).expect("a folder");
    let (from_text, to_text) = (format!("file://{}", from.display()), to.display().to_string());
    git(from, &[&["clone", "-q"], options, &[&from_text, &to_text]].concat());
    clone
}

fn share(from: &Project, to: &Project) {
    let copied = Command::new("cp")
        .arg("-r")
        .arg(from.folder.path().join(".pushplan"))
        .arg(to.folder.path())
        .status()
        .expect("cp runs");
    assert!(copied.success());
}

#[test]
fn a_clone_that_was_not_updated_is_behind_and_one_without_a_history_cannot_tell() {
    let project = Project::new(FIRST);
    let service = project.serve();
    git(project.folder.path(), &["init", "-q"]);
    commit(&project, "first");
    let old = cloned(&project, &[]);
    project.good(&["apply", "--yes"]);
    project.write(&format!("{FIRST}{SALE}"));
    commit(&project, "sale");
    project.good(&["apply", "--yes"]);
    share(&project, &old);
    let said = ["which this clone does not have", "git pull", "scheduled_pushes/sale"];
    refused(&old.run(&["reconcile", "--once", "--drift", "fix"]), &said);
    assert_eq!(pushes(&service), ["first", "sale"]);

    project.write(FIRST);
    commit(&project, "no sale");
    let shallow = cloned(&project, &["--depth", "1"]);
    share(&project, &shallow);
    let said = ["These files may be older than the last apply", "is unknown", "git fetch --unshallow"];
    refused(&shallow.run(&["apply", "--yes"]), &said);
    assert_eq!(pushes(&service), ["first", "sale"]);
    git(shallow.folder.path(), &["fetch", "-q", "--unshallow"]);
    shallow.good(&["apply", "--yes"]);
    assert_eq!(pushes(&service), ["first"]);
}

#[test]
fn a_clone_that_cannot_tell_brings_no_cancelled_message_back() {
    let (project, service) = merged();
    let shallow = cloned(&project, &["--depth", "1"]);
    project.write(FIRST);
    commit(&project, "no sale");
    project.good(&["apply", "--yes"]);
    share(&project, &shallow);
    refused(&shallow.run(&["apply", "--yes"]), &["is unknown", "scheduled_pushes/sale", "git fetch --unshallow"]);
    assert_eq!(pushes(&service), ["first"]);
    shallow.good(&["apply", "--yes", "--allow-older"]);
    assert_eq!(pushes(&service), ["first", "sale"]);
}

#[test]
fn outside_git_nothing_is_refused_and_the_plan_says_what_was_applied() {
    let (project, service) = merged();
    std::fs::remove_dir_all(project.folder.path().join(".git")).expect("a repository");
    project.write(FIRST);
    let said = project.good(&["plan"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    says(
        &said,
        &["These files may be older than the last apply", "(main), and this project is not in a git repository."],
    );
    project.good(&["apply", "--yes"]);
    assert_eq!(pushes(&service), ["first"]);
}

/// The newest record of a project's ledger.
fn records(project: &Project) -> u64 {
    let status = project.good(&["ledger", "status", "--format", "json"]).stdout;
    let json: Value = serde_json::from_str(&status).expect("JSON");
    json["records"].as_u64().unwrap_or_else(|| panic!("{json}"))
}

/// The newer files only stop pruning, so their apply has nothing to do.
#[test]
fn files_are_older_than_those_whose_apply_had_nothing_to_do() {
    let project = Project::with(FIRST, "prune = {segments = true}\n");
    let service = project.serve();
    let folder = project.folder.path();
    git(folder, &["init", "-q"]);
    commit(&project, "prune");
    project.good(&["apply", "--yes"]);
    let settings = project.folder.read("pushplan.toml").replace("prune = {segments = true}\n", "");
    project.folder.write("pushplan.toml", settings);
    commit(&project, "no prune");
    let before = records(&project);
    // Applying a part of the files does not make the rest of them the newest.
    project.good(&["apply", "--yes", "--only", "scheduled_pushes/first"]);
    assert_eq!(records(&project), before);
    let history = project.good(&["history"]).stdout;
    project.good(&["apply", "--yes"]);
    project.good(&["apply", "--yes"]);
    assert_eq!(records(&project), before + 1, "once for each commit");
    assert_eq!(project.good(&["history"]).stdout, history, "nothing was done");
    // Older files without changes do not become the newest.
    git(folder, &["checkout", "-q", "HEAD~1"]);
    project.good(&["apply", "--yes"]);
    assert_eq!(records(&project), before + 1);
    service.segment("theirs", "t");
    for arguments in [&["apply", "--yes"][..], &["reconcile", "--once", "--drift", "fix"]] {
        refused(&project.run(arguments), &["is behind", "segments/theirs"]);
    }
    assert_eq!(service.names("/api/segments", "segments", "display_name"), ["theirs"]);
    // The next commit without changes is applied by reconcile too.
    git(folder, &["checkout", "-q", "main"]);
    git(folder, &["commit", "-q", "--allow-empty", "-m", "nothing"]);
    project.good(&["reconcile", "--once", "--drift", "fix"]);
    assert_eq!(records(&project), before + 2);
}

#[test]
fn a_clean_clone_takes_back_nothing_that_was_applied_from_uncommitted_files() {
    let home = Project::new("");
    let service = home.serve();
    let project = Project::new(FIRST);
    let (folder, origin) = (project.folder.path(), &service.origin);
    let text = format!(
        "base_url = {origin:?}\napi = \"extended\"\nsettle = \"1s\"\nsend_within = \"2s\"\nledger = \"file:\"\n"
    );
    project.folder.write("pushplan.toml", format!("[targets.far]\n{text}"));
    git(folder, &["init", "-q"]);
    commit(&project, "first");
    let run = |arguments: &[&str], code: i32| {
        let ran = project.run_as(arguments, &service.credentials());
        assert_eq!(ran.code, code, "{arguments:?}: {ran}");
        ran
    };
    run(&["apply", "--yes"], 0);
    project.write(&format!("{FIRST}{SALE}"));
    run(&["apply", "--yes"], 0);
    // A user who continues to edit gets no question.
    project.edit("Everything must go", "Nearly everything must go");
    run(&["apply", "--yes"], 0);
    git(folder, &["stash", "-q"]);
    let ran = run(&["apply", "--yes"], 7);
    says(
        &ran.to_string(),
        &["These files may not contain the last apply", "with uncommitted changes", "--allow-older"],
    );
    says(&ran.to_string(), &["scheduled_pushes/sale", "commit the changes that were applied"]);
    assert_eq!(pushes(&service), ["first", "sale"]);
    // After they are committed, the next commit may revert them.
    git(folder, &["stash", "pop", "-q"]);
    commit(&project, "sale");
    run(&["apply", "--yes"], 0);
    project.write(FIRST);
    commit(&project, "no sale");
    run(&["apply", "--yes"], 0);
    assert_eq!(pushes(&service), ["first"]);
}

#[test]
fn an_edit_that_was_tried_on_the_built_in_service_is_undone_unasked() {
    let (project, service) = merged();
    project.write(FIRST);
    project.edit("The first one", "Something else");
    project.good(&["apply", "--yes"]);
    git(project.folder.path(), &["checkout", "-q", "--", "messages.yaml"]);
    project.good(&["apply", "--yes"]);
    assert_eq!(pushes(&service), ["first", "sale"]);
}
