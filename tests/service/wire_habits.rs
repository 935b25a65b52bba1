//! The habits of the live service's clients, and the errors that they get.

use pushplan::service::Level;
use serde_json::{Value, json};

use crate::support::wire::{Reply, exchange, request};
use crate::support::{PHONE, World, table};

const SEGMENT: &str = r#"{"display_name":"Readers","criteria":{"tag":"news"}}"#;

async fn send(world: &World, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    exchange(world.running.address, &request(method, &world.with_ids(path), headers, body.as_bytes())).await
}

#[tokio::test]
async fn a_body_needs_no_content_type_and_a_get_may_have_one() {
    let world = World::new(Level::Documented).await;
    for headers in [
        &[][..],
        &[("Content-Type", "application/json")],
        &[("Content-Type", "application/json; charset=UTF-8")],
        &[("Content-Type", "text/plain")],
        &[("Content-Type", "application/x-www-form-urlencoded")],
    ] {
        assert_eq!(send(&world, "POST", "/api/segments", headers, SEGMENT).await.status, 201, "{headers:?}");
        assert_eq!(send(&world, "GET", "/api/segments", headers, "").await.status, 200, "{headers:?}");
        assert_eq!(send(&world, "DELETE", "/api/templates/none", headers, "").await.status, 404, "{headers:?}");
    }
    // A GET with a body, and a POST that says it has none.
    assert_eq!(send(&world, "GET", "/api/segments", &[], "{}").await.status, 200);
    assert_eq!(send(&world, "PUT", "/api/tags/a", &[("Content-Length", "0")], "").await.status, 201);
    world.stop().await;
}

#[tokio::test]
async fn the_version_is_three_however_it_is_written() {
    let world = World::new(Level::Documented).await;
    for (accept, status) in [
        ("application/vnd.messaging+json; version=3", 200),
        ("application/vnd.messaging+json; version=3;", 200),
        ("application/vnd.messaging+json;version=3", 200),
        ("application/vnd.other+json; version=3", 200),
        ("*/*", 200),
        ("application/json", 200),
        ("application/vnd.messaging+json; version=4", 406),
    ] {
        let reply = send(&world, "GET", "/api/segments", &[("Accept", accept)], "").await;
        assert_eq!(reply.status, status, "{accept}");
        assert_eq!(reply.header("content-type"), Some("application/vnd.messaging+json; version=3"), "{accept}");
    }
    world.stop().await;
}

#[tokio::test]
async fn enabled_is_a_word_in_any_case() {
    let world = World::new(Level::Documented).await;
    for (word, number) in [("true", 1), ("True", 1), ("TRUE", 1), ("false", 0), ("False", 0)] {
        let list = send(&world, "GET", &format!("/api/pipelines?enabled={word}"), &[], "").await.json();
        assert_eq!(list["pipelines"].as_array().map(Vec::len), Some(number), "{word}");
    }
    assert_eq!(send(&world, "GET", "/api/pipelines?enabled=maybe", &[], "").await.status, 400);
    world.stop().await;
}

#[tokio::test]
async fn dates_are_understood_in_every_form() {
    let world = World::new(Level::Documented).await;
    for start in [
        "2026-11-01",
        "2026-11-1",
        "2026-11-01%2000:00",
        "2026-11-01+00%3A00%3A00",
        "2026-11-01T00:00:00",
        "2026-11-1+0%3A00",
    ] {
        let path = format!("/api/reports/sends/?start={start}&end=2026-12-01+00%3A00%3A00&precision=MONTHLY");
        let reply = send(&world, "GET", &path, &[], "").await;
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        assert_eq!(
            reply.json()["sends"][0],
            json!({ "date": "2026-11-01 00:00:00", "ios": 1, "android": 1 }),
            "{path}"
        );
    }
    world.stop().await;
}

#[tokio::test]
async fn slashes_at_the_end_and_doubled_ones_do_not_count() {
    let world = World::new(Level::Documented).await;
    let tags = json!([{ "ios_channel": PHONE, "tags": ["a"] }]).to_string();
    for path in ["/api/tags/batch", "/api/tags/batch/", "/api/tags//batch", "/api/tags//batch/", "//api//tags//batch//"]
    {
        for method in ["PUT", "POST"] {
            assert_eq!(send(&world, method, path, &[], &tags).await.status, 200, "{method} {path}");
        }
    }
    assert_eq!(send(&world, "GET", "/api/channels/$phone/", &[], "").await.json()["channel"]["tags"], json!(["a"]));
    world.stop().await;
}

#[tokio::test]
async fn what_was_made_is_there_at_once() {
    let world = World::new(Level::Extended).await;
    let made = [
        ("/api/segments", table::segment(), "/segment_id", "/api/segments/"),
        ("/api/templates", table::template(), "/template_id", "/api/templates/"),
        ("/api/pipelines", table::pipeline(), "/pipeline_urls/0", ""),
        ("/api/schedules", table::schedule(), "/schedule_urls/0", ""),
        ("/api/experiments", table::experiment(), "/experiment_id", "/api/experiments/"),
    ];
    let origin = format!("http://{}", world.running.address);
    for (path, body, pointer, at) in made {
        let reply = world.call("POST", path, Some(&body)).await;
        let answer = reply.json();
        let id = answer.pointer(pointer).and_then(Value::as_str).expect("an id");
        let place = format!("{at}{}", id.strip_prefix(&origin).unwrap_or(id));
        assert_eq!(world.call("GET", &place, None).await.status, 200, "{place}");
        if let Some(location) = reply.header("location") {
            assert_eq!(location.strip_prefix(&origin), Some(place.as_str()));
        }
    }
    world.stop().await;
}

#[tokio::test]
async fn urls_use_the_origin_that_the_client_called() {
    let world = World::new(Level::Extended).await;
    let host = [("Host", "localhost:8080")];
    let reply = send(&world, "POST", "/api/segments", &host, SEGMENT).await;
    assert!(reply.header("location").is_some_and(|url| url.starts_with("http://localhost:8080/api/segments/")));
    let pipelines = send(&world, "POST", "/api/pipelines", &host, &table::pipeline().to_string()).await.json();
    let listed = send(&world, "GET", "/api/pipelines?limit=1", &host, "").await.json();
    let channels = send(&world, "GET", "/api/channels?limit=1", &host, "").await.json();
    let templates = send(&world, "GET", "/api/templates?page=2", &host, "").await.json();
    for url in [
        &pipelines["pipeline_urls"][0],
        &listed["pipelines"][0]["url"],
        &listed["next_page"],
        &channels["next_page"],
        &templates["prev_page"],
    ] {
        assert!(url.as_str().is_some_and(|url| url.starts_with("http://localhost:8080/api/")), "{url}");
    }
    // The form for a proxy names the host in the request line.
    let absolute = send(&world, "POST", "http://127.0.0.2:81/api/segments", &[], SEGMENT).await;
    assert!(absolute.header("location").is_some_and(|url| url.starts_with("http://127.0.0.2:81/api/segments/")));
    world.stop().await;
}

#[tokio::test]
async fn errors_say_what_where_and_why() {
    let world = World::new(Level::Documented).await;
    let refused = |status: u16, code: u32, error: &str, details: Value| {
        let mut body = json!({ "ok": false, "operation_id": "<uuid>", "error": error, "error_code": code });
        if !details.is_null() {
            body["details"] = details;
        }
        (status, body)
    };
    let parse = "Could not parse request body.";
    let cases = [
        ("GET", "/api/segments/nothing", "", refused(404, 40401, "Segment not found", Value::Null)),
        ("GET", "/api/nothing", "", refused(404, 40401, "<any>", Value::Null)),
        ("PATCH", "/api/segments", "", refused(405, 40501, "<any>", Value::Null)),
        (
            "POST",
            "/api/segments",
            "{\n  \"display_name\" 1}",
            refused(400, 40000, parse, json!({ "error": "<any>", "location": { "line": 2, "column": 18 } })),
        ),
        (
            "POST",
            "/api/named_users/associate",
            r#"{"channel_id":"x","device_type":"ios","named_user_id":"u"}"#,
            refused(404, 40404, "<any>", json!({ "error": "<any>" })),
        ),
    ];
    for (method, path, body, (status, expected)) in cases {
        let reply = send(&world, method, path, &[], body).await;
        let answer = world.named(&reply.json());
        assert_eq!(reply.status, status, "{method} {path}: {answer:#}");
        assert!(
            crate::support::wire::alike(&expected, &answer),
            "{method} {path} answers {answer:#}\nand not {expected:#}"
        );
    }
    let segment = "{\n  \"display_name\": \"a\",\n  \"criteria\": {\"tag\": \"b\"},\n  \"extra\": 1\n}";
    let answer = send(&world, "POST", "/api/segments", &[], segment).await.json();
    assert_eq!(answer["error_code"], 40000, "{answer:#}");
    assert_eq!(answer["details"]["path"], "extra", "{answer:#}");
    assert_eq!(answer["details"]["location"], json!({ "line": 4, "column": 3 }), "{answer:#}");
    let update = world.with_ids("/api/templates/$template");
    for (path, body, place) in [
        (update.as_str(), r#"{"name":"a","variables":[]}"#, "variables"),
        (
            "/api/templates",
            r#"{"name":"a","push":{"notification":{"actions":{"share":5}}}}"#,
            "push.notification.actions.share",
        ),
        (
            "/api/push",
            r#"{"audience":"all","device_types":"all","notification":{"alert1":"a","web":{"x":1}}}"#,
            "notification.web.x",
        ),
        (
            "/api/push",
            r#"[{"audience":{"or":[{"tag":"a"},{"tag":5}]},"device_types":"all","notification":{}}]"#,
            "[0].audience.or[1].tag",
        ),
        (
            "/api/push",
            r#"{"audience":"all","device_types":"all","notification":{"alert":"a","ios":{"badge":"many"}}}"#,
            "notification.ios.badge",
        ),
        (
            "/api/push",
            r#"{"audience":"all","device_types":"all","notification":{"alert":"a","android":{"priority":3}}}"#,
            "notification.android.priority",
        ),
        (
            "/api/push",
            r#"{"audience":"all","device_types":"all","notification":{"alert":"a","open::x":{"title":5}}}"#,
            "notification.open::x.title",
        ),
        ("/api/pipelines", r#"{"enabled":"yes"}"#, "enabled"),
        // A missing field is reported for the object, a wrong type for the field.
        ("/api/named_users/associate", r#"{"channel_id":"x","device_type":"ios"}"#, ""),
        ("/api/push", r#"[{"audience":"all","device_types":"all","notification":{}},{"audience":"all"}]"#, "[1]"),
        ("/api/segments", r#"[{"display_name":"a"}]"#, ""),
        ("/api/segments", r#"{"display_name":{"a":1},"criteria":{"tag":"a"}}"#, "display_name"),
        ("/api/segments", r#"{"display_name":"a","criteria":{"NOT":[{"tag":"a"}]}}"#, "criteria.NOT"),
        ("/api/segments", r#"{"display_name":"a","criteria":{"tag":"a","x-note":"b"}}"#, "criteria.x-note"),
        (
            "/api/push",
            r#"{"audience":"all","device_types":"all","notification":{"alert1":"a","ios":{},"open::x":{}}}"#,
            "notification.alert1",
        ),
    ] {
        let answer = send(&world, "POST", path, &[], body).await.json();
        assert_eq!((&answer["error_code"], &answer["details"]["path"]), (&json!(40000), &json!(place)), "{answer:#}");
    }
    // For several items in one request, the path names the item.
    let push = r#"{"audience":"all","device_types":"all","notification":{"alert":"a"}}"#;
    let mute = r#"{"audience":"all","device_types":"all"}"#;
    let triggered = r#"{"audience":"triggered","device_types":"all","notification":{"alert":"a"}}"#;
    let pipeline =
        |outcome: &str| format!(r#"{{"enabled":true,"immediate_trigger":"first_open","outcome":{outcome}}}"#);
    let two = format!(r#"[{{"push":{triggered}}},{{"push":{triggered},"delay":-1}}]"#);
    let schedule = |push: &str| format!(r#"{{"schedule":{{"scheduled_time":"2030-01-01T0000"}},"push":{push}}}"#);
    for (path, body, place) in [
        ("/api/push", mute.to_owned(), "notification"),
        ("/api/push", format!("[{push},{mute}]"), "[1].notification"),
        ("/api/schedules", format!("[{},{}]", schedule(push), schedule(mute)), "[1].push.notification"),
        ("/api/pipelines", pipeline(&format!(r#"{{"push":{push}}}"#)), "outcome.push.audience"),
        ("/api/pipelines", format!("[{}]", pipeline(&two)), "[0].outcome[1].delay"),
    ] {
        let answer = send(&world, "POST", path, &[], &body).await.json();
        assert_eq!((&answer["error_code"], &answer["details"]["path"]), (&json!(40001), &json!(place)), "{answer:#}");
    }
    world.stop().await;
}

#[tokio::test]
async fn nobody_is_told_to_write_what_the_wire_does_not_have() {
    let world = World::new(Level::Extended).await;
    let push = |more: &str| format!(r#"{{"audience":"all","device_types":"all","notification":{{}},{more}}}"#);
    let schedule = |time: &str| format!(r#"{{"schedule":{{"scheduled_time":"2030-01-01T09:00"{time}}},"push":{{}}}}"#);
    let delay = r#"{"enabled":true,"immediate_trigger":"first_open","outcome":{"delay":"1h","push":{}}}"#;
    for (path, body, wrong) in [
        ("/api/push", push(r#""template":"a""#), "unknown key `template`"),
        ("/api/push", push(r#""options":{}"#), "unknown key `options`"),
        ("/api/schedules", schedule(r#","time_zone":"Europe/Paris""#), "unknown key `time_zone`"),
        ("/api/schedules", schedule("").replace("09:00", "09:00+02:00"), "a send time has no offset"),
        ("/api/pipelines", delay.to_owned(), "is not a duration"),
    ] {
        let answer = send(&world, "POST", path, &[], &body).await.json();
        let details = &answer["details"];
        assert!(details["error"].as_str().is_some_and(|error| error.contains(wrong)), "{answer:#}");
        let help = details["help"].as_str().unwrap_or("none");
        let possible = ["`template`", "`substitutions`", "time_zone", "1h30m"].iter().all(|own| !help.contains(own));
        assert!(possible && help.trim() != "expected", "{path}: {help}");
    }
    world.stop().await;
}

#[tokio::test]
async fn a_channel_of_another_type_is_told_from_one_that_is_not_there() {
    let world = World::new(Level::Documented).await;
    let tags = |id: &str| format!(r#"{{"audience":{{"ios_channel":"{}"}},"add":{{"g":["t"]}}}}"#, world.with_ids(id));
    for (id, expected) in [("$robot", "is of the type android, not ios"), ("nobody", "there is no such channel")] {
        let reply = send(&world, "POST", "/api/channels/tags", &[], &tags(id)).await;
        let answer = reply.json();
        assert_eq!((reply.status, &answer["error_code"]), (404, &json!(40404)), "{answer:#}");
        assert!(answer["details"]["error"].as_str().is_some_and(|error| error.contains(expected)), "{answer:#}");
    }
    let reply = send(&world, "PUT", "/api/tags/%ff", &[], "").await;
    assert_eq!(reply.status, 400, "{}", reply.text());
    world.stop().await;
}
