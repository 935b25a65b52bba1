//! One seed: a project, some rounds of edits and runs with faults, then a calm in which everything has to be resolved.

use std::cell::RefCell;
use std::rc::Rc;

use pushplan::address::Address;
use pushplan::nouns::level::Level;
use pushplan_testing::Dice;

use super::Protection;
use super::project::Units;
use super::tally::{Fault, Tally};
use super::tasks::Tasks;
use super::time::{MINUTE, SECOND};
use super::world::{Happening, Incoming, Shared, World};

/// The result of a seed.
#[derive(Debug)]
pub struct Outcome {
    pub violation: Option<String>,
    pub tally: Tally,
    /// All events, if requested.
    pub trace: Vec<String>,
}

/// One in this number of seeds is a long story.
pub const LONG: u64 = 64;

/// The size of a story. Most are short, because their failures are found faster than in long ones; long ones are for
/// failures that only they can have.
#[derive(Clone, Copy, Debug)]
pub struct Length {
    /// The number of resources that the project declares at first.
    pub units: usize,
    pub rounds: usize,
    /// The number of requests in a thousand that meet a fault.
    pub faults: u64,
    /// The number of changing requests in a thousand that meet a fault.
    pub sends: u64,
    /// Whether kinds without resources are listed too.
    pub all_kinds: bool,
    /// Whether it continues from an applied state, like others.
    pub goes_on: bool,
    /// Whether it begins with a plan that others begin with too.
    pub is_planned: bool,
    /// Whether the applied plan is compared with the shown one by digest, which takes as long as planning.
    pub digests: bool,
    /// Whether the calm ends with a plan that finds nothing, even if the check of the true state finds no error.
    pub plans_again: bool,
}

impl Length {
    pub fn of(seed: u64, dice: &mut Dice) -> Self {
        if seed.is_multiple_of(LONG) {
            let (units, rounds) = (2 + dice.below(4), 1 + dice.below(4));
            let faults = *dice.pick(&[20, 60, 120, 250]);
            return Self { units, rounds, faults, sends: faults, all_kinds: true, ..Self::calm(0, dice) };
        }
        let (goes_on, is_planned) = (dice.chance(600), dice.chance(700));
        let rounds = if !goes_on && dice.chance(300) { 2 } else { 1 };
        let (faults, sends) = (*dice.pick(&[60, 120, 250]), *dice.pick(&[200, 400, 700]));
        let (all_kinds, digests, plans_again) = (dice.chance(60), dice.chance(30), dice.chance(125));
        Self { rounds, faults, sends, all_kinds, goes_on, is_planned, digests, plans_again, ..Self::calm(rounds, dice) }
    }

    /// A story with this number of resources or one more, without faults and with all checks.
    pub fn calm(units: usize, dice: &mut Dice) -> Self {
        Self {
            units: units + usize::from(dice.chance(300)),
            rounds: 1,
            faults: 0,
            sends: 0,
            all_kinds: false,
            goes_on: false,
            is_planned: false,
            digests: true,
            plans_again: true,
        }
    }
}

/// Runs one seed.
pub fn run(seed: u64, off: Option<Protection>, trace: bool) -> Outcome {
    let world: Shared = Rc::new(RefCell::new(World::of(seed, off, trace)));
    let mut tasks = Tasks::default();
    let rounds = world.borrow().length.rounds;
    for round in 0..rounds {
        if world.borrow().wrong.is_some() {
            break;
        }
        let pause = world.borrow_mut().pause(round);
        tasks.run_until(&world, pause);
        let faults = world.borrow_mut().begin_round(round);
        tasks.run(&world, false);
        world.borrow_mut().maybe_send_unconfirmed();
        world.borrow_mut().faults = faults;
    }
    if world.borrow().wrong.is_none() {
        world.borrow_mut().faults = 0;
        tasks.run(&world, true);
        if world.borrow().wrong.is_none() {
            world.borrow_mut().maybe_restore();
        }
        super::converge::converge(&world, &mut tasks);
    }
    // The processes keep references to the world.
    drop(tasks);
    let mut world = world.borrow_mut();
    Outcome {
        violation: world.wrong.take(),
        tally: std::mem::take(&mut world.tally),
        trace: world.trace.take().unwrap_or_default(),
    }
}

impl World {
    /// The start of the next round.
    fn pause(&mut self, round: usize) -> i64 {
        let most = *self.dice.pick(&[SECOND, MINUTE, 20 * MINUTE, 600 * MINUTE]);
        self.now + if self.has_past(round) || self.planned.is_some() { self.dice.between(0, most) } else { 0 }
    }

    /// Whether something was applied before a round.
    fn has_past(&self, round: usize) -> bool {
        round > 0 || self.length.goes_on
    }

    /// Someone edits the manifests.
    pub fn edit(&mut self) {
        let now = self.now;
        if self.dice.chance(300) {
            self.project.merge();
        }
        if self.dice.chance(150)
            && let Some((old, new)) = self.project.rename_and_edit(&mut self.dice)
        {
            let level = if self.level == Level::Extended { "extended" } else { "documented" };
            self.tally.met(Fault::KeyAndText, level);
            self.note(|| format!("{old} becomes {new} and says something else"));
            // A message whose last edit was not applied has little in common with its successor.
            let applied = self.log.ledger.owned.get(&old).map(|owned| &owned.spec);
            let declared = self.project.history.last().and_then(|before| before.get(&old)).map(|unit| &unit.spec);
            if applied.is_some() && applied == declared {
                self.service.successors.insert(new, old);
            }
            return;
        }
        if self.dice.chance(60)
            && let Some((old, new)) = self.project.rename(&mut self.dice)
        {
            self.tally.met_kind(Fault::Renamed, &old.kind);
            self.note(|| format!("{old} is renamed {new}"));
            return;
        }
        self.project.edit(&mut self.dice, now);
        let (before, after) = (self.project.history.last(), &self.project.units);
        let spec = |units: &Units, address: &Address| units.get(address).map(|unit| unit.spec.clone());
        self.service.successors.retain(|new, _| before.is_some_and(|before| spec(before, new) == spec(after, new)));
    }

    /// Begins a round, and returns the fault rate of the next one. Often the first has no faults, so that there is
    /// something to change.
    fn begin_round(&mut self, round: usize) -> u64 {
        let faults = self.faults;
        if round == 0 && self.length.rounds > 1 && self.dice.chance(600) {
            self.faults = 0;
        }
        if self.has_past(round) && self.planned.is_none() {
            self.edit();
        }
        let quiet = self.queue.is_empty() && self.processes.iter().all(|process| process.over);
        // A twin created while something is unconfirmed could be managed: nobody could distinguish them.
        if quiet && self.planned.is_none() && self.log.ledger.open.is_empty() {
            self.maybe_twin();
        }
        if quiet && self.planned.is_none() && self.faults > 0 {
            self.maybe_restore();
        }
        self.note(|| format!("round {round}"));
        if self.trace.is_some() {
            let units: Vec<String> =
                self.project.units.iter().map(|(address, unit)| format!("{address} {}", *unit.spec)).collect();
            self.note(|| format!("declared: {}", units.join("\n    ")));
        }
        self.later(0, Happening::Start);
        if self.dice.chance(400) {
            self.tally.met(Fault::SecondApplier, "run");
            let most = *self.dice.pick(&[SECOND, SECOND, 30 * SECOND, 10 * MINUTE]);
            let after = self.dice.between(0, most);
            self.later(after, Happening::Start);
        }
        if self.faults > 0 && self.dice.chance(100) {
            let process = self.processes.len();
            let after = self.dice.between(0, 3 * SECOND);
            self.later(after, Happening::To(process, Incoming::Interrupt));
        }
        for _ in 0..self.dice.below(5) {
            let most = *self.dice.pick(&[2 * SECOND, 10 * SECOND, 10 * MINUTE]);
            let after = self.dice.between(0, most);
            self.later(after, Happening::Person);
        }
        faults
    }
}
