use jiff::ToSpan;
use pushplan_model::nouns::device::DeviceTypes;
use serde_json::{Value, json};

use crate::request::understood;
use crate::state::devices::{Device, NO_GROUP};
use crate::state::{App, Due, Outgoing, Pipeline, PushType, hour_of};

const NOW: &str = "2026-11-01T09:00:00Z";

fn now() -> jiff::Timestamp {
    NOW.parse().expect("a time")
}

fn later(hours: i64) -> jiff::Timestamp {
    now() + hours.hours()
}

/// Creates an application with two devices: `phone`, which has opted in, and `quiet`, which has not.
fn app() -> App {
    let mut app = App::new("key", false);
    app.streams = true;
    for (id, device_type, opt_in) in [("phone", "ios", true), ("quiet", "android", false)] {
        let device = Device { device_type: device_type.to_owned(), installed: true, opt_in, ..Device::default() };
        app.devices.put(&mut app.journal, id, device);
    }
    app
}

fn send(app: &mut App, push: &Value, at: jiff::Timestamp) -> String {
    let device_types = &DeviceTypes::All;
    let out = Outgoing { push_type: PushType::BroadcastPush, group_id: None, variant: None, device_types, push };
    let everybody: Vec<u32> = app.devices.installed().iter().collect();
    app.send(&out, everybody, at)
}

fn count(app: &App, name: &str, platform: &str, at: jiff::Timestamp) -> u64 {
    let hour = app.activity.hours.get(&hour_of(at));
    hour.and_then(|hour| hour.0.get(name)?.get(platform).copied()).unwrap_or(0)
}

/// Returns the types of all events since the last call.
fn events(app: &mut App) -> Vec<String> {
    let offsets: Vec<String> = app.events.iter().map(|(offset, _)| offset.to_owned()).collect();
    offsets.iter().filter_map(|offset| app.events.remove(&mut app.journal, offset)).map(|event| event.r#type).collect()
}

fn number(app: &App, id: &str) -> u32 {
    app.devices.by_id(id).expect("a device")
}

fn tags(app: &App, id: &str) -> Vec<String> {
    let device = app.devices.get(id).expect("a device");
    device.tags.get(NO_GROUP).into_iter().flatten().cloned().collect()
}

#[test]
fn an_open_is_counted_with_its_time_and_its_user() {
    let mut app = app();
    let (phone, quiet) = (number(&app, "phone"), number(&app, "quiet"));
    app.opened(phone, now(), 90);
    app.opened(quiet, now(), 10);
    assert_eq!((count(&app, "opens", "ios", now()), count(&app, "opens", "android", now())), (1, 1));
    assert_eq!((count(&app, "timeinapp", "ios", now()), count(&app, "timeinapp", "android", now())), (90, 10));
    for precision in ["hourly", "daily", "monthly"] {
        assert_eq!(count(&app, &format!("optins {precision}"), "ios", now()), 1);
        assert_eq!(count(&app, &format!("optouts {precision}"), "android", now()), 1);
        assert_eq!(count(&app, &format!("optouts {precision}"), "ios", now()), 0);
    }
}

#[test]
fn a_user_counts_once_in_each_period() {
    let mut app = app();
    let phone = number(&app, "phone");
    for at in [now(), now() + 5.minutes(), later(1), later(24)] {
        app.opened(phone, at, 1);
    }
    let users = |name: &str, at| count(&app, name, "ios", at);
    assert_eq!([now(), later(1), later(24)].map(|at| users("optins hourly", at)), [1, 1, 1]);
    assert_eq!([now(), later(1), later(24)].map(|at| users("optins daily", at)), [1, 0, 1]);
    assert_eq!([now(), later(1), later(24)].map(|at| users("optins monthly", at)), [1, 0, 0]);
    assert_eq!(users("opens", now()), 2);
}

#[test]
fn a_user_who_changes_sides_counts_once_on_each() {
    let mut app = app();
    let phone = number(&app, "phone");
    for (hours, opt_in) in [(0, true), (2, false), (3, true), (4, false)] {
        app.devices.change(&mut app.journal, "phone", |device| device.opt_in = opt_in);
        app.opened(phone, later(hours), 1);
    }
    let sum = |name: &str| (0..5).map(|hours| count(&app, name, "ios", later(hours))).sum::<u64>();
    for side in ["optins", "optouts"] {
        assert_eq!(
            ["hourly", "daily", "monthly"].map(|precision| sum(&format!("{side} {precision}"))),
            [2, 1, 1],
            "{side}"
        );
    }
}

#[test]
fn the_first_open_is_one_of_its_own() {
    let mut app = app();
    let pipeline = json!({
        "enabled": true,
        "immediate_trigger": "first_open",
        "outcome": { "push": { "audience": "triggered", "device_types": "all", "notification": { "alert": "hi" } } },
    });
    let meaning = understood(&pipeline).expect("a pipeline");
    app.pipelines.put(&mut app.journal, "welcome", Pipeline { pipeline, created: now(), modified: now() }, meaning);
    let phone = number(&app, "phone");
    app.opened(phone, now(), 1);
    assert_eq!(events(&mut app), ["OPEN", "FIRST_OPEN", "CLOSE"]);
    let fired = app.due.take(&mut app.journal, now()).map(|(_, what)| what);
    let firing = Due::Firing { pipeline: "welcome".to_owned(), outcome: 0, device: "phone".to_owned() };
    assert_eq!(fired, Some(firing));
    app.opened(phone, later(1), 1);
    assert_eq!(events(&mut app), ["OPEN", "CLOSE"]);
    assert_eq!(app.due.take(&mut app.journal, later(1)), None);
    let device = app.devices.get("phone").expect("a device");
    assert_eq!((device.first_opened, device.last_opened), (Some(now()), Some(later(1))));
}

#[test]
fn an_app_that_is_gone_is_not_opened() {
    let mut app = app();
    app.devices.change(&mut app.journal, "phone", |device| device.installed = false);
    let phone = number(&app, "phone");
    app.opened(phone, now(), 1);
    assert_eq!(count(&app, "opens", "ios", now()), 0);
    assert!(events(&mut app).is_empty());
}

#[test]
fn the_first_open_within_twelve_hours_is_an_influenced_response() {
    let mut app = app();
    let phone = number(&app, "phone");
    app.opened(phone, now(), 1);
    assert_eq!(count(&app, "influenced", "ios", now()), 0, "nothing was sent yet");
    let push = json!({ "notification": { "alert": "sale" } });
    send(&mut app, &push, now());
    send(&mut app, &push, now());
    app.opened(phone, later(12), 1);
    app.opened(phone, later(12), 1);
    assert_eq!(count(&app, "influenced", "ios", later(12)), 1, "one open answers both, the next answers nothing");
    send(&mut app, &push, later(24));
    app.opened(phone, later(37), 1);
    assert_eq!(count(&app, "influenced", "ios", later(37)), 0, "that is too late");
    let quiet = number(&app, "quiet");
    app.opened(quiet, later(12), 1);
    assert_eq!(count(&app, "influenced", "android", later(12)), 0, "it got nothing");
}

#[test]
fn a_message_alone_influences_nobody() {
    let mut app = app();
    send(&mut app, &json!({ "message": { "title": "t", "body": "b" } }), now());
    let phone = number(&app, "phone");
    app.opened(phone, later(1), 1);
    assert_eq!(count(&app, "influenced", "ios", later(1)), 0);
}

#[test]
fn a_tap_is_a_direct_response_once_and_never_an_influenced_one() {
    let mut app = app();
    let push_id = send(&mut app, &json!({ "notification": { "alert": "sale" } }), now());
    events(&mut app);
    assert_eq!(app.tapped("phone", &push_id, None, later(1)), Ok(()));
    assert_eq!(events(&mut app), ["OPEN", "FIRST_OPEN", "CLOSE"]);
    assert_eq!(app.tapped("phone", &push_id, None, later(1)), Ok(()));
    let phone = number(&app, "phone");
    app.opened(phone, later(1), 1);
    assert_eq!(count(&app, "direct", "ios", later(1)), 1);
    assert_eq!(count(&app, "influenced", "ios", later(1)), 0);
    assert_eq!(count(&app, "opens", "ios", later(1)), 3);
    let sent = app.sent.get(&push_id).expect("a push");
    assert_eq!(sent.direct_responses.get("ios"), Some(&1));
}

#[test]
fn a_tap_adds_and_removes_tags_and_sets_off_pipelines() {
    let mut app = app();
    let pipeline = json!({
        "enabled": true,
        "immediate_trigger": { "tag_added": "fan" },
        "outcome": { "push": { "audience": "triggered", "device_types": "all", "notification": { "alert": "hi" } } },
    });
    let meaning = understood(&pipeline).expect("a pipeline");
    app.pipelines.put(&mut app.journal, "fans", Pipeline { pipeline, created: now(), modified: now() }, meaning);
    app.devices.change(&mut app.journal, "phone", |device| {
        device.tags.insert(NO_GROUP.to_owned(), ["old".to_owned(), "known".to_owned()].into());
    });
    let actions = json!({ "add_tag": ["fan", "known"], "remove_tag": "old", "share": "look" });
    let push_id = send(&mut app, &json!({ "notification": { "alert": "sale", "actions": actions } }), now());
    events(&mut app);
    assert_eq!(app.tapped("phone", &push_id, None, now()), Ok(()));
    assert_eq!(tags(&app, "phone"), ["fan", "known"]);
    assert_eq!(events(&mut app), ["OPEN", "FIRST_OPEN", "CLOSE", "TAG_CHANGE", "TAG_CHANGE"]);
    assert!(app.due.take(&mut app.journal, now()).is_some(), "the new tag sets off the pipeline");
    let selector = understood(&json!({ "tag": "fan" })).expect("a selector");
    assert_eq!(app.members(&selector, now()).into_iter().collect::<Vec<_>>(), [number(&app, "phone")]);
    assert_eq!(app.tapped("phone", &push_id, None, now()), Ok(()));
    assert_eq!(app.due.take(&mut app.journal, now()), None, "it has the tag already");
}

#[test]
fn a_button_does_what_it_is_for_and_the_notification_does_not() {
    let mut app = app();
    let interactive = json!({ "type": "ua_follow", "button_actions": { "more": { "add_tag": "story" } } });
    let notification = json!({ "alert": "x", "actions": { "add_tag": "body" }, "interactive": interactive });
    let push_id = send(&mut app, &json!({ "notification": notification }), now());
    assert_eq!(app.tapped("phone", &push_id, Some("follow"), now()), Ok(()), "a built-in button, without actions");
    assert!(tags(&app, "phone").is_empty());
    assert_eq!(app.tapped("phone", &push_id, Some("more"), now()), Ok(()));
    assert_eq!(tags(&app, "phone"), ["story"]);
}

#[test]
fn a_tap_that_cannot_be_leaves_nothing_behind() {
    let mut app = app();
    let push_id = send(&mut app, &json!({ "notification": { "alert": "x" } }), now());
    events(&mut app);
    let wrong = [
        ("phone", "other", None),
        ("nobody", &*push_id, None),
        ("quiet", &push_id, None),
        ("phone", &push_id, Some("x")),
    ];
    for (device, push, button) in wrong {
        assert!(app.tapped(device, push, button, now()).is_err(), "{device} {push} {button:?}");
    }
    assert!(events(&mut app).is_empty());
    assert_eq!((count(&app, "opens", "ios", now()), count(&app, "direct", "ios", now())), (0, 0));
}

#[test]
fn a_message_is_read_once_and_deleted_for_good() {
    let mut app = app();
    let push_id = send(&mut app, &json!({ "message": { "title": "t", "body": "b" } }), now());
    events(&mut app);
    assert_eq!(app.read_message("quiet", &push_id, now()), Ok(()));
    assert_eq!(app.read_message("quiet", &push_id, later(1)), Ok(()));
    assert_eq!(events(&mut app), ["RICH_READ"]);
    let receipt = app.receipts.get(&format!("quiet/{push_id}")).expect("a receipt");
    assert_eq!(receipt.read, Some(now()));
    assert!(app.tapped("quiet", &push_id, None, now()).is_err(), "there is no notification to tap");
    assert_eq!(app.delete_message("quiet", &push_id, now()), Ok(()));
    assert_eq!(events(&mut app), ["RICH_DELETE"]);
    assert!(app.delete_message("quiet", &push_id, now()).is_err());
    assert!(app.read_message("quiet", &push_id, now()).is_err());
    assert!(app.read_message("quiet", "other", now()).is_err());
    assert!(events(&mut app).is_empty());
}

#[test]
fn a_tap_does_what_the_platform_of_the_device_says() {
    let mut app = app();
    app.devices.change(&mut app.journal, "quiet", |device| device.opt_in = true);
    let browser = Device { device_type: "web".to_owned(), installed: true, opt_in: true, ..Device::default() };
    app.devices.put(&mut app.journal, "browser", browser);
    let push = json!({"audience": "all", "device_types": "all", "notification": {
        "alert": "Hi",
        "actions": {"add_tag": "common"},
        "ios": {"actions": {"add_tag": "apple"}},
        "web": {"buttons": [{"id": "more", "actions": {"add_tag": "pressed"}}]},
    }});
    let id = send(&mut app, &push, now());
    for (device, button, tag) in
        [("phone", None, "apple"), ("quiet", None, "common"), ("browser", Some("more"), "pressed")]
    {
        app.tapped(device, &id, button, now()).expect("a tap");
        assert_eq!(tags(&app, device), [tag], "{device}");
    }
    assert!(app.tapped("phone", &id, Some("more"), now()).is_err());
}
