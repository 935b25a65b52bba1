//! How stories begin that are about a change: something was applied and people had a hand in it, or the manifests were written
//! or edited and a plan was made, and nothing went wrong. Neighbours share a beginning, which is lived through once.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use pushplan_testing::Dice;

use super::Protection;
use super::rounds::Length;
use super::tasks::Tasks;
use super::world::{Happening, Shared, World};

/// The number of consecutive seeds that continue from the same state, and from the same plan.
const NEIGHBOURS: u64 = 64;
const PLANNED: u64 = 16;

/// The key of a beginning: how the stories begin, which of their beginnings it is, and the protection that is off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Whose {
    goes_on: bool,
    is_planned: bool,
    number: u64,
    off: Option<Protection>,
}

type Begun = Option<(Whose, Rc<World>)>;

thread_local! {
    /// The newest beginnings, for each way to begin.
    static NEWEST: RefCell<[Begun; 4]> = const { RefCell::new([const { None }; 4]) };
}

/// The beginning of a seed; `None` if nothing has happened.
pub fn of(seed: u64, length: Length, off: Option<Protection>, trace: bool) -> Option<Rc<World>> {
    let Length { goes_on, is_planned, .. } = length;
    let number = seed / if is_planned { PLANNED } else { NEIGHBOURS };
    (goes_on || is_planned).then(|| known(Whose { goes_on, is_planned, number, off }, trace))
}

/// A beginning from the cache. With a trace, it is run again.
fn known(whose: Whose, trace: bool) -> Rc<World> {
    if trace {
        return Rc::new(live(whose, true));
    }
    let place = 2 * usize::from(whose.goes_on) + usize::from(whose.is_planned);
    let newest = NEWEST.with_borrow(|newest| newest[place].clone());
    if let Some((_, world)) = newest.filter(|(other, _)| *other == whose) {
        return world;
    }
    let world = Rc::new(live(whose, false));
    NEWEST.with_borrow_mut(|newest| newest[place] = Some((whose, Rc::clone(&world))));
    world
}

/// Runs a beginning: one run, alone, or another one that has only planned so far.
fn live(whose: Whose, trace: bool) -> World {
    let Whose { goes_on, is_planned, number, off } = whose;
    // Its dice differ from those of a story, and of any other beginning.
    let mut dice = Dice::new((!number).rotate_left(16 * (1 + u32::from(goes_on)) * u32::from(is_planned)));
    if !is_planned {
        // There are at least two resources, so that one can be removed.
        let length = Length::calm(2, &mut dice);
        return World::new(length, dice, off, trace).lived(World::applied);
    }
    let length = Length::calm(1, &mut dice);
    if !goes_on {
        return World::new(length, dice, off, trace).lived(World::make_plan);
    }
    let before = Whose { is_planned: false, number: number * PLANNED / NEIGHBOURS, ..whose };
    let mut world = World::going_on(&known(before, trace), length, dice);
    world.edit();
    world.lived(World::make_plan)
}

impl World {
    /// The world after a change.
    fn lived(self, live: impl FnOnce(&Shared, &mut Tasks)) -> Self {
        if self.wrong.is_some() {
            return self;
        }
        let (world, mut tasks): (Shared, _) = (Rc::new(RefCell::new(self)), Tasks::default());
        live(&world, &mut tasks);
        drop(tasks);
        Rc::into_inner(world).expect("nobody is left in it").into_inner()
    }

    /// Everything is applied, and people change something, or nothing.
    fn applied(world: &Shared, tasks: &mut Tasks) {
        world.borrow_mut().note(|| "what was there before".to_owned());
        world.borrow_mut().later(0, Happening::Start);
        tasks.run(world, true);
        let mut world = world.borrow_mut();
        for _ in 0..world.dice.below(3) {
            world.person();
        }
    }

    /// Makes the plan that a story begins with.
    fn make_plan(world: &Shared, tasks: &mut Tasks) {
        world.borrow_mut().maybe_twin();
        let plan = super::converge::plan(world, tasks, &BTreeSet::new());
        let ledger = Rc::clone(&world.borrow().log.ledger);
        world.borrow_mut().planned = plan.filter(|plan| !plan.steps.is_empty()).map(|plan| (plan, ledger));
    }
}
