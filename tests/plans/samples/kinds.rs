//! One plan for every kind and every action on it.

use pushplan::kinds::KINDS;
use pushplan::plan::Action::{self, Adopt, ByHand, Create, Delete, Forget, Keep, Past, Replace, Update};
use pushplan_testing::root;
use reqwest::Method;
use serde_json::json;

use super::scene::{DOCUMENTED, EXTENDED, Scene, golden_path};

/// An additional declaration that is unchanged.
const BESIDE: &str = "tag_groups:\n  lifecycle: {}\ntags:\n  staff: {}\n";
/// The file with the declarations of a scene.
const FILE: &str = "messages.yaml";

const PHONE: &str = "04cc8283-ae38-4177-b206-6f92cf1992cb";
const TABLET: &str = "05675f5d-48d9-45bb-81d7-2a056daf4ff9";

const TAG_GROUP: &str = "\
tag_groups:
  loyalty:
    tags: [silver, gold, vip]
    members:
      named_users:
        u-1001: [gold]
        u-1002: [silver]
";
const SEGMENT: &str = "\
segments:
  lapsed-buyers:
    display_name: Lapsed buyers
    criteria:
      and:
        - {tag: lapsed, group: lifecycle}
        - country: [US, CA]
";
const TEMPLATE: &str = "\
templates:
  winback:
    name: Win back
    variables: [{key: FIRST_NAME, name: First name, default_value: there}]
    push: {notification: {alert: \"Hi {{FIRST_NAME}}, we miss you\"}}
";
const PIPELINE: &str = "\
pipelines:
  remind-later:
    name: Remind later
    enabled: true
    immediate_trigger: {tag_added: remind-me}
    outcome:
      delay: 1h
      push: {audience: triggered, device_types: [ios, android], notification: {alert: Still interested?}}
";
const SCHEDULED_PUSH: &str = "\
scheduled_pushes:
  black-friday:
    name: Black Friday
    schedule: {scheduled_time: 2026-11-27T09:00, time_zone: America/New_York}
    push:
      audience: {and: [{tag: buyer, group: lifecycle}, {country: US}]}
      device_types: [ios, android]
      notification: {alert: Black Friday starts now}
";
const EXPERIMENT: &str = "\
experiments:
  two-texts:
    name: Which text sells
    audience: {tag: buyer, group: lifecycle}
    device_types: [ios, android]
    variants:
      - {push: {notification: {alert: The sale is on}}, schedule: {scheduled_time: 2026-11-20T15:00}}
      - {push: {notification: {alert: 20% off today}}, schedule: {scheduled_time: 2026-11-20T15:00}}
";
const NAMED_USER: &str = "\
named_users:
  qa-team:
    channels:
      - {channel_id: 04cc8283-ae38-4177-b206-6f92cf1992cb, device_type: ios}
";
const OPEN_CHANNEL: &str = "\
open_channels:
  support-desk:
    address: support-desk
    opt_in: true
    tags: [staff]
    timezone: America/New_York
    locale_country: US
    open: {open_platform_name: sms, identifiers: {number: \"+15550100\"}}
";
const TAG: &str = "\
tags:
  remind-me:
    ios_channels: [04cc8283-ae38-4177-b206-6f92cf1992cb]
";

/// The beginning of a scene, by the key of the kind.
fn sample(kind: &str) -> &'static str {
    let all = [TAG_GROUP, SEGMENT, TEMPLATE, PIPELINE, SCHEDULED_PUSH, EXPERIMENT, NAMED_USER, OPEN_CHANNEL, TAG];
    let own = |text: &&&str| text.split(':').next() == Some(kind);
    all.iter().find(own).unwrap_or_else(|| panic!("{kind} has no sample"))
}

/// The way to the action.
enum Comes {
    /// The sample is applied, and then this happens.
    Then(&'static str, fn(&mut Scene)),
    /// This happens before the sample is declared.
    First(&'static str, fn(&mut Scene)),
    /// The response to the creating request with this path is lost.
    Lost(&'static str, &'static str),
    /// The action does not occur, for this reason.
    Never(&'static str),
}
use Comes::{First, Lost, Never, Then};

const UPSERT: &str = "making it again is the same, so nobody looks for it after a lost answer";
const TIMELESS: &str = "it has no time of its own";
const IN_PLACE: &str = "every change of it is made in place, or by hand";

/// Every kind, every action, and the way to it.
const TABLE: &[(&str, Action, Comes)] = &[
    ("tag_groups", Keep, Then(EXTENDED, unprotect)),
    ("tag_groups", Create, First(EXTENDED, |_| {})),
    ("tag_groups", Update, Then(EXTENDED, |scene| scene.edit(FILE, "u-1001: [gold]", "u-1001: [gold, vip]"))),
    ("tag_groups", Replace, Never(IN_PLACE)),
    ("tag_groups", Delete, Then(EXTENDED, undeclare)),
    ("tag_groups", Adopt, Never(UPSERT)),
    (
        "tag_groups",
        Forget,
        Then(EXTENDED, |scene| {
            for (user, tag) in [("u-1001", "gold"), ("u-1002", "silver")] {
                scene.post(
                    "/api/named_users/tags",
                    json!({"audience": {"named_user_id": user}, "remove": {"loyalty": [tag]}}),
                );
            }
            undeclare(scene);
        }),
    ),
    (
        "tag_groups",
        ByHand,
        First(EXTENDED, |scene| {
            for user in ["u-1001", "u-1002"] {
                scene.post(
                    "/api/named_users/tags",
                    json!({"audience": {"named_user_id": user}, "set": {"loyalty": ["vip"]}}),
                );
            }
        }),
    ),
    ("tag_groups", Past, Never(TIMELESS)),
    ("segments", Keep, Then(EXTENDED, |scene| rename(scene, "lapsed-buyers", "sleeping-buyers"))),
    ("segments", Create, First(EXTENDED, |_| {})),
    ("segments", Update, Then(EXTENDED, |scene| scene.edit(FILE, "[US, CA]", "[US, CA, GB]"))),
    ("segments", Replace, Then(DOCUMENTED, |scene| scene.edit(FILE, "[US, CA]", "[US, GB]"))),
    ("segments", Delete, Then(EXTENDED, undeclare)),
    ("segments", Adopt, Lost(EXTENDED, "/api/segments")),
    ("segments", Forget, Then(EXTENDED, |scene| gone(scene, "/api/segments", "display_name", "Lapsed buyers"))),
    (
        "segments",
        ByHand,
        First(EXTENDED, |scene| {
            scene.post("/api/segments", json!({"display_name": "Lapsed buyers", "criteria": {"tag": "lapsed"}}));
        }),
    ),
    ("segments", Past, Never(TIMELESS)),
    ("templates", Keep, Then(EXTENDED, |scene| rename(scene, "winback", "come-back"))),
    ("templates", Create, First(EXTENDED, |_| {})),
    ("templates", Update, Then(EXTENDED, |scene| scene.edit(FILE, "we miss you", "we have missed you a lot"))),
    ("templates", Replace, Then(DOCUMENTED, |scene| scene.edit(FILE, "default_value: there", "default_value: friend"))),
    ("templates", Delete, Then(EXTENDED, undeclare)),
    ("templates", Adopt, Lost(EXTENDED, "/api/templates")),
    ("templates", Forget, Then(EXTENDED, |scene| gone(scene, "/api/templates", "name", "Win back"))),
    (
        "templates",
        ByHand,
        First(EXTENDED, |scene| {
            scene.post("/api/templates", json!({"name": "Win back", "push": {"notification": {"alert": "Come back"}}}));
        }),
    ),
    ("templates", Past, Never(TIMELESS)),
    ("pipelines", Keep, Then(EXTENDED, |scene| rename(scene, "remind-later", "remind"))),
    ("pipelines", Create, First(DOCUMENTED, |_| {})),
    ("pipelines", Update, Then(EXTENDED, |scene| scene.edit(FILE, "delay: 1h", "delay: 1d"))),
    ("pipelines", Replace, Never(IN_PLACE)),
    ("pipelines", Delete, Then(EXTENDED, undeclare)),
    ("pipelines", Adopt, Lost(DOCUMENTED, "/api/pipelines")),
    ("pipelines", Forget, Then(EXTENDED, |scene| gone(scene, "/api/pipelines", "name", "Remind later"))),
    ("pipelines", ByHand, Then(DOCUMENTED, |scene| scene.edit(FILE, "delay: 1h", "delay: 1d"))),
    ("pipelines", Past, Never("what sets it off is no time")),
    ("scheduled_pushes", Keep, Then(DOCUMENTED, |scene| rename(scene, "black-friday", "friday-sale"))),
    ("scheduled_pushes", Create, First(DOCUMENTED, |_| {})),
    ("scheduled_pushes", Update, Then(EXTENDED, |scene| scene.edit(FILE, "27T09:00", "27T11:30"))),
    ("scheduled_pushes", Replace, Never(IN_PLACE)),
    ("scheduled_pushes", Delete, Then(EXTENDED, undeclare)),
    ("scheduled_pushes", Adopt, Lost(EXTENDED, "/api/schedules")),
    (
        "scheduled_pushes",
        Forget,
        Then(DOCUMENTED, |scene| {
            scene.later("12d");
            undeclare(scene);
        }),
    ),
    ("scheduled_pushes", ByHand, Then(DOCUMENTED, |scene| scene.edit(FILE, "27T09:00", "27T11:30"))),
    ("scheduled_pushes", Past, Then(DOCUMENTED, |scene| scene.later("12d"))),
    ("experiments", Keep, Then(EXTENDED, |scene| rename(scene, "two-texts", "sale-texts"))),
    ("experiments", Create, First(DOCUMENTED, |_| {})),
    ("experiments", Update, Never("the API cannot change one: before its start it is replaced, then nothing is done")),
    ("experiments", Replace, Then(DOCUMENTED, |scene| scene.edit(FILE, "20% off today", "20% off until midnight"))),
    ("experiments", Delete, Then(DOCUMENTED, undeclare)),
    ("experiments", Adopt, Lost(EXTENDED, "/api/experiments")),
    (
        "experiments",
        Forget,
        Then(EXTENDED, |scene| {
            let id = scene.id("/api/experiments", "name", "Which text sells");
            scene.ask(Method::DELETE, &format!("/api/experiments/scheduled/{id}"), None);
            undeclare(scene);
        }),
    ),
    (
        "experiments",
        ByHand,
        Then(EXTENDED, |scene| {
            let id = scene.id("/api/experiments", "name", "Which text sells");
            scene.ask(Method::DELETE, &format!("/api/experiments/scheduled/{id}"), None);
        }),
    ),
    (
        "experiments",
        Past,
        Then(DOCUMENTED, |scene| {
            scene.later("5d");
            scene.edit(FILE, "20% off today", "20% off until midnight");
        }),
    ),
    ("named_users", Keep, Then(EXTENDED, unprotect)),
    ("named_users", Create, First(EXTENDED, |_| {})),
    (
        "named_users",
        Update,
        Then(EXTENDED, |scene| {
            let one = "device_type: ios}\n";
            let both = format!("{one}      - {{channel_id: {TABLET}, device_type: android}}\n");
            scene.edit(FILE, one, &both);
        }),
    ),
    ("named_users", Replace, Never(IN_PLACE)),
    ("named_users", Delete, Then(EXTENDED, undeclare)),
    ("named_users", Adopt, Never(UPSERT)),
    (
        "named_users",
        Forget,
        Then(EXTENDED, |scene| {
            scene.post(
                "/api/named_users/disassociate",
                json!({"channel_id": PHONE, "device_type": "ios", "named_user_id": "qa-team"}),
            );
            undeclare(scene);
        }),
    ),
    (
        "named_users",
        ByHand,
        First(EXTENDED, |scene| {
            let body = json!({"channel_id": PHONE, "device_type": "ios", "named_user_id": "qa-team"});
            scene.post("/api/named_users/associate", body);
        }),
    ),
    ("named_users", Past, Never(TIMELESS)),
    ("open_channels", Keep, Then(EXTENDED, |scene| rename(scene, "support-desk", "desk"))),
    ("open_channels", Create, First(EXTENDED, |_| {})),
    ("open_channels", Update, Then(EXTENDED, |scene| scene.edit(FILE, "opt_in: true", "opt_in: false"))),
    ("open_channels", Replace, Then(EXTENDED, |scene| scene.edit(FILE, "name: sms", "name: chat"))),
    ("open_channels", Delete, Then(EXTENDED, undeclare)),
    ("open_channels", Adopt, Never(UPSERT)),
    (
        "open_channels",
        Forget,
        Then(EXTENDED, |scene| {
            let body = json!({"address": "support-desk", "open_platform_name": "sms"});
            scene.post("/api/channels/open/uninstall", body);
            undeclare(scene);
        }),
    ),
    ("open_channels", ByHand, Never("no API finds one by its address: whoever declares it takes it over")),
    ("open_channels", Past, Never(TIMELESS)),
    ("tags", Keep, Then(EXTENDED, unprotect)),
    ("tags", Create, First(EXTENDED, |_| {})),
    (
        "tags",
        Update,
        Then(EXTENDED, |scene| {
            scene.edit(FILE, "cb]\n", &format!("cb]\n    android_channels: [{TABLET}]\n"));
        }),
    ),
    ("tags", Replace, Then(EXTENDED, |scene| scene.edit(FILE, "  remind-me:\n", "  remind-me:\n    tag: remind\n"))),
    ("tags", Delete, Then(EXTENDED, undeclare)),
    ("tags", Adopt, Never(UPSERT)),
    (
        "tags",
        Forget,
        Then(EXTENDED, |scene| {
            scene.ask(Method::DELETE, "/api/tags/remind-me", None);
            undeclare(scene);
        }),
    ),
    (
        "tags",
        ByHand,
        First(EXTENDED, |scene| {
            scene.ask(Method::PUT, "/api/tags/remind-me", None);
        }),
    ),
    ("tags", Past, Never(TIMELESS)),
];

/// It is no longer declared.
fn undeclare(scene: &mut Scene) {
    scene.remove(FILE);
}

/// It was deleted in the dashboard, and is no longer declared.
fn gone(scene: &mut Scene, path: &str, field: &str, name: &str) {
    let id = scene.id(path, field, name);
    scene.ask(Method::DELETE, &format!("{path}/{id}"), None);
    undeclare(scene);
}

/// It has another key and the same content.
fn rename(scene: &mut Scene, from: &str, to: &str) {
    let lifecycle = format!("  {to}:\n    lifecycle: {{renamed_from: {from}}}\n");
    scene.edit(FILE, &format!("  {from}:\n"), &lifecycle);
}

/// Its protection is removed from the files.
fn unprotect(scene: &mut Scene) {
    let text = scene.folder.read(FILE);
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(2, "    lifecycle: {protect: true}");
    scene.write(FILE, &lines.join("\n"));
    scene.apply();
    scene.edit(FILE, "protect: true", "protect: false");
}

/// A service with the devices that some scenes need.
fn prepared(scene: &mut Scene) {
    scene.device(PHONE, json!({"device_type": "ios"}));
    scene.device(TABLET, json!({"device_type": "android"}));
    scene.write("beside.yaml", BESIDE);
    scene.apply();
}

/// The scene of a row, with everything but its plan.
fn played(kind: &str, comes: &Comes) -> Option<Scene> {
    let mut scene = match comes {
        Then(level, _) | First(level, _) => Scene::new(level, ""),
        Lost(level, path) => Scene::losing(level, path),
        Never(_) => return None,
    };
    let sample = sample(kind);
    match comes {
        Then(_, happens) => {
            scene.write(FILE, sample);
            prepared(&mut scene);
            happens(&mut scene);
        }
        First(_, happens) => {
            prepared(&mut scene);
            happens(&mut scene);
            scene.write(FILE, sample);
        }
        Lost(..) => {
            prepared(&mut scene);
            scene.write(FILE, sample);
            scene.apply_and_lose();
        }
        Never(_) => {}
    }
    Some(scene)
}

/// The name of the file with the expected plan.
fn name(kind: &str, action: Action) -> String {
    format!("{kind}-{}", action.word().replace(' ', "-"))
}

fn of_kind(kind: &str) {
    // They mostly wait for other processes.
    std::thread::scope(|scope| {
        for (_, action, comes) in TABLE.iter().filter(|(other, ..)| *other == kind) {
            scope.spawn(move || {
                let Some(scene) = played(kind, comes) else { return };
                let text = scene.golden(&name(kind, *action));
                let head = format!("{} {kind}/", action.symbol());
                assert!(text.lines().any(|line| line.starts_with(&head)), "{head} is not in:\n{text}");
            });
        }
    });
}

macro_rules! each {
    ($($name:ident: $kind:literal,)*) => {
        $(#[test]
        fn $name() {
            of_kind($kind);
        })*

        const PLAYED: &[&str] = &[$($kind),*];
    };
}

each! {
    what_can_happen_to_tag_groups: "tag_groups",
    what_can_happen_to_segments: "segments",
    what_can_happen_to_templates: "templates",
    what_can_happen_to_pipelines: "pipelines",
    what_can_happen_to_scheduled_pushes: "scheduled_pushes",
    what_can_happen_to_experiments: "experiments",
    what_can_happen_to_named_users: "named_users",
    what_can_happen_to_open_channels: "open_channels",
    what_can_happen_to_tags: "tags",
}

#[test]
fn every_kind_and_action_has_a_plan_or_a_reason_why_not() {
    for kind in KINDS {
        assert!(PLAYED.contains(&kind.key), "{} has no test above", kind.key);
        for action in Action::ALL {
            let rows: Vec<_> = TABLE.iter().filter(|(other, its, _)| *other == kind.key && *its == action).collect();
            assert_eq!(rows.len(), 1, "{} and {}", kind.key, action.word());
            let file = root().join(golden_path(&format!("{}.txt", name(kind.key, action))));
            match &rows[0].2 {
                Never(why) => assert!(!file.exists(), "{} exists, though {why}", file.display()),
                _ => assert!(file.exists(), "{} is missing", file.display()),
            }
        }
    }
    assert_eq!(TABLE.len(), KINDS.len() * Action::ALL.len());
}
