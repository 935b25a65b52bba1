//! A service with only the documented API.

use pushplan_testing::{Project, Service, changes, says};
use serde_json::{Value, json};

const USERS: &str = "\
segments:
  base: {criteria: {tag: base}}
  east: {criteria: {and: [{segment: base}, {tag: east}]}}
experiments:
  texts:
    audience: {segment: east}
    device_types: [ios]
    variants:
      - {push: {notification: {alert: A}}, schedule: {scheduled_time: 2035-02-01T10:00}}
      - {push: {notification: {alert: B}}, schedule: {scheduled_time: 2035-02-01T10:00}}
";

#[test]
fn a_segment_is_replaced_with_all_who_name_it_in_order() {
    let project = Project::documented(USERS);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let (base, east) = (service.segment_id("base"), service.segment_id("east"));
    let texts = service.get("/api/experiments")["experiments"][0]["experiment_id"].clone();
    let texts = texts.as_str().map_or_else(
        || service.get("/api/experiments")["experiments"][0]["id"].as_str().expect("an id").to_owned(),
        str::to_owned,
    );
    project.edit("tag: base", "tag: other");
    let ran = project.good(&["plan"]);
    let mut shown = changes(&ran);
    shown.sort();
    assert_eq!(shown, ["± experiments/texts", "± segments/base", "± segments/east"]);
    service.forget();
    project.good(&["apply", "--yes"]);
    let writes = service.writes();
    assert_eq!(writes.len(), 6, "{writes:#?}");
    let at = |line: String| {
        writes.iter().position(|other| *other == line).unwrap_or_else(|| panic!("{line} in {writes:#?}"))
    };
    let old = at(format!("DELETE /api/experiments/scheduled/{texts}"));
    // Nothing is deleted before its replacement can be created, and no segment while it is referred to.
    assert_eq!(writes[..2], ["POST /api/segments", "POST /api/segments"]);
    assert!(old < at("POST /api/experiments".to_owned()), "{writes:#?}");
    assert!(at("POST /api/experiments".to_owned()) < at(format!("DELETE /api/segments/{east}")), "{writes:#?}");
    assert!(at(format!("DELETE /api/segments/{east}")) < at(format!("DELETE /api/segments/{base}")), "{writes:#?}");
    assert_eq!(service.segments(), ["base", "east"]);
    let east = service.get(&format!("/api/segments/{}", service.segment_id("east")));
    assert!(east.to_string().contains(&service.segment_id("base")), "{east}");
    assert_eq!(project.good(&["plan"]).stdout, "No changes. local matches your files (3 resources).\n");
}

/// No list shows the segments of a push, and the ledger no longer contains them.
#[test]
fn who_forgets_a_pending_message_is_told_which_segments_it_needs() {
    let project = Project::documented(
        "segments:\n  vip: {criteria: {tag: vip}}\nscheduled_pushes:\n  first:\n    schedule: {scheduled_time: 2035-01-22T10:00}\n    \
         push: {audience: {segment: vip}, device_types: [ios], notification: {alert: First}}\n",
    );
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    let ran = project.good(&["forget", "scheduled_pushes/first", "--even-if-pending"]);
    says(&ran.stdout, &["Do not edit or remove segments/vip before it is sent"]);
}

#[test]
fn an_experiment_is_replaced_before_it_starts() {
    let project = Project::documented(USERS);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("alert: A", "alert: C");
    service.forget();
    let ran = project.good(&["apply", "--yes"]);
    assert_eq!(changes(&ran), ["± experiments/texts"]);
    let writes = service.writes();
    assert_eq!(writes.len(), 2);
    assert!(writes[0].starts_with("DELETE /api/experiments/scheduled/") && writes[1] == "POST /api/experiments");
    assert_eq!(service.names("/api/experiments", "experiments", "name").len(), 1);
    assert_eq!(project.changes(&[]), Vec::<String>::new());
}

const PIPELINE: &str = "\
pipelines:
  remind:
    enabled: true
    immediate_trigger: {tag_added: vip}
    outcome: {push: {audience: triggered, device_types: [ios], notification: {alert: Hello}}}
segments:
  a: {criteria: {tag: a}}
";

fn pipelines(service: &Service) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    for enabled in ["true", "false"] {
        for one in service.get(&format!("/api/pipelines?enabled={enabled}"))["pipelines"].as_array().expect("a list") {
            if !all.iter().any(|other| other["uid"] == one["uid"]) {
                all.push(one.clone());
            }
        }
    }
    all
}

/// Turns a pipeline off, like someone in the dashboard.
fn turn_off(service: &Service, pipeline: &Value) {
    let mut body = json!({"enabled": false});
    for key in ["name", "immediate_trigger", "historical_trigger", "outcome"] {
        if !pipeline[key].is_null() {
            body[key] = pipeline[key].clone();
        }
    }
    service.put(&format!("/api/pipelines/{}", pipeline["uid"].as_str().expect("an id")), &body);
}

#[test]
fn a_pipeline_is_changed_by_hand_and_its_successor_is_made_once_the_old_one_is_off() {
    let project = Project::documented(PIPELINE);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.good(&["apply", "--yes"]);
    project.edit("alert: Hello", "alert: Bye");
    let old = pipelines(&service).remove(0);
    let id = old["uid"].as_str().expect("an id").to_owned();
    let ran = project.good(&["plan"]);
    assert_eq!(changes(&ran), ["! pipelines/remind"]);
    says(
        &ran.stdout,
        &["Hello → Bye", "turn off or remove the old one", &id, "pushplan apply --done pipelines/remind"],
    );
    service.forget();
    // Apply continues with the rest and reports the remaining steps.
    project.edit("tag: a", "tag: b");
    let ran = project.manual(&["apply", "--yes"]);
    says(&ran.stdout, &["1 manual step left"]);
    project.good(&["apply", "--yes", "--allow-manual"]);
    let ran = project.run(&["reconcile", "--once", "--drift", "fix"]);
    assert_eq!(ran.code, 6, "{ran}");
    project.good(&["reconcile", "--once", "--drift", "fix", "--allow-manual"]);
    assert!(!service.writes().contains(&"POST /api/pipelines".to_owned()));
    let ran = project.run(&["apply", "--yes", "--done", "pipelines/remind"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["pipelines/remind still exists and is enabled: nothing was changed"]);
    assert_eq!(pipelines(&service).len(), 1);
    turn_off(&service, &old);
    let ran = project.good(&["apply", "--yes", "--done", "pipelines/remind"]);
    assert_eq!(changes(&ran), ["+ pipelines/remind"]);
    let on: Vec<Value> = pipelines(&service).into_iter().filter(|one| one["enabled"] == true).collect();
    assert_eq!(on.len(), 1);
    assert!(on[0].to_string().contains("Bye"), "{on:?}");
    let rest = "Not in git: 1 pipeline; pushplan unmanaged lists it.\n";
    let told = format!("No changes. local matches your files (2 resources).\n{rest}");
    assert_eq!(project.good(&["plan"]).stdout, told, "the old one is off, and nobody's any more");
}

#[test]
fn a_successor_is_not_made_beside_a_pipeline_of_the_same_name_that_is_not_ours() {
    let project = Project::documented(PIPELINE);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let old = pipelines(&service).remove(0);
    let mut copy = json!({"enabled": true});
    for key in ["name", "immediate_trigger", "outcome"] {
        copy[key] = old[key].clone();
    }
    service.post("/api/pipelines", &copy);
    turn_off(&service, &old);
    project.edit("alert: Hello", "alert: Bye");
    service.forget();
    let ran = project.run(&["apply", "--yes", "--done", "pipelines/remind"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["pipelines/remind: the service already has an unmanaged"]);
    assert_eq!(service.writes(), Vec::<String>::new());
    let theirs = pipelines(&service).into_iter().find(|one| one["enabled"] == true).expect("theirs");
    turn_off(&service, &theirs);
    project.good(&["apply", "--yes", "--done", "pipelines/remind"]);
    assert_eq!(pipelines(&service).iter().filter(|one| one["enabled"] == true).count(), 1);
}

#[test]
fn variables_that_somebody_changed_are_put_back_once() {
    let manifest =
        "templates:\n  t: {variables: [{key: A, default_value: b}], push: {notification: {alert: \"{{A}}\"}}}\n";
    let project = Project::documented(manifest);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let id = service.get("/api/templates")["templates"][0]["id"].as_str().expect("an id").to_owned();
    let theirs = json!({"variables": [{"key": "A", "name": "A", "default_value": "theirs"}]});
    service.post(&format!("/api/templates/{id}"), &theirs);
    assert_eq!(project.changes(&[]), ["± templates/t"]);
    project.good(&["apply", "--yes"]);
    assert_eq!(project.changes(&[]), Vec::<String>::new());
    assert_eq!(service.templates(), ["t"]);
}

#[test]
fn a_pipeline_that_is_removed_is_turned_off_by_hand_and_then_forgotten() {
    let project = Project::documented(PIPELINE);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write("segments:\n  a: {criteria: {tag: a}}\n");
    assert_eq!(project.changes(&[]), ["! pipelines/remind"]);
    let ran = project.run(&["apply", "--yes", "--done", "pipelines/remind"]);
    assert_eq!(ran.code, 7, "{ran}");
    turn_off(&service, &pipelines(&service)[0]);
    service.forget();
    project.good(&["apply", "--yes", "--done", "pipelines/remind"]);
    assert_eq!(service.writes(), Vec::<String>::new());
    assert_eq!(project.changes(&[]), Vec::<String>::new());
}

#[test]
fn a_pipeline_that_somebody_removed_is_made_again_and_that_is_all() {
    let project = Project::documented(PIPELINE);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    service.delete(&format!("/api/pipelines/{}", pipelines(&service)[0]["uid"].as_str().expect("an id")));
    assert_eq!(project.changes(&[]), ["+ pipelines/remind"]);
    project.good(&["apply", "--yes"]);
    assert_eq!(pipelines(&service).len(), 1);
    assert_eq!(project.good(&["plan"]).stdout, "No changes. local matches your files (2 resources).\n");
}

const PUSH: &str = "\
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2035-01-22T10:00}
    push: {audience: {tag: vip}, device_types: [ios], notification: {alert: Sale}}
segments:
  a: {criteria: {tag: a}}
";

#[test]
fn a_pending_push_is_changed_by_hand() {
    let project = Project::documented(PUSH);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("alert: Sale", "alert: SALE");
    let ran = project.good(&["plan"]);
    assert_eq!(changes(&ran), ["! scheduled_pushes/sale"]);
    says(&ran.stdout, &["Sale → SALE", "pushplan apply --done scheduled_pushes/sale"]);
    service.forget();
    project.manual(&["apply", "--yes"]);
    assert!(!service.writes().contains(&"POST /api/schedules".to_owned()));
    let url = service.get("/api/schedules")["schedules"][0]["url"].as_str().expect("a url").to_owned();
    service.delete(&format!("/api/schedules/{}", url.rsplit('/').next().expect("an id")));
    project.good(&["apply", "--yes", "--done", "scheduled_pushes/sale"]);
    assert_eq!(service.names("/api/schedules", "schedules", "name").len(), 1);
    assert_eq!(project.changes(&[]), Vec::<String>::new());
}

#[test]
fn a_pending_push_that_is_removed_is_removed_by_hand() {
    let project = Project::documented(PUSH);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write("segments:\n  a: {criteria: {tag: a}}\n");
    assert_eq!(project.changes(&[]), ["! scheduled_pushes/sale"]);
    project.good(&["apply", "--yes", "--done", "scheduled_pushes/sale"]);
    assert_eq!(project.changes(&[]), Vec::<String>::new());
}

#[test]
fn a_push_under_a_new_key_with_an_edited_text_waits_for_a_person() {
    let project = Project::documented(PUSH);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let edited = PUSH.replace("  sale:", "  winter-sale:").replace("alert: Sale", "alert: Last chance");
    project.write(&edited);
    let ran = project.manual(&["apply", "--yes"]);
    assert_eq!(changes(&ran), ["! scheduled_pushes/sale", "! scheduled_pushes/winter-sale"]);
    let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    says(
        &said,
        &[
            "scheduled_pushes/sale is similar (same time and audience), and still exists: both would be sent",
            "lifecycle: {renamed_from: sale}",
            "pushplan apply --done scheduled_pushes/sale",
            "to send both, stop managing the old one: pushplan forget scheduled_pushes/sale",
        ],
    );
    let pushes = || service.names("/api/schedules", "schedules", "name").len();
    assert_eq!(pushes(), 1, "one message goes out");
    // A message that is clearly different does not wait.
    let other = edited.replace("2035-01-22", "2035-08-01").replace("tag: vip", "tag: gold");
    project.write(&other);
    let ran = project.manual(&["apply", "--yes"]);
    assert_eq!(changes(&ran), ["+ scheduled_pushes/winter-sale", "! scheduled_pushes/sale"]);
    assert_eq!(pushes(), 2);
}

#[test]
fn what_a_pending_push_said_before_an_edit_waits_under_another_key() {
    let project = Project::documented(PUSH);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let edited = PUSH.replace("2035-01-22", "2035-03-22").replace("alert: Sale", "alert: Last chance");
    let (_, copy) = PUSH.split_once("  sale:\n").expect("a push");
    let (copy, _) = copy.split_once("segments:").expect("segments");
    project.write(&edited.replace("segments:", &format!("  early-sale:\n{copy}segments:")));
    let ran = project.manual(&["apply", "--yes"]);
    assert_eq!(changes(&ran), ["! scheduled_pushes/early-sale", "! scheduled_pushes/sale"]);
    let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = "scheduled_pushes/sale had the same content before this change, and that version still exists";
    says(&said, &[words, "pushplan apply --done scheduled_pushes/sale"]);
    assert_eq!(service.names("/api/schedules", "schedules", "name").len(), 1, "nobody gets the same text twice");
    // Once the old one is gone, both are created.
    let url = service.get("/api/schedules")["schedules"][0]["url"].as_str().expect("a url").to_owned();
    service.delete(&format!("/api/schedules/{}", url.rsplit('/').next().expect("an id")));
    project.good(&["apply", "--yes", "--done", "scheduled_pushes/sale"]);
    project.good(&["apply", "--yes"]);
    assert_eq!(service.names("/api/schedules", "schedules", "name").len(), 2);
}

#[test]
fn a_similar_push_is_made_once_a_person_has_answered() {
    let edited = PUSH.replace("  sale:", "  winter-sale:").replace("alert: Sale", "alert: Last chance");
    for (answer, expected) in [
        (vec!["forget", "scheduled_pushes/sale", "--even-if-pending"], 2),
        (vec!["apply", "--yes", "--done", "scheduled_pushes/sale"], 1),
    ] {
        let project = Project::documented(PUSH);
        let service = project.serve();
        project.good(&["apply", "--yes"]);
        project.write(&edited);
        project.manual(&["apply", "--yes"]);
        if expected == 1 {
            let url = service.get("/api/schedules")["schedules"][0]["url"].as_str().expect("a url").to_owned();
            service.delete(&format!("/api/schedules/{}", url.rsplit('/').next().expect("an id")));
        }
        project.good(&answer);
        project.good(&["apply", "--yes"]);
        assert_eq!(service.names("/api/schedules", "schedules", "name").len(), expected, "{answer:?}");
    }
}

/// A push that cannot be changed holds the earlier version of a segment. A message that already points at the new version gets
/// no row.
#[test]
fn an_earlier_version_counts_for_those_alone_who_still_point_at_it() {
    let push = "\
scheduled_pushes:
  p:
    schedule: {scheduled_time: 2035-02-01T10:00}
    push: {audience: {segment: east}, device_types: [ios], notification: {alert: Hi}}
";
    let project = Project::documented(&format!("{USERS}{push}"));
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    let messages = || {
        let plan: Value = serde_json::from_str(&project.run(&["plan", "--format", "json"]).stdout).expect("JSON");
        let messages = plan["messages"].as_array().expect("messages").clone();
        let told = |message: &Value| format!("{} {}", message["address"], message["class"]).replace('"', "");
        messages.iter().map(told).collect::<Vec<_>>()
    };
    project.edit("{tag: base}", "{or: [{tag: base}, {tag: other}]}");
    assert_eq!(messages(), ["experiments/texts more", "experiments/texts more", "scheduled_pushes/p more"]);
    project.good(&["apply", "--yes", "--allow-manual"]);
    assert_eq!(messages(), ["scheduled_pushes/p more"]);
    // An edit of the new version concerns both.
    project.edit("{or: [{tag: base}, {tag: other}]}", "{or: [{tag: base}, {tag: other}, {tag: third}]}");
    assert_eq!(messages(), ["experiments/texts more", "experiments/texts more", "scheduled_pushes/p more"]);
    // Back to the previous state: the push is unchanged, and the experiment reaches fewer people.
    project.edit("{or: [{tag: base}, {tag: other}, {tag: third}]}", "{tag: base}");
    assert_eq!(messages(), ["experiments/texts fewer", "experiments/texts fewer"]);
}

/// The messages of a plan: address, class, number of devices before and after, and causes.
fn rows(project: &Project) -> Vec<String> {
    let plan: Value = serde_json::from_str(&project.run(&["plan", "--format", "json"]).stdout).expect("JSON");
    let row = |message: &Value| {
        let causes = message["causes"].as_array().expect("causes").iter().map(|cause| cause["address"].as_str());
        let causes: Vec<&str> = causes.flatten().collect();
        let (address, class) = (&message["address"], &message["class"]);
        format!("{address} {class} {}", causes.join(", ")).replace('"', "")
    };
    plan["messages"].as_array().expect("messages").iter().map(row).collect()
}

fn push(key: &str, audience: &str) -> String {
    format!(
        "  {key}:\n    schedule: {{scheduled_time: 2035-02-01T10:00}}\n    push: {{audience: {audience}, device_types: [ios], \
         notification: {{alert: Hi {key}}}}}\n"
    )
}

/// Its audience before the plan is that of the earlier version, also if its new audience names no segment.
#[test]
fn a_push_that_moves_away_from_a_segment_is_compared_with_the_version_that_it_still_has() {
    let first = format!(
        "segments:\n  east: {{display_name: East, criteria: {{tag: a}}}}\nscheduled_pushes:\n{}",
        push("p1", "{segment: east}")
    );
    let project = Project::documented(&first);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    let wider = "{or: [{tag: a}, {tag: b}]}";
    project.write(&first.replace("{tag: a}", wider).replace("{segment: east}", "{tag: b}"));
    assert_eq!(rows(&project), ["scheduled_pushes/p1 different scheduled_pushes/p1"]);
    project.good(&["apply", "--yes", "--allow-manual"]);
    assert_eq!(rows(&project), ["scheduled_pushes/p1 different scheduled_pushes/p1"]);
    let plan = project.run(&["plan"]).stdout;
    assert!(plan.contains("refers to  an earlier version of segments/east"), "{plan}");
}

/// An excluded push still goes to the earlier version of its segment, and to a new channel that is in it.
#[test]
fn an_excluded_push_that_refers_to_an_earlier_version_names_the_channel_that_joins() {
    let till = "\
open_channels:
  till: {opt_in: true, open: {open_platform_name: pos}, address: till, tags: [TAG]}
";
    let first = format!(
        "segments:\n  east: {{display_name: East, criteria: {{tag: a}}}}\nscheduled_pushes:\n{}",
        push("p1", "{segment: east}").replace("[ios]", "[ios, \"open::pos\"]")
    );
    let second = first.replace("{tag: a}", "{tag: b}");
    let named = |tag: &str, arguments: &[&str]| {
        let project = Project::documented(&first);
        let _service = project.serve();
        project.good(&["apply", "--yes"]);
        project.write(&second);
        project.good(&["apply", "--yes", "--allow-manual"]);
        project.write(&format!("{second}{}", till.replace("TAG", tag)));
        let plan = project.run(&[&["plan", "--only", "open_channels/till"], arguments].concat());
        let plan: Value = serde_json::from_str(&plan.stdout).unwrap_or_else(|_| panic!("{plan}"));
        let messages = plan["messages"].as_array().expect("messages");
        messages.iter().map(|it| format!("{} {}", it["address"], it["class"]).replace('"', "")).collect::<Vec<_>>()
    };
    assert_eq!(named("a", &["--format", "json"]), ["scheduled_pushes/p1 more"]);
    assert_eq!(named("b", &["--format", "json"]), [""; 0], "the current version is not that of the push");
}

#[test]
fn of_several_earlier_versions_each_push_has_its_own() {
    let first = format!(
        "segments:\n  east: {{display_name: East, criteria: {{tag: a}}}}\nscheduled_pushes:\n{}",
        push("p1", "{segment: east}")
    );
    let project = Project::documented(&first);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("{tag: a}", "{tag: b}");
    project.good(&["apply", "--yes", "--allow-manual"]);
    assert_eq!(rows(&project), ["scheduled_pushes/p1 different segments/east"]);
    project.write(&(first.replace("{tag: a}", "{tag: b}") + &push("p2", "{segment: east}")));
    project.good(&["apply", "--yes", "--allow-manual"]);
    project.edit("display_name: East", "display_name: Far east");
    project.good(&["apply", "--yes", "--allow-manual"]);
    // The first push is held by the first version, which has other people; the second by a version that has the same
    // people.
    assert_eq!(rows(&project), ["scheduled_pushes/p1 different segments/east"]);
}

#[test]
fn a_segment_that_a_push_does_not_hold_back_counts_as_it_is() {
    let first = format!(
        "segments:\n  a: {{display_name: A, criteria: {{tag: a}}}}\n  b: {{criteria: {{tag: news}}}}\nscheduled_pushes:\n{}",
        push("old", "{segment: b}")
    );
    let project = Project::documented(&first);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write(&(first.replace("tag: news", "tag: sports") + &push("p", "{or: [{segment: a}, {segment: b}]}")));
    project.good(&["apply", "--yes", "--allow-manual"]);
    project.edit("display_name: A", "display_name: Other");
    project.good(&["apply", "--yes", "--allow-manual"]);
    assert_eq!(rows(&project), ["scheduled_pushes/old different segments/b"]);
}

#[test]
fn an_exclusion_that_was_loosened_before_is_still_told() {
    let first = format!(
        "segments:\n  out: {{criteria: {{or: [{{tag: news}}, {{tag: sports}}]}}}}\nscheduled_pushes:\n{}",
        push("p", "{and: [{tag: newsletter}, {not: {segment: out}}]}")
    );
    let project = Project::documented(&first);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("{or: [{tag: news}, {tag: sports}]}", "{tag: news}");
    project.good(&["apply", "--yes", "--allow-manual"]);
    assert_eq!(rows(&project), ["scheduled_pushes/p more segments/out"]);
    let told = project.run(&["plan"]).stdout;
    says(&told, &["excluded until now", "because segments/out was changed by an earlier apply (messages.yaml:2)"]);
}
