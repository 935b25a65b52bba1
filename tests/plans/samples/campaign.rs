//! The days before a big sale: every kind of change in one plan.

use reqwest::Method;
use serde_json::json;

use super::scene::{DOCUMENTED, Scene};

const QUIET: &str = "quiet_hours = { from = \"21:00\", to = \"08:00\" }\n";

const TAGS: &str = "\
tag_groups:
  lifecycle:
    tags: [new, buyer, lapsed]
  loyalty:
    tags: [silver, gold, vip]
    members:
      named_users:
        u-1001: [gold]
        u-1002: [silver]
        u-1003: [silver]
";
const SEGMENTS: &str = "\
segments:
  lapsed-buyers:
    display_name: Lapsed buyers
    criteria:
      and:
        - {tag: buyer, group: lifecycle}
        - country: [US, CA]
        - {tag: lapsed, group: lifecycle}
";
const PIPELINES: &str = "\
pipelines:
  vip-welcome:
    enabled: true
    immediate_trigger: {tag_added: {tag: vip, group: loyalty}}
    outcome:
      push: {audience: triggered, device_types: [ios, android], notification: {alert: Welcome among our best}}
  remind-later:
    enabled: true
    immediate_trigger: {tag_added: remind-me}
    outcome:
      delay: 1h
      push: {audience: triggered, device_types: [ios, android], notification: {alert: Still interested?}}
";
const TEMPLATES: &str = "\
templates:
  order-shipped:
    variables: [{key: ORDER, name: Order number, default_value: \"\"}]
    push: {notification: {alert: \"Your order {{ORDER}} is on its way.\"}}
";
const OLD: &str = "\
templates:
  old-welcome:
    name: Old welcome
    push: {notification: {alert: Welcome to the shop}}
";
const CAMPAIGN: &str = "\
scheduled_pushes:
  halloween:
    schedule: {scheduled_time: 2026-10-31T13:00}
    push: {audience: {tag: buyer, group: lifecycle}, device_types: [ios], notification: {alert: Boo}}
  black-friday:
    schedule: {scheduled_time: 2026-11-27T06:00, time_zone: America/New_York}
    push:
      audience: {segment: lapsed-buyers}
      device_types: [ios, android]
      notification: {alert: \"Black Friday starts now: 20% off everything\"}
templates:
  winback:
    variables: [{key: FIRST_NAME, name: First name, default_value: there}]
    push:
      notification: {alert: \"Hi {{FIRST_NAME}}, we miss you. Come back and save 10% this week.\"}
experiments:
  bf-text-test:
    audience: {segment: lapsed-buyers}
    device_types: [ios, android]
    variants:
      - push: {notification: {alert: Come back}}
        schedule: {scheduled_time: 2026-11-20T10:00, time_zone: America/New_York}
      - push: {notification: {alert: We miss you}}
        schedule: {scheduled_time: 2026-11-20T10:00, time_zone: America/New_York}
";

/// A shop on the Monday before the week of the sale, with a plan before it.
fn shop() -> Scene {
    let mut scene = Scene::starting(DOCUMENTED, QUIET, "2026-10-31T12:00Z", None);
    let all = [("messages/tags", TAGS), ("messages/segments", SEGMENTS), ("messages/pipelines", PIPELINES)];
    let more = [("messages/templates", TEMPLATES), ("messages/old", OLD), ("campaigns/black-friday", CAMPAIGN)];
    for (name, text) in all.iter().chain(&more) {
        scene.write(&format!("{name}.yaml"), text);
    }
    scene.device("04cc8283-ae38-4177-b206-6f92cf1992cb", json!({"device_type": "ios"}));
    scene.apply();
    // The pumpkins are sent, and two weeks later someone uses an old template.
    scene.later("13d");
    let id = scene.id("/api/templates", "name", "Old welcome");
    let merge = json!({"template_id": id, "substitutions": {}});
    scene.post("/api/templates/push", json!({"device_types": ["ios"], "audience": "all", "merge_data": merge}));
    scene.later("69h");
    // Someone is in a festive mood.
    let id = scene.id("/api/templates", "name", "order-shipped");
    let festive = json!({"push": {"notification": {"alert": "Your order {{ORDER}} is on its way 🎉"}}});
    scene.ask(Method::POST, &format!("/api/templates/{id}"), Some(festive));
    scene.edit("messages/tags.yaml", "u-1001: [gold]", "u-1001: [gold, vip]");
    scene.edit("messages/tags.yaml", "        u-1002: [silver]\n", "");
    scene.edit("messages/segments.yaml", "[US, CA]", "[US, CA, GB]");
    scene.edit("messages/pipelines.yaml", "delay: 1h", "delay: 1d");
    scene.remove("messages/old.yaml");
    let campaign = "campaigns/black-friday.yaml";
    scene.edit(campaign, "T06:00", "T09:00");
    scene.edit(campaign, "and save 10% this week.", "this week and take 20% off everything until Sunday.");
    scene
}

#[test]
fn the_campaign_is_shown_as_expected() {
    shop().golden_in_all_forms("campaign");
}
