//! A segment's content is read separately only if it may have changed since the ledger was last updated.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use pushplan::address::Address;
use pushplan::exchange::Answer;
use pushplan::ledger::{Adopted, Done, Entry, Intent, Ledger, Outcome, Record, Resolution, Verb};
use pushplan::live::{Ask, Fetch, LiveState, Look, Proof};
use pushplan::nouns::level::Level;
use serde_json::{Value, json};

const MADE: i64 = 1_795_770_000_000;

fn spec() -> Value {
    json!({ "display_name": "a", "criteria": { "tag": "a" } })
}

/// A ledger in which `segments/a` was created, by an answer or by a user's confirmation.
fn ledger(end: Record) -> Ledger {
    let intent = Intent {
        address: Address::new("segments", "a"),
        verb: Verb::Create,
        id: None,
        spec: Some(spec().into()),
        refs: BTreeMap::new(),
        seen: BTreeSet::new(),
        deadline: Timestamp::UNIX_EPOCH,
        protect: false,
        zone: None,
    };
    let records = [Record::Intents(vec![intent]), end];
    let entry = |(seq, record)| Entry { seq, at: Timestamp::UNIX_EPOCH, actor: "ada".into(), record };
    Ledger::replay((1..).zip(records).map(entry))
}

fn answered() -> Ledger {
    let result = Done::Done { id: Some("one".into()), push_ids: Vec::new() };
    let outcome = Outcome { address: Address::new("segments", "a"), verb: Verb::Create, result, unsettled: None };
    ledger(Record::Outcomes(vec![outcome]))
}

/// A ledger in which `segments/a` was created, and then updated by a successful request.
fn updated() -> Ledger {
    let mut ledger = answered();
    let address = Address::new("segments", "a");
    let intent = Intent {
        address: address.clone(),
        verb: Verb::Update,
        id: Some("one".into()),
        spec: Some(spec().into()),
        refs: BTreeMap::new(),
        seen: BTreeSet::new(),
        deadline: Timestamp::UNIX_EPOCH,
        protect: false,
        zone: None,
    };
    let result = Done::Done { id: Some("one".into()), push_ids: Vec::new() };
    let outcome = Outcome { address, verb: Verb::Update, result, unsettled: None };
    for (seq, record) in (3..).zip([Record::Intents(vec![intent]), Record::Outcomes(vec![outcome])]) {
        ledger.add(&Entry { seq, at: Timestamp::UNIX_EPOCH, actor: "ada".into(), record });
    }
    ledger
}

/// Returns a ledger after a plan has read `segments/a` under a stamp, or has adopted it without one.
fn taken_up(ledger: &Ledger, stamp: Option<i64>) -> Ledger {
    let adopted = Adopted {
        address: Address::new("segments", "a"),
        id: "one".into(),
        spec: spec().into(),
        refs: BTreeMap::new(),
        stamp: stamp.map(|stamp| stamp.to_string()),
        protect: false,
        past: false,
        push_ids: Vec::new(),
        zone: None,
        pruned: false,
    };
    let mut ledger = ledger.clone();
    let record = Record::Adopt(vec![adopted]);
    ledger.add(&Entry { seq: ledger.seq + 1, at: Timestamp::UNIX_EPOCH, actor: "ada".into(), record });
    ledger
}

fn said() -> Ledger {
    ledger(Record::Resolve { address: Address::new("segments", "a"), found: Resolution::Created { id: "one".into() } })
}

/// The requests for a segment that was changed at a given time, and the tag in the result.
fn asked(ledger: &Ledger, changed: i64, now: i64) -> (Vec<String>, Value) {
    asked_with(Proof::default(), ledger, changed, now)
}

fn asked_with(proof: Proof, ledger: &Ledger, changed: i64, now: i64) -> (Vec<String>, Value) {
    let look = Look {
        level: Level::Extended,
        origin: "https://messaging.example",
        settle: SignedDuration::from_secs(10),
        desired: &BTreeMap::new(),
        ledger,
        all_kinds: false,
        contents: &BTreeSet::new(),
        confirm_absence: true,
        recovers: true,
        proof,
    };
    let now = Timestamp::from_millisecond(now).expect("a time");
    let item = json!({ "id": "one", "display_name": "a", "creation_date": MADE, "modification_date": changed });
    let (mut fetch, mut asks) = Fetch::start(look, now);
    let mut paths = Vec::new();
    while let Some(Ask::Get(number, request)) = asks.pop() {
        let body = match request.path.as_str() {
            "/api/segments" => json!({ "segments": [item] }),
            _ => json!({ "display_name": "a", "criteria": { "tag": "read" } }),
        };
        paths.push(request.path);
        asks.extend(fetch.on(number, &Answer::new(200, body), now).expect("an answer that makes sense"));
    }
    let live = fetch.finish();
    let LiveState::There(found) = live.of(&Address::new("segments", "a")) else { panic!("it is there") };
    (paths, found.spec.as_ref().expect("a spec")["criteria"]["tag"].clone())
}

#[test]
fn what_was_never_changed_since_it_was_made_is_as_it_was_made() {
    let long_after = MADE + 3_600_000;
    assert_eq!(asked(&answered(), MADE, long_after), (vec!["/api/segments".into()], json!("a")));
    let both = vec!["/api/segments".to_owned(), "/api/segments/one".to_owned()];
    assert_eq!(asked(&answered(), MADE + 1, long_after), (both.clone(), json!("read")), "somebody changed it");
    assert_eq!(asked(&answered(), MADE, MADE + 5_000), (both.clone(), json!("read")), "a change may not show yet");
    assert_eq!(asked(&said(), MADE, long_after), (both, json!("read")), "nobody has seen what it says");
}

#[test]
fn what_was_updated_is_read_until_it_was_seen_under_a_stamp() {
    let (long_after, list) = (MADE + 3_600_000, vec!["/api/segments".to_owned()]);
    let both = vec!["/api/segments".to_owned(), "/api/segments/one".to_owned()];
    let (read, kept) = ((both, json!("read")), (list, json!("a")));
    let updated = updated();
    assert_eq!(asked(&updated, MADE, long_after), read, "the service may have lost the update");
    assert_eq!(asked(&updated, MADE + 1, long_after), read);
    assert_eq!(asked(&taken_up(&updated, None), MADE, long_after), read, "nobody has seen it since");
    let seen = taken_up(&updated, Some(MADE + 500));
    assert_eq!(asked(&seen, MADE + 500, long_after), kept, "it was seen like that");
    assert_eq!(asked(&seen, MADE + 600, long_after), read, "somebody changed it");
    assert_eq!(asked(&seen, MADE + 400, long_after), read, "the service was set back");
    assert_eq!(asked(&seen, MADE, long_after), read, "the service was set back to how it was made");
    let proof = Proof { reread_updated: false, ..Proof::default() };
    assert_eq!(asked_with(proof, &updated, MADE, long_after), kept, "without the protection");
}
