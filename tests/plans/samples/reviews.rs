//! The beginning of plans for reviewers in twenty pull requests: the verdict and the changed messages, in every form.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::scene::{EXTENDED, Scene};

const FILE: &str = "messages.yaml";
const SETTINGS: &str = "\
quiet_hours = { from = \"21:00\", to = \"08:00\" }
max_deletes = 5
[targets.local.variables]
discount = \"10%\"
";

/// A shop with every kind of resource.
const SHOP: &str = "\
segments:
  do-not-contact: {criteria: {or: [{tag: unsubscribed}, {tag: complained}]}}
  readers: {criteria: {and: [{tag: newsletter}, {not: {segment: do-not-contact}}]}}
  lapsed-buyers: {criteria: {and: [{tag: buyer}, {tag: lapsed}, {country: [US, CA]}]}}
templates:
  hello: {push: {notification: {alert: Hello from the shop}}}
tag_groups:
  loyalty: {tags: [silver, gold], members: {named_users: {u-1001: [silver]}}}
scheduled_pushes:
  newsletter:
    schedule: {scheduled_time: 2026-12-01T10:00, time_zone: Europe/Paris}
    push:
      audience: {segment: readers}
      device_types: [ios, android]
      notification: {alert: What is new in December, actions: {open: {type: url, content: \"https://shop.example/news\"}}}
  winter-sale:
    schedule: {scheduled_time: 2026-12-05T15:00, time_zone: America/New_York}
    push: {audience: {segment: lapsed-buyers}, device_types: [ios], notification: {alert: \"Winter sale: ${var.discount} off\"}}
  advent:
    schedule: {local_scheduled_time: 2026-12-06T09:00}
    push: {audience: {tag: newsletter}, device_types: [ios], notification: {alert: The second Sunday in Advent}}
  gold-thanks:
    schedule: {scheduled_time: 2026-12-20T17:00, time_zone: Europe/Paris}
    push: {audience: {tag: gold, group: loyalty}, device_types: [ios], notification: {alert: Thank you}}
  monday-hello:
    schedule: {scheduled_time: 2026-12-07T12:00, time_zone: Europe/Paris}
    push: {audience: {tag: vip}, device_types: [ios], template: hello}
  tuesday-hello:
    schedule: {scheduled_time: 2026-12-08T12:00, time_zone: Europe/Paris}
    push: {audience: {tag: vip}, device_types: [ios], template: hello}
  friday-hello:
    schedule: {scheduled_time: 2026-12-11T12:00, time_zone: Europe/Paris}
    push: {audience: {tag: vip}, device_types: [ios], template: hello}
experiments:
  subject:
    audience: {tag: buyer}
    device_types: [ios]
    variants:
      - {push: {notification: {alert: Come back}}, schedule: {scheduled_time: 2026-12-10T16:00}}
      - {push: {notification: {alert: We miss you}}, schedule: {scheduled_time: 2026-12-10T16:00}}
pipelines:
  remind:
    enabled: true
    immediate_trigger: {tag_added: cart-left}
    outcome: {delay: 1h, push: {audience: triggered, device_types: [ios], notification: {alert: Still interested?}}}
";

/// The shop after an apply and edits in these places.
fn pull_request(edits: &[(&str, &str)]) -> Scene {
    let mut scene = Scene::new(EXTENDED, SETTINGS);
    scene.write(FILE, SHOP);
    scene.apply();
    edits.iter().for_each(|(from, to)| scene.edit(FILE, from, to));
    scene
}

/// Compares all forms with the expected ones. `stake` is the expected content of the first three lines. They name the
/// message if there is one, and count several.
fn review(name: &str, scene: &Scene, stake: &[&str]) {
    let text = scene.golden(&format!("review-{name}"));
    let first: String = text.lines().take(3).collect::<Vec<_>>().join(" ");
    let document = scene.shown(100).1;
    let messages = document["messages"].as_array().expect("messages");
    let senders: BTreeSet<&str> = messages.iter().filter_map(|message| message["address"].as_str()).collect();
    let named = senders.iter().filter(|sender| first.contains(**sender)).count();
    let number = senders.len();
    let is_told = named == number || first.contains(&format!("{number} messages "));
    assert!(is_told, "{name}: {senders:?} are neither named nor counted in {first}");
    for words in stake {
        assert!(first.contains(words), "{name}: {words:?} is not in {first}");
    }
    scene.golden_head(&format!("review-{name}"));
}

fn edited(name: &str, edits: &[(&str, &str)], stake: &[&str]) {
    review(name, &pull_request(edits), stake);
}

#[test]
fn a_copy_edit() {
    edited(
        "copy",
        &[("alert: What is new in December", "alert: What is new this month")],
        &[
            "scheduled_pushes/newsletter changes its text from \"What is new in December\" to \"What is new this month\"",
        ],
    );
}

#[test]
fn a_wider_segment() {
    edited(
        "widen",
        &[("{country: [US, CA]}", "{country: [US, CA, MX]}")],
        &[" reaches more people", "the segment lapsed-buyers now includes \"country = MX\""],
    );
}

#[test]
fn a_narrower_exclusion_list_that_is_named_through_a_segment() {
    let stake = [" reaches more people", "the exclusion list do-not-contact shrinks"];
    edited("exclusion-list", &[("{or: [{tag: unsubscribed}, {tag: complained}]}", "{tag: complained}")], &stake);
}

#[test]
fn single_devices_before_and_after() {
    let scene = pull_request(&[
        ("{or: [{tag: unsubscribed}, {tag: complained}]}", "{tag: complained}"),
        ("audience: {tag: buyer}", "audience: {and: [{tag: buyer}, {not: {country: DE}}]}"),
        ("{audience: {tag: newsletter}, device_types: [ios]", "{audience: {tag: seasons}, device_types: [ios]"),
    ]);
    review("people", &scene.with_people(), &["reaches more people"]);
}

#[test]
fn a_segment_that_narrows_a_message_that_names_it() {
    edited(
        "narrow",
        &[("{and: [{tag: newsletter}, ", "{and: [{tag: newsletter}, {tag: verified}, ")],
        &[" reaches fewer people", "the segment readers now requires \"tag verified\""],
    );
}

#[test]
fn an_and_that_becomes_an_or() {
    edited(
        "and-or",
        &[("{and: [{tag: buyer}, {tag: lapsed}, ", "{or: [{tag: buyer}, {tag: lapsed}, ")],
        &[" reaches more people", "requires any of its conditions, no longer all of them"],
    );
}

#[test]
fn a_time_that_moves_over_the_change_of_clocks() {
    let edits = [("2026-12-20T17:00, time_zone: Europe/Paris", "2027-03-28T17:00, time_zone: Europe/Paris")];
    edited("dst", &edits, &["Sun 20 Dec 2026 17:00 → Sun 28 Mar 2027", "(daylight saving)"]);
}

#[test]
fn a_time_on_each_device_that_moves() {
    let edits = [("local_scheduled_time: 2026-12-06T09:00", "local_scheduled_time: 2026-12-06T07:00")];
    edited("local-time", &edits, &[" is sent in quiet hours (07:00 in recipients' local time)"]);
}

#[test]
fn a_link_that_leads_elsewhere() {
    edited(
        "links",
        &[("https://shop.example/news", "https://shop-news.example/")],
        &["links to shop-news.example for the first time"],
    );
}

#[test]
fn another_trigger() {
    edited(
        "trigger",
        &[("tag_added: cart-left", "tag_added: cart-full")],
        &["when the tag cart-full is added", "no longer when the tag cart-left"],
    );
}

#[test]
fn a_member_of_a_tag_group() {
    edited(
        "members",
        &[("{u-1001: [silver]}", "{u-1001: [gold]}")],
        &[" reaches more people", "adds the tag gold to named user u-1001"],
    );
}

#[test]
fn a_variant_of_an_experiment() {
    edited(
        "experiment",
        &[("alert: We miss you", "alert: \"We miss you, come back\"")],
        &["to \"We miss you, come back\""],
    );
}

#[test]
fn a_rename() {
    let edits = [("  winter-sale:\n", "  sale-in-winter:\n    lifecycle: {renamed_from: winter-sale}\n")];
    edited("rename", &edits, &["No message changes", "scheduled_pushes/sale-in-winter"]);
}

#[test]
fn a_deletion_of_what_is_in_use() {
    let edits = [
        ("  lapsed-buyers: {criteria: {and: [{tag: buyer}, {tag: lapsed}, {country: [US, CA]}]}}\n", ""),
        ("audience: {segment: lapsed-buyers}", "audience: {tag: lapsed}"),
    ];
    edited("delete-in-use", &edits, &[" reaches more people, for example an iOS device"]);
}

#[test]
fn a_broadcast_by_mistake_and_on_purpose() {
    let wide = ("audience: {segment: readers}", "audience: all");
    edited("broadcast-by-mistake", &[wide], &[" reaches everyone", "Apply refuses this plan"]);
    let meant = ("  newsletter:\n", "  newsletter:\n    lifecycle: {broadcast: true}\n");
    edited(
        "broadcast-on-purpose",
        &[wide, meant],
        &[" reaches everyone", "scheduled_pushes/newsletter may now reach every device: `broadcast: true` was added"],
    );
}

#[test]
fn an_overlay_alone() {
    let overlay = "overlays: {local: {scheduled_pushes: {advent: {push: {notification: {alert: The third Sunday in Advent}}}}}}\n";
    let mut scene = pull_request(&[]);
    scene.write("overlay.yaml", overlay);
    review("overlay", &scene, &["The third Sunday in Advent", "overlays.local changes push.notification.alert"]);
}

#[test]
fn sixty_at_once() {
    let push = |number: usize| {
        format!(
            "  offer-{number}:\n    schedule: {{scheduled_time: 2026-12-{:02}T{:02}:00, time_zone: Europe/Paris}}\n    push: \
             {{audience: {{tag: offers}}, device_types: [ios], notification: {{alert: \"Offer {number}: ${{var.discount}} off\"}}}}\n",
            1 + number % 30,
            10 + number / 30
        )
    };
    let pushes: String = (0..60).map(push).collect();
    let mut scene = Scene::new(EXTENDED, SETTINGS);
    scene.write(FILE, &format!("scheduled_pushes:\n{pushes}"));
    scene.apply();
    scene.edit("pushplan.toml", "discount = \"10%\"", "discount = \"15%\"");
    review("sixty", &scene, &["60 messages change their text: var.discount changes from \"10%\" to \"15%\""]);
}

#[test]
fn a_lifted_guard() {
    let mut scene = pull_request(&[("alert: Thank you", "alert: Thanks")]);
    scene.edit("pushplan.toml", "max_deletes = 5", "max_deletes = 500");
    review("lifted-guard", &scene, &["gold-thanks changes its text", "1 guard was loosened"]);
}

#[test]
fn quiet_hours_through_a_segment() {
    edited(
        "quiet-hours",
        &[("{country: [US, CA]}", "{country: [US, CA, AU]}")],
        &["lapsed-buyers now includes \"country = AU\"", "in quiet hours", "Sydney"],
    );
}

#[test]
fn a_template_that_three_messages_use() {
    edited(
        "template",
        &[("alert: Hello from the shop", "alert: Good day from the shop")],
        &["3 messages change their text: the template hello"],
    );
}

/// JSON has a row for each message of the text, with the same class.
#[test]
fn programs_read_what_people_read() {
    let scene =
        pull_request(&[("{country: [US, CA]}", "{country: [US, CA, AU]}"), ("alert: Thank you", "alert: Thanks")]);
    let plan: Value = serde_json::from_str(&scene.good(&["plan", "--format", "json"]).stdout).expect("JSON");
    let told: Vec<Value> = plan["messages"]
        .as_array()
        .expect("messages")
        .iter()
        .map(|message| json!([message["address"], message["class"]]))
        .collect();
    assert_eq!(
        told,
        [json!(["scheduled_pushes/winter-sale", "more"]), json!(["scheduled_pushes/gold-thanks", "text"])]
    );
}
