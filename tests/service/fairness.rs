//! Large bodies: they are limited, and decoding one delays nobody else.

use pushplan::service::state::devices::Device;
use pushplan::service::{Level, Settings};
use serde_json::{Value, json};

use crate::support::table::{self, rows};
use crate::support::wire::{alike, exchange, request};
use crate::support::{PHONE, World, settings};

/// More than the request handler decodes directly.
const PADDING: usize = 64 * 1024;

/// While large bodies of every route wait to be decoded, small requests of others are answered.
#[tokio::test]
async fn whatever_a_large_body_asks_for_its_decoding_holds_up_nobody() {
    let mut with_body = rows();
    with_body.retain(|row| row.body.is_some());
    for row in with_body {
        let world = World::new(Level::Extended).await;
        let what = format!("{} {}", row.method, row.path);
        let held = world.running.engine.hold_decoders().await;
        let mut body = world.with_ids(&row.body.as_ref().expect("a body").to_string());
        body.push_str(&" ".repeat(PADDING));
        let large = request(row.method, &world.with_ids(&row.path), &[], body.as_bytes());
        let address = world.running.address;
        let asked = tokio::spawn(async move { exchange(address, &large).await });
        // It has arrived: a body that is not decoded yet cannot have been answered or have changed anything.
        while world.running.engine.waiting_decoders() == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(world.call("GET", "/api/segments/$segment", None).await.status, 200, "{what}");
        assert_eq!(world.call("POST", "/api/segments", Some(&table::segment())).await.status, 201, "{what}");
        assert!(!asked.is_finished(), "{what}");
        drop(held);
        let reply = asked.await.expect("an answer");
        let found = world.named(&reply.json());
        assert_eq!(reply.status, row.status, "{what}: {found:#}");
        assert!(alike(&row.answer, &found), "{what}: {found:#}");
        world.stop().await;
    }
}

/// A client that disconnects gives up its turn.
#[tokio::test]
async fn a_large_body_of_a_client_that_has_gone_changes_nothing_and_others_go_on() {
    let world = World::new(Level::Extended).await;
    let held = world.running.engine.hold_decoders().await;
    let large = format!("{}{}", table::segment(), " ".repeat(PADDING));
    let bytes = request("POST", "/api/segments", &[], large.as_bytes());
    let address = world.running.address;
    let gone = tokio::spawn({
        let bytes = bytes.clone();
        async move { exchange(address, &bytes).await }
    });
    while world.running.engine.waiting_decoders() == 0 {
        tokio::task::yield_now().await;
    }
    gone.abort();
    let _ = gone.await;
    while world.running.engine.waiting_decoders() > 0 {
        tokio::task::yield_now().await;
    }
    drop(held);
    assert_eq!(exchange(address, &bytes).await.status, 201);
    let listed = world.call("GET", "/api/segments", None).await.json();
    assert_eq!(listed["segments"].as_array().map(Vec::len), Some(2), "{listed:#}");
    world.stop().await;
}

fn many(count: usize, item: impl Fn(usize) -> Value) -> Value {
    (0..count).map(item).collect()
}

#[tokio::test]
async fn more_items_than_one_request_may_hold_are_refused_and_nothing_is_done() {
    let world = World::new(Level::Extended).await;
    let unknown: Value = (0..330_000).map(|n| (format!("k{n}"), json!(0))).collect::<serde_json::Map<_, _>>().into();
    let template_push = json!({
        "device_types": ["ios"], "audience": "all", "merge_data": { "template_id": "$template", "substitutions": { "NAME": "Ada" } },
    });
    let times = json!({
        "schedule": many(1_001, |_| json!({ "scheduled_time": "2026-12-01T0900" })), "push": table::push(),
    });
    let tags = |key: &str| {
        json!({ "audience": { key: PHONE }, "add": many(11, |_| json!(0)).as_array().map(|all| {
        all.iter().enumerate().map(|(group, _)| (format!("g{group}"), many(100, |n| json!(format!("t{n}"))))).collect::<serde_json::Map<_, _>>()
    }) })
    };
    let cases = [
        ("/api/push", unknown),
        ("/api/push", many(101, |_| table::push())),
        ("/api/templates/push", many(101, |_| template_push.clone())),
        ("/api/schedules", many(1_001, |_| table::schedule())),
        ("/api/schedules", times),
        ("/api/pipelines", many(1_001, |_| table::pipeline())),
        (
            "/api/channels/tags",
            json!({ "audience": { "ios_channel": many(1_001, |_| json!(PHONE)) }, "add": { "g": ["t"] } }),
        ),
        ("/api/channels/tags", tags("ios_channel")),
        (
            "/api/named_users/tags",
            json!({ "audience": { "named_user_id": many(1_001, |_| json!("user-1")) }, "add": { "g": ["t"] } }),
        ),
        ("/api/named_users/tags", tags("named_user_id")),
        (
            "/api/named_users/tags",
            json!({ "audience": { "named_user_id": many(1_000, |n| json!(format!("user-{n}"))) }, "set": {
                "a": many(51, |n| json!(format!("t{n}"))), "b": many(50, |n| json!(format!("t{n}"))),
            } }),
        ),
        ("/api/tags/news", json!({ "ios_channels": { "add": many(1_001, |_| json!(PHONE)) } })),
        ("/api/tags/batch", many(1_001, |_| json!({ "ios_channel": PHONE, "tags": [] }))),
        ("/api/channels/uninstall", many(1_001, |_| json!({ "channel_id": PHONE, "device_type": "ios" }))),
    ];
    for (path, body) in cases {
        let reply = world.call("POST", path, Some(&body)).await;
        assert_eq!((reply.status, &reply.json()["error_code"]), (413, &json!(41301)), "{path}: {:.300}", reply.text());
    }
    let lists = [("schedules", 1), ("pipelines", 1)];
    for (list, count) in lists {
        let listed = world.call("GET", &format!("/api/{list}"), None).await.json();
        assert_eq!(listed[list].as_array().map(Vec::len), Some(count), "{list}");
    }
    let phone = world.call("GET", "/api/channels/$phone", None).await.json();
    assert_eq!((&phone["channel"]["installed"], &phone["channel"]["tags"]), (&json!(true), &json!([])), "{phone:#}");
    // As many as are possible are carried out.
    let right = many(1_000, |_| table::schedule());
    assert_eq!(world.call("POST", "/api/schedules", Some(&right)).await.status, 201);
    world.stop().await;
}

/// The parts of a push that were not sent before the service ended are sent after it starts again.
#[tokio::test]
async fn a_push_to_many_devices_is_completed_after_a_restart() {
    const DEVICES: u64 = 5_000;
    let folder = tempfile::tempdir().expect("a folder");
    let stored = || Settings { data: Some(folder.path().join("service.db")), clock: None, ..settings(Level::Extended) };
    let world = World::again(stored()).await;
    world
        .change(|app, now| {
            for n in 0..DEVICES {
                let device = Device { device_type: "ios".into(), installed: true, opt_in: true, ..Device::default() };
                app.register(&format!("phone-{n}"), device, now);
            }
        })
        .await;
    let push = json!({ "audience": "all", "device_types": ["ios"], "notification": { "alert": "Hi" } });
    assert_eq!(world.call("POST", "/api/push", Some(&push)).await.status, 202);
    world.stop().await;
    let world = World::again(stored()).await;
    while world.call("GET", "/local/due", None).await.json()["count"] != 0 {
        tokio::task::yield_now().await;
    }
    let sent = world.call("GET", "/local/sent", None).await.json();
    assert_eq!((&sent["count"], &sent["sent"][0]["sends"]), (&json!(1), &json!({ "ios": DEVICES })), "{sent:#}");
    world.stop().await;
}
