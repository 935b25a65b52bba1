//! The endpoint tables of the API contract, row by row, and the additional verbs of the live service.

use std::collections::BTreeSet;

use pushplan::service::Level;
use pushplan::service::routes::ROUTES;
use serde_json::{Value, json};

use crate::support::table::{Row, rows};
use crate::support::wire::{Reply, alike, exchange, request};
use crate::support::{KEY, World};

/// The path with a trailing slash, or without its own one.
fn other_slash(path: &str) -> String {
    let (path, query) = path.split_once('?').map_or((path, String::new()), |(path, query)| (path, format!("?{query}")));
    match path.strip_suffix('/') {
        Some(bare) => format!("{bare}{query}"),
        None => format!("{path}/{query}"),
    }
}

fn told(row: &Row) -> String {
    format!("{} {}", row.method, row.path)
}

/// Checks that a refusal has the documented form, with its status in the code.
fn assert_refused(what: &str, reply: &Reply, status: u16, codes: &[u64]) {
    let body = reply.json();
    assert_eq!(reply.status, status, "{what}: {body:#}");
    assert_eq!(body["ok"], false, "{what}: {body:#}");
    assert!(body["operation_id"].as_str().is_some_and(|id| id.len() == 36), "{what}: {body:#}");
    assert!(body["error"].as_str().is_some_and(|error| !error.is_empty()), "{what}: {body:#}");
    assert!(body["error_code"].as_u64().is_some_and(|code| codes.contains(&code)), "{what}: {body:#}");
}

fn assert_right(world: &World, row: &Row, path: &str, reply: &Reply) {
    let what = format!("{} {path}", row.method);
    let body = world.named(&reply.json());
    assert_eq!(reply.status, row.status, "{what}: {body:#}");
    assert!(alike(&row.answer, &body), "{what} answers {body:#}\nand not {:#}", row.answer);
    let location = reply.header("location").map(|url| world.named(&json!(url)));
    assert_eq!(location, row.location.map(|url| json!(url)), "{what}: Location");
    let kind = (!reply.body.is_empty()).then_some("application/vnd.messaging+json; version=3");
    assert_eq!(reply.header("content-type"), kind, "{what}: Content-Type");
}

#[test]
fn every_route_has_a_row_and_every_row_a_route() {
    let level = |level: Level| if level == Level::Extended { "extended" } else { "documented" };
    let routes: BTreeSet<_> = ROUTES.iter().map(|route| (route.path, route.method, level(route.level))).collect();
    let tested: BTreeSet<_> = rows().iter().map(|row| (row.route, row.method, level(row.level))).collect();
    assert_eq!(routes.difference(&tested).collect::<Vec<_>>(), Vec::<&(&str, &str, &str)>::new(), "without a row");
    assert_eq!(tested.difference(&routes).collect::<Vec<_>>(), Vec::<&(&str, &str, &str)>::new(), "without a route");
}

#[tokio::test]
async fn every_row_answers_as_the_contract_says_with_and_without_a_slash() {
    for row in rows() {
        for path in [row.path.clone(), other_slash(&row.path)] {
            let world = World::new(Level::Extended).await;
            let reply = world.call(row.method, &path, row.body.as_ref()).await;
            assert_right(&world, &row, &path, &reply);
            world.stop().await;
        }
    }
}

#[tokio::test]
async fn the_documented_level_has_the_contract_and_nothing_more() {
    for row in rows().into_iter().map(|row| row.on(Level::Documented)) {
        let world = World::new(Level::Documented).await;
        let reply = world.call(row.method, &row.path, row.body.as_ref()).await;
        match row.level {
            Level::Documented => assert_right(&world, &row, &row.path, &reply),
            Level::Extended => {
                let status = if reply.status == 405 { 405 } else { 404 };
                assert_refused(&told(&row), &reply, status, &[40401, 40501]);
            }
        }
        world.stop().await;
    }
}

#[tokio::test]
async fn wrong_credentials_are_refused_everywhere_and_change_nothing() {
    let world = World::new(Level::Extended).await;
    let before = everything(&world).await;
    let encoded = |text: &str| {
        use base64::Engine as _;
        format!("Basic {}", base64::prelude::BASE64_STANDARD.encode(text))
    };
    let wrong = [
        encoded(&format!("{KEY}:wrong-secret-000000000")),
        encoded("another-key-0000000000:master-secret-00000000"),
        encoded(&format!("{KEY}:")),
        encoded(KEY),
        "Basic !!!".to_owned(),
        "Basic".to_owned(),
        format!("Bearer {KEY}"),
        String::new(),
    ];
    for row in rows() {
        let body = row.body.as_ref().map(Value::to_string).unwrap_or_default();
        for authorization in &wrong {
            let headers = [("Authorization", authorization.as_str())];
            let bytes = request(row.method, &world.with_ids(&row.path), &headers, world.with_ids(&body).as_bytes());
            let reply = exchange(world.running.address, &bytes).await;
            assert_refused(&format!("{} as {authorization:?}", told(&row)), &reply, 401, &[40101]);
        }
    }
    assert_eq!(everything(&world).await, before);
    world.stop().await;
}

#[tokio::test]
async fn a_malformed_body_is_refused_wherever_there_is_one_and_changes_nothing() {
    let world = World::new(Level::Extended).await;
    let before = everything(&world).await;
    let with_body: Vec<Row> = rows().into_iter().filter(|row| row.body.is_some()).collect();
    assert!(with_body.len() > 20);
    for row in with_body {
        let right = row.body.as_ref().map(Value::to_string).unwrap_or_default();
        let cut = &right[..right.len() - 1];
        for malformed in ["", "{", "nonsense", "\"text\"", "17", "null", "{\"unknown\": 1}", "[[]]", cut] {
            let bytes = request(row.method, &world.with_ids(&row.path), &[], malformed.as_bytes());
            let reply = exchange(world.running.address, &bytes).await;
            assert_refused(&format!("{} with {malformed:?}", told(&row)), &reply, 400, &[40000, 40001]);
        }
        let reply =
            exchange(world.running.address, &request(row.method, &world.with_ids(&row.path), &[], cut.as_bytes()))
                .await;
        assert_eq!(reply.json()["error"], "Could not parse request body.");
        assert!(reply.json()["details"]["location"]["line"].is_u64(), "{}: {:#}", told(&row), reply.json());
    }
    assert_eq!(everything(&world).await, before);
    world.stop().await;
}

#[tokio::test]
async fn an_unknown_id_is_not_found_and_changes_nothing() {
    let world = World::new(Level::Extended).await;
    let before = everything(&world).await;
    for row in rows() {
        let Some((path, body)) = &row.unknown else { continue };
        let reply = world.call(row.method, path, body.as_ref()).await;
        assert_refused(&format!("{} {path}", row.method), &reply, 404, &[40401, 40404]);
    }
    assert_eq!(everything(&world).await, before);
    world.stop().await;
}

#[tokio::test]
async fn every_id_that_a_path_names_can_be_unknown() {
    for row in rows().iter().filter(|row| row.route.contains('{')) {
        // A tag is created by naming it, and a place is not an id.
        let made_by_naming =
            matches!((row.method, row.route), ("PUT", "/api/tags/{tag}") | (_, "/api/location/{place}"));
        assert!(made_by_naming || row.unknown.is_some(), "{}", told(row));
    }
}

/// All readable data, as text.
async fn everything(world: &World) -> String {
    let lists = [
        "/api/schedules",
        "/api/experiments",
        "/api/pipelines",
        "/api/tags",
        "/api/segments",
        "/api/segments/$segment",
        "/api/named_users",
        "/api/templates",
        "/api/channels",
        "/api/reports/responses/list?start=2026-11-01&end=2026-12-31",
        "/api/reports/devices",
    ];
    let mut all = String::new();
    for path in lists {
        let reply = world.call("GET", path, None).await;
        assert_eq!(reply.status, 200, "{path}");
        all.push_str(&reply.text());
    }
    all
}
