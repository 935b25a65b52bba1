//! The next command that a report or a plan names works.

use pushplan_testing::{Project, Service, says};

const TWO: &str = "segments:\n  a: {criteria: {tag: a}}\n  b: {criteria: {tag: b}}\n";

/// A project with a target that is not the default one.
fn two_targets(manifest: &str) -> (Project, Service) {
    let project = Project::new(manifest);
    let service = project.serve();
    let far = format!("[targets.prod]\nbase_url = \"{}\"\nledger = \"file:\"\napi = \"extended\"\n", service.origin);
    project.folder.write(
        "pushplan.toml",
        format!("[project]\ndefault_target = \"local\"\n[targets.local]\n{far}settle = \"1s\"\n"),
    );
    (project, service)
}

fn as_prod(project: &Project, service: &Service, arguments: &[&str]) -> pushplan_testing::Ran {
    let env = [
        ("PUSHPLAN_ORIGIN", service.origin.as_str()),
        ("PUSHPLAN_APP_KEY", "local-application-key0"),
        ("PUSHPLAN_MASTER_SECRET", "local-master-secret-00"),
    ];
    project.run_as(arguments, &env)
}

#[test]
fn a_plan_names_the_target_and_the_part_that_it_is_for() {
    let (project, service) = two_targets(TWO);
    let ran = as_prod(&project, &service, &["plan", "--target", "prod", "--only", "segments/*", "--project", "."]);
    says(&ran.stdout, &[" for prod. Next:", "pushplan apply --project . --target prod --only 'segments/*'\n"]);
    let ran = as_prod(&project, &service, &["plan", "--except", "segments/b"]);
    says(&ran.stdout, &["Next: pushplan apply --except segments/b\n"]);
}

#[test]
fn a_saved_plan_is_applied_to_the_target_that_it_is_for() {
    let (project, service) = two_targets(TWO);
    let ran = as_prod(&project, &service, &["plan", "--target", "prod", "--out", "p.plan"]);
    says(&ran.stdout, &[" for prod, saved in p.plan. Next: pushplan apply p.plan\n"]);
    assert_eq!((ran.stdout.matches("Next:").count(), ran.stderr.as_str()), (1, ""), "{ran}");
    let ran = as_prod(&project, &service, &["apply", "p.plan"]);
    assert_eq!(ran.code, 0, "{ran}");
    says(&ran.stdout, &["to prod.", "2 created."]);
    assert_eq!(service.segments(), ["a", "b"]);
}

#[test]
fn a_report_goes_on_with_the_same_target_and_part() {
    let manifest = "named_users:\n  u: {channels: [{channel_id: 04cc8283-ae38-4177-b206-6f92cf1992cb, device_type: ios}]}\nsegments:\n  a: {criteria: {tag: a}}\n";
    let (project, service) = two_targets(manifest);
    let ran = as_prod(&project, &service, &["apply", "--yes", "--target", "prod", "--only", "named_users/u"]);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stdout, &["To retry: pushplan apply --target prod --only named_users/u\n"]);
    // Resources that wait for a person name it too.
    service.segment("a", "theirs");
    let ran = as_prod(&project, &service, &["plan", "--target", "prod"]);
    says(&ran.stdout, &["pushplan adopt segments/a --target prod\n"]);
}

#[test]
fn what_is_to_be_done_by_hand_is_what_comes_next() {
    let manifest = "\
pipelines:
  remind:
    enabled: true
    immediate_trigger: {tag_added: vip}
    outcome: {push: {audience: triggered, device_types: [ios], notification: {alert: Hello}}}
segments:
  a: {criteria: {tag: a}}
";
    let project = Project::documented(manifest);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("alert: Hello", "alert: Bye");
    // The ledger needs an update of the segment, which is no reason to apply.
    let ran = project.good(&["plan"]);
    says(&ran.stdout, &["Next: the manual steps above, then pushplan apply --done pipelines/remind\n"]);
}

#[test]
fn going_back_says_that_the_files_stay_as_they_are() {
    let project = Project::new(TWO);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("tag: b", "tag: c");
    project.good(&["apply", "--yes"]);
    let ran = project.good(&["revert", "2", "--yes"]);
    says(&ran.stderr, &["revert the commit too, or the next apply applies the changes again"]);
    let id = service.segment_id("b");
    assert_eq!(service.get(&format!("/api/segments/{id}"))["criteria"]["tag"], "b");
}
