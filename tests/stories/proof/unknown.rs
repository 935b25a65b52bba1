//! A creation whose response was lost is repeated only if two lists, a settle time apart, do not contain it.

use std::sync::atomic::{AtomicBool, Ordering};

use pushplan_testing::says;
use serde_json::json;

use super::{Nth, PIPELINE, PUSH, Site, TRIAL, instead, lost, path, side_by_side};

const SEGMENT: &str = "segments:\n  vip: {criteria: {tag: vip}}\n";
const TEMPLATE: &str = "templates:\n  winback: {push: {notification: {alert: Hello}}}\n";

/// A kind: its manifest, the path of its list, and the key of the list's items.
type Kind = (&'static str, &'static str, &'static str);

const SCHEDULES: Kind = (PUSH, "/api/schedules", "schedules");
const EXPERIMENTS: Kind = (TRIAL, "/api/experiments", "experiments");
const PIPELINES: Kind = (PIPELINE, "/api/pipelines", "pipelines");
const SEGMENTS: Kind = (SEGMENT, "/api/segments", "segments");
const TEMPLATES: Kind = (TEMPLATE, "/api/templates", "templates");

/// The number of objects of a kind on the service.
fn held(site: &Site, (_, list, key): Kind) -> usize {
    site.service.get(list)[key].as_array().expect("a list").len()
}

/// The response to the first creation is lost. Of the lists that the next apply reads, the one with this number is
/// empty.
fn one_empty_list(kind: Kind, level: &str, number: usize) {
    let (manifest, list, key) = kind;
    let (is_lost, creation, lists) = (AtomicBool::new(false), Nth::default(), Nth::default());
    let site = Site::new(manifest, level, move |asked, port| match asked.method.as_str() {
        "POST" if path(asked) == list && creation.is(0) => {
            is_lost.store(true, Ordering::SeqCst);
            lost(asked, port)
        }
        "GET" if path(asked) == list && is_lost.load(Ordering::SeqCst) && lists.is(number) => {
            instead("200 OK", &format!("{{\"ok\": true, \"{key}\": []}}"))
        }
        _ => None,
    });
    site.apply(6);
    assert_eq!(held(&site, kind), 1, "{list}");
    site.apply(0);
    assert_eq!(held(&site, kind), 1, "{list} {number}");
    site.matches();
}

#[test]
fn a_lost_push_is_not_created_again_because_one_list_is_empty() {
    side_by_side(0..3, |number| one_empty_list(SCHEDULES, "extended", number));
}

#[test]
fn nothing_else_that_was_lost_is_created_again_because_one_list_is_empty() {
    side_by_side([0, 1], |number| one_empty_list(EXPERIMENTS, "extended", number));
    side_by_side([0, 1], |number| one_empty_list(PIPELINES, "documented", number));
    side_by_side([0, 1], |number| one_empty_list(SEGMENTS, "documented", number));
    side_by_side([0, 1], |number| one_empty_list(TEMPLATES, "documented", number));
}

/// Of the lists that the next applies read, the one with this number answers 404.
#[test]
fn a_lost_push_is_not_created_again_because_one_list_is_not_found() {
    side_by_side(0..2, |number| {
        let (is_lost, creation, lists) = (AtomicBool::new(false), Nth::default(), Nth::default());
        let site = Site::new(PUSH, "extended", move |asked, port| match asked.method.as_str() {
            "POST" if creation.is(0) => {
                is_lost.store(true, Ordering::SeqCst);
                lost(asked, port)
            }
            "GET" if path(asked) == "/api/schedules" && is_lost.load(Ordering::SeqCst) && lists.is(number) => {
                instead("404 Not Found", "{\"ok\": false, \"error\": \"Not found\"}")
            }
            _ => None,
        });
        site.apply(6);
        // Each of them reads at least one list. Without it, nothing is decided.
        for _ in 0..2 {
            site.run(&["apply", "--yes"]);
        }
        site.apply(0);
        assert_eq!(held(&site, SCHEDULES), 1, "{number}");
        site.matches();
    });
}

#[test]
fn a_lost_segment_is_not_created_again_because_its_content_is_not_found_once() {
    side_by_side(["documented", "extended"], |level| {
        let (creation, read) = (Nth::default(), Nth::default());
        let site = Site::new(SEGMENT, level, move |asked, port| match asked.method.as_str() {
            "POST" if creation.is(0) => lost(asked, port),
            "GET" if path(asked).starts_with("/api/segments/") && read.is(0) => instead("404 Not Found", ""),
            _ => None,
        });
        site.apply(6);
        site.apply(0);
        assert_eq!(held(&site, SEGMENTS), 1, "{level}");
        site.matches();
    });
}

/// Neither list contains it, because it was never created.
#[test]
fn a_creation_that_never_arrived_is_made_after_two_lists() {
    let creation = Nth::default();
    let site = Site::new(PUSH, "extended", move |asked, _| (asked.method == "POST" && creation.is(0)).then_some(None));
    site.apply(6);
    assert_eq!(held(&site, SCHEDULES), 0);
    site.seen();
    let ran = site.apply(0);
    says(&ran.stderr, &["scheduled_pushes/sale", "checked again in"]);
    let seen = site.seen();
    let created = seen.iter().position(|line| line == "POST /api/schedules").expect("it is created");
    let lists = seen[..created].iter().filter(|line| *line == "GET /api/schedules").count();
    assert!(lists >= 2, "{seen:?}");
    assert_eq!(held(&site, SCHEDULES), 1);
    site.matches();
}

/// The response to the creation is lost. A person moves the push to an earlier time, and it is sent: no list contains
/// it any more.
#[test]
fn a_lost_push_that_was_sent_early_is_not_created_again() {
    side_by_side(0..3, |wrong| {
        let (creation, reports) = (Nth::default(), Nth::default());
        let clock = ["--clock", "2035-01-20T09:00Z"];
        let site = Site::with(PUSH, "extended", &clock, move |asked, port| match asked.method.as_str() {
            "POST" if creation.is(0) => lost(asked, port),
            "GET" if path(asked) == "/api/reports/responses/list" && reports.is(wrong) => match wrong {
                2 => None,
                _ => instead("200 OK", "{\"pushes\": []}"),
            },
            _ => None,
        });
        site.service.put("/local/devices/phone", &json!({"device_type": "ios", "opt_in": true, "tags": ["vip"]}));
        site.apply(6);
        site.take_schedule(false);
        let sent = || site.service.get("/local/sent")["sent"].as_array().map_or(0, Vec::len);
        assert_eq!((held(&site, SCHEDULES), sent()), (0, 1));
        let ran = site.apply(7);
        says(
            &ran.stderr,
            &["scheduled_pushes/sale: whether it was created on", "resolve scheduled_pushes/sale --created ID"],
        );
        assert_eq!(held(&site, SCHEDULES), 0, "{ran}");
    });
}

/// An experiment is replaced: the old one is deleted, and the response is lost. Then one list and one read say that it
/// is gone.
#[test]
fn what_may_have_been_deleted_is_gone_only_if_two_lists_and_its_own_answer_say_so() {
    side_by_side(0..3, |number| {
        let is_lost = std::sync::Arc::new(AtomicBool::new(false));
        let (lost, deletions, lists, read) = (is_lost.clone(), Nth::default(), Nth::default(), Nth::default());
        let site = Site::new(TRIAL, "extended", move |asked, _| match asked.method.as_str() {
            "DELETE" if deletions.is_below(4) => {
                lost.store(true, Ordering::SeqCst);
                Some(None)
            }
            "GET" if !lost.load(Ordering::SeqCst) => None,
            "GET" if path(asked) == "/api/experiments" && lists.is(number) => {
                instead("200 OK", "{\"ok\": true, \"experiments\": []}")
            }
            "GET" if path(asked).starts_with("/api/experiments/") && read.is(0) => instead("404 Not Found", ""),
            _ => None,
        });
        site.apply(0);
        site.project.edit("alert: B", "alert: C");
        site.apply(6);
        assert!(is_lost.load(Ordering::SeqCst));
        site.apply(0);
        assert_eq!(held(&site, EXPERIMENTS), 1, "{number}: the old one is still there");
        site.matches();
    });
}

/// The deletion of a push never arrives, and meanwhile a person sends the push, or deletes it. No list shows which.
#[test]
fn a_push_that_was_sent_before_its_deletion_is_not_sent_again_under_another_key() {
    side_by_side(0..4, |case| {
        let (is_deleted, is_wrong) = (case == 3, case);
        let (deletions, reports) = (Nth::default(), Nth::default());
        let clock = ["--clock", "2035-01-20T09:00Z"];
        let site = Site::with(PUSH, "extended", &clock, move |asked, _| match asked.method.as_str() {
            "DELETE" if deletions.is_below(4) => Some(None),
            "GET" if path(asked) == "/api/reports/responses/list" && reports.is(is_wrong) => match is_wrong {
                2 => None,
                _ => instead("200 OK", "{\"pushes\": []}"),
            },
            _ => None,
        });
        site.service.put("/local/devices/phone", &json!({"device_type": "ios", "opt_in": true, "tags": ["vip"]}));
        site.apply(0);
        site.project.edit("  sale:", "  announcement:");
        site.apply(6);
        assert_eq!(held(&site, SCHEDULES), 1, "the new one waits for the deletion");
        let sent = || site.service.get("/local/sent")["sent"].as_array().map_or(0, Vec::len);
        site.take_schedule(is_deleted);
        assert_eq!((held(&site, SCHEDULES), sent()), (0, usize::from(!is_deleted)));
        if is_deleted {
            site.apply(0);
            assert_eq!(held(&site, SCHEDULES), 1);
            return site.matches();
        }
        let ran = site.apply(7);
        says(
            &ran.stderr,
            &["scheduled_pushes/sale: the answer to its deletion on", "resolve scheduled_pushes/sale --absent"],
        );
        assert_eq!((held(&site, SCHEDULES), sent()), (0, 1), "{ran}");
    });
}
