//! Changes made on the service since the last apply, found without a manifest.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use pushplan::drift::{Drift, Situation, drift};
use pushplan::kinds::Found;
use pushplan::ledger::{Intent, Unconfirmed, Verb};
use pushplan::node::Shared;
use pushplan::nouns::level::Level;
use pushplan::plan::{Action, Choice};
use serde_json::{Value, json};

use super::world::{World, address, declared};

const ALL: &str = "\
segments:
  a: {criteria: {tag: a}}
  b: {criteria: {and: [{segment: a}, {tag: b}]}}
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2031-01-01T10:00}
    push: {audience: {segment: a}, device_types: [ios], notification: {alert: Sale}}
";

fn found(world: &World, ignore: &str) -> Drift {
    let declared = declared(ignore);
    drift(&Situation {
        ledger: &world.ledger,
        live: &world.live,
        now: world.now,
        ahead: SignedDuration::ZERO,
        declared: &declared,
        under_way: &BTreeSet::new(),
        choice: &world.choice,
    })
}

fn told(drift: &Drift) -> Vec<String> {
    let done = drift.changes.iter().filter(|change| change.action != Action::Keep);
    done.map(|change| format!("{} {}", change.action.symbol(), change.address)).collect()
}

fn intend(world: &mut World, name: &str, verb: Verb, spec: Option<Value>) {
    let intent = Intent {
        address: address(name),
        verb,
        id: None,
        spec: spec.map(Into::into),
        refs: BTreeMap::new(),
        seen: BTreeSet::new(),
        deadline: world.now,
        protect: false,
        zone: None,
    };
    world.ledger.open.insert(address(name), Unconfirmed::new(intent, world.now));
}

#[test]
fn what_is_as_it_was_applied_is_no_drift() {
    for level in [Level::Documented, Level::Extended] {
        let drift = found(&World::in_sync(ALL, level), "");
        assert!(drift.is_none() && drift.added.is_empty(), "{drift:?}");
        let untold = usize::from(level == Level::Documented);
        assert_eq!((drift.kept(), drift.untold()), (3 - untold, untold), "the contract lists no schedules");
    }
}

#[test]
fn an_edit_goes_from_what_was_applied_to_what_is_there() {
    let mut world = World::in_sync(ALL, Level::Extended);
    world.edit("segments/a", |spec| spec["criteria"] = json!({"tag": "z"}));
    world.remove("segments/b");
    let drift = found(&world, "");
    assert_eq!(told(&drift), ["~ segments/a", "- segments/b"]);
    assert_eq!(drift.changes[0].ledger, None);
    let change = drift.changes.iter().find(|change| change.address == address("segments/a")).expect("a change");
    let tag = |spec: &Option<Shared>| spec.as_ref().expect("a spec")["criteria"]["tag"].clone();
    assert_eq!((tag(&change.live), tag(&change.desired)), (json!("a"), json!("z")));
    // Ignored differences are counted.
    let ignoring = "segments: {a: {criteria: {tag: a}, lifecycle: {ignore: [criteria]}}}";
    let drift = found(&world, ignoring);
    assert_eq!((told(&drift), drift.ignored()), (vec!["- segments/b".to_owned()], 1));
    world.choice = Choice { only: vec!["segments/a".to_owned()], except: Vec::new() };
    assert_eq!(told(&found(&world, "")), ["~ segments/a"]);
    world.choice = Choice { only: vec!["segments/c".to_owned()], except: Vec::new() };
    assert_eq!(found(&world, "").idle, ["segments/c"]);
}

#[test]
fn what_an_earlier_run_did_and_did_not_write_down_is_nobody_elses_doing() {
    let mut world = World::in_sync(ALL, Level::Extended);
    world.edit("segments/a", |spec| spec["criteria"] = json!({"tag": "ours"}));
    let mut intended = world.ledger.owned[&address("segments/a")].spec.clone();
    intended["criteria"] = json!({"tag": "ours"});
    intend(&mut world, "segments/a", Verb::Update, Some(intended.into_value()));
    world.remove("segments/b");
    intend(&mut world, "segments/b", Verb::Delete, None);
    let made: Timestamp = "2030-01-02T00:00:00Z".parse().expect("a time");
    let new = Found { id: "new".into(), name: "n".into(), made: Some(made), ..Found::default() };
    world.put(&address("segments/n"), new);
    intend(&mut world, "segments/n", Verb::Create, Some(json!({"display_name": "n", "criteria": {"tag": "n"}})));
    let drift = found(&world, "");
    assert!(drift.is_none(), "{drift:?}");
    assert_eq!(drift.in_doubt, [address("segments/n")]);
}

#[test]
fn what_has_gone_out_was_not_removed() {
    let mut world = World::in_sync(ALL, Level::Extended);
    world.remove("scheduled_pushes/sale");
    assert_eq!(told(&found(&world, "")), ["- scheduled_pushes/sale"]);
    world.now = "2031-01-01T10:01:00Z".parse().expect("a time");
    assert!(found(&world, "").is_none());
}

#[test]
fn what_was_made_since_is_told_and_what_has_no_time_is_counted() {
    let mut world = World::in_sync(ALL, Level::Extended);
    let mut put = |id: &str, made: Option<&str>| {
        let made = made.map(|at| at.parse().expect("a time"));
        let found = Found { id: id.into(), name: id.into(), made, ..Found::default() };
        world.put(&address(&format!("segments/{id}")), found);
    };
    put("older", Some("2029-12-31T00:00:00Z"));
    put("newer", Some("2030-01-02T00:00:00Z"));
    put("newest", Some("2030-01-03T00:00:00Z"));
    put("unknown", None);
    let drift = found(&world, "");
    let added: Vec<&str> = drift.added.iter().map(|added| added.id.as_str()).collect();
    assert_eq!(added, ["newest", "newer"]);
    assert_eq!(drift.undated, [("segments", 1)].into());
    assert!(!drift.is_none());
}
