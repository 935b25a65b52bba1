//! A valid request for every route of the control API.

use pushplan::service::Level;
use serde_json::{Value, json};

use super::table::{Row, push};
use super::{NOW, World};

/// A world in which a phone has a message too.
pub async fn world(level: Level) -> World {
    let mut world = World::new(level).await;
    let mut with_message = push();
    with_message["message"] = json!({ "title": "Hi", "body": "<p>Hello</p>", "content_type": "text/html" });
    let sent = world.call("POST", "/api/push", Some(&with_message)).await.json();
    let id = sent["push_ids"][0].as_str().unwrap_or_else(|| panic!("{sent:#}")).to_owned();
    world.names.push(("$message", id));
    world
}

pub fn rows() -> Vec<Row> {
    let (devices, device) = ("/local/devices", "/local/devices/{id}");
    let phone = "/local/devices/$phone";
    let ok = || json!({ "ok": true });
    let record = || {
        json!({
            "device": "<any>", "installed": true, "property_tags": "<any>", "named_user_tags": {},
            "created": NOW, "modified": NOW, "first_opened": null, "last_opened": null,
        })
    };
    let clock = |now: &str, next: Value| json!({ "now": now, "virtual": true, "next_due": next });
    let mut moved = clock("2026-11-27T09:00:30Z", "<any>".into());
    moved["sent"] = json!({ "pushes": 0, "sends": 0 });
    let some = |name: &str, count: u64| json!({ "count": count, name: "<any>" });
    let form = json!({
        "device_type": "ios", "opt_in": true, "named_user": "user-1", "tags": { "crm": ["vip"] },
        "properties": { "language": "en", "timezone": "Europe/Berlin" },
    });
    let put = Row::new("PUT", device, phone, 200, record()).body(form);
    let act = |what: &str, body: Value| {
        let routes = ["open", "tap", "read", "delete", "seen", "event"];
        let paths = [
            "/local/devices/{id}/open",
            "/local/devices/{id}/tap",
            "/local/devices/{id}/read",
            "/local/devices/{id}/delete",
            "/local/devices/{id}/seen",
            "/local/devices/{id}/event",
        ];
        let route = paths[routes.iter().position(|route| *route == what).expect("a route")];
        Row::new("POST", route, &format!("{phone}/{what}"), 200, ok()).body(body)
    };
    let explained = json!({
        "device": "$phone", "in": true, "reachable": true, "unreachable_because": null, "why": "<any>",
    });
    let why = |id: &str| json!({ "audience": { "ios_channel": "$phone" }, "device": id });
    vec![
        Row::new("GET", devices, devices, 200, some("devices", 3)),
        Row::new("GET", device, phone, 200, record()),
        // An unknown one is created by naming it.
        Row { unknown: None, ..put },
        Row::new("PATCH", device, phone, 200, record()).body(json!({ "opt_in": false })),
        Row::new("DELETE", device, phone, 204, Value::Null),
        act("open", json!({ "seconds": 30 })),
        act("tap", json!({ "push_id": "$push" })),
        act("read", json!({ "push_id": "$message" })),
        act("delete", json!({ "push_id": "$message" })),
        act("seen", json!({ "location": "somewhere", "at": "2026-11-27T08:00:00Z" })),
        act("event", json!({ "name": "bought", "properties": { "price": 3 } })),
        Row::new("GET", "/local/devices/{id}/received", &format!("{phone}/received"), 200, some("received", 2)),
        Row::new(
            "POST",
            "/local/audience",
            "/local/audience",
            200,
            json!({ "count": 1, "reachable": 1, "devices": ["$phone"] }),
        )
        .body(json!({ "audience": { "and": [{ "ios_channel": "$phone" }] }, "device_types": ["ios"] })),
        Row::new("POST", "/local/audience/explain", "/local/audience/explain", 200, explained)
            .body(why("$phone"))
            .unknown("/local/audience/explain", Some(why("nobody"))),
        Row::new("GET", "/local/tag-groups", "/local/tag-groups", 200, json!({ "tag_groups": null })),
        Row::new("PUT", "/local/tag-groups", "/local/tag-groups", 200, json!({ "tag_groups": ["crm"] }))
            .body(json!({ "tag_groups": ["crm"] })),
        Row::new("GET", "/local/requests", "/local/requests?method=PUT", 200, some("requests", 1)),
        Row::new("DELETE", "/local/requests", "/local/requests", 204, Value::Null),
        Row::new("GET", "/local/clock", "/local/clock", 200, clock(NOW, "<any>".into())),
        Row::new("POST", "/local/clock", "/local/clock", 200, moved).body(json!({ "by": 30 })),
        Row::new("GET", "/local/sent", "/local/sent", 200, some("sent", 2)),
        Row::new("GET", "/local/due", "/local/due", 200, json!({ "count": "<any>", "due": "<any>" })),
        Row::new(
            "GET",
            "/local/events",
            "/local/events",
            200,
            json!({ "count": "<any>", "events": "<any>", "next": "<any>" }),
        ),
        Row::new(
            "GET",
            "/local/experiments",
            "/local/experiments",
            200,
            json!({ "count": "<any>", "experiments": "<any>" }),
        ),
        Row::new("GET", "/local/webhooks", "/local/webhooks", 200, json!({ "count": 0, "webhooks": [] })),
        Row::new(
            "GET",
            "/local/health",
            "/local/health",
            200,
            json!({ "ok": true, "pid": "<any>", "now": NOW, "apps": 1, "devices": 3, "durable": false }),
        ),
    ]
}
