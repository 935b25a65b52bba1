//! The log of requests, the clock, pending messages, and access.

use pushplan::service::{Settings, faults};
use pushplan::source::Source;
use serde_json::{Value, json};

use super::harness::{APP, NOON, OTHER, Service};

#[tokio::test]
async fn the_log_holds_every_api_request_and_no_local_one() {
    let service = Service::start().await;
    service.api(APP, "GET", "/api/segments?limit=5", &Value::Null).await;
    service.get("/health").await;
    service.api(APP, "POST", "/api/segments", &json!({"display_name": "x"})).await;
    service.api((APP.0, "wrong"), "GET", "/api/segments/", &Value::Null).await;
    service.api(APP, "GET", &format!("/api/nothing?secret={}", APP.1), &Value::Null).await;
    let log = service.get("/requests").await;
    let shown: Vec<Value> = log["requests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|logged| json!([logged["method"], logged["path"], logged["query"], logged["status"], logged["app"]]))
        .collect();
    assert_eq!(
        shown,
        [
            json!(["GET", "/api/segments", "limit=5", 200, APP.0]),
            json!(["POST", "/api/segments", "", 400, APP.0]),
            json!(["GET", "/api/segments/", "", 401, null]),
            json!(["GET", "/api/nothing", "secret=***", 404, APP.0]),
        ]
    );
    assert_eq!(log["requests"][0]["time"], NOON);
    assert_eq!(log["requests"][1]["body_size"], json!({"display_name": "x"}).to_string().len());
    assert!(!log.to_string().contains(APP.1), "{log}");

    assert_eq!(service.get("/requests?method=POST").await["count"], 1);
    service.post("/clock", &json!({"by": "1s"})).await;
    service.api(APP, "GET", "/api/segments", &Value::Null).await;
    assert_eq!(service.get("/requests?since=2026-11-27T12:00:01Z").await["count"], 1);
    assert_eq!(service.get(&format!("/requests?app={}", APP.0)).await["count"], 4);
    assert_eq!(service.local("GET", "/requests?since=now", &Value::Null).await.0, 400);
    assert_eq!(service.local("DELETE", "/requests", &Value::Null).await.0, 204);
    assert_eq!(service.get("/requests").await["count"], 0);
}

#[tokio::test]
async fn a_request_that_a_fault_hides_is_in_the_log() {
    let rules = r#"
        [[fault]]
        kind = "status"
        status = 503
        when = "before"
        times = 1

        [[fault]]
        kind = "close"
        when = "after"
        times = 1
    "#;
    let rules = faults::read(&Source::new("faults.toml", rules)).unwrap();
    let apps = vec![(APP.0.to_owned(), APP.1.to_owned())];
    let service = Service::of(Settings { apps, faults: Some(rules), ..Settings::default() }).await;
    let segment = json!({"display_name": "x", "criteria": {"tag": "x"}});
    assert_eq!(service.api(APP, "POST", "/api/segments", &segment).await, 503);
    let request = service.request("POST", "/api/segments").basic_auth(APP.0, Some(APP.1)).body(segment.to_string());
    assert!(request.send().await.is_err(), "the connection is closed");
    let log = service.get("/requests").await;
    let shown: Vec<Value> =
        log["requests"].as_array().unwrap().iter().map(|one| json!([one["status"], one["processed"]])).collect();
    assert_eq!(shown, [json!([503, false]), json!([null, true])]);
}

#[tokio::test]
async fn the_clock_moves_forward_and_never_back() {
    let service = Service::start().await;
    assert_eq!(service.get("/clock").await, json!({"now": NOON, "virtual": true, "next_due": null}));
    let moved = service.post("/clock", &json!({"to": "2026-11-27T13:00:00Z"})).await;
    assert_eq!(moved["now"], "2026-11-27T13:00:00Z");
    for (by, now) in [(json!("90m"), "2026-11-27T14:30:00Z"), (json!(30), "2026-11-27T14:30:30Z")] {
        assert_eq!(service.post("/clock", &json!({"by": by})).await["now"], now);
    }
    for (body, status) in [
        (json!({"to": NOON}), 409),
        (json!({"by": -1}), 409),
        (json!({"by": "soon"}), 400),
        (json!({"by": "9999999w"}), 400),
        (json!({"to": "tomorrow"}), 400),
        (json!({"to": NOON, "by": "1m"}), 400),
        (json!({}), 400),
        (json!({"until": NOON}), 400),
    ] {
        let (answered, answer) = service.local("POST", "/clock", &body).await;
        assert_eq!(answered, status, "{body}: {answer}");
    }
    assert_eq!(service.get("/clock").await["now"], "2026-11-27T14:30:30Z");
    let (_, both) = service.local("POST", "/clock", &json!({"to": NOON, "by": "1m"})).await;
    assert_eq!(both["details"]["error"], "`to` or `by` says where to: both are given");
}

#[tokio::test]
async fn the_routes_are_listed_at_their_root_and_by_a_404() {
    let service = Service::start().await;
    for (path, expected) in [("", 200), ("/", 200), ("/no/such/route", 404)] {
        let (status, answer) = service.local("GET", path, &Value::Null).await;
        assert_eq!(status, expected, "{path}");
        let answer = if status == 200 { answer } else { answer["details"].clone() };
        let routes = answer["routes"].as_array().expect("routes");
        assert!(routes.contains(&json!("POST /local/devices/{id}/tap")), "{path}: {answer}");
    }
}

#[tokio::test]
async fn the_real_clock_cannot_be_moved() {
    let service = Service::with(None, &[APP]).await;
    let (status, answer) = service.local("POST", "/clock", &json!({"by": "1m"})).await;
    assert_eq!(status, 409);
    assert!(answer["error"].as_str().unwrap().contains("--clock"), "{answer}");
    assert_eq!(service.get("/clock").await["virtual"], false);
}

#[tokio::test]
async fn what_waits_is_shown_with_its_time_until_it_is_sent() {
    let service = Service::start().await;
    service.put("a", &json!({"device_type": "ios"})).await;
    let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "later"}});
    let schedule = json!({"name": "x", "schedule": {"scheduled_time": "2026-11-27T1300"}, "push": push});
    assert_eq!(service.api(APP, "POST", "/api/schedules", &schedule).await, 201);
    let due = service.get("/due").await;
    assert_eq!((&due["count"], &due["due"][0]["at"]), (&json!(1), &json!("2026-11-27T13:00:00Z")));
    assert!(due["due"][0]["what"]["schedule"].is_object(), "{due}");
    assert_eq!(service.get("/clock").await["next_due"], "2026-11-27T13:00:00Z");
    service.post("/clock", &json!({"by": "59m59s"})).await;
    assert_eq!(service.get("/due").await["count"], 1);
    assert_eq!(service.get("/sent").await["count"], 0);
    service.post("/clock", &json!({"by": "1d"})).await;
    assert_eq!(service.get("/due").await["count"], 0);
    let sent = service.get("/sent").await;
    assert_eq!((&sent["count"], &sent["sent"][0]["time"]), (&json!(1), &json!("2026-11-27T13:00:00Z")));
    assert_eq!(service.get("/devices/a/received").await["count"], 1);
}

#[tokio::test]
async fn applications_share_nothing() {
    let service = Service::with(Some(NOON.parse().unwrap()), &[OTHER, APP]).await;
    let own = format!("a?app={}", OTHER.0);
    service.put(&own, &json!({"device_type": "ios", "tags": ["x"]})).await;
    assert_eq!(service.get(&format!("/devices?app={}", OTHER.0)).await["count"], 1);
    assert_eq!(service.get(&format!("/devices?app={}", APP.0)).await["count"], 0);
    let path = format!("/devices/a?app={}", APP.0);
    assert_eq!(service.local("GET", &path, &Value::Null).await.0, 404);
    service.local("PUT", &path, &json!({"device_type": "android"})).await;
    assert_eq!(service.get(&format!("/devices/{own}")).await["device"]["device_type"], "ios");
    let count = service.post(&format!("/audience?app={}", APP.0), &json!({"audience": {"tag": "x"}})).await;
    assert_eq!(count["count"], 0);

    let segment = json!({"display_name": "x", "criteria": {"tag": "x"}});
    assert_eq!(service.api(OTHER, "POST", "/api/segments", &segment).await, 201);
    for (app, there) in [(OTHER, 1), (APP, 0)] {
        let list = service.request("GET", "/api/segments").basic_auth(app.0, Some(app.1)).send().await.unwrap();
        let list: Value = serde_json::from_str(&list.text().await.unwrap()).unwrap();
        assert_eq!(list["segments"].as_array().unwrap().len(), there);
    }
    assert_eq!(service.api((OTHER.0, APP.1), "GET", "/api/segments", &Value::Null).await, 401);
    assert_eq!(service.local("GET", "/devices?app=none", &Value::Null).await.0, 404);
}

#[tokio::test]
async fn pages_of_other_sites_and_proxies_are_not_let_in() {
    let service = Service::start().await;
    for (name, value) in
        [("host", "evil.example"), ("origin", "https://evil.example"), ("x-forwarded-for", "192.0.2.7")]
    {
        let response = service.request("GET", "/local/devices").header(name, value).send().await.unwrap();
        assert_eq!(response.status().as_u16(), 403, "{name}: {value}");
    }
    assert_eq!(service.local("GET", "/nothing", &Value::Null).await.0, 404);
    assert_eq!(service.local("POST", "/health", &Value::Null).await.0, 405);
    assert_eq!(service.get("/health").await["ok"], true);
}
