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

/// How many seeds in a row go on from the same things, and how many from the same plan.
const NEIGHBOURS: u64 = 64;
const PLANNED: u64 = 16;

/// Whose a beginning is: how the stories begin, which of their beginnings it is, and what is turned off.
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

/// The beginning of a seed; `None` where nothing has happened.
pub fn of(seed: u64, length: Length, off: Option<Protection>, trace: bool) -> Option<Rc<World>> {
    let Length { goes_on, is_planned, .. } = length;
    let number = seed / if is_planned { PLANNED } else { NEIGHBOURS };
    (goes_on || is_planned).then(|| known(Whose { goes_on, is_planned, number, off }, trace))
}

/// A beginning, as it was lived through before. One that is told is lived through again.
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

/// Lives through a beginning: one run, alone, or another that has only planned so far.
fn live(whose: Whose, trace: bool) -> World {
    let Whose { goes_on, is_planned, number, off } = whose;
    // Its dice are not those of a story, nor of any other beginning.
    let mut dice = Dice::new((!number).rotate_left(16 * (1 + u32::from(goes_on)) * u32::from(is_planned)));
    if !is_planned {
        // There is more than one thing, so that something can go.
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
    /// The world after something was done in it.
    fn lived(self, live: impl FnOnce(&Shared, &mut Tasks)) -> Self {
        if self.wrong.is_some() {
            return self;
        }
        let (world, mut tasks): (Shared, _) = (Rc::new(RefCell::new(self)), Tasks::default());
        live(&world, &mut tasks);
        drop(tasks);
        Rc::into_inner(world).expect("nobody is left in it").into_inner()
    }

    /// Everything is applied, and people do something, or nothing.
    fn applied(world: &Shared, tasks: &mut Tasks) {
        world.borrow_mut().note(|| "what was there before".to_owned());
        world.borrow_mut().later(0, Happening::Start);
        tasks.run(world, true);
        let mut world = world.borrow_mut();
        for _ in 0..world.dice.below(3) {
            world.person();
        }
    }

    /// A plan is made that a story begins with.
    fn make_plan(world: &Shared, tasks: &mut Tasks) {
        world.borrow_mut().maybe_twin();
        let plan = super::converge::plan(world, tasks, &BTreeSet::new());
        let ledger = Rc::clone(&world.borrow().log.ledger);
        world.borrow_mut().planned = plan.filter(|plan| !plan.steps.is_empty()).map(|plan| (plan, ledger));
    }
}
