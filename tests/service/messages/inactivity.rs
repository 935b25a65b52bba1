//! Pipelines that are triggered when the app is not opened.

use serde_json::{Value, json};

use super::harness::Service;

fn after(days: i64) -> Value {
    json!({
        "enabled": true,
        "historical_trigger": { "event": "open", "equals": 0, "days": days },
        "outcome": {
            "push": { "audience": "triggered", "device_types": ["ios"], "notification": { "alert": "We miss you" } },
        },
    })
}

async fn created(service: &Service, days: i64) -> String {
    let body = service.post("/api/pipelines", after(days)).await.expect(201);
    body["pipeline_urls"][0].as_str().expect("a URL").to_owned()
}

async fn registered(service: &Service, id: &str) {
    let device = json!({ "device_type": "ios", "opt_in": true });
    let status = service.put(&format!("/local/devices/{id}"), device).await.status;
    assert!([200, 201].contains(&status), "{status}");
}

async fn opened(service: &Service, id: &str) {
    service.change(|app, now| app.opened(app.devices.by_id(id).expect("the device"), now, 0)).await;
}

fn times(service: &Service, id: &str) -> Vec<String> {
    service.got(id).iter().map(|receipt| receipt.time.to_string()).collect()
}

#[tokio::test]
async fn a_message_comes_once_for_each_time_without_an_open() {
    let service = Service::at("2026-11-01T00:00:00Z").await;
    created(&service, 7).await;
    registered(&service, "a").await;
    registered(&service, "b").await;
    service.move_clock("2026-11-03T12:00:00Z").await;
    opened(&service, "b").await;
    service.move_clock("2026-11-30T00:00:00Z").await;
    assert_eq!(times(&service, "a"), ["2026-11-08T00:00:00Z"], "a device that never opened it, from its registration");
    assert_eq!(times(&service, "b"), ["2026-11-10T12:00:00Z"]);
    // The next inactivity begins with the next open. Opens before its end move the end.
    opened(&service, "a").await;
    service.move_clock("2026-12-05T00:00:00Z").await;
    opened(&service, "a").await;
    service.move_clock("2026-12-31T00:00:00Z").await;
    assert_eq!(times(&service, "a"), ["2026-11-08T00:00:00Z", "2026-12-12T00:00:00Z"]);
    assert_eq!(times(&service, "b").len(), 1);
}

#[tokio::test]
async fn a_new_pipeline_waits_for_devices_that_are_not_inactive_for_so_long_yet() {
    let service = Service::at("2026-11-01T00:00:00Z").await;
    registered(&service, "old").await;
    service.move_clock("2026-11-05T00:00:00Z").await;
    // More devices than are looked at together.
    for number in 0..600 {
        service
            .device_with(&format!("new-{number}"), "ios", |device| {
                device.created = "2026-11-05T00:00:00Z".parse().unwrap();
            })
            .await;
    }
    service.move_clock("2026-11-09T00:00:00Z").await;
    let url = created(&service, 7).await;
    service.move_clock("2026-11-11T00:00:00Z").await;
    service.put(&url, after(8)).await.expect(200);
    service.move_clock("2026-11-30T00:00:00Z").await;
    assert_eq!(times(&service, "old"), Vec::<String>::new(), "it was inactive for longer before");
    for id in ["new-0", "new-499", "new-500", "new-599"] {
        assert_eq!(times(&service, id), ["2026-11-13T00:00:00Z"], "{id}");
    }
    service.delete(&url).await.expect(204);
    assert!(service.look(|app| app.due.iter().next().is_none()));
}

#[tokio::test]
async fn a_pipeline_that_is_deleted_or_turned_off_sends_nothing() {
    let service = Service::at("2026-11-01T00:00:00Z").await;
    let (one, other) = (created(&service, 7).await, created(&service, 8).await);
    registered(&service, "a").await;
    service.delete(&one).await.expect(204);
    let mut off = after(8);
    off["enabled"] = false.into();
    service.put(&other, off).await.expect(200);
    service.move_clock("2026-11-30T00:00:00Z").await;
    assert!(times(&service, "a").is_empty());
}
