//! Writes: each request is sent once, and its result is never guessed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pushplan::client::{Credentials, Origin, Reading, Transport, Writing};
use pushplan::exchange::{Answer, Loss, Meaning, Request};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use super::{HASTE, PATIENCE, Patience, Server, World, answer, head, transport};

fn create() -> Request {
    Request::post("/api/segments", &json!({"display_name": "vip", "criteria": {"tag": "vip"}}))
}

async fn send(world: &World, request: &Request) -> Result<Answer, Loss> {
    world.writing.send(request, || true).await
}

#[tokio::test]
async fn a_request_that_got_no_answer_is_unknown_whether_it_was_done_or_not() {
    for (fault, done) in [
        ("kind = \"close\"\nwhen = \"before\"", 0),
        ("kind = \"close\"\nwhen = \"after\"", 1),
        ("kind = \"refuse\"", 0),
        ("kind = \"truncate\"", 1),
        ("kind = \"delay\"\nms = 7000\nwhen = \"after\"", 1),
    ] {
        let world = World::new(&format!("[[fault]]\n{fault}\nmethod = \"POST\"\ntimes = 1")).await;
        let lost = send(&world, &create()).await.unwrap_err();
        assert!(matches!(lost, Loss::Unknown(_)), "{fault}: {lost:?}");
        world.logs(1).await;
        assert_eq!((world.segments(), world.asked().len()), (done, 1), "{fault}: sent once");
    }
}

#[tokio::test]
async fn an_answer_is_an_answer_whatever_it_says() {
    for (fault, meaning, done) in [
        ("kind = \"status\"\nstatus = 503\nwhen = \"before\"", Meaning::Unknown, 0),
        ("kind = \"status\"\nstatus = 500\nwhen = \"after\"", Meaning::Unknown, 1),
        ("kind = \"rate-limit\"\nretry_after = 7", Meaning::Busy, 0),
        ("kind = \"html\"\nwhen = \"before\"", Meaning::Unknown, 0),
        ("kind = \"html\"\nwhen = \"after\"", Meaning::Unknown, 1),
        ("kind = \"garble\"", Meaning::Unknown, 1),
    ] {
        let world = World::new(&format!("[[fault]]\n{fault}\nmethod = \"POST\"")).await;
        let answer = send(&world, &create()).await.unwrap();
        assert_eq!(answer.meaning(), meaning, "{fault}: {answer:?}");
        assert_eq!((world.segments(), world.asked().len()), (done, 1), "{fault}: sent once");
        assert_eq!(answer.retry_after.is_some(), meaning == Meaning::Busy);
    }
    let world = World::new("").await;
    let refused = send(&world, &Request::post("/api/segments", &json!({"criteria": 7}))).await.unwrap();
    assert_eq!((refused.meaning(), world.segments()), (Meaning::Refused, 0));
    let answer = send(&world, &create()).await.unwrap();
    assert_eq!((answer.status, answer.meaning()), (201, Meaning::Done));
    let id = answer.body.unwrap()["segment_id"].as_str().unwrap().to_owned();
    assert!(answer.location.unwrap().ends_with(&id));
    let gone = send(&world, &Request::delete(format!("/api/segments/{id}"))).await.unwrap();
    assert_eq!((gone.status, gone.body), (204, Some(json!(null))));
}

#[tokio::test]
async fn a_service_that_cannot_be_reached_got_nothing() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    for request in [create(), Request::delete("/api/segments/x")] {
        let lost = Writing::new(transport(closed, PATIENCE)).send(&request, || true).await.unwrap_err();
        let Loss::NotSent(why) = &lost else { panic!("{lost:?}") };
        assert!(why.contains(&format!("http://{closed} cannot be reached: connection refused")), "{why}");
    }
}

#[tokio::test]
async fn a_handshake_that_fails_got_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = Origin::parse(&format!("https://{}", listener.local_addr().unwrap())).unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            // It does not speak TLS.
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        }
    });
    let credentials = Credentials::new("key", "secret");
    let transport = Transport::new(origin, &credentials, "messaging", PATIENCE).unwrap();
    for request in [create(), Request::delete("/api/segments/x")] {
        let lost = Writing::new(transport.clone()).send(&request, || true).await.unwrap_err();
        assert!(matches!(lost, Loss::NotSent(_)), "{lost:?}");
    }
}

#[tokio::test]
async fn a_service_that_never_answers_is_unknown_in_time() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let transport = transport(listener.local_addr().unwrap(), HASTE);
    for request in [create(), Request::delete("/api/segments/x")] {
        let start = Instant::now();
        let lost = Writing::new(transport.clone()).send(&request, || true).await.unwrap_err();
        assert!(matches!(&lost, Loss::Unknown(why) if why.contains("no answer within 600ms")), "{lost:?}");
        assert!(start.elapsed() < Duration::from_secs(120));
    }
}

#[tokio::test]
async fn a_request_whose_time_is_over_does_not_leave() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let writing = Writing::new(transport(listener.local_addr().unwrap(), PATIENCE));
    let requests = [create(), Request::delete("/api/segments/x"), Request::put_bare("/api/tags/x")];
    let connections = requests.len();
    let heard = tokio::spawn(async move {
        // A connection is made for each of them: only after that they check whether they may be sent.
        let mut heard = Vec::new();
        for _ in 0..connections {
            heard.push(head(&mut listener.accept().await.unwrap().0).await);
        }
        heard
    });
    for request in requests {
        let lost = writing.send(&request, || false).await.unwrap_err();
        assert_eq!(lost, Loss::NotSent("the deadline for sending it had passed".into()), "{request}");
    }
    let heard = tokio::time::timeout(Duration::from_secs(60), heard).await.expect("each has its connection");
    assert_eq!(heard.unwrap(), [""; 3], "not a byte of them");
}

#[tokio::test]
async fn the_time_to_leave_is_asked_about_once_the_connection_stands() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = Origin::parse(&format!("https://{}", listener.local_addr().unwrap())).unwrap();
    let transport = Transport::new(origin, &Credentials::new("key", "secret"), "messaging", HASTE).unwrap();
    for request in [create(), Request::delete("/api/segments/x")] {
        // The handshake never ends: the request gives up before the check.
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        let may_leave = move || {
            count.fetch_add(1, Ordering::SeqCst);
            true
        };
        let lost = Writing::new(transport.clone()).send(&request, may_leave).await.unwrap_err();
        assert!(matches!(&lost, Loss::NotSent(why) if why.contains("no answer within 600ms")), "{lost:?}");
        assert_eq!(asked.load(Ordering::SeqCst), 0, "{request}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_says_nothing_of_the_request() {
    let elsewhere = Server::new(vec![answer("200 OK", "", "{}")]).await;
    let to = format!("Location: http://{}/api/segments\r\n", elsewhere.address);
    let server = Server::new(vec![answer("307 Temporary Redirect", &to, ""), answer("301 Moved", &to, "")]).await;
    let writing = Writing::new(transport(server.address, PATIENCE));
    for request in [create(), Request::delete("/api/segments/x")] {
        let answer = writing.send(&request, || true).await.unwrap();
        assert_eq!(answer.meaning(), Meaning::Unknown, "{answer:?}");
    }
    assert_eq!(elsewhere.connections.load(Ordering::SeqCst), 0, "nothing is told to anybody else");
}

#[tokio::test]
async fn a_request_says_who_asks_for_what() {
    let mut server =
        Server::new(vec![answer("200 OK", "", "{}"), answer("200 OK", "", "{}"), answer("204 No Content", "", "")])
            .await;
    let writing = Writing::new(transport(server.address, PATIENCE));
    writing.send(&create(), || true).await.unwrap();
    let head = server.heard.recv().await.unwrap();
    let has = |line: &str| assert!(head.contains(line), "`{line}` is not in\n{head}");
    has("POST /api/segments HTTP/1.1\r\n");
    has("authorization: Basic Y2xpZW50LWFwcGxpY2F0aW9uLTAwMDpjbGllbnQtc2VjcmV0LTAwMDAwMDAw\r\n");
    has("accept: application/vnd.messaging+json; version=3\r\n");
    has("content-type: application/vnd.messaging+json; version=3\r\n");
    has("content-length: 47\r\n");
    has("user-agent: pushplan/");
    writing.send(&Request::put_bare("/api/tags/a%20b"), || true).await.unwrap();
    let head = server.heard.recv().await.unwrap();
    assert!(head.starts_with("PUT /api/tags/a%20b HTTP/1.1\r\n") && !head.contains("content-type"), "{head}");
    writing.send(&Request::delete("/api/segments/x"), || true).await.unwrap();
    let head = server.heard.recv().await.unwrap();
    assert!(head.starts_with("DELETE /api/segments/x HTTP/1.1\r\n") && head.ends_with("\r\n\r\n"), "{head}");
    assert!(!head.contains("content-length") && !head.contains("transfer-encoding"), "it has no body: {head}");
}

#[tokio::test]
async fn an_answer_without_end_is_not_waited_for() {
    let length = 5 * 1024 * 1024;
    let huge = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{}", " ".repeat(length));
    let patience = Patience { whole: Duration::from_secs(60), ..PATIENCE };
    let server = Server::new(vec![huge.clone(), huge]).await;
    let transport = transport(server.address, patience);
    let lost = Writing::new(transport.clone()).send(&create(), || true).await.unwrap_err();
    assert_eq!(lost, Loss::Unknown("the answer is larger than 4 MiB".into()));
    // A listing may be long.
    let answer = Reading::new(transport).get("/api/segments").await;
    assert!(!matches!(&answer, Err(Loss::Unknown(why)) if why.contains("larger")), "{answer:?}");
}

#[tokio::test]
async fn secrets_are_not_shown() {
    let world = World::new("").await;
    let shown = format!("{:?} {:?}", world.writing, world.reading);
    assert!(!shown.contains(super::SECRET) && !shown.contains("Y2xpZW50"), "{shown}");
    let credentials = format!("{:?}", Credentials::new(super::KEY, super::SECRET));
    assert!(!credentials.contains(super::SECRET) && !credentials.contains(super::KEY), "{credentials}");
}
