//! One apply, split into the steps between which other events can happen: reading, looking, planning, and each effect
//! of the machine.

use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use pushplan::apply::{ApplySettings, Effect, Event, OnError, Protections, Run};
use pushplan::digest::Digest;
use pushplan::guard::{Guard, Limits, guards};
use pushplan::ledger::{
    self, Ancestry, AppendError, Checkout, Descent, Entry, Evidence, Ledger, Record, Settling, Watch,
};
use pushplan::live::Live;
use pushplan::plan::{Plan, Position};
use pushplan::planner::{self, Aligned, Rules};

use super::choose::Choices;
use super::look::Pause;
use super::project::{Edit, Units};
use super::time::{self, APPEND, LEAD, LEASE, MINUTE, SECOND, SETTLE};
use super::words::{ending, record, words};
use super::world::World;
use super::{Fault, Protection};

/// The digest of manifests that is not checked.
static NOTHING: LazyLock<Digest> = LazyLock::new(|| Digest::of(b""));

#[derive(Clone, Debug)]
pub struct Applier {
    pub name: String,
    pub phase: Phase,
    /// The lead of its clock.
    pub skew: i64,
    /// The version of the manifests that it has read.
    pub version: usize,
    pub ledger: Arc<Ledger>,
    /// When it has read the log, by its clock.
    pub read_at: Timestamp,
    /// It has observed the whole lock of the run that has not ended.
    pub found_over: bool,
    /// The hash of all events that affected it so far.
    pub trail: u64,
    /// Its plan.
    pub plan: Option<Arc<Plan>>,
}

#[derive(Clone, Debug)]
pub enum Phase {
    /// It observes another one that holds the lock.
    Watching(Arc<(Watch, Duration)>),
    /// It has read the manifests and the log.
    Read,
    /// It waits for its second list.
    Listed(Arc<Pause>),
    Planned(Arc<Plan>),
    Running(Arc<Running>),
    /// It has ended, or will do nothing more.
    Over,
}

/// A run and its pending effects.
#[derive(Clone, Debug)]
pub struct Running {
    pub run: Run,
    pub effects: Vec<Effect>,
    pub wake: Option<i64>,
}

pub fn settle() -> SignedDuration {
    time::duration(SETTLE)
}

impl Applier {
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over)
    }

    /// Records an event that affected it.
    pub fn remember(&mut self, what: impl Hash) {
        let mut hasher = DefaultHasher::new();
        (self.trail, what).hash(&mut hasher);
        self.trail = hasher.finish();
    }

    pub fn hash_into(&self, hasher: &mut impl Hasher) {
        match self.phase {
            Phase::Over => 0_u64.hash(hasher),
            _ => (&self.name, self.trail, self.skew, self.version).hash(hasher),
        }
    }

    fn end(&mut self) {
        self.phase = Phase::Over;
    }
}

impl World {
    /// An applier starts: it reads the manifests and the log.
    pub fn start(&mut self, choices: &mut Choices) {
        let number = self.appliers.len();
        self.start_later(choices);
        self.edit(choices, &Edit::MANIFESTS);
        let mut options = vec![Fault::ClockAhead, Fault::ClockBehind];
        if self.versions.len() > 1 {
            options.push(Fault::OlderClone);
        }
        if self.log.earlier() > 0 {
            options.push(Fault::LedgerSetBack);
        }
        let fault = if number == 0 && self.log.ledger.seq == 0 { None } else { self.fault(choices, &options) };
        if fault == Some(Fault::LedgerSetBack) {
            let to = choices.choose(self.log.earlier());
            self.log.set_back(to);
            // A user who restores a ledger ensures that no run is active.
            self.appliers.iter_mut().for_each(Applier::end);
            let seq = self.log.ledger.seq;
            self.is_set_back = true;
            self.note(|| format!("the ledger is set back to record {seq}"));
            if self.is_on(Protection::Mark) && self.log.ledger.lacks(self.log.mark) {
                let at = self.clock(0).wall;
                self.log.accept_gap(at);
                self.note(|| "no apply believes that; a person accepts the gap".to_owned());
            }
        }
        self.back_up();
        let skew = match fault {
            Some(Fault::ClockAhead) => 10 * MINUTE,
            Some(Fault::ClockBehind) => -10 * MINUTE,
            _ => 0,
        };
        let newest = self.versions.len() - 1;
        let version = if fault == Some(Fault::OlderClone) { newest - 1 } else { newest };
        self.begin_applier(&format!("applier {}", number + 1), skew, version);
        if self.setup.fine {
            return;
        }
        // A record of another one makes it stop, and the requests of another one could just as well have been sent
        // before.
        if matches!(self.appliers[number].phase, Phase::Watching(_)) {
            self.step(number, choices);
        }
        let is_settled = self.settled_at(number).is_none();
        if is_settled && matches!(self.appliers[number].phase, Phase::Read) {
            self.step(number, choices);
        }
    }

    /// The time when lost requests of earlier runs have settled, by an applier's clock.
    fn settled_at(&self, number: usize) -> Option<Timestamp> {
        let Applier { ledger, read_at, found_over, .. } = &self.appliers[number];
        ledger.settled_at(&Settling {
            settle: settle(),
            read_at: *read_at,
            clock: None,
            is_over: *found_over,
            by_own_clock: self.is_on(Protection::OwnClock),
        })
    }

    /// Starts an applier with this name now.
    pub fn begin_applier(&mut self, name: &str, skew: i64, version: usize) {
        let mut applier = Applier {
            name: name.to_owned(),
            phase: Phase::Read,
            skew,
            version,
            ledger: self.log.ledger.clone(),
            read_at: self.clock(skew).wall,
            found_over: false,
            trail: self.log.hash,
            plan: None,
        };
        let running = self.log.ledger.run.as_ref().filter(|_| self.is_on(Protection::Turn));
        let is_held = running.is_some_and(|running| !self.is_over(running, skew, Duration::ZERO));
        self.note(|| {
            let clock = if skew == 0 { String::new() } else { format!(", its clock {}s ahead", skew / SECOND) };
            let manifests = if version == 0 { String::new() } else { format!(", version {version} of the manifests") };
            let held = if is_held { ": another one holds the lock" } else { "" };
            format!("{name} starts{clock}{manifests}{held}")
        });
        if is_held && self.is_on(Protection::Observe) {
            let mut watch = Watch::default();
            let boot = self.clock(skew).boot;
            watch.saw(&self.log.ledger, boot, boot);
            applier.phase = Phase::Watching(Arc::new((watch, boot)));
            applier.remember(boot);
        } else if is_held {
            applier.end();
        }
        self.appliers.push(applier);
    }

    /// Whether the lock of a run has expired, for an applier that has seen no record of it for this long.
    fn is_over(&self, running: &ledger::Running, skew: i64, observed: Duration) -> bool {
        let (wall, observe) = (self.clock(skew).wall, self.is_on(Protection::Observe));
        running.is_over(&Evidence { observed, is_gone: false, wall, clock: None, observe })
    }

    /// An applier has observed for the length of a lock.
    fn watch(&mut self, number: usize, watch: &Watch, since: Duration) {
        self.wait_until(i64::try_from(since.as_millis()).expect("a short time") - MINUTE + LEASE);
        let skew = self.appliers[number].skew;
        let boot = self.clock(skew).boot;
        let observed = watch.clone().saw(&self.log.ledger, boot, boot);
        let running = self.log.ledger.run.clone();
        let is_over = running.is_none_or(|running| self.is_over(&running, skew, observed.unchanged));
        let name = self.appliers[number].name.clone();
        self.note(|| format!("{name} {}", if is_over { "finds the lock free" } else { "stops: the lock is held" }));
        let (read_at, found_over) = (self.clock(skew).wall, self.log.ledger.run.is_some());
        let applier = &mut self.appliers[number];
        (applier.read_at, applier.found_over) = (read_at, found_over);
        applier.phase = if is_over { Phase::Read } else { Phase::Over };
        applier.ledger = self.log.ledger.clone();
        applier.trail = self.log.hash;
    }

    /// Chooses when an applier starts: now, or when a time that matters to it has passed.
    fn start_later(&mut self, choices: &mut Choices) {
        let mut times = vec![self.now];
        // With a lock that has to be observed, the time makes no difference.
        let running = self.log.ledger.run.as_ref().filter(|_| !self.is_on(Protection::Observe));
        if let Some(expires) = running.and_then(|running| running.expires) {
            times.push(time::of(expires) + 31 * SECOND);
        }
        if self.setup.has(Fault::Past) && !self.log.ledger.owned.is_empty() {
            times.push(time::DUE + MINUTE);
        }
        times.retain(|at| *at >= self.now);
        times.dedup();
        let at = choices.pick(&times);
        self.wait_until(at);
    }

    /// Performs the next step of an applier.
    pub fn step(&mut self, number: usize, choices: &mut Choices) {
        match self.appliers[number].phase.clone() {
            Phase::Watching(watched) => self.watch(number, &watched.0, watched.1),
            Phase::Read => {
                if let Some(until) = self.settled_at(number).filter(|_| self.is_on(Protection::SettleWait)) {
                    self.sleep(number, until);
                }
                self.meanwhile(choices);
                self.look(number, None, choices);
            }
            Phase::Listed(pause) => {
                self.meanwhile(choices);
                self.sleep(number, pause.until);
                self.look(number, Some(&pause), choices);
            }
            Phase::Planned(plan) => {
                self.slow(choices, &[Fault::VerySlow, Fault::NearlyDue]);
                self.carry_out(number, plan, choices);
            }
            Phase::Running(running) => self.go_on(number, &running, choices),
            Phase::Over => {}
        }
    }

    /// An applier waits until its clock shows a time.
    fn sleep(&mut self, number: usize, wall: Timestamp) {
        let at = time::of(wall) - self.appliers[number].skew;
        self.wait_until(at);
    }

    /// Chooses whether an applier is suspended for a while before it continues.
    fn slow(&mut self, choices: &mut Choices, options: &[Fault]) {
        let time = match self.fault(choices, options) {
            Some(Fault::Slow) => self.now + 30 * SECOND,
            Some(Fault::VerySlow) => self.now + 10 * MINUTE,
            Some(_) => time::DUE - MINUTE,
            None => return,
        };
        let seconds = (time - self.now) / SECOND;
        self.note(|| format!("it is stopped for {seconds}s"));
        self.wait_until(time);
    }

    /// Makes a plan from an applier's findings.
    pub fn plan(&mut self, number: usize, live: &Live) {
        let applier = &self.appliers[number];
        let units = self.versions[applier.version].clone();
        let plan = self.plan_for(&units, applier, live);
        let name = applier.name.clone();
        let limits = Limits { allow_sends: true, max_deletes: usize::MAX, ..Limits::default() };
        let older = guards(&plan, &limits).into_iter().find(|refused| refused.guard == Guard::Older);
        let is_refused = self.is_on(Protection::Older) && older.is_some();
        self.note(|| {
            let refused =
                if is_refused { ". It is refused, because its files are older than the last apply" } else { "" };
            format!("{name} plans: {}{refused}", words(&plan))
        });
        let applier = &mut self.appliers[number];
        let steps = serde_json::to_string(&plan.steps).expect("it is data");
        applier.trail = self.log.hash;
        applier.remember((steps, plan.made, plan.ledger.seq));
        let plan = Arc::new(plan);
        applier.plan = Some(plan.clone());
        applier.phase = if plan.steps.is_empty() || is_refused { Phase::Over } else { Phase::Planned(plan) };
    }

    fn plan_for(&self, units: &Units, applier: &Applier, live: &Live) -> Plan {
        // The service's answers show its clock.
        let (ledger, now) = (&applier.ledger, self.clock(0).wall);
        let rules = Rules {
            origin: super::ORIGIN.to_owned(),
            position: Position { lineage: "world".to_owned(), seq: ledger.seq },
            min_lead: time::duration(LEAD),
            adopt: self.is_on(Protection::Adopt),
            own_only: self.is_on(Protection::Unowned),
            similar: self.is_on(Protection::Similar),
            heed_gap: self.is_on(Protection::Gap),
            checkout: Some(checkout(applier.version)),
            descent: ledger.checkout.as_ref().map(|applied| descent(applied, applier.version)),
            ..Rules::new("world", self.setup.level)
        };
        planner::plan(&Aligned::new(units, ledger), live, &rules, now).expect("everything is chosen")
    }

    fn settings(&self, name: &str, skew: i64) -> ApplySettings {
        let mut settings = ApplySettings::new(format!("run of {name}"), name);
        settings.concurrency = self.setup.concurrency;
        settings.on_error = OnError::Continue;
        settings.protections = Protections {
            intent: self.is_on(Protection::Intent),
            send_deadline: self.is_on(Protection::SendDeadline),
            unowned: self.is_on(Protection::Unowned),
            past: self.is_on(Protection::Past),
            lease: self.is_on(Protection::Lease) && self.is_on(Protection::SendDeadline),
            confirm_deletion: self.is_on(Protection::ConfirmDeletion),
            doubt_answers: self.is_on(Protection::DoubtAnswers),
        };
        settings.digest = Some(NOTHING.clone());
        settings.ahead = time::duration(-skew);
        settings.lease.seconds = LEASE / SECOND;
        settings
    }

    /// Begins a run, up to its first effect.
    fn carry_out(&mut self, number: usize, plan: Arc<Plan>, choices: &mut Choices) {
        let Applier { name, ledger, skew, .. } = &self.appliers[number];
        let now = self.clock(*skew);
        let (run, effects) = Run::start(plan, ledger, self.settings(name, *skew), now);
        self.appliers[number].remember((now.wall, now.boot));
        self.take_on(number, Running { run, effects: Vec::new(), wake: None }, effects);
        if let Phase::Running(running) = self.appliers[number].phase.clone() {
            self.go_on(number, &running, choices);
        }
    }

    /// Adds the effects of a run.
    fn take_on(&mut self, number: usize, mut running: Running, effects: Vec<Effect>) {
        let mut report = None;
        for effect in effects {
            match effect {
                Effect::Wait(at) => running.wake = Some(time::of(at)),
                Effect::Finish(finished) => report = Some(Arc::new(finished)),
                effect => running.effects.push(effect),
            }
        }
        if let Some(report) = &report {
            let name = self.appliers[number].name.clone();
            self.note(|| format!("{name} ends: {}", ending(report)));
        }
        let applier = &mut self.appliers[number];
        applier.phase = if report.is_some() { Phase::Over } else { Phase::Running(Arc::new(running)) };
    }

    /// Passes an event to a run.
    pub fn tell(&mut self, number: usize, running: &Running, event: Event, class: impl Hash) {
        let mut running = running.clone();
        let now = self.clock(self.appliers[number].skew);
        self.appliers[number].remember((class, now.wall, now.boot));
        let effects = running.run.on(event, now);
        self.take_on(number, running, effects);
    }

    /// Whether the next step of an applier changes only itself, so that its order among those of others does not
    /// matter: it only waits for a record whose position is taken.
    pub fn is_alone(&self, number: usize) -> bool {
        let Phase::Running(running) = &self.appliers[number].phase else { return false };
        let [Effect::Append(entry)] = &running.effects[..] else { return false };
        self.is_on(Protection::CreateIfAbsent) && !self.log.takes(entry)
    }

    /// Carries out the next effect of a run.
    fn go_on(&mut self, number: usize, running: &Arc<Running>, choices: &mut Choices) {
        let mut running = Running::clone(running);
        if running.effects.is_empty() {
            let Some(at) = running.wake.take() else {
                return self.violated(format!("{} waits for nothing", self.appliers[number].name));
            };
            let skew = self.appliers[number].skew;
            self.wait_until(at - skew);
            return self.tell(number, &running, Event::Time, 0_u8);
        }
        let next = choices.choose(running.effects.len());
        if matches!(running.effects[next], Effect::Send(_)) {
            self.slow(choices, &[Fault::Slow, Fault::VerySlow]);
        }
        match running.effects.remove(next) {
            Effect::Append(entry) => self.append(number, &running, &entry, choices),
            Effect::Send(sending) => self.send(number, &running, &sending, choices),
            Effect::Ask(step, request) => {
                let answer = self.answer(&request, i64::MAX, choices);
                let name = self.appliers[number].name.clone();
                self.note(|| format!("{name} sends {request}: the service answers {}", answer.status));
                let class = (10_u8, step, answer.status);
                self.tell(number, &running, Event::Answered(step, answer), class);
            }
            Effect::Wait(_) | Effect::Finish(_) => {}
        }
    }

    fn append(&mut self, number: usize, running: &Running, entry: &Arc<Entry>, choices: &mut Choices) {
        let name = self.appliers[number].name.clone();
        let fault = self.fault(choices, &[Fault::AppendLost, Fault::AppendUnknown]);
        let exclusive = self.is_on(Protection::CreateIfAbsent);
        let takes = !exclusive || self.log.takes(entry);
        let error = match fault {
            Some(Fault::AppendLost) => Some(AppendError::Unknown("timeout".to_owned())),
            _ if !takes => Some(AppendError::Conflict),
            Some(_) => Some(AppendError::Unknown("timeout".to_owned())),
            None => None,
        };
        let written = takes && fault != Some(Fault::AppendLost);
        self.note(|| {
            let told = match (&error, written) {
                (None, _) => "",
                (Some(AppendError::Conflict), _) => ": the place is taken",
                (Some(_), true) => ": written, but the answer is lost",
                (Some(_), false) => ": not written, and the answer is lost",
            };
            format!("{name} writes record {} ({}){told}", entry.seq, record(&entry.record))
        });
        if written {
            self.look_at_lock(&name, entry);
            self.log.append(entry);
            if matches!(entry.record, Record::Begin(_)) {
                self.applied = self.applied.max(self.appliers[number].version);
            }
            // Writing takes only the applier's own time, so the order of two appliers does not affect their clocks.
            self.appliers[number].skew += APPEND;
        }
        match error {
            None => self.tell(number, running, Event::Appended(entry.seq), (1_u8, entry.seq)),
            Some(error) => {
                let class = (2_u8, matches!(error, AppendError::Conflict));
                self.tell(number, running, Event::AppendFailed(error), class);
            }
        }
    }
}

impl World {
    /// No apply begins while another one holds the lock, by its own clock.
    fn look_at_lock(&mut self, name: &str, entry: &Entry) {
        let is_begin = matches!(entry.record, Record::Begin(_)) && !self.log.has(entry);
        let Some(running) = self.log.ledger.run.as_ref().filter(|_| is_begin) else { return };
        let holder = self.appliers.iter().find(|other| other.name == running.actor && other.name != name);
        let expires = running.expires.map(time::of).zip(holder).map(|(expires, holder)| expires - holder.skew);
        if expires.is_some_and(|expires| self.now <= expires) {
            let holder = running.actor.clone();
            self.violated(format!("{name} begins while {holder} holds the lock"));
        }
    }
}

/// A version of the manifests as a commit. Versions follow each other on one branch.
fn checkout(version: usize) -> Checkout {
    Checkout { commit: version.to_string(), branch: Some("main".to_owned()), dirty: false }
}

/// The relation of a version to the last applied one.
fn descent(applied: &Checkout, version: usize) -> Descent {
    let last: usize = applied.commit.parse().expect("a version");
    let ancestry = match version.cmp(&last) {
        Ordering::Less => Ancestry::Behind,
        Ordering::Equal => Ancestry::Same,
        Ordering::Greater => Ancestry::Descendant,
    };
    Descent { applied: applied.clone(), here: Some(checkout(version)), ancestry }
}
