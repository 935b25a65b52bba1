//! Only managed resources are touched.

use pushplan_testing::{Project, changes, says};
use serde_json::json;

const TWO: &str = "\
segments:
  a: {criteria: {tag: a}}
  b: {criteria: {and: [{segment: a}, {tag: b}]}}
";

#[test]
fn what_is_not_ours_stays_as_it_is() {
    let project = Project::new(TWO);
    let service = project.serve();
    service.segment("theirs", "t");
    project.good(&["apply", "--yes"]);
    project.good(&["destroy", "--confirm", "local"]);
    assert_eq!(service.segments(), ["theirs"]);
    assert!(service.writes().iter().all(|line| !line.contains("theirs")));
}

#[test]
fn what_is_removed_from_the_manifests_is_deleted_its_users_first() {
    let project = Project::new(TWO);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let (a, b) = (service.segment_id("a"), service.segment_id("b"));
    project.write("segments:\n  c: {criteria: {tag: c}}\n");
    assert_eq!(project.changes(&[]), ["- segments/a", "- segments/b", "+ segments/c"]);
    service.forget();
    project.good(&["apply", "--yes"]);
    let deleted: Vec<String> = service.writes().into_iter().filter(|line| line.starts_with("DELETE")).collect();
    assert_eq!(deleted, [format!("DELETE /api/segments/{b}"), format!("DELETE /api/segments/{a}")]);
    assert_eq!(service.segments(), ["c"]);
}

#[test]
fn an_empty_project_deletes_nothing() {
    let project = Project::new(TWO);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    for empty in ["", "segments: {}\n"] {
        project.write(empty);
        assert_eq!(project.changes(&[]), Vec::<String>::new());
        project.good(&["apply", "--yes"]);
        assert_eq!(service.segments(), ["a", "b"]);
    }
}

#[test]
fn a_project_with_an_error_plans_nothing() {
    let project = Project::new(TWO);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    service.forget();
    project.write("segments:\n  a: {criteria: {tagg: a}}\n");
    for command in [
        &["plan"][..],
        &["apply", "--yes"],
        &["destroy", "--confirm", "local"],
        &["adopt", "segments/a"],
        &["show", "segments/a"],
    ] {
        let ran = project.run(command);
        assert_eq!(ran.code, 3, "{ran}");
        says(&ran.stderr, &["tagg", "messages.yaml:2:", "the manifests have errors; nothing was done"]);
        // A plan reads the service while it reads the files. Other commands do not even read.
        let writes: Vec<String> = if command == ["plan"] { service.writes() } else { service.asked() };
        assert_eq!(writes, [""; 0], "{command:?}");
        service.forget();
    }
    assert_eq!(service.segments(), ["a", "b"]);
}

#[test]
fn what_was_let_go_is_not_ours_any_more() {
    let project = Project::new(TWO);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.good(&["forget", "segments/b"]);
    let ran = project.refused(&[]);
    assert_eq!(changes(&ran), ["! segments/b"]);
    project.write("segments:\n  a: {criteria: {tag: a}}\n");
    assert_eq!(project.changes(&[]), Vec::<String>::new());
    assert_eq!(service.segments(), ["a", "b"]);
}

#[test]
fn destroy_takes_all_of_ours_away_and_asks_first() {
    let project = Project::new(TWO);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    // `--yes` is not enough: the name of the target is required.
    let ran = project.run(&["destroy", "--yes"]);
    assert_eq!(ran.code, 64, "{ran}");
    let ran = project.run(&["destroy"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["= help: pass --confirm local\n"]);
    assert!(!ran.stdout.contains("not in your files"), "{ran}");
    assert_eq!(changes(&ran), ["- segments/a", "- segments/b"]);
    assert_eq!(service.segments().len(), 2);
    let ran = project.good(&["destroy", "--dry-run"]);
    assert_eq!(changes(&ran), ["- segments/a", "- segments/b"]);
    says(&ran.stdout, &["pushplan destroy --confirm local"]);
    assert_eq!(service.segments().len(), 2);
    let ran = project.good(&["destroy", "--confirm", "local", "--only", "segments/b"]);
    assert_eq!(changes(&ran), ["- segments/b"]);
    assert_eq!(service.segments(), ["a"]);
    project.good(&["destroy", "--confirm", "local"]);
    assert_eq!(service.segments().len(), 0);
}

#[test]
fn destroy_shows_what_it_would_delete_and_not_a_limit_that_it_does_not_have() {
    let segments: String = (0..8).map(|n| format!("  s{n}: {{criteria: {{tag: t{n}}}}}\n")).collect();
    let project = Project::new(&format!("segments:\n{segments}"));
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let ran = project.good(&["destroy", "--dry-run"]);
    assert_eq!(changes(&ran).len(), 8);
    assert!(!ran.stdout.contains("refused") && !ran.stdout.contains("--allow-deletes"), "{ran}");
    let ran = project.good(&["destroy", "--dry-run", "--format", "jsonl"]);
    assert!(ran.stdout.starts_with("{\n  \"format_version\""), "{ran}");
    assert_eq!(service.segments().len(), 8);
    project.good(&["destroy", "--confirm", "local"]);
    assert_eq!(service.segments().len(), 0);
}

#[test]
fn a_segment_that_somebody_elses_push_points_at_is_not_deleted() {
    let project = Project::new(
        "\
segments:
  a: {criteria: {tag: a}}
  b: {criteria: {tag: b}}
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2035-01-22T10:00}
    push: {audience: {segment: b}, device_types: [ios], notification: {alert: Sale}}
",
    );
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let push = json!({
        "name": "Flash",
        "schedule": {"scheduled_time": "2035-01-22T10:00:00"},
        "push": {"audience": {"segment": service.segment_id("a")}, "device_types": ["ios"], "notification": {"alert": "x"}},
    });
    let made = service.post("/api/schedules", &push);
    project.edit("  a: {criteria: {tag: a}}\n", "");
    let ran = project.manual(&["apply", "--yes"]);
    says(&ran.stdout, &["! segments/a", "is not deleted yet: unmanaged", "\"Flash\""]);
    assert_eq!(service.segments(), ["a", "b"]);
    // When it is gone, nothing uses the segment.
    service.delete(&format!("/api/schedules/{}", made["schedule_ids"][0].as_str().expect("an id")));
    project.good(&["apply", "--yes"]);
    assert_eq!(service.segments(), ["b"]);
}

#[test]
fn destroy_speaks_of_what_is_ours_and_not_of_files() {
    let project = Project::new(TWO);
    let _service = project.serve();
    let ran = project.good(&["destroy", "--confirm", "local"]);
    assert_eq!(ran.stdout, "Nothing to delete: pushplan manages nothing on local.\n");
    // A resource that the API cannot remove is a manual step, and the resources it names are deleted by the next
    // destroy.
    let manifest = "\
segments:
  vip: {criteria: {tag: vip}}
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2035-01-22T10:00}
    push: {audience: {segment: vip}, device_types: [ios], notification: {alert: Sale}}
";
    let project = Project::documented(manifest);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let ran = project.manual(&["destroy", "--confirm", "local"]);
    says(
        &ran.stdout,
        &[
            "uses it; a later destroy deletes it",
            "remove it (",
            "2. pushplan forget scheduled_pushes/sale --even-if-pending\n",
        ],
    );
    assert!(!ran.stdout.contains("pushplan apply") && !ran.stdout.contains("later apply"), "{ran}");
    project.good(&["forget", "scheduled_pushes/sale", "--even-if-pending"]);
    project.good(&["destroy", "--confirm", "local"]);
    assert_eq!(service.segments(), Vec::<String>::new());
}

#[test]
fn a_segment_that_somebody_elses_segment_names_is_kept() {
    for (project, replaced) in [
        (Project::new("segments:\n  a: {criteria: {tag: a}}\n  b: {criteria: {tag: b}}\n"), false),
        (Project::documented("segments:\n  a: {criteria: {tag: a}}\n  b: {criteria: {tag: b}}\n"), true),
    ] {
        let service = project.serve();
        project.good(&["apply", "--yes"]);
        let id = service.segment_id("a");
        let theirs = json!({"display_name": "Theirs", "criteria": {"segment": id}});
        let made = service.post("/api/segments", &theirs)["segment_id"].as_str().expect("an id").to_owned();
        match replaced {
            true => project.edit("tag: a", "tag: other"),
            false => project.edit("  a: {criteria: {tag: a}}\n", ""),
        }
        // A plan without deletions reads nothing.
        service.forget();
        project.good(&["plan", "--only", "segments/b"]);
        assert!(!service.asked().contains(&format!("GET /api/segments/{made}")), "{:?}", service.asked());
        // The new version of a replaced resource is already in use; a pending deletion is left to a person.
        let ran = match replaced {
            true => project.good(&["apply", "--yes"]),
            false => project.manual(&["apply", "--yes"]),
        };
        let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        says(&said, &["is not deleted yet: unmanaged segment \"Theirs\"", "change that in the dashboard"]);
        assert_eq!(service.get(&format!("/api/segments/{id}"))["criteria"]["tag"], "a");
        // When it is gone, nothing uses the segment.
        service.delete(&format!("/api/segments/{made}"));
        project.good(&["apply", "--yes"]);
        let left = if replaced { vec!["a", "b"] } else { vec!["b"] };
        assert_eq!(service.segments(), left);
    }
}
