//! One seed: a project, some rounds of edits and runs with faults, then a calm in which everything has to come right.

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

/// What came of a seed.
#[derive(Debug)]
pub struct Outcome {
    pub violation: Option<String>,
    pub tally: Tally,
    /// Everything that happened, where it was asked for.
    pub trace: Vec<String>,
}

/// Every so manieth seed is a long story.
pub const LONG: u64 = 64;

/// How much there is in a story. Most are short: what goes wrong in them is found sooner than in long ones, and long ones are
/// lived through for what only they can have.
#[derive(Clone, Copy, Debug)]
pub struct Length {
    /// How many things the project declares at first.
    pub units: usize,
    pub rounds: usize,
    /// How many of a thousand requests meet a fault.
    pub faults: u64,
    /// How many of a thousand requests that change something meet a fault.
    pub sends: u64,
    /// Whether also the kinds are listed that nothing here is of.
    pub all_kinds: bool,
    /// Whether it goes on from what was applied before, as others do.
    pub goes_on: bool,
    /// Whether it begins with a plan that others begin with as well.
    pub is_planned: bool,
    /// Whether what is applied is held against what was shown by their digests, which takes as long as to plan it.
    pub digests: bool,
    /// Whether the calm ends with a plan that finds nothing, also where a look at the truth says that all is well.
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

    /// A story with so many things or one more, in which nothing goes wrong and everything is looked at.
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

/// Lives through one seed.
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
    // The processes hold on to the world.
    drop(tasks);
    let mut world = world.borrow_mut();
    Outcome {
        violation: world.wrong.take(),
        tally: std::mem::take(&mut world.tally),
        trace: world.trace.take().unwrap_or_default(),
    }
}

impl World {
    /// When the next round begins.
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
            // One whose last edit was not applied has little in common with what it becomes.
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

    /// Begins a round, and says how faulty the next one is. Often the first goes well, so that there is something to change.
    fn begin_round(&mut self, round: usize) -> u64 {
        let faults = self.faults;
        if round == 0 && self.length.rounds > 1 && self.dice.chance(600) {
            self.faults = 0;
        }
        if self.has_past(round) && self.planned.is_none() {
            self.edit();
        }
        let quiet = self.queue.is_empty() && self.processes.iter().all(|process| process.over);
        // A twin that is made while something is unconfirmed could be ours: nobody could tell.
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
