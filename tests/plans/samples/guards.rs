//! Safety settings that change: a loosened one names what it lets through, and longer quiet hours name the messages in them.

use serde_json::{Value, json};

use super::scene::{EXTENDED, Scene};

const SETTINGS: &str = "\
on_drift = \"stop\"
max_deletes = 1
quiet_hours = { from = \"22:00\", to = \"07:00\" }
min_lead = \"10d\"
";

const SHOP: &str = "\
segments:
  a: {criteria: {tag: a}}
  b: {criteria: {tag: b}}
  c: {criteria: {tag: c}}
scheduled_pushes:
  early:
    schedule: {scheduled_time: 2026-12-01T07:30, time_zone: Europe/Paris}
    push: {audience: {country: FR}, device_types: [ios], notification: {alert: Good morning}}
  late:
    schedule: {scheduled_time: 2026-12-01T21:30, time_zone: Europe/Paris}
    push: {audience: {country: FR}, device_types: [ios], notification: {alert: Good evening}}
  noon:
    lifecycle: {protect: true}
    schedule: {scheduled_time: 2026-12-01T12:00, time_zone: Europe/Paris}
    push: {audience: {country: FR}, device_types: [ios], notification: {alert: Lunch}}
";

fn shop() -> Scene {
    let mut scene = Scene::new(EXTENDED, SETTINGS);
    scene.write("messages.yaml", SHOP);
    scene.apply();
    scene
}

/// The words of a plan on one line, and its JSON.
fn told(scene: &Scene) -> (String, Value) {
    let (text, document) = scene.shown(100_000);
    (text.split_whitespace().collect::<Vec<_>>().join(" "), document)
}

/// What each loosened setting lets through.
fn through(document: &Value) -> Value {
    let all = document["loosened"].as_array().expect("a list");
    all.iter().map(|one| json!([one["setting"], one["lets_through"]])).collect()
}

#[test]
fn a_broadcast_that_is_allowed_in_the_same_change_is_named_as_let_through() {
    let mut scene = shop();
    scene.edit(
        "messages.yaml",
        "12:00, time_zone: Europe/Paris}\n    push: {audience: {country: FR}",
        "12:00, time_zone: Europe/Paris}\n    push: {audience: all",
    );
    scene.edit("messages.yaml", "{protect: true}", "{protect: true, broadcast: true}");
    let (text, document) = told(&scene);
    assert!(text.contains("1 guard was loosened and lets through scheduled_pushes/noon."), "{text}");
    assert!(text.contains("from reaching every device; it now reaches every device (messages.yaml:"), "{text}");
    assert_eq!(through(&document), json!([["lifecycle.broadcast", ["scheduled_pushes/noon"]]]));
}

#[test]
fn a_broadcast_that_is_allowed_and_not_used_lets_nothing_through() {
    let mut scene = shop();
    scene.edit("messages.yaml", "{protect: true}", "{protect: true, broadcast: true}");
    scene.edit("messages.yaml", "alert: Lunch", "alert: Dinner");
    let (text, document) = told(&scene);
    assert!(text.contains("1 guard was loosened.") && !text.contains("it now reaches"), "{text}");
    assert_eq!(through(&document), json!([["lifecycle.broadcast", []]]));
}

#[test]
fn limits_that_are_loosened_name_what_they_let_through() {
    let mut scene = shop();
    scene.edit("messages.yaml", "  a: {criteria: {tag: a}}\n  b: {criteria: {tag: b}}\n", "");
    let (_, document) = told(&scene);
    assert_eq!(document["refused"][0]["guard"], "deletes", "{document}");
    scene.edit("pushplan.toml", "max_deletes = 1", "max_deletes = 9");
    let (text, document) = told(&scene);
    assert!(text.contains("that lets through segments/a and segments/b (pushplan.toml:"), "{text}");
    assert_eq!(through(&document), json!([["max_deletes", ["segments/a", "segments/b"]]]));
}

#[test]
fn a_push_that_a_shorter_lead_lets_through_is_named() {
    let mut scene = shop();
    scene.edit(
        "messages.yaml",
        "  late:\n",
        "  soon:\n    schedule: {scheduled_time: 2026-11-20T12:00, time_zone: Europe/Paris}\n    push: {audience: {country: FR}, \
         device_types: [ios], notification: {alert: Soon}}\n  late:\n",
    );
    scene.edit("pushplan.toml", "min_lead = \"10d\"", "min_lead = \"1h\"");
    let (text, document) = told(&scene);
    assert!(text.contains("1 guard was loosened and lets through scheduled_pushes/soon."), "{text}");
    assert_eq!(through(&document), json!([["min_lead", ["scheduled_pushes/soon"]]]));
}

#[test]
fn quiet_hours_that_are_shortened_name_the_messages_between() {
    let mut scene = shop();
    scene.edit("messages.yaml", "T07:30", "T06:30");
    scene.apply();
    scene.edit("pushplan.toml", "to = \"07:00\"", "to = \"06:00\"");
    let (text, document) = told(&scene);
    assert!(
        text.starts_with("No message changes. 1 guard was loosened and lets through scheduled_pushes/early."),
        "{text}"
    );
    assert_eq!(through(&document), json!([["quiet_hours", ["scheduled_pushes/early"]]]));
}

#[test]
fn quiet_hours_that_are_tightened_name_the_messages_in_them_in_every_form() {
    let mut scene = shop();
    scene.edit("pushplan.toml", "to = \"07:00\"", "to = \"07:15\"");
    let (text, document) = told(&scene);
    assert!(!text.contains("TIGHTENED"), "no message is in them: {text}");
    assert_eq!(document["tightened_quiet_hours"], Value::Null);
    scene.edit("pushplan.toml", "to = \"07:15\"", "to = \"08:00\"");
    let (text, document) = told(&scene);
    let stake = "scheduled_pushes/early is now in quiet hours (Paris 07:30 Tue): quiet_hours was tightened.";
    let row = "quiet_hours is now 22:00 to 08:00, was 22:00 to 07:00: now in quiet hours: scheduled_pushes/early";
    assert!(text.starts_with(&format!("No message changes. {stake}")), "{text}");
    assert!(text.contains(row), "{text}");
    assert_eq!(
        document["tightened_quiet_hours"]["messages"],
        json!([{ "address": "scheduled_pushes/early", "clock": "Paris 07:30 Tue" }])
    );
    for format in ["markdown", "html"] {
        let page = scene.good(&["plan", "--format", format]).stdout;
        assert!(page.contains("TIGHTENED") && page.contains("quiet_hours was tightened"), "{page}");
        assert!(!page.contains("Nothing here sends a message"), "{page}");
    }
    scene.edit("pushplan.toml", "from = \"22:00\"", "from = \"21:00\"");
    let (text, _) = told(&scene);
    assert!(
        text.starts_with("No message changes. 2 messages are now in quiet hours: quiet_hours was tightened."),
        "{text}"
    );
}
