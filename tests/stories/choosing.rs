//! A part of a plan.

use pushplan_testing::{Project, changes, says};

const SHOP: &str = "\
segments:
  base: {criteria: {tag: base}}
  east: {criteria: {and: [{segment: base}, {tag: east}]}}
  alone: {criteria: {tag: alone}}
templates:
  winback: {push: {notification: {alert: Hello}}}
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2035-01-22T10:00}
    push: {audience: {segment: east}, device_types: [ios], notification: {alert: Sale}}
";

#[test]
fn only_takes_what_the_chosen_needs_and_says_what_was_left_out() {
    let project = Project::new(SHOP);
    let service = project.serve();
    let ran = project.good(&["plan", "--only", "scheduled_pushes/sale"]);
    let mut shown = changes(&ran);
    shown.sort();
    assert_eq!(shown, ["+ scheduled_pushes/sale", "+ segments/base", "+ segments/east"]);
    says(&ran.stdout, &["segments/alone", "templates/winback"]);
    project.good(&["apply", "--yes", "--only", "scheduled_pushes/sale"]);
    assert_eq!(service.segments(), ["base", "east"]);
    let mut rest = project.changes(&[]);
    rest.sort();
    assert_eq!(rest, ["+ segments/alone", "+ templates/winback"]);
}

#[test]
fn except_leaves_out_what_needs_it_too_and_says_so() {
    let project = Project::new(SHOP);
    let service = project.serve();
    let ran = project.good(&["apply", "--yes", "--except", "segments/base"]);
    let mut shown = changes(&ran);
    shown.sort();
    assert_eq!(shown, ["+ segments/alone", "+ templates/winback"]);
    says(&ran.stdout, &["segments/base", "segments/east", "scheduled_pushes/sale"]);
    assert_eq!(service.segments(), ["alone"]);
}

#[test]
fn except_leaves_alone_what_is_there() {
    let project = Project::new(SHOP);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("tag: base", "tag: other");
    project.edit("alert: Sale", "alert: SALE");
    let ran = project.good(&["apply", "--yes", "--except", "segments/base"]);
    assert_eq!(changes(&ran), ["~ scheduled_pushes/sale"]);
    let id = service.segment_id("base");
    assert_eq!(&service.get(&format!("/api/segments/{id}"))["criteria"]["tag"], "base");
    assert_eq!(project.changes(&[]), ["~ segments/base"]);
}

#[test]
fn a_pattern_that_means_nothing_is_a_slip() {
    let project = Project::new(SHOP);
    let service = project.serve();
    for option in ["--only", "--except"] {
        let ran = project.run(&["apply", "--yes", option, "segments/bse"]);
        assert_eq!(ran.code, 64, "{ran}");
        says(
            &ran.stderr,
            &["`segments/bse` matches nothing that is declared or managed", "did you mean segments/base?"],
        );
    }
    assert_eq!(service.writes(), Vec::<String>::new());
}

#[test]
fn parts_of_a_resource_are_chosen_by_the_resource() {
    let manifest = "tag_groups:\n  loyalty: {tags: [gold], members: {named_users: {u-1: [gold], u-2: [gold]}}}\nsegments:\n  a: {criteria: {tag: a}}\n";
    let project = Project::new(manifest);
    let _service = project.serve();
    assert_eq!(project.changes(&["--only", "tag_groups/loyalty"]), ["+ tag_groups/loyalty"]);
    let ran = project.good(&["apply", "--yes", "--only", "tag_groups/loyalty/named_users/u-2"]);
    says(&ran.stdout, &["1 updated."]);
    assert_eq!(project.changes(&[]).len(), 2);
}

#[test]
fn what_is_left_out_is_not_replaced_with_what_it_points_at() {
    let project = Project::documented(
        "\
segments:
  a: {criteria: {tag: x}}
experiments:
  e:
    audience: {segment: a}
    device_types: [ios]
    variants:
      - {push: {notification: {alert: A}}, schedule: {scheduled_time: 2035-01-22T10:00}}
      - {push: {notification: {alert: B}}, schedule: {scheduled_time: 2035-01-22T10:00}}
",
    );
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("tag: x", "tag: y");
    project.edit("alert: A", "alert: C");
    service.forget();
    let ran = project.good(&["apply", "--yes", "--except", "experiments/e"]);
    assert_eq!(changes(&ran), ["± segments/a"]);
    says(&ran.stdout, &["Left out:  experiments/e", "is not deleted yet: experiments/e still uses it"]);
    assert_eq!(service.writes(), ["POST /api/segments"]);
    assert_eq!(service.segments(), ["a", "a"]);
    // When it is no longer left out, it is changed. The old segment is deleted with the new one.
    project.edit("audience: {segment: a}", "audience: {tag: z}");
    let ran = project.good(&["apply", "--yes", "--except", "segments/a"]);
    assert_eq!(changes(&ran), ["± experiments/e"]);
    says(&ran.stdout, &["Left out:  segments/a"]);
    assert_eq!(service.segments(), ["a", "a"]);
    // An empty project deletes nothing, neither old nor new.
    let manifest = project.folder.read("messages.yaml");
    project.write("");
    project.good(&["apply", "--yes"]);
    assert_eq!(service.segments(), ["a", "a"]);
    project.write(&manifest);
    project.good(&["apply", "--yes"]);
    assert_eq!(service.segments(), ["a"]);
    assert_eq!(project.changes(&[]), Vec::<String>::new());
}

#[test]
fn what_is_left_out_is_counted_and_is_no_match() {
    let project = Project::new(SHOP);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("tag: alone", "tag: lonely");
    let part = ["plan", "--except", "segments/alone"];
    says(&project.good(&part).stdout, &["No changes in the selected part. 1 change outside it is left out."]);
    let ran = project.good(&[&part[..], &["--format", "json"]].concat());
    let plan: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(
        (&plan["in_sync"], &plan["counts"]["unchanged"], &plan["counts"]["left_out"]),
        (&false.into(), &4.into(), &1.into())
    );
    // The exit code depends on what the plan would do.
    assert_eq!(project.run(&[&part[..], &["--detailed-exitcode"]].concat()).code, 0);
    assert_eq!(project.run(&["plan", "--detailed-exitcode"]).code, 2);
    project.edit("alert: Hello", "alert: Hi");
    says(&project.good(&part).stdout, &["Plan: 1 to update, 3 unchanged, 1 left out."]);
}
