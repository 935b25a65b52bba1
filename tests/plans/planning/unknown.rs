//! A creation in an unknown state is searched for in two lists, a settle time apart.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use jiff::{SignedDuration, Timestamp};
use pushplan::address::Address;
use pushplan::exchange::{Answer, BadAnswer};
use pushplan::ledger::{Gap, Intent, Ledger, Owned, Unconfirmed, Verb};
use pushplan::live::{Ask, Fetch, Live, LiveState, Look, Proof};
use pushplan::node::Shared;
use pushplan::nouns::level::Level;
use serde_json::{Value, json};

const SETTLE: i64 = 10;

fn noon() -> Timestamp {
    "2026-11-15T12:00:00Z".parse().expect("a time")
}

fn segment() -> Shared {
    json!({ "display_name": "a", "criteria": { "tag": "a" } }).into()
}

/// A ledger with an intent without a result.
fn open(address: &str, verb: Verb, id: Option<&str>, spec: &Shared) -> Ledger {
    let address = Address::try_from(address.to_owned()).expect("an address");
    let intent = Intent {
        address: address.clone(),
        verb,
        id: id.map(str::to_owned),
        spec: Some(spec.clone()),
        refs: BTreeMap::new(),
        seen: BTreeSet::from(["before".to_owned()]),
        deadline: noon(),
        protect: false,
        zone: None,
    };
    let owned = id.map(|id| Owned {
        id: id.to_owned(),
        spec: spec.clone(),
        refs: BTreeMap::new(),
        stamp: None,
        protect: false,
        past: false,
        applied: Timestamp::UNIX_EPOCH,
        push_ids: Vec::new(),
        zone: None,
    });
    let mut ledger = Ledger::default();
    ledger.owned.extend(owned.map(|owned| (address.clone(), owned)));
    ledger.open.insert(address, Unconfirmed::new(intent, noon()));
    ledger
}

/// The state that is found with these answers in this order, and the number of waits.
struct Story<'l> {
    fetch: Fetch<'l>,
    asks: VecDeque<Ask>,
    now: Timestamp,
    waits: usize,
}

impl<'l> Story<'l> {
    fn new(look: Look<'l>) -> Self {
        let (fetch, asks) = Fetch::start(look, noon());
        Self { fetch, asks: asks.into(), now: noon(), waits: 0 }
    }

    /// Answers the next request, which must be this one.
    fn answer(&mut self, path: &str, status: u16, body: Value) {
        let more = self.answered(path, status, body).expect("an answer that makes sense");
        self.asks.extend(more);
    }

    /// Answers the next request; `Err` if no plan is possible then.
    fn answered(&mut self, path: &str, status: u16, body: Value) -> Result<Vec<Ask>, BadAnswer> {
        while let Some(Ask::WaitUntil(until)) = self.asks.front() {
            assert!(*until >= self.now.checked_add(SignedDuration::from_secs(SETTLE)).expect("a time"), "too soon");
            (self.now, self.waits) = (*until, self.waits + 1);
            self.asks.pop_front();
            self.asks.extend(self.fetch.later(self.now));
        }
        let Some(Ask::Get(number, request)) = self.asks.pop_front() else {
            panic!("nothing is asked instead of {path}")
        };
        assert_eq!(request.path, path);
        self.fetch.on(number, &Answer::new(status, body), self.now)
    }

    fn end(self) -> (Live, usize) {
        assert!(self.fetch.is_done(), "{:?}", self.asks);
        (self.fetch.finish(), self.waits)
    }
}

static NOTHING: BTreeMap<&Address, &Shared> = BTreeMap::new();
static NONE: BTreeSet<&str> = BTreeSet::new();

fn look(ledger: &Ledger) -> Look<'_> {
    Look {
        level: Level::Extended,
        origin: "https://messaging.example",
        settle: SignedDuration::from_secs(SETTLE),
        desired: &NOTHING,
        ledger,
        all_kinds: false,
        contents: &NONE,
        confirm_absence: true,
        recovers: true,
        proof: Proof::default(),
    }
}

fn item(id: &str) -> Value {
    json!({ "id": id, "display_name": "a", "creation_date": 1, "modification_date": 1 })
}

fn content() -> Value {
    json!({ "display_name": "a", "criteria": { "tag": "a" } })
}

fn address() -> Address {
    Address::new("segments", "a")
}

#[test]
fn it_is_absent_if_two_lists_do_not_show_it() {
    let ledger = open("segments/a", Verb::Create, None, &segment());
    let mut story = Story::new(look(&ledger));
    story.answer("/api/segments", 200, json!({ "segments": [item("before")] }));
    story.answer("/api/segments", 200, json!({ "segments": [] }));
    let (live, waits) = story.end();
    assert_eq!((live.disproved, waits), (BTreeSet::from([address()]), 1));
}

#[test]
fn one_404_does_not_outweigh_the_second_list() {
    let mut ledger = open("segments/a", Verb::Update, Some("ours"), &segment());
    ledger.open.clear();
    // It has changed since it was last seen, so its content is read.
    ledger.owned.values_mut().for_each(|owned| owned.stamp = Some("0".to_owned()));
    let mut story = Story::new(look(&ledger));
    story.answer("/api/segments", 200, json!({ "segments": [] }));
    story.answer("/api/segments/ours", 404, Value::Null);
    let (live, waits) = story.end();
    assert_eq!((&live.units[&address()], waits), (&LiveState::Absent, 0), "a list and its own answer agree");
    let mut story = Story::new(look(&ledger));
    story.answer("/api/segments", 200, json!({ "segments": [item("ours")] }));
    story.answer("/api/segments/ours", 404, Value::Null);
    story.answer("/api/segments", 200, json!({ "segments": [item("ours")] }));
    let why = story
        .answered("/api/segments/ours", 404, Value::Null)
        .expect_err("the answers contradict each other")
        .to_string();
    assert_eq!(why, "GET /api/segments/ours: the list contains it, but the service answers HTTP 404 for it. Try again");
}

#[test]
fn what_only_the_second_list_shows_is_found_and_read() {
    let ledger = open("segments/a", Verb::Create, None, &segment());
    let mut story = Story::new(look(&ledger));
    story.answer("/api/segments", 200, json!({ "segments": [] }));
    story.answer("/api/segments", 200, json!({ "segments": [item("new")] }));
    story.answer("/api/segments/new", 200, content());
    let (live, _) = story.end();
    assert!(live.disproved.is_empty());
    assert_eq!(live.listed["segments"]["new"].spec, Some(segment()));
}

#[test]
fn what_the_first_list_shows_needs_no_second_one() {
    let ledger = open("segments/a", Verb::Create, None, &segment());
    let mut story = Story::new(look(&ledger));
    story.answer("/api/segments", 200, json!({ "segments": [item("new")] }));
    story.answer("/api/segments/new", 200, content());
    let (live, waits) = story.end();
    assert!(live.disproved.is_empty());
    assert_eq!((waits, &live.listed["segments"]["new"].spec), (0, &Some(segment())));
}

/// A ledger from a backup: an unknown resource may be managed.
fn since_gap(mut ledger: Ledger) -> Ledger {
    ledger.gap = Some(Gap::new(None, noon(), 9));
    ledger
}

/// One list may contain only a copy of it.
#[test]
fn after_a_gap_one_list_is_not_enough() {
    let ledger = since_gap(open("segments/a", Verb::Create, None, &segment()));
    let mut story = Story::new(look(&ledger));
    story.answer("/api/segments", 200, json!({ "segments": [item("copy")] }));
    story.answer("/api/segments/copy", 200, content());
    story.answer("/api/segments", 200, json!({ "segments": [item("copy"), item("new")] }));
    story.answer("/api/segments/new", 200, content());
    let (live, waits) = story.end();
    let shown: Vec<&str> = live.listed["segments"].keys().map(String::as_str).collect();
    assert_eq!((waits, shown), (1, vec!["copy", "new"]));
}

/// Regardless of its name, it may refer to a segment that would be deleted.
#[test]
fn after_a_gap_every_content_is_read() {
    let mut ledger = open("segments/a", Verb::Update, Some("ours"), &segment());
    ledger.open.clear();
    ledger.owned.values_mut().for_each(|owned| owned.stamp = Some("1".to_owned()));
    let list = json!({ "segments": [item("ours"), { "id": "other", "display_name": "other" }] });
    let other = json!({ "display_name": "other", "criteria": { "segment": "ours" } });
    let mut story = Story::new(look(&ledger));
    story.answer("/api/segments", 200, list.clone());
    assert!(story.end().0.listed["segments"]["other"].spec.is_none(), "without a gap, it is someone else's");
    let ledger = since_gap(ledger);
    let mut story = Story::new(look(&ledger));
    story.answer("/api/segments", 200, list.clone());
    story.answer("/api/segments/other", 200, other.clone());
    assert_eq!(story.end().0.listed["segments"]["other"].spec, Some(other.into()));
    let mut story = Story::new(look(&ledger));
    story.answer("/api/segments", 200, list);
    let why = story.answered("/api/segments/other", 404, Value::Null).expect_err("the list shows it").to_string();
    assert!(why.contains("the list contains it"), "{why}");
}

#[test]
fn a_content_that_is_not_found_does_not_make_it_absent() {
    let ledger = open("segments/a", Verb::Create, None, &segment());
    for (second, status) in [(json!([item("new")]), 200), (json!([item("new")]), 404), (json!([]), 404)] {
        let mut story = Story::new(look(&ledger));
        story.answer("/api/segments", 200, json!({ "segments": [item("new")] }));
        story.answer("/api/segments/new", 404, json!({}));
        story.answer("/api/segments", 200, json!({ "segments": second }));
        story.answer("/api/segments/new", status, content());
        let (live, waits) = story.end();
        assert!(live.disproved.is_empty(), "a list has shown it");
        assert_eq!((waits, live.listed["segments"]["new"].spec.is_some()), (1, status == 200));
    }
}

/// One of two is in the first list, too fresh for its stamp to count. The second list, read for the other one, has a stamp.
#[test]
fn what_the_first_list_showed_keeps_its_content_in_the_second() {
    let mut ledger = open("segments/a", Verb::Create, None, &segment());
    let other: Shared = json!({ "display_name": "b", "criteria": { "tag": "b" } }).into();
    ledger.open.extend(open("segments/b", Verb::Create, None, &other).open);
    let fresh = json!({ "id": "new", "display_name": "a", "creation_date": 1,
        "modification_date": noon().as_millisecond() });
    let mut story = Story::new(look(&ledger));
    story.answer("/api/segments", 200, json!({ "segments": [fresh] }));
    story.answer("/api/segments/new", 200, content());
    story.answer("/api/segments", 200, json!({ "segments": [fresh] }));
    story.answer("/api/segments/new", 200, content());
    let (live, _) = story.end();
    assert_eq!(live.disproved, BTreeSet::from([Address::new("segments", "b")]));
    assert_eq!(live.listed["segments"]["new"].spec, Some(segment()));
}

#[test]
fn without_the_protection_one_list_is_enough() {
    let ledger = open("segments/a", Verb::Create, None, &segment());
    let proof = Proof { two_lists: false, ..Proof::default() };
    let mut story = Story::new(Look { proof, ..look(&ledger) });
    story.answer("/api/segments", 200, json!({ "segments": [] }));
    let (live, waits) = story.end();
    assert_eq!((live.disproved, waits), (BTreeSet::from([address()]), 0));
}

#[test]
fn who_decides_nothing_does_not_wait() {
    let ledger = open("segments/a", Verb::Create, None, &segment());
    let mut story = Story::new(Look { recovers: false, ..look(&ledger) });
    story.answer("/api/segments", 200, json!({ "segments": [] }));
    let (live, waits) = story.end();
    assert_eq!((live.disproved.len(), waits), (0, 0), "nothing is proven either");
}

/// Lists do not contain sent pushes: the report of pushes shows whether it may have been sent.
#[test]
fn a_push_is_absent_only_if_no_unknown_push_was_sent() {
    let spec = json!({ "name": "p", "schedule": [{ "scheduled_time": "2026-12-01T1000" }], "push": {} });
    let mut ledger = open("scheduled_pushes/p", Verb::Create, None, &spec.into());
    let other = json!({ "name": "q", "schedule": [{ "scheduled_time": "2026-11-15T1100" }], "push": {} });
    let mut known = open("scheduled_pushes/q", Verb::Create, Some("id-q"), &other.into());
    known.owned.values_mut().for_each(|owned| owned.push_ids = vec!["q1".to_owned()]);
    ledger.owned = known.owned;
    let push = |id: &str, kind: &str, group: &str| {
        json!({ "push_uuid": id, "push_type": kind, "push_time": "2026-11-15 \
         12:01:00", "sends": 1, "group_id": group })
    };
    let report = "/api/reports/responses/list?start=2026-11-15%2011%3A30&end=2026-11-15%2012%3A30";
    let is_absent = |first: (u16, Value), second: (u16, Value)| {
        let mut story = Story::new(look(&ledger));
        let list = json!({ "schedules": [{ "url": "/api/schedules/id-q", "name": "q", "push_ids": ["q2"] }] });
        story.answer("/api/schedules", 200, list.clone());
        story.answer(report, first.0, first.1);
        story.answer("/api/schedules", 200, list);
        story.answer(report, second.0, second.1);
        let (live, waits) = story.end();
        assert_eq!(waits, 1);
        live.disproved.contains(&Address::new("scheduled_pushes", "p"))
    };
    let none = || (200, json!({ "pushes": [] }));
    let sent = |push: Value| (200, json!({ "pushes": [push] }));
    assert!(is_absent(none(), none()));
    for known in [
        push("q1", "SCHEDULED_PUSH", ""),
        push("q2", "SCHEDULED_PUSH", ""),
        push("x", "SCHEDULED_PUSH", "id-q"),
        push("x", "SCHEDULED_PUSH", "before"),
        push("x", "UNICAST_PUSH", ""),
    ] {
        assert!(is_absent(sent(known.clone()), sent(known.clone())), "{known}");
    }
    let unknown = || sent(push("x", "SCHEDULED_PUSH", ""));
    for (first, second) in [
        (unknown(), none()),
        (none(), unknown()),
        (none(), (403, json!({}))),
        ((200, json!({ "ok": true })), none()),
        (none(), sent(json!({ "push_type": "SCHEDULED_PUSH" }))),
    ] {
        assert!(!is_absent(first.clone(), second.clone()), "{first:?} {second:?}");
    }
}

/// A list of a hundred tags may not show all of them.
#[test]
fn a_list_that_ends_early_disproves_nothing() {
    let ledger = open("tags/vip", Verb::Create, None, &json!({ "tag": "vip" }).into());
    let tags = |count: usize| json!({ "tags": (0..count).map(|number| format!("t{number}")).collect::<Vec<_>>() });
    let mut story = Story::new(look(&ledger));
    story.answer("/api/tags/", 200, tags(100));
    let (live, waits) = story.end();
    assert_eq!((live.disproved.len(), waits), (0, 0));
    let mut story = Story::new(look(&ledger));
    story.answer("/api/tags/", 200, tags(99));
    story.answer("/api/tags/", 200, json!({ "tags": ["another"] }));
    let (live, _) = story.end();
    assert!(live.disproved.is_empty(), "both lists together are too long");
}

#[test]
fn what_may_have_been_deleted_takes_two_lists_and_its_own_answer() {
    for verb in [Verb::Delete, Verb::Update] {
        let ledger = open("segments/a", verb, Some("one"), &segment());
        let mut story = Story::new(look(&ledger));
        story.answer("/api/segments", 200, json!({ "segments": [] }));
        story.answer("/api/segments", 200, json!({ "segments": [] }));
        story.answer("/api/segments/one", 404, json!({}));
        let (live, waits) = story.end();
        assert_eq!((live.of(&address()), waits), (&LiveState::Absent, 1));
        let mut story = Story::new(look(&ledger));
        story.answer("/api/segments", 200, json!({ "segments": [] }));
        story.answer("/api/segments", 200, json!({ "segments": [item("one")] }));
        story.answer("/api/segments/one", 200, content());
        let (live, _) = story.end();
        assert!(matches!(live.of(&address()), LiveState::There(_)), "the second list shows it");
    }
}
