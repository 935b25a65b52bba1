//! How stories begin that are about a change: something was applied, people had a hand in it, the manifests were edited and a plan
//! was made, and nothing went wrong. Neighbours share a beginning, which is lived through once.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use super::Protection;
use super::dice::Dice;
use super::rounds::Length;
use super::world::{Happening, Shared, Tasks, World};

/// How many seeds in a row have the same beginning.
const NEIGHBOURS: u64 = 64;

thread_local! {
    /// The newest beginning, and whose it is.
    static NEWEST: RefCell<Option<(u64, Option<Protection>, World)>> = const { RefCell::new(None) };
}

/// Looks at the beginning of a seed.
pub fn of<T>(seed: u64, off: Option<Protection>, trace: bool, look: impl FnOnce(&World) -> T) -> T {
    let block = seed / NEIGHBOURS;
    if trace {
        return look(&live(block, off, true));
    }
    NEWEST.with_borrow_mut(|newest| {
        let known = newest.take().filter(|(other, without, _)| (*other, *without) == (block, off));
        let (_, _, world) = newest.insert(known.unwrap_or_else(|| (block, off, live(block, off, false))));
        look(world)
    })
}

/// Lives through a beginning: one run, alone, and another that has only planned so far.
fn live(block: u64, off: Option<Protection>, trace: bool) -> World {
    // Its dice are not those of a story.
    let mut dice = Dice::new(!block);
    let length = Length::beginning(&mut dice);
    let world: Shared = Rc::new(RefCell::new(World::new(length, dice, off, trace)));
    world.borrow_mut().note(|| "what was there before".to_owned());
    world.borrow_mut().later(0, Happening::Start);
    let mut tasks = Tasks::default();
    tasks.run(&world, true);
    if world.borrow().wrong.is_none() {
        world.borrow_mut().people();
        world.borrow_mut().edit();
        let plan = super::converge::plan(&world, &mut tasks, &BTreeSet::new());
        let ledger = Rc::clone(&world.borrow().log.ledger);
        world.borrow_mut().planned = plan.filter(|plan| !plan.steps.is_empty()).map(|plan| (plan, ledger));
    }
    drop(tasks);
    Rc::into_inner(world).expect("nobody is left in it").into_inner()
}

impl World {
    /// People do something, or nothing.
    fn people(&mut self) {
        for _ in 0..self.dice.below(3) {
            self.person();
        }
    }
}
