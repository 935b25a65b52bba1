//! Stories: git and the dashboard were both changed, or what one of them has reaches further than itself.

use pushplan_testing::{Project, Service, says};
use serde_json::{Value, json};

use super::{applied, in_sync};

const FILE: &str = "messages.yaml";

fn edit_segment(service: &Service, name: &str, criteria: &Value) {
    let id = service.segment_id(name);
    service.put(&format!("/api/segments/{id}"), &json!({"display_name": name, "criteria": criteria}));
}

fn edit_template(service: &Service, alert: &str) {
    let template = service.get("/api/templates")["templates"][0].clone();
    let id = template["id"].as_str().expect("an id");
    let push = json!({"notification": {"alert": alert}});
    service.post(&format!("/api/templates/{id}"), &json!({"name": template["name"], "push": push}));
}

const SEGMENT: &str = "segments:\n  s:\n    display_name: S\n    criteria: {tag: a}\n";

#[test]
fn what_was_changed_in_git_as_well_is_never_overwritten() {
    let (project, service) = applied(SEGMENT);
    edit_segment(&service, "S", &json!({"tag": "dash"}));
    let mine = SEGMENT.replace("tag: a", "tag: git");
    project.write(&mine);
    for _ in 0..2 {
        let ran = project.run(&["pull"]);
        assert_eq!(ran.code, 6, "{ran}");
        assert_eq!(project.folder.read(FILE), mine);
        says(&ran.stderr, &["Not edited: segments/s criteria was changed in git and on the service"]);
        says(&ran.stderr, &["git has {tag: git}, the service has {tag: dash}, last applied was {tag: a}"]);
        says(&ran.stderr, &["messages.yaml:4:5: also changed here", "`pushplan pull segments/s --theirs`"]);
    }
    let named = project.run(&["pull", "--target", "local"]);
    says(&named.stderr, &["`pushplan pull segments/s --theirs --target local`"]);
    // The way out that is told, here and elsewhere.
    for told in [project.good(&["plan"]), project.good(&["drift"]), project.run(&["plan", "--on-drift", "stop"])] {
        says(&told.stdout, &["pushplan pull segments/s --theirs"]);
    }
    assert_eq!(project.run(&["pull", "--theirs"]).code, 64);
    project.write(&mine.replace("tag: git}", "tag: git} # ours"));
    project.good(&["pull", "segments/s", "--theirs"]);
    assert_eq!(project.folder.read(FILE), SEGMENT.replace("tag: a}", "tag: dash} # ours"));
    in_sync(&project);
    // So does taking back what git changed.
    edit_segment(&service, "S", &json!({"tag": "more"}));
    project.write(&mine);
    assert_eq!(project.run(&["pull"]).code, 6);
    project.write(&SEGMENT.replace("tag: a", "tag: dash"));
    project.good(&["pull"]);
    assert_eq!(project.folder.read(FILE), SEGMENT.replace("tag: a", "tag: more"));
    in_sync(&project);
}

#[test]
fn what_one_pull_wrote_is_no_change_of_git_for_the_next() {
    let manifest = "\
templates:
  t:
    description: d0
    push: {notification: {alert: \"${var.x:-hi}\"}}
";
    let (project, service) = applied(manifest);
    let template = service.get("/api/templates")["templates"][0].clone();
    let id = template["id"].as_str().expect("an id");
    for description in ["d1", "d2"] {
        let push = json!({"notification": {"alert": "ho"}});
        let body = json!({"name": template["name"], "description": description, "push": push});
        service.post(&format!("/api/templates/{id}"), &body);
        let ran = project.run(&["pull"]);
        assert_eq!(ran.code, 6, "{ran}");
        assert_eq!(project.folder.read(FILE), manifest.replace("d0", description));
        assert!(!ran.stderr.contains("changed in git"), "{ran}");
        says(&ran.stderr, &["Not edited: templates/t push.notification.alert: the service has \"ho\""]);
    }
    // What is left is told until it is dealt with.
    for _ in 0..2 {
        let ran = project.run(&["pull"]);
        assert_eq!(ran.code, 6, "{ran}");
        says(&ran.stderr, &["push.notification.alert: the service has \"ho\""]);
    }
    says(&project.good(&["plan"]).stdout, &["push.notification.alert", "ho → hi"]);
    project.edit(":-hi", ":-ho");
    project.good(&["pull"]);
    in_sync(&project);
}

#[test]
fn beside_a_clash_what_was_placed_is_no_change_of_git_for_the_next() {
    let manifest = "templates:\n  t:\n    description: Ours\n    push: {notification: {alert: Hi}}\n";
    let (project, service) = applied(manifest);
    let template = service.get("/api/templates")["templates"][0].clone();
    let id = template["id"].as_str().expect("an id");
    project.edit("Ours", "Mine");
    for alert in ["Ho", "Hu"] {
        let push = json!({"notification": {"alert": alert}});
        let body = json!({"name": template["name"], "description": "Theirs", "push": push});
        service.post(&format!("/api/templates/{id}"), &body);
        let ran = project.run(&["pull"]);
        assert_eq!(ran.code, 6, "{ran}");
        assert_eq!(project.folder.read(FILE), manifest.replace("Ours", "Mine").replace("Hi", alert));
        assert_eq!(ran.stderr.matches("changed in git").count(), 1, "{ran}");
        says(&ran.stderr, &["git has \"Mine\"", "the service has \"Theirs\"", "last applied was \"Ours\""]);
    }
}

#[test]
fn the_other_fields_of_what_was_changed_on_both_sides_are_pulled() {
    let manifest = "templates:\n  t:\n    description: Ours\n    push: {notification: {alert: Hi}}\n";
    let (project, service) = applied(manifest);
    let template = service.get("/api/templates")["templates"][0].clone();
    let id = template["id"].as_str().expect("an id");
    let push = json!({"notification": {"alert": "Ho"}});
    let body = json!({"name": template["name"], "description": "Theirs", "push": push});
    service.post(&format!("/api/templates/{id}"), &body);
    project.edit("Ours", "Mine");
    let ran = project.run(&["pull"]);
    assert_eq!(ran.code, 6, "{ran}");
    assert_eq!(project.folder.read(FILE), manifest.replace("Ours", "Mine").replace("Hi", "Ho"));
    says(
        &ran.stderr,
        &["templates/t description", "git has \"Mine\"", "the service has \"Theirs\"", "applied was \"Ours\""],
    );
}

#[test]
fn a_template_is_edited_though_a_push_is_filled_in_from_it() {
    let manifest = "\
templates:
  t: {push: {notification: {alert: Hi}}}
segments:
  s: {display_name: S, criteria: {tag: a}}
scheduled_pushes:
  p:
    schedule: {scheduled_time: '2036-11-28T14:00'}
    push: {audience: {tag: x}, device_types: [ios], template: t}
";
    let (project, service) = applied(manifest);
    edit_template(&service, "Ho");
    edit_segment(&service, "S", &json!({"tag": "b"}));
    let ran = project.good(&["pull"]);
    assert_eq!(project.folder.read(FILE), manifest.replace("alert: Hi", "alert: Ho").replace("tag: a", "tag: b"));
    says(&ran.stdout, &["2 resources edited in place", "With these edits, scheduled_pushes/p changes too"]);
    assert_eq!(project.changes(&[]), ["~ scheduled_pushes/p"]);
}

#[test]
fn what_is_edited_stays_valid() {
    let (project, service) = applied(SEGMENT);
    edit_segment(&service, "S", &json!({"tag": "gold", "group": "loyalty"}));
    let ran = project.good(&["pull"]);
    says(&ran.stdout, &["Wrote tag_groups.yaml: 1 tag group"]);
    says(&project.folder.read(FILE), &["criteria: {tag: gold, group: loyalty}"]);
    in_sync(&project);
    edit_segment(&service, "S", &json!({"tag": "gold", "group": "My Group"}));
    project.good(&["pull"]);
    let segments = project.folder.read(FILE);
    says(&segments, &["group: My Group", "lifecycle:", "warn: [RF103]"]);
    in_sync(&project);
    edit_segment(&service, "S", &json!({"tag": "8.3.1", "group": "ua_ios_version"}));
    project.good(&["pull"]);
    says(&project.folder.read(FILE), &["warn: [RF103, AU101]"]);
    in_sync(&project);
}

#[test]
fn a_segment_that_is_pulled_in_the_same_run_has_its_key() {
    let manifest = "\
scheduled_pushes:
  p:
    name: P
    schedule: {scheduled_time: '2036-11-28T14:00'}
    push: {audience: {tag: x}, device_types: [ios], notification: {alert: Hi}}
";
    let (project, service) = applied(manifest);
    let id = service.segment("VIP", "vip");
    let schedule = service.get("/api/schedules")["schedules"][0].clone();
    let path = schedule["url"].as_str().expect("a URL");
    let path = &path[path.find("/api/").expect("a path")..];
    let mut push = schedule["push"].clone();
    push["audience"] = json!({"segment": id});
    service.put(path, &json!({"name": "P", "schedule": schedule["schedule"], "push": push}));
    let ran = project.good(&["pull"]);
    says(&ran.stdout, &["1 resource pulled and adopted, 1 resource edited in place"]);
    says(&project.folder.read(FILE), &["audience: {segment: vip}"]);
    in_sync(&project);
}

#[test]
fn places_are_those_of_the_files_as_they_are_written() {
    let manifest = "\
templates:
  a:
    description: Gone
    push: {notification: {alert: Hi}}
  b: {push: {notification: {alert: &x Hello}}}
  c: {push: {notification: {alert: *x}}}
";
    let (project, service) = applied(manifest);
    for template in service.get("/api/templates")["templates"].as_array().expect("a list") {
        let id = template["id"].as_str().expect("an id");
        let push = json!({"notification": {"alert": "New"}});
        service
            .post(&format!("/api/templates/{id}"), &json!({"name": template["name"], "description": "", "push": push}));
    }
    let ran = project.run(&["pull"]);
    assert_eq!(ran.code, 6, "{ran}");
    assert!(!project.folder.read(FILE).contains("Gone"), "{ran}");
    says(&ran.stderr, &["templates/b push.notification.alert: the service has \"New\"", "messages.yaml:4:"]);
    assert!(!ran.stderr.contains("messages.yaml:6:"), "{ran}");
}

#[test]
fn each_field_of_an_item_is_told_by_itself() {
    let manifest = "\
pipelines:
  a:
    name: A
    enabled: true
    immediate_trigger: {tag_added: x}
    outcome:
      - delay: 1h
        push: {audience: triggered, device_types: &types [ios, android], notification: {alert: Hi}}
  b:
    name: B
    enabled: true
    immediate_trigger: {tag_added: y}
    outcome:
      - delay: 1h
        push: {audience: triggered, device_types: *types, notification: {alert: Ho}}
";
    let (project, service) = applied(manifest);
    let all = service.get("/api/pipelines");
    let all = all["pipelines"].as_array().expect("a list");
    let mut pipeline = all.iter().find(|it| it["name"] == "A").expect("a pipeline").clone();
    let url = pipeline["url"].as_str().expect("a URL").to_owned();
    let outcome = json!({"delay": 7200, "push": {
        "audience": "triggered", "device_types": ["ios"], "notification": {"alert": "Hi"},
    }});
    pipeline["outcome"] = outcome;
    let fields = pipeline.as_object_mut().expect("a map");
    fields.retain(|key, _| ["name", "enabled", "immediate_trigger", "outcome"].contains(&key.as_str()));
    service.put(&url[url.find("/api/").expect("a path")..], &pipeline);
    let ran = project.run(&["pull"]);
    assert_eq!(ran.code, 6, "{ran}");
    says(&ran.stderr, &["pipelines/a outcome.delay: the service has 7200"]);
    says(&ran.stderr, &["pipelines/a outcome.push.device_types: the service has [\"ios\"]"]);
}

#[test]
fn what_is_ignored_is_left_out_unless_it_is_named() {
    let project = Project::with("", "ignore_unmanaged = [\"segments/Test *\"]\n");
    let service = project.serve();
    service.segment("Test one", "x");
    service.segment("Real", "x");
    let ran = project.good(&["pull"]);
    says(&ran.stdout, &["1 resource pulled"]);
    says(&ran.stderr, &["Skipped: 1 thing in ignore_unmanaged"]);
    assert!(!project.folder.read("segments.yaml").contains("Test one"));
    says(&project.good(&["pull", "segments/test-one"]).stdout, &["1 resource pulled"]);
    in_sync(&project);
}

#[test]
fn what_is_in_git_is_found_by_its_name_as_well() {
    let (project, service) = applied("segments:\n  s: {display_name: Lapsed buyers, criteria: {tag: a}}\n");
    says(&project.good(&["pull", "segments/Lapsed buyers"]).stdout, &["Nothing to pull"]);
    edit_segment(&service, "Lapsed buyers", &json!({"tag": "b"}));
    says(&project.good(&["pull", "segments/Lapsed buyers"]).stdout, &["1 resource edited in place"]);
    in_sync(&project);
}

#[test]
fn what_an_api_does_not_list_is_not_said_to_be_missing() {
    let project = Project::documented("");
    let _service = project.serve();
    let ran = project.run(&["pull", "scheduled_pushes/x"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["this API does not list scheduled pushes", "pushplan adopt scheduled_pushes/KEY --id ID"]);
}

#[test]
fn nothing_to_pull_does_not_say_that_git_has_it() {
    let (project, service) = applied(SEGMENT);
    edit_segment(&service, "S", &json!({"tag": "dash"}));
    project.good(&["pull"]);
    // The edit is thrown away.
    project.write(SEGMENT);
    let ran = project.good(&["pull"]);
    says(&ran.stdout, &["Nothing to pull", "pushplan plan shows differences in your files"]);
    assert!(!ran.stdout.contains("in git already"), "{ran}");
}

#[test]
fn nothing_that_is_pulled_names_what_was_removed_on_the_service() {
    let (project, service) = applied(SEGMENT);
    let id = service.segment_id("S");
    service.delete(&format!("/api/segments/{id}"));
    service
        .post("/api/segments", &json!({"display_name": "Fresh", "criteria": {"or": [{"segment": id}, {"tag": "b"}]}}));
    let ran = project.run(&["pull"]);
    assert_eq!(ran.code, 6, "{ran}");
    assert!(ran.stdout.contains("1 resource pulled"), "{ran}");
    let fresh = project.folder.read("segments.yaml");
    says(&fresh, &["segment: {id: ", &id]);
    // As it was told: what is gone is taken out of git.
    project.write("{}\n");
    says(&project.good(&["plan"]).stdout, &["Plan: 1 to forget, 1 unchanged."]);
    project.good(&["apply", "--yes"]);
    in_sync(&project);
}

#[test]
fn another_thing_of_the_same_name_is_told_of_by_key_as_well() {
    let (project, service) = applied(SEGMENT);
    service.segment("Baz", "theirs");
    project.write(&format!("{SEGMENT}  baz: {{display_name: Baz, criteria: {{tag: mine}}}}\n"));
    for word in ["segments/Baz", "segments/baz"] {
        let ran = project.run(&["pull", word]);
        assert_eq!(ran.code, 6, "{word}: {ran}");
        says(&ran.stderr, &["segments/baz has its name but is different"]);
    }
}

#[test]
fn a_push_to_everybody_is_pulled_so_that_it_can_be_made_again() {
    let (project, service) = applied("{}\n");
    let push = |name: &str, audience: Value| {
        let push = json!({"audience": audience, "device_types": ["ios"], "notification": {"alert": "Hi"}});
        service.post(
            "/api/schedules",
            &json!({"name": name, "schedule": {"scheduled_time": "2035-01-01T09:00:00"}, "push": push}),
        );
    };
    push("To all", json!("all"));
    push("To some", json!({"tag": "a"}));
    project.good(&["pull"]);
    let pulled = project.folder.read("scheduled_pushes.yaml");
    let (all, some) = pulled.split_once("to-some:").expect("both");
    assert!(all.contains("lifecycle: {broadcast: true}") && !some.contains("lifecycle"), "{pulled}");
    in_sync(&project);
}
