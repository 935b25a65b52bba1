//! An offline plan equals a plan with the service, if the service has exactly what was applied.

use std::collections::BTreeSet;
use std::process::Command;

use pushplan::kinds::KINDS;
use pushplan_testing::Project;
use serde_json::{Value, json};

const PHONE: &str = "04cc8283-ae38-4177-b206-6f92cf1992cb";
const TABLET: &str = "05675f5d-48d9-45bb-81d7-2a056daf4ff9";

/// A resource of every kind; segments that name each other, and their users.
const BASE: &str = r#"
tag_groups:
  lifecycle: {}
  loyalty:
    tags: [silver, gold, vip]
    members:
      named_users:
        u-1001: [gold]
        u-1002: [silver]
segments:
  buyers:
    display_name: Buyers
    criteria: {tag: buyer, group: lifecycle}
  lapsed:
    display_name: Lapsed buyers
    criteria: {and: [{segment: buyers}, {country: [US, CA]}]}
  alone:
    display_name: Alone
    criteria: {tag: alone}
templates:
  winback:
    name: Win back
    variables: [{key: FIRST_NAME, name: First name, default_value: there}]
    push: {notification: {alert: "Hi {{FIRST_NAME}}, we miss you"}}
pipelines:
  remind-later:
    name: Remind later
    enabled: true
    immediate_trigger: {tag_added: remind-me}
    outcome:
      delay: 1h
      push: {audience: triggered, device_types: [ios, android], notification: {alert: Still interested?}}
scheduled_pushes:
  black-friday:
    name: Black Friday
    schedule: {scheduled_time: 2040-11-23T09:00, time_zone: America/New_York}
    push:
      audience: {segment: lapsed}
      device_types: [ios, android]
      notification: {alert: Black Friday starts now}
    lifecycle: {protect: true}
  thanks:
    name: Thanks
    schedule: {scheduled_time: 2040-11-24T09:00, time_zone: UTC}
    push:
      audience: {tag: buyer, group: lifecycle}
      device_types: [ios]
      notification: {alert: Thank you}
experiments:
  two-texts:
    name: Which text sells
    audience: {segment: buyers}
    device_types: [ios, android]
    variants:
      - {push: {notification: {alert: The sale is on}}, schedule: {scheduled_time: 2040-11-20T15:00}}
      - {push: {notification: {alert: 20% off today}}, schedule: {scheduled_time: 2040-11-20T15:00}}
named_users:
  qa-team:
    channels:
      - {channel_id: 04cc8283-ae38-4177-b206-6f92cf1992cb, device_type: ios}
open_channels:
  support-desk:
    address: support-desk
    opt_in: true
    tags: [staff]
    open: {open_platform_name: sms, identifiers: {number: "+15550100"}}
tags:
  remind-me:
    ios_channels: [04cc8283-ae38-4177-b206-6f92cf1992cb]
"#;

/// The edits: each replaces one text with another.
const EDITS: &[(&str, &str)] = &[
    // No edit.
    ("Lapsed buyers", "Lapsed buyers"),
    ("  lifecycle: {}\n", "  lifecycle: {}\n  club: {tags: [a], members: {named_users: {u-7: [a]}}}\n"),
    ("u-1001: [gold]", "u-1001: [gold, vip]"),
    ("        u-1002: [silver]\n", ""),
    ("display_name: Lapsed buyers", "display_name: Sleepers"),
    ("country: [US, CA]", "country: [US, GB]"),
    // All its users, and their users.
    ("{tag: buyer, group: lifecycle}\n  lapsed", "{tag: shopper, group: lifecycle}\n  lapsed"),
    ("  alone:\n    display_name: Alone\n    criteria: {tag: alone}\n", ""),
    ("  alone:\n", "  lonely:\n"),
    ("  alone:\n", "  lonely:\n    lifecycle: {renamed_from: alone}\n"),
    ("segments:\n", "segments:\n  new-ones: {criteria: {tag: new}, display_name: New ones}\n"),
    ("we miss you", "we have missed you a lot"),
    ("default_value: there", "default_value: friend"),
    ("    name: Win back\n", "    name: Win back\n    lifecycle: {ignore: [push.notification.alert]}\n"),
    ("templates:\n  winback:", "templates:\n  hello: {name: Hello, push: {notification: {alert: Hello}}}\n  winback:"),
    (
        "pipelines:\n",
        "pipelines:\n  hello:\n    name: Hello\n    enabled: true\n    immediate_trigger: {tag_added: remind}\n    outcome: \
         {push: {audience: triggered, device_types: [ios], notification: {alert: Hello}}}\n",
    ),
    (
        "scheduled_pushes:\n",
        "scheduled_pushes:\n  late: {name: Late, schedule: {scheduled_time: 2040-12-01T09:00}, push: {audience: {segment: alone}, \
         device_types: [ios], notification: {alert: Late}}}\n",
    ),
    (
        "experiments:\n",
        "experiments:\n  at-once:\n    name: At once\n    lifecycle: {allow: [EX102]}\n    audience: {tag: staff}\n    device_types: [ios]\n    variants:\n      \
         - {push: {notification: {alert: One}}}\n      - {push: {notification: {alert: Two}}}\n",
    ),
    (
        "\nnamed_users:\n",
        "\nnamed_users:\n  boss:\n    channels: [{channel_id: 05675f5d-48d9-45bb-81d7-2a056daf4ff9, device_type: android}]\n",
    ),
    (
        "open_channels:\n",
        "open_channels:\n  bell: {address: bell, opt_in: true, open: {open_platform_name: sms, identifiers: {number: \"+1\"}}}\n",
    ),
    ("\ntags:\n", "\ntags:\n  remind-them:\n    android_channels: [05675f5d-48d9-45bb-81d7-2a056daf4ff9]\n"),
    ("delay: 1h", "delay: 1d"),
    ("enabled: true", "enabled: false"),
    ("  remind-later:\n", "  remind:\n"),
    ("2040-11-23T09:00", "2040-11-23T11:30"),
    ("2040-11-23T09:00", "2020-11-23T11:30"),
    ("lifecycle: {protect: true}", "lifecycle: {protect: false}"),
    ("alert: Thank you", "alert: Many thanks"),
    ("  thanks:\n", "  many-thanks:\n    lifecycle: {renamed_from: thanks}\n"),
    ("20% off today", "20% off until midnight"),
    (
        "device_type: ios}\n",
        "device_type: ios}\n      - {channel_id: 05675f5d-48d9-45bb-81d7-2a056daf4ff9, device_type: android}\n",
    ),
    ("opt_in: true", "opt_in: false"),
    ("open_platform_name: sms", "open_platform_name: chat"),
    ("cb]\n", "cb]\n    android_channels: [05675f5d-48d9-45bb-81d7-2a056daf4ff9]\n"),
    ("  remind-me:\n", "  remind-me:\n    tag: remind\n"),
];

/// The base without all resources of a kind, and without references to them.
fn without(kind: &str) -> String {
    let mut out = String::new();
    let mut is_in = false;
    for line in BASE.lines() {
        if !line.starts_with(' ') && !line.is_empty() {
            is_in = line == format!("{kind}:");
        }
        if !is_in {
            out.push_str(line);
            out.push('\n');
        }
    }
    match kind {
        "tag_groups" => out + "tag_groups: {lifecycle: {}}\n",
        "segments" => out.replace("{segment: lapsed}", "{tag: lapsed}").replace("{segment: buyers}", "{tag: buyer}"),
        _ => out,
    }
}

/// The content of a plan, without the ids of the service, which an offline plan does not have.
fn said(project: &Project, arguments: &[&str]) -> Value {
    let ran = project.run(&[arguments, &["--format", "json"]].concat());
    let mut document: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran}"));
    let guards: Vec<Value> =
        document["refused"].as_array().expect("refused").iter().map(|it| it["guard"].clone()).collect();
    // A difference between commits is not applied, so it is not refused.
    let code = if arguments[0] == "plan" && !guards.is_empty() { 7 } else { 0 };
    assert_eq!(ran.code, code, "{arguments:?}: {ran}");
    for change in document["changes"].as_array_mut().expect("changes") {
        let fields = change.as_object_mut().expect("an object");
        // Facts that only the service has, and the numbers of steps, some of which concern versions.
        for key in ["id", "last_used", "steps"] {
            fields.remove(key);
        }
    }
    let steps = document["steps"].as_array().expect("steps").iter();
    let steps: Vec<Value> = steps
        .filter(|step| step["verb"] != "adopt")
        .map(|step| json!([step["verb"], step["address"], step["method"], step["path"]]))
        .collect();
    let said =
        json!({ "changes": document["changes"], "steps": steps, "counts": document["counts"], "guards": guards });
    without_ids(&said)
}

/// Ids of the service are 36 letters; those in the files are the author's.
fn without_ids(value: &Value) -> Value {
    match value {
        Value::String(text) => {
            let mut out = text.clone();
            let ids = (0..text.len()).filter_map(|at| text.get(at..at + 36)).filter(|id| {
                let is_id = |(at, c): (usize, char)| {
                    if matches!(at, 8 | 13 | 18 | 23) { c == '-' } else { c.is_ascii_hexdigit() }
                };
                id.char_indices().all(is_id) && !BASE.contains(id) && *id != TABLET
            });
            for id in ids {
                out = out.replace(&format!(" ({id})"), "").replace(id, "(id)");
            }
            if out == "(id)" { Value::Null } else { out.into() }
        }
        Value::Array(items) => items.iter().map(without_ids).collect(),
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), without_ids(value))).collect(),
        other => other.clone(),
    }
}

fn git(project: &Project, arguments: &[&str]) {
    let ran = Command::new("git")
        .args(["-c", "user.name=ada", "-c", "user.email=ada@example.invalid"])
        .args(arguments)
        .current_dir(project.folder.path())
        .output()
        .expect("git runs");
    assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

/// Every edit of the base, planned with the service, with the ledger and with the commit.
fn alike(level: &str) -> BTreeSet<(String, String)> {
    let project = Project::with(BASE, &format!("api = \"{level}\"\n"));
    let service = project.serve();
    for (id, sort) in [(PHONE, "ios"), (TABLET, "android")] {
        service.put(&format!("/local/devices/{id}"), &json!({ "device_type": sort }));
    }
    git(&project, &["init", "--quiet", "-b", "main"]);
    git(&project, &["add", "pushplan.toml", "messages.yaml"]);
    git(&project, &["commit", "--quiet", "-m", "base"]);
    project.good(&["apply", "--yes", "--allow-sends"]);
    let mut seen = BTreeSet::new();
    let edits = EDITS.iter().map(|(from, to)| {
        assert_eq!(BASE.matches(from).count(), 1, "{from}");
        BASE.replace(from, to)
    });
    let gone = KINDS.iter().map(|kind| without(kind.key));
    for text in edits.chain(gone) {
        project.write(&text);
        service.forget();
        let offline = [&["plan", "--offline"][..], &["plan", "--against-git", "main"], &["diff", "main"]];
        let offline = offline.map(|arguments| (arguments, said(&project, arguments)));
        assert_eq!(service.asked(), [""; 0], "nobody is asked");
        let online = said(&project, &["plan"]);
        for (arguments, offline) in offline {
            let (left, right) = (serde_json::to_string_pretty(&offline), serde_json::to_string_pretty(&online));
            let (left, right) = (left.expect("JSON"), right.expect("JSON"));
            let diff = similar::TextDiff::from_lines(&right, &left)
                .unified_diff()
                .header("the service", "offline")
                .to_string();
            assert!(left == right, "{level}: {arguments:?} says something else:\n{diff}");
        }
        for change in online["changes"].as_array().expect("changes") {
            let word = |key: &str| change[key].as_str().expect("a text").to_owned();
            let kind = word("address").split('/').next().unwrap_or_default().to_owned();
            seen.insert((kind, word("action")));
        }
    }
    seen
}

#[test]
fn offline_plans_say_the_same_as_plans_with_a_service() {
    let seen: BTreeSet<(String, String)> = alike("extended").union(&alike("documented")).cloned().collect();
    for action in ["create", "update", "replace", "delete", "by_hand", "keep"] {
        assert!(seen.iter().any(|(_, seen)| seen == action), "no edit comes to {action}: {seen:?}");
    }
    for kind in KINDS {
        for action in ["create", "delete"] {
            let wanted = (kind.key.to_owned(), action.to_owned());
            assert!(seen.contains(&wanted), "no edit comes to {wanted:?}: {seen:?}");
        }
    }
}
