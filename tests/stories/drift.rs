//! Changes made elsewhere.

use pushplan_testing::{Project, changes, says};
use serde_json::{Value, json};

const ONE: &str = "\
segments:
  lapsed: {criteria: {tag: lapsed}}
templates:
  winback: {push: {notification: {alert: Hello}}}
";

fn tag(service: &pushplan_testing::Service) -> String {
    let id = service.segment_id("lapsed");
    service.get(&format!("/api/segments/{id}"))["criteria"]["tag"].as_str().expect("a tag").to_owned()
}

#[test]
fn a_change_on_the_service_is_named_and_put_back() {
    let project = Project::new(ONE);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let id = service.segment_id("lapsed");
    service.put(&format!("/api/segments/{id}"), &json!({"display_name": "lapsed", "criteria": {"tag": "theirs"}}));
    let ran = project.good(&["plan"]);
    says(
        &ran.stdout,
        &[
            "Changed on the service since the last apply (",
            "UTC), not in your files:",
            "who        - tag theirs",
            "+ tag lapsed",
            "effect     after this is put back, different: some join, such as a device with the tag lapsed",
            "to keep    pushplan pull segments/lapsed",
            "This plan puts it back.",
            "Plan: 1 to update, 1 unchanged. 1 reverts a change made in the dashboard.",
        ],
    );
    project.good(&["apply", "--yes"]);
    assert_eq!(tag(&service), "lapsed");
    assert_eq!(project.changes(&[]), Vec::<String>::new());
}

#[test]
fn a_change_on_the_service_that_git_follows_is_no_change() {
    let project = Project::new(ONE);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let id = service.segment_id("lapsed");
    service.put(&format!("/api/segments/{id}"), &json!({"display_name": "lapsed", "criteria": {"tag": "theirs"}}));
    project.edit("tag: lapsed", "tag: theirs");
    says(&project.good(&["plan"]).stdout, &["No changes."]);
    service.forget();
    project.good(&["apply", "--yes"]);
    assert_eq!(service.writes(), Vec::<String>::new());
}

#[test]
fn a_change_in_git_alone_says_nothing_of_the_service() {
    let project = Project::new(ONE);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("tag: lapsed", "tag: ours");
    let ran = project.good(&["plan"]);
    says(&ran.stdout, &["- tag lapsed", "+ tag ours"]);
    assert!(!ran.stdout.contains("drift"), "{ran}");
}

#[test]
fn a_change_on_both_sides_shows_all_three_values() {
    let project = Project::new(ONE);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let id = service.segment_id("lapsed");
    service.put(&format!("/api/segments/{id}"), &json!({"display_name": "lapsed", "criteria": {"tag": "theirs"}}));
    project.edit("tag: lapsed", "tag: ours");
    let ran = project.good(&["plan"]);
    says(
        &ran.stdout,
        &[
            "- tag theirs",
            "+ tag ours",
            "last applied: tag lapsed; the service was edited",
            "changed in your files and on the service since the last apply",
            "criteria: last applied tag lapsed, the service has tag theirs,",
            "pushplan pull segments/lapsed",
            "1 reverts a change made in the dashboard.",
        ],
    );
    let plan: Value = serde_json::from_str(&project.good(&["plan", "--format", "json"]).stdout).expect("JSON");
    let overwritten = &plan["changes"][0]["overwritten"][0];
    assert_eq!(overwritten["path"], "criteria");
    assert_eq!(overwritten["last_applied"]["tag"], "lapsed");
    assert_eq!(overwritten["service"]["tag"], "theirs");
    assert_eq!(overwritten["git"]["tag"], "ours");
    assert_eq!(overwritten["changed_in_git"], true);
    for form in ["markdown", "html"] {
        let shown = project.good(&["plan", "--format", form]).stdout;
        says(&shown, &["last applied tag lapsed", "pushplan pull segments/lapsed"]);
    }
    project.good(&["apply", "--yes"]);
    assert_eq!(tag(&service), "ours");
}

#[test]
fn what_was_removed_on_the_service_is_made_again_and_that_is_all() {
    let project = Project::new(ONE);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let id = service.segment_id("lapsed");
    service.delete(&format!("/api/segments/{id}"));
    let ran = project.good(&["plan"]);
    assert_eq!(changes(&ran), ["+ segments/lapsed"]);
    says(&ran.stdout, &["removed on the service since the last apply; this puts it back"]);
    project.good(&["apply", "--yes"]);
    assert_eq!(service.segments(), ["lapsed"]);
    assert_ne!(service.segment_id("lapsed"), id);
    let ran = project.good(&["plan"]);
    assert_eq!(ran.stdout, "No changes. local matches your files (2 resources).\n");
}

#[test]
fn an_open_channel_that_was_uninstalled_is_registered_again_and_stays() {
    let manifest = "\
open_channels:
  desk:
    opt_in: true
    open: {open_platform_name: sms, identifiers: {number: \"+15550100\"}}
";
    let project = Project::new(manifest);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    service.post("/api/channels/open/uninstall", &json!({"address": "desk", "open_platform_name": "sms"}));
    assert_eq!(project.changes(&[]), ["+ open_channels/desk"]);
    project.good(&["apply", "--yes"]);
    assert_eq!(project.changes(&[]), Vec::<String>::new());
    service.forget();
    project.good(&["apply", "--yes"]);
    assert_eq!(service.writes(), Vec::<String>::new());
}

#[test]
fn what_was_removed_on_both_sides_is_only_forgotten() {
    let project = Project::new(ONE);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    service.delete(&format!("/api/segments/{}", service.segment_id("lapsed")));
    project.edit("segments:\n  lapsed: {criteria: {tag: lapsed}}\n", "");
    service.forget();
    project.good(&["apply", "--yes"]);
    assert_eq!(service.writes(), Vec::<String>::new());
    assert_eq!(project.changes(&[]), Vec::<String>::new());
}

#[test]
fn a_field_that_is_left_to_the_dashboard_is_left_alone() {
    let manifest = "\
templates:
  winback:
    push: {notification: {alert: Hello}}
    lifecycle: {ignore: [push.notification.alert]}
";
    let project = Project::new(manifest);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let id = service.get("/api/templates")["templates"][0]["id"].as_str().expect("an id").to_owned();
    service.post(&format!("/api/templates/{id}"), &json!({"push": {"notification": {"alert": "Theirs"}}}));
    let left = "1 difference is ignored (lifecycle.ignore).";
    let ran = project.good(&["plan"]);
    assert_eq!(ran.stdout, format!("No changes. local matches your files (1 resource).\n{left}\n"));
    says(&project.good(&["plan", "--format", "markdown"]).stdout, &["1 difference is ignored"]);
    says(&project.good(&["plan", "--format", "html"]).stdout, &["left to the dashboard"]);
    let plan: Value = serde_json::from_str(&project.good(&["plan", "--format", "json"]).stdout).expect("JSON");
    assert_eq!(plan["counts"]["ignored"], 1);
    let ran = project.run(&["drift", "--detailed-exitcode"]);
    assert_eq!(ran.code, 0, "{ran}");
    says(&ran.stdout, &["No drift: local is unchanged since the last apply on", left]);
    // If the files cannot be read, it is ordinary drift.
    project.write("templates: {winback: {push: nonsense}}");
    let ran = project.run(&["drift", "--detailed-exitcode"]);
    assert_eq!(ran.code, 2, "{ran}");
    says(
        &ran.stdout,
        &["push.notification.alert  Hello → Theirs", "Your files have errors: fields in lifecycle.ignore are listed"],
    );
}

#[test]
fn what_is_left_to_the_dashboard_is_no_change_of_the_files() {
    let manifest = "\
templates:
  t: {description: d, push: {notification: {alert: Hello}}, lifecycle: {ignore: [description]}}
";
    let project = Project::new(manifest);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let id = service.get("/api/templates")["templates"][0]["id"].as_str().expect("an id").to_owned();
    let edit = |description: &str, alert: &str| {
        let push = json!({"notification": {"alert": alert}});
        service.post(&format!("/api/templates/{id}"), &json!({"description": description, "push": push}));
    };
    let moved = || {
        let plan: Value = serde_json::from_str(&project.good(&["plan", "--format", "json"]).stdout).expect("JSON");
        plan["changes"][0]["moved"].clone()
    };
    edit("theirs", "Theirs");
    let told = project.good(&["plan"]).stdout;
    assert!(!told.contains("your files and on the service"), "{told}");
    assert_eq!(moved(), "service", "{told}");
    // A field of a managed resource that only git changed.
    edit("theirs", "Hello");
    project.write(&manifest.replace("Hello", "Hi"));
    let told = project.good(&["plan"]).stdout;
    assert!(!told.contains("on the service"), "{told}");
    assert_eq!(moved(), "git", "{told}");
}

#[test]
fn a_push_that_somebody_pointed_at_another_segment_is_not_said_to_follow_a_new_id() {
    let manifest = "\
segments:
  one: {criteria: {tag: one}}
  two: {criteria: {tag: two}}
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2035-01-22T10:00}
    push: {audience: {segment: one}, device_types: [ios], notification: {alert: Sale}}
";
    let project = Project::new(manifest);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let push = service.get("/api/schedules")["schedules"][0].clone();
    let id = push["url"].as_str().expect("a url").rsplit('/').next().expect("an id").to_owned();
    let mut theirs = push["push"].clone();
    theirs["audience"] = json!({"segment": service.segment_id("two")});
    let body = json!({"name": push["name"], "schedule": push["schedule"], "push": theirs});
    service.put(&format!("/api/schedules/{id}"), &body);
    let told = project.good(&["plan"]).stdout;
    says(&told, &["~ scheduled_pushes/sale", "- segment two", "+ segment one"]);
    assert!(!told.contains("new id"), "{told}");
}

#[test]
fn a_field_of_a_pipeline_is_left_to_the_dashboard_by_the_path_that_the_plan_shows() {
    let manifest = "\
pipelines:
  remind:
    enabled: true
    immediate_trigger: {tag_added: vip}
    outcome: {push: {audience: triggered, device_types: [ios], notification: {alert: Hello}}}
";
    let project = Project::new(manifest);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let mut theirs = service.get("/api/pipelines?enabled=true")["pipelines"][0].clone();
    let id = theirs["uid"].as_str().expect("an id").to_owned();
    let outcome = theirs["outcome"].to_string().replace("Hello", "Theirs");
    theirs["outcome"] = serde_json::from_str(&outcome).expect("JSON");
    let body = json!({"name": "remind", "enabled": true, "immediate_trigger": theirs["immediate_trigger"], "outcome": theirs["outcome"]});
    service.put(&format!("/api/pipelines/{id}"), &body);
    says(&project.good(&["plan"]).stdout, &["outcome.push.notification.alert", "Theirs → Hello"]);
    project.write(&format!("{manifest}    lifecycle: {{ignore: [outcome.push.notification.alert]}}\n"));
    says(&project.good(&["plan"]).stdout, &["No changes."]);
    project.write(&format!("{manifest}    lifecycle: {{ignore: [outcome.push.alert]}}\n"));
    let ran = project.run(&["validate"]);
    says(&ran.stdout, &["RF114", "the pipeline `remind` has no field `outcome.push.alert`", "did you mean"]);
}

#[test]
fn the_seconds_of_a_schedule_are_pulled_and_their_change_is_seen() {
    let project = Project::new("{}\n");
    let service = project.serve();
    let push = |time: &str| {
        json!({"name": "Sale", "schedule": {"scheduled_time": time}, "push": {"audience": "all",
            "device_types": ["ios"], "notification": {"alert": "Hello"}}})
    };
    service.post("/api/schedules", &push("2027-01-01T09:00:30"));
    project.good(&["pull"]);
    let pulled = project.good(&["show", "scheduled_pushes/sale"]).stdout;
    assert!(pulled.contains("09:00:30"), "{pulled}");
    says(&project.good(&["plan"]).stdout, &["No changes."]);
    let id = service.get("/api/schedules")["schedules"][0]["url"].as_str().expect("a url").to_owned();
    let id = id.rsplit('/').next().expect("an id");
    service.put(&format!("/api/schedules/{id}"), &push("2027-01-01T09:00:15"));
    says(&project.good(&["plan"]).stdout, &["Fri 1 Jan 2027 09:00:15 → 09:00:30 UTC"]);
}

#[test]
fn seconds_are_refused_where_the_contract_s_form_alone_is_read() {
    let manifest = "scheduled_pushes:
  sale:
    schedule: {scheduled_time: \"2027-01-01T09:00:30\"}
    push: {audience: {tag: vip}, device_types: [ios], notification: {alert: Hello}}
";
    says(
        &Project::documented(manifest).run(&["validate"]).stdout,
        &["[SC105]", "seconds cannot be sent to this target"],
    );
    let project = Project::new(manifest);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let made = service.get("/api/schedules")["schedules"][0]["schedule"]["scheduled_time"].clone();
    assert_eq!(made, json!("2027-01-01T09:00:30"));
}

#[test]
fn a_part_that_was_removed_is_kept_so_by_a_pull() {
    let project = Project::new(
        "tag_groups:\n  loyalty:\n    members:\n      named_users: {ada: [gold], bob: [gold]}\nnamed_users:\n  ada:\n    \
         channels: [{channel_id: phone, device_type: ios}]\n",
    );
    let service = project.serve();
    service.put("/local/devices/phone", &json!({"device_type": "ios"}));
    project.good(&["apply", "--yes"]);
    service.post("/api/named_users/tags", &json!({"audience": {"named_user_id": "bob"}, "set": {"loyalty": []}}));
    says(&project.good(&["drift"]).stdout, &["to keep    pushplan pull tag_groups/loyalty"]);
    says(&project.good(&["plan"]).stdout, &["removed: pushplan pull tag_groups/loyalty"]);
    let drift: Value = serde_json::from_str(&project.good(&["drift", "--format", "json"]).stdout).expect("JSON");
    assert_eq!(drift["changes"][0]["keep"], "pushplan pull tag_groups/loyalty");
    project.good(&["pull", "tag_groups/loyalty"]);
    says(&project.good(&["plan"]).stdout, &["No changes."]);
    // Without its only channel, nothing is left of it: a person has to remove it.
    let body = json!({"channel_id": "phone", "device_type": "ios", "named_user_id": "ada"});
    service.post("/api/named_users/disassociate", &body);
    says(&project.good(&["drift"]).stdout, &["- named_users/ada ", "to accept  remove it from your files"]);
}

#[test]
fn what_is_about_to_be_moved_is_told_under_the_key_that_the_files_have() {
    let project = Project::new("segments:\n  a: {display_name: A, criteria: {tag: a}}\n");
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let id = service.segment_id("A");
    service.put(&format!("/api/segments/{id}"), &json!({"display_name": "A", "criteria": {"tag": "theirs"}}));
    project.write("segments:\n  b: {display_name: A, lifecycle: {renamed_from: a}, criteria: {tag: a}}\n");
    let ran = project.good(&["drift"]);
    says(&ran.stdout, &["segments/b", "pushplan pull segments/b", "pushplan apply --only segments/b"]);
    assert!(!ran.stdout.contains("an apply deletes it"), "{ran}");
    project.good(&["apply", "--only", "segments/b", "--yes"]);
    assert_eq!(service.segment_id("A"), id);
    says(&project.good(&["drift"]).stdout, &["No drift: "]);
}
