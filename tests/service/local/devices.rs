//! Devices and the actions of their users.

use pushplan::service::population;
use serde_json::{Value, json};

use super::harness::{APP, NOON, OTHER, Service};

#[tokio::test]
async fn a_device_registers_changes_and_goes() {
    let service = Service::start().await;
    let device = json!({ "device_type": "ios", "tags": {"loyalty": ["gold"]}, "properties": {"country": "US"} });
    let (status, new) = service.local("PUT", "/devices/a", &device).await;
    assert_eq!(status, 201);
    assert_eq!(new["device"]["opt_in"], true);
    assert_eq!(new["property_tags"]["ua_locale_country"], "US");
    assert_eq!(service.count(json!({"tag": "gold", "group": "loyalty"})).await, 1);

    let (status, changed) =
        service.local("PATCH", "/devices/a", &json!({"properties": {"language": "de"}, "tags": ["vip"]})).await;
    assert_eq!(status, 200);
    assert_eq!(changed["device"]["properties"], json!({"country": "US", "language": "de"}));
    assert_eq!(changed["device"]["tags"], json!({"": ["vip"], "loyalty": ["gold"]}));

    // The group `device` means the tags that are in no group.
    let grouped = json!({"tags": {"device": ["vip", "new"]}});
    let (_, changed) = service.local("PATCH", "/devices/a", &grouped).await;
    assert_eq!(changed["device"]["tags"], json!({"": ["new", "vip"], "loyalty": ["gold"]}));
    assert_eq!(service.count(json!({"tag": "new", "group": "device"})).await, 1);

    let (status, replaced) = service.local("PUT", "/devices/a", &json!({"device_type": "android"})).await;
    assert_eq!(status, 200);
    assert_eq!(replaced["device"]["tags"], json!({}));
    assert_eq!(replaced["created"], new["created"]);
    assert_eq!(service.count(json!({"tag": "gold", "group": "loyalty"})).await, 0);

    assert_eq!(service.count(json!("all")).await, 1);
    assert_eq!(service.local("DELETE", "/devices/a", &Value::Null).await.0, 204);
    assert_eq!(service.count(json!("all")).await, 0);
    assert_eq!(service.get("/devices/a").await["installed"], false);
    assert_eq!(service.local("DELETE", "/devices/a", &Value::Null).await.0, 404);
}

#[tokio::test]
async fn a_refused_device_leaves_nothing_behind() {
    let service = Service::start().await;
    for body in [
        json!({"device_type": "ios", "colour": "red"}),
        json!({"device_type": "ios", "properties": {"colour": "red"}}),
        json!({"device_type": "phone"}),
        json!({"opt_in": true}),
        json!({"device_type": null}),
        json!({"device_type": "ios", "opt_in": "yes"}),
        json!({"device_type": "ios", "tags": "vip"}),
        json!({"device_type": "ios", "tags": [""]}),
        json!({"device_type": "ios", "tags": {"ua_locale_country": ["US"]}}),
        json!({"device_type": "ios", "seen_at": {"berlin": "yesterday"}}),
        json!({"device_type": "ios", "named_user": " ada"}),
        json!({"device_type": "ios", "id": "b"}),
        json!([]),
        json!("x"),
    ] {
        let (status, answer) = service.local("PUT", "/devices/a", &body).await;
        assert_eq!((status, answer["ok"].as_bool()), (400, Some(false)), "{body}");
    }
    assert_eq!(service.local("PUT", "/devices/a%2Fb", &json!({"device_type": "ios"})).await.0, 400);
    assert_eq!(service.local("PATCH", "/devices/a", &json!({"opt_in": true})).await.0, 404);
    assert_eq!(service.get("/devices").await["count"], 0);

    service.put("a", &json!({"device_type": "ios"})).await;
    let before = service.get("/devices/a").await;
    for body in [json!({"opt_in": null}), json!({"tags": ["x"], "device_type": null}), json!({"colour": 1})] {
        assert_eq!(service.local("PATCH", "/devices/a", &body).await.0, 400, "{body}");
    }
    assert_eq!(service.get("/devices/a").await, before);
}

#[tokio::test]
async fn devices_are_listed_in_pages() {
    let service = Service::start().await;
    for id in ["a", "b", "c"] {
        service.put(id, &json!({"device_type": "web"})).await;
    }
    let ids = |page: &Value| -> Vec<String> {
        page["devices"].as_array().unwrap().iter().map(|device| device["id"].as_str().unwrap().to_owned()).collect()
    };
    let first = service.get(&format!("/devices?limit=2&app={}", APP.0)).await;
    assert_eq!((ids(&first), &first["count"]), (vec!["a".to_owned(), "b".to_owned()], &json!(3)));
    let next = first["next_page"].as_str().unwrap().split("/local").nth(1).unwrap().to_owned();
    assert!(next.contains(APP.0), "{next}");
    let second = service.get(&next).await;
    assert_eq!(ids(&second), ["c"]);
    assert_eq!(second.get("next_page"), None);
}

#[tokio::test]
async fn a_device_shows_what_it_received_and_what_was_done_with_it() {
    let service = Service::start().await;
    service.put("a", &json!({"device_type": "ios"})).await;
    service.put("silent", &json!({"device_type": "ios", "opt_in": false})).await;
    let first = service.send(&json!({"notification": {"alert": "one", "actions": {"add_tag": "keen"}}})).await;
    let rich = json!({
        "notification": {"alert": "two"}, "device_types": ["ios"], "message": {"title": "t", "body": "b"},
    });
    let second = service.send(&rich).await;

    let received = service.get("/devices/a/received").await;
    let ids: Vec<&str> =
        received["received"].as_array().unwrap().iter().map(|got| got["push_id"].as_str().unwrap()).collect();
    assert_eq!(ids, [second.as_str(), first.as_str()]);
    let silent = service.get("/devices/silent/received").await;
    assert_eq!(silent["count"], 1);
    assert_eq!(silent["received"][0]["notification"], Value::Null);

    service.post("/devices/a/tap", &json!({"push_id": first})).await;
    assert_eq!(service.count(json!({"tag": "keen"})).await, 1);
    service.post("/devices/a/read", &json!({"push_id": second})).await;
    service.post("/devices/a/delete", &json!({"push_id": second})).await;
    let after = service.get("/devices/a/received").await;
    assert_eq!(after["received"][0]["deleted"], true);
    assert!(after["received"][0]["read"].is_string());
    assert!(after["received"][1]["tapped"].is_string());

    for (path, body) in [
        ("/devices/a/tap", json!({"push_id": "none"})),
        ("/devices/silent/tap", json!({"push_id": second})),
        ("/devices/a/tap", json!({"push_id": first, "button": "none"})),
        ("/devices/a/read", json!({"push_id": first})),
    ] {
        assert_eq!(service.local("POST", path, &body).await.0, 409, "{path} {body}");
    }
    assert_eq!(service.local("POST", "/devices/none/tap", &json!({"push_id": first})).await.0, 404);
    assert_eq!(service.local("POST", "/devices/a/tap", &json!({})).await.0, 400);
    let sent = service.get("/sent").await;
    assert_eq!(sent["count"], 2);
    assert_eq!(sent["sent"][0]["push_id"], first.as_str());
    assert_eq!(sent["sent"][1]["sends"]["ios"], 2);
}

#[tokio::test]
async fn opening_the_app_is_remembered() {
    let service = Service::start().await;
    service.put("a", &json!({"device_type": "ios"})).await;
    assert_eq!(service.get("/devices/a").await["first_opened"], Value::Null);
    service.post("/devices/a/open", &Value::Null).await;
    service.post("/clock", &json!({"by": "90m"})).await;
    service.post("/devices/a/open", &json!({"seconds": 30})).await;
    let device = service.get("/devices/a").await;
    assert_eq!(device["first_opened"], NOON);
    assert_eq!(device["last_opened"], "2026-11-27T13:30:00Z");
    for seconds in [json!(-1), json!(1_000_000), json!("30")] {
        assert_eq!(service.local("POST", "/devices/a/open", &json!({"seconds": seconds})).await.0, 400);
    }
    service.local("DELETE", "/devices/a", &Value::Null).await;
    assert_eq!(service.local("POST", "/devices/a/open", &Value::Null).await.0, 409);
}

#[tokio::test]
async fn being_seen_somewhere_puts_a_device_into_the_audience_of_that_place() {
    let service = Service::start().await;
    service.put("a", &json!({"device_type": "ios"})).await;
    let recently = json!({"location": {"id": "berlin", "date": {"recent": {"months": 2}}}});
    assert_eq!(service.count(recently.clone()).await, 0);
    service.post("/devices/a/seen", &json!({"location": "berlin", "at": "2026-08-01T00:00:00Z"})).await;
    assert_eq!(service.count(recently.clone()).await, 0);
    assert_eq!(service.count(json!({"location": {"id": "berlin"}})).await, 1);
    service.post("/devices/a/seen", &json!({"location": "berlin"})).await;
    assert_eq!(service.count(recently.clone()).await, 1);
    // An older time that is reported late does not hide the newer one.
    service.post("/devices/a/seen", &json!({"location": "berlin", "at": "2026-08-01T00:00:00Z"})).await;
    assert_eq!(service.count(recently).await, 1);
    let ahead = json!({"location": "berlin", "at": "2026-12-01T00:00:00Z"});
    assert_eq!(service.local("POST", "/devices/a/seen", &ahead).await.0, 400);
}

#[tokio::test]
async fn events_of_the_app_are_in_the_stream() {
    let service = Service::start().await;
    service.put("a", &json!({"device_type": "ios"})).await;
    let start = service.get("/events").await["next"].clone();
    let bought = json!({"name": "bought", "properties": {"price": 5, "what": "hat"}});
    service.post("/devices/a/event", &bought).await;
    service.post("/devices/a/event", &json!({"type": "SCREEN_VIEWED", "name": "basket"})).await;
    service.post("/devices/a/event", &json!({"type": "IN_APP_MESSAGE_DISPLAY"})).await;
    let after = start.as_str().map_or(String::new(), |offset| format!("?after={offset}"));
    let events = service.get(&format!("/events{after}")).await;
    let types: Vec<&str> =
        events["events"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["CUSTOM", "SCREEN_VIEWED", "IN_APP_MESSAGE_DISPLAY"]);
    let custom = &events["events"][0];
    assert_eq!(custom["device"]["ios_channel"], "a");
    assert_eq!((&custom["body"]["name"], &custom["body"]["properties"]), (&bought["name"], &bought["properties"]));
    assert!(custom["body"]["session_id"].is_string());
    let none = service.get(&format!("/events?after={}", events["next"].as_str().unwrap())).await;
    assert_eq!((&none["count"], &none["next"]), (&json!(0), &events["next"]));

    for body in [
        json!({"type": "SEND"}),
        json!({"type": "nothing", "name": "x"}),
        json!({}),
        json!({"type": "REGION"}),
        json!({"name": "x", "properties": {"a": {}}}),
        json!({"name": "x", "more": 1}),
    ] {
        assert_eq!(service.local("POST", "/devices/a/event", &body).await.0, 400, "{body}");
    }
}

#[tokio::test]
async fn samples_go_into_empty_applications_only() {
    let service = Service::with(None, &[APP, OTHER]).await;
    service.put(&format!("mine?app={}", APP.0), &json!({"device_type": "ios"})).await;
    let filled = population::fill(&service.running.engine, |place| population::sample(30, place as u64)).await.unwrap();
    assert_eq!(filled, [(1, false), (30, true)]);
    let again = population::fill(&service.running.engine, |place| population::sample(40, place as u64)).await.unwrap();
    assert_eq!(again, [(1, false), (30, false)]);
    assert_eq!(service.get(&format!("/devices?app={}", OTHER.0)).await["count"], 30);
    assert_eq!(service.get(&format!("/events?app={}", OTHER.0)).await["count"], 0, "they are no news");
}
