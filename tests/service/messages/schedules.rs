use pushplan::service::state::PushType;
use pushplan::service::state::devices::Properties;
use serde_json::{Value, json};

use super::harness::{Service, time, to_all};

const NOW: &str = "2026-11-27T08:00:00Z";

fn at(time: &str) -> Value {
    json!({ "name": "Sale", "schedule": { "scheduled_time": time }, "push": to_all("The sale has begun") })
}

async fn scheduled(service: &Service, body: Value) -> String {
    service.post("/api/schedules", body).await.expect(201)["schedule_urls"][0].as_str().expect("a URL").to_owned()
}

#[tokio::test]
async fn a_scheduled_push_is_sent_once_at_its_time_to_those_who_are_there_then() {
    let service = Service::at(NOW).await;
    let answer = service.post("/api/schedules", at("2026-11-27T0900")).await.expect(201);
    let made = &answer["schedules"][0];
    assert_eq!(made["schedule"], json!({ "scheduled_time": "2026-11-27T09:00:00" }));
    assert_eq!(made["name"], "Sale");
    assert_eq!(made["push"], to_all("The sale has begun"));
    assert_eq!(made["url"], answer["schedule_urls"][0]);
    let url = made["url"].as_str().expect("a URL");
    assert!(url.ends_with(answer["schedule_ids"][0].as_str().expect("an id")));
    assert_eq!(service.get(url).await.expect(200), *made);

    service.device("a", "ios").await;
    service.move_clock("2026-11-27T08:59:59Z").await;
    assert!(service.sent().is_empty());
    service.move_clock("2026-11-27T12:00:00Z").await;
    service.move_clock("2026-11-28T12:00:00Z").await;
    assert_eq!(service.shown("a"), ["The sale has begun"]);
    let sent = service.sent_as(&made["push_ids"][0]).expect("sent under the id that was given");
    assert_eq!(sent.time, time("2026-11-27T09:00:00Z"));
    assert_eq!(sent.push_type, PushType::ScheduledPush);
    assert_eq!(sent.group_id.as_deref(), answer["schedule_ids"][0].as_str());
    assert_eq!(service.sent().len(), 1);
    service.get(url).await.refusal(404);
    service.delete(url).await.refusal(404);
    assert_eq!(service.get("/api/schedules").await.expect(200)["schedules"], json!([]));
}

#[tokio::test]
async fn both_forms_of_a_time_are_read_and_a_past_one_is_refused() {
    let service = Service::at(NOW).await;
    for (text, expected) in [
        ("2026-11-27T0930", "2026-11-27T09:30:00"),
        ("2026-11-27T09:30:15", "2026-11-27T09:30:15"),
        ("2026-11-27T09:30:00Z", "2026-11-27T09:30:00"),
        ("2026-11-27T0800", "2026-11-27T08:00:00"),
    ] {
        let answer = service.post("/api/schedules", at(text)).await.expect(201);
        assert_eq!(answer["schedules"][0]["schedule"]["scheduled_time"], expected);
    }
    let sent = service.sent().len();
    for (text, expected) in [
        ("2026-11-27T0759", "has passed"),
        ("2026-11-27T07:59:59", "has passed"),
        ("2026-11-27", "not a time"),
        ("2026-13-27T0900", "not a time"),
        ("2026-11-27T09:00:61", "not a time"),
        ("2026-11-27T09:00+02:00", "offset"),
    ] {
        let refused = service.post("/api/schedules", at(text)).await.refusal(400);
        assert!(refused.contains(expected), "{text}: {refused}");
    }
    assert_eq!(sent, 1, "the time that is now is no past one");
}

#[tokio::test]
async fn an_array_is_scheduled_whole_or_not_at_all() {
    let service = Service::at(NOW).await;
    let body = json!([at("2026-11-27T0900"), at("2026-11-26T0900")]);
    service.post("/api/schedules", body).await.refusal(400);
    assert_eq!(service.get("/api/schedules").await.expect(200)["total_count"], 0);
    let body = json!([at("2026-11-27T0900"), at("2026-11-28T0900")]);
    let answer = service.post("/api/schedules", body).await.expect(201);
    assert_eq!(answer["schedule_ids"].as_array().expect("ids").len(), 2);
    assert_eq!(service.get("/api/schedules").await.expect(200)["total_count"], 2);
}

#[tokio::test]
async fn what_the_service_adds_cannot_be_sent_back() {
    let service = Service::at(NOW).await;
    let url = scheduled(&service, at("2026-11-27T0900")).await;
    let record = service.get(&url).await.expect(200);
    for key in ["push_ids", "url"] {
        let mut body = at("2026-11-27T0900");
        body[key] = record[key].clone();
        let refused = service.post("/api/schedules", body.clone()).await.refusal(400);
        assert!(refused.contains(key), "{refused}");
        service.put(&url, body).await.refusal(400);
    }
    let mut triggered = at("2026-11-27T0900");
    triggered["push"]["audience"] = "triggered".into();
    service.post("/api/schedules", triggered).await.refusal(400);
    let mut never = at("2026-11-27T0900");
    never["schedule"] = json!([]);
    service.post("/api/schedules", never).await.refusal(400);
}

#[tokio::test]
async fn a_scheduled_push_can_be_moved_and_removed_before_it_is_sent() {
    let service = Service::at(NOW).await;
    service.device("a", "ios").await;
    let moved = scheduled(&service, at("2026-11-27T0900")).await;
    let removed = scheduled(&service, at("2026-11-27T0900")).await;
    let before = service.get(&moved).await.expect(200);
    let mut body = at("2026-11-27T1100");
    body["push"]["notification"]["alert"] = "Later".into();
    service.put(&moved, body).await.expect(200);
    assert_eq!(service.get(&moved).await.expect(200)["push_ids"], before["push_ids"]);
    service.delete(&removed).await.expect(204);
    service.get(&removed).await.refusal(404);
    service.move_clock("2026-11-27T10:00:00Z").await;
    assert!(service.got("a").is_empty());
    service.move_clock("2026-11-27T11:00:00Z").await;
    assert_eq!(service.shown("a"), ["Later"]);
    service.put(&moved, at("2026-11-28T1100")).await.refusal(404);
}

#[tokio::test]
async fn a_paused_push_waits_until_it_is_resumed() {
    let service = Service::at(NOW).await;
    service.device("a", "ios").await;
    let url = scheduled(&service, at("2026-11-27T0900")).await;
    service.post(&format!("{url}/pause"), json!({})).await.expect(200);
    assert_eq!(service.get(&url).await.expect(200)["paused"], true);
    service.post(&format!("{url}/resume"), json!({})).await.expect(200);
    service.post(&format!("{url}/pause"), json!({})).await.expect(200);
    service.move_clock("2026-11-27T10:00:00Z").await;
    assert!(service.got("a").is_empty());
    let refused = service.post(&format!("{url}/resume"), json!({})).await.refusal(400);
    assert!(refused.contains("has passed"), "{refused}");
    service.put(&url, at("2026-11-27T1100")).await.expect(200);
    service.post(&format!("{url}/resume"), json!({})).await.expect(200);
    service.move_clock("2026-11-27T11:00:00Z").await;
    assert_eq!(service.shown("a").len(), 1);
    service.post(&format!("{url}/pause"), json!({})).await.refusal(404);
}

#[tokio::test]
async fn a_local_time_is_sent_zone_by_zone_and_once_to_each_device_with_a_zone() {
    let service = Service::at("2026-11-26T12:00:00Z").await;
    let zone = |name: &str| Properties { timezone: Some(name.to_owned()), ..Properties::default() };
    for (id, name) in [("paris", "Europe/Paris"), ("vienna", "Europe/Vienna"), ("la", "America/Los_Angeles")] {
        service.device_with(id, "ios", |device| *device.properties = zone(name)).await;
    }
    service.device("nowhere", "ios").await;
    let mut body = at("2026-11-27T0900");
    body["schedule"] = json!({ "local_scheduled_time": "2026-11-27T0900" });
    let answer = service.post("/api/schedules", body).await.expect(201);
    let made = &answer["schedules"][0];
    assert_eq!(made["schedule"], json!({ "local_scheduled_time": "2026-11-27T09:00:00" }));
    let url = made["url"].as_str().expect("a URL");

    service.move_clock("2026-11-27T08:30:00Z").await;
    assert_eq!((service.shown("paris").len(), service.shown("la").len()), (1, 0));
    service.put(url, at("2026-11-29T0900")).await.refusal(405);
    // A device that changes its time zone does not get it a second time.
    service.device_with("paris", "ios", |device| *device.properties = zone("America/Los_Angeles")).await;
    service.move_clock("2026-11-28T12:00:00Z").await;
    for (id, at) in
        [("paris", "2026-11-27T08:00:00Z"), ("vienna", "2026-11-27T08:00:00Z"), ("la", "2026-11-27T17:00:00Z")]
    {
        let times: Vec<_> = service.got(id).iter().map(|receipt| receipt.time).collect();
        assert_eq!(times, [time(at)], "{id}");
    }
    let sent = service.sent();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].sends, [("ios".to_owned(), 3)].into());
    assert!(service.got("nowhere").is_empty(), "it has no local time");
    service.get(url).await.refusal(404);
}

#[tokio::test]
async fn a_local_time_is_that_of_the_devices_own_zone_also_where_its_tag_is_of_another() {
    let service = Service::at("2026-10-01T12:00:00Z").await;
    let expected = [
        // Its tag is that of a zone a quarter of an hour away.
        ("Asia/Kathmandu", "2026-10-24T20:45:00Z"),
        ("Pacific/Kiritimati", "2026-10-24T12:30:00Z"),
        ("Pacific/Chatham", "2026-10-24T12:45:00Z"),
        ("Pacific/Pago_Pago", "2026-10-25T13:30:00Z"),
        ("Atlantic/Azores", "2026-10-25T03:30:00Z"),
        ("America/Sao_Paolo", "2026-10-25T05:30:00Z"),
        // Half past two comes twice that night: at its first.
        ("Europe/Berlin", "2026-10-25T00:30:00Z"),
    ];
    for name in expected.iter().map(|(name, _)| *name).chain(["Mars/Olympus"]) {
        let properties = Properties { timezone: Some(name.to_owned()), ..Properties::default() };
        service.device_with(&name.replace('/', "-"), "ios", |device| *device.properties = properties).await;
    }
    let mut body = at("2026-11-27T0900");
    body["schedule"] = json!({ "local_scheduled_time": "2026-10-25T0230" });
    service.post("/api/schedules", body).await.expect(201);
    service.move_clock("2026-10-28T00:00:00Z").await;
    for (name, at) in expected {
        let times: Vec<_> = service.got(&name.replace('/', "-")).iter().map(|receipt| receipt.time).collect();
        assert_eq!(times, [time(at)], "{name}");
    }
    assert!(service.got("Mars-Olympus").is_empty(), "nobody knows its clock");
}

#[tokio::test]
async fn a_local_time_has_passed_when_it_has_in_every_zone() {
    let service = Service::at("2026-11-27T12:00:00Z").await;
    let zone = |name: &str| Properties { timezone: Some(name.to_owned()), ..Properties::default() };
    service.device_with("paris", "ios", |device| *device.properties = zone("Europe/Paris")).await;
    service.device_with("la", "ios", |device| *device.properties = zone("America/Los_Angeles")).await;
    let local = |time: &str| {
        let mut body = at("2026-11-27T0900");
        body["schedule"] = json!({ "local_scheduled_time": time });
        body
    };
    // At noon in UTC it is midnight where clocks are furthest behind.
    let refused = service.post("/api/schedules", local("2026-11-26T2359")).await.refusal(400);
    assert!(refused.contains("has passed"), "{refused}");
    service.post("/api/schedules", local("2026-11-27T0900")).await.expect(201);
    service.move_clock("2026-11-28T12:00:00Z").await;
    assert!(service.got("paris").is_empty());
    assert_eq!(service.got("la").len(), 1);
}

#[tokio::test]
async fn several_times_are_several_pushes() {
    let service = Service::at(NOW).await;
    service.device("a", "ios").await;
    let mut body = at("2026-11-27T0900");
    body["schedule"] = json!([{ "scheduled_time": "2026-11-27T0900" }, { "scheduled_time": "2026-11-28T0900" }]);
    let answer = service.post("/api/schedules", body).await.expect(201);
    assert_eq!(answer["schedules"][0]["push_ids"].as_array().expect("ids").len(), 2);
    let url = answer["schedule_urls"][0].as_str().expect("a URL");
    service.move_clock("2026-11-27T09:00:00Z").await;
    assert_eq!(service.shown("a").len(), 1);
    service.get(url).await.expect(200);
    service.move_clock("2026-11-28T09:00:00Z").await;
    assert_eq!(service.shown("a").len(), 2);
    service.get(url).await.refusal(404);
}

#[tokio::test]
async fn schedules_are_listed_page_by_page_and_only_by_the_extended_service() {
    let service = Service::at(NOW).await;
    for _ in 0..5 {
        scheduled(&service, at("2026-11-27T0900")).await;
    }
    let mut urls = Vec::new();
    let mut next = Some("/api/schedules/?limit=2".to_owned());
    while let Some(url) = next {
        let page = service.get(&url).await.expect(200);
        assert_eq!(page["total_count"], 5);
        urls.extend(page["schedules"].as_array().expect("schedules").iter().map(|record| record["url"].to_string()));
        next = page.get("next_page").map(|url| url.as_str().expect("a URL").to_owned());
    }
    let distinct: std::collections::BTreeSet<_> = urls.iter().collect();
    assert_eq!((urls.len(), distinct.len()), (5, 5));

    let documented = Service::documented(NOW).await;
    let url = scheduled(&documented, at("2026-11-27T0900")).await;
    documented.get("/api/schedules").await.refusal(405);
    documented.get(&url).await.refusal(404);
    documented.delete(&url).await.refusal(404);
}
