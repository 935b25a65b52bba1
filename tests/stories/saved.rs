//! Plans that are reviewed first and applied later.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use jiff::{SignedDuration, Timestamp};
use pushplan::plan::Plan;
use pushplan_testing::{Project, says};
use serde_json::json;

const TWO: &str = "\
segments:
  a: {criteria: {tag: a}}
templates:
  winback: {push: {notification: {alert: Hello}}}
";

#[track_caller]
fn stale(project: &Project, arguments: &[&str], words: &[&str]) {
    let ran = project.run(arguments);
    assert_eq!(ran.code, 5, "{ran}");
    says(&ran.stderr, words);
}

#[test]
fn a_saved_plan_is_for_its_owner_and_is_applied_once() {
    let project = Project::new(TWO);
    let service = project.serve();
    let ran = project.good(&["plan", "--out", "p.plan"]);
    says(&ran.stdout, &[", saved in p.plan. Next: pushplan apply p.plan\n"]);
    assert_eq!(ran.stderr, "");
    let mode = fs::metadata(project.folder.path().join("p.plan")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let text = project.folder.read("p.plan");
    assert!(!text.contains("local-master-secret"), "no credentials in a plan");
    let ran = project.good(&["apply", "p.plan"]);
    says(&ran.stdout, &["2 created."]);
    assert_eq!(service.segments(), ["a"]);
    service.forget();
    stale(&project, &["apply", "p.plan"], &["the plan is stale: another apply has run", "pushplan plan --out FILE"]);
    assert_eq!(service.writes(), Vec::<String>::new());
}

#[test]
fn a_plan_is_refused_when_the_manifests_were_edited() {
    let project = Project::new(TWO);
    let _service = project.serve();
    project.good(&["plan", "--out", "p.plan"]);
    project.edit("Hello", "Bye");
    stale(&project, &["apply", "p.plan"], &["the manifests changed"]);
    project.edit("Bye", "Hello");
    project.good(&["apply", "p.plan"]);
}

#[test]
fn a_plan_is_refused_when_the_service_was_changed() {
    let project = Project::new(TWO);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.good(&["apply", "--yes"]);
    project.edit("tag: a", "tag: b");
    project.good(&["plan", "--out", "p.plan"]);
    let id = service.segment_id("a");
    service.put(&format!("/api/segments/{id}"), &json!({"display_name": "a", "criteria": {"tag": "theirs"}}));
    service.forget();
    stale(&project, &["apply", "p.plan"], &["segments/a was changed on the service"]);
    assert_eq!(service.writes(), Vec::<String>::new());
}

#[test]
fn a_plan_is_refused_when_other_people_are_in_a_segment_that_it_names() {
    let project = Project::new(
        "segments:\n  staff: {lifecycle: {ignore: [criteria]}, criteria: {tag: staff}}\n  all-staff: {criteria: {segment: staff}}\n",
    );
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let manifest = project.folder.read("messages.yaml");
    let push = "scheduled_pushes:\n  internal:\n    schedule: {scheduled_time: 2040-01-01T10:00}\n    \
                push: {audience: {segment: all-staff}, device_types: [ios], notification: {alert: Hi}}\n";
    project.folder.write("messages.yaml", manifest + push);
    project.good(&["plan", "--out", "p.plan"]);
    let id = service.segment_id("staff");
    service.put(&format!("/api/segments/{id}"), &json!({"display_name": "staff", "criteria": {"tag": "everybody"}}));
    service.forget();
    stale(&project, &["apply", "p.plan"], &["scheduled_pushes/internal is planned differently now"]);
    assert_eq!(service.writes(), Vec::<String>::new());
    service.put(&format!("/api/segments/{id}"), &json!({"display_name": "staff", "criteria": {"tag": "staff"}}));
    project.good(&["apply", "p.plan"]);
}

#[test]
fn a_plan_is_refused_when_something_of_its_name_appeared() {
    let project = Project::new(TWO);
    let service = project.serve();
    project.good(&["plan", "--out", "p.plan"]);
    service.segment("a", "theirs");
    service.forget();
    stale(&project, &["apply", "p.plan"], &["segments/a is planned differently now"]);
    assert_eq!(service.writes(), Vec::<String>::new());
}

#[test]
fn a_plan_is_for_one_target() {
    let project = Project::new(TWO);
    let service = project.serve();
    project.good(&["plan", "--out", "p.plan"]);
    let other = format!(
        "[targets.local]\n[targets.other]\nbase_url = \"{}\"\nledger = \"file:\"\napi = \"extended\"\n",
        service.origin
    );
    project.folder.write("pushplan.toml", other);
    let env = [
        ("PUSHPLAN_ORIGIN", service.origin.as_str()),
        ("PUSHPLAN_APP_KEY", "local-application-key0"),
        ("PUSHPLAN_MASTER_SECRET", "local-master-secret-00"),
    ];
    let ran = project.run_as(&["apply", "p.plan", "--target", "other"], &env);
    assert_eq!(ran.code, 5, "{ran}");
    says(&ran.stderr, &["it is for the target local", "it is for the service at built-in"]);
    assert_eq!(service.segments(), Vec::<String>::new());
}

#[test]
fn a_plan_and_a_ledger_are_for_one_application() {
    let project = Project::new(TWO);
    let apps = ["--app", "first:secret", "--app", "second:secret"];
    let service = project.serve_with(&apps);
    let toml = format!("[targets.far]\nbase_url = \"{}\"\nledger = \"file:\"\napi = \"extended\"\n", service.origin);
    project.folder.write("pushplan.toml", toml);
    let run = |app: &str, arguments: &[&str]| {
        let env =
            [("PUSHPLAN_ORIGIN", &*service.origin), ("PUSHPLAN_APP_KEY", app), ("PUSHPLAN_MASTER_SECRET", "secret")];
        project.run_as(arguments, &env)
    };
    assert_eq!(run("first", &["plan", "--out", "p.plan"]).code, 0);
    let ran = run("second", &["apply", "p.plan"]);
    assert_eq!(ran.code, 5, "{ran}");
    says(&ran.stderr, &["it is for the application "]);
    assert_eq!(run("first", &["apply", "--yes"]).code, 0);
    service.forget();
    for command in [&["plan"][..], &["apply", "--yes"]] {
        let ran = run("second", command);
        assert_eq!(ran.code, 7, "{ran}");
        says(&ran.stderr, &["the ledger of `far` is for the application ", "add a target for the other one"]);
    }
    assert_eq!(service.asked(), Vec::<String>::new(), "nothing was asked");
    assert_eq!(run("first", &["plan", "--detailed-exitcode"]).code, 0);
}

#[test]
fn a_plan_expires() {
    let project = Project::new(TWO);
    let _service = project.serve();
    project.good(&["plan", "--out", "p.plan"]);
    let mut plan = Plan::load(&project.folder.read("p.plan")).expect("a plan");
    plan.expires = Timestamp::now() - SignedDuration::from_secs(1);
    project.folder.write("p.plan", plan.save());
    stale(&project, &["apply", "p.plan"], &["it expired at "]);
}

#[test]
fn a_plan_of_another_version_is_refused() {
    let project = Project::new(TWO);
    let _service = project.serve();
    project.good(&["plan", "--out", "p.plan"]);
    let mut plan = Plan::load(&project.folder.read("p.plan")).expect("a plan");
    plan.tool = "0.0.1".into();
    project.folder.write("p.plan", plan.save());
    stale(&project, &["apply", "p.plan"], &["it was made by pushplan 0.0.1"]);
}

#[test]
fn a_plan_with_a_flipped_byte_is_refused() {
    let project = Project::new(TWO);
    let service = project.serve();
    project.good(&["plan", "--out", "p.plan"]);
    let text = project.folder.read("p.plan");
    for (from, to) in [("Hello", "Hallo"), ("POST", "POSU"), ("{", "}")] {
        project.folder.write("p.plan", text.replacen(from, to, 1));
        stale(&project, &["apply", "p.plan"], &["p.plan", "make a new plan: pushplan plan --out FILE"]);
    }
    assert_eq!(service.writes(), Vec::<String>::new());
    let ran = project.run(&["apply", "no-such.plan"]);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stderr, &["the plan no-such.plan cannot be read"]);
}

#[test]
fn a_plan_of_a_part_is_applied_as_that_part() {
    let project = Project::new(TWO);
    let service = project.serve();
    project.good(&["plan", "--only", "templates/*", "--out", "p.plan"]);
    project.good(&["apply", "p.plan"]);
    assert_eq!(service.templates(), ["winback"]);
    assert_eq!(service.segments(), Vec::<String>::new());
    // The ledger needs an update of the template, which is not part of this plan.
    project.good(&["plan", "--only", "segments/*", "--out", "q.plan"]);
    project.good(&["apply", "q.plan"]);
    // And of the segment, which has a new version stamp.
    project.edit("Hello", "Bye");
    project.good(&["plan", "--only", "templates/*", "--out", "r.plan"]);
    project.good(&["apply", "r.plan"]);
    assert_eq!(project.changes(&[]), Vec::<String>::new());
    project.edit("Bye", "Hello");
    project.good(&["plan", "--out", "s.plan"]);
    let ran = project.run(&["apply", "s.plan", "--only", "templates/*"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["cannot be used with a saved plan"]);
}

#[test]
fn a_plan_of_a_removal_is_bound_to_what_it_removes() {
    let project = Project::new(TWO);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.good(&["apply", "--yes"]);
    project.edit("segments:\n  a: {criteria: {tag: a}}\n", "");
    project.good(&["plan", "--out", "p.plan"]);
    let id = service.segment_id("a");
    service.put(&format!("/api/segments/{id}"), &json!({"display_name": "a", "criteria": {"tag": "theirs"}}));
    stale(&project, &["apply", "p.plan"], &["segments/a was changed on the service"]);
    assert_eq!(service.segments(), ["a"]);
}

#[test]
fn what_the_ledger_alone_takes_note_of_makes_no_plan_stale() {
    let project = Project::new(TWO);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("Hello", "Bye");
    // The segment's version is too recent to be trusted: only a later plan records it in the ledger.
    project.good(&["plan", "--out", "p.plan"]);
    std::thread::sleep(std::time::Duration::from_millis(2_500));
    project.good(&["apply", "p.plan"]);
}
