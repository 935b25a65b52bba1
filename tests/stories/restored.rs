//! A ledger that was set back or restored from a backup: nothing that it no longer contains is sent again.

use std::fs;
use std::path::Path;
use std::process::Command;

use pushplan_testing::{Folder, Project, Ran, Service, says};

const FIRST: &str = "\
segments:
  a: {criteria: {tag: a}}
";

/// The resources that are applied after the backup: one is in a list of the service, one is not.
const LATER: &str = "\
segments:
  a: {criteria: {tag: a}}
  b: {criteria: {tag: b}}
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2035-01-22T10:00}
    push: {audience: {tag: vip}, device_types: [ios], notification: {alert: Sale}}
";

fn git(folder: &Path, arguments: &[&str]) {
    let ran = Command::new("git").args(arguments).current_dir(folder).output().expect("git runs");
    assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

/// Copies the ledger next to the manifests.
fn copy_ledger(from: &Project, to: &Project) {
    let ledger = |project: &Project| project.folder.path().join(".pushplan/ledger/far");
    fs::create_dir_all(ledger(to)).expect("a folder");
    for file in fs::read_dir(ledger(from)).expect("a folder").flatten() {
        fs::copy(file.path(), ledger(to).join(file.file_name())).expect("a copy");
    }
}

/// A service, and a project on each of two machines.
struct Story {
    service: Service,
    /// Where the service runs.
    _home: Project,
    settings: String,
}

impl Story {
    /// Creates a story whose ledger is in this location.
    fn new(ledger: &str) -> Self {
        let home = Project::new(FIRST);
        let service = home.serve();
        let settings = format!(
            "[targets.far]\nbase_url = \"{}\"\napi = \"documented\"\nledger = \"{ledger}\"\nsettle = \"1s\"\nsend_within = \"2s\"\n",
            service.origin
        );
        Self { service, _home: home, settings }
    }

    /// The project on a machine that has never seen its ledger.
    fn machine(&self, manifest: &str) -> Project {
        let folder = Folder::new();
        folder.write("pushplan.toml", &self.settings);
        folder.write("messages.yaml", manifest);
        Project { folder }
    }

    /// Another machine, with a copy of the ledger of this one.
    fn copied(&self, from: &Project, manifest: &str) -> Project {
        let copy = self.machine(manifest);
        copy_ledger(from, &copy);
        copy
    }

    fn ends(&self, project: &Project, arguments: &[&str], code: i32) -> Ran {
        let ran = project.run_as(arguments, &self.service.credentials());
        assert_eq!(ran.code, code, "{arguments:?}: {ran}");
        ran
    }

    fn pushes(&self) -> Vec<String> {
        self.service.names("/api/schedules", "schedules", "url")
    }

    /// After a person has accepted the gap, nothing that may already exist is created until a person has confirmed it.
    fn goes_on(&self, project: &Project) {
        let pushes = self.pushes();
        assert_eq!(pushes.len(), 1);
        self.service.forget();
        let ran = self.ends(project, &["plan"], 7);
        says(
            &ran.stdout,
            &[
                "scheduled_pushes/sale",
                "the ledger was restored from a backup: this may have been created between",
                "pushplan resolve scheduled_pushes/sale --absent",
                "pushplan adopt segments/b",
            ],
        );
        let ran = self.ends(project, &["apply", "--yes"], 7);
        says(&ran.stderr, &["scheduled_pushes/sale: whether it was created before", "is unknown"]);
        says(&self.ends(project, &["ledger", "status"], 0).stdout, &["gap", "restored from a backup"]);
        // A resource that is not in a complete list does not exist.
        project.edit("  a: {", "  c: {criteria: {tag: c}}\n  a: {");
        self.ends(project, &["apply", "--yes", "--only", "segments/c"], 0);
        assert_eq!(self.service.writes(), ["POST /api/segments"]);
        let id = pushes[0].rsplit('/').next().expect("an id");
        let ran = self.ends(project, &["resolve", "scheduled_pushes/other", "--absent"], 64);
        says(&ran.stderr, &["has nothing at scheduled_pushes/other"]);
        self.ends(project, &["resolve", "scheduled_pushes/sale", "--created", id], 0);
        self.ends(project, &["adopt", "segments/b"], 0);
        // Resources without a list may have been changed by the lost records, so no plan says that they match.
        says(
            &self.ends(project, &["plan"], 0).stdout,
            &["The ledger was restored from a backup", "No changes for far (4 resources)."],
        );
        self.ends(project, &["ledger", "restore", "--close-gap"], 0);
        self.ends(project, &["ledger", "restore", "--close-gap"], 64);
        says(
            &self.ends(project, &["history"], 0).stdout,
            &["restored from a backup; later records are lost", "closed the gap"],
        );
        // From here on, a new push is a new push.
        let another =
            LATER.split("scheduled_pushes:\n").nth(1).expect("a push").replace("sale", "next").replace("Sale", "Next");
        project.write(&format!("{}{another}", project.folder.read("messages.yaml")));
        self.ends(project, &["apply", "--yes"], 0);
        assert_eq!(self.pushes().len(), 2);
    }
}

#[test]
fn a_git_ref_that_was_set_back_is_noticed_in_a_fresh_clone() {
    let story = Story::new("git");
    let server = Folder::new();
    git(server.path(), &["init", "-q", "--bare", "-b", "main"]);
    let clone = |manifest: &str| {
        let project = story.machine(manifest);
        git(project.folder.path(), &["init", "-q", "-b", "main"]);
        git(project.folder.path(), &["remote", "add", "origin", server.path().to_str().expect("UTF-8")]);
        project
    };
    let first = clone(FIRST);
    story.ends(&first, &["apply", "--yes"], 0);
    git(server.path(), &["tag", "backup", "refs/pushplan/far"]);
    first.write(LATER);
    story.ends(&first, &["apply", "--yes"], 0);
    git(server.path(), &["update-ref", "refs/pushplan/far", "backup"]);
    // Earlier versions used another name for the mark.
    git(server.path(), &["update-ref", "refs/pushplan-mark/far", "refs/pushplan_mark/far"]);
    git(server.path(), &["update-ref", "-d", "refs/pushplan_mark/far"]);
    let ran = story.ends(&clone(LATER), &["plan"], 1);
    says(&ran.to_string(), &["existed before", "pushplan ledger restore --accept-gap --target far"]);
    git(server.path(), &["update-ref", "refs/pushplan_mark/far", "refs/pushplan-mark/far"]);
    let second = clone(LATER);
    story.service.forget();
    for arguments in [&["plan"][..], &["apply", "--yes"], &["reconcile", "--once", "--drift", "fix"]] {
        let ran = story.ends(&second, arguments, 1);
        says(&ran.to_string(), &["existed before", "pushplan ledger restore --accept-gap --target far"]);
    }
    assert_eq!(story.service.writes(), Vec::<String>::new());
    let ran = story.ends(&second, &["ledger", "restore", "--accept-gap"], 0);
    says(&ran.stdout, &["are lost", "pushplan resolve ADDRESS --created ID", "--close-gap"]);
    story.goes_on(&second);
    // The clone that has seen more learns from the ledger that the gap is accepted.
    says(&story.ends(&first, &["history"], 0).stdout, &["later records are lost"]);
}

#[test]
fn a_folder_that_was_restored_from_a_copy_on_a_new_machine_goes_on_with_a_gap() {
    let story = Story::new("file:");
    let first = story.machine(FIRST);
    story.ends(&first, &["apply", "--yes"], 0);
    let second = story.copied(&first, LATER);
    first.write(LATER);
    story.ends(&first, &["apply", "--yes"], 0);
    story.ends(&second, &["ledger", "restore", "--accept-gap"], 0);
    story.goes_on(&second);
}

/// An experiment cannot be listed. In the gap, another took its place, under another id, and may have been sent since.
#[test]
fn what_was_replaced_in_a_gap_is_not_made_a_third_time() {
    let trial = |text: &str| {
        format!(
            "experiments:\n  trial:\n    audience: {{tag: vip}}\n    device_types: [ios]\n    variants:\n\
             \x20     - {{push: {{notification: {{alert: {text}}}}}, schedule: {{scheduled_time: 2035-03-01T10:00}}}}\n\
             \x20     - {{push: {{notification: {{alert: Two}}}}, schedule: {{scheduled_time: 2035-03-02T10:00}}}}\n"
        )
    };
    let story = Story::new("file:");
    let first = story.machine(&trial("One"));
    story.ends(&first, &["apply", "--yes"], 0);
    let second = story.copied(&first, &trial("Other"));
    first.write(&trial("Other"));
    story.ends(&first, &["apply", "--yes"], 0);
    story.ends(&second, &["ledger", "restore", "--accept-gap"], 0);
    story.service.forget();
    says(&story.ends(&second, &["plan"], 7).stdout, &["pushplan resolve experiments/trial --absent"]);
    story.ends(&second, &["apply", "--yes"], 7);
    assert_eq!(story.service.writes(), Vec::<String>::new(), "two would message people twice");
    let shown = story.ends(&first, &["show", "experiments/trial"], 0).stdout;
    let id = shown.lines().find_map(|line| line.trim().strip_prefix("id ")).expect("its id").trim();
    story.ends(&second, &["resolve", "experiments/trial", "--created", id], 0);
    let plan = story.ends(&second, &["plan"], 0).stdout;
    assert!(!plan.contains("POST"), "{plan}");
}

/// A list shows a pipeline under the name that it had in the gap. Another one on the same tag would message people twice.
#[test]
fn a_pipeline_that_was_renamed_since_a_gap_is_not_made_a_second_time() {
    let pipeline = |name: &str| {
        format!(
            "pipelines:\n  welcome:\n    name: {name}\n    enabled: true\n    immediate_trigger: {{tag_added: joined}}\n    \
             outcome: {{push: {{audience: triggered, device_types: [ios], notification: {{alert: Welcome}}}}}}\n"
        )
    };
    let story = Story::new("file:");
    let first = story.machine(FIRST);
    story.ends(&first, &["apply", "--yes"], 0);
    let second = story.copied(&first, &format!("{FIRST}{}", pipeline("New")));
    first.write(&format!("{FIRST}{}", pipeline("Old")));
    story.ends(&first, &["apply", "--yes"], 0);
    story.ends(&second, &["ledger", "restore", "--accept-gap"], 0);
    story.service.forget();
    says(&story.ends(&second, &["apply", "--yes"], 7).stderr, &["pipelines/welcome: whether it was created before"]);
    assert_eq!(story.service.writes(), Vec::<String>::new());
    let id = story.service.get("/api/pipelines")["pipelines"][0]["uid"].as_str().expect("an id").to_owned();
    story.ends(&second, &["resolve", "pipelines/welcome", "--created", &id, "--sent"], 64);
    story.ends(&second, &["resolve", "pipelines/welcome", "--created", &id], 0);
    assert!(!story.ends(&second, &["plan"], 0).stdout.contains("POST"));
}

#[test]
fn a_git_ref_whose_mark_was_deleted_is_not_believed() {
    let story = Story::new("git");
    let server = Folder::new();
    git(server.path(), &["init", "-q", "--bare", "-b", "main"]);
    let clone = |manifest: &str| {
        let project = story.machine(manifest);
        git(project.folder.path(), &["init", "-q", "-b", "main"]);
        git(project.folder.path(), &["remote", "add", "origin", server.path().to_str().expect("UTF-8")]);
        project
    };
    let first = clone(FIRST);
    story.ends(&first, &["apply", "--yes"], 0);
    first.write(&format!("{FIRST}  c: {{criteria: {{tag: c}}}}\n"));
    story.ends(&first, &["apply", "--yes"], 0);
    git(server.path(), &["tag", "backup", "refs/pushplan/far"]);
    first.write(LATER);
    story.ends(&first, &["apply", "--yes"], 0);
    git(server.path(), &["update-ref", "refs/pushplan/far", "backup"]);
    git(server.path(), &["update-ref", "-d", "refs/pushplan_mark/far"]);
    let second = clone(LATER);
    story.service.forget();
    for arguments in [&["plan"][..], &["apply", "--yes"], &["reconcile", "--once", "--drift", "fix"]] {
        let ran = story.ends(&second, arguments, 1);
        let mark = "refs/pushplan_mark/far, which shows whether later records existed, was deleted";
        says(&ran.to_string(), &[mark, "pushplan ledger restore --accept-gap --target far"]);
    }
    assert_eq!(story.service.writes(), Vec::<String>::new());
    story.ends(&second, &["ledger", "restore", "--accept-gap"], 0);
    says(&story.ends(&second, &["plan"], 7).stdout, &["pushplan resolve scheduled_pushes/sale --absent"]);
    // The mark exists again from then on.
    story.ends(&clone(FIRST), &["history"], 0);
}

/// The files of a pull request name a new place for the ledger. A fresh clone has not seen the old one.
#[test]
fn an_empty_ledger_is_refused_where_the_git_remote_has_records_of_the_target() {
    let story = Story::new("git");
    let server = Folder::new();
    git(server.path(), &["init", "-q", "--bare", "-b", "main"]);
    let clone = |manifest: &str| {
        let project = story.machine(manifest);
        git(project.folder.path(), &["init", "-q", "-b", "main"]);
        git(project.folder.path(), &["remote", "add", "origin", server.path().to_str().expect("UTF-8")]);
        project
    };
    let moved = |manifest: &str| {
        let project = clone(manifest);
        let settings = project.folder.read("pushplan.toml").replace("\"git\"", "\"file:\"");
        project.folder.write("pushplan.toml", settings);
        project
    };
    // No ledger exists yet.
    story.ends(&moved(LATER), &["plan"], 0);
    story.ends(&clone(LATER), &["apply", "--yes"], 0);
    let second = moved(LATER);
    story.service.forget();
    for arguments in [&["plan"][..], &["apply", "--yes"], &["reconcile", "--once", "--drift", "fix"]] {
        let ran = story.ends(&second, arguments, 1);
        let words = [
            ".pushplan/ledger/far/, which has no record, but refs/pushplan/far on origin has records of it",
            "write `ledger = \"git\"` into [targets.far] of pushplan.toml",
            "pushplan ledger move --from git --to file: --target far",
            "pushplan ledger restore --accept-gap --target far",
        ];
        says(&ran.to_string(), &words);
    }
    assert_eq!(story.service.writes(), Vec::<String>::new());
    // A user who starts again has to confirm everything that may have been sent.
    let third = moved(LATER);
    story.ends(&third, &["ledger", "restore", "--accept-gap"], 0);
    says(&story.ends(&third, &["plan"], 7).stdout, &["pushplan resolve scheduled_pushes/sale --absent"]);
    // A moved ledger is not empty.
    story.ends(&second, &["ledger", "move", "--from", "git", "--to", "file:"], 0);
    says(&story.ends(&second, &["plan"], 0).stdout, &["No changes."]);
}

/// The files of a pull request name another location, with a ledger of the same application that does not contain the
/// applied resources.
#[test]
fn another_ledger_is_refused_by_a_machine_that_has_seen_one_and_where_the_git_remote_has_one() {
    let story = Story::new("git");
    let server = Folder::new();
    git(server.path(), &["init", "-q", "--bare", "-b", "main"]);
    let clone = || {
        let project = story.machine(LATER);
        git(project.folder.path(), &["init", "-q", "-b", "main"]);
        git(project.folder.path(), &["remote", "add", "origin", server.path().to_str().expect("UTF-8")]);
        project
    };
    let move_to = |project: &Project, from: &str, to: &str| {
        project.folder.write("pushplan.toml", project.folder.read("pushplan.toml").replace(from, to));
    };
    let (git_setting, file_setting) = ("ledger = \"git\"", "ledger = \"file:\"");
    let seen = clone();
    story.ends(&seen, &["apply", "--yes"], 0);
    let other = story.machine("segments:\n  z: {criteria: {tag: z}}\n");
    move_to(&other, git_setting, file_setting);
    story.ends(&other, &["apply", "--yes"], 0);
    story.service.forget();
    let fresh = clone();
    for project in [&seen, &fresh] {
        move_to(project, git_setting, file_setting);
        copy_ledger(&other, project);
        for arguments in [&["plan"][..], &["apply", "--yes"], &["reconcile", "--once", "--drift", "fix"]] {
            let ran = story.ends(project, arguments, 1);
            says(
                &ran.to_string(),
                &["a different ledger", "write `ledger = \"git\"` into [targets.far] of pushplan.toml"],
            );
        }
    }
    assert_eq!(story.service.writes(), Vec::<String>::new());
    move_to(&seen, file_setting, git_setting);
    says(&story.ends(&seen, &["plan"], 0).stdout, &["No changes."]);
    // A moved ledger is the same ledger.
    let third = clone();
    story.ends(&third, &["ledger", "move", "--from", "git", "--to", "file:"], 0);
    move_to(&third, git_setting, file_setting);
    says(&story.ends(&third, &["plan"], 0).stdout, &["No changes."]);
    let copy = clone();
    move_to(&copy, git_setting, file_setting);
    copy_ledger(&third, &copy);
    says(&story.ends(&copy, &["plan"], 0).stdout, &["No changes."]);
}

/// A person's confirmation that it was sent is trusted, even if the ledger has it under the same id.
#[test]
fn what_the_ledger_knows_and_was_sent_in_a_gap_is_never_created_again() {
    let trial = |text: &str| {
        format!(
            "experiments:\n  trial:\n    audience: {{tag: vip}}\n    device_types: [ios]\n    variants:\n\
             \x20     - {{push: {{notification: {{alert: {text}}}}}, schedule: {{scheduled_time: 2035-03-01T10:00}}}}\n\
             \x20     - {{push: {{notification: {{alert: Two}}}}, schedule: {{scheduled_time: 2035-03-02T10:00}}}}\n"
        )
    };
    let story = Story::new("file:");
    let first = story.machine(&trial("One"));
    story.ends(&first, &["apply", "--yes"], 0);
    let shown = story.ends(&first, &["show", "experiments/trial"], 0).stdout;
    let id = shown.lines().find_map(|line| line.trim().strip_prefix("id ")).expect("its id").trim();
    let second = story.copied(&first, &trial("Other"));
    story.ends(&second, &["ledger", "restore", "--accept-gap"], 0);
    story.service.forget();
    says(&story.ends(&second, &["plan"], 7).stdout, &["pushplan resolve experiments/trial --absent"]);
    let ran = story.ends(&second, &["resolve", "experiments/trial", "--created", id, "--sent"], 0);
    says(&ran.stdout, &["it will not be created again"]);
    story.ends(&second, &["apply", "--yes"], 0);
    second.edit("2035-03-01", "2036-03-01");
    story.ends(&second, &["apply", "--yes"], 0);
    assert_eq!(story.service.writes(), Vec::<String>::new());
}

/// A resource outside the ledger may have been created in the gap, and a push from the gap may need it.
#[test]
fn nothing_is_pruned_while_a_gap_is_open() {
    let story = Story::new("file:");
    let first = story.machine(FIRST);
    story.ends(&first, &["apply", "--yes"], 0);
    let second = story.copied(&first, FIRST);
    let settings = second.folder.read("pushplan.toml");
    second.folder.write("pushplan.toml", format!("{settings}prune = {{segments = true}}\n"));
    first.write(LATER);
    story.ends(&first, &["apply", "--yes"], 0);
    story.ends(&second, &["ledger", "restore", "--accept-gap"], 0);
    story.service.forget();
    story.ends(&second, &["apply", "--yes"], 0);
    assert_eq!(story.service.writes(), Vec::<String>::new());
    story.ends(&second, &["ledger", "restore", "--close-gap"], 0);
    says(&story.ends(&second, &["plan"], 0).stdout, &["- segments/b"]);
}

/// The ledger does not contain the resources that were created in the gap, and no list shows their segments.
#[test]
fn no_segment_is_deleted_that_one_from_the_gap_names() {
    let story = Story::new("file:");
    let first = story.machine(FIRST);
    story.ends(&first, &["apply", "--yes"], 0);
    let second = story.copied(&first, "segments:\n  c: {criteria: {tag: c}}\n");
    first.write(&format!("{FIRST}  b: {{criteria: {{and: [{{segment: a}}, {{tag: b}}]}}}}\n"));
    story.ends(&first, &["apply", "--yes"], 0);
    story.ends(&second, &["ledger", "restore", "--accept-gap"], 0);
    says(&story.ends(&second, &["plan"], 0).stdout, &["segments/a", "\"b\""]);
    story.ends(&second, &["apply", "--yes"], 6);
    let names = story.service.names("/api/segments", "segments", "display_name");
    assert_eq!(names.iter().filter(|name| ["a", "b", "c"].contains(&name.as_str())).count(), 3, "{names:?}");
}

/// A single list that is empty by mistake proves nothing in a gap either.
#[test]
fn what_one_list_does_not_show_after_a_gap_is_looked_for_once_more() {
    let story = Story::new("file:");
    let first = story.machine(FIRST);
    story.ends(&first, &["apply", "--yes"], 0);
    let second = story.copied(&first, &format!("{FIRST}  b: {{criteria: {{tag: b}}}}\n"));
    first.write(&format!("{FIRST}  b: {{criteria: {{tag: b}}}}\n"));
    story.ends(&first, &["apply", "--yes"], 0);
    story.ends(&second, &["ledger", "restore", "--accept-gap"], 0);
    story.service.forget();
    second.edit("  b: {", "  c: {criteria: {tag: c}}\n  b: {");
    story.ends(&second, &["apply", "--yes", "--only", "segments/c"], 0);
    let lists = story.service.asked().iter().filter(|line| *line == "GET /api/segments").count();
    assert!(lists >= 2, "{lists}");
}

#[test]
fn a_push_that_was_sent_in_a_gap_is_never_created_again() {
    let story = Story::new("file:");
    let first = story.machine(FIRST);
    story.ends(&first, &["apply", "--yes"], 0);
    let second = story.copied(&first, LATER);
    first.write(LATER);
    story.ends(&first, &["apply", "--yes"], 0);
    let pushes = story.pushes();
    let id = pushes[0].rsplit('/').next().expect("an id");
    story.ends(&second, &["ledger", "restore", "--accept-gap"], 0);
    story.ends(&second, &["adopt", "segments/b"], 0);
    says(&story.ends(&second, &["plan"], 7).stdout, &["pushplan resolve scheduled_pushes/sale --created ID --sent"]);
    let ran = story.ends(&second, &["resolve", "scheduled_pushes/sale", "--created", id, "--sent"], 0);
    says(&ran.stdout, &["it will not be created again"]);
    story.service.forget();
    second.edit("2035", "2036");
    story.ends(&second, &["apply", "--yes"], 0);
    assert_eq!(story.service.writes(), Vec::<String>::new());
}

/// The lost records may have changed resources without a list, and older files were applied in them: no plan can know.
#[test]
fn a_plan_says_that_the_gap_is_open_instead_of_matching_files() {
    let story = Story::new("file:");
    let first = story.machine(LATER);
    story.ends(&first, &["apply", "--yes"], 0);
    let second = story.copied(&first, LATER);
    story.ends(&second, &["ledger", "restore", "--accept-gap"], 0);
    let known = "The ledger was restored from a backup: what was applied between";
    let ran = story.ends(&second, &["plan"], 0);
    says(&ran.stdout, &[known, "No changes for far (3 resources)."]);
    for format in ["markdown", "html"] {
        let ran = story.ends(&second, &["plan", "--format", format], 0);
        says(&ran.stdout, &[known]);
    }
    let ran = story.ends(&second, &["plan", "--format", "json"], 0);
    let plan: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert!(plan["open_gap"]["words"].as_str().is_some_and(|words| words.starts_with(known)), "{ran}");
    story.ends(&second, &["ledger", "restore", "--close-gap"], 0);
    let ran = story.ends(&second, &["plan"], 0);
    assert_eq!(ran.stdout, "No changes. far matches your files (3 resources).\n");
}
