//! Reading: asked again where that may help, and nothing but `GET` ever leaves.

use std::time::{Duration, Instant};

use pushplan::client::{Pages, Reading, refusal};
use pushplan::exchange::{Loss, Meaning, Request};
use pushplan::failure::Exit;
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
        "kind = \"delay\"\nms = 2000",
    ] {
        let world = World::new(&format!("[[fault]]\n{fault}\ntimes = 2")).await;
        let answer = world.reading.get("/api/segments").await.unwrap();
        assert_eq!(answer.body, Some(json!({"segments": []})), "{fault}");
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

#[tokio::test]
async fn pages_are_followed_on_the_origin_alone_and_not_in_circles() {
    let world = World::new("[[fault]]\nkind = \"loop\"\nafter = 1").await;
    for number in 0..5 {
        let body = json!({"display_name": format!("s{number}"), "criteria": {"tag": "x"}});
        world.writing.send(&Request::post("/api/segments", &body), || true).await.unwrap();
    }
    let mut pages = Pages::new("/api/segments?limit=2");
    let (mut path, mut read) = ("/api/segments?limit=2".to_owned(), 0);
    let end = loop {
        let answer = world.reading.get(&path).await.unwrap();
        read += 1;
        match pages.next(world.reading.origin(), &answer.body.unwrap()) {
            Ok(Some(next)) => path = next,
            end => break end,
        }
    };
    assert!(read <= 2 && end.unwrap_err().contains("in a circle"), "{read}");

    let foreign = Server::new(vec![answer("200 OK", "", "{}")]).await;
    let next = format!("{{\"segments\": [], \"next_page\": \"http://{}/api/segments\"}}", foreign.address);
    let server = Server::new(vec![answer("200 OK", "", &next)]).await;
    let reading = Reading::new(transport(server.address, PATIENCE));
    let page = reading.get("/api/segments").await.unwrap();
    let strayed = Pages::new("/api/segments").next(reading.origin(), &page.body.unwrap()).unwrap_err();
    assert!(strayed.contains(&format!("leads away from http://{}", server.address)), "{strayed}");
}

#[tokio::test]
async fn credentials_that_are_refused_end_with_4() {
    let page = "<html>Sign in</html>";
    let server = Server::new(vec![answer("401 Unauthorized", "", "No"), answer("403 Forbidden", "", page)]).await;
    let reading = Reading::new(transport(server.address, PATIENCE));
    for words in ["does not know these credentials (HTTP 401)", "does not allow this with these credentials (HTTP 403)"]
    {
        let answer = reading.get("/api/segments").await.unwrap();
        let failure = refusal(reading.origin(), &answer).unwrap();
        assert_eq!(failure.exit, Exit::Credentials);
        assert!(failure.message.contains(words), "{}", failure.message);
    }
    let world = World::new("").await;
    let answer = world.reading.get("/api/segments").await.unwrap();
    assert!(refusal(world.reading.origin(), &answer).is_none());
}
