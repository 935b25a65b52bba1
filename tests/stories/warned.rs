//! Warnings of checks in plans: a reviewer sees that a pipeline sends nothing.

use pushplan_testing::Project;
use serde_json::{Value, json};

const WELCOME: &str = "\
tags:
  remind-me: {}
pipelines:
  remind:
    enabled: true
    immediate_trigger: {tag_added: remind-me}
    outcome: {push: {audience: triggered, device_types: [ios], notification: {alert: Still there?}}}
templates:
  sale: {push: {notification: {alert: Sale}}}
";

fn warnings(project: &Project) -> Vec<(String, Value)> {
    let plan: Value = serde_json::from_str(&project.good(&["plan", "--format", "json"]).stdout).expect("JSON");
    let changes = plan["changes"].as_array().expect("changes").iter();
    changes.map(|change| (change["address"].to_string().replace('"', ""), change["warnings"].clone())).collect()
}

#[test]
fn a_plan_shows_the_warnings_about_what_changes() {
    let project = Project::new(WELCOME);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("tag_added: remind-me", "tag_added: remind-mee");
    let message = "nothing in the project adds the tag `remind-mee`";
    let warning = json!([{ "code": "PL103", "message": message, "file": "messages.yaml", "line": 6 }]);
    assert_eq!(warnings(&project), [("pipelines/remind".to_owned(), warning)]);
    for format in ["text", "markdown", "html"] {
        let shown = project.good(&["plan", "--format", format]).stdout;
        let flat = shown.replace("&#96;", "").replace('`', "").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains("PL103"), "{format}: {shown}");
        assert!(flat.contains("nothing in the project adds the tag remind-mee"), "{format}: {shown}");
    }
    // A resource that does not change has no row, and no warning.
    project.good(&["apply", "--yes"]);
    project.edit("alert: Sale", "alert: Sales");
    assert_eq!(warnings(&project), [("templates/sale".to_owned(), json!([]))]);
    assert!(!project.good(&["plan"]).stdout.contains("PL103"));
}

/// The first lines say what a reviewer would otherwise look for.
#[test]
fn the_first_line_says_that_a_pipeline_is_turned_off() {
    let project = Project::new(WELCOME);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("enabled: true", "enabled: false");
    let shown = project.good(&["plan"]).stdout;
    assert!(shown.starts_with("pipelines/remind is turned off."), "{shown}");
    project.good(&["apply", "--yes"]);
    project.edit("enabled: false", "enabled: true");
    let shown = project.good(&["plan"]).stdout;
    assert!(shown.starts_with("pipelines/remind is turned on."), "{shown}");
}

#[test]
fn an_address_that_is_not_in_the_ledger_cannot_be_listed() {
    let project = Project::new(WELCOME);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    assert_eq!(project.run(&["list", "pipelines/remind"]).code, 0);
    let ran = project.run(&["list", "pipelines/other"]);
    assert_eq!(ran.code, 64, "{ran}");
    assert!(ran.stderr.contains("has no pipelines/other"), "{ran}");
    assert_eq!(project.run(&["list", "experiments"]).code, 0, "a kind may have no resource");
}
