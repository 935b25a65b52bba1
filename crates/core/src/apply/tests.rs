//! Stories of single runs: the effects, and their order. The simulation runs all of them at once.

mod deleting;
mod gathering;
mod leases;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use pushplan_ledger::{Adopted, Done, Ledger, Outcome, Record, Retired, Verb};
use pushplan_model::address::Address;
use pushplan_model::digest::Digest;
use pushplan_model::nouns::level::Level;
use serde_json::{Value, json};

use super::*;
use crate::plan::{About, Aim, Choice, Plan, Position, Step};

fn noon() -> Timestamp {
    "2026-11-15T12:00:00Z".parse().unwrap()
}

fn plan(steps: Vec<Step>) -> Plan {
    let about = About {
        target: "t".to_owned(),
        origin: "http://localhost".to_owned(),
        app: String::new(),
        level: Level::Extended,
        manifests: Digest::of(b""),
        ledger: Position { lineage: "l".to_owned(), seq: 0 },
        aim: Aim::Manifests,
        choice: Choice::default(),
        min_lead_seconds: 300,
    };
    Plan { expires: noon(), ..Plan::new(about, Vec::new(), steps, Vec::new(), noon()) }
}

fn step(number: usize, address: &str, verb: Verb, spec: Value) -> Step {
    Step {
        from: None,
        number,
        address: Address::try_from(address.to_owned()).unwrap(),
        verb,
        id: None,
        spec: Some(spec.into()),
        before: None,
        refs: BTreeMap::new(),
        seen: Default::default(),
        after: Vec::new(),
        stamp: None,
        protect: false,
        past: false,
        push_ids: Vec::new(),
        zone: None,
        pruned: false,
        request: None,
    }
}

fn segment(number: usize, key: &str) -> Step {
    step(number, &format!("segments/{key}"), Verb::Create, json!({ "display_name": key, "criteria": { "tag": "a" } }))
}

fn push(number: usize, time: &str) -> Step {
    let spec = json!({
        "name": "p",
        "schedule": [{ "scheduled_time": time }],
        "push": { "audience": { "segment": "s" }, "device_types": "all", "notification": { "alert": "x" } },
    });
    let refs = BTreeMap::from([("s".to_owned(), "id-s".to_owned())]);
    Step { refs, ..step(number, "scheduled_pushes/p", Verb::Create, spec) }
}

fn template(number: usize, verb: Verb, id: &str) -> Step {
    let spec = json!({ "name": "t", "variables": [], "push": { "notification": { "alert": "x" } } });
    Step { id: Some(id.to_owned()), ..step(number, "templates/t", verb, spec) }
}

fn owning(address: &str, id: &str) -> Ledger {
    let adopted = Adopted {
        address: Address::try_from(address.to_owned()).unwrap(),
        id: id.to_owned(),
        spec: json!({}).into(),
        refs: BTreeMap::new(),
        stamp: None,
        protect: false,
        past: false,
        push_ids: Vec::new(),
        zone: None,
        pruned: false,
    };
    let record = Record::Adopt(vec![adopted]);
    let mut ledger = Ledger::default();
    ledger.add(&Entry { seq: 0, at: noon(), actor: String::new(), record });
    ledger
}

/// A run with a log that always works and a service that answers on demand.
struct Story {
    run: Run,
    now: Now,
    log: Vec<Entry>,
    sent: VecDeque<Sending>,
    appends: bool,
    report: Option<Report>,
}

impl Story {
    fn of(steps: Vec<Step>) -> Self {
        Self::with(steps, &Ledger::default(), |_| {})
    }

    fn with(steps: Vec<Step>, ledger: &Ledger, adjust: impl Fn(&mut ApplySettings)) -> Self {
        let now = Now { wall: noon(), boot: Duration::from_secs(1000) };
        let mut settings = ApplySettings::new("run-1", "ada");
        adjust(&mut settings);
        let (run, effects) = Run::start(plan(steps), ledger, settings, now);
        let mut story = Self { run, now, log: Vec::new(), sent: VecDeque::new(), appends: true, report: None };
        story.carry_out(effects);
        story
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        let mut effects = VecDeque::from(effects);
        while let Some(effect) = effects.pop_front() {
            match effect {
                Effect::Append(entry) => {
                    self.log.push(Entry::clone(&entry));
                    if self.appends {
                        effects.extend(self.run.on(Event::Appended(entry.seq), self.now));
                    }
                }
                Effect::Send(sending) => self.sent.push_back(sending),
                Effect::Ask(step, request) => {
                    let not_after = Deadline::after(self.now, SignedDuration::ZERO);
                    self.sent.push_back(Sending { step, request, not_after });
                }
                Effect::Wait(_) => {}
                Effect::Finish(report) => self.report = Some(report),
            }
        }
    }

    fn say(&mut self, event: Event) {
        let effects = self.run.on(event, self.now);
        self.carry_out(effects);
    }

    fn answer(&mut self, status: u16, body: Value) {
        let sending = self.sent.pop_front().expect("a request on its way");
        self.say(Event::Answered(sending.step, Answer::new(status, body)));
    }

    fn lose(&mut self) {
        let sending = self.sent.pop_front().expect("a request on its way");
        self.say(Event::Lost(sending.step, Loss::Unknown("timeout".to_owned())));
    }

    fn wait(&mut self, seconds: i64) {
        self.now.wall = self.now.wall.checked_add(SignedDuration::from_secs(seconds)).unwrap();
        self.now.boot += Duration::from_secs(seconds.unsigned_abs());
        self.say(Event::Time);
    }

    fn fates(&self) -> Vec<String> {
        let report = self.report.as_ref().expect("it is over");
        let word = |fate: &Fate| format!("{fate:?}").split([' ', '{']).next().unwrap_or_default().to_owned();
        report.steps.iter().map(|step| word(&step.fate)).collect()
    }

    fn ending(&self) -> &Ending {
        &self.report.as_ref().expect("it is over").ending
    }

    fn outcomes(&self) -> Vec<&Outcome> {
        let outcomes = self.log.iter().filter_map(|entry| match &entry.record {
            Record::Outcomes(all) => Some(all),
            _ => None,
        });
        outcomes.flatten().collect()
    }

    fn records(&self) -> Vec<&'static str> {
        let word = |entry: &Entry| match entry.record {
            Record::Begin(_) => "begin",
            Record::Intents(_) => "intents",
            Record::Outcomes(_) => "outcomes",
            Record::Adopt(_) => "adopt",
            Record::Alive { .. } => "alive",
            Record::End { .. } => "end",
            _ => "other",
        };
        self.log.iter().map(word).collect()
    }
}

#[test]
fn an_intent_is_durable_before_its_request_leaves() {
    let mut story = Story::with(vec![segment(0, "s")], &Ledger::default(), |_| {});
    assert_eq!(story.records(), ["begin", "intents"]);
    story.answer(201, json!({ "segment_id": "id-1" }));
    assert_eq!(story.records(), ["begin", "intents", "outcomes", "end"]);
    assert_eq!(story.fates(), ["Done"]);
    assert_eq!(*story.ending(), Ending::Done);
    assert_eq!(story.run.ledger().owned.values().next().unwrap().id, "id-1");

    let mut slow = Story::of(Vec::new());
    slow.appends = false;
    let (run, effects) =
        Run::start(plan(vec![segment(0, "s")]), &Ledger::default(), ApplySettings::new("r", "a"), slow.now);
    slow.run = run;
    slow.carry_out(effects);
    slow.say(Event::Appended(1));
    assert!(slow.sent.is_empty(), "the intent is not durable yet");
    slow.say(Event::Appended(2));
    assert_eq!(slow.sent.len(), 1);
}

#[test]
fn an_empty_plan_leaves_no_trace() {
    let story = Story::of(Vec::new());
    assert!(story.log.is_empty());
    assert_eq!(*story.ending(), Ending::Done);
}

#[test]
fn a_lost_create_is_never_sent_again() {
    let mut story = Story::of(vec![segment(0, "s")]);
    story.lose();
    assert_eq!(story.fates(), ["Unknown"]);
    assert!(matches!(story.outcomes()[0].result, Done::Unknown { .. }));
    assert_eq!(story.run.ledger().open.len(), 1);
    for unreadable in [
        Answer { body: None, ..Answer::new(201, json!(null)) },
        Answer::new(503, json!(null)),
        Answer::new(200, json!({})),
    ] {
        let mut story = Story::of(vec![segment(0, "s")]);
        story.sent.pop_front();
        story.say(Event::Answered(0, unreadable));
        assert_eq!(story.fates(), ["Unknown"]);
    }
}

#[test]
fn an_update_is_tried_again_and_says_what_was_lost() {
    let mut story = Story::with(vec![template(0, Verb::Update, "t1")], &owning("templates/t", "t1"), |_| {});
    story.lose();
    assert!(story.sent.is_empty());
    story.wait(1);
    story.answer(200, json!({ "ok": true }));
    assert_eq!(story.fates(), ["Done"]);
    assert_eq!(story.outcomes()[0].unsettled, Some(noon()));

    let mut story = Story::with(vec![template(0, Verb::Update, "t1")], &owning("templates/t", "t1"), |_| {});
    for _ in 0..3 {
        story.lose();
        story.wait(10);
    }
    story.lose();
    assert_eq!(story.fates(), ["Unknown"]);
}

#[test]
fn a_refusal_after_a_lost_attempt_is_not_known() {
    let mut story = Story::with(vec![template(0, Verb::Update, "t1")], &owning("templates/t", "t1"), |_| {});
    story.lose();
    story.wait(1);
    story.answer(403, json!({}));
    assert_eq!(story.fates(), ["Unknown"]);
}

#[test]
fn a_push_that_is_gone_after_its_time_may_have_been_sent() {
    let deletion = Step { verb: Verb::Delete, id: Some("p1".to_owned()), ..push(0, "2026-11-15T1201") };
    let mut story = Story::with(vec![deletion.clone()], &owning("scheduled_pushes/p", "p1"), |_| {});
    story.now.wall = story.now.wall.checked_add(SignedDuration::from_secs(60)).unwrap();
    story.answer(404, json!({}));
    // Or an earlier run deleted it and lost the answer: the intent stays, so that the next plan can ask.
    assert_eq!(story.fates(), ["Unknown"]);
    assert_eq!((story.run.ledger().owned.len(), story.run.ledger().open.len()), (1, 1));
    let mut story = Story::with(vec![deletion], &owning("scheduled_pushes/p", "p1"), |_| {});
    story.answer(404, json!({}));
    story.answer(404, json!({}));
    assert_eq!(story.fates(), ["Done"]);
}

#[test]
fn what_is_not_in_the_ledger_is_not_touched() {
    let story = Story::with(vec![template(0, Verb::Delete, "t2")], &owning("templates/t", "t1"), |_| {});
    assert!(story.sent.is_empty());
    assert_eq!(story.fates(), ["Failed"]);
    assert_eq!(story.records(), ["begin", "end"]);
}

#[test]
fn a_push_is_created_in_time_or_not_at_all() {
    let story = Story::of(vec![push(0, "2026-11-15T1204")]);
    assert!(story.sent.is_empty());
    assert_eq!(story.fates(), ["Failed"]);

    let mut story = Story::of(vec![push(0, "2026-11-15T1206")]);
    let limit = story.sent[0].not_after;
    assert_eq!(limit.wall, "2026-11-15T12:01:00Z".parse().unwrap());
    assert_eq!(limit.boot, Duration::from_secs(1060));
    story.sent.pop_front();
    story.now.wall = "2026-11-15T12:01:01Z".parse().unwrap();
    story.say(Event::Lost(0, Loss::NotSent("too late".to_owned())));
    assert_eq!(story.fates(), ["Failed"]);
    assert!(matches!(story.outcomes()[0].result, Done::Not { .. }));
}

#[test]
fn a_request_that_is_late_takes_a_new_intent() {
    let mut story = Story::of(vec![segment(0, "s")]);
    story.sent.pop_front();
    // The machine slept: the wall clock was set back, the other one counted on.
    story.now.boot += Duration::from_secs(61);
    story.say(Event::Lost(0, Loss::NotSent("too late".to_owned())));
    assert_eq!(story.records(), ["begin", "intents", "intents"]);
    story.answer(201, json!({ "segment_id": "id-1" }));
    assert_eq!(story.fates(), ["Done"]);
}

#[test]
fn a_busy_service_is_left_alone_for_as_long_as_it_says() {
    let steps = (0..6).map(|n| segment(n, &format!("s{n}"))).collect();
    let mut story = Story::with(steps, &Ledger::default(), |settings| settings.concurrency = 4);
    assert_eq!(story.sent.len(), 4);
    let first = story.sent.pop_front().unwrap();
    story.say(Event::Answered(first.step, Answer { retry_after: Some("7".to_owned()), ..Answer::new(429, json!({})) }));
    story.answer(201, json!({ "segment_id": "id-1" }));
    story.answer(201, json!({ "segment_id": "id-2" }));
    story.answer(201, json!({ "segment_id": "id-3" }));
    assert!(story.sent.is_empty(), "nothing leaves for seven seconds");
    story.wait(7);
    assert_eq!(story.sent.len(), 2, "and then fewer at once");
    for n in 4..7 {
        story.answer(201, json!({ "segment_id": format!("id-{n}") }));
    }
    assert_eq!(*story.ending(), Ending::Done);
}

#[test]
fn a_busy_service_that_asks_for_no_time_gets_more_each_time() {
    let mut story = Story::of(vec![segment(0, "s")]);
    for seconds in [1, 2, 4, 8] {
        let sending = story.sent.pop_front().expect("it is sent again");
        let busy = Answer { retry_after: Some("0".to_owned()), ..Answer::new(429, json!({})) };
        story.say(Event::Answered(sending.step, busy));
        story.wait(seconds - 1);
        assert!(story.sent.is_empty(), "{seconds} seconds have not passed");
        story.wait(1);
    }
    story.answer(201, json!({ "segment_id": "id" }));
    assert_eq!(*story.ending(), Ending::Done);
}

#[test]
fn a_service_that_cannot_be_reached_is_tried_a_few_times() {
    let mut story = Story::of(vec![segment(0, "s")]);
    for _ in 0..3 {
        let sending = story.sent.pop_front().unwrap();
        story.say(Event::Lost(sending.step, Loss::NotSent("refused".to_owned())));
        story.wait(5);
    }
    story.sent.pop_front();
    story.say(Event::Lost(0, Loss::NotSent("refused".to_owned())));
    assert_eq!(story.fates(), ["Failed"]);
    assert!(story.run.ledger().open.is_empty());
}

#[test]
fn what_depends_on_a_failure_is_left_out_and_the_rest_goes_on_if_wanted() {
    let steps = || vec![segment(0, "a"), Step { after: vec![0], ..segment(1, "b") }, segment(2, "c")];
    let mut story = Story::with(steps(), &Ledger::default(), |settings| settings.on_error = OnError::Continue);
    story.answer(400, json!({ "error": "no" }));
    story.answer(201, json!({ "segment_id": "id-1" }));
    assert_eq!(story.fates(), ["Failed", "Skipped", "Done"]);
    assert_eq!(*story.ending(), Ending::Partly);

    let mut story = Story::with(steps(), &Ledger::default(), |settings| settings.concurrency = 1);
    story.answer(400, json!({ "error": "no" }));
    assert_eq!(story.fates(), ["Failed", "Skipped", "NotStarted"]);
}

#[test]
fn ids_made_on_the_way_are_filled_in() {
    let user = Step { after: vec![0], ..push(1, "2026-11-20T1200") };
    let mut story = Story::of(vec![segment(0, "s"), Step { refs: BTreeMap::new(), ..user }]);
    story.answer(201, json!({ "segment_id": "new-id" }));
    assert!(story.sent[0].request.body.as_ref().unwrap().contains(r#""segment":"new-id""#));
    let Record::Intents(intents) =
        &story.log.iter().rev().find(|entry| matches!(entry.record, Record::Intents(_))).unwrap().record
    else {
        panic!()
    };
    assert_eq!(intents[0].refs["s"], "new-id");
}

#[test]
fn an_interrupt_lets_requests_arrive_and_takes_back_the_rest() {
    let steps = (0..3).map(|n| segment(n, &format!("s{n}"))).collect();
    let mut story = Story::with(steps, &Ledger::default(), |settings| settings.concurrency = 1);
    story.say(Event::Interrupt);
    assert!(story.report.is_none());
    story.answer(201, json!({ "segment_id": "id-1" }));
    assert_eq!(story.fates(), ["Done", "NotStarted", "NotStarted"]);
    assert_eq!(*story.ending(), Ending::Interrupted);
    assert!(story.run.ledger().open.is_empty(), "what did not leave is not in doubt");
    assert!(story.run.ledger().run.is_none());
}

#[test]
fn whoever_loses_the_log_sends_nothing_more() {
    let steps = (0..3).map(|n| segment(n, &format!("s{n}"))).collect();
    let mut story = Story::with(steps, &Ledger::default(), |settings| settings.concurrency = 1);
    story.appends = false;
    story.answer(201, json!({ "segment_id": "id-1" }));
    let sent = story.sent.pop_front().expect("the second left before the log was lost");
    story.say(Event::AppendFailed(AppendError::Conflict));
    assert!(story.report.is_none(), "what is on its way is awaited");
    story.say(Event::Answered(sent.step, Answer::new(201, json!({ "segment_id": "id-2" }))));
    assert!(story.sent.is_empty());
    assert_eq!(*story.ending(), Ending::Conflict);
    assert_eq!(story.fates(), ["Done", "Done", "NotStarted"]);
    assert!(story.report.as_ref().unwrap().steps[..2].iter().all(|step| !step.recorded));
}

#[test]
fn an_append_that_fails_is_tried_again() {
    let mut story = Story::of(vec![segment(0, "s")]);
    story.appends = false;
    story.answer(201, json!({ "segment_id": "id-1" }));
    let entry = story.log.last().unwrap().clone();
    story.say(Event::AppendFailed(AppendError::Unknown("timeout".to_owned())));
    story.wait(1);
    assert_eq!(*story.log.last().unwrap(), entry, "the same entry once more");
    story.appends = true;
    story.say(Event::Appended(entry.seq));
    assert_eq!(*story.ending(), Ending::Done);

    let mut story = Story::of(vec![segment(0, "s")]);
    story.appends = false;
    story.answer(201, json!({ "segment_id": "id-1" }));
    for _ in 0..4 {
        story.say(Event::AppendFailed(AppendError::NotWritten("disk full".to_owned())));
        story.wait(60);
    }
    assert_eq!(*story.ending(), Ending::Ledger { why: "disk full".to_owned() });
}

#[test]
fn a_ledger_that_moved_on_stops_everything() {
    let ledger = Ledger { seq: 3, ..Ledger::default() };
    let story = Story::with(vec![segment(0, "s")], &ledger, |_| {});
    assert!(story.log.is_empty());
    assert_eq!(*story.ending(), Ending::Conflict);
}

#[test]
fn two_steps_of_one_address_take_turns() {
    let ledger = owning("templates/t", "t1");
    let steps = vec![template(0, Verb::Update, "t1"), template(1, Verb::Delete, "t1")];
    let mut story = Story::with(steps, &ledger, |_| {});
    assert_eq!(story.sent.len(), 1);
    story.answer(200, json!({}));
    assert_eq!(story.records(), ["begin", "intents", "outcomes", "intents"]);
    story.answer(200, json!({}));
    assert_eq!(story.fates(), ["Done", "Done"]);
}

#[test]
fn taking_over_is_a_matter_of_the_ledger_alone() {
    let mut story = Story::of(vec![template(0, Verb::Adopt, "t1"), template(1, Verb::Update, "t1")]);
    assert_eq!(story.records(), ["begin", "adopt", "intents"]);
    story.answer(200, json!({}));
    assert_eq!(*story.ending(), Ending::Done);
}
