//! Events when tags, users and devices change.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use proptest::collection::{btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::json;

use super::devices::{Carriers, Device, NO_GROUP, Tags, has};
use super::pipelines::Pipeline;
use super::*;
use crate::request::understood;

/// Creates an application that writes every event.
fn app() -> App {
    App { streams: true, ..App::new("key", false) }
}

fn now() -> Timestamp {
    "2026-11-27T09:00:00Z".parse().expect("a time")
}

fn tags(group: &str, tags: &[&str]) -> Tags {
    Tags::from([(group.to_owned(), tags.iter().map(|tag| (*tag).to_owned()).collect())])
}

fn device(own: Tags) -> Device {
    Device { device_type: "ios".into(), installed: true, opt_in: true, tags: own.into(), ..Device::default() }
}

/// Returns the events so far, each as `TYPE device body`.
fn events(app: &App) -> Vec<String> {
    let line = |event: &Event| {
        let id = event.device["ios_channel"].as_str().unwrap_or("?").to_owned();
        format!("{} {id} {}", event.r#type, event.body)
    };
    app.events.iter().map(|(_, event)| line(event)).collect()
}

#[test]
fn a_new_device_gets_its_tags_and_an_old_one_those_that_it_did_not_have() {
    let mut app = app();
    app.register("a", device(tags("", &["x", "y"])), now());
    app.register("a", device(tags("", &["y", "z"])), now());
    let expected = [
        r#"TAG_CHANGE a {"add":{"":["x"]}}"#,
        r#"TAG_CHANGE a {"add":{"":["y"]}}"#,
        r#"TAG_CHANGE a {"remove":{"":["x"]}}"#,
        r#"TAG_CHANGE a {"add":{"":["z"]}}"#,
    ];
    assert_eq!(events(&app), expected);
}

#[test]
fn registering_again_keeps_when_a_device_came_first() {
    let (mut app, later) = (app(), "2026-12-01T00:00:00Z".parse().expect("a time"));
    app.register("a", device(Tags::new()), now());
    app.register("a", device(Tags::new()), later);
    let kept = app.devices.get("a").expect("the device");
    assert_eq!((kept.created, kept.modified), (now(), later));
}

#[test]
fn opt_ins_and_opt_outs_are_counted_when_they_change() {
    let mut app = app();
    for opt_in in [false, true, true, false, true] {
        app.register("a", Device { opt_in, ..device(Tags::new()) }, now());
    }
    let (_, hour) = app.activity.hours.iter().next().expect("an hour");
    assert_eq!((hour.0["optins"]["ios"], hour.0["optouts"]["ios"]), (2, 1));
}

#[test]
fn an_uninstall_is_told_of_once() {
    let mut app = app();
    let number = app.register("a", device(Tags::new()), now());
    app.uninstall(number, now());
    app.uninstall(number, now());
    app.register("a", Device { installed: false, ..device(Tags::new()) }, now());
    assert_eq!(events(&app), ["UNINSTALL a {}"]);
    app.register("a", device(Tags::new()), now());
    app.register("a", Device { installed: false, ..device(Tags::new()) }, now());
    assert_eq!(events(&app).len(), 2, "by registering as gone as well");
}

#[test]
fn the_tags_of_a_user_are_new_only_to_devices_that_did_not_carry_them() {
    let mut app = app();
    let a = app.register("a", device(tags("crm", &["vip"])), now());
    let b = app.register("b", device(Tags::new()), now());
    for number in [a, b] {
        app.associate(number, Some("ann"), now());
    }
    app.change_user_tags("ann", now(), |own| own.extend(tags("crm", &["vip"])));
    let expected = [r#"TAG_CHANGE a {"add":{"crm":["vip"]}}"#, r#"TAG_CHANGE b {"add":{"crm":["vip"]}}"#];
    assert_eq!(events(&app), expected, "a had it from its registration");
    app.change_tags(a, now(), Tags::clear);
    assert_eq!(events(&app).len(), 2, "a still carries it through ann");
    app.change_user_tags("ann", now(), Tags::clear);
    assert_eq!(events(&app).len(), 4, "now both have lost it");
}

#[test]
fn an_association_sets_nothing_off() {
    let mut app = app();
    let pipeline = json!({
        "enabled": true,
        "immediate_trigger": { "tag_added": { "tag": "vip", "group": "crm" } },
        "outcome": { "push": { "audience": "triggered", "device_types": "all", "notification": { "alert": "hi" } } },
    });
    let meaning = understood(&pipeline).expect("a pipeline");
    let pipeline = Pipeline { pipeline, created: now(), modified: now() };
    app.pipelines.put(&mut app.journal, "p", pipeline, meaning);
    let number = app.register("a", device(Tags::new()), now());
    app.change_user_tags("ann", now(), |own| own.extend(tags("crm", &["vip"])));
    app.associate(number, Some("ann"), now());
    assert!(app.devices.with_tag("crm", "vip").is_some_and(|carriers| carriers.contains(&number)));
    assert_eq!(app.due.next_time(), None);
    app.associate(number, None, now());
    app.change_tags(number, now(), |own| own.extend(tags("crm", &["vip"])));
    assert_eq!(app.due.next_time(), Some(now()), "a tag that is added does");
}

#[test]
fn a_user_exists_from_its_first_association_or_tag() {
    let mut app = app();
    let number = app.register("a", device(Tags::new()), now());
    app.change_user_tags("nobody", now(), Tags::clear);
    app.associate(number, Some("ann"), now());
    app.change_user_tags("bob", now(), |own| own.extend(tags("crm", &["vip"])));
    app.register("b", Device { named_user: Some("cid".into()), ..device(Tags::new()) }, now());
    app.associate(number, None, now());
    let users: Vec<&str> = app.named_users.iter().map(|(id, _)| id).collect();
    assert_eq!(users, ["ann", "bob", "cid"]);
}

#[test]
fn what_is_kept_is_what_was() {
    let mut app = App::new("key", true);
    let number = app.register("a", device(tags("", &["x"])), now());
    app.associate(number, Some("ann"), now());
    app.change_user_tags("ann", now(), |own| own.extend(tags("crm", &["vip"])));
    app.legacy_tags.put(&mut app.journal, "made", now());
    let mut rows = BTreeMap::new();
    for Row { app, table, key, value } in app.journal.take() {
        rows.insert((app, table, key), value);
    }
    let mut again = App::new("key", true);
    for ((app, table, key), value) in rows {
        let value = value.expect("nothing was removed");
        again.load(&Kept { app, table: table.to_owned(), key, value }).expect("a row that was just written");
    }
    assert_eq!(again.devices.get("a"), app.devices.get("a"));
    assert_eq!(again.named_users.get("ann"), app.named_users.get("ann"));
    assert_eq!(again.legacy_tags.get("made"), Some(&now()));
    assert!(again.devices.with_tag("crm", "vip").is_some(), "the tags of a user are carried again");
}

/// Something that can change tags.
#[derive(Clone, Debug)]
enum Step {
    Device(String, BTreeSet<String>),
    User(String, BTreeSet<String>),
    Delete(String),
    Register(String, BTreeSet<String>),
    Associate(String, Option<String>),
}

fn word(words: &'static [&'static str]) -> impl Strategy<Value = String> + Clone {
    proptest::sample::select(words).prop_map(str::to_owned)
}

fn step() -> impl Strategy<Value = Step> {
    let id = || word(&["a", "b", "c"]);
    let user = || word(&["ann", "bob"]);
    let some = || btree_set(word(&["x", "y", "z"]), 0..3);
    prop_oneof![
        (id(), some()).prop_map(|(id, tags)| Step::Device(id, tags)),
        (user(), some()).prop_map(|(user, tags)| Step::User(user, tags)),
        word(&["x", "y"]).prop_map(Step::Delete),
        (id(), some()).prop_map(|(id, tags)| Step::Register(id, tags)),
        (id(), option::of(user())).prop_map(|(id, user)| Step::Associate(id, user)),
    ]
}

/// Returns the tags without a group of each device, its own and its user's.
fn carried(app: &App) -> BTreeMap<String, BTreeSet<String>> {
    let of_user = |device: &Device, tag: &str| {
        let user = device.named_user.as_ref().and_then(|user| app.named_users.get(user));
        user.is_some_and(|user| has(&user.tags, "", tag))
    };
    let tags = |device: &Device| {
        let all = ["x", "y", "z"].into_iter().filter(|tag| has(&device.tags, "", tag) || of_user(device, tag));
        all.map(str::to_owned).collect()
    };
    app.devices.iter().map(|(id, device)| (id.to_owned(), tags(device))).collect()
}

proptest! {
    #[test]
    fn what_is_told_is_what_has_changed(steps in vec(step(), 1..25)) {
        let mut app = app();
        for step in steps {
            let (before, told) = (carried(&app), app.events.len());
            let set = |own: &mut Tags, tags: BTreeSet<String>| drop(own.insert(String::new(), tags));
            let silent = matches!(step, Step::Associate(..));
            match step {
                Step::Device(id, tags) => {
                    if let Some(number) = app.devices.by_id(&id) {
                        app.change_tags(number, now(), |own| set(own, tags));
                    }
                }
                Step::User(user, tags) => app.change_user_tags(&user, now(), |own| set(own, tags)),
                Step::Delete(tag) => assert!(app.delete_tag(&tag, 0, now()).is_break()),
                Step::Register(id, tags) => {
                    let mut device = app.devices.get(&id).cloned().unwrap_or_else(|| device(Tags::new()));
                    set(&mut device.tags, tags);
                    app.register(&id, device, now());
                }
                Step::Associate(id, user) => {
                    if let Some(number) = app.devices.by_id(&id) {
                        app.associate(number, user.as_deref(), now());
                    }
                }
            }
            let mut expected = Vec::new();
            for (id, after) in carried(&app) {
                let before = before.get(&id).cloned().unwrap_or_default();
                let gone = before.difference(&after).map(|tag| format!(r#"TAG_CHANGE {id} {{"remove":{{"":["{tag}"]}}}}"#));
                expected.extend(gone);
                let new = after.difference(&before).map(|tag| format!(r#"TAG_CHANGE {id} {{"add":{{"":["{tag}"]}}}}"#));
                expected.extend(new);
            }
            if silent {
                expected.clear();
            }
            let mut told = events(&app).split_off(told);
            told.sort();
            expected.sort();
            prop_assert_eq!(told, expected);
        }
    }
}

/// Sends a push to that many iOS devices, and returns its id.
fn send_to(app: &mut App, count: usize) -> String {
    for n in 0..count {
        app.register(&format!("phone-{n}"), device(Tags::new()), now());
    }
    let push = json!({ "audience": "all", "device_types": ["ios"], "notification": { "alert": "Hi" } });
    let device_types = &understood(&push["device_types"]).expect("device types");
    let (push_type, group_id, variant) = (PushType::BroadcastPush, None, None);
    let to: Vec<u32> = app.devices.iter().filter_map(|(id, _)| app.devices.by_id(id)).collect();
    app.send(&Outgoing { push_type, group_id, variant, device_types, push: &push }, to, now())
}

#[test]
fn a_push_to_many_devices_is_sent_in_parts_and_each_device_receives_it_once() {
    let mut app = app();
    let push_id = send_to(&mut app, 2 * PART + 1);
    assert_eq!((app.receipts.len(), app.due.iter().count()), (PART, 2));
    while let Some((at, what)) = app.due.take(&mut app.journal, now()) {
        // A part that is carried out a second time, after a crash, sends nothing.
        app.fire(&what, at, at);
        app.fire(&what, at, at);
    }
    assert_eq!(app.receipts.len(), 2 * PART + 1);
    let sent = app.sent.get(&push_id).expect("a push");
    assert_eq!(sent.sends, BTreeMap::from([("ios".to_owned(), 2 * PART as u64 + 1)]));
    let sends: BTreeSet<String> = events(&app).into_iter().filter(|event| event.starts_with("SEND ")).collect();
    assert_eq!(sends.len(), 2 * PART + 1);
    let bodies = app.events.iter().filter(|(_, event)| event.r#type == "PUSH_BODY").count();
    assert_eq!(bodies, 1);
}

#[test]
fn a_large_control_group_is_recorded_in_parts_and_each_device_once() {
    let mut app = app();
    for n in 0..=2 * PART {
        app.register(&format!("phone-{n}"), device(Tags::new()), now());
    }
    let all: Vec<u32> = app.devices.iter().filter_map(|(id, _)| app.devices.by_id(id)).collect();
    app.spare("experiment", "push", &all, now());
    assert_eq!((app.spared.len(), app.due.iter().count()), (PART, 2));
    while let Some((at, what)) = app.due.take(&mut app.journal, now()) {
        app.fire(&what, at, at);
        app.fire(&what, at, at);
    }
    assert_eq!(app.spared.len(), 2 * PART + 1);
    assert_eq!(events(&app).into_iter().filter(|event| event.starts_with("CONTROL ")).count(), 2 * PART + 1);
}

#[test]
fn a_tag_of_many_devices_is_deleted_in_parts_and_exists_until_the_last() {
    let mut app = app();
    for n in 0..=2 * PART {
        app.register(&format!("phone-{n}"), device(tags(NO_GROUP, &["vip", "old"])), now());
    }
    let carriers = |app: &App| app.devices.with_tag(NO_GROUP, "vip").map_or(0, Carriers::len);
    let mut first = 0;
    for left in [PART + 1, 1] {
        first = app.delete_tag("vip", first, now()).continue_value().expect("more devices");
        assert_eq!(carriers(&app), left);
    }
    assert_eq!((app.delete_tag("vip", first, now()).break_value(), carriers(&app)), (Some(true), 0));
    assert_eq!(app.delete_tag("vip", 0, now()).break_value(), Some(false));
    assert_eq!(app.devices.with_tag(NO_GROUP, "old").map(Carriers::len), Some(2 * PART + 1));
}

#[test]
fn an_event_cancels_the_waiting_messages_of_its_device_and_of_no_other() {
    let mut app = app();
    let firing = |pipeline: &str, device: &str| Due::Firing {
        pipeline: pipeline.to_owned(),
        outcome: 0,
        device: device.to_owned(),
    };
    for (pipeline, device) in [("one", "a"), ("one", "b"), ("two", "a"), ("one", "a")] {
        app.due.put(&mut app.journal, now(), firing(pipeline, device));
    }
    app.due.cancel(&mut app.journal, "one", "a");
    let left: Vec<Due> = app.due.iter().map(|(_, what)| what.clone()).collect();
    assert_eq!(left, [firing("one", "b"), firing("two", "a")]);
    app.due.cancel(&mut app.journal, "one", "nobody");
    while app.due.take(&mut app.journal, now()).is_some() {}
    app.due.cancel(&mut app.journal, "two", "a");
    assert_eq!(app.due.iter().count(), 0);
}

#[test]
fn with_the_real_clock_a_change_carries_out_a_part_of_what_is_due_and_with_a_virtual_one_all() {
    for (at_its_time, expected) in [(false, 2 * PART), (true, 3 * PART)] {
        let settings = Settings { apps: vec![("key".to_owned(), "secret".to_owned())], ..Settings::default() };
        let mut state = State::new(&settings, Vec::new(), false).expect("a state");
        send_to(state.app_mut("key").expect("the application"), 3 * PART);
        state.fire_due(now(), at_its_time);
        assert_eq!(state.app("key").expect("the application").receipts.len(), expected);
    }
}
