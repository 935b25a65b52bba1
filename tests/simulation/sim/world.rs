//! The world: one queue of events, and everything that they affect.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use pushplan::address::Address;
use pushplan::apply::Now;
use pushplan::exchange::{Answer, Loss};
use pushplan::ledger::{AppendError, Entry, Ledger, Record, Verb};
use pushplan::nouns::level::Level;
use pushplan::plan::Plan;
use pushplan_testing::Dice;

use super::Protection;
use super::beginning;
use super::files::Files;
use super::log::{Log, Written, word};
use super::network::Arrival;
use super::project::Project;
use super::queue::Queue;
use super::rounds::Length;
use super::service::{Origin, Service};
use super::shown::ShownPlan;
use super::tally::{Fault, Tally};
use super::time::{self, MINUTE, SECOND};

/// The maximal time between the departure of a request and its effect.
pub const LATE: i64 = 130 * SECOND;
/// The maximal age of an answer to a reader.
pub const LAG: i64 = 120 * SECOND;
/// The maximal error of a clock.
const SKEW: i64 = 10 * SECOND;
/// The maximal error of an unmaintained clock.
const APART: i64 = 10 * MINUTE;
/// The time after which a change is visible everywhere: longer than all of these together.
pub const SETTLE: i64 = 5 * MINUTE;

/// A pending event.
#[derive(Debug)]
pub enum Happening {
    To(usize, Incoming),
    Arrive(Arrival),
    Write(usize, Entry),
    Start,
    Person,
}

/// A message to a process.
#[derive(Debug)]
pub enum Incoming {
    Answer(usize, Result<Answer, Loss>),
    Written(u64, Result<(), AppendError>),
    Time,
    Interrupt,
    Resume,
}

/// A process that plans and applies.
#[derive(Debug, Default)]
pub struct Process {
    pub run: String,
    inbox: VecDeque<Incoming>,
    pub over: bool,
    pub suspended: bool,
    until: i64,
    pub skew: i64,
    wall_behind: i64,
    boot_behind: i64,
    /// The plan that was shown before it was applied.
    pub shown: ShownPlan,
    pub on_the_way: BTreeMap<usize, Verb>,
    pub done: BTreeSet<usize>,
    /// Creates that left and were not definitely refused.
    pub doubtful: BTreeSet<usize>,
    pub intended: BTreeSet<(Address, Verb)>,
    /// The true end of its lease: its length after the newest durable record.
    pub held_until: i64,
    /// It was told once that an existing object does not exist.
    pub misled: bool,
    /// It got an outdated answer.
    pub behind: bool,
    /// Its manifests.
    pub files: Files,
    /// The run whose whole lease it has observed.
    pub found_over: Option<String>,
    /// The addresses that it leaves out.
    pub except: Vec<String>,
}

#[derive(Debug)]
pub struct World {
    pub now: i64,
    pub dice: Dice,
    pub level: Level,
    pub length: Length,
    pub service: Service,
    pub log: Log,
    pub project: Project,
    /// A plan that was not carried out yet, with the ledger that it was made for.
    pub planned: Option<(Plan, Rc<Ledger>)>,
    pub tally: Tally,
    /// The number of requests in a thousand that meet a fault.
    pub faults: u64,
    pub off: Option<Protection>,
    pub processes: Vec<Process>,
    pub queue: Queue<Happening>,
    /// The number of processes that have not started yet.
    pub starting: usize,
    pub wrong: Option<String>,
    pub trace: Option<Vec<String>>,
    pub reports: usize,
    /// The true time of the last intent for each address.
    pub intended: BTreeMap<Address, i64>,
}

pub type Shared = Rc<RefCell<World>>;

impl World {
    /// The world of a story.
    pub fn of(seed: u64, off: Option<Protection>, trace: bool) -> Self {
        let mut dice = Dice::new(seed);
        let length = Length::of(seed, &mut dice);
        match beginning::of(seed, length, off, trace) {
            Some(begun) => Self::going_on(&begun, length, dice),
            None => Self::new(length, dice, off, trace),
        }
    }

    /// A world before any event.
    pub fn new(length: Length, mut dice: Dice, off: Option<Protection>, trace: bool) -> Self {
        let level = if dice.chance(500) { Level::Documented } else { Level::Extended };
        let project = Project::new(length.units, &mut dice, 0);
        Self {
            now: 0,
            level,
            length,
            service: Service::new(level),
            log: Log::default(),
            project,
            planned: None,
            tally: Tally::default(),
            faults: length.faults,
            off,
            processes: Vec::new(),
            queue: Queue::default(),
            starting: 0,
            wrong: None,
            trace: trace.then(Vec::new),
            reports: 0,
            intended: BTreeMap::new(),
            dice,
        }
    }

    /// Continues a world with another story. No process is running in it.
    pub fn going_on(begun: &Self, length: Length, dice: Dice) -> Self {
        Self {
            now: begun.now,
            level: begun.level,
            length,
            service: begun.service.clone(),
            log: begun.log.clone(),
            project: begun.project.clone(),
            planned: begun.planned.clone(),
            tally: Tally::default(),
            faults: length.faults,
            off: begun.off,
            processes: Vec::new(),
            queue: Queue::default(),
            starting: 0,
            wrong: begun.wrong.clone(),
            trace: begun.trace.clone(),
            reports: begun.reports,
            intended: begun.intended.clone(),
            dice,
        }
    }

    pub fn is_on(&self, protection: Protection) -> bool {
        self.off != Some(protection)
    }

    /// Whether records are missing from the ledger, which every process sees.
    pub fn is_set_back(&self) -> bool {
        self.log.ledger.lacks(self.log.mark) && self.is_on(Protection::HighWater)
    }

    pub fn note(&mut self, text: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            trace.push(format!("{:>10.3} {}", self.now as f64 / 1000.0, text()));
        }
    }

    /// Records a violation.
    pub fn violated(&mut self, what: String) {
        self.note(|| format!("WRONG {what}"));
        self.wrong.get_or_insert(what);
    }

    pub fn later(&mut self, after: i64, what: Happening) {
        self.starting += usize::from(matches!(what, Happening::Start));
        self.queue.put(self.now + after.max(0), what);
    }

    pub fn at(&mut self, at: i64, what: Happening) {
        self.later(at - self.now, what);
    }

    pub fn clock(&self, process: usize) -> Now {
        let Process { skew, wall_behind, boot_behind, .. } = &self.processes[process];
        let boot = (self.now - boot_behind).max(0).unsigned_abs();
        Now { wall: time::stamp(self.now + skew - wall_behind), boot: Duration::from_millis(boot) }
    }

    /// The lead of the service's clock over a process's, according to its answers.
    pub fn ahead(&self, process: usize) -> i64 {
        let ahead = -self.processes[process].skew;
        if ahead.abs() > MINUTE { ahead } else { 0 }
    }

    /// The time at which a process's clock shows a given time.
    pub fn when(&self, process: usize, wall: jiff::Timestamp) -> i64 {
        time::of(wall) - self.processes[process].skew
    }

    pub fn add_process(&mut self) -> usize {
        let mut skew = if self.faults > 0 { self.dice.between(-SKEW, SKEW) } else { 0 };
        if self.faults > 0 && self.dice.chance(120) {
            self.tally.met(Fault::ClockApart, "run");
            let any = self.dice.between(-APART, APART);
            skew = *self.dice.pick(&[-APART, APART, any]);
            self.note(|| format!("the next process has a clock that is {}s off", skew / SECOND));
        }
        let run = format!("run-{}", self.processes.len());
        self.processes.push(Process { run, skew, ..Process::default() });
        self.processes.len() - 1
    }

    /// Ends a process at this point. Its sent requests continue.
    pub fn crash(&mut self, process: usize, at: &'static str) {
        self.tally.met(Fault::Crash, at);
        for open in self.log.ledger.open.values().filter(|open| open.why.is_none()) {
            self.tally.met_kind(Fault::CrashOf, &open.intent.address.kind);
        }
        self.note(|| format!("process {process} crashes before {at}"));
        self.processes[process].over = true;
    }

    pub fn suspend(&mut self, process: usize, at: &'static str) {
        self.tally.met(Fault::Suspended, at);
        let time = *self.dice.pick(&[30 * SECOND, 3 * MINUTE, 10 * MINUTE, 90 * MINUTE]);
        let time = time + self.dice.between(0, time);
        self.note(|| format!("process {process} is suspended before {at} for {}s", time / SECOND));
        let until = self.now + time;
        let own = &mut self.processes[process];
        (own.suspended, own.until) = (true, until);
        // Neither clock may have noticed yet.
        match self.dice.below(3) {
            0 => self.processes[process].wall_behind = time,
            1 => self.processes[process].boot_behind = time,
            _ => {}
        }
        self.later(time, Happening::To(process, Incoming::Resume));
    }

    /// Writes an entry to the log.
    fn write(&mut self, process: usize, entry: Entry) {
        let exclusive = self.is_on(Protection::CreateIfAbsent);
        let (faults, seq, at) = (self.faults > 0, entry.seq, entry.at);
        let before = self.log.ledger.seq;
        let holder = self.holder().filter(|_| matches!(entry.record, Record::Begin(_)));
        let begins = matches!(entry.record, Record::Begin(_));
        let moves = match &entry.record {
            Record::Move { from, to } => Some((from.clone(), to.clone())),
            _ => None,
        };
        let intended: Vec<(Address, Verb)> = match &entry.record {
            Record::Intents(intents) => intents.iter().map(|it| (it.address.clone(), it.verb)).collect(),
            _ => Vec::new(),
        };
        self.note(|| format!("process {process} writes {seq} {}", word(&entry.record)));
        let written = self.log.append(entry, faults, exclusive, &mut self.dice, &mut self.tally);
        self.note(|| format!("  {written:?}"));
        let durable = self.log.ledger.seq > before || matches!(written, Written::Yes);
        if self.log.ledger.seq > before
            && let Some(other) = holder
        {
            self.violated(format!("process {process} begins while process {other} holds its lease"));
        }
        if let Some(lease) = self.log.ledger.run.as_ref().and_then(|running| running.lease.as_ref()).filter(|_| durable)
        {
            self.processes[process].held_until = self.when(process, at) + lease.seconds * SECOND;
        }
        if durable {
            self.intended.extend(intended.iter().map(|(address, _)| (address.clone(), self.now)));
            self.processes[process].intended.extend(intended);
        }
        if let Some((from, to)) = moves.filter(|_| self.log.ledger.seq > before) {
            let now = self.now;
            self.service.rename(&from, &to, now);
        }
        if begins && self.log.ledger.seq > before {
            let files = self.processes[process].files;
            if self.project.contains(files, self.log.applied) {
                self.log.applied = files;
            }
        }
        self.look_at_ledger();
        match written {
            Written::Yes => self.later(5, Happening::To(process, Incoming::Written(seq, Ok(())))),
            Written::No(error) => self.later(5, Happening::To(process, Incoming::Written(seq, Err(error)))),
            Written::Torn => self.processes[process].over = true,
        }
    }

    /// The holder of a lease that is valid by any clock. No other process begins meanwhile.
    fn holder(&self) -> Option<usize> {
        let running = self.log.ledger.run.as_ref()?;
        let holder = self.processes.iter().position(|other| other.run == running.run);
        holder.filter(|holder| self.now <= self.processes[*holder].held_until)
    }

    /// Checks that no managed resource is missing from the ledger: existing ones are owned, retired or unconfirmed.
    fn look_at_ledger(&mut self) {
        let ledger = &self.log.ledger;
        let known = |address: &Address, id: &str| {
            ledger.open.contains_key(address)
                || ledger.owned.get(address).is_some_and(|owned| owned.id == id)
                || ledger.retired.iter().any(|old| old.address == *address && old.id == id)
        };
        let lost = self.service.objects.iter().find_map(|(id, object)| match &object.origin {
            Origin::Ours(address) if object.is_live() && !object.forgotten && !known(address, id) => {
                Some(format!("{address} ({id})"))
            }
            _ => None,
        });
        if let Some(lost) = lost {
            self.violated(format!("{lost} is there, and the ledger does not know it"));
        }
    }

    /// Processes the next event; returns the process that has to be polled.
    pub fn step(&mut self) -> Option<Option<usize>> {
        let (at, happening) = self.queue.take()?;
        self.now = self.now.max(at);
        self.service.advance(self.now);
        let poll = match happening {
            Happening::To(process, incoming) => {
                let own = &mut self.processes[process];
                if own.over {
                    return Some(None);
                }
                if matches!(incoming, Incoming::Resume) {
                    own.suspended = false;
                    self.note(|| format!("process {process} goes on"));
                    return Some(Some(process));
                }
                if own.suspended {
                    let until = own.until;
                    self.at(until, Happening::To(process, incoming));
                    return Some(None);
                }
                (own.wall_behind, own.boot_behind) = (0, 0);
                own.inbox.push_back(incoming);
                Some(process)
            }
            Happening::Arrive(arrival) => {
                self.arrive(arrival);
                None
            }
            Happening::Write(process, entry) => {
                self.write(process, entry);
                None
            }
            Happening::Start => {
                self.starting -= 1;
                Some(self.add_process())
            }
            Happening::Person => {
                self.person();
                None
            }
        };
        if let Some(wrong) = self.service.wrong.pop() {
            self.violated(wrong);
        }
        Some(poll)
    }
}

/// A process's handle to the world.
#[derive(Clone, Debug)]
pub struct Own {
    pub world: Shared,
    pub process: usize,
}

impl Own {
    /// The next message to this process.
    pub async fn next(&self) -> Incoming {
        std::future::poll_fn(|_| {
            let mut world = self.world.borrow_mut();
            let own = &mut world.processes[self.process];
            if own.suspended || own.over {
                return Poll::Pending;
            }
            own.inbox.pop_front().map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }

    /// A point at which the process can die or be suspended.
    pub async fn breathe(&self, before: &'static str) {
        {
            let mut world = self.world.borrow_mut();
            if world.faults > 0 {
                let odds = world.faults / 20 + 2;
                if world.dice.chance(odds) {
                    world.crash(self.process, before);
                } else if world.dice.chance(odds) {
                    world.suspend(self.process, before);
                }
            }
        }
        std::future::poll_fn(|_| {
            let world = self.world.borrow();
            let own = &world.processes[self.process];
            if own.suspended || own.over { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
    }

    pub fn now(&self) -> Now {
        self.world.borrow().clock(self.process)
    }
}
