//! The connection to the service, and its losses.

use std::sync::Arc;

use pushplan::apply::Sending;
use pushplan::arrange::matches;
use pushplan::exchange::{Answer, Loss, Request};
use pushplan::kinds::{self, Create};
use pushplan::ledger::Verb;
use serde_json::{Value, json};

use super::Protection;
use super::reading::{self, Hides, Manner};
use super::service::{Origin, Sender, family};
use super::tally::Fault;
use super::time::{self, SECOND};
use super::world::{Happening, Incoming, LAG, LATE, World};

/// A request that arrives at the service.
#[derive(Debug)]
pub struct Arrival {
    process: usize,
    number: usize,
    request: Arc<Request>,
    /// The kind of read, or the verb of the change.
    what: &'static str,
    /// The sender of a change; `None` for a read.
    sender: Option<Sender>,
    way_back: WayBack,
}

/// The fate of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WayBack {
    Whole,
    Truncated,
    Garbled,
    Error,
    Timeout,
    NotOk,
    Lost,
}

/// The answer of a service that gave up on a request.
fn timeout() -> Answer {
    Answer::new(408, json!({}))
}

/// A success status with a failure in the body.
fn not_ok(status: u16) -> Answer {
    Answer::new(status, json!({ "ok": false, "error": "try again" }))
}

pub fn verb_word(verb: Verb) -> &'static str {
    match verb {
        Verb::Create => "create",
        Verb::Update => "update",
        Verb::Delete => "delete",
        Verb::Adopt => "adopt",
        Verb::Forget => "forget",
        Verb::Move => "move",
    }
}

/// The kind of a `GET`.
pub fn question(request: &Request) -> &'static str {
    let path = request.path.split('?').next().unwrap_or_default();
    let mut parts = path.strip_prefix("/api/").unwrap_or(path).split('/').filter(|part| !part.is_empty());
    match (parts.next(), parts.next()) {
        (Some("tags" | "reports"), _) => "list",
        (Some(part), None) if family(part).is_some() => "list",
        (Some(part), Some(_)) if family(part).is_some() => "get",
        _ => "lookup",
    }
}

impl World {
    /// Sends a read. The answer comes in time, late, in pieces or not at all.
    pub fn ask(&mut self, process: usize, number: usize, what: &'static str, request: Request) {
        let way = self.dice.between(10, 200);
        let luck = if self.dice.chance(self.faults) { self.dice.below(8) } else { 8 };
        let mut way_back = WayBack::Whole;
        let refused = match luck {
            0 => {
                self.tally.met(Fault::PageFailed, what);
                let loss = Loss::Unknown("timeout".to_owned());
                self.later(30 * SECOND, Happening::To(process, Incoming::Answer(number, Err(loss))));
                return;
            }
            1 => {
                self.tally.met(Fault::PageFailed, what);
                Some(Answer::new(503, json!({})))
            }
            2 => Some(Answer { retry_after: Some("2".to_owned()), ..Answer::new(429, json!({})) }),
            3 => {
                self.tally.met(Fault::Truncated, what);
                way_back = WayBack::Truncated;
                None
            }
            4 if self.dice.chance(200) => {
                self.tally.met(Fault::Garbled, what);
                way_back = WayBack::Garbled;
                None
            }
            _ => None,
        };
        match refused {
            Some(answer) => self.later(way, Happening::To(process, Incoming::Answer(number, Ok(answer)))),
            None => {
                let arrival = Arrival { process, number, request: Arc::new(request), what, sender: None, way_back };
                self.later(way, Happening::Arrive(arrival));
            }
        }
    }

    /// Sends a change, which was allowed to leave.
    pub fn send(&mut self, process: usize, sending: &Sending) {
        self.look_at_departure(process, sending);
        let step = &self.processes[process].shown.steps[sending.step];
        let replaces = step.replaces;
        let retired = self.log.ledger.retired.iter().filter(|old| old.address == step.address);
        let retired = retired.map(|old| old.id.clone()).collect();
        let (address, spec, prunes) = (step.address.clone(), step.spec.clone(), step.prunes);
        let unknown = if step.verb == Verb::Delete { self.forgotten() } else { Vec::new() };
        let sender = Sender { address, replaces, retired, verb: step.verb, spec, prunes, left: self.now, unknown };
        let (verb, what) = (step.verb, verb_word(step.verb));
        self.note(|| format!("process {process} sends {} for {}", sending.request, sender.address));
        self.processes[process].on_the_way.insert(sending.step, verb);

        let way = self.dice.between(10, 400);
        let wait = self.dice.between(400, 30 * SECOND);
        let lost = Some((Err(Loss::Unknown("timeout".to_owned())), wait));
        let odds = if self.faults > 0 { self.length.sends } else { 0 };
        let luck = if self.dice.chance(odds) { self.dice.below(15) } else { 15 };
        let odds = [
            Fault::NotSent,
            Fault::LostBefore,
            Fault::LostAfter,
            Fault::ErrorNotDone,
            Fault::ErrorDone,
            Fault::BusyWithTime,
            Fault::Busy,
            Fault::Late,
            Fault::Truncated,
            Fault::Garbled,
            Fault::TimeoutDone,
            Fault::TimeoutNotDone,
            Fault::NotOkDone,
            Fault::NotOkNotDone,
            Fault::FalseMissing,
        ];
        let mut fault = odds.get(luck).copied().filter(|fault| fault.meets().contains(&what));
        if fault == Some(Fault::FalseMissing) {
            // One answer in a run may be wrong. Two that agree are trusted.
            fault = fault.filter(|_| !self.processes[process].misled);
            self.processes[process].misled = true;
        }
        if let Some(fault) = fault {
            self.tally.met(fault, what);
            self.note(|| format!("  {fault:?}"));
        }
        // The answer without the service, if any, and the time of arrival at the service.
        let (answer, arrives, way_back) = match fault {
            Some(Fault::NotSent) => (Some((Err(Loss::NotSent("refused".to_owned())), way)), None, WayBack::Lost),
            Some(Fault::LostBefore) => (lost, None, WayBack::Lost),
            Some(Fault::LostAfter) => (lost, Some(way.min(wait)), WayBack::Lost),
            Some(Fault::Late) => (lost, Some(self.dice.between(wait, LATE)), WayBack::Lost),
            Some(Fault::ErrorNotDone) => (Some((Ok(Answer::new(503, json!({}))), way)), None, WayBack::Lost),
            Some(Fault::ErrorDone) => (None, Some(way), WayBack::Error),
            Some(Fault::BusyWithTime) => {
                let seconds = self.dice.pick(&["3", "40", "90", "soon", "Wed, 01 Jan 2031 00:10:00 GMT"]);
                let answer = Answer { retry_after: Some((*seconds).to_owned()), ..Answer::new(429, json!({})) };
                (Some((Ok(answer), way)), None, WayBack::Lost)
            }
            Some(Fault::Busy) => (Some((Ok(Answer::new(429, json!({}))), way)), None, WayBack::Lost),
            Some(Fault::Truncated) => (None, Some(way), WayBack::Truncated),
            Some(Fault::Garbled) => (None, Some(way), WayBack::Garbled),
            Some(Fault::TimeoutDone) => (None, Some(way), WayBack::Timeout),
            Some(Fault::TimeoutNotDone) => (Some((Ok(timeout()), way)), None, WayBack::Lost),
            Some(Fault::NotOkDone) => (None, Some(way), WayBack::NotOk),
            Some(Fault::NotOkNotDone) => (Some((Ok(not_ok(200)), way)), None, WayBack::Lost),
            Some(Fault::FalseMissing) => (Some((Ok(reading::missing()), way)), None, WayBack::Lost),
            _ => (None, Some(way), WayBack::Whole),
        };
        if !matches!(fault, Some(Fault::NotSent | Fault::Busy | Fault::BusyWithTime)) {
            self.processes[process].doubtful.insert(sending.step);
        }
        if let Some((answer, after)) = answer {
            self.later(after, Happening::To(process, Incoming::Answer(sending.step, answer)));
        }
        if let Some(after) = arrives {
            let (request, number) = (sending.request.clone(), sending.step);
            let arrival = Arrival { process, number, request, what, sender: Some(sender), way_back };
            self.later(after, Happening::Arrive(arrival));
        }
    }

    /// Ids that were removed from the ledger and are not declared.
    fn forgotten(&self) -> Vec<String> {
        let is_declared = |origin: &Origin| matches!(origin, Origin::Ours(it) if self.project.units.contains_key(it));
        let objects = self.service.objects.iter();
        objects.filter(|(_, it)| it.forgotten && !is_declared(&it.origin)).map(|(id, _)| id.clone()).collect()
    }

    /// The invariants whenever a request leaves.
    fn look_at_departure(&mut self, process: usize, sending: &Sending) {
        let own = &self.processes[process];
        let step = &own.shown.steps[sending.step];
        let address = &step.address;
        let mut wrong = None;
        if !own.intended.contains(&(address.clone(), step.verb)) {
            wrong = Some(format!("{} for {address} left without a durable intent", sending.request));
        }
        if !step.after.iter().all(|before| own.done.contains(before)) {
            wrong = Some(format!("step {} left before what it waits for", sending.step));
        }
        let shown = step.request.as_ref();
        if shown.is_none_or(|shown| (shown.method, &shown.path) != (sending.request.method, &sending.request.path)) {
            wrong = Some(format!("{} is not what was shown: {shown:?}", sending.request));
        }
        if own.except.iter().any(|pattern| matches(pattern, address)) {
            wrong = Some(format!("{} for {address} left, which is left out", sending.request));
        }
        if self.now > own.held_until && self.is_on(Protection::SendDeadline) {
            wrong = Some(format!("{} for {address} left past the lease", sending.request));
        }
        let lifecycle = kinds::api(address).lifecycle(self.level);
        if step.verb == Verb::Create && lifecycle.create != Create::Upsert && own.doubtful.contains(&sending.step) {
            wrong = Some(format!("the create of {address} left twice"));
        }
        let first = step.first;
        let lead = own.shown.min_lead_seconds * SECOND - 10 * SECOND;
        // By its own clock: the service refuses times that have passed by its clock.
        let now = self.now + own.skew.min(0);
        if step.verb == Verb::Create && first.is_some_and(|first| time::of(first) - lead < now) {
            wrong = Some(format!("{address} is created though its time {first:?} is too near"));
        }
        if let Some(wrong) = wrong.or_else(|| self.set_back(process, address, step.verb)) {
            self.violated(wrong);
        }
    }

    /// Delivers a request to the service.
    pub fn arrive(&mut self, arrival: Arrival) {
        let Arrival { process, number, request, what, sender, way_back } = arrival;
        let answer = match &sender {
            Some(sender) => {
                if sender.prunes {
                    self.tally.met_kind(Fault::Pruned, &sender.address.kind);
                }
                let answer = self.service.change(&request, sender, self.now);
                self.note(|| format!("the service takes {request} for {}: {}", sender.address, answer.status));
                answer
            }
            None => {
                let manner = self.manner(process, what, &request);
                let answer = reading::read(&self.service, &request, manner, &mut self.dice);
                Answer { at: Some(time::stamp(self.now)), ..answer }
            }
        };
        let answer = match way_back {
            WayBack::Whole => answer,
            WayBack::Truncated => Answer { body: None, ..answer },
            WayBack::Garbled if answer.status < 300 => Answer::new(answer.status, json!({ "ok": true })),
            WayBack::Garbled => answer,
            WayBack::Error => Answer::new(502, Value::Null),
            WayBack::Timeout => timeout(),
            WayBack::NotOk if answer.status < 300 => not_ok(answer.status),
            WayBack::NotOk => answer,
            WayBack::Lost => return,
        };
        let way = self.dice.between(10, 400);
        self.later(way, Happening::To(process, Incoming::Answer(number, Ok(answer))));
    }

    /// The manner of an answer to a reader.
    fn manner(&mut self, process: usize, what: &'static str, request: &Request) -> Manner {
        let mut manner = Manner { at: self.now, ..Manner::default() };
        manner.normalised = self.dice.chance(500);
        if manner.normalised && what != "lookup" {
            self.tally.met(Fault::Normalised, what);
        }
        if self.faults == 0 {
            return manner;
        }
        // For a process that got a wrong answer, an outdated one counts as another wrong one.
        if self.dice.chance(150) && !self.processes[process].misled {
            self.processes[process].behind = true;
            self.tally.met(Fault::Stale, what);
            manner.at = self.now - self.dice.between(0, LAG);
            let behind = (self.now - manner.at) / SECOND;
            self.note(|| format!("{request} is answered as of {behind}s ago"));
        }
        if what == "list" {
            manner.duplicated = self.dice.chance(200);
            manner.reordered = self.dice.chance(200);
            // A full list takes long, and is of little use if there are no tags.
            manner.crowded = self.dice.chance(if self.service.has_tags() { 100 } else { 5 });
            for (is, fault) in [(manner.duplicated, Fault::PageDuplicated), (manner.reordered, Fault::PageReordered)] {
                if is {
                    self.tally.met(fault, what);
                }
            }
        }
        self.mislead(process, what, request, &mut manner);
        manner
    }

    /// Tells a reader at most once that an existing object does not exist.
    fn mislead(&mut self, process: usize, what: &'static str, request: &Request, manner: &mut Manner) {
        let odds = if self.log.ledger.open.is_empty() { 40 } else { 120 };
        let own = &self.processes[process];
        if own.misled || own.behind || !self.dice.chance(odds) {
            return;
        }
        let fault = match what {
            "list" if self.dice.chance(500) => Fault::ListEmpty,
            "list" => Fault::ListPartial,
            _ => Fault::FalseMissing,
        };
        manner.hides = match fault {
            Fault::ListPartial => Hides::One(self.dice.below(4)),
            _ => Hides::All,
        };
        self.processes[process].misled = true;
        self.tally.met(fault, what);
        self.note(|| format!("{request} is answered wrongly: {fault:?}"));
    }

    /// Whether a request may still leave, according to its process.
    pub fn is_in_time(&self, process: usize, sending: &Sending) -> bool {
        !self.is_on(Protection::SendDeadline) || !sending.not_after.has_passed(self.clock(process))
    }
}
