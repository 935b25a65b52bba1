//! Requests to the control API, and its answers to invalid ones.

use serde_json::{Value, json};

use super::harness::{APP, NOON, OTHER, Service};

/// The error and its details of a refused request, with the status.
async fn refused(service: &Service, method: &str, path: &str, body: &Value) -> (u16, String) {
    let (status, answer) = service.local(method, path, body).await;
    assert_eq!(answer["ok"], false, "{method} {path}: {answer}");
    (status, format!("{} {}", answer["error"].as_str().unwrap_or_default(), answer["details"]))
}

async fn assert_refused(service: &Service, asked: (&str, &str, Value), status: u16, says: &[&str]) {
    let (method, path, body) = asked;
    let (found, words) = refused(service, method, path, &body).await;
    assert_eq!(found, status, "{method} {path}: {words}");
    for part in says {
        assert!(words.contains(part), "{method} {path} {body}: {words} lacks {part}");
    }
}

#[tokio::test]
async fn one_of_several_applications_is_chosen_by_key_or_by_credentials_and_never_guessed() {
    let service = Service::with(Some(NOON.parse().unwrap()), &[APP, OTHER]).await;
    let phone = json!({ "device_type": "ios" });
    let which = [APP.0, OTHER.0, "?app=KEY", "credentials"];
    assert_refused(&service, ("PUT", "/devices/a", phone.clone()), 400, &which).await;
    assert_refused(&service, ("GET", "/devices", Value::Null), 400, &which).await;
    let (status, words) = refused(&service, "GET", "/devices?app=nobody", &Value::Null).await;
    assert!(status == 404 && words.contains(APP.0) && words.contains(OTHER.0), "{status}: {words}");

    let put = service.request("PUT", "/local/devices/a").basic_auth(OTHER.0, Some(OTHER.1)).body(phone.to_string());
    assert_eq!(put.send().await.unwrap().status().as_u16(), 201);
    let wrong = service.request("GET", "/local/devices").basic_auth(OTHER.0, Some("wrong"));
    assert_eq!(wrong.send().await.unwrap().status().as_u16(), 400);
    assert_eq!(service.get(&format!("/devices?app={}", OTHER.0)).await["count"], 1);
    assert_eq!(service.get(&format!("/devices?app={}", APP.0)).await["count"], 0);

    // Requests about the whole service need no application.
    assert_eq!(service.get("/health").await["apps"], 2);
    service.get("/requests").await;
    service.post("/clock", &json!({ "by": 1 })).await;
}

#[tokio::test]
async fn a_method_that_is_not_possible_is_answered_with_those_that_are() {
    let service = Service::start().await;
    for (method, path, allow, words) in [
        ("PUT", "/api/push", "POST", "PUT is not possible here; POST is"),
        ("PATCH", "/api/segments", "GET, POST", "PATCH is not possible here; GET or POST is"),
        ("POST", "/local/devices/a", "GET, PUT, PATCH, DELETE", "GET, PUT, PATCH or DELETE is"),
        ("POST", "/local/sent", "GET", "GET is"),
    ] {
        let response = service.request(method, path).basic_auth(APP.0, Some(APP.1)).send().await.unwrap();
        assert_eq!(response.status().as_u16(), 405, "{method} {path}");
        assert_eq!(response.headers()["allow"], allow, "{method} {path}");
        let body = response.text().await.unwrap();
        assert!(body.contains(words), "{body}");
    }
}

#[tokio::test]
async fn what_means_nothing_in_the_query_is_refused() {
    let service = Service::start().await;
    for (path, says) in [
        ("/devices?tag=vip", "`tag` means nothing in the query here; `app`, `start` or `limit` does"),
        ("/requests?until=2026-11-27T12:00:00Z", "`since`"),
        ("/events?type=SEND", "`after`"),
        ("/sent?limit=1", "`app` does"),
        ("/clock?now=1", "`now`"),
    ] {
        assert_refused(&service, ("GET", path, Value::Null), 400, &[says]).await;
    }
    service.get("/devices?limit=1&start=a").await;
}

#[tokio::test]
async fn a_segment_that_is_not_there_is_named_with_the_count() {
    let service = Service::start().await;
    service.put("a", &json!({ "device_type": "ios" })).await;
    let nested = json!({ "display_name": "x", "criteria": { "or": [{ "segment": "lost" }, { "tag": "x" }] } });
    let made = service.request("POST", "/api/segments").basic_auth(APP.0, Some(APP.1)).body(nested.to_string());
    let made: Value = serde_json::from_str(&made.send().await.unwrap().text().await.unwrap()).unwrap();
    let known = made["segment_id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();

    let count = async |audience: Value| service.post("/audience", &json!({ "audience": audience })).await;
    let answer = count(json!({ "or": [{ "segment": "none" }, { "not": { "segment": "none" } }] })).await;
    assert_eq!((&answer["count"], &answer["unknown_segments"]), (&json!(1), &json!(["none"])));
    assert_eq!(count(json!({ "segment": known })).await["unknown_segments"], json!(["lost"]));
    assert_eq!(count(json!("all")).await.get("unknown_segments"), None);
}

#[tokio::test]
async fn a_clock_that_cannot_go_there_says_why() {
    let service = Service::start().await;
    for (body, status, says) in [
        (json!({ "by": "-1h" }), 409, "never goes back: 2026-11-27T11:00:00Z is past"),
        (json!({ "by": -3600 }), 409, "never goes back"),
        (json!({ "by": "soon" }), 400, "`soon` is no length of time"),
        (json!({ "by": "soon" }), 400, "90s, 15m, 1h30m or 2d"),
        (json!({ "to": "2035-11-23T10:00" }), 400, "does not say in which time zone: write 2035-11-23T10:00Z for UTC"),
        (json!({ "to": "tomorrow" }), 400, "`tomorrow` is not a time such as 2026-11-27T09:00:00Z"),
    ] {
        assert_refused(&service, ("POST", "/clock", body), status, &[says]).await;
    }
    assert_eq!(service.get("/clock").await["now"], NOON);
}

#[tokio::test]
async fn a_device_type_that_there_is_not_is_told_with_those_that_are() {
    let service = Service::start().await;
    let asked = ("PUT", "/devices/a", json!({ "device_type": "phone" }));
    assert_refused(&service, asked, 400, &["`phone` is not a device type", "ios, android, amazon, web"]).await;
}

#[tokio::test]
async fn moving_the_clock_tells_how_much_was_sent_meanwhile() {
    let service = Service::start().await;
    for id in ["a", "b", "c"] {
        service.put(id, &json!({ "device_type": "ios" })).await;
    }
    for time in ["2026-11-27T13:00:00", "2026-11-27T14:00:00", "2026-11-27T18:00:00"] {
        let push = json!({ "audience": "all", "device_types": "all", "notification": { "alert": "Hi" } });
        let body = json!({ "schedule": { "scheduled_time": time }, "push": push });
        assert_eq!(service.api(APP, "POST", "/api/schedules", &body).await, 201);
    }
    let moved = service.post("/clock", &json!({ "by": "3h" })).await;
    assert_eq!(moved["sent"], json!({ "pushes": 2, "sends": 6 }), "{moved}");
    assert_eq!(moved["now"], "2026-11-27T15:00:00Z");
    let moved = service.post("/clock", &json!({ "by": "1h" })).await;
    assert_eq!(moved["sent"], json!({ "pushes": 0, "sends": 0 }), "{moved}");
}
