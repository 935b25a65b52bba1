//! Lost responses. Nothing is ever created twice.

use pushplan_testing::{Project, changes, says};
use serde_json::json;

const SEGMENT: &str = "segments:\n  a: {criteria: {tag: a}}\n  b: {criteria: {and: [{segment: a}, {tag: b}]}}\n";
const TEMPLATE: &str = "templates:\n  winback: {push: {notification: {alert: Hello}}}\n";
const PUSH: &str = "\
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2035-01-22T10:00}
    push: {audience: {tag: vip}, device_types: [ios], notification: {alert: Sale}}
";

/// The faults for the response to a request that was carried out.
const LOSSES: [&str; 4] = [
    "kind = \"close\"\nwhen = \"after\"",
    "kind = \"status\"\nstatus = 503\nwhen = \"after\"",
    "kind = \"truncate\"",
    "kind = \"html\"\nwhen = \"after\"",
];

/// Each in its own project, in parallel, because they mostly wait.
fn each_loss(story: impl Fn(&str) + Sync) {
    std::thread::scope(|scope| {
        for loss in LOSSES {
            let story = &story;
            scope.spawn(move || story(loss));
        }
    });
}

fn once(loss: &str, path: &str) -> String {
    format!("[[fault]]\n{loss}\nmethod = \"POST\"\npath = \"{path}\"\ntimes = 1\n")
}

#[test]
fn a_segment_whose_answer_was_lost_is_found_again() {
    each_loss(|loss| {
        let project = Project::new(SEGMENT);
        let service = project.faulty(&once(loss, "/api/segments"));
        let ran = project.run(&["apply", "--yes"]);
        assert_eq!(ran.code, 6, "{loss}: {ran}");
        says(&ran.stdout, &["Not known: 1", "segments/a", "the next plan checks whether it was done"]);
        assert_eq!(service.segments(), ["a"]);
        let id = service.segment_id("a");
        let ran = project.good(&["apply", "--yes"]);
        says(&ran.stderr, &["An earlier run did not get an answer. Waiting "]);
        assert_eq!(service.segments(), ["a", "b"]);
        assert_eq!(service.segment_id("a"), id);
        assert_eq!(project.good(&["plan"]).stdout, "No changes. local matches your files (2 resources).\n");
    });
}

#[test]
fn a_template_whose_answer_was_lost_is_found_again() {
    each_loss(|loss| {
        let project = Project::new(TEMPLATE);
        let service = project.faulty(&once(loss, "/api/templates"));
        assert_eq!(project.run(&["apply", "--yes"]).code, 6, "{loss}");
        project.good(&["apply", "--yes"]);
        assert_eq!(service.templates(), ["winback"]);
        assert_eq!(project.good(&["plan"]).stdout, "No changes. local matches your files (1 resource).\n");
    });
}

#[test]
fn a_push_whose_answer_was_lost_is_found_again_where_it_is_listed() {
    each_loss(|loss| {
        let project = Project::new(PUSH);
        let service = project.faulty(&once(loss, "/api/schedules"));
        assert_eq!(project.run(&["apply", "--yes"]).code, 6, "{loss}");
        project.good(&["apply", "--yes"]);
        assert_eq!(service.names("/api/schedules", "schedules", "name").len(), 1);
        assert_eq!(project.good(&["plan"]).stdout, "No changes. local matches your files (1 resource).\n");
    });
}

#[test]
fn a_lost_push_that_has_gone_out_meanwhile_stays_in_doubt_whatever_time_it_is_given() {
    let project = Project::new(PUSH);
    let faults = project.folder.write("faults.toml", once(LOSSES[1], "/api/schedules"));
    let service = project.serve_with(&["--faults", faults.to_str().expect("UTF-8"), "--clock", "2035-01-01T00:00Z"]);
    assert_eq!(project.run(&["apply", "--yes"]).code, 6);
    service.post("/local/clock", &json!({"to": "2035-02-01T00:00:00Z"}));
    assert_eq!(service.names("/api/schedules", "schedules", "name"), Vec::<String>::new(), "it has gone out");
    project.edit("2035-01-22", "2036-01-22");
    service.forget();
    for _ in 0..2 {
        let ran = project.run(&["apply", "--yes"]);
        assert_eq!(ran.code, 7, "{ran}");
        says(&ran.stderr, &["scheduled_pushes/sale: whether it was created on ", "pushplan resolve"]);
    }
    assert_eq!(service.writes(), Vec::<String>::new());
    project.good(&["resolve", "scheduled_pushes/sale", "--created", "an-id"]);
    let ran = project.good(&["apply", "--yes"]);
    says(&ran.stdout, &["· scheduled_pushes/sale was due on Mon 22 Jan 2035 10:00 UTC; it will not be sent again"]);
    assert_eq!(service.writes(), Vec::<String>::new());
}

#[test]
fn a_request_that_was_lost_before_it_was_carried_out_is_made_again() {
    for loss in ["kind = \"close\"\nwhen = \"before\"", "kind = \"status\"\nstatus = 500\nwhen = \"before\""] {
        let project = Project::new(SEGMENT);
        let service = project.faulty(&once(loss, "/api/segments"));
        assert_eq!(project.run(&["apply", "--yes"]).code, 6, "{loss}");
        assert_eq!(service.segments(), Vec::<String>::new());
        project.good(&["apply", "--yes"]);
        assert_eq!(service.segments(), ["a", "b"]);
        assert_eq!(project.changes(&[]), Vec::<String>::new());
    }
}

#[test]
fn a_push_that_cannot_be_listed_is_held_until_somebody_says_what_became_of_it() {
    let project = Project::documented(PUSH);
    let service = project.faulty(&once(LOSSES[0], "/api/schedules"));
    let ran = project.run(&["apply", "--yes"]);
    assert_eq!(ran.code, 6, "{ran}");
    says(&ran.stdout, &["pushplan resolve scheduled_pushes/sale"]);
    says(
        &project.good(&["show", "scheduled_pushes/sale"]).stdout,
        &["unconfirmed", "whether it was created is unknown"],
    );
    service.forget();
    for _ in 0..2 {
        let ran = project.run(&["apply", "--yes"]);
        assert_eq!(ran.code, 7, "{ran}");
        says(
            &ran.stderr,
            &["scheduled_pushes/sale: whether it was created on ", "pushplan resolve scheduled_pushes/sale"],
        );
    }
    assert_eq!(service.writes(), Vec::<String>::new());
    // The service shows it to a client with enough rights.
    let listed = service.get("/api/schedules");
    let url = listed["schedules"][0]["url"].as_str().expect("a url").to_owned();
    let id = url.rsplit('/').next().expect("an id");
    project.good(&["resolve", "scheduled_pushes/sale", "--created", id]);
    says(&project.good(&["plan"]).stdout, &["No changes."]);
    assert_eq!(service.names("/api/schedules", "schedules", "name").len(), 1);
}

#[test]
fn a_push_that_somebody_says_is_absent_is_made() {
    let project = Project::documented(PUSH);
    let service = project.faulty(&once("kind = \"close\"\nwhen = \"before\"", "/api/schedules"));
    assert_eq!(project.run(&["apply", "--yes"]).code, 6);
    assert_eq!(project.run(&["apply", "--yes"]).code, 7);
    project.good(&["resolve", "scheduled_pushes/sale", "--absent"]);
    project.good(&["apply", "--yes"]);
    assert_eq!(service.names("/api/schedules", "schedules", "name").len(), 1);
    says(&project.good(&["plan"]).stdout, &["No changes."]);
}

#[test]
fn a_push_that_is_known_is_not_said_to_be_absent() {
    for project in [Project::documented(PUSH), Project::new(PUSH)] {
        let service = project.serve();
        project.good(&["apply", "--yes"]);
        let ran = project.run(&["resolve", "scheduled_pushes/sale", "--absent"]);
        assert_eq!(ran.code, 64, "{ran}");
        says(&ran.stderr, &["the state of scheduled_pushes/sale is known: it is managed"]);
        project.good(&["apply", "--yes"]);
        assert_eq!(service.names("/api/schedules", "schedules", "name").len(), 1);
    }
}

#[test]
fn a_lost_update_or_deletion_is_tried_again_by_itself() {
    let rules = "\
[[fault]]
kind = \"close\"
when = \"after\"
method = \"PUT\"
times = 1
[[fault]]
kind = \"status\"
status = 503
when = \"after\"
method = \"DELETE\"
times = 1
";
    let project = Project::new("segments:\n  a: {criteria: {tag: a}}\n  b: {criteria: {tag: b}}\n");
    let service = project.faulty(rules);
    project.good(&["apply", "--yes"]);
    project.write("segments:\n  a: {criteria: {tag: c}}\n");
    project.good(&["apply", "--yes"]);
    assert_eq!(service.segments(), ["a"]);
    assert_eq!(project.changes(&[]), Vec::<String>::new());
}

#[test]
fn what_a_lagging_list_does_not_show_yet_is_not_made_twice() {
    let project = Project::with(SEGMENT, "");
    let service = project.faulty("[[fault]]\nkind = \"lag\"\nms = 600\npath = \"/api/segments\"\n");
    project.good(&["apply", "--yes"]);
    let ran = project.good(&["plan"]);
    assert_eq!(changes(&ran), Vec::<String>::new());
    project.good(&["apply", "--yes"]);
    std::thread::sleep(std::time::Duration::from_millis(700));
    assert_eq!(service.segments(), ["a", "b"]);
}

#[test]
fn somebody_elses_thing_is_not_taken_for_the_lost_one() {
    let project = Project::new("segments:\n  a: {criteria: {tag: a}}\n");
    let service = project.faulty(&once("kind = \"close\"\nwhen = \"before\"", "/api/segments"));
    assert_eq!(project.run(&["apply", "--yes"]).code, 6);
    // It has the name, and other content.
    let id = service.segment("a", "theirs");
    let ran = project.run(&["apply", "--yes"]);
    assert_eq!(ran.code, 7, "{ran}");
    // The lost one may have been edited, so a person decides which one it is.
    says(&ran.stderr, &["segments/a", &id, "pushplan resolve segments/a"]);
    assert_eq!(service.segments(), ["a"]);
    project.good(&["resolve", "segments/a", "--absent"]);
    let ran = project.run(&["apply", "--yes"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["segments/a: the service already has an unmanaged", &id]);
    assert_eq!(service.segments(), ["a"]);
}

#[test]
fn a_segment_stays_while_a_push_in_doubt_may_point_at_it() {
    let push = PUSH.replace("{tag: vip}", "{segment: a}");
    let project = Project::documented(&format!("{push}segments:\n  a: {{criteria: {{tag: a}}}}\n"));
    let service = project.faulty(&once("kind = \"close\"\nwhen = \"after\"", "/api/schedules"));
    assert_eq!(project.run(&["apply", "--yes"]).code, 6);
    project.edit("tag: a", "tag: b");
    let ran = project.good(&["apply", "--yes", "--except", "scheduled_pushes/sale"]);
    says(&ran.stdout, &["is not deleted yet: scheduled_pushes/sale still"]);
    assert_eq!(service.segments(), ["a", "a"]);
}

#[test]
fn what_is_in_doubt_is_resolved_by_the_key_that_the_files_have() {
    let project = Project::documented(PUSH);
    let service = project.faulty(&once(LOSSES[0], "/api/schedules"));
    assert_eq!(project.run(&["apply", "--yes"]).code, 6);
    project.good(&["mv", "scheduled_pushes/sale", "scheduled_pushes/offer", "--in-git"]);
    let ran = project.run(&["apply", "--yes"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["pushplan resolve scheduled_pushes/offer --created ID"]);
    let ran = project.run(&["adopt", "scheduled_pushes/offer", "--id", "x"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["the state of scheduled_pushes/offer is unknown"]);
    let url = service.get("/api/schedules")["schedules"][0]["url"].as_str().expect("a url").to_owned();
    let id = url.rsplit('/').next().expect("an id");
    let ran = project.good(&["resolve", "scheduled_pushes/offer", "--created", id]);
    says(&ran.stdout, &["scheduled_pushes/offer is managed now, with the id"]);
    project.good(&["apply", "--yes"]);
    assert_eq!(project.good(&["plan"]).stdout, "No changes. local matches your files (1 resource).\n");
    assert_eq!(service.names("/api/schedules", "schedules", "name").len(), 1);
}

#[test]
fn of_several_that_may_be_the_lost_one_none_is_adopted_by_the_way() {
    let manifest = "templates:\n  t: {push: {notification: {alert: Hi}}}\n";
    let project = Project::new(manifest);
    let service = project.faulty(&once(LOSSES[0], "/api/templates"));
    assert_eq!(project.run(&["apply", "--yes"]).code, 6);
    service.post("/api/templates", &json!({"name": "t", "push": {"notification": {"alert": "Hi"}}}));
    assert_eq!(service.templates(), ["t", "t"]);
    for command in [&["adopt", "templates/t"][..], &["adopt", "--all-matching"]] {
        let ran = project.run(command);
        assert_eq!(ran.code, 7, "{ran}");
        says(&ran.stderr, &["the state of templates/t is unknown since an earlier run, and it may be one of these: "]);
        says(&ran.stderr, &["pushplan resolve templates/t --created ID"]);
        assert!(!ran.stdout.contains("ours already"), "{ran}");
    }
    assert_eq!(project.run(&["plan", "--detailed-exitcode"]).code, 7, "it is still in doubt");
    let all = service.get("/api/templates");
    let id = all["templates"][0]["id"].as_str().expect("an id");
    project.good(&["resolve", "templates/t", "--created", id]);
    assert_eq!(service.templates(), ["t", "t"]);
}

/// A push whose response was lost looks unmanaged after an edit.
#[test]
fn nothing_of_a_kind_is_pruned_while_a_creation_of_it_is_in_doubt() {
    let project = Project::with(PUSH, "prune = {scheduled_pushes = true}\n");
    let service = project.faulty(&once(LOSSES[0], "/api/schedules"));
    assert_eq!(project.run(&["apply", "--yes"]).code, 6);
    let ours = service.get("/api/schedules")["schedules"][0].clone();
    let path = ours["url"].as_str().and_then(|url| url.find("/api/").map(|at| url[at..].to_owned())).expect("a url");
    let push = |name: &str, alert: &str| {
        json!({
            "name": name,
            "schedule": {"scheduled_time": "2035-01-22T10:00:00"},
            "push": {"audience": {"tag": "vip"}, "device_types": ["ios"], "notification": {"alert": alert}},
        })
    };
    service.post("/api/schedules", &push("sale", "Another sale"));
    service.put(&path, &push("theirs", "Other"));
    project.refused(&[]);
    project.good(&["apply", "--yes", "--except", "scheduled_pushes/sale"]);
    assert_eq!(service.names("/api/schedules", "schedules", "name"), ["sale", "theirs"]);
}

#[test]
fn one_of_two_namesakes_that_were_lost_is_not_taken_for_both() {
    let two = PUSH.replace("  sale:\n", "  sale:\n    name: Sale\n");
    let second = two.split_once('\n').expect("lines").1.replace("  sale:", "  second:");
    let project = Project::new(&format!("{two}{second}"));
    let lost = |when: &str| once(&format!("kind = \"close\"\nwhen = \"{when}\""), "/api/schedules");
    let service = project.faulty(&format!("{}{}", lost("after"), lost("before")));
    assert_eq!(project.run(&["apply", "--yes"]).code, 6);
    assert_eq!(service.names("/api/schedules", "schedules", "name"), ["Sale"]);
    let ran = project.run(&["apply", "--yes"]);
    assert_eq!(ran.code, 7, "{ran}");
    let url = service.get("/api/schedules")["schedules"][0]["url"].as_str().expect("a url").to_owned();
    let id = url.rsplit('/').next().expect("an id");
    says(&ran.stderr, &["pushplan resolve scheduled_pushes/sale", "pushplan resolve scheduled_pushes/second", id]);
    project.good(&["resolve", "scheduled_pushes/second", "--created", id]);
    project.good(&["apply", "--yes"]);
    assert_eq!(service.names("/api/schedules", "schedules", "name"), ["Sale", "Sale"]);
}

#[test]
fn a_lost_push_that_somebody_gave_another_name_is_not_made_again() {
    let project = Project::new(PUSH);
    let service = project.faulty(&once("kind = \"close\"\nwhen = \"after\"", "/api/schedules"));
    assert_eq!(project.run(&["apply", "--yes"]).code, 6);
    let mut made = service.get("/api/schedules")["schedules"][0].clone();
    let url = made["url"].as_str().expect("a url").to_owned();
    let id = url.rsplit('/').next().expect("an id");
    let made = made.as_object_mut().expect("a push");
    made.retain(|key, _| ["schedule", "push"].contains(&key.as_str()));
    made.insert("name".into(), json!("Sale (Ann)"));
    service.put(&format!("/api/schedules/{id}"), &json!(made));
    let ran = project.run(&["apply", "--yes"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["scheduled_pushes/sale", id, "pushplan resolve scheduled_pushes/sale"]);
    assert_eq!(service.names("/api/schedules", "schedules", "name").len(), 1);
    project.good(&["resolve", "scheduled_pushes/sale", "--created", id]);
    project.good(&["apply", "--yes"]);
    assert_eq!(service.names("/api/schedules", "schedules", "name"), ["sale"]);
}
