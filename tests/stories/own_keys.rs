//! Keys that begin with `x-` are for users, and no content to be sent can hide behind one.

use pushplan_testing::{Project, says};

#[test]
fn a_resource_whose_key_begins_with_x_is_an_error_and_does_not_vanish() {
    let project = Project::new("segments:\n  x-mas: {criteria: {tag: xmas}}\n");
    for command in ["validate", "plan"] {
        let ran = project.run(&[command]);
        assert_eq!(ran.code, 3, "{ran}");
        let said = format!("{}{}", ran.stdout, ran.stderr);
        says(&said, &["YM209", "x-mas", "keys that begin with x- are ignored", "`segment-x-mas`"]);
    }
    project.write("overlays:\n  local:\n    segments:\n      x-mas: {criteria: {tag: xmas}}\n");
    assert_eq!(project.run(&["validate"]).code, 3);
}

#[test]
fn notes_beside_resources_and_data_at_the_top_are_free() {
    let project = Project::new(
        "x-common: &common {tag: xmas}\nsegments:\n  x-owner: the crm team\n  x-seen: [a, b]\n  a:\n    x-why: {asked: by}\n    criteria: *common\n",
    );
    project.good(&["validate"]);
}

#[test]
fn nothing_is_moved_to_a_key_that_is_not_read() {
    let manifest = "segments:\n  ray: {criteria: {tag: ray}}\n";
    let project = Project::new(manifest);
    let ran = project.run(&["mv", "segments/ray", "segments/x-ray"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["`x-ray` cannot be the key of a segment", "keys that begin with x- are ignored"]);
    let ran = project.run(&["mv", "segments/ray", "x-ray"]);
    assert_eq!(ran.code, 64, "{ran}");
    assert!(!ran.stderr.contains("did you mean segments/x-ray"), "{ran}");
    assert_eq!(project.folder.read("messages.yaml"), manifest);
}
