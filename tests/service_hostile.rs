//! Requests that nobody should send: each is refused or answered, none breaks anything.

mod service_support;

use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pushplan::service::{Level, Settings};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use service_support::table::{self, rows};
use service_support::wire::{self, Reply, all_of, exchange, request};
use service_support::{KEY, PHONE, SECRET, World, settings};

/// Panics of whatever thread, the service's among them.
static PANICS: AtomicUsize = AtomicUsize::new(0);

fn count_panics() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let ours = info.location().is_some_and(|place| !place.file().starts_with("tests"));
            PANICS.fetch_add(usize::from(ours), Ordering::SeqCst);
            usual(info);
        }));
    });
}

/// The service still answers, and nothing in it has panicked.
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
    World::new(Level::Extended).await
}

/// Every value of a body, by its JSON pointer.
fn pointers(value: &Value, path: &str, found: &mut Vec<String>) {
    found.push(path.to_owned());
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                pointers(field, &format!("{path}/{}", key.replace('~', "~0").replace('/', "~1")), found);
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| pointers(item, &format!("{path}/{at}"), found));
        }
        _ => {}
    }
}

/// What a value is replaced by, one after the other.
fn replacements() -> Vec<Value> {
    let huge: Value = serde_json::from_str("123456789012345678901234567890").expect("a number");
    vec![
        Value::Null,
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(1e300),
        json!(i64::MAX),
        json!(i64::MIN),
        json!(u64::MAX),
        huge,
        json!(""),
        json!(" "),
        json!("\u{0}"),
        json!("all"),
        json!("triggered"),
        json!("9999-12-31T23:59:59"),
        json!("{{"),
        json!("é".repeat(10_000)),
        json!([]),
        json!([null]),
        json!([[]]),
        json!(["a", 1]),
        json!({}),
        json!({ "": "" }),
        json!({ "unknown": 1 }),
    ]
}

/// All bodies that are wrong, or at least odd, in one place.
fn mutated(right: &Value) -> Vec<Value> {
    let mut places = Vec::new();
    pointers(right, "", &mut places);
    let mut bodies = Vec::new();
    for place in &places {
        for replacement in replacements() {
            let mut body = right.clone();
            *body.pointer_mut(place).expect("it is there") = replacement;
            bodies.push(body);
        }
        let mut longer = right.clone();
        match longer.pointer_mut(place).expect("it is there") {
            Value::Object(fields) => {
                let keys: Vec<String> = fields.keys().cloned().collect();
                fields.insert("unknown".into(), json!({ "a": [1] }));
                for key in keys {
                    let mut shorter = right.clone();
                    let fields = shorter.pointer_mut(place).and_then(Value::as_object_mut).expect("an object");
                    fields.remove(&key);
                    bodies.push(shorter);
                }
            }
            Value::Array(items) => {
                let twice = items.clone();
                items.extend(twice);
            }
            _ => continue,
        }
        bodies.push(longer);
    }
    bodies
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_value_of_no_body_can_break_anything() {
    let world = world().await;
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::new();
    let mut sent = 0;
    for row in rows().iter().filter(|row| row.body.is_some()) {
        let right = row.body.as_ref().expect("a body");
        for body in mutated(right) {
            let text = world.with_ids(&body.to_string());
            let url = format!("http://{}{}", world.running.address, world.with_ids(&row.path));
            let method = Method::from_bytes(row.method.as_bytes()).expect("a method");
            let request = client.request(method, url).basic_auth(KEY, Some(SECRET)).body(text.clone());
            let what = || format!("{} {} with {:.300}", row.method, row.path, text);
            let reply = request.send().await.unwrap_or_else(|error| panic!("{}: {error}", what()));
            assert_no_failure(&what(), reply.status().as_u16());
            sent += 1;
        }
    }
    assert!(sent > 5_000, "{sent} bodies");
    // Whatever was accepted can be set off, listed and sent without harm.
    let tag = json!({ "audience": { "ios_channel": PHONE }, "add": { "g": ["new", "news", "all", "triggered", " "] } });
    assert_eq!(world.call("POST", "/api/channels/tags", Some(&tag)).await.status, 200);
    for path in ["/api/pipelines", "/api/schedules", "/api/experiments", "/api/segments", "/api/templates"] {
        let mut next = Some(format!("http://{}{path}", world.running.address));
        while let Some(url) = next {
            let reply = client.get(&url).basic_auth(KEY, Some(SECRET)).send().await.expect("an answer");
            assert_eq!(reply.status().as_u16(), 200, "{url}");
            let body: Value = reply.json().await.expect("JSON");
            next = body["next_page"].as_str().map(str::to_owned);
        }
    }
    let later = "2126-01-01T00:00:00Z".parse().expect("a time");
    assert!(world.running.engine.move_clock(later).await.expect("kept"));
    assert_well(&world).await;
    world.stop().await;
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
        // The same without saying how long it is.
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
    // A NUL that is written as JSON wants it is a character like any other.
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

#[tokio::test]
async fn odd_addresses_and_headers_are_refused_or_answered() {
    let world = world().await;
    let long = |length: usize| "a".repeat(length);
    let paths = [
        "/",
        "//",
        "/api",
        "/api/",
        "/api//",
        "/API/segments",
        "/api/segments/..",
        "/api/../api/segments",
        "/api/segments/.",
        "/api/segments/%",
        "/api/segments/%2",
        "/api/segments/%zz",
        "/api/segments/%ff%fe",
        "/api/segments/%00",
        "/api/segments/%2f",
        "/api/segments/a/b/c",
        "/api/tags/%20",
        "/api/tags/%2e%2e",
        "/api/segments?%=%&&=&%ff=%00",
        "/api/segments?limit=1;start=2",
        "/api/segments/{id}",
        "/api/segments/<id>",
        "/api/named_users?id=%ff",
        "*",
        "/api/segments#part",
    ];
    for path in paths {
        for method in ["GET", "PUT", "POST", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "BREW"] {
            let answer = all_of(world.running.address, &request(method, path, &[], b"")).await;
            let status = wire::parse(&answer).map_or(400, |reply| reply.status);
            assert_no_failure(&format!("{method} {path}"), status);
        }
    }
    for length in [1_000, 10_000, 60_000, 70_000, 300_000, 2_000_000] {
        let answer =
            all_of(world.running.address, &request("GET", &format!("/api/segments/{}", long(length)), &[], b"")).await;
        if let Some(reply) = wire::parse(&answer) {
            assert!([404, 414, 431].contains(&reply.status), "a path of {length}: {}", reply.status);
        }
        let answer =
            all_of(world.running.address, &request("GET", "/api/segments", &[("X-Long", &long(length))], b"")).await;
        if let Some(reply) = wire::parse(&answer) {
            assert!([200, 431].contains(&reply.status), "a header of {length}: {}", reply.status);
        }
    }
    let many: Vec<(String, String)> = (0..500).map(|n| (format!("X-{n}"), "a".to_owned())).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(exchange(world.running.address, &request("GET", "/api/segments", &many, b"")).await.status, 431);
    let headers: [(&str, &str); 10] = [
        ("Host", ""),
        ("Host", "a b"),
        ("Host", "example.com:99999"),
        ("Accept", "application/vnd.messaging+json; version=99"),
        ("Accept", ";;;,,,version=;"),
        ("Content-Type", "text/plain; charset=\"broken"),
        ("Content-Length", "-1"),
        ("Content-Length", "1, 2"),
        ("Transfer-Encoding", "gzip"),
        ("Expect", "200-maybe"),
    ];
    for header in headers {
        for (method, body) in [("GET", String::new()), ("POST", table::segment().to_string())] {
            let answer =
                all_of(world.running.address, &request(method, "/api/segments", &[header], body.as_bytes())).await;
            let status = wire::parse(&answer).map_or(400, |reply| reply.status);
            assert_no_failure(&format!("{method} with {header:?}"), status);
        }
    }
    for garbage in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"\r\n\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\0\0\0\0\r\n\r\n",
    ] {
        let answer = all_of(world.running.address, garbage).await;
        assert_no_failure("garbage", wire::parse(&answer).map_or(400, |reply| reply.status));
    }
    assert_well(&world).await;
    world.stop().await;
}

#[tokio::test]
async fn requests_that_come_together_are_answered_in_their_order() {
    let world = world().await;
    let keep =
        |bytes: Vec<u8>| String::from_utf8(bytes).expect("a text").replace("Connection: close\r\n", "").into_bytes();
    let segment = table::segment().to_string();
    let mut pipelined = Vec::new();
    for _ in 0..20 {
        pipelined.extend(keep(request("POST", "/api/segments", &[], segment.as_bytes())));
        pipelined.extend(keep(request("GET", "/api/segments/none", &[], b"")));
    }
    pipelined.extend(request("GET", "/api/segments", &[], b""));
    let address = world.running.address.to_string();
    let text = String::from_utf8(pipelined).expect("a text").replace("{address}", &address);
    let answer = String::from_utf8(all_of(world.running.address, text.as_bytes()).await).expect("a text");
    let statuses: Vec<&str> = answer.split("HTTP/1.1 ").skip(1).map(|part| &part[..3]).collect();
    let expected: Vec<&str> = ["201", "404"].repeat(20).into_iter().chain(["200"]).collect();
    assert_eq!(statuses, expected);

    // The older HTTP knows no Host, and closes by itself.
    let old = String::from_utf8(request("POST", "/api/segments", &[], segment.as_bytes())).expect("a text");
    let old =
        old.replace("HTTP/1.1", "HTTP/1.0").replace("Host: {address}\r\n", "").replace("Connection: close\r\n", "");
    let reply = exchange(world.running.address, old.as_bytes()).await;
    assert_eq!(reply.status, 201);
    let location = reply.header("location").expect("a location");
    assert!(location.starts_with(&format!("http://{address}/api/segments/")), "{location}");
    assert_well(&world).await;
    world.stop().await;
}

/// How many connections can be open at both ends, in one process.
fn possible_connections() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find(|line| line.starts_with("Max open files")).unwrap_or_default();
    let soft = line.split_whitespace().nth(3).and_then(|number| number.parse().ok()).unwrap_or(1024_usize);
    (soft.saturating_sub(200) / 2).min(1_000)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_connections_are_closed_and_do_not_keep_others_waiting() {
    count_panics();
    let patience = Duration::from_secs(2);
    let world = World::bare(Settings { patience, ..settings(Level::Extended) }).await;
    let mut slow = Vec::new();
    let number = possible_connections();
    let half_header = "POST /api/segments HTTP/1.1\r\nHost: localhost\r\nX-Slow: ";
    let half_body = String::from_utf8(request("POST", "/api/segments", &[("Content-Length", "1000")], b"{\"display"))
        .expect("a text");
    let endless =
        String::from_utf8(request("POST", "/api/segments", &[("Transfer-Encoding", "chunked")], b"5\r\n{\"dis\r\n"))
            .expect("a text");
    for n in 0..number {
        let mut stream = TcpStream::connect(world.running.address).await.expect("a connection");
        let text = match n % 4 {
            0 => "",
            1 => half_header,
            2 => &half_body,
            _ => &endless,
        };
        stream.write_all(text.as_bytes()).await.expect("it is still open");
        slow.push(stream.into_split());
    }
    let start = Instant::now();
    for _ in 0..20 {
        let reply = world.call("GET", "/api/segments", None).await;
        assert_eq!(reply.status, 200);
    }
    assert!(start.elapsed() < Duration::from_secs(2), "20 requests took {:?}", start.elapsed());
    // Those that send a little now and then do not get more time for it.
    let mut waiting = tokio::task::JoinSet::new();
    for (mut read, mut write) in slow {
        waiting.spawn(async move {
            let drip = async {
                while write.write_all(b"a").await.is_ok() {
                    tokio::time::sleep(Duration::from_millis(300)).await;
                }
                std::future::pending::<()>().await;
            };
            let mut rest = Vec::new();
            tokio::select! {
                () = drip => {}
                _ = read.read_to_end(&mut rest) => {}
            }
            wire::parse(&rest).map(|reply| reply.status)
        });
    }
    let all = tokio::time::timeout(4 * patience, waiting.join_all()).await.expect("all slow connections are closed");
    assert_eq!(all.len(), number);
    assert!(all.iter().flatten().all(|status| [400, 408].contains(status)), "{all:?}");
    assert_well(&world).await;
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chunked_body_that_never_ends_is_refused() {
    count_panics();
    let world = World::bare(Settings { patience: Duration::from_secs(1), ..settings(Level::Extended) }).await;
    let start = Instant::now();
    let stream = TcpStream::connect(world.running.address).await.expect("a connection");
    let (mut read, mut write) = stream.into_split();
    let head = request("POST", "/api/segments", &[("Transfer-Encoding", "chunked")], b"");
    let writing = tokio::spawn(async move {
        let _ = write.write_all(&head).await;
        while write.write_all(b"1\r\n \r\n").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    let mut answer = Vec::new();
    let _ = read.read_to_end(&mut answer).await;
    assert_eq!(wire::parse(&answer).expect("an answer").status, 408);
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    writing.abort();
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
    // `all` stands alone and an audience is bounded, in a segment as anywhere.
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
