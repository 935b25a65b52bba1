//! Odd, slow or endless addresses, headers and connections.

use std::time::{Duration, Instant};

use pushplan::service::{Level, Settings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{assert_no_failure, assert_well, count_panics, world};
use crate::support::wire::{self, all_of, exchange, request};
use crate::support::{World, settings, table};

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

/// A request with the address of the service as its host.
fn addressed(world: &World, request: Vec<u8>) -> Vec<u8> {
    let request = String::from_utf8(request).expect("a text");
    request.replacen("{address}", &world.running.address.to_string(), 1).into_bytes()
}

#[tokio::test]
async fn a_client_that_sends_all_of_a_large_body_first_still_reads_why_it_is_refused() {
    let world = world().await;
    let body = vec![b' '; 4 * 1024 * 1024];
    let cases = [
        ("/api/segments", ("Authorization", "Basic bm9ib2R5OnNlY3JldA=="), 401),
        ("/api/segments", ("Accept", "application/vnd.messaging+json; version=9"), 406),
        ("/local/audience", ("Host", "elsewhere.example"), 403),
    ];
    for (path, header, status) in cases {
        let mut stream = TcpStream::connect(world.running.address).await.expect("a connection");
        let sent = stream.write_all(&addressed(&world, request("POST", path, &[header], &body))).await;
        assert!(sent.is_ok(), "{path} with {header:?}: {sent:?}");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.expect("an answer");
        assert_eq!(wire::parse(&answer).map(|reply| reply.status), Some(status), "{path} with {header:?}");
    }
    world.stop().await;
}

#[tokio::test]
async fn a_body_of_sixty_mebibytes_is_told_to_be_too_large() {
    count_panics();
    let world = World::bare(Settings { patience: Duration::from_secs(60), ..settings(Level::Extended) }).await;
    let body = vec![b' '; 60 * 1024 * 1024];
    let mut chunked = Vec::new();
    for chunk in body.chunks(1024 * 1024) {
        chunked.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        chunked.extend_from_slice(chunk);
        chunked.extend_from_slice(b"\r\n");
    }
    chunked.extend_from_slice(b"0\r\n\r\n");
    for (path, header, body) in [
        ("/api/segments", ("Content-Type", "application/json"), &body),
        ("/api/push", ("Transfer-Encoding", "chunked"), &chunked),
        ("/local/audience", ("Content-Type", "application/json"), &body),
    ] {
        let mut stream = TcpStream::connect(world.running.address).await.expect("a connection");
        let sent = stream.write_all(&addressed(&world, request("POST", path, &[header], body))).await;
        assert!(sent.is_ok(), "{path}: {sent:?}");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.expect("an answer");
        let reply = wire::parse(&answer).expect("an answer");
        assert_eq!((reply.status, &reply.json()["error_code"]), (413, &serde_json::json!(41307)), "{path}");
    }
    assert_well(&world).await;
    world.stop().await;
}

#[tokio::test]
async fn a_request_names_its_host_exactly_once() {
    let world = world().await;
    let port = world.running.address.port();
    let own = format!("Host: 127.0.0.1:{port}\r\n");
    let absolute = format!("http://elsewhere.example:{port}");
    for (target, hosts, status) in [
        ("", String::new(), 400),
        ("", own.repeat(2), 400),
        ("", format!("{own}Host: elsewhere.example\r\n"), 400),
        ("", format!("Host: elsewhere.example\r\n{own}"), 400),
        (&*absolute, own.clone(), 403),
        ("", "Host: \r\n".to_owned(), 403),
        ("", "Host: evil@localhost\r\n".to_owned(), 403),
        ("", format!("Host: evil@127.0.0.1:{port}\r\n"), 403),
        ("", format!("Host: localhost:{port}\r\n"), 200),
        ("", own.clone(), 200),
    ] {
        for version in ["HTTP/1.1", "HTTP/1.0"] {
            for path in ["/api/segments", "/local/health"] {
                let bytes = String::from_utf8(request("GET", &format!("{target}{path}"), &[], b"")).expect("a text");
                let bytes = bytes.replace("Host: {address}\r\n", &hosts).replace("HTTP/1.1", version);
                let reply = exchange(world.running.address, bytes.as_bytes()).await;
                assert_eq!(reply.status, status, "{target}{path} {version} {hosts:?}: {}", reply.text());
            }
        }
    }
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

    // The older HTTP closes by itself.
    let old = String::from_utf8(request("POST", "/api/segments", &[], segment.as_bytes())).expect("a text");
    let old = old.replace("HTTP/1.1", "HTTP/1.0").replace("Connection: close\r\n", "");
    let reply = exchange(world.running.address, old.as_bytes()).await;
    assert_eq!(reply.status, 201);
    let location = reply.header("location").expect("a location");
    assert!(location.starts_with(&format!("http://{address}/api/segments/")), "{location}");
    assert_well(&world).await;
    world.stop().await;
}

/// Returns the number of connections that can be open at both ends in this process, with files left for the tests that
/// run in parallel.
fn possible_connections() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find(|line| line.starts_with("Max open files")).unwrap_or_default();
    let soft = line.split_whitespace().nth(3).and_then(|number| number.parse().ok()).unwrap_or(1024_usize);
    (soft.saturating_sub(500) / 2).min(1_000)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_connections_are_closed_and_do_not_keep_others_waiting() {
    count_panics();
    let patience = Duration::from_secs(15);
    let world = World::bare(Settings { patience, ..settings(Level::Extended) }).await;
    let mut slow = Vec::new();
    let number = possible_connections();
    let half_header = "POST /api/segments HTTP/1.1\r\nHost: localhost\r\nX-Slow: ";
    let half_body = addressed(&world, request("POST", "/api/segments", &[("Content-Length", "1000")], b"{\"display"));
    let half_body = String::from_utf8(half_body).expect("a text");
    let endless = request("POST", "/api/segments", &[("Transfer-Encoding", "chunked")], b"5\r\n{\"dis\r\n");
    let endless = String::from_utf8(addressed(&world, endless)).expect("a text");
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
    assert!(start.elapsed() < patience, "20 requests took {:?}", start.elapsed());
    // Sending a little now and then does not extend the time.
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
    let all = tokio::time::timeout(8 * patience, waiting.join_all()).await.expect("all slow connections are closed");
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
    let head = addressed(&world, request("POST", "/api/segments", &[("Transfer-Encoding", "chunked")], b""));
    let writing = tokio::spawn(async move {
        let _ = write.write_all(&head).await;
        while write.write_all(b"1\r\n \r\n").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    let mut answer = Vec::new();
    let _ = read.read_to_end(&mut answer).await;
    assert_eq!(wire::parse(&answer).expect("an answer").status, 408);
    assert!(start.elapsed() < Duration::from_secs(120), "{:?}", start.elapsed());
    writing.abort();
    assert_well(&world).await;
    world.stop().await;
}
