//! A newcomer's first minutes.

use pushplan_testing::{Project, says, shop};

const TWO: &str = "\
segments:
  lapsed: {criteria: {tag: lapsed}}
templates:
  winback: {push: {notification: {alert: Hello}}}
";

#[test]
fn the_shop_is_applied_with_one_command_and_then_there_is_nothing_to_do() {
    let folder = shop();
    let ran = folder.run(&["apply", "--yes"]);
    assert_eq!(ran.code, 0, "{ran}");
    says(&ran.stdout, &["Plan: 11 to create, 0 unchanged.\n", "11 created.\n"]);
    let ran = folder.run(&["plan", "--detailed-exitcode"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran}");
    // The sample devices have tags.
    let rest = "Not in git: 5 legacy tags; pushplan unmanaged lists them.\n";
    assert_eq!(ran.stdout, format!("No changes. local matches your files (11 resources).\n{rest}"));
    // The service's stamps were recorded: even the ledger needs no update.
    folder.run(&["apply", "--yes"]);
    let before = folder.run(&["history"]).stdout;
    let ran = folder.run(&["apply", "--yes"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(folder.run(&["history"]).stdout, before);
}

#[test]
fn an_edit_of_one_line_shows_that_line() {
    let folder = shop();
    assert_eq!(folder.run(&["apply", "--yes"]).code, 0);
    let text = folder.read("messages/audience.yaml").replace("country: [US, CA]", "country: [US]");
    folder.write("messages/audience.yaml", text);
    let ran = folder.run(&["plan"]);
    says(&ran.stdout, &["~ segments/lapsed-buyers", "Plan: 1 to update, 10 unchanged.\n"]);
    let marked: Vec<&str> = ran.stdout.lines().filter(|line| line.starts_with(['~', '+', '-', '±', '!'])).collect();
    assert_eq!(marked.len(), 1, "{ran}");
}

#[test]
fn a_plan_only_looks() {
    let project = Project::new(TWO);
    let service = project.serve();
    project.good(&["plan"]);
    project.good(&["plan", "--out", "plan.json"]);
    project.good(&["show", "segments/lapsed"]);
    assert_eq!(service.writes(), Vec::<String>::new());
    assert!(!service.asked().is_empty());
    project.good(&["apply", "--yes"]);
    assert_eq!(service.writes().len(), 2);
    project.edit("tag: lapsed", "tag: gone");
    service.forget();
    project.good(&["plan"]);
    assert_eq!(service.writes(), Vec::<String>::new());
}

#[test]
fn planning_leaves_no_trace_in_the_project() {
    let project = Project::new(TWO);
    let _service = project.serve();
    project.good(&["plan"]);
    let ran = project.good(&["history"]);
    assert!(!ran.stdout.contains("apply"), "{ran}");
}

#[test]
fn show_puts_the_three_sides_next_to_each_other() {
    let project = Project::new(TWO);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let id = service.segment_id("lapsed");
    service.put(
        &format!("/api/segments/{id}"),
        &serde_json::json!({"display_name": "lapsed", "criteria": {"tag": "theirs"}}),
    );
    project.edit("tag: lapsed", "tag: ours");
    let ran = project.good(&["show", "segments/lapsed"]);
    says(&ran.stdout, &["ours", "theirs", "lapsed", &id]);
    let ran = project.run(&["show", "segments/laspsed"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["segments/laspsed is neither declared nor managed", "did you mean segments/lapsed?"]);
}

#[test]
fn the_file_that_a_service_suggests_can_be_used_in_a_fresh_project() {
    let project = Project::new("segments:\n  a: {criteria: {tag: a}}\n");
    drop(project.serve_with(&["--data", ".pushplan/service.db"]));
    assert!(project.folder.path().join(".pushplan/service.db").exists());
    // A missing folder that the user names is not created.
    let ran = project.run(&["serve", "--port", "0", "--data", "elsewhere/service.db"]);
    assert_eq!(ran.code, 1, "{ran}");
}
