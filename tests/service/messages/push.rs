use pushplan::service::state::PushType;
use pushplan::service::state::devices::Properties;
use serde_json::{Value, json};

use super::harness::{Service, to_all};

const NOW: &str = "2026-11-27T08:00:00Z";

#[tokio::test]
async fn a_push_reaches_those_of_its_audience_and_its_device_types() {
    let service = Service::at(NOW).await;
    service.device("a", "ios").await;
    service.device("b", "android").await;
    service.device("c", "ios").await;
    service.device_with("d", "ios", |device| device.opt_in = false).await;
    service.device_with("e", "ios", |device| device.installed = false).await;
    for id in ["a", "b", "d", "e"] {
        service.tag(id, "vip").await;
    }
    let push = json!({
        "audience": { "tag": "vip" }, "device_types": ["ios"],
        "notification": { "alert": "Hello" }, "campaigns": { "categories": ["sale"] },
    });
    let answer = service.post("/api/push/", push.clone()).await.expect(202);
    assert_eq!(answer["ok"], true);
    assert!(answer["operation_id"].is_string());
    assert!(answer.get("message_ids").is_none());
    assert_eq!(answer["push_ids"].as_array().expect("ids").len(), 1);
    assert_eq!(service.shown("a"), ["Hello"]);
    for other in ["b", "c", "d", "e"] {
        assert!(service.got(other).is_empty(), "{other}");
    }
    let sent = service.sent_as(&answer["push_ids"][0]).expect("a record");
    assert_eq!(sent.push, push);
    assert_eq!(sent.sends, [("ios".to_owned(), 1)].into());
    assert_eq!(sent.group_id, None);
}

#[tokio::test]
async fn what_kind_of_push_it_was_follows_from_its_audience() {
    let service = Service::at(NOW).await;
    service.device_with("a", "ios", |device| device.named_user = Some("ann".into())).await;
    for (audience, expected) in [
        (json!("ALL"), PushType::BroadcastPush),
        (json!({ "tag": "vip" }), PushType::TagPush),
        (json!({ "segment": "none-of-this-id" }), PushType::TagPush),
        (json!({ "ios_channel": "a" }), PushType::UnicastPush),
        (json!({ "named_user": "ann" }), PushType::UnicastPush),
    ] {
        let push = json!({ "audience": audience, "device_types": ["ios"], "notification": { "alert": "x" } });
        let answer = service.post("/api/push", push).await.expect(202);
        assert_eq!(service.sent_as(&answer["push_ids"][0]).expect("a record").push_type, expected, "{audience}");
    }
    assert_eq!(service.shown("a").len(), 3);
}

#[tokio::test]
async fn a_message_stays_on_every_installed_device_that_has_an_inbox() {
    let service = Service::at(NOW).await;
    service.device("phone", "ios").await;
    service.device_with("silent", "android", |device| device.opt_in = false).await;
    service.device("browser", "web").await;
    let mut push = to_all("Sale");
    push["message"] = json!({ "title": "Sale", "body": "<p>Sale</p>" });
    let answer = service.post("/api/push", json!([to_all("First"), push])).await.expect(202);
    assert_eq!(answer["push_ids"].as_array().expect("ids").len(), 2);
    assert_eq!(answer["message_ids"].as_array().expect("ids").len(), 1);
    let texts = |id: &str| {
        let got = service.got(id);
        got.into_iter().map(|receipt| (receipt.notification.is_some(), receipt.message.is_some())).collect::<Vec<_>>()
    };
    assert!(texts("phone").contains(&(true, true)));
    assert_eq!(texts("silent"), [(false, true)]);
    assert_eq!(texts("browser"), [(true, false), (true, false)]);
}

#[tokio::test]
async fn a_push_that_cannot_be_is_refused_and_sends_nothing() {
    let service = Service::at(NOW).await;
    service.device("a", "ios").await;
    let with = |change: Value| {
        let mut push = to_all("x");
        for (key, value) in change.as_object().expect("fields") {
            push[key] = value.clone();
        }
        push
    };
    let message = json!({ "title": "t", "body": "b" });
    let mut silent = to_all("x");
    silent.as_object_mut().expect("a push").remove("notification");
    let many: Vec<Value> = (0..1_001).map(|number| json!({ "tag": format!("t{number}") })).collect();
    let too_many: Vec<Value> = vec![to_all("x"); 101];
    for (body, status, expected) in [
        (silent.clone(), 400, "`notification` is missing"),
        (with(json!({ "notification": null, "message": message })), 400, "`notification` is missing"),
        (with(json!({ "device_types": ["ios", "wns"], "message": message })), 400, "cannot be pushed to WNS"),
        (with(json!({ "audience": "triggered" })), 400, "pipeline only"),
        (with(json!({ "audience": { "or": ["all", { "tag": "a" }] } })), 400, "stand alone"),
        (with(json!({ "audience": { "NOT": "triggered" } })), 400, "stand alone"),
        (with(json!({ "audience": { "AND": [] } })), 400, "empty list"),
        (with(json!({ "audience": { "OR": &many } })), 400, "1001 selectors"),
        (with(json!({ "audience": { "open_channel": "x" }, "device_types": ["ios"] })), 400, "open::<platform>"),
        (with(json!({ "audience": { "country": "US" } })), 400, "unknown condition `country`"),
        (with(json!({ "device_types": [] })), 400, "without device types"),
        (with(json!({ "template": "x" })), 400, "unknown key `template`"),
        (with(json!({ "notification": { "alert1": "x" } })), 400, "unknown key `alert1`"),
        (json!([]), 400, "at least one push"),
        (json!("all"), 400, "expected a push"),
        (json!([to_all("first"), silent]), 400, "`notification` is missing"),
        (json!(too_many), 413, "101 pushes"),
    ] {
        let validated = service.post("/api/push/validate", body.clone()).await.refusal(status);
        assert!(validated.contains(expected), "{validated}");
        let refused = service.post("/api/push", body).await.refusal(status);
        assert!(refused.contains(expected), "{refused}");
    }
    // A thousand are possible, also for `validate`; the joining keyword does not count.
    let thousand = with(json!({ "audience": { "OR": many[1..] } }));
    service.post("/api/push/validate", thousand).await.expect(200);
    assert!(service.sent().is_empty());
    assert!(service.got("a").is_empty());
}

#[tokio::test]
async fn validating_sends_nothing() {
    let service = Service::at(NOW).await;
    service.device("a", "ios").await;
    service.post("/api/push/validate", to_all("x")).await.expect(200);
    assert!(service.sent().is_empty());
    let documented = Service::documented(NOW).await;
    documented.post("/api/push/validate", to_all("x")).await.expect(404);
}

#[tokio::test]
async fn an_open_channel_is_reached_by_its_address() {
    let service = Service::at(NOW).await;
    service.device_with("o", "open::sms", |device| device.address = Some("+1 555".into())).await;
    let push = json!({
        "audience": { "open_channel": "+1 555" }, "device_types": ["open::sms"], "notification": { "alert": "Hi" },
    });
    service.post("/api/push", push).await.expect(202);
    assert_eq!(service.shown("o"), ["Hi"]);
}

#[tokio::test]
async fn a_segment_in_an_audience_is_evaluated_when_the_push_is_sent() {
    let service = Service::at(NOW).await;
    let german = Properties { language: Some("de".into()), ..Properties::default() };
    service.device_with("a", "ios", |device| *device.properties = german).await;
    service.device("b", "ios").await;
    let segment =
        json!({ "display_name": "German", "criteria": { "and": [{ "tag": "de", "group": "ua_locale_language" }] } });
    let id = service.post("/api/segments", segment).await.expect(201)["segment_id"].clone();
    let push = json!({ "audience": { "segment": id }, "device_types": "all", "notification": { "alert": "Hallo" } });
    service.post("/api/push", push).await.expect(202);
    assert_eq!(service.shown("a"), ["Hallo"]);
    assert!(service.got("b").is_empty());
}
