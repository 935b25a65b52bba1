//! Outcomes of requests that were sent.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use pushplan_ledger::{Done, Outcome, Verb};
use pushplan_model::exchange::{Answer, Loss};
use pushplan_model::kinds::{self, Resource, Segment};
use pushplan_model::node::Shared;

use super::answers::{Verdict, judge, judge_look, may_repeat};
use super::machine::{Run, Stop};
use super::report::Fate;
use super::requests;
use super::steps::{Confirm, Flight, StepState};
use super::{Now, OnError};

/// How many times a step gets a new intent because it could not be sent in time.
const INTENTS: u32 = 8;
/// How many times the service may answer a step with 429.
const BUSY: u32 = 12;
/// The pause in seconds if the service does not give one.
const REST: u64 = 5;

impl Run {
    pub(super) fn answered(&mut self, number: usize, answer: &Answer, now: Now) {
        let Some(flight) = self.landed(number) else { return };
        self.denied |= answer.denies();
        let step = &self.plan.steps[number];
        let api = kinds::api(&step.address);
        let verdict = match flight.confirms {
            Some(Confirm::Look(_)) => judge_look(step, api, answer, now.wall),
            Some(Confirm::Repeat) | None => {
                let doubts = self.settings.protections.doubt_answers;
                let meaning = if doubts { answer.meaning() } else { answer.claimed() };
                match judge(step, api, self.lifecycle(step), (answer, meaning), now.wall) {
                    // It is replaced by now: no pending creation depends on whether it was sent.
                    Verdict::Doubt(_) if requests::is_old_version(step, &self.journal.ledger) => Verdict::Gone,
                    verdict => verdict,
                }
            }
        };
        self.settle(number, flight, verdict, now);
    }

    pub(super) fn lost(&mut self, number: usize, loss: Loss, now: Now) {
        let Some(flight) = self.landed(number) else { return };
        match loss {
            Loss::Unknown(why) => self.settle(number, flight, Verdict::Lost(why), now),
            Loss::NotSent(why) => self.unsent(number, flight, why, now),
        }
    }

    fn landed(&self, number: usize) -> Option<Flight> {
        match self.steps.state(number) {
            Some(StepState::InFlight(flight)) => Some(flight.clone()),
            _ => None,
        }
    }

    fn settle(&mut self, number: usize, flight: Flight, verdict: Verdict, now: Now) {
        let attempts = self.settings.attempts;
        match verdict {
            Verdict::Done { id, push_ids } => {
                // Requests that left before the pause say nothing about the load now.
                self.streak += usize::from(self.paused.is_none());
                if self.streak >= self.limit && self.limit < self.settings.concurrency {
                    self.limit += 1;
                    self.streak = 0;
                }
                self.succeed(number, id, push_ids);
            }
            Verdict::Gone => self.gone(number, flight),
            Verdict::Not(why) => self.fail(number, why),
            Verdict::Doubt(why) => self.doubt(number, why),
            Verdict::Lost(why) => {
                // Whatever a look showed, the request itself is sent again.
                let flight = Flight { confirms: None, ..flight };
                let step = &self.plan.steps[number];
                let repeats = may_repeat(step.verb, self.lifecycle(step));
                let tries = &mut self.steps.tries[number];
                tries.lost += 1;
                tries.lost_at = Some(now.wall);
                let lost = tries.lost;
                if repeats && lost < attempts && self.stop.is_none() {
                    let until = later(now.wall, self.settings.backoff * 2_i32.pow(lost.min(8) - 1));
                    self.steps.set(number, StepState::Resting(flight, until));
                } else {
                    self.doubt(number, why);
                }
            }
            Verdict::Busy(seconds) => {
                let tries = &mut self.steps.tries[number];
                tries.busy += 1;
                let busy = tries.busy;
                // A service that repeatedly asks for a pause of zero still gets one.
                let wait = seconds.unwrap_or(REST << busy.min(5)).max(1 << (busy - 1).min(5)).min(300);
                let until = later(now.wall, SignedDuration::from_secs(wait.cast_signed()));
                // Several 429 answers to requests in flight at the same time count once.
                if self.paused.is_none() {
                    self.limit = (self.limit / 2).max(1);
                    self.streak = 0;
                }
                self.paused = self.paused.max(Some(until));
                if busy >= BUSY || self.stop.is_some() {
                    self.fail(number, "the service limits the rate of requests (HTTP 429)".to_owned());
                } else {
                    self.steps.set(number, StepState::Resting(flight, until));
                }
            }
        }
    }

    /// Handles a deletion that found nothing. An object that still exists would continue to message people, so another
    /// answer has to agree.
    fn gone(&mut self, number: usize, flight: Flight) {
        let step = &self.plan.steps[number];
        if flight.confirms.is_some() || !self.settings.protections.confirm_deletion {
            return self.succeed(number, step.id.clone(), Vec::new());
        }
        let (api, none) = (kinds::api(&step.address), Shared::default());
        let spec = step.spec.as_ref().unwrap_or(&none);
        let look = api.get(step.id.as_deref().unwrap_or_default(), spec, self.plan.level);
        let confirm = look.map_or(Confirm::Repeat, |request| Confirm::Look(Arc::new(request)));
        self.steps.set(number, StepState::Cleared(Flight { confirms: Some(confirm), ..flight }));
    }

    /// Handles a request that never left: it was too late, or the service cannot be reached.
    fn unsent(&mut self, number: usize, flight: Flight, why: String, now: Now) {
        if self.stop.is_some() {
            return self.fail(number, why);
        }
        if flight.not_after.has_passed(now) {
            return self.intend_again(number, now);
        }
        // The lease had ended. It leaves after the renewal.
        if flight.until.has_passed(now) {
            return self.steps.set(number, StepState::Cleared(flight));
        }
        let tries = &mut self.steps.tries[number];
        tries.unsent += 1;
        let unsent = tries.unsent;
        if unsent >= self.settings.attempts {
            return self.fail(number, why);
        }
        let until = later(now.wall, self.settings.backoff * 2_i32.pow(unsent.min(8) - 1));
        self.steps.set(number, StepState::Resting(flight, until));
    }

    /// Gives a step a new intent, because its request missed the deadline.
    pub(super) fn intend_again(&mut self, number: usize, now: Now) {
        let late = self.is_too_late(&self.plan.steps[number], now);
        if late {
            self.fail(number, self.too_late());
        } else if self.steps.tries[number].intents >= INTENTS {
            self.fail(number, "every attempt to send it missed its deadline".to_owned());
        } else {
            self.ahead.late();
            self.steps.set(number, StepState::Intending);
        }
    }

    /// Records that a step was done.
    pub(super) fn succeed(&mut self, number: usize, id: Option<String>, push_ids: Vec<String>) {
        let step = &self.plan.steps[number];
        if step.verb == Verb::Create
            && step.address.kind == Segment::KEY
            && let Some(id) = &id
        {
            self.made.insert(step.address.key.clone(), id.clone());
        }
        if matches!(step.verb, Verb::Create | Verb::Update | Verb::Delete) {
            self.record(number, Done::Done { id: id.clone(), push_ids: push_ids.clone() });
        }
        self.steps.finish(&self.plan.steps, number, Fate::Done { id, push_ids });
    }

    /// Records that a step was not done; after a lost attempt, or a deletion that found nothing, the result is unknown.
    fn fail(&mut self, number: usize, why: String) {
        if self.steps.tries[number].lost > 0 || self.steps.is_confirming(number) {
            return self.doubt(number, why);
        }
        self.record(number, Done::Not { why: why.clone() });
        self.over_and_out(number, Fate::Failed { why });
    }

    /// Records that the result of a step is unknown.
    fn doubt(&mut self, number: usize, why: String) {
        self.record(number, Done::Unknown { why: why.clone() });
        self.doubtful.insert(self.plan.steps[number].address.clone());
        self.over_and_out(number, Fate::Unknown { why });
    }

    fn record(&mut self, number: usize, result: Done) {
        let step = &self.plan.steps[number];
        let unsettled = self.steps.tries[number].lost_at;
        let outcome = Outcome { address: step.address.clone(), verb: step.verb, result, unsettled };
        self.journal.outcome(outcome);
        self.steps.unrecorded(number);
    }

    /// Ends a step that does not begin, or not again. If its intent was written, the ledger records that nothing was
    /// done.
    pub(super) fn give_up(&mut self, number: usize, fate: Fate) {
        let tries = self.steps.tries[number];
        match fate {
            Fate::Failed { why } | Fate::Skipped { why } if tries.intents > 0 => self.fail(number, why),
            fate => {
                let address = &self.plan.steps[number].address;
                if self.steps.active.get(address) == Some(&number) {
                    self.steps.active.remove(&address.clone());
                }
                self.over_and_out(number, fate);
            }
        }
    }

    fn over_and_out(&mut self, number: usize, fate: Fate) {
        let failed = matches!(fate, Fate::Failed { .. } | Fate::Unknown { .. });
        self.steps.finish(&self.plan.steps, number, fate);
        if failed && self.settings.on_error == OnError::Stop {
            self.halt(Stop::Failed);
        }
    }

    /// Stops sending: intents whose requests have not left are cancelled.
    pub(super) fn wind_up(&mut self) {
        for number in self.steps.unsent() {
            let tries = self.steps.tries[number];
            if tries.lost > 0 || self.steps.is_confirming(number) {
                self.doubt(number, "the apply was stopped before a retry".to_owned());
                continue;
            }
            if tries.intents > 0 {
                self.record(number, Done::Not { why: "the apply was stopped before it was sent".to_owned() });
            }
            self.steps.finish(&self.plan.steps, number, Fate::NotStarted);
        }
        if self.journal.broken.is_some() {
            // As far as is known, the intents being written are not in the ledger: their requests have not left, and
            // will not.
            self.steps.abandon(&self.plan.steps);
        }
    }
}

fn later(now: Timestamp, time: SignedDuration) -> Timestamp {
    now.checked_add(time).unwrap_or(Timestamp::MAX)
}
