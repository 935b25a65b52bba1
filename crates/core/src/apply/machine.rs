//! The machine: decides the next action from the events so far.
//!
//! A step goes from *ready* over *intending* and *cleared* to *in flight* and ends with a fate. Its intent is durable
//! before its request leaves; its outcome is durable before the next intent for the same address.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use pushplan_ledger::{Adopted, Begin, Intent, Ledger, Verb};
use pushplan_model::address::Address;
use pushplan_model::digest::Digest;
use pushplan_model::kinds::{self, Create, Lifecycle};

use super::answers::may_repeat;
use super::journal::{Broken, Durable, Journal};
use super::pace::Pace;
use super::report::{Ending, Fate, Report};
use super::steps::{Flight, StepState, Steps};
use super::{ApplySettings, Deadline, Effect, Event, Now, Protections, requests};
use crate::plan::{Action, Aim, Plan, Step};

/// How many steps that cannot begin are skipped in search of one that can.
const WINDOW: usize = 128;

/// A plan that is being applied.
#[derive(Clone, Debug)]
pub struct Run {
    pub(super) plan: Arc<Plan>,
    digest: Digest,
    pub(super) settings: ApplySettings,
    pub(super) steps: Steps,
    pub(super) journal: Journal,
    pub(super) ahead: Pace,
    /// The ids of segments made in this run, by their keys.
    pub(super) made: BTreeMap<String, String>,
    /// Addresses that are unconfirmed since this run.
    pub(super) doubtful: BTreeSet<Address>,
    pub(super) stop: Option<Stop>,
    /// How many requests may be in flight: fewer while the service is busy.
    pub(super) limit: usize,
    pub(super) streak: usize,
    pub(super) paused: Option<Timestamp>,
    /// The service refused the credentials.
    pub(super) denied: bool,
    begun: bool,
    ending: bool,
    over: bool,
    asked: Option<Timestamp>,
    /// When the run began, by the boot clock.
    started: Duration,
}

/// Why no further step begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Failed,
    Interrupted,
    Ledger,
}

impl Run {
    /// Begins to apply a plan that was computed from this ledger.
    pub fn start(
        plan: impl Into<Arc<Plan>>,
        ledger: &Ledger,
        settings: ApplySettings,
        now: Now,
    ) -> (Self, Vec<Effect>) {
        let plan = plan.into();
        let digest = settings.digest.clone().unwrap_or_else(|| plan.digest());
        let counts =
            || Action::ALL.into_iter().map(|action| (action, plan.count(action))).filter(|(_, count)| *count > 0);
        // An empty plan writes nothing to the ledger.
        let begin = (!plan.steps.is_empty()).then(|| Begin {
            run: settings.run.clone(),
            plan: digest.clone(),
            app: plan.app.clone(),
            tool: plan.tool.clone(),
            changes: counts().map(|(action, count)| (action.word().to_owned(), count)).collect(),
            lease: Some(settings.lease.clone()),
            home: plan.told.home.clone().map(Box::new),
            checkout: plan.told.checkout.clone().map(Box::new),
            safeguards: plan.told.safeguards.clone().map(Box::new),
            reverts: if let Aim::Before(number) = plan.aim { Some(number) } else { None },
        });
        let once = |step: &Step| kinds::api(&step.address).lifecycle(plan.level).create == Create::Once;
        let patient = plan.steps.iter().map(|step| !once(step)).collect();
        let mut run = Self {
            journal: Journal::new(ledger, &settings, begin),
            steps: Steps::new(&plan.steps, patient),
            ahead: Pace::new(),
            limit: settings.concurrency.max(1),
            plan,
            digest,
            settings,
            made: BTreeMap::new(),
            doubtful: BTreeSet::new(),
            stop: None,
            streak: 0,
            paused: None,
            denied: false,
            begun: false,
            ending: false,
            over: false,
            asked: None,
            started: now.boot,
        };
        // The plan was made for an earlier state of the ledger.
        if run.plan.ledger.seq != ledger.seq {
            run.break_off(Broken::Conflict);
        }
        let effects = run.go_on(now);
        (run, effects)
    }

    /// Processes an event and returns the next effects.
    pub fn on(&mut self, event: Event, now: Now) -> Vec<Effect> {
        if self.over {
            return Vec::new();
        }
        match event {
            Event::Appended(seq) => {
                if let Some(durable) = self.journal.appended(seq) {
                    self.became_durable(durable, now);
                }
            }
            Event::AppendFailed(error) => {
                self.journal.failed(error, now.wall, &self.settings);
                if let Some(broken) = self.journal.broken.clone() {
                    self.break_off(broken);
                }
            }
            Event::Answered(step, answer) => self.answered(step, &answer, now),
            Event::Lost(step, loss) => self.lost(step, loss, now),
            Event::Time => self.asked = None,
            Event::Interrupt => self.halt(Stop::Interrupted),
        }
        self.go_on(now)
    }

    /// The ledger as this run knows it.
    pub fn ledger(&self) -> &Ledger {
        &self.journal.ledger
    }

    /// Returns the ledger and consumes the run, once the run is over.
    pub(crate) fn into_ledger(self) -> Ledger {
        self.journal.ledger
    }

    /// Until when nothing is sent because the service limits the rate of requests.
    pub fn waits(&self) -> Option<Timestamp> {
        self.paused.filter(|_| self.stop.is_none())
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The steps that ended since the last call, with their fates.
    pub fn finished(&mut self) -> Vec<(usize, Fate)> {
        let finished = self.steps.take_finished();
        let fate = |step: usize| match self.steps.state(step) {
            Some(StepState::Ended(fate)) => Some((step, fate.clone())),
            _ => None,
        };
        finished.into_iter().filter_map(fate).collect()
    }

    pub(super) fn lifecycle(&self, step: &Step) -> Lifecycle {
        kinds::api(&step.address).lifecycle(self.plan.level)
    }

    /// Stops beginning steps. A ledger that cannot be written outweighs every other reason.
    pub(super) fn halt(&mut self, why: Stop) {
        if self.stop.is_none() || why == Stop::Ledger {
            self.stop = Some(why);
        }
    }

    fn break_off(&mut self, broken: Broken) {
        self.journal.broken = Some(broken);
        self.halt(Stop::Ledger);
    }

    /// Does everything that is possible now.
    fn go_on(&mut self, now: Now) -> Vec<Effect> {
        let mut effects = Vec::new();
        // Steps that are too late to leave are intended again, below.
        self.send(now, &mut effects);
        if self.begun && self.stop.is_none() {
            self.begin_steps(now);
        }
        // While there is enough to send, a record can wait for more intents.
        let most = self.ahead.steps();
        let has_plenty = self.stop.is_none() && self.steps.cleared.len() > most / 2;
        if !(has_plenty && self.journal.can_wait(now, most)) {
            let may_intend = self.begun && self.stop.is_none() && !(has_plenty && self.journal.is_recent(now));
            let room = may_intend && self.journal.has_room(now, most);
            let intents = if room { self.intend(now) } else { Vec::new() };
            if self.stop.is_some() {
                self.wind_up();
            }
            effects.extend(self.journal.next(now, intents));
        }
        if self.begun && self.stop.is_none() && !self.settings.protections.intent {
            self.intend(now);
            self.send(now, &mut effects);
        }
        if self.is_over() {
            effects.extend(self.end(now));
        }
        self.ask_for_time(now, &mut effects);
        effects
    }

    /// Begins steps in their order, up to the limit.
    fn begin_steps(&mut self, now: Now) {
        let most = self.ahead.steps().max(self.limit);
        let (mut from, mut passed) = (0, 0);
        while self.steps.underway() < most && self.stop.is_none() && passed < WINDOW {
            // Steps that cannot be looked up afterwards are not intended ahead of time: later steps go first.
            let once = self.steps.hasty() < self.limit;
            let Some(number) = self.steps.next_ready(from, once) else { break };
            from = number + 1;
            let step = &self.plan.steps[number];
            if self.steps.active.contains_key(&step.address) {
                passed += 1;
                continue;
            }
            let objection = self.objection(step, now);
            let objection = objection.or_else(|| self.cannot_be_sent(step).map(|why| Fate::Failed { why }));
            match objection {
                Some(fate) => self.give_up(number, fate),
                None => self.begin(number),
            }
        }
        self.ahead.full(self.steps.underway() >= most && self.steps.is_any_ready());
    }

    fn begin(&mut self, number: usize) {
        let step = &self.plan.steps[number];
        let address = step.address.clone();
        let state = match step.verb {
            Verb::Create | Verb::Update | Verb::Delete => StepState::Intending,
            Verb::Adopt => {
                self.journal.adopt(Adopted {
                    address: address.clone(),
                    id: step.id.clone().unwrap_or_default(),
                    spec: step.spec.clone().unwrap_or_default(),
                    refs: step.refs.clone(),
                    stamp: step.stamp.clone(),
                    protect: step.protect,
                    past: step.past,
                    push_ids: step.push_ids.clone(),
                    zone: step.zone.clone(),
                    pruned: step.pruned,
                });
                StepState::Keeping
            }
            Verb::Forget => {
                self.journal.forget(address.clone());
                StepState::Keeping
            }
            Verb::Move => {
                self.journal.rename(step.from.clone().unwrap_or_else(|| address.clone()), address.clone());
                StepState::Keeping
            }
        };
        self.steps.set(number, state);
        self.steps.active.insert(address, number);
    }

    /// Returns the reason why a step must not begin.
    fn objection(&self, step: &Step, now: Now) -> Option<Fate> {
        let protections = self.settings.protections;
        let address = &step.address;
        if protections.unowned && !requests::is_owned(step, &self.journal.ledger) {
            let id = step.id.as_deref().unwrap_or("no id");
            return Some(Fate::Failed {
                why: format!("{address} ({id}) is not managed by pushplan, so it is not changed"),
            });
        }
        let open = self.journal.ledger.open.get(address);
        let in_doubt = open.is_some_and(|open| !may_repeat(open.intent.verb, self.lifecycle(step)));
        if self.doubtful.contains(address) || in_doubt && matches!(step.verb, Verb::Update | Verb::Delete) {
            let why = format!("the result of an earlier request for {address} is unknown");
            return Some(Fate::Skipped { why });
        }
        if self.is_too_late(step, now) {
            return Some(Fate::Failed { why: self.too_late() });
        }
        None
    }

    /// Returns the reason why a step has no request although it should have one.
    fn cannot_be_sent(&self, step: &Step) -> Option<String> {
        match step.verb {
            Verb::Adopt | Verb::Forget | Verb::Move => None,
            _ => requests::check(step, &self.made, self.plan.level).err().map(|why| why.to_string()),
        }
    }

    pub(super) fn is_too_late(&self, step: &Step, now: Now) -> bool {
        let until = requests::creatable_until(step, self.lead());
        self.settings.protections.past && until.is_some_and(|until| until < self.there(now))
    }

    /// The current time of the service's clock.
    fn there(&self, now: Now) -> Timestamp {
        now.wall.checked_add(self.settings.ahead).unwrap_or(Timestamp::MAX)
    }

    pub(super) fn too_late(&self) -> String {
        let least = self.plan.min_lead_seconds;
        format!("not created: its time has passed or is less than {least} seconds away")
    }

    fn lead(&self) -> SignedDuration {
        SignedDuration::from_secs(self.plan.min_lead_seconds)
    }

    /// The intents of all steps that leave next. Their deadlines count from here.
    fn intend(&mut self, now: Now) -> Vec<Intent> {
        let mut intents = Vec::new();
        let waiting = self.steps.underway() - self.steps.intending.len();
        // Steps that were too late are intended again a few at a time.
        let room = self.ahead.steps().max(self.limit).saturating_sub(waiting);
        for number in Vec::from_iter(self.steps.intending.iter().copied()) {
            if intents.len() >= room {
                break;
            }
            let step = &self.plan.steps[number];
            // The segments that it names are in the ledger first.
            if !self.steps.follows_records(step) {
                continue;
            }
            // Time has passed since it began, while other records were written.
            if let Some(fate) = self.objection(step, now) {
                self.give_up(number, fate);
                continue;
            }
            let made = match requests::request(step, &self.made, self.plan.level) {
                Ok(made) => made,
                Err(why) => {
                    self.give_up(number, Fate::Failed { why: why.to_string() });
                    continue;
                }
            };
            let within = self.settings.send_within;
            let lead = requests::creatable_until(step, self.lead()).filter(|_| self.settings.protections.past);
            let left = lead.map_or(within, |until| until.duration_since(self.there(now)).min(within));
            let not_after = Deadline::after(now, left);
            intents.push(Intent {
                address: step.address.clone(),
                verb: step.verb,
                id: step.id.clone(),
                spec: step.spec.clone(),
                refs: made.refs,
                seen: step.seen.clone(),
                deadline: not_after.wall,
                protect: step.protect,
                zone: step.zone.clone(),
            });
            let flight = Flight { request: Arc::new(made.request), not_after, until: not_after, confirms: None };
            let unwritten = !self.settings.protections.intent;
            self.steps.tries[number].intents += 1;
            self.steps.set(number, if unwritten { StepState::Cleared(flight) } else { StepState::Writing(flight) });
        }
        intents
    }

    fn became_durable(&mut self, durable: Durable, now: Now) {
        match durable {
            Durable::Begin => {
                self.begun = true;
                self.ahead.begun(now.boot.saturating_sub(self.started), self.limit);
            }
            Durable::Intents(addresses) => {
                self.ahead.durable(self.steps.cleared.len(), now.boot);
                for address in addresses {
                    let Some(&number) = self.steps.active.get(&address) else { continue };
                    if let Some(StepState::Writing(flight)) = self.steps.state(number) {
                        let flight = flight.clone();
                        self.steps.set(number, StepState::Cleared(flight));
                    }
                }
            }
            Durable::Outcomes(addresses) => {
                for address in addresses {
                    self.steps.recorded(&address);
                }
            }
            Durable::Kept(addresses) => {
                for number in addresses.iter().filter_map(|address| self.steps.recorded(address)).collect::<Vec<_>>() {
                    let id = self.plan.steps[number].id.clone();
                    self.succeed(number, id, Vec::new());
                }
            }
            Durable::Alive | Durable::End => {}
        }
    }

    /// Sends the requests that may leave.
    fn send(&mut self, now: Now, effects: &mut Vec<Effect>) {
        if self.stop.is_some() {
            return;
        }
        self.paused.take_if(|until| *until <= now.wall);
        if self.paused.is_some() {
            return;
        }
        while self.steps.in_flight.len() < self.limit
            && let Some(number) = self.steps.next_to_leave(now.wall)
        {
            let Some(StepState::Cleared(flight) | StepState::Resting(flight, _)) = self.steps.state(number) else {
                break;
            };
            let flight = flight.clone();
            if self.settings.protections.send_deadline && flight.not_after.has_passed(now) {
                self.intend_again(number, now);
                continue;
            }
            // Nothing leaves past the lease: the next record renews it, or shows that another run has begun.
            let Some(until) = self.may_leave_until(flight.not_after).filter(|until| !until.has_passed(now)) else {
                break;
            };
            effects.push(self.steps.depart(number, flight, until));
        }
        let dry = self.steps.cleared.is_empty() && self.steps.in_flight.len() < self.limit;
        self.ahead.senders(dry, now.boot);
    }

    /// Until when a request may leave: while its intent and the lease are valid.
    fn may_leave_until(&self, intent: Deadline) -> Option<Deadline> {
        match self.settings.protections {
            Protections { lease: false, .. } => Some(intent),
            _ => self.journal.held().map(|held| held.min(intent)),
        }
    }

    /// Whether only the end is left to record.
    fn is_over(&self) -> bool {
        let quiet = self.steps.is_quiet() && self.journal.is_idle();
        quiet && (self.stop.is_some() || self.steps.all_ended())
    }

    /// The end: a last record, then the report.
    fn end(&mut self, now: Now) -> Vec<Effect> {
        let ending = self.ending();
        if self.begun
            && !self.ending
            && let Some(ended) = ending.record()
        {
            self.ending = true;
            self.journal.end(self.settings.run.clone(), ended);
            return Vec::from_iter(self.journal.next(now, Vec::new()));
        }
        self.over = true;
        let ledger = self.journal.ledger.seq;
        let (run, plan, denied) = (self.settings.run.clone(), self.digest.clone(), self.denied);
        vec![Effect::Finish(Report { run, plan, ending, ledger, denied, steps: self.steps.reports(&self.plan.steps) })]
    }

    fn ending(&self) -> Ending {
        match (&self.journal.broken, self.stop) {
            // Everything else is written: a missing record of the end is no reason for an alarm.
            (Some(_), _) if self.ending => self.outcome(),
            (Some(Broken::Conflict), _) => Ending::Conflict,
            (Some(Broken::Failed(why)), _) => Ending::Ledger { why: why.clone() },
            (None, Some(Stop::Interrupted)) if !self.steps.all_done() => Ending::Interrupted,
            _ => self.outcome(),
        }
    }

    fn outcome(&self) -> Ending {
        if self.steps.all_done() { Ending::Done } else { Ending::Partly }
    }

    fn ask_for_time(&mut self, now: Now, effects: &mut Vec<Effect>) {
        if self.over {
            return;
        }
        let sending = self.stop.is_none();
        let rested = self.steps.resting.first().filter(|_| sending).map(|(until, _)| self.paused.max(Some(*until)));
        let cleared = self.paused.filter(|_| sending && !self.steps.cleared.is_empty());
        // A request that could leave waits for a free place, and an answer brings that event.
        let journal = [self.journal.again_at(), self.journal.renewal(), self.journal.due()];
        let times = [rested.flatten(), cleared].into_iter().chain(journal).flatten();
        let next = times.filter(|at| *at > now.wall).min();
        if let Some(at) = next
            && self.asked != Some(at)
        {
            self.asked = Some(at);
            effects.push(Effect::Wait(at));
        }
    }
}
