//! Single edits, to the letter.

use std::collections::BTreeMap;

use pushplan::address::Address;
use pushplan::manifest::edit::{Editor, Settled};
use serde_json::{Value, json};

use super::{edited, read, spec};

/// What becomes of a manifest where the service has something else at a place; null: nothing.
pub fn after(text: &str, address: &str, changes: &[(&str, Value)]) -> (String, Settled) {
    let address = Address::try_from(address.to_owned()).expect("an address");
    let texts = BTreeMap::from([("all.yaml".to_owned(), text.to_owned())]);
    let mut live = spec(&read(&texts), &address);
    for (path, value) in changes {
        let (owner, key) = path.rsplit_once('/').expect("a path");
        let owner = live.pointer_mut(owner).expect("an owner");
        match (owner, value) {
            (Value::Object(map), Value::Null) => drop(map.remove(key)),
            (Value::Object(map), value) => drop(map.insert(key.to_owned(), value.clone())),
            (Value::Array(items), value) => items[key.parse::<usize>().expect("a number")] = value.clone(),
            _ => panic!("{path} leads nowhere"),
        }
    }
    let (_, settled) = edited(&texts, &address, &live);
    (settled.texts.get("all.yaml").cloned().unwrap_or_else(|| text.to_owned()), settled)
}

const CAMPAIGN: &str = "\
# Everything about the sale.
segments:
  buyers:   # those who pay
    criteria:
      and:
        - {tag: buyer, group: lifecycle}   # set by the shop
        # The rest of the world comes later.
        - country: [US, CA]
        - not: {tag: lapsed, group: lifecycle}

scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2035-11-27T09:00, time_zone: America/New_York}

    push:
      audience: {segment: buyers}
      device_types: [ios, android]
      notification:
        alert: 'Only today: ${var.sale} off'  # the hook
        web:
          title: Sale   # short
      message:
        title: \"Sale\"
        body: |
          <h1>Sale</h1>

          <p>Come in.</p>

        # the end
";

#[test]
fn only_what_differs_changes() {
    for (address, changes, old, new) in [
        ("segments/buyers", vec![("/criteria/AND/0/tag", json!("payer"))], "{tag: buyer,", "{tag: payer,"),
        (
            "segments/buyers",
            vec![("/criteria/AND/1/OR/1/tag", json!("NO"))],
            "country: [US, CA]",
            "country: [US, \"NO\"]",
        ),
        (
            "segments/buyers",
            vec![("/criteria/AND/1", json!({ "tag": "US", "group": "ua_locale_country" }))],
            "country: [US, CA]",
            "country: [US]",
        ),
        (
            "segments/buyers",
            vec![("/criteria/AND/2/NOT", json!({ "tag": "true", "group": "ua_opt_in" }))],
            "not: {tag: lapsed, group: lifecycle}",
            "not: {opt_in: true}",
        ),
        (
            "segments/buyers",
            vec![("/display_name", json!("Buyers"))],
            "    criteria:\n      and",
            "    display_name: Buyers\n    criteria:\n      and",
        ),
        (
            "scheduled_pushes/sale",
            vec![("/schedule", json!([{ "scheduled_time": "2035-11-28T1530" }]))],
            "2035-11-27T09:00,",
            "2035-11-28T10:30,",
        ),
        (
            "scheduled_pushes/sale",
            vec![("/push/device_types", json!(["ios", "android", "web"]))],
            "[ios, android]",
            "[ios, android, web]",
        ),
        ("scheduled_pushes/sale", vec![("/push/device_types", json!("all"))], "[ios, android]", "all"),
        (
            "scheduled_pushes/sale",
            vec![("/push/notification/web/title", json!("a: b"))],
            "title: Sale   #",
            "title: \"a: b\"   #",
        ),
        (
            "scheduled_pushes/sale",
            vec![("/push/notification/web", Value::Null)],
            "        web:\n          title: Sale   # short\n",
            "",
        ),
        (
            "scheduled_pushes/sale",
            vec![("/push/message/title", json!("It's \"on\""))],
            "\"Sale\"",
            "\"It's \\\"on\\\"\"",
        ),
        (
            "scheduled_pushes/sale",
            vec![("/push/message/body", json!("<h1>Last</h1>\n\n<p>Come.</p>\n"))],
            "          <h1>Sale</h1>\n\n          <p>Come in.</p>\n",
            "          <h1>Last</h1>\n\n          <p>Come.</p>\n",
        ),
        (
            "scheduled_pushes/sale",
            vec![("/push/message/body", json!("Over"))],
            "|\n          <h1>Sale</h1>\n\n          <p>Come in.</p>\n",
            "|-\n          Over\n",
        ),
        (
            "scheduled_pushes/sale",
            vec![("/push/campaigns", json!({ "categories": ["sale"] }))],
            "          <p>Come in.</p>\n",
            "          <p>Come in.</p>\n      campaigns: {categories: [sale]}\n",
        ),
    ] {
        let (text, settled) = after(CAMPAIGN, address, &changes);
        let expected = CAMPAIGN.replace(old, new);
        assert_ne!(expected, CAMPAIGN, "{old}");
        assert_eq!(text, expected, "{:?}", settled.placed);
    }
}

#[test]
fn a_member_comes_and_goes_as_one_line() {
    let live = |change: &dyn Fn(&mut Vec<Value>)| {
        let address = Address::new("segments", "buyers");
        let texts = BTreeMap::from([("all.yaml".to_owned(), CAMPAIGN.to_owned())]);
        let mut live = spec(&read(&texts), &address);
        change(live["criteria"]["AND"].as_array_mut().expect("members"));
        edited(&texts, &address, &live).1.texts["all.yaml"].clone()
    };
    let remark = "        # The rest of the world comes later.\n";
    let gone = format!("{remark}        - country: [US, CA]\n");
    assert_eq!(live(&|all| drop(all.remove(1))), CAMPAIGN.replace(&gone, ""));
    assert_eq!(
        live(&|all| all.insert(1, json!({ "tag": "vip" }))),
        CAMPAIGN.replace("# set by the shop\n", "# set by the shop\n        - tag: vip\n")
    );
    assert_eq!(
        live(&|all| all.push(json!({ "segment": "x" }))),
        CAMPAIGN.replace("lifecycle}\n\n", "lifecycle}\n        - segment: x\n\n")
    );
}

#[test]
fn a_value_from_elsewhere_is_told_with_both_places() {
    let text = "\
defaults:
  scheduled_pushes: {push: {device_types: [ios]}}
overlays:
  local:
    segments: {a: {display_name: Local}}
    templates: {gone: {description: null}}
x-shared: &hi {alert: Hi}
segments:
  a: {display_name: A, criteria: {tag: \"${var.sale}\"}}
templates:
  t: {push: {notification: {alert: Hello}}}
  gone: {description: This, push: {notification: {alert: Hello}}}
scheduled_pushes:
  p: {schedule: {scheduled_time: 2035-01-01T09:00}, push: {audience: all, notification: *hi}}
  q: {schedule: {scheduled_time: 2035-01-01T09:00}, push: {audience: all, template: t}}
";
    for (address, path, value, words) in [
        ("segments/a", "/display_name", json!("B"), vec!["used here", "the overlay for this target"]),
        ("segments/a", "/criteria/tag", json!("x"), vec!["a variable is filled in here", "its value"]),
        (
            "scheduled_pushes/p",
            "/push/device_types",
            json!(["ios", "web"]),
            vec!["used here", "the defaults of its kind"],
        ),
        (
            "scheduled_pushes/p",
            "/push/notification/alert",
            json!("Ho"),
            vec!["used here", "an anchor, whose value stands in several places"],
        ),
        (
            "scheduled_pushes/q",
            "/push/notification/alert",
            json!("Ho"),
            vec!["filled in from this template", "the template"],
        ),
        (
            "templates/gone",
            "/description",
            json!("That"),
            vec!["written in a way that cannot be edited", "the overlay for this target"],
        ),
    ] {
        let (after, settled) = after(text, address, &[(path, value)]);
        assert_eq!(after, text, "{address} {path}");
        let placed = settled.placed.values().next().expect("a resource");
        assert!(path[1..].replace('/', ".").starts_with(&placed.unplaced[0].path), "{placed:?}");
        assert!(placed.unplaced[0].path.len() > 1 && placed.unplaced[0].live.is_some(), "{placed:?}");
        let told: Vec<&str> = placed.unplaced.iter().flat_map(|one| &one.places).map(|(_, why)| *why).collect();
        assert_eq!(told, words, "{address} {path} {placed:?}");
    }
}

#[test]
fn what_else_can_be_placed_is_placed() {
    let text = "segments:\n  a:\n    display_name: A ${var.sale}\n    criteria: {tag: x} # why\n";
    let (text, settled) = after(text, "segments/a", &[("/display_name", json!("B")), ("/criteria/tag", json!("vip"))]);
    assert_eq!(text, "segments:\n  a:\n    display_name: A ${var.sale}\n    criteria: {tag: vip} # why\n");
    assert_eq!(settled.placed.values().next().expect("one").unplaced[0].path, "display_name");
    assert_eq!(settled.also.values().next().expect("another target"), &["staging"]);
}

const STANDS_IN: &str = "\
segments:
  y0:
    criteria:
      and:
        - group: a1
          tag: a0
        - {group: &it a1, x-note: [anything, 1], \"tag\": 'a0'}
        - {\"group\": *it, tag: &other \"no\"}   # why
";

/// Where two members are equal, the one that changed changes.
#[test]
fn a_member_that_another_takes_its_group_from_changes_where_it_is() {
    let (now, _) = after(STANDS_IN, "segments/y0", &[("/criteria/AND/1/tag", json!("no"))]);
    assert_eq!(now, STANDS_IN.replace("\"tag\": 'a0'", "\"tag\": 'no'"));
}

#[test]
fn what_goes_with_an_anchor_in_it_is_told_with_both_places() {
    let members = json!([{ "tag": "a0", "group": "a1" }, { "tag": "no", "group": "a1" }]);
    let (now, settled) = after(STANDS_IN, "segments/y0", &[("/criteria/AND", members)]);
    assert_eq!(now, STANDS_IN);
    let told = &settled.placed.values().next().expect("a resource").unplaced;
    let places: Vec<(&str, &str)> = told[0].places.iter().map(|(at, why)| (&STANDS_IN[at.range()], *why)).collect();
    assert_eq!(places, [("criteria", "used here"), ("a1", "an anchor, whose value stands in several places")]);
}

#[test]
fn what_is_new_stands_above_the_remarks_of_what_was_first() {
    let text = "segments:\n  a:\n    # who\n    criteria: {tag: x}\n";
    let (now, _) = after(text, "segments/a", &[("/display_name", json!("B"))]);
    assert_eq!(now, text.replace("    # who", "    display_name: B\n    # who"));
}

#[test]
fn what_is_given_up_is_told_even_where_no_field_differs() {
    let manifests = read(&BTreeMap::from([("all.yaml".to_owned(), CAMPAIGN.to_owned())]));
    let address = Address::try_from("segments/buyers".to_owned()).expect("an address");
    let live = spec(&manifests, &address);
    let told = Editor::new(&manifests, Some("local")).by_hand(&address, &live, &live, "why");
    assert_eq!((told.len(), told[0].path.as_str(), told[0].places.len()), (1, "", 1));
}
