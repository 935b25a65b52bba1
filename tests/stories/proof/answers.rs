//! Answers that seem to define the result of a request, but do not.

use std::sync::atomic::{AtomicBool, Ordering};

use pushplan_testing::says;
use pushplan_testing::wire::forward;

use super::{Nth, Site, instead, path, side_by_side};

const PUSH: &str = "\
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2035-01-22T10:00}
    push: {audience: {tag: vip}, device_types: [ios], notification: {alert: Sale}}
";
const FALSE: &str = "{\"ok\": false, \"error\": \"Try again later.\"}";

fn pushes(site: &Site) -> usize {
    site.service.get("/api/schedules")["schedules"].as_array().expect("a list").len()
}

/// Statuses of intermediaries that gave up waiting for the service, which has carried out the request.
const GIVEN_UP: [&str; 4] =
    ["408 Request Timeout", "499 Client Closed Request", "460 Client Closed Connection", "524 A Timeout Occurred"];

#[test]
fn a_push_whose_creation_timed_out_on_the_way_is_not_created_again() {
    side_by_side(GIVEN_UP, |status| {
        let creation = Nth::default();
        let site = Site::new(PUSH, "documented", move |asked, port| {
            if asked.method != "POST" || !creation.is(0) {
                return None;
            }
            drop(forward(port, asked));
            instead(status, "{}")
        });
        let ran = site.apply(6);
        says(&ran.stdout, &["Not known: 1", "pushplan resolve scheduled_pushes/sale"]);
        assert_eq!(pushes(&site), 1);
        for _ in 0..2 {
            let ran = site.apply(7);
            says(&ran.stderr, &["scheduled_pushes/sale: whether it was created on "]);
        }
        assert_eq!(pushes(&site), 1, "{status}");
    });
}

/// The service reports a failure, but has carried out the request.
#[test]
fn a_push_whose_creation_is_not_ok_is_not_created_again() {
    side_by_side(["200 OK", "201 Created", "202 Accepted"], |status| {
        let creation = Nth::default();
        let site = Site::new(PUSH, "extended", move |asked, port| {
            if asked.method != "POST" || !creation.is(0) {
                return None;
            }
            drop(forward(port, asked));
            instead(status, "{\"ok\": false, \"error\": \"Try again later.\", \"schedule_ids\": [\"none\"]}")
        });
        let ran = site.apply(6);
        says(&ran.stdout, &["Not known: 1", "Try again later."]);
        site.apply(0);
        assert_eq!(pushes(&site), 1, "{status}");
        site.matches();
    });
}

/// The service answers with a success status and a failure in the body, and has done nothing.
#[test]
fn an_update_or_a_deletion_that_is_not_ok_is_not_taken_for_done() {
    let manifest = "segments:\n  a: {criteria: {tag: a}}\n  b: {criteria: {tag: b}}\n";
    let (update, deletion) = (Nth::default(), Nth::default());
    let site = Site::new(manifest, "extended", move |asked, _| match asked.method.as_str() {
        "PUT" if update.is(0) => instead("200 OK", FALSE),
        "DELETE" if deletion.is(0) => instead("200 OK", FALSE),
        _ => None,
    });
    site.apply(0);
    site.project.write("segments:\n  a: {criteria: {tag: c}}\n");
    site.apply(0);
    assert_eq!(site.service.segments(), ["a"]);
    let id = site.service.segment_id("a");
    assert_eq!(site.service.get(&format!("/api/segments/{id}"))["criteria"]["tag"], "c");
    site.matches();
}

/// A list that is not ok contains nothing, and proves nothing.
#[test]
fn a_list_that_is_not_ok_proves_nothing() {
    let is_wrong = std::sync::Arc::new(AtomicBool::new(false));
    let wrong = is_wrong.clone();
    let site = Site::new(PUSH, "extended", move |asked, _| {
        let is_list = asked.method == "GET" && path(asked) == "/api/schedules";
        let body = "{\"ok\": false, \"error\": \"Try again later.\", \"schedules\": []}";
        if is_list && wrong.load(Ordering::SeqCst) { instead("200 OK", body) } else { None }
    });
    site.apply(0);
    is_wrong.store(true, Ordering::SeqCst);
    let ran = site.run(&["plan"]);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stderr, &["GET /api/schedules failed", "Try again later."]);
    is_wrong.store(false, Ordering::SeqCst);
    site.matches();
}

/// Possible answers to a registration besides the documented one: any success, with the channel, its id, or both.
#[test]
fn an_open_channel_is_known_by_any_success_that_names_it() {
    let manifest = "open_channels:\n  desk: {opt_in: true, open: {open_platform_name: sms}}\n";
    let cases = [
        ("201 Created", "{\"channel\": {\"channel_id\": \"ID\", \"opt_in\": true}}"),
        ("200 OK", "{\"ok\": true, \"channel_id\": \"ID\"}"),
        ("202 Accepted", "{\"ok\": true, \"channel_id\": \"ID\", \"channel\": {\"channel_id\": \"ID\"}}"),
    ];
    side_by_side(cases, |(status, body)| {
        let site = Site::new(manifest, "documented", move |asked, port| {
            if asked.method != "POST" {
                return None;
            }
            let answer = String::from_utf8(forward(port, asked)).expect("a text");
            let (_, rest) = answer.split_once("\"channel_id\":\"").expect("an id");
            instead(status, &body.replace("ID", rest.split('"').next().expect("an id")))
        });
        site.apply(0);
        site.matches();
        let channels = site.service.get("/api/channels")["channels"].clone();
        assert_eq!(channels.as_array().map(Vec::len), Some(1), "{channels}");
    });
}

/// One id, as documented, or a list of them.
#[test]
fn a_test_send_shows_the_id_of_its_push_whatever_the_form() {
    let cases = [
        ("200 OK", "{\"ok\": true, \"push_id\": \"the-push\"}"),
        ("202 Accepted", "{\"ok\": true, \"push_ids\": [\"the-push\"]}"),
        ("201 Created", "{\"ok\": true, \"push_id\": \"the-push\", \"push_ids\": [\"the-push\"]}"),
    ];
    side_by_side(cases, |(status, body)| {
        let site = Site::new(PUSH, "documented", move |asked, port| {
            if asked.method != "POST" {
                return None;
            }
            drop(forward(port, asked));
            instead(status, body)
        });
        let settings = site.project.folder.read("pushplan.toml") + "test_sends = true\n";
        site.project.folder.write("pushplan.toml", settings);
        let phone = serde_json::json!({"device_type": "ios"});
        site.service.put("/local/devices/phone", &phone);
        let ran = site.run(&["send", "scheduled_pushes/sale", "--to", "ios_channel:phone", "--yes"]);
        assert_eq!(ran.code, 0, "{status}: {ran}");
        says(&ran.stdout, &["Push id: the-push"]);
        assert_eq!(ran.stdout.matches("the-push").count(), 2, "the id and the command: {ran}");
    });
}
