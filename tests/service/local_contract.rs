//! The control API, row by row.

use std::collections::BTreeSet;

use pushplan::service::Level;
use pushplan::service::local::ROUTES;
use serde_json::Value;

use crate::support::World;
use crate::support::local::{rows, world};
use crate::support::table::Row;
use crate::support::wire::{Reply, alike, exchange, request};

fn told(row: &Row) -> String {
    format!("{} {}", row.method, row.path)
}

fn assert_refused(what: &str, reply: &Reply, status: u16) {
    let body = reply.json();
    assert_eq!(reply.status, status, "{what}: {body:#}");
    assert_eq!(body["ok"], false, "{what}: {body:#}");
    assert!(body["error"].as_str().is_some_and(|error| !error.is_empty()), "{what}: {body:#}");
    assert_eq!(body["error_code"].as_u64().map(|code| code / 100), Some(u64::from(status)), "{what}: {body:#}");
}

/// All visible data of devices and events.
async fn everything(world: &World) -> String {
    let mut all = String::new();
    for path in ["/local/devices", "/local/sent", "/local/due", "/local/events", "/local/clock"] {
        all.push_str(&world.call("GET", path, None).await.text());
    }
    all
}

#[test]
fn every_local_route_has_a_row_and_every_row_a_route() {
    let routes: BTreeSet<_> = ROUTES.iter().map(|route| (route.path, route.method)).collect();
    let rows = rows();
    let tested: BTreeSet<_> = rows.iter().map(|row| (row.route, row.method)).collect();
    assert_eq!(routes.difference(&tested).collect::<Vec<_>>(), Vec::<&(&str, &str)>::new(), "without a row");
    assert_eq!(tested.difference(&routes).collect::<Vec<_>>(), Vec::<&(&str, &str)>::new(), "without a route");
}

#[tokio::test]
async fn every_row_answers_at_either_level_and_without_credentials() {
    for row in rows() {
        for level in [Level::Documented, Level::Extended] {
            let world = world(level).await;
            let body = row.body.as_ref().map(|body| world.with_ids(&body.to_string())).unwrap_or_default();
            let headers = [("Authorization", "Basic nobody")];
            let bytes = request(row.method, &world.with_ids(&row.path), &headers, body.as_bytes());
            let reply = exchange(world.running.address, &bytes).await;
            let answer = world.named(&reply.json());
            assert_eq!(reply.status, row.status, "{}: {answer:#}", told(&row));
            assert!(alike(&row.answer, &answer), "{} answers {answer:#}\nand not {:#}", told(&row), row.answer);
            let kind = (!reply.body.is_empty()).then_some("application/json");
            assert_eq!(reply.header("content-type"), kind, "{}", told(&row));
            world.stop().await;
        }
    }
}

#[tokio::test]
async fn a_malformed_body_is_refused_wherever_there_is_one_and_changes_nothing() {
    let world = world(Level::Extended).await;
    let before = everything(&world).await;
    for row in rows().into_iter().filter(|row| row.body.is_some()) {
        let right = row.body.as_ref().map(Value::to_string).unwrap_or_default();
        let cut = &right[..right.len() - 1];
        for malformed in ["", "{", "nonsense", "\"text\"", "17", "null", "{\"unknown\": 1}", "[[]]", cut] {
            // An empty body opens the app without further details.
            if malformed.is_empty() && row.route.ends_with("/open") {
                continue;
            }
            let bytes = request(row.method, &world.with_ids(&row.path), &[], malformed.as_bytes());
            let reply = exchange(world.running.address, &bytes).await;
            assert_refused(&format!("{} with {malformed:?}", told(&row)), &reply, 400);
        }
    }
    assert_eq!(everything(&world).await, before);
    world.stop().await;
}

#[tokio::test]
async fn an_unknown_id_is_not_found_and_changes_nothing() {
    let world = world(Level::Extended).await;
    let before = everything(&world).await;
    let mut asked = 0;
    for row in rows() {
        let Some((path, body)) = &row.unknown else { continue };
        let reply = world.call(row.method, path, body.as_ref()).await;
        assert_refused(&format!("{} {path}", row.method), &reply, 404);
        asked += 1;
    }
    let with_id = rows().iter().filter(|row| row.route.contains('{') && row.method != "PUT").count();
    assert_eq!(asked, with_id + 1, "each with an id in its path, and an explanation");
    assert_eq!(everything(&world).await, before);
    world.stop().await;
}

#[tokio::test]
async fn an_application_that_is_not_there_is_not_found() {
    let world = world(Level::Extended).await;
    for path in ["/local/devices?app=none", "/local/sent?app=none", "/local/webhooks?app=none"] {
        assert_refused(path, &world.call("GET", path, None).await, 404);
    }
    world.stop().await;
}
