//! Files that declare nothing, and projects that start from the content of the service.

use pushplan_testing::{Folder, Project, says};
use serde_json::Value;

const ONE: &str = "templates:\n  t:\n    name: T\n    push: {notification: {alert: Hi}}\n";

#[test]
fn files_that_declare_nothing_delete_nothing_and_a_plan_says_so() {
    let project = Project::new(ONE);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write("");
    let said = ["Your files declare nothing", "1 resource stays on local", "pushplan destroy"];
    for form in ["text", "markdown", "html"] {
        let ran = project.good(&["plan", "--format", form]);
        says(&ran.stdout.replace('\n', " "), &said);
        assert!(!ran.stdout.contains("matches your files") && !ran.stdout.contains("as it should be"), "{ran}");
        assert!(!ran.stdout.contains("prune"), "{ran}");
    }
    let json = |ran: &str| serde_json::from_str::<Value>(ran).expect("JSON");
    let plan = json(&project.good(&["plan", "--format", "json"]).stdout);
    assert_eq!(plan["in_sync"], false, "{plan}");
    assert_eq!(plan["nothing_declared"]["stays"], 1, "{plan}");
    says(&project.good(&["apply", "--yes"]).stdout.replace('\n', " "), &said);
    assert_eq!(service.templates(), ["T"]);

    project.good(&["destroy", "--confirm", "local"]);
    let ran = project.good(&["plan"]);
    says(&ran.stdout, &["Your files declare nothing, and pushplan manages nothing on local."]);
    let plan = json(&project.good(&["plan", "--format", "json"]).stdout);
    assert_eq!((&plan["in_sync"], &plan["nothing_declared"]["stays"]), (&Value::from(true), &Value::from(0)), "{plan}");
}

#[test]
fn files_that_declare_nothing_prune_nothing() {
    let project = Project::with("", "prune = {segments = true}\n");
    let service = project.serve();
    service.segment("Theirs", "theirs");
    let ran = project.good(&["plan"]);
    says(
        &ran.stdout.replace('\n', " "),
        &["Your files declare nothing", "prune.segments of local then deletes nothing"],
    );
    let plan: Value = serde_json::from_str(&project.good(&["plan", "--format", "json"]).stdout).expect("JSON");
    assert_eq!(plan["nothing_declared"]["not_pruned"][0], "segments", "{plan}");
    assert_eq!(service.segments(), ["Theirs"]);
}

#[test]
fn a_takeover_begins_with_a_bare_project() {
    let project = Project { folder: Folder::new() };
    let ran = project.good(&["init", "--bare"]);
    says(
        &ran.stdout,
        &[
            "wrote pushplan.toml",
            "Next: pushplan explain kinds, then write manifests in messages/",
            "content already: pushplan pull",
        ],
    );
    assert!(project.folder.path().join("messages").is_dir());
    let mut names: Vec<String> = std::fs::read_dir(project.folder.path())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    assert_eq!(names, ["messages", "pushplan.toml"]);
    project.good(&["validate"]);
    let service = project.serve();
    service.segment("Theirs", "theirs");
    // A clone has no empty folders.
    std::fs::remove_dir(project.folder.path().join("messages")).expect("it is empty");
    project.good(&["pull"]);
    says(&project.folder.read("messages/segments.yaml"), &["theirs:"]);
    says(&project.good(&["plan"]).stdout, &["No changes. local matches your files (1 resource)."]);
}

#[test]
fn what_a_bare_project_keeps_for_itself_is_not_for_git() {
    for command in [&["pull", "--dry-run"][..], &["schema"]] {
        let project = Project { folder: Folder::new() };
        project.good(&["init", "--bare"]);
        project.good(command);
        assert_eq!(project.folder.read(".pushplan/.gitignore"), "*\n", "{command:?}");
    }
}
