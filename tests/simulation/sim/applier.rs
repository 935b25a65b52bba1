//! A process that reads the log, reads the service, plans, shows its plan and applies it: the real code, run in the
//! simulated world.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use jiff::{SignedDuration, Timestamp};
use pushplan::address::Address;
use pushplan::apply::{ApplySettings, Effect, Event, Fate, OnError, Protections, Report, Run};
use pushplan::digest::Digest;
use pushplan::exchange::{Loss, Meaning, Request};
use pushplan::guard::{Limits, Refused, guards};
use pushplan::ledger::{Begin, Ledger, Position, Record, Settling};
use pushplan::live::{Ask, Fetch, Live, Look, Proof};
use pushplan::nouns::on_drift::OnDrift;
use pushplan::plan::{Choice, Plan};
use pushplan::planner::{self, Aligned, Rules};
use pushplan::unmanaged;

use super::Protection;
use super::network::{question, verb_word};
use super::project::Units;
use super::shown::ShownPlan;
use super::tally::Fault;
use super::time::{self, MINUTE, SECOND};
use super::world::{Happening, Incoming, Own, SETTLE};

/// The smallest distance of a new push's time, in seconds.
pub const LEAD: i64 = 300;

/// The digest of the manifests of a plan without manifests.
static NOTHING: LazyLock<Digest> = LazyLock::new(|| Digest::of(b""));

/// The selected part of a project, and the options of the apply.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// The manual steps that people report as done.
    pub done: BTreeSet<Address>,
    pub choice: Choice,
    /// The kinds that are pruned.
    pub pruned: BTreeSet<&'static str>,
}

pub fn settle() -> SignedDuration {
    SignedDuration::from_millis(SETTLE)
}

/// Plans and applies, from beginning to end.
pub async fn apply(own: Own) {
    let planned = own.world.borrow_mut().planned.take();
    if let Some((plan, ledger)) = planned {
        let newest = own.world.borrow().project.newest();
        own.world.borrow_mut().processes[own.process].files = newest;
        return own.carry_out(plan, &ledger).await;
    }
    if !own.has_turn(false).await || own.is_set_back() {
        return;
    }
    let (units, ledger) = own.read();
    let mut wish = own.wish(&units, &ledger);
    let Some(live) = own.look(&units, &ledger, &wish).await else { return };
    let Some(mut plan) = own.plan(&units, &ledger, &live, &wish) else { return };
    let refused = own.refused(&plan);
    if !refused.is_empty() {
        // Changes that wait for a person are left out, or the whole plan waits.
        let leaves_out = own.world.borrow_mut().dice.chance(600);
        if !leaves_out {
            return;
        }
        wish.choice.except.extend(refused.iter().flat_map(|one| &one.addresses).map(ToString::to_string));
        let Some(other) = own.plan(&units, &ledger, &live, &wish) else { return };
        if !own.refused(&other).is_empty() {
            return;
        }
        plan = other;
    }
    own.world.borrow_mut().processes[own.process].except = wish.choice.except;
    // A person reads it first.
    let time = {
        let mut world = own.world.borrow_mut();
        world.note(|| told(&plan, own.process));
        let most = *world.dice.pick(&[1, 1, 20 * SECOND, 20 * MINUTE]);
        world.dice.between(0, most)
    };
    own.sleep(time).await;
    own.carry_out(plan, &ledger).await;
}

/// A plan in a few words.
pub fn told(plan: &Plan, process: usize) -> String {
    let changes = plan.changes.iter().filter(|change| change.action.symbol() != " ");
    let changes: Vec<String> = changes
        .map(|change| format!("{} {} {:?} {:?}", change.action.symbol(), change.address, change.moved, change.reasons))
        .collect();
    let steps: Vec<String> =
        plan.steps.iter().map(|step| format!("{} {} {:?}", verb_word(step.verb), step.address, step.id)).collect();
    format!("process {process} plans at {}: {changes:?}; steps {steps:?}", plan.ledger.seq)
}

impl Own {
    /// The current manifests and the current log.
    pub fn read(&self) -> (Rc<Units>, Rc<Ledger>) {
        let mut world = self.world.borrow_mut();
        let mut ledger = Rc::clone(&world.log.ledger);
        // A checkpoint holds the same.
        if world.dice.chance(20) {
            let text = serde_json::to_string(&*ledger).expect("it is data");
            ledger = Rc::new(serde_json::from_str(&text).expect("it was written"));
        }
        let files = world.checked_out(self.process);
        world.processes[self.process].files = files;
        (Rc::clone(world.project.files(files)), ledger)
    }

    /// Whether records of the ledger are missing, according to the mark next to it. Then nothing is applied before a
    /// person has checked.
    fn is_set_back(&self) -> bool {
        let mut world = self.world.borrow_mut();
        let is_set_back = world.is_set_back();
        if is_set_back {
            world.note(|| format!("process {} finds that the ledger was set back", self.process));
        }
        is_set_back
    }

    pub async fn sleep(&self, time: i64) {
        let until = {
            let mut world = self.world.borrow_mut();
            world.later(time, Happening::To(self.process, Incoming::Time));
            world.now + time
        };
        // All other events meanwhile are too late or too early.
        while self.world.borrow().now < until {
            self.next().await;
        }
    }

    async fn sleep_until(&self, wall: Timestamp) {
        let time = {
            let world = self.world.borrow();
            world.when(self.process, wall) - world.now
        };
        if time >= 0 {
            self.sleep(time + 1).await;
        }
    }

    /// The live state; `None` if it could not be read.
    pub async fn look(&self, units: &Units, ledger: &Ledger, wish: &Wish) -> Option<Live> {
        let (level, all_kinds, confirm_absence, waits, proof) = {
            let world = self.world.borrow();
            let proof = Proof {
                two_lists: world.is_on(Protection::TwoLists) && world.is_on(Protection::SettleWait),
                reported_sends: world.is_on(Protection::ReportedSends),
                reread_updated: world.is_on(Protection::RereadUpdated),
                by_own_clock: world.is_on(Protection::OwnClock),
            };
            (
                world.level,
                world.length.all_kinds,
                world.is_on(Protection::AbsenceCheck),
                world.is_on(Protection::SettleWait),
                proof,
            )
        };
        let settling = Settling {
            settle: settle(),
            read_at: self.now().wall,
            clock: None,
            is_over: ledger.run.as_ref().is_some_and(|running| self.has_found_over(&running.run)),
            by_own_clock: proof.by_own_clock,
        };
        if let Some(at) = ledger.settled_at(&settling).filter(|_| waits) {
            self.sleep_until(at).await;
        }
        let aligned = Aligned::new(units, ledger);
        let desired = aligned.units.iter().map(|(address, unit)| (address, &unit.spec)).collect();
        let contents = unmanaged::contents(&wish.pruned, level);
        let look = Look {
            level,
            origin: super::ORIGIN,
            settle: settle(),
            desired: &desired,
            ledger: &aligned.ledger,
            all_kinds: all_kinds || !wish.pruned.is_empty(),
            contents: &contents,
            confirm_absence,
            recovers: true,
            proof,
        };
        let (mut fetch, asks) = Fetch::start(look, self.now().wall);
        let mut todo = VecDeque::from(asks);
        let mut open: BTreeMap<usize, (Request, u32)> = BTreeMap::new();
        loop {
            while let Some(ask) = todo.pop_front() {
                match ask {
                    Ask::Get(number, request) => {
                        let what = question(&request);
                        self.breathe(what).await;
                        self.world.borrow_mut().ask(self.process, number, what, request.clone());
                        open.insert(number, (request, 0));
                    }
                    Ask::WaitUntil(at) => {
                        self.sleep_until(at).await;
                        todo.extend(fetch.later(self.now().wall));
                    }
                }
            }
            if fetch.is_done() {
                return Some(fetch.finish());
            }
            match self.next().await {
                Incoming::Interrupt => return None,
                Incoming::Answer(number, answer) => {
                    let Some((request, tries)) = open.get_mut(&number) else { continue };
                    match answer {
                        Ok(answer) if !matches!(answer.meaning(), Meaning::Busy | Meaning::Unknown) => {
                            open.remove(&number);
                            match fetch.on(number, &answer, self.now().wall) {
                                Ok(asks) => todo.extend(asks),
                                Err(why) => {
                                    self.world.borrow_mut().note(|| why.to_string());
                                    return None;
                                }
                            }
                        }
                        // A read can be repeated.
                        _ => {
                            *tries += 1;
                            if *tries > 3 {
                                // A plan can do without unused lists, but not without any other.
                                open.remove(&number);
                                match fetch.lost(number, "no answer", self.now().wall) {
                                    Some(asks) => todo.extend(asks),
                                    None => return None,
                                }
                                continue;
                            }
                            let (what, request) = (question(request), request.clone());
                            self.world.borrow_mut().ask(self.process, number, what, request);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// The part of the project that this process applies: mostly all of it.
    fn wish(&self, units: &Units, ledger: &Ledger) -> Wish {
        let mut world = self.world.borrow_mut();
        let mut wish = Wish::default();
        if world.faults == 0 {
            return wish;
        }
        if world.dice.chance(60) {
            let all: Vec<&Address> = units.keys().chain(ledger.owned.keys()).collect();
            if !all.is_empty() {
                let pattern = world.dice.pick(&all).resource().to_string();
                let is_only = world.dice.chance(500);
                world.tally.met(Fault::Choice, if is_only { "only" } else { "except" });
                world.note(|| format!("process {} leaves something out: {is_only} {pattern}", self.process));
                if is_only {
                    wish.choice.only.push(pattern);
                } else {
                    wish.choice.except.push(pattern);
                }
            }
        }
        if world.length.all_kinds && world.dice.chance(300) {
            wish.pruned = BTreeSet::from(["segments", "templates", "pipelines", "scheduled_pushes"]);
        }
        wish
    }

    /// The plan; `None` if the selection matches nothing.
    pub fn plan(&self, units: &Units, ledger: &Ledger, live: &Live, wish: &Wish) -> Option<Plan> {
        let world = self.world.borrow();
        let now = world.clock(self.process).wall + time::duration(world.ahead(self.process));
        let rules = Rules {
            origin: super::ORIGIN.to_owned(),
            position: Position { lineage: "simulated".to_owned(), seq: ledger.seq },
            min_lead: SignedDuration::from_secs(LEAD),
            done: wish.done.clone(),
            choice: wish.choice.clone(),
            pruned: wish.pruned.clone(),
            prunes: !wish.pruned.is_empty(),
            on_drift: OnDrift::Overwrite,
            adopt: world.is_on(Protection::Adopt),
            own_only: world.is_on(Protection::Unowned),
            similar: world.is_on(Protection::Similar),
            heed_gap: world.is_on(Protection::Gap),
            descent: world.project.descent(ledger, world.processes[self.process].files),
            checkout: Some(world.processes[self.process].files.checkout()),
            ..Rules::new("simulated", world.level)
        };
        planner::plan(&Aligned::new(units, ledger), live, &rules, now).ok()
    }

    /// The reasons for a refusal. Messages and deletions are allowed here, and so are reversals of other people's
    /// edits.
    pub fn refused(&self, plan: &Plan) -> Vec<Refused> {
        let allow_older = !self.world.borrow().is_on(Protection::Older);
        let limits = Limits { allow_deletes: Some(usize::MAX), allow_sends: true, allow_older, ..Limits::default() };
        let refused = guards(plan, &limits);
        let mut world = self.world.borrow_mut();
        for one in &refused {
            world.tally.met(Fault::Refused, one.guard.word());
            world.note(|| format!("process {} is refused: {}", self.process, one.message));
        }
        refused
    }

    fn settings(&self) -> ApplySettings {
        let mut world = self.world.borrow_mut();
        let mut settings =
            ApplySettings::new(world.processes[self.process].run.clone(), format!("process {}", self.process));
        settings.concurrency = 1 + world.dice.below(4);
        settings.on_error = if world.dice.chance(500) { OnError::Stop } else { OnError::Continue };
        settings.protections = Protections {
            intent: world.is_on(Protection::Intent),
            send_deadline: world.is_on(Protection::SendDeadline),
            unowned: world.is_on(Protection::Unowned),
            past: world.is_on(Protection::Past),
            // A request sent long after its intent is past the lease too.
            lease: world.is_on(Protection::Lease) && world.is_on(Protection::SendDeadline),
            confirm_deletion: world.is_on(Protection::ConfirmDeletion),
            doubt_answers: world.is_on(Protection::DoubtAnswers),
        };
        settings.ahead = time::duration(world.ahead(self.process));
        // Without the check of digests, any digest is accepted.
        settings.digest = (!world.length.digests).then(|| NOTHING.clone());
        // In production it is longer than the time in which requests are sent. A shorter one is met more often.
        settings.lease.seconds = *world.dice.pick(&[20, 120, 120]);
        settings
    }

    /// Carries out a plan exactly as it was shown.
    pub async fn carry_out(&self, plan: Plan, ledger: &Ledger) {
        // An empty plan writes nothing.
        let is_empty = plan.steps.is_empty();
        let shown = (!is_empty && self.world.borrow().length.digests).then(|| plan.digest());
        self.world.borrow_mut().processes[self.process].shown = ShownPlan::of(&plan);
        let (mut run, effects) = Run::start(plan, ledger, self.settings(), self.now());
        let mut todo = VecDeque::from(effects);
        loop {
            while let Some(effect) = todo.pop_front() {
                self.breathe(self.word(&effect)).await;
                match effect {
                    Effect::Append(entry) => {
                        let mut world = self.world.borrow_mut();
                        let is_other =
                            |begin: &Begin| is_empty || shown.as_ref().is_some_and(|shown| begin.plan != *shown);
                        if matches!(&entry.record, Record::Begin(begin) if is_other(begin)) {
                            world.violated("what is applied is not what was shown".to_owned());
                        }
                        let slow = world.faults > 0 && world.dice.chance(20);
                        let time = if slow { world.dice.between(SECOND, 80 * SECOND) } else { 5 };
                        world.later(time, Happening::Write(self.process, Arc::unwrap_or_clone(entry)));
                    }
                    Effect::Send(sending) => {
                        if self.world.borrow().is_in_time(self.process, &sending) {
                            self.world.borrow_mut().send(self.process, &sending);
                        } else {
                            let verb = run.plan().steps[sending.step].verb;
                            self.world.borrow_mut().tally.met(Fault::TooLateToSend, verb_word(verb));
                            let loss = Loss::NotSent("too late".to_owned());
                            todo.extend(run.on(Event::Lost(sending.step, loss), self.now()));
                        }
                    }
                    Effect::Ask(step, request) => {
                        let what = question(&request);
                        self.world.borrow_mut().ask(self.process, step, what, Arc::unwrap_or_clone(request));
                    }
                    Effect::Wait(at) => {
                        let mut world = self.world.borrow_mut();
                        let at = world.when(self.process, at) + 1;
                        world.at(at, Happening::To(self.process, Incoming::Time));
                    }
                    Effect::Finish(report) => {
                        self.finish(&report);
                        return;
                    }
                }
            }
            let event = match self.next().await {
                Incoming::Answer(step, answer) => {
                    self.world.borrow_mut().processes[self.process].on_the_way.remove(&step);
                    match answer {
                        Ok(answer) => Event::Answered(step, answer),
                        Err(loss) => Event::Lost(step, loss),
                    }
                }
                Incoming::Written(seq, Ok(())) => Event::Appended(seq),
                Incoming::Written(_, Err(error)) => Event::AppendFailed(error),
                Incoming::Interrupt => {
                    self.interrupted();
                    Event::Interrupt
                }
                Incoming::Time | Incoming::Resume => Event::Time,
            };
            todo.extend(run.on(event, self.now()));
            for (step, fate) in run.finished() {
                if fate.is_done() {
                    self.world.borrow_mut().processes[self.process].done.insert(step);
                }
            }
        }
    }

    fn word(&self, effect: &Effect) -> &'static str {
        match effect {
            Effect::Ask(_, request) => question(request),
            Effect::Send(sending) => {
                let world = self.world.borrow();
                verb_word(world.processes[self.process].shown.steps[sending.step].verb)
            }
            _ => "append",
        }
    }

    fn interrupted(&self) {
        let mut world = self.world.borrow_mut();
        let verbs: BTreeSet<_> = world.processes[self.process].on_the_way.values().copied().collect();
        for verb in verbs {
            world.tally.met(Fault::Interrupt, verb_word(verb));
        }
    }

    fn finish(&self, report: &Report) {
        let mut world = self.world.borrow_mut();
        world.reports += 1;
        world.note(|| {
            let steps: Vec<&Fate> = report.steps.iter().map(|step| &step.fate).collect();
            format!("process {} ends: {:?} {steps:?}", self.process, report.ending)
        });
    }
}
