//! Remarks stay with what they are about.

use serde_json::{Value, json};

use super::stories::after;

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

const MEMBERS: &str = "\
segments:
  s:
    criteria:
      or:
        # buyers, agreed with legal
        - tag: a      # see CRM-12
        # lapsed
        - tag: b      # see CRM-13
        - tag: c
";

/// The text after a change, and how many remarks went.
fn of_segment(text: &str, criteria: Value) -> (String, usize) {
    let (edited, settled) = after(text, "segments/s", &[("/criteria", criteria)]);
    let placed = settled.placed.values().next().expect("a resource");
    assert!(placed.unplaced.is_empty(), "{placed:?}");
    (edited, settled.remarks_gone.values().sum())
}

#[test]
fn another_word_for_the_same_members_is_one_line() {
    let text = MEMBERS.to_owned();
    let and = of_segment(&text, json!({ "AND": [{ "tag": "a" }, { "tag": "b" }, { "tag": "c" }] }));
    assert_eq!(and, (text.replace("or:", "and:"), 0));
    let upper = text.replace("or:", "OR:");
    let and = of_segment(&upper, json!({ "AND": [{ "tag": "a" }, { "tag": "b2" }, { "tag": "c" }] }));
    assert_eq!(and, (upper.replace("OR:", "AND:").replace("tag: b ", "tag: b2 "), 0));
    let inner = "segments:\n  s:\n    criteria:\n      and:\n        - tag: x\n        - or:   # either\n            - tag: a # one\n            - tag: b # two\n";
    let and = of_segment(inner, json!({ "AND": [{ "tag": "x" }, { "AND": [{ "tag": "a" }, { "tag": "b" }] }] }));
    assert_eq!(and, (inner.replace("or:", "and:"), 0));
    let other = "segments:\n  s:\n    criteria:\n      and:\n        # either\n        - or: [{tag: a}, {tag: b}]\n        - not: {tag: c}\n";
    let expected = "segments:\n  s:\n    # either\n    criteria: {tag: [a, b]}\n";
    assert_eq!(of_segment(other, json!({ "OR": [{ "tag": "a" }, { "tag": "b" }] })), (expected.to_owned(), 0));
    let tag = "segments:\n  s:\n    criteria:\n      not:\n        # which\n        tag: a # see\n";
    let segment = of_segment(tag, json!({ "NOT": { "segment": "a" } }));
    assert_eq!(segment, (tag.replace("tag:", "segment:"), 0));
}

#[test]
fn neighbours_that_change_keep_their_remarks() {
    let text = MEMBERS.to_owned();
    let edited = of_segment(&text, json!({ "OR": [{ "tag": "a2" }, { "tag": "b2" }, { "tag": "c" }] }));
    assert_eq!(edited, (text.replace("tag: a ", "tag: a2 ").replace("tag: b ", "tag: b2 "), 0));
    let countries = "segments:\n  s:\n    criteria:\n      country:\n        - DE   # Deutschland\n        - FR\n";
    let any = |codes: &[&str]| {
        let tags = codes.iter().map(|code| json!({ "tag": code, "group": "ua_locale_country" }));
        json!({ "OR": tags.collect::<Vec<_>>() })
    };
    let edited = of_segment(countries, any(&["IT", "FR"]));
    assert_eq!(edited, (countries.replace("DE ", "IT "), 0));
}

#[test]
fn the_remarks_of_what_is_written_anew_stand_above_it() {
    let text = MEMBERS.to_owned();
    let expected = "\
segments:
  s:
    # buyers, agreed with legal
    # see CRM-12
    # lapsed
    # see CRM-13
    criteria: {tag: a, group: crm}
";
    let tag = json!({ "tag": "a", "group": "crm" });
    assert_eq!(of_segment(&text, tag.clone()), (expected.to_owned(), 0));
    let above = text.replace("      or:", "      # who\n      or:   # any");
    let lines = expected.replace("    # buyers", "    # who\n    # any\n    # buyers");
    assert_eq!(of_segment(&above, tag.clone()), (lines, 0));
    let beside = text.replace("criteria:", "criteria:   # all of it");
    let lines = expected.replace("crm}", "crm}   # all of it");
    assert_eq!(of_segment(&beside, tag), (lines, 0));
    let one = "segments:\n  s:\n    criteria: {tag: a}   # see CRM-12\n";
    let expected = "segments:\n  s:\n    # see CRM-12\n    criteria:\n      and:\n        - tag: a\n        - tag: b\n";
    assert_eq!(of_segment(one, json!({ "AND": [{ "tag": "a" }, { "tag": "b" }] })), (expected.to_owned(), 0));
    let item = "segments:\n  s:\n    criteria:\n      and:\n        - tag: x\n        # both\n        - and:\n            - tag: a # one\n            - tag: b # two\n";
    let expected = "segments:\n  s:\n    criteria:\n      and:\n        - tag: x\n        # both\n        # one\n        # two\n        - tag: c\n";
    assert_eq!(of_segment(item, json!({ "AND": [{ "tag": "x" }, { "tag": "c" }] })), (expected.to_owned(), 0));
}

#[test]
fn the_remarks_of_what_is_removed_go_with_it_and_are_counted() {
    let text = "\
segments:
  s:
    criteria:
      or:
        # one
        - tag: a
        # two: never remove, legal
        - tag: b  # b
          # more of b
        # three
        - not: {tag: c}
";
    let expected =
        text.replace("        # two: never remove, legal\n        - tag: b  # b\n          # more of b\n", "");
    let edited = of_segment(text, json!({ "OR": [{ "tag": "a" }, { "NOT": { "tag": "c" } }] }));
    assert_eq!(edited, (expected, 3));
    let apart = text.replace("        - tag: b  # b", "\n        - tag: b  # b");
    let expected = apart.replace("        - tag: b  # b\n          # more of b\n", "");
    let edited = of_segment(&apart, json!({ "OR": [{ "tag": "a" }, { "NOT": { "tag": "c" } }] }));
    assert_eq!(edited, (expected, 2), "what a blank line parts is about something else");
}

#[test]
fn a_field_that_is_removed_takes_its_remarks_along() {
    let text = "\
templates:
  t:
    push:
      notification:
        alert: Hi
        # about ios
        ios: {badge: 1} # one
        # about web
        web: {title: T}
";
    let (edited, settled) = after(text, "templates/t", &[("/push/notification/ios", Value::Null)]);
    assert_eq!(edited, text.replace("        # about ios\n        ios: {badge: 1} # one\n", ""));
    assert_eq!(settled.remarks_gone.values().sum::<usize>(), 2);
}

#[test]
fn a_channel_that_goes_takes_its_remarks_along() {
    let text = "\
named_users:
  anna:
    channels:
      # phone
      - {channel_id: aaaa, device_type: ios}
      # tablet: never remove
      - {channel_id: bbbb, device_type: ios}   # b
      # watch
      - {channel_id: cccc, device_type: ios}
";
    let channel = |id: &str| json!({ "channel_id": id, "device_type": "ios" });
    let live = json!([channel("aaaa"), channel("cccc")]);
    let (edited, settled) = after(text, "named_users/anna", &[("/channels", live)]);
    let gone = "      # tablet: never remove\n      - {channel_id: bbbb, device_type: ios}   # b\n";
    assert_eq!(edited, text.replace(gone, ""), "{settled:?}");
    assert_eq!(settled.remarks_gone.values().sum::<usize>(), 2);
}
