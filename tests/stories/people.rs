//! `plan --people`: single devices, replayed before and after.

use pushplan_testing::{Project, Service, says};
use serde_json::{Value, json};

/// A shop whose messages are all sent within 30 days of [`NOW`], a Saturday.
const SHOP: &str = "\
segments:
  blocked: {criteria: {or: [{tag: unsubscribed}, {tag: bounced}]}}
scheduled_pushes:
  news:
    schedule: {scheduled_time: 2035-01-22T10:00}
    push:
      audience: {and: [{country: GB}, {not: {segment: blocked}}]}
      device_types: [ios, android]
      notification: {alert: What is new}
  sale:
    schedule: {local_scheduled_time: 2035-01-25T09:00}
    push: {audience: {tag: buyer}, device_types: all, notification: {alert: Sale}}
  thanks:
    schedule: {scheduled_time: 2035-01-26T17:00}
    push: {audience: {tag: gold, group: loyalty}, device_types: [ios], notification: {alert: Thank you}}
  later:
    schedule: {scheduled_time: 2035-06-01T10:00}
    push: {audience: {tag: summer}, device_types: [ios], notification: {alert: Summer}}
experiments:
  subject:
    audience: {tag: tester}
    device_types: [android]
    variants:
      - {push: {notification: {alert: First}}, schedule: {scheduled_time: 2035-01-28T10:00}}
      - {push: {notification: {alert: Second}}, schedule: {scheduled_time: 2035-01-28T10:00}}
pipelines:
  welcome:
    enabled: true
    immediate_trigger: {tag_added: vip}
    outcome: {delay: 3600, push: {device_types: [android], notification: {alert: Welcome}}}
tag_groups:
  loyalty: {tags: [silver, gold], members: {named_users: {ann: [silver]}}}
";
const NOW: &str = "2035-01-20T06:00Z";

/// The shop on a service, with everything applied.
fn shop() -> (Project, Service) {
    let project = Project::new(SHOP);
    let service = project.serve_with(&["--clock", NOW]);
    project.good(&["apply", "--yes", "--allow-sends"]);
    (project, service)
}

/// The devices of a message, by the effect of the plan on them.
fn devices(project: &Project, arguments: &[&str], address: &str) -> Value {
    let ran = project.run(&[&["plan", "--people", "--format", "json"], arguments].concat());
    let plan: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran}"));
    let messages = plan["messages"].as_array().expect("messages");
    let own = messages.iter().find(|message| message["address"] == address).unwrap_or_else(|| panic!("{plan:#}"));
    let mut found = json!({});
    for device in own["people"]["devices"].as_array().unwrap_or_else(|| panic!("{own:#}")) {
        found[device["part"].as_str().expect("a part")] = device.clone();
    }
    found
}

/// The messages of one side of a device: local time and text.
fn received(device: &Value, side: &str) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let all = device[side].as_array().unwrap_or_else(|| panic!("{device:#}"));
    all.iter().map(|one| (text(&one["local_time"]), text(&one["alert"]))).collect()
}

fn texts(device: &Value, side: &str) -> Vec<String> {
    received(device, side).into_iter().map(|(_, text)| text).collect()
}

fn one(at: &str, alert: &str) -> Vec<(String, String)> {
    vec![(at.to_owned(), alert.to_owned())]
}

#[test]
fn an_exclusion_that_shrinks_lets_a_device_join_and_another_stay_excluded() {
    let (project, _service) = shop();
    project.edit("{or: [{tag: unsubscribed}, {tag: bounced}]}", "{tag: unsubscribed}");
    let found = devices(&project, &[], "scheduled_pushes/news");
    assert_eq!(found["joins"]["words"], "an Android device with the tag bounced");
    assert_eq!((&found["joins"]["device_type"], &found["joins"]["zone"]), (&json!("android"), &json!("Europe/London")));
    assert_eq!(received(&found["joins"], "before"), []);
    assert_eq!(received(&found["joins"], "after"), one("2035-01-22T10:00:00", "What is new"));
    assert_eq!(found["joins"]["after"][0]["from"], "scheduled_pushes/news");
    assert_eq!(found["excluded"]["words"], "an Android device with the tag unsubscribed");
    assert_eq!(received(&found["excluded"], "before"), []);
    assert_eq!(received(&found["excluded"], "after"), []);
    assert_eq!(found["leaves"], Value::Null);
    let text = project.run(&["plan", "--people"]).stdout;
    says(
        &text,
        &[
            "\nPeople\n",
            "  scheduled_pushes/news\n",
            "    joins               an Android device with the tag bounced (Europe/London)\n",
            "      before            nothing until 19 Feb\n",
            "      after             Mon 22 Jan 10:00  \"What is new\"  scheduled_pushes/news\n",
            "    excluded            an Android device with the tag unsubscribed (Europe/London)\n",
            "      before and after  nothing until 19 Feb\n",
        ],
    );
}

#[test]
fn a_device_leaves_and_no_flag_means_no_people() {
    let (project, service) = shop();
    project.edit("audience: {tag: buyer}", "audience: {and: [{tag: buyer}, {not: {country: DE}}]}");
    service.forget();
    let plain = project.run(&["plan", "--format", "json"]);
    assert!(!plain.stdout.contains("\"people\""), "{plain}");
    assert!(!project.run(&["plan"]).stdout.contains("People"));
    // The time is the device's local time: it is sent at nine o'clock there.
    let found = devices(&project, &[], "scheduled_pushes/sale");
    assert_eq!(found["leaves"]["zone"], "Europe/Berlin");
    assert_eq!(received(&found["leaves"], "before"), one("2035-01-25T09:00:00", "Sale"));
    assert_eq!(found["leaves"]["before"][0]["at"], "2035-01-25T08:00:00Z");
    assert_eq!(received(&found["leaves"], "after"), []);
    // The replay uses a separate service.
    assert_eq!(service.writes(), Vec::<String>::new());
}

#[test]
fn a_device_gets_one_variant_of_an_experiment() {
    let (project, _service) = shop();
    project.edit("audience: {tag: tester}", "audience: {or: [{tag: tester}, {tag: staff}]}");
    let found = devices(&project, &[], "experiments/subject");
    assert_eq!(found["joins"]["device_type"], "android");
    assert_eq!(received(&found["joins"], "before"), []);
    let after = received(&found["joins"], "after");
    assert_eq!(after.len(), 1, "{after:?}");
    assert!(["First", "Second"].contains(&after[0].1.as_str()), "{after:?}");
    // Another plan shows the same variant.
    assert_eq!(devices(&project, &[], "experiments/subject"), found);
}

#[test]
fn a_pipeline_messages_the_device_that_gets_its_tag() {
    let (project, _service) = shop();
    project.edit("immediate_trigger: {tag_added: vip}", "immediate_trigger: {tag_added: star}");
    let found = devices(&project, &[], "pipelines/welcome");
    assert_eq!(found["joins"]["words"], "a device that gets the tag star");
    assert_eq!(received(&found["joins"], "before"), []);
    assert_eq!(texts(&found["joins"], "after"), ["Welcome"]);
    assert_eq!(found["leaves"]["words"], "a device that gets the tag vip");
    assert_eq!(texts(&found["leaves"], "before"), ["Welcome"]);
    assert_eq!(received(&found["leaves"], "after"), []);
}

#[test]
fn a_named_user_who_gets_a_tag_has_a_device_that_joins() {
    let (project, service) = shop();
    for id in ["phone", "tablet"] {
        service.put(&format!("/local/devices/{id}"), &json!({ "device_type": "ios", "named_user": "ann" }));
    }
    project.edit("ann: [silver]", "ann: [silver, gold]");
    let found = devices(&project, &[], "scheduled_pushes/thanks");
    assert_eq!(found["joins"]["words"], "an iOS device of the named user ann without loyalty = gold");
    assert_eq!(received(&found["joins"], "before"), []);
    assert_eq!(received(&found["joins"], "after").len(), 1, "{found:#}");
    // A new one reaches all devices of a user.
    project.edit("audience: {tag: summer}", "audience: {named_user: ann}");
    project.edit("2035-06-01T10:00", "2035-02-01T10:00");
    let found = devices(&project, &[], "scheduled_pushes/later");
    assert_eq!(found["joins"]["words"], "an iOS device of the named user ann without the tag summer");
    assert_eq!(received(&found["joins"], "after").len(), 2, "{found:#}");
}

/// A device keeps a tag that it has itself when its named user loses this tag.
#[test]
fn a_device_joins_if_its_user_gets_one_tag_and_it_has_the_one_that_the_user_loses() {
    let (project, _service) = shop();
    let both = "audience: {and: [{tag: gold, group: loyalty}, {tag: silver, group: loyalty}]}";
    project.edit("audience: {tag: gold, group: loyalty}", both);
    project.good(&["apply", "--yes"]);
    project.edit("ann: [silver]", "ann: [gold]");
    let found = devices(&project, &[], "scheduled_pushes/thanks");
    let (joins, leaves) = (&found["joins"], &found["leaves"]);
    assert_eq!(
        joins["words"],
        "an iOS device of the named user ann with loyalty = silver itself and without loyalty = gold"
    );
    assert_eq!((received(joins, "before").len(), received(joins, "after").len()), (0, 1), "{found:#}");
    assert_eq!(
        leaves["words"],
        "an iOS device of the named user ann with loyalty = gold and without loyalty = silver itself"
    );
    assert_eq!((received(leaves, "before").len(), received(leaves, "after").len()), (1, 0), "{found:#}");
    let plan = project.good(&["plan"]).stdout;
    assert!(plan.contains("tag_groups/loyalty changes the tags of named user ann"), "{plan}");
}

#[test]
fn a_message_after_the_replayed_time_is_not_shown() {
    let (project, _service) = shop();
    project.edit("audience: {tag: summer}", "audience: {or: [{tag: summer}, {tag: sun}]}");
    let found = devices(&project, &[], "scheduled_pushes/later");
    assert_eq!(received(&found["joins"], "after"), []);
}

#[test]
fn people_are_replayed_offline_too() {
    let (project, _service) = shop();
    project.edit("audience: {tag: buyer}", "audience: {or: [{tag: buyer}, {tag: lapsed}]}");
    let found = devices(&project, &["--offline"], "scheduled_pushes/sale");
    assert_eq!(found["joins"]["words"], "a device with the tag lapsed and without the tag buyer");
}

#[test]
fn every_form_shows_the_devices() {
    let (project, _service) = shop();
    project.edit("audience: {tag: buyer}", "audience: {or: [{tag: buyer}, {tag: lapsed}]}");
    let markdown = project.run(&["plan", "--people", "--format", "markdown"]).stdout;
    says(
        &markdown,
        &[
            "<details>\n<summary>People: 2 devices before and after</summary>",
            "- **joins** a device with the tag lapsed",
            "  - before: nothing until",
            "  - after: Thu 25 Jan 09:00 &#34;Sale&#34; `scheduled_pushes/sale`",
        ],
    );
    let html = project.run(&["plan", "--format", "html"]).stdout;
    says(&html, &["<section id=\"people\">", "Thu 25 Jan 09:00", "a device with the tag lapsed"]);
    let saved = project.run(&["plan", "--people", "--out", "plan.saved"]);
    says(&saved.stdout, &["\nPeople\n"]);
}

#[test]
fn an_earlier_version_of_a_segment_is_replayed_beside_the_new_one() {
    let push = |key: &str, at: &str| {
        format!(
            "  {key}:\n    schedule: {{scheduled_time: {at}}}\n    push: {{audience: {{segment: near}}, device_types: [ios], \
             notification: {{alert: {key}}}}}\n"
        )
    };
    let segment = "segments:\n  near: {criteria: {country: US}}\nscheduled_pushes:\n";
    let project = Project::with(&format!("{segment}{}", push("old", "2035-01-25T09:00")), "api = \"documented\"\n");
    let _service = project.serve_with(&["--clock", NOW]);
    project.good(&["apply", "--yes"]);
    let wider = segment.replace("{country: US}", "{or: [{country: US}, {country: GB}]}");
    project.write(&format!("{wider}{}{}", push("old", "2035-01-25T09:00"), push("new", "2035-01-26T09:00")));
    project.good(&["apply", "--yes", "--allow-manual"]);
    let joins = &devices(&project, &[], "scheduled_pushes/old")["joins"];
    assert_eq!(
        (texts(joins, "before"), texts(joins, "after")),
        (vec!["new".to_owned()], vec!["old".into(), "new".into()])
    );
}
