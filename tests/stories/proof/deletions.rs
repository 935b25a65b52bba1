//! A 404 to a deletion is believed only if another answer agrees.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use pushplan_testing::says;
use serde_json::json;

use super::{Nth, PIPELINE, PUSH, Site, TRIAL, instead, path, side_by_side};

const KEPT: &str = "segments:\n  kept: {criteria: {tag: kept}}\n";

/// Resources that send messages, with their list, and the API level at which they can be deleted.
const SENDERS: [(&str, &str, &str, &str); 4] = [
    (PUSH, "/api/schedules", "schedules", "extended"),
    (TRIAL, "/api/experiments", "experiments", "extended"),
    (TRIAL, "/api/experiments", "experiments", "documented"),
    (PIPELINE, "/api/pipelines", "pipelines", "extended"),
];

fn held(site: &Site, list: &str, key: &str) -> usize {
    site.service.get(list)[key].as_array().expect("a list").len()
}

#[test]
fn one_404_to_a_deletion_leaves_nothing_that_sends() {
    side_by_side(SENDERS, |(manifest, list, key, level)| {
        let deletion = Nth::default();
        let site = Site::new(&format!("{KEPT}{manifest}"), level, move |asked, _| {
            if asked.method == "DELETE" && deletion.is(0) { instead("404 Not Found", "") } else { None }
        });
        site.apply(0);
        site.project.write(KEPT);
        site.apply(0);
        assert_eq!(held(&site, list, key), 0, "{list} {level}: it would still send");
        site.matches();
    });
}

/// An unmanaged segment refers to the one that would be deleted. Only its own answer shows that.
#[test]
fn one_404_for_a_segment_that_is_listed_lets_nothing_be_deleted_that_it_names() {
    let theirs = Arc::new(OnceLock::<String>::new());
    let (named, read) = (theirs.clone(), Nth::default());
    let site = Site::new(&format!("{KEPT}  old: {{criteria: {{tag: old}}}}\n"), "documented", move |asked, _| {
        let is_theirs = named.get().is_some_and(|id| path(asked).ends_with(id.as_str()));
        if is_theirs && read.is(0) { instead("404 Not Found", "") } else { None }
    });
    site.apply(0);
    let id = site.service.segment_id("old");
    site.service.post("/api/segments", &json!({ "display_name": "theirs", "criteria": { "segment": id } }));
    theirs.set(site.service.segment_id("theirs")).expect("it is set once");
    site.project.write(KEPT);
    says(&site.apply(1).stderr, &["the list contains it, but the service answers HTTP 404 for it"]);
    says(&site.apply(6).stdout, &["unmanaged segment \"theirs\"", "still uses it"]);
    assert_eq!(site.service.segment_id("old"), id);
}

#[test]
fn what_is_still_there_after_404s_stays_managed_and_is_deleted_later() {
    let is_wrong = Arc::new(AtomicBool::new(true));
    let wrong = is_wrong.clone();
    let site = Site::new(&format!("{KEPT}{PUSH}"), "extended", move |asked, _| {
        let is_deletion = asked.method == "DELETE" && wrong.load(Ordering::SeqCst);
        if is_deletion { instead("404 Not Found", "") } else { None }
    });
    site.apply(0);
    site.project.write(KEPT);
    let ran = site.apply(6);
    says(&ran.stdout, &["scheduled_pushes/sale", "but it still exists"]);
    assert_eq!(held(&site, "/api/schedules", "schedules"), 1);
    is_wrong.store(false, Ordering::SeqCst);
    site.apply(0);
    assert_eq!(held(&site, "/api/schedules", "schedules"), 0);
    site.matches();
}

/// The old experiment is deleted before the new one is created, because two would send the message twice.
#[test]
fn an_experiment_is_not_replaced_while_the_old_one_is_there() {
    side_by_side(["extended", "documented"], |level| {
        let deletion = Nth::default();
        let site = Site::new(TRIAL, level, move |asked, _| {
            if asked.method == "DELETE" && deletion.is(0) { instead("404 Not Found", "") } else { None }
        });
        site.apply(0);
        site.project.edit("alert: B", "alert: C");
        site.apply(0);
        assert_eq!(held(&site, "/api/experiments", "experiments"), 1, "{level}");
        site.matches();
    });
}

#[test]
fn what_someone_deleted_meanwhile_is_gone_after_one_more_look() {
    let site = Site::new(&format!("{KEPT}{PUSH}"), "extended", |asked, port| {
        if asked.method == "DELETE" {
            // Another client is faster.
            drop(pushplan_testing::wire::forward(port, asked));
        }
        None
    });
    site.apply(0);
    site.project.write(KEPT);
    site.seen();
    site.apply(0);
    let seen = site.seen();
    let deleted = seen.iter().position(|line| line.starts_with("DELETE /api/schedules/")).expect("a deletion");
    let looks = seen[deleted..].iter().filter(|line| line.starts_with("GET /api/schedules/")).count();
    assert_eq!(looks, 1, "{seen:?}");
    site.matches();
}
