//! Effects of a plan that need an explicit permission.

use pushplan::guard::{Limits, guards};
use pushplan::plan::{Action, Moved, Plan, Reason};
use pushplan::render::Style;
use pushplan::render::plan::refusals;
use serde_json::{Value, json};

use super::golden;
use crate::build::{Building, change, plan, time};

fn segment(tag: &str) -> Value {
    json!({"display_name": "s", "criteria": {"tag": tag}})
}

/// A number of segments of which some are deleted, and the same for templates.
fn deleting(segments: (usize, usize), templates: (usize, usize)) -> Plan {
    let all = |kind: &'static str, (deleted, owned): (usize, usize)| {
        (0..owned).map(move |number| {
            let action = if number < deleted { Action::Delete } else { Action::Keep };
            change(action, &format!("{kind}/k-{number:03}")).live(segment("x"))
        })
    };
    plan(all("segments", segments).chain(all("templates", templates)))
}

fn push(audience: &Value) -> Value {
    json!({"name": "p", "schedule": [{"scheduled_time": "2026-11-27T1400"}], "push": {"audience": audience}})
}

fn broadcasting(audience: &Value) -> Building {
    change(Action::Create, "scheduled_pushes/p").desired(push(audience))
}

fn refused(plan: &Plan, limits: &Limits) -> Vec<&'static str> {
    guards(plan, limits).iter().map(|refused| refused.guard.word()).collect()
}

#[test]
fn a_few_deletions_and_a_small_part_of_a_kind_are_allowed() {
    let max = |max_deletes| Limits { max_deletes, ..Limits::default() };
    let allow = |number| Limits { allow_deletes: Some(number), ..Limits::default() };
    for (segments, templates, limits, is_refused) in [
        ((5, 5), (0, 0), Limits::default(), false),
        ((6, 6), (0, 0), Limits::default(), true),
        ((6, 29), (0, 0), Limits::default(), true),
        ((6, 30), (0, 0), Limits::default(), false),
        ((20, 100), (0, 0), Limits::default(), false),
        ((21, 100), (0, 0), Limits::default(), true),
        // Five in all, regardless of kind; a small part of another kind does not count.
        ((3, 3), (2, 2), Limits::default(), false),
        ((3, 3), (3, 3), Limits::default(), true),
        ((5, 5), (20, 100), Limits::default(), false),
        // The setting and the flag.
        ((6, 6), (0, 0), max(6), false),
        ((1, 1), (0, 0), max(0), true),
        ((6, 6), (0, 0), allow(6), false),
        ((7, 7), (0, 0), allow(6), true),
        ((20, 100), (0, 0), allow(6), true),
    ] {
        let found = refused(&deleting(segments, templates), &limits);
        let expected: &[&str] = if is_refused { &["deletes"] } else { &[] };
        assert_eq!(found, expected, "{segments:?} {templates:?} {limits:?}");
    }
}

#[test]
fn each_guard_refuses_what_it_guards_and_nothing_else() {
    let collision = Reason::Collision { ids: vec!["a".to_owned(), "b".to_owned()] };
    let doubt = Reason::InDoubt { since: time("2026-11-14T10:00:00Z"), candidates: Vec::new() };
    let late = || Reason::TooLate { at: time("2026-11-16T09:01:00Z") };
    let retired = || Reason::Retired { id: "old".to_owned(), refs: std::collections::BTreeMap::new() };
    let sends = || change(Action::Update, "tag_groups/g/named_users/u").sends("pipelines/p", "vip", "named user u");
    let all = || json!("all");
    let table: Vec<(&str, Building, &[&str])> = vec![
        ("a tag that sets off a pipeline", sends(), &["sends"]),
        ("a protected deletion", change(Action::Delete, "segments/a").protect(), &["protect"]),
        ("a protected replacement", change(Action::Replace, "segments/a").protect(), &["protect"]),
        ("a protected update", change(Action::Update, "segments/a").protect(), &[]),
        ("an old version of something protected", change(Action::Delete, "segments/a").protect().why(retired()), &[]),
        ("a push to everybody", broadcasting(&all()), &["broadcast"]),
        ("a push to everybody or somebody", broadcasting(&json!({"OR": [{"tag": "x"}, "all"]})), &["broadcast"]),
        ("a push to some of everybody", broadcasting(&json!({"AND": [{"tag": "x"}, "all"]})), &[]),
        ("a push to nobody", broadcasting(&json!({"NOT": "all"})), &[]),
        ("a push to everybody that is meant", broadcasting(&all()).broadcast(), &[]),
        ("a push to everybody that is kept", change(Action::Keep, "scheduled_pushes/p").desired(push(&all())), &[]),
        ("a segment of everybody", change(Action::Create, "segments/a").desired(json!({"criteria": "all"})), &[]),
        ("a new push that is too late", change(Action::Create, "scheduled_pushes/p").why(late()), &["too_late"]),
        ("a push that is changed by hand", change(Action::ByHand, "scheduled_pushes/p").why(late()), &[]),
        ("a collision", change(Action::ByHand, "segments/a").why(collision), &["collision"]),
        ("something in doubt", change(Action::ByHand, "segments/a").why(doubt), &["in_doubt"]),
        ("an update", change(Action::Update, "segments/a").moved(Moved::Both), &[]),
    ];
    for (name, building, expected) in table {
        assert_eq!(refused(&plan([building]), &Limits::default()), expected, "{name}");
    }
    let allowed = Limits { allow_sends: true, ..Limits::default() };
    assert!(refused(&plan([sends()]), &allowed).is_empty());
}

#[test]
fn a_segment_that_holds_everybody_is_everybody() {
    let segment = |key: &str, criteria: Value| {
        change(Action::Keep, &format!("segments/{key}")).desired(json!({"display_name": key, "criteria": criteria}))
    };
    let to_a = || broadcasting(&json!({"segment": "a"}));
    let chain = plan([to_a(), segment("a", json!({"segment": "b"})), segment("b", json!("all"))]);
    assert_eq!(refused(&chain, &Limits::default()), ["broadcast"]);
    // One that stays is reached by what a segment becomes; not where it named everybody before, or keeps the old segment.
    let kept = || change(Action::Keep, "scheduled_pushes/p").live(push(&json!({"segment": "a"})));
    let widened = |action, from: Value| {
        let old = json!({"display_name": "a", "criteria": from});
        change(action, "segments/a").live(old).desired(json!({"display_name": "a", "criteria": "all"}))
    };
    let some = || json!({"tag": "x"});
    for (action, from, expected) in [
        (Action::Update, some(), &["broadcast"][..]),
        (Action::Update, json!({"OR": [some(), {"NOT": some()}]}), &[]),
        (Action::Replace, some(), &[]),
        (Action::Keep, some(), &[]),
    ] {
        let found = plan([kept(), widened(action, from.clone())]);
        assert_eq!(refused(&found, &Limits::default()), expected, "{action:?} {from}");
    }
    assert!(refused(&plan([kept().broadcast(), widened(Action::Update, some())]), &Limits::default()).is_empty());
    let circle = plan([to_a(), segment("a", json!({"segment": "b"})), segment("b", json!({"segment": "a"}))]);
    assert!(refused(&circle, &Limits::default()).is_empty());
}

#[test]
fn a_refusal_has_numbers_and_the_way_out() {
    let mut all = crate::plans::stuck();
    all.changes.extend(deleting((7, 12), (0, 0)).changes);
    all.changes.extend(
        plan([
            broadcasting(&json!("all")),
            change(Action::Update, "tag_groups/g/named_users/u").sends("pipelines/p", "vip", "named user u"),
        ])
        .changes,
    );
    let shown = refusals(&guards(&all, &Limits::default()), Style { width: 100, ..Style::PLAIN });
    golden("refusals.txt", &shown);
}
