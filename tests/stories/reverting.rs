//! Reverting a run, regardless of later changes. Nobody gets a message twice because of it.

use pushplan_testing::{Project, Service, changes, checked, says};
use serde_json::{Value, json};

const NOW: &str = "2035-06-01T00:00Z";

const PUSH: &str = "\
scheduled_pushes:
  p:
    schedule: {scheduled_time: 2035-07-01T10:00}
    push: {audience: {tag: x}, device_types: [ios], notification: {alert: One}}
";

/// A push to a segment, and two further segments.
const SEGMENTS: &str = "\
segments:
  a: {display_name: A, criteria: {tag: a}}
  b: {display_name: B, criteria: {tag: b}}
scheduled_pushes:
  p:
    schedule: {scheduled_time: 2035-07-01T10:00}
    push: {audience: {segment: a}, device_types: [ios], notification: {alert: One}}
";

fn started(project: &Project) -> Service {
    project.serve_with(&["--clock", NOW])
}

fn apply(project: &Project) {
    project.good(&["apply", "--yes", "--allow-deletes", "9", "--allow-manual"]);
}

fn schedules(service: &Service) -> Vec<Value> {
    service.get("/api/schedules")["schedules"].as_array().expect("a listing").clone()
}

/// The pending messages.
fn alerts(service: &Service) -> Vec<String> {
    let alert = |one: &Value| one["push"]["notification"]["alert"].as_str().expect("an alert").to_owned();
    let mut alerts: Vec<String> = schedules(service).iter().map(alert).collect();
    alerts.sort();
    alerts
}

/// The audience of the only push, with the names of its segments.
fn audience(service: &Service) -> String {
    let [push] = &schedules(service)[..] else { panic!("{:?}", schedules(service)) };
    let id = push["push"]["audience"]["segment"].as_str().expect("a segment").to_owned();
    service.get(&format!("/api/segments/{id}"))["display_name"].as_str().expect("a name").to_owned()
}

const IDLE: &str = "is left to undo: nothing was changed";

#[test]
fn what_was_adopted_stays_and_the_command_that_lets_it_go_is_named() {
    let project = Project::new("segments:\n  vip: {criteria: {tag: vip}}\n");
    let service = started(&project);
    let id = service.segment("vip", "vip");
    project.good(&["adopt", "segments/vip"]);
    service.forget();
    let ran = project.run(&["revert", "1", "--yes"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &[IDLE, "it stays managed, segments/vip", "pushplan forget segments/vip\n"]);
    assert_eq!(service.writes(), Vec::<String>::new());
    assert_eq!(service.segment_id("vip"), id);
    assert_eq!(project.good(&["plan"]).stdout, "No changes. local matches your files (1 resource).\n");
    project.good(&["forget", "segments/vip"]);
}

#[test]
fn what_was_pulled_stays() {
    let project = Project::new("");
    let service = started(&project);
    service.segment("vip", "vip");
    service.segment("gold", "gold");
    project.good(&["pull"]);
    let ran = project.run(&["revert", "1", "--yes"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(
        &ran.stderr,
        &["they stay managed, segments/gold and segments/vip", "pushplan forget segments/gold segments/vip\n"],
    );
    assert_eq!(service.segments(), ["gold", "vip"]);
}

#[test]
fn what_has_another_key_by_now_is_changed_back_under_that() {
    for api in ["extended", "documented"] {
        let project = Project::with(SEGMENTS, &format!("api = \"{api}\"\n"));
        let service = started(&project);
        apply(&project);
        project.edit("display_name: A, criteria: {tag: a}", "display_name: A, criteria: {tag: z}");
        apply(&project);
        project.good(&["mv", "segments/a", "segments/vips"]);
        let plan = project.good(&["revert", "2", "--out", "back.plan"]);
        let (shown, _): (Vec<String>, Vec<String>) =
            changes(&plan).into_iter().partition(|line| line.contains("segments/"));
        assert_eq!(shown.len(), 1, "{plan}");
        assert!(shown[0].ends_with("segments/vips"), "{plan}");
        if api == "extended" {
            project.good(&["apply", "back.plan"]);
            assert_eq!(service.get(&format!("/api/segments/{}", service.segment_id("A")))["criteria"]["tag"], "a");
            assert_eq!(service.segments(), ["A", "B"]);
        }
    }
}

#[test]
fn a_push_with_another_key_by_now_is_not_made_a_second_time() {
    let project = Project::new(PUSH);
    let service = started(&project);
    apply(&project);
    project.edit("alert: One", "alert: Two");
    apply(&project);
    project.good(&["mv", "scheduled_pushes/p", "scheduled_pushes/sale"]);
    let ran = project.good(&["revert", "2", "--yes"]);
    assert_eq!(changes(&ran), ["~ scheduled_pushes/sale"]);
    assert_eq!(alerts(&service), ["One"]);
    let history = project.good(&["history"]).stdout;
    assert!(history.lines().next().is_some_and(|line| line.contains("revert of 2, 1 ")), "{history}");
    assert_eq!(history.matches("revert of").count(), 1, "{history}");
    let number = history.split_whitespace().next().expect("a number");
    says(&project.good(&["history", number]).stdout, &["reverts    the changes of 2"]);
    let document = checked(&project.good(&["history", "--format", "json"]), "history.schema.json");
    let reverted: Vec<&Value> =
        document["entries"].as_array().expect("runs").iter().map(|it| &it["run"]["reverts"]).collect();
    assert_eq!(reverted.last(), Some(&&json!(2)), "{document}");
    assert_eq!(reverted[0], &Value::Null, "{document}");
    // It is already as before, and the output says so.
    let ran = project.good(&["revert", "2", "--yes"]);
    says(&ran.stdout, &["No changes. local is as it was before 2."]);
    assert_eq!(alerts(&service), ["One"]);
}

#[test]
fn a_key_that_came_with_an_apply_is_followed_too() {
    let project = Project::new(PUSH);
    let service = started(&project);
    apply(&project);
    project.edit("alert: One", "alert: Two");
    apply(&project);
    project.edit("  p:\n", "  sale:\n    lifecycle: {renamed_from: p}\n");
    project.edit("alert: Two", "alert: Three");
    apply(&project);
    assert_eq!(changes(&project.good(&["revert", "2", "--yes"])), ["~ scheduled_pushes/sale"]);
    assert_eq!(alerts(&service), ["One"]);
    // Another key and another text in one run: both are reverted.
    project.good(&["revert", "3", "--yes"]);
    assert_eq!(alerts(&service), ["Two"]);
    project.write(&PUSH.replace("One", "Two"));
    assert_eq!(project.good(&["plan"]).stdout, "No changes. local matches your files (1 resource).\n");
}

#[test]
fn later_changes_that_are_undone_too_are_listed() {
    let project = Project::new(SEGMENTS);
    let service = started(&project);
    apply(&project);
    project.edit("alert: One", "alert: Two");
    apply(&project);
    project.good(&["mv", "scheduled_pushes/p", "scheduled_pushes/sale"]);
    project.edit("device_types: [ios]", "device_types: [ios, android]");
    project.edit("criteria: {tag: b}", "criteria: {tag: z}");
    apply(&project);
    let ran = project.good(&["revert", "2", "--yes"]);
    assert_eq!(changes(&ran), ["~ scheduled_pushes/sale"]);
    says(&ran.stderr, &["run 4 also changed scheduled_pushes/sale: that change is undone too"]);
    assert_eq!(schedules(&service)[0]["push"]["device_types"], json!(["ios"]));
    assert_eq!(service.get(&format!("/api/segments/{}", service.segment_id("B")))["criteria"]["tag"], "z");
    // Nothing later changed it.
    let ran = project.good(&["revert", "5", "--yes"]);
    assert!(!ran.stderr.contains("undone too"), "{ran}");
}

#[test]
fn what_was_made_is_deleted_under_the_key_that_it_has_now() {
    let project = Project::new("segments:\n  a: {criteria: {tag: a}}\n");
    let service = started(&project);
    apply(&project);
    project.write(&format!("segments:\n  a: {{criteria: {{tag: a}}}}\n{PUSH}"));
    apply(&project);
    project.good(&["mv", "scheduled_pushes/p", "scheduled_pushes/p9"]);
    assert_eq!(changes(&project.good(&["revert", "2", "--yes", "--allow-deletes", "1"])), ["- scheduled_pushes/p9"]);
    assert_eq!(alerts(&service), Vec::<String>::new());
    says(&project.good(&["revert", "2", "--yes"]).stdout, &["No changes. local is as it was before 2."]);
}

#[test]
fn a_segment_is_named_by_the_key_that_it_has_now() {
    let project = Project::new(SEGMENTS);
    let service = started(&project);
    apply(&project);
    project.edit("audience: {segment: a}", "audience: {tag: q}");
    apply(&project);
    project.good(&["mv", "segments/a", "segments/vips"]);
    // Another resource has the old key.
    project.edit("  b: {", "  a: {display_name: Others, criteria: {tag: others}}\n  b: {");
    apply(&project);
    assert_eq!(changes(&project.good(&["revert", "2", "--yes"])), ["~ scheduled_pushes/p"]);
    assert_eq!(audience(&service), "A");
}

#[test]
fn a_push_is_not_pointed_at_another_segment_that_has_the_key_by_now() {
    let project = Project::new(SEGMENTS);
    let service = started(&project);
    apply(&project);
    project.edit("audience: {segment: a}", "audience: {tag: q}");
    apply(&project);
    project.edit("  a: {display_name: A, criteria: {tag: a}}\n", "");
    apply(&project);
    let left = "the earlier version named segments/a, which was deleted or forgotten since";
    let ran = project.run(&["revert", "2", "--yes"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &[IDLE, left]);
    project.edit("  b: {", "  a: {display_name: Others, criteria: {tag: others}}\n  b: {");
    apply(&project);
    let ran = project.run(&["revert", "2", "--yes"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &[IDLE, left]);
    assert_eq!(schedules(&service)[0]["push"]["audience"], json!({"tag": "q"}));
    // Both of them are brought back by who deleted the one.
    project.edit("  a: {display_name: Others, criteria: {tag: others}}\n", "");
    apply(&project);
    project.good(&["revert", "3", "--yes"]);
    project.good(&["revert", "2", "--yes"]);
    assert_eq!(audience(&service), "A");
}

#[test]
fn a_key_is_given_back_to_what_had_it_wherever_that_is_now() {
    let project = Project::new(SEGMENTS);
    let service = started(&project);
    apply(&project);
    for (from, to) in [("a", "alpha"), ("alpha", "tmp"), ("b", "alpha"), ("tmp", "b")] {
        project.good(&["mv", &format!("segments/{from}"), &format!("segments/{to}")]);
    }
    service.forget();
    project.good(&["revert", "2", "--yes"]);
    assert_eq!(service.writes(), Vec::<String>::new());
    let shown = |key: &str| project.good(&["show", &format!("segments/{key}")]).stdout;
    project.write(&SEGMENTS.replace("  b: {display_name: B", "  alpha: {display_name: B"));
    says(&shown("a"), &[&service.segment_id("A")]);
    says(&shown("alpha"), &[&service.segment_id("B")]);
    assert_eq!(project.good(&["plan"]).stdout, "No changes. local matches your files (3 resources).\n");
}

#[test]
fn a_key_that_is_taken_by_now_is_not_given_back() {
    let project = Project::new(SEGMENTS);
    let service = started(&project);
    apply(&project);
    project.good(&["mv", "segments/a", "segments/vips"]);
    project.edit("  b: {", "  a: {display_name: Others, criteria: {tag: others}}\n  b: {");
    apply(&project);
    service.forget();
    let ran = project.run(&["revert", "2", "--yes"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["segments/a is a different resource now, so segments/vips cannot have that key again"]);
    says(&ran.stderr, &["pushplan mv segments/a segments/NEW"]);
    project.good(&["mv", "segments/a", "segments/others"]);
    project.good(&["revert", "2", "--yes"]);
    assert_eq!(service.writes(), Vec::<String>::new());
    assert_eq!(audience(&service), "A");
}

#[test]
fn what_was_let_go_stays_so_and_is_taken_back_with_the_command_that_is_named() {
    for api in ["extended", "documented"] {
        let project = Project::with(PUSH, &format!("api = \"{api}\"\n"));
        let service = started(&project);
        apply(&project);
        project.good(&["forget", "scheduled_pushes/p", "--even-if-pending"]);
        service.forget();
        let ran = project.run(&["revert", "2", "--yes"]);
        assert_eq!(ran.code, 64, "{ran}");
        says(&ran.stderr, &[IDLE, "run 2 removed scheduled_pushes/p from the ledger. It is not created again"]);
        assert_eq!(service.writes(), Vec::<String>::new());
        assert_eq!(alerts(&service), ["One"]);
        let command = ran.stderr.split("To manage it again: pushplan ").nth(1).expect("a command").trim();
        project.good(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(project.good(&["plan"]).stdout, "No changes. local matches your files (1 resource).\n");
        says(&project.good(&["revert", "2", "--yes"]).stdout, &["No changes. local is as it was before 2."]);
        assert_eq!(alerts(&service), ["One"]);
    }
}

#[test]
fn what_was_let_go_since_is_not_made_again_by_undoing_an_update() {
    let project = Project::new(PUSH);
    let service = started(&project);
    apply(&project);
    project.edit("alert: One", "alert: Two");
    apply(&project);
    project.good(&["forget", "scheduled_pushes/p"]);
    service.forget();
    let ran = project.run(&["revert", "2", "--yes"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &[IDLE, "scheduled_pushes/p was deleted or forgotten since, and is not created again"]);
    assert_eq!(service.writes(), Vec::<String>::new());
    assert_eq!(alerts(&service), ["Two"]);
}

#[test]
fn another_one_by_the_same_key_is_left_alone() {
    let project = Project::new("segments:\n  a: {criteria: {tag: a}}\n");
    let service = started(&project);
    apply(&project);
    project.write(&format!("segments:\n  a: {{criteria: {{tag: a}}}}\n{PUSH}"));
    apply(&project);
    project.write("segments:\n  a: {criteria: {tag: a}}\n");
    apply(&project);
    project.write(&format!("segments:\n  a: {{criteria: {{tag: a}}}}\n{}", PUSH.replace("One", "New")));
    apply(&project);
    for deed in ["2", "3"] {
        let ran = project.run(&["revert", deed, "--yes"]);
        assert_eq!(ran.code, 64, "{ran}");
        says(&ran.stderr, &[IDLE, "scheduled_pushes/p is not changed: another resource now has that key"]);
    }
    assert_eq!(alerts(&service), ["New"]);
}

#[test]
fn what_was_deleted_is_made_again_unless_it_has_had_its_time() {
    let project = Project::new(&format!("segments:\n  a: {{display_name: A, criteria: {{tag: a}}}}\n{PUSH}"));
    let service = started(&project);
    apply(&project);
    project.write("segments:\n  a: {display_name: A, criteria: {tag: z}}\n");
    apply(&project);
    assert_eq!(alerts(&service), Vec::<String>::new());
    project.good(&["revert", "2", "--yes", "--except", "segments/a"]);
    assert_eq!(alerts(&service), ["One"]);
    project.good(&["apply", "--yes", "--allow-deletes", "1"]);
    service.post("/local/clock", &json!({"to": "2035-08-01T00:00:00Z"}));
    let ran = project.good(&["revert", "2", "--yes"]);
    says(&ran.stderr, &["scheduled_pushes/p is not changed: its time has passed"]);
    assert_eq!(service.get(&format!("/api/segments/{}", service.segment_id("A")))["criteria"]["tag"], "a");
    assert_eq!(alerts(&service), Vec::<String>::new());
}

#[test]
fn a_push_that_went_out_and_left_the_files_is_no_hindrance() {
    for api in ["extended", "documented"] {
        let manifest = format!("segments:\n  a: {{display_name: A, criteria: {{tag: a}}}}\n{PUSH}");
        let project = Project::with(&manifest, &format!("api = \"{api}\"\n"));
        let service = started(&project);
        apply(&project);
        service.post("/local/clock", &json!({"to": "2035-08-01T00:00:00Z"}));
        project.write("segments:\n  a: {display_name: A, criteria: {tag: z}}\n");
        apply(&project);
        says(&project.good(&["history"]).stdout, &["1 forgotten"]);
        let ran = project.good(&["revert", "2", "--yes"]);
        assert!(!ran.stderr.contains("scheduled_pushes/p"), "{ran}");
        let id = service.segment_id("A");
        assert_eq!(service.get(&format!("/api/segments/{id}"))["criteria"]["tag"], "a");
    }
}

#[test]
fn what_stands_in_the_way_of_going_back_can_be_left_out() {
    let project = Project::new(&format!("segments:\n  a: {{display_name: A, criteria: {{tag: a}}}}\n{PUSH}"));
    let service = started(&project);
    apply(&project);
    project.edit("2035-07-01", "2035-09-01");
    project.edit("criteria: {tag: a}", "criteria: {tag: z}");
    apply(&project);
    service.post("/local/clock", &json!({"to": "2035-08-01T00:00:00Z"}));
    let ran = project.run(&["revert", "2", "--yes"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["leave it out with --except"]);
    project.good(&["revert", "2", "--yes", "--except", "scheduled_pushes/p"]);
    assert_eq!(service.get(&format!("/api/segments/{}", service.segment_id("A")))["criteria"]["tag"], "a");
    assert_eq!(alerts(&service), ["One"]);
}

#[test]
fn moves_of_one_run_are_counted_together() {
    let project = Project::new("segments:\n  a: {criteria: {tag: a}}\n  b: {criteria: {tag: b}}\n");
    let _service = started(&project);
    apply(&project);
    let new = |key: &str| {
        format!("{key}2: {{display_name: {key}, lifecycle: {{renamed_from: {key}}}, criteria: {{tag: {key}}}}}")
    };
    project.write(&format!("segments:\n  {}\n  {}\n", new("a"), new("b")));
    apply(&project);
    let told = project.good(&["history"]).stdout;
    says(&told, &["2 moved"]);
    assert!(!told.contains("1 moved"), "{told}");
    let json: Value = serde_json::from_str(&project.good(&["history", "--format", "json"]).stdout).expect("JSON");
    assert!(json.to_string().contains("\"moved\":2"), "{json}");
}

#[test]
fn what_another_run_left_in_doubt_is_not_taken_away() {
    let project = Project::new("segments:\n  a: {display_name: A, criteria: {tag: a}}\n");
    let service = project.faulty(
        "[[fault]]\nkind = \"close\"\nwhen = \"after\"\nmethod = \"POST\"\npath = \"/api/templates\"\ntimes = 1\n",
    );
    apply(&project);
    project.edit("tag: a", "tag: b");
    apply(&project);
    let with =
        format!("{}templates:\n  t: {{push: {{notification: {{alert: Hi}}}}}}\n", project.folder.read("messages.yaml"));
    project.write(&with);
    project.run(&["apply", "--yes"]);
    service.forget();
    let ran = project.run(&["revert", "2", "--yes"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["the state of templates/t is unknown, and run 2 did not change it", "pushplan apply"]);
    assert_eq!(service.writes(), Vec::<String>::new());
}

#[test]
fn what_was_deleted_and_is_somebody_elses_by_now_is_left_alone() {
    let project = Project::new("segments:\n  a: {criteria: {tag: a}}\ntags:\n  vip: {}\n");
    let service = started(&project);
    apply(&project);
    project.write("segments:\n  a: {criteria: {tag: a}}\n");
    apply(&project);
    service.put("/local/devices/phone", &json!({"device_type": "ios"}));
    service.put("/api/tags/vip", &json!({}));
    project.write("segments:\n  a: {criteria: {tag: a}}\ntags:\n  vip: {}\n");
    project.good(&["adopt", "tags/vip"]);
    service.forget();
    let ran = project.run(&["revert", "1", "--yes"]);
    says(&ran.stderr, &["tags/vip is not changed: another resource now has that key"]);
    assert!(service.writes().iter().all(|write| !write.contains("/api/tags")), "{:?} {ran}", service.writes());
}

#[test]
fn what_is_undone_may_well_be_in_the_files() {
    let project = Project::new(SEGMENTS);
    let _service = started(&project);
    apply(&project);
    for form in [&["--out", "r.plan"][..], &["--yes", "--allow-deletes", "9"]] {
        let ran = project.good(&[&["revert", "1"], form].concat());
        says(&ran.stdout, &["- scheduled_pushes/p", "- segments/a"]);
        assert!(!ran.stdout.contains("in your files"), "{ran}");
        if form[0] == "--yes" {
            says(&ran.stderr, &["revert the commit too"]);
        }
    }
}

#[test]
fn a_saved_plan_that_would_be_refused_exits_with_7() {
    let segments: String = (0..6).map(|number| format!("  s{number}: {{criteria: {{tag: t{number}}}}}\n")).collect();
    let project = Project::new(&format!("segments:\n{segments}"));
    let service = started(&project);
    apply(&project);
    for form in [&["--out", "r.plan"][..], &["--yes"]] {
        let ran = project.run(&[&["revert", "1"], form].concat());
        assert_eq!(ran.code, 7, "{ran}");
        says(&format!("{}{}", ran.stdout, ran.stderr), &["6 deletions (6 of 6 in segments (100 %))"]);
    }
    assert_eq!(service.segments().len(), 6);
}
