//! Reads: retried if that may help, and only `GET` is ever sent.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use jiff::SignedDuration;
use pushplan::address::Address;
use pushplan::client::{Credentials, Origin, Reading, Transport, refusal};
use pushplan::exchange::{Loss, Meaning, Request};
use pushplan::failure::{Failure, FailureKind};
use pushplan::fetch::fetch;
use pushplan::ledger::Ledger;
use pushplan::live::{Live, Look, Proof};
use pushplan::node::Shared;
use pushplan::nouns::level::Level;
use serde_json::json;

use super::{PATIENCE, Server, World, answer, transport};

#[tokio::test]
async fn a_get_is_sent_again_until_it_is_answered() {
    for fault in [
        "kind = \"close\"",
        "kind = \"refuse\"",
        "kind = \"status\"\nstatus = 503",
        "kind = \"rate-limit\"",
        "kind = \"rate-limit\"\nretry_after = \"soon\"",
        "kind = \"truncate\"",
        "kind = \"garble\"",
        "kind = \"html\"",
        "kind = \"delay\"\nms = 7000",
    ] {
        let world = World::new(&format!("[[fault]]\n{fault}\ntimes = 2")).await;
        let answer = world.reading.get("/api/segments").await.unwrap();
        assert_eq!(answer.body, Some(json!({"segments": []})), "{fault}");
        world.logs(3).await;
        assert_eq!(world.asked(), ["GET /api/segments"; 3], "{fault}");
    }
}

#[tokio::test]
async fn a_get_is_given_up_after_five_times_with_what_was_said_last() {
    let world = World::new("[[fault]]\nkind = \"status\"\nstatus = 503").await;
    let answer = world.reading.get("/api/segments").await.unwrap();
    assert_eq!((answer.status, world.asked().len()), (503, 5));
    let world = World::new("[[fault]]\nkind = \"close\"").await;
    assert!(matches!(world.reading.get("/api/segments").await, Err(Loss::Unknown(_))));
    assert_eq!(world.asked().len(), 5);
}

#[tokio::test]
async fn what_will_not_change_is_asked_once() {
    let world = World::new("").await;
    let answer = world.reading.get("/api/segments/none").await.unwrap();
    assert_eq!((answer.meaning(), world.asked().len()), (Meaning::Missing, 1));
}

#[tokio::test]
async fn when_one_is_told_to_wait_all_wait() {
    let world =
        World::new("[[fault]]\nkind = \"rate-limit\"\nretry_after = 1\npath = \"/api/templates\"\ntimes = 1").await;
    let start = Instant::now();
    let late = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        world.reading.get("/api/segments").await.unwrap();
        start.elapsed()
    };
    let (answer, waited) = tokio::join!(world.reading.get("/api/templates"), late);
    assert_eq!(answer.unwrap().status, 200);
    assert!(waited >= Duration::from_secs(1), "{waited:?}");
}

#[tokio::test]
async fn what_is_no_get_does_not_leave() {
    let world = World::new("").await;
    for request in [Request::delete("/api/segments/x"), Request::post("/api/push", &json!({}))] {
        assert!(matches!(world.reading.read(&request).await, Err(Loss::NotSent(_))));
    }
    assert_eq!(world.reading.read(&Request::get("/api/segments")).await.unwrap().status, 200);
    assert_eq!(world.asked(), ["GET /api/segments"]);
}

/// A project with one segment that was never applied.
fn declared() -> BTreeMap<Address, Shared> {
    let spec = json!({"display_name": "vip", "criteria": {"tag": "vip"}});
    BTreeMap::from([(Address::new("segments", "vip"), spec.into())])
}

async fn fetched(reading: &Reading) -> Result<Live, Failure> {
    let (desired, ledger, origin) = (declared(), Ledger::default(), reading.origin().to_string());
    let look = Look {
        level: Level::Documented,
        origin: &origin,
        settle: SignedDuration::from_secs(10),
        desired: &desired.iter().collect(),
        ledger: &ledger,
        all_kinds: false,
        contents: &BTreeSet::new(),
        confirm_absence: true,
        recovers: true,
        proof: Proof::default(),
    };
    fetch(reading, look, &|_| {}).await
}

async fn with_segments(rules: &str, count: usize) -> World {
    let world = World::new(rules).await;
    for number in 0..count {
        let body = json!({"display_name": format!("s{number}"), "criteria": {"tag": "x"}});
        world.writing.send(&Request::post("/api/segments", &body), || true).await.expect("an answer");
    }
    world
}

#[tokio::test]
async fn everything_is_fetched_from_page_to_page_and_nothing_is_changed() {
    let world = with_segments("[[fault]]\nkind = \"status\"\nstatus = 502\nmethod = \"GET\"\ntimes = 2", 450).await;
    world.running.engine.requests.clear();
    let live = fetched(&world.reading).await.unwrap();
    assert_eq!(live.listed["segments"].len(), 450);
    assert!(world.asked().len() >= 5 && world.asked().iter().all(|asked| asked == "GET /api/segments"));
}

#[tokio::test]
async fn a_listing_that_forms_a_loop_or_leads_away_is_no_listing() {
    let world = with_segments("[[fault]]\nkind = \"loop\"\nmethod = \"GET\"", 5).await;
    let failure = fetched(&world.reading).await.unwrap_err();
    assert!(failure.message.contains("form a loop"), "{}", failure.message);

    let foreign = Server::new(vec![answer("200 OK", "", "{}")]).await;
    let next = format!("{{\"segments\": [], \"next_page\": \"http://{}/api/segments\"}}", foreign.address);
    let server = Server::new(vec![answer("200 OK", "", &next)]).await;
    let failure = fetched(&Reading::new(transport(server.address, PATIENCE))).await.unwrap_err();
    assert!(failure.message.contains("is on another server"), "{}", failure.message);
    assert_eq!(foreign.connections.load(Ordering::SeqCst), 0, "nobody else gets the credentials");
}

#[tokio::test]
async fn a_listing_that_fails_is_a_failure_and_not_an_empty_one() {
    let world = World::new("[[fault]]\nkind = \"status\"\nstatus = 503").await;
    let failure = fetched(&world.reading).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Other);
    assert!(failure.message.starts_with("GET /api/segments"), "{}", failure.message);
    let world = World::new("[[fault]]\nkind = \"close\"").await;
    let failure = fetched(&world.reading).await.unwrap_err();
    assert!(failure.message.contains("no answer from http://127.0.0.1"), "{}", failure.message);
}

#[tokio::test]
async fn credentials_that_are_refused_end_with_4() {
    let page = "<html>Sign in</html>";
    let server = Server::new(vec![answer("401 Unauthorized", "", "No"), answer("403 Forbidden", "", page)]).await;
    let reading = Reading::new(transport(server.address, PATIENCE));
    for words in ["refuses these credentials (HTTP 401)", "does not allow this with these credentials (HTTP 403)"] {
        let answer = reading.get("/api/segments").await.unwrap();
        let failure = refusal(reading.origin(), &answer).unwrap();
        assert_eq!(failure.kind, FailureKind::Credentials);
        assert!(failure.message.contains(words), "{}", failure.message);
    }
    let world = World::new("").await;
    let answer = world.reading.get("/api/segments").await.unwrap();
    assert!(refusal(world.reading.origin(), &answer).is_none());

    let origin = Origin::parse(&format!("http://{}", world.running.address)).unwrap();
    let wrong = Transport::new(origin, &Credentials::new(super::KEY, "wrong"), "messaging", PATIENCE).unwrap();
    let failure = fetched(&Reading::new(wrong)).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Credentials, "{}", failure.message);
}
