//! The state of each step of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use pushplan_model::address::Address;
use pushplan_model::exchange::Request;

use super::report::{Fate, StepReport};
use super::{Deadline, Effect, Sending};
use crate::plan::Step;

/// The state of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum StepState {
    /// It waits for this number of other steps.
    Waiting(usize),
    /// It can begin.
    Ready,
    /// Its intent is yet to be written.
    Intending,
    /// Its intent is being written.
    Writing(Flight),
    /// Its intent is durable: it may leave.
    Cleared(Flight),
    /// Its request leaves again at this time.
    Resting(Flight, Timestamp),
    InFlight(Flight),
    /// Only the ledger has to record it.
    Keeping,
    Ended(Fate),
}

impl StepState {
    /// Whether it is between its intent and its answer.
    fn is_underway(&self) -> bool {
        matches!(self, Self::Intending | Self::Writing(_) | Self::Cleared(_) | Self::Resting(..) | Self::InFlight(_))
    }
}

/// A request that is about to leave, or has left.
#[derive(Clone, Debug, PartialEq)]
pub struct Flight {
    pub request: Arc<Request>,
    /// The deadline according to its intent.
    pub not_after: Deadline,
    /// The deadline when it was last released: while its intent and the lease were valid.
    pub until: Deadline,
    /// How to confirm a deletion that was answered with 404.
    pub confirms: Option<Confirm>,
}

/// How a deletion that found nothing is confirmed.
#[derive(Clone, Debug, PartialEq)]
pub enum Confirm {
    /// With a request for the resource.
    Look(Arc<Request>),
    /// The API cannot show a single resource of the kind: the deletion is sent again.
    Repeat,
}

/// The attempts at a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tries {
    pub intents: u32,
    pub unsent: u32,
    pub busy: u32,
    pub lost: u32,
    /// When an attempt was last lost.
    pub lost_at: Option<Timestamp>,
}

/// All steps of a run.
#[derive(Clone, Debug)]
pub struct Steps {
    states: Vec<StepState>,
    pub tries: Vec<Tries>,
    unrecorded: BTreeSet<usize>,
    followers: Vec<Vec<usize>>,
    /// The steps by state, so that no loop visits all of them. Ready steps are in two sets: hasty, and patient.
    ready: [BTreeSet<usize>; 2],
    pub intending: BTreeSet<usize>,
    /// Steps that cannot be looked up afterwards come first: their durable intents must not wait long.
    pub cleared: BTreeSet<(bool, usize)>,
    /// Whether other steps may go before it.
    patient: Vec<bool>,
    /// How many hasty steps are between their intent and their answer.
    hasty: usize,
    pub resting: BTreeSet<(Timestamp, usize)>,
    pub in_flight: BTreeSet<usize>,
    writing: BTreeSet<usize>,
    keeping: BTreeSet<usize>,
    left: usize,
    finished: Vec<usize>,
    /// The one step of each address that is in progress, until the ledger has its outcome.
    pub active: BTreeMap<Address, usize>,
}

impl Steps {
    /// All steps, with whether each can be put off after its intent is durable.
    pub fn new(all: &[Step], patient: Vec<bool>) -> Self {
        let mut followers = vec![Vec::new(); all.len()];
        for step in all {
            for before in step.after.iter().collect::<BTreeSet<_>>() {
                if let Some(followers) = followers.get_mut(*before) {
                    followers.push(step.number);
                }
            }
        }
        let waits = |step: &Step| step.after.iter().collect::<BTreeSet<_>>().len();
        let states: Vec<StepState> = all
            .iter()
            .map(|step| if step.after.is_empty() { StepState::Ready } else { StepState::Waiting(waits(step)) })
            .collect();
        let ready = [false, true].map(|is_patient| {
            let ready = all.iter().filter(|step| step.after.is_empty() && patient[step.number] == is_patient);
            ready.map(|step| step.number).collect()
        });
        Self {
            tries: vec![Tries::default(); all.len()],
            left: all.len(),
            unrecorded: BTreeSet::new(),
            followers,
            states,
            ready,
            intending: BTreeSet::new(),
            cleared: BTreeSet::new(),
            patient,
            hasty: 0,
            resting: BTreeSet::new(),
            in_flight: BTreeSet::new(),
            writing: BTreeSet::new(),
            keeping: BTreeSet::new(),
            finished: Vec::new(),
            active: BTreeMap::new(),
        }
    }

    pub fn state(&self, step: usize) -> Option<&StepState> {
        self.states.get(step)
    }

    /// Moves a step to another state.
    pub fn set(&mut self, step: usize, state: StepState) {
        if !self.patient[step] {
            self.hasty += usize::from(state.is_underway());
            self.hasty -= usize::from(self.states[step].is_underway());
        }
        match &self.states[step] {
            StepState::Ready => drop(self.ready[usize::from(self.patient[step])].remove(&step)),
            StepState::Intending => drop(self.intending.remove(&step)),
            StepState::Writing(_) => drop(self.writing.remove(&step)),
            StepState::Cleared(_) => drop(self.cleared.remove(&(self.patient[step], step))),
            StepState::Resting(_, until) => drop(self.resting.remove(&(*until, step))),
            StepState::InFlight(_) => drop(self.in_flight.remove(&step)),
            StepState::Keeping => drop(self.keeping.remove(&step)),
            StepState::Waiting(_) | StepState::Ended(_) => {}
        }
        match &state {
            StepState::Ready => drop(self.ready[usize::from(self.patient[step])].insert(step)),
            StepState::Intending => drop(self.intending.insert(step)),
            StepState::Writing(_) => drop(self.writing.insert(step)),
            StepState::Cleared(_) => drop(self.cleared.insert((self.patient[step], step))),
            StepState::Resting(_, until) => drop(self.resting.insert((*until, step))),
            StepState::InFlight(_) => drop(self.in_flight.insert(step)),
            StepState::Keeping => drop(self.keeping.insert(step)),
            StepState::Ended(_) => {
                self.left -= 1;
                self.finished.push(step);
            }
            StepState::Waiting(_) => {}
        }
        self.states[step] = state;
    }

    /// The first ready step from a number on. Hasty steps are included if `once` is set.
    pub(crate) fn next_ready(&self, from: usize, once: bool) -> Option<usize> {
        let [hasty, patient] = &self.ready;
        let first = |ready: &BTreeSet<usize>| ready.range(from..).next().copied();
        let hasty = if once { first(hasty) } else { None };
        hasty.into_iter().chain(first(patient)).min()
    }

    pub(crate) fn is_any_ready(&self) -> bool {
        self.ready.iter().any(|ready| !ready.is_empty())
    }

    /// How many hasty steps are between their intent and their answer.
    pub(crate) fn hasty(&self) -> usize {
        self.hasty
    }

    /// How many steps are between their intent and their answer.
    pub(crate) fn underway(&self) -> usize {
        self.intending.len() + self.writing.len() + self.cleared.len() + self.resting.len() + self.in_flight.len()
    }

    /// Whether nothing is in progress, neither at the service nor in the ledger.
    pub fn is_quiet(&self) -> bool {
        self.underway() == 0 && self.keeping.is_empty()
    }

    pub(crate) fn all_ended(&self) -> bool {
        self.left == 0
    }

    pub(crate) fn all_done(&self) -> bool {
        self.states.iter().all(|state| matches!(state, StepState::Ended(Fate::Done { .. })))
    }

    /// The steps that were to leave and have not left.
    pub fn unsent(&self) -> Vec<usize> {
        let resting = self.resting.iter().map(|(_, step)| step);
        let cleared = self.cleared.iter().map(|(_, step)| step);
        resting.chain(cleared).chain(&self.intending).copied().collect()
    }

    /// Ends the steps whose records will not be written.
    pub fn abandon(&mut self, all: &[Step]) {
        for step in Vec::from_iter(self.writing.iter().chain(&self.keeping).copied()) {
            self.finish(all, step, Fate::NotStarted);
        }
    }

    /// The steps that ended since the last call.
    pub(crate) fn take_finished(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.finished)
    }

    /// The next step to leave: one that has rested, or the first that was cleared.
    pub(crate) fn next_to_leave(&self, now: Timestamp) -> Option<usize> {
        let rested = self.resting.first().filter(|(until, _)| *until <= now).map(|(_, step)| *step);
        rested.or_else(|| self.cleared.first().map(|(_, step)| *step))
    }

    /// Whether the ledger has the outcomes of all steps that a step waited for.
    pub(crate) fn follows_records(&self, step: &Step) -> bool {
        step.after.iter().all(|before| !self.unrecorded.contains(before))
    }

    /// Lets a step leave, until a deadline.
    pub(crate) fn depart(&mut self, step: usize, flight: Flight, until: Deadline) -> Effect {
        let effect = match &flight.confirms {
            Some(Confirm::Look(request)) => Effect::Ask(step, request.clone()),
            Some(Confirm::Repeat) | None => {
                Effect::Send(Sending { step, request: flight.request.clone(), not_after: until })
            }
        };
        self.set(step, StepState::InFlight(Flight { until, ..flight }));
        effect
    }

    /// Whether a step is a deletion that found nothing, and is being confirmed.
    pub(crate) fn is_confirming(&self, step: usize) -> bool {
        match &self.states[step] {
            StepState::Cleared(flight) | StepState::Resting(flight, _) | StepState::InFlight(flight) => {
                flight.confirms.is_some()
            }
            _ => false,
        }
    }

    /// Ends a step. Its followers can begin, or never will.
    pub fn finish(&mut self, all: &[Step], step: usize, fate: Fate) {
        let done = fate.is_done();
        let stays = fate == Fate::NotStarted;
        self.set(step, StepState::Ended(fate));
        // No step follows one that did not begin.
        if stays {
            return;
        }
        for follower in self.followers[step].clone() {
            match &self.states[follower] {
                StepState::Waiting(1) if done => self.set(follower, StepState::Ready),
                StepState::Waiting(left) if done => self.states[follower] = StepState::Waiting(left - 1),
                StepState::Waiting(_) => {
                    let why = format!("blocked by {}, which was not done", all[step].address);
                    self.finish(all, follower, Fate::Skipped { why });
                }
                _ => {}
            }
        }
    }

    /// Notes that the ledger does not have the outcome of a step yet.
    pub fn unrecorded(&mut self, step: usize) {
        self.unrecorded.insert(step);
    }

    /// Notes that the ledger has the outcome of an address: another step of it may begin.
    pub fn recorded(&mut self, address: &Address) -> Option<usize> {
        let step = self.active.remove(address)?;
        self.unrecorded.remove(&step);
        Some(step)
    }

    pub fn reports(&self, all: &[Step]) -> Vec<StepReport> {
        let report = |step: &Step| StepReport {
            step: step.number,
            address: step.address.clone(),
            verb: step.verb,
            fate: match &self.states[step.number] {
                StepState::Ended(fate) => fate.clone(),
                _ => Fate::NotStarted,
            },
            recorded: !self.unrecorded.contains(&step.number),
        };
        all.iter().map(report).collect()
    }
}
