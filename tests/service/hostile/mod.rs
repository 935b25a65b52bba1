//! Invalid requests: each is refused or answered, and none breaks anything.

mod connections;
mod values;

use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};

use pushplan::service::Level;
use serde_json::{Value, json};

use crate::support::table;
use crate::support::wire::{Reply, exchange, request};
use crate::support::{PHONE, World};

/// The number of panics in any thread, including the service's.
static PANICS: AtomicUsize = AtomicUsize::new(0);

fn count_panics() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let is_test = |file: &str| file.starts_with("tests") || file.starts_with("crates");
            let ours = info.location().is_some_and(|place| !is_test(place.file()));
            PANICS.fetch_add(usize::from(ours), Ordering::SeqCst);
            usual(info);
        }));
    });
}

/// Checks that the service still answers, and that nothing in it has panicked.
async fn assert_well(world: &World) {
    let reply = world.call("POST", "/api/segments", Some(&table::segment())).await;
    assert_eq!(reply.status, 201, "{}", reply.text());
    assert_eq!(PANICS.load(Ordering::SeqCst), 0, "something panicked");
}

fn assert_no_failure(what: &str, status: u16) {
    assert!((200..500).contains(&status), "{what} gives {status}");
}

async fn world() -> World {
    count_panics();
    crate::support::local::world(Level::Extended).await
}

#[tokio::test]
async fn a_body_of_five_mebibytes_is_read_and_one_byte_more_is_too_large() {
    let world = world().await;
    let segment = |length: usize| {
        let start = r#"{"display_name":"a","criteria":{"tag":"b"}"#;
        format!("{start}{}}}", " ".repeat(length - start.len() - 1))
    };
    let limit = 5 * 1024 * 1024;
    for (length, status, code) in
        [(limit, 201, Value::Null), (limit + 1, 413, json!(41307)), (limit * 4, 413, json!(41307))]
    {
        let bytes = request("POST", "/api/segments", &[], segment(length).as_bytes());
        let reply = exchange(world.running.address, &bytes).await;
        assert_eq!((reply.status, &reply.json()["error_code"]), (status, &code), "{length} bytes");
        // A chunked body, which declares no length, gets this status too.
        let text = segment(length);
        let mut chunked = Vec::new();
        for chunk in text.as_bytes().chunks(60_000) {
            chunked.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
            chunked.extend_from_slice(chunk);
            chunked.extend_from_slice(b"\r\n");
        }
        chunked.extend_from_slice(b"0\r\n\r\n");
        let bytes = request("POST", "/api/segments", &[("Transfer-Encoding", "chunked")], &chunked);
        assert_eq!(exchange(world.running.address, &bytes).await.status, status, "{length} bytes in chunks");
    }
    let huge = request("POST", "/api/segments", &[("Content-Length", "18446744073709551615")], b"{");
    assert_no_failure("a length beyond all bounds", exchange(world.running.address, &huge).await.status);
    assert_well(&world).await;
    world.stop().await;
}

#[tokio::test]
async fn bodies_that_are_hardly_json_are_refused() {
    let world = world().await;
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(10_000), close.repeat(10_000)).into_bytes();
    let in_segment = |criteria: &[u8]| [br#"{"display_name":"a","criteria":"#, criteria, b"}"].concat();
    let bodies: Vec<(&str, Vec<u8>)> = vec![
        ("10,000 deep arrays", deep("[", "]")),
        ("10,000 deep objects", deep(r#"{"a":"#, "}")),
        ("10,000 deep selectors", in_segment(&deep(r#"{"not":"#, "}"))),
        ("10,000 deep compounds", in_segment(&deep(r#"{"and":["#, "]}"))),
        ("10,000 arrays that are never closed", "[".repeat(10_000).into_bytes()),
        ("invalid UTF-8", in_segment(b"{\"tag\":\"\xff\xfe\"}")),
        ("UTF-8 that is cut", in_segment(b"{\"tag\":\"\xe2\x82\"}")),
        ("a surrogate that is alone", in_segment(br#"{"tag":"\ud800"}"#)),
        ("a NUL", in_segment(b"{\"tag\":\"a\0b\"}")),
        ("only NULs", vec![0; 1000]),
        ("a byte order mark", [b"\xef\xbb\xbf", table::segment().to_string().as_bytes()].concat()),
        ("UTF-16", "{\"display_name\":1}".encode_utf16().flat_map(u16::to_le_bytes).collect()),
        ("a number without an end", in_segment("1".repeat(1_000_000).as_bytes())),
        ("an exponent", in_segment(b"1e999999999")),
        ("not a number", in_segment(b"NaN")),
        ("two values", b"{}{}".to_vec()),
        ("a comma too many", in_segment(br#"{"tag":"a",}"#)),
        ("a comment", in_segment(b"/* */ {}")),
        ("single quotes", b"{'display_name':'a'}".to_vec()),
    ];
    for (what, body) in bodies {
        for path in ["/api/segments", "/api/push", "/api/pipelines", "/api/channels/tags", "/api/templates/$template"] {
            let reply = exchange(world.running.address, &request("POST", &world.with_ids(path), &[], &body)).await;
            assert_eq!(reply.status, 400, "{what} to {path}: {}", reply.text());
        }
    }
    // A NUL in JSON's spelling is an ordinary character.
    let nul = json!({ "display_name": "a\u{0}b", "criteria": { "tag": "\u{0}" } });
    assert_eq!(world.call("POST", "/api/segments", Some(&nul)).await.status, 201);
    let giant = json!({ "display_name": "x".repeat(4 << 20), "criteria": { "tag": "y".repeat(1000) } });
    assert_eq!(world.call("POST", "/api/segments", Some(&giant)).await.status, 201);
    assert_well(&world).await;
    world.stop().await;
}

#[tokio::test]
async fn huge_and_negative_numbers_are_refused_or_harmless() {
    let world = world().await;
    let delays = [
        "0",
        "-1",
        "1e300",
        "1.5",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "631107417600",
        "631107417601",
        "999999999999999999999999",
        "253402207200",
    ];
    for (number, delay) in delays.into_iter().enumerate() {
        let push = r#"{"audience":"triggered","device_types":"all","notification":{"alert":"a"}}"#;
        let trigger = format!(r#""enabled":true,"immediate_trigger":{{"tag_added":"t{number}"}}"#);
        for body in [
            format!(r#"{{{trigger},"outcome":{{"delay":{delay},"push":{push}}}}}"#),
            format!(r#"{{{trigger},"outcome":{{"push":{push}}},"timing":{{"delay":{{"seconds":{delay}}}}}}}"#),
        ] {
            let reply = exchange(world.running.address, &request("POST", "/api/pipelines", &[], body.as_bytes())).await;
            assert!([201, 400].contains(&reply.status), "delay {delay}: {}", reply.text());
        }
        let tag = json!({ "audience": { "ios_channel": PHONE }, "add": { "g": [format!("t{number}")] } });
        let reply = world.call("POST", "/api/channels/tags", Some(&tag)).await;
        assert_eq!(reply.status, 200, "delay {delay}: {}", reply.text());
    }
    world
        .change(|app, now| {
            app.devices.change(&mut app.journal, PHONE, |device| device.seen_at.insert("place".into(), now));
        })
        .await;
    for months in ["0", "-1", "1e300", "9223372036854775807", "-9223372036854775808", "19999", "239976", "4294967296"] {
        let location = format!(r#"{{"location":{{"id":"place","date":{{"recent":{{"months":{months}}}}}}}}}"#);
        let push = format!(r#"{{"audience":{location},"device_types":"all","notification":{{"alert":"a"}}}}"#);
        let reply = exchange(world.running.address, &request("POST", "/api/push", &[], push.as_bytes())).await;
        assert!([202, 400].contains(&reply.status), "{months} months: {}", reply.text());
    }
    for time in [
        "0000-01-01T0000",
        "9999-12-31T2359",
        "-000001-01-01T0000",
        "99999-01-01T0000",
        "2026-13-01T0900",
        "2026-12-01T2460",
    ] {
        for key in ["scheduled_time", "local_scheduled_time"] {
            let body = json!({ "schedule": { key: time }, "push": table::push() });
            let reply = world.call("POST", "/api/schedules", Some(&body)).await;
            assert!([201, 400].contains(&reply.status), "{key} {time}: {}", reply.text());
        }
    }
    let number = [
        "0",
        "-1",
        "18446744073709551615",
        "18446744073709551616",
        "99999999999999999999999",
        "1e3",
        "",
        "x",
        "%00",
        "٣",
    ];
    for list in [
        "segments?limit",
        "segments?start",
        "templates?page",
        "templates?page_size",
        "pipelines?offset",
        "pipelines?limit",
        "experiments?offset",
        "experiments?limit",
        "schedules?limit",
        "schedules?start",
        "channels?limit",
        "channels?start",
        "named_users?limit",
        "named_users?start",
        "reports/responses/list?start=2026-11-01&end=2026-11-30&limit",
    ] {
        for number in number {
            let path = format!("/api/{list}={}", number.replace('٣', "%D9%A3"));
            let reply = world.call("GET", &path, None).await;
            assert!([200, 400].contains(&reply.status), "{path}: {}", reply.text());
        }
    }
    for query in [
        "start=0001-01-01&end=9999-12-31&precision=HOURLY",
        "start=9999-12-31&end=9999-12-31",
        "start=-9999-01-01&end=2026-11-01",
        "start=2026-11-30&end=2026-11-01",
        "start=%00&end=%ff",
        "start",
        "start=&end=",
        "start=2026-11-01&start=x&end=2026-11-02",
    ] {
        for report in ["sends", "responses", "opens", "timeinapp", "optins", "optouts", "responses/list"] {
            let path = format!("/api/reports/{report}?{query}");
            let reply = world.call("GET", &path, None).await;
            assert!([200, 400].contains(&reply.status), "{path}: {}", reply.text());
        }
        let reply = world.call("GET", &format!("/api/reports/devices?date={}", query.replace('&', "%26")), None).await;
        assert_no_failure("devices", reply.status);
    }
    for place in [
        "nan,nan",
        "inf,0",
        "-inf,-inf",
        "1e400,0",
        "90.0001,0",
        "-90,-180,90,180",
        "90,180,-90,-180",
        ",",
        "1,2,3",
        "1,2,3,4,5",
        "%00,1",
    ] {
        let reply = world.call("GET", &format!("/api/location/{place}"), None).await;
        assert!([200, 400].contains(&reply.status), "{place}: {}", reply.text());
    }
    assert_well(&world).await;
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn segments_may_nest_and_circle_as_they_like() {
    let world = world().await;
    let made = |reply: Reply| reply.json()["segment_id"].as_str().expect("an id").to_owned();
    let first = made(
        world.call("POST", "/api/segments", Some(&json!({ "display_name": "0", "criteria": { "tag": "t" } }))).await,
    );
    let mut last = first.clone();
    for n in 0..1_000 {
        let inner = json!({ "OR": [{ "segment": last }, { "segment": last }] });
        last = made(
            world
                .call("POST", "/api/segments", Some(&json!({ "display_name": n.to_string(), "criteria": inner })))
                .await,
        );
    }
    let push = json!({ "audience": { "segment": last }, "device_types": "all", "notification": { "alert": "a" } });
    assert_eq!(world.call("POST", "/api/push", Some(&push)).await.status, 202);
    let circle = json!({ "display_name": "0", "criteria": { "segment": last } });
    assert_eq!(world.call("PUT", &format!("/api/segments/{first}"), Some(&circle)).await.status, 200);
    assert_eq!(world.call("POST", "/api/push", Some(&push)).await.status, 202);
    // `all` is alone and an audience is limited, in a segment too.
    let many: Vec<Value> = (0..1_001).map(|n| json!({ "tag": n.to_string() })).collect();
    for criteria in [
        json!({ "and": ["all"] }),
        json!({ "or": [] }),
        json!("triggered"),
        json!({ "not": "triggered" }),
        json!({ "or": many }),
    ] {
        let segment = json!({ "display_name": "a", "criteria": criteria });
        assert_eq!(
            world.call("POST", "/api/segments", Some(&segment)).await.status,
            400,
            "{:.100}",
            segment.to_string()
        );
        let push = json!({ "audience": criteria, "device_types": "all", "notification": { "alert": "a" } });
        assert_eq!(world.call("POST", "/api/push", Some(&push)).await.status, 400, "{:.100}", push.to_string());
    }
    assert_well(&world).await;
    world.stop().await;
}
