use std::time::Duration;

use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};

use super::harness::{Service, time, to_all};

fn at(time: &str) -> Value {
    json!({ "schedule": { "scheduled_time": time }, "push": to_all("On time") })
}

#[tokio::test]
async fn what_fell_due_while_the_service_was_down_is_sent_once_and_late() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("data.sqlite");
    let first = Service::on_file(&file, Some("2026-11-27T08:00:00Z")).await;
    first.device("a", "ios").await;
    let scheduled = first.post("/api/schedules", json!([at("2026-11-27T0900"), at("2026-11-28T0900")])).await;
    let scheduled = scheduled.expect(201);
    let variant = json!({
        "push": { "notification": { "alert": "Tested" } }, "schedule": { "scheduled_time": "2026-11-27T0910" },
    });
    let test = json!({ "audience": "all", "device_types": "all", "variants": [variant] });
    let experiment = first.post("/api/experiments", test).await.expect(201);
    let pipeline = json!({
        "enabled": true, "immediate_trigger": { "tag_added": "cart" },
        "outcome": {
            "delay": 1_200,
            "push": { "audience": "triggered", "device_types": "all", "notification": { "alert": "Still there?" } },
        },
    });
    first.post("/api/pipelines", pipeline).await.expect(201);
    first.tag("a", "cart").await;
    assert!(first.got("a").is_empty());
    first.stop().await;

    let down_until = "2026-11-27T10:00:00Z";
    let second = Service::on_file(&file, Some(down_until)).await;
    let mut shown = second.shown("a");
    shown.sort();
    assert_eq!(shown, ["On time", "Still there?", "Tested"]);
    assert!(second.got("a").iter().all(|receipt| receipt.time == time(down_until)));
    assert!(second.sent_as(&scheduled["schedules"][0]["push_ids"][0]).is_some());
    let id = experiment["experiment_id"].as_str().expect("an id");
    second.delete(&format!("/api/experiments/scheduled/{id}")).await.refusal(405);
    assert_eq!(second.get("/api/schedules").await.expect(200)["total_count"], 1);
    second.stop().await;

    let third = Service::on_file(&file, Some("2026-11-27T11:00:00Z")).await;
    assert_eq!(third.got("a").len(), 3, "none is sent twice");
    third.move_clock("2026-11-28T09:00:00Z").await;
    assert_eq!(third.got("a").len(), 4);
    assert_eq!(third.get("/api/schedules").await.expect(200)["total_count"], 0);
    third.stop().await;
}

#[tokio::test]
async fn a_virtual_clock_goes_on_from_where_it_stood() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("data.sqlite");
    let first = Service::on_file(&file, Some("2026-11-27T08:00:00Z")).await;
    first.device("a", "ios").await;
    first.post("/api/schedules", json!([at("2026-11-27T0900"), at("2026-11-27T1100")])).await.expect(201);
    first.move_clock("2026-11-27T10:00:00Z").await;
    first.stop().await;

    let second = Service::on_file(&file, None).await;
    let clock = second.get("/local/clock").await.expect(200);
    assert_eq!((&clock["now"], &clock["virtual"]), (&json!("2026-11-27T10:00:00Z"), &json!(true)), "{clock}");
    assert_eq!(second.shown("a").len(), 1, "what is not due yet is not sent");
    second.move_clock("2026-11-27T11:00:00Z").await;
    assert_eq!(second.shown("a").len(), 2);
    second.stop().await;
}

#[tokio::test]
async fn everything_is_as_it_was_after_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("data.sqlite");
    let clock = Some("2026-11-27T08:00:00Z");
    let first = Service::on_file(&file, clock).await;
    for name in ["one", "two", "three"] {
        let template = json!({ "name": name, "push": { "notification": { "alert": "Hi {{X}}" } } });
        let id = first.post("/api/templates", template).await.expect(201)["template_id"].clone();
        let push = json!({
            "audience": "all", "device_types": "all",
            "merge_data": { "template_id": id, "substitutions": { "X": "you" } },
        });
        first.post("/api/templates/push", push).await.expect(202);
        let variants = json!([{ "push": { "notification": {} }, "schedule": { "scheduled_time": "2026-11-28T0900" } }]);
        let test = json!({ "name": name, "audience": "all", "device_types": "all", "variants": variants });
        first.post("/api/experiments", test).await.expect(201);
        let outcome =
            json!({ "push": { "audience": "triggered", "device_types": "all", "notification": { "alert": "x" } } });
        let pipeline = json!({ "name": name, "enabled": true, "immediate_trigger": "first_open", "outcome": outcome });
        first.post("/api/pipelines", pipeline).await.expect(201);
    }
    let paused = first.post("/api/schedules", at("2026-11-28T0900")).await.expect(201);
    let id = paused["schedule_ids"][0].as_str().expect("an id").to_owned();
    first.post(&format!("/api/schedules/{id}/pause"), json!({})).await.expect(200);
    let paths = ["/api/templates", "/api/experiments", "/api/pipelines", "/api/schedules"];
    // The addresses contain the port, which changes after a restart.
    let read = async |service: &Service| {
        let mut all = Vec::new();
        for path in paths {
            let page = service.get(path).await.expect(200).to_string();
            all.push(page.replace(&service.running.address.to_string(), "here"));
        }
        all
    };
    let before = read(&first).await;
    assert!(before[3].contains("paused"));
    first.stop().await;

    let second = Service::on_file(&file, clock).await;
    assert_eq!(read(&second).await, before);
    second.stop().await;
}

#[tokio::test]
async fn the_real_clock_sends_by_itself() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("data.sqlite");
    let service = Service::on_file(&file, None).await;
    service.device("a", "ios").await;
    let soon = Timestamp::now() + 2.seconds();
    let text = soon.strftime("%Y-%m-%dT%H:%M:%S").to_string();
    service.post("/api/schedules", at(&text)).await.expect(201);
    for _ in 0..100 {
        if !service.got("a").is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(service.shown("a"), ["On time"]);
    service.stop().await;
}
