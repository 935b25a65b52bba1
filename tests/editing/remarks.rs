//! Remarks stay with what they are about.

use serde_json::{Value, json};

use crate::stories::after;

const PUSH: &str = "\
scheduled_pushes:
  p:
    schedule: {scheduled_time: 2035-01-01T09:00}
    push:
      audience: all
      device_types:
        - ios # apple
        - android # google
      notification: {alert: Hi}
";

#[test]
fn the_items_of_a_set_keep_their_remarks() {
    let devices = |text: &str, now: Value| after(text, "scheduled_pushes/p", &[("/push/device_types", now)]).0;
    let lines = "        - ios # apple\n        - android # google\n";
    let expected = PUSH.replace(lines, "        - android # google\n        - web\n");
    assert_eq!(devices(PUSH, json!(["android", "web"])), expected);
    let bare = PUSH.replace(" # apple", "");
    assert_eq!(devices(&bare, json!(["android", "web"])), bare.replace("- ios", "- web"));
    let one = PUSH.replace("        - ios # apple\n", "");
    assert_eq!(devices(&one, json!(["ios"])), one.replace("- android # google", "- ios"));
}

#[test]
fn the_members_of_a_condition_keep_their_remarks() {
    let text = "\
segments:
  a:
    criteria:
      or:
        - tag: buyer   # from the shop
        # from the app
        - tag: reader
";
    let members = |now: Value| after(text, "segments/a", &[("/criteria/OR", now)]).0;
    let first = "        - tag: buyer   # from the shop\n";
    let expected = format!("{}        - tag: vip\n", text.replace(first, ""));
    assert_eq!(members(json!([{ "tag": "reader" }, { "tag": "vip" }])), expected);
    let expected = format!("{}{first}", text.replace(first, ""));
    assert_eq!(members(json!([{ "tag": "reader" }, { "tag": "buyer" }])), expected);
    let expected = text.replace("      or:\n", "      or:\n        - tag: vip\n");
    assert_eq!(members(json!([{ "tag": "vip" }, { "tag": "buyer" }, { "tag": "reader" }])), expected);
}

#[test]
fn what_is_known_by_a_key_keeps_its_remarks() {
    let text = "\
templates:
  t:
    variables:
      - key: FIRST # how we call them
        name: First name
      - key: CITY # where they live
        name: City
    push: {notification: {alert: \"Hi {{FIRST}} of {{CITY}}\"}}
";
    let first = "      - key: FIRST # how we call them\n        name: First name\n";
    let city = "      - key: CITY # where they live\n        name: City\n";
    let variables = |now: Value| after(text, "templates/t", &[("/variables", now)]).0;
    let (one, other) = (json!({ "key": "FIRST", "name": "First name" }), json!({ "key": "CITY", "name": "City" }));
    assert_eq!(variables(json!([other, one])), text.replace(&format!("{first}{city}"), &format!("{city}{first}")));
    let town = json!({ "key": "CITY", "name": "Town" });
    assert_eq!(variables(json!([town])), text.replace(first, "").replace("name: City", "name: Town"));
}

#[test]
fn a_remark_that_ends_like_the_sign_of_a_block_is_a_remark() {
    let text = "\
templates:
  t:
    push:
      notification:
        alert:   # yes or no |
          \"quoted text\"
";
    let (edited, _) = after(text, "templates/t", &[("/push/notification/alert", json!("other"))]);
    assert_eq!(edited, text.replace("quoted text", "other"));
}

#[test]
fn what_goes_from_between_brackets_takes_its_own_remarks_along() {
    let text = "\
templates:
  t:
    push:
      notification: {
        # about the alert
        alert: \"x\",  # trailing alert
        # about ios
        ios: {badge: 1},  # trailing ios
        }
";
    let (edited, settled) = after(text, "templates/t", &[("/push/notification/ios", Value::Null)]);
    let expected = text
        .replace("        # about ios\n        ios: {badge: 1},  # trailing ios\n", "")
        .replace("alert: \"x\",", "alert: \"x\"");
    assert_eq!(edited, expected, "{:?}", settled.placed);
    let other = text.replace("        }\n", "        web: {title: T}  # trailing web\n        }\n");
    let (edited, _) = after(&other, "templates/t", &[("/push/notification/ios", Value::Null)]);
    assert_eq!(edited, other.replace("        # about ios\n        ios: {badge: 1},  # trailing ios\n", ""));
    let (edited, _) = after(&other, "templates/t", &[("/push/notification/alert", Value::Null)]);
    let gone = "        # about the alert\n        alert: \"x\",  # trailing alert\n";
    assert_eq!(edited, other.replace(gone, ""));
}

#[test]
fn the_default_of_a_variable_is_told_where_it_stands() {
    let text = "segments:\n  a: {criteria: {tag: \"${var.cid:-dflt}\"}}\n";
    let (edited, settled) = after(text, "segments/a", &[("/criteria/tag", json!("x"))]);
    assert_eq!(edited, text);
    let placed = settled.placed.values().next().expect("a resource");
    let told: Vec<(usize, &str)> =
        placed.unplaced.iter().flat_map(|one| &one.places).map(|(at, why)| (at.range().start, *why)).collect();
    let at = text.find("\"${").expect("it is there");
    assert_eq!(told, [(at, "the default of a variable is filled in here")]);
}
