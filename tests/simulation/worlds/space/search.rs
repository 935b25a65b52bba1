//! The search: breadth first, so that the first violation has the shortest story. A world with more states than fit into memory at
//! once is searched in parts, each of them to its end.

use std::collections::HashSet;
use std::sync::Arc;

use super::Setup;
use super::calm::calm;
use super::choose::Choices;
use super::world::World;

/// The limits of a search.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The number of states that it visits.
    pub states: usize,
    /// The number of violations that are enough.
    pub violations: usize,
    /// The number of states that are kept at each depth. If there are more, the others wait until these are searched to
    /// the end, and a story may not be the shortest.
    pub breadth: usize,
}

impl Limits {
    /// Breadth first to the end, up to this number of states and to the first violation.
    pub fn first(states: usize) -> Self {
        Self { states, violations: 1, breadth: usize::MAX }
    }
}

/// The result of a search.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The number of distinct states.
    pub states: usize,
    pub steps: usize,
    /// The number of steps to the farthest state.
    pub depth: usize,
    /// Distinct states from which everything had to be resolved.
    pub calms: usize,
    /// The first story of each violation.
    pub violations: Vec<Violation>,
    /// Whether it was stopped because it had visited too many states.
    pub is_cut: bool,
}

#[derive(Debug)]
pub struct Violation {
    pub what: String,
    pub story: String,
}

/// How each state was reached: its predecessor, and the step. The bytes of a state are its actor and the choices, up to
/// those of the next state.
#[derive(Debug, Default)]
struct Ways {
    nodes: Vec<(u32, u64)>,
    bytes: Vec<u8>,
}

impl Ways {
    fn add(&mut self, parent: u32, actor: u8, choices: &[u8]) -> u32 {
        let number = u32::try_from(self.nodes.len()).expect("fewer states");
        self.nodes.push((parent, self.bytes.len() as u64));
        self.bytes.push(actor);
        self.bytes.extend_from_slice(choices);
        number
    }

    /// The actors and choices that lead to a state.
    fn to(&self, state: u32) -> Vec<(u8, &[u8])> {
        let mut way = Vec::new();
        let mut at = state as usize;
        while at != 0 {
            let (parent, from) = self.nodes[at];
            let end = self.nodes.get(at + 1).map_or(self.bytes.len() as u64, |(_, from)| *from);
            let (from, end) = (usize::try_from(from).expect("in memory"), usize::try_from(end).expect("in memory"));
            way.push((self.bytes[from], &self.bytes[from + 1..end]));
            at = parent as usize;
        }
        way.reverse();
        way
    }
}

/// The actor that is not an applier: another applier starts.
const START: u8 = u8::MAX;

/// A search under way.
struct Search {
    setup: Arc<Setup>,
    limits: Limits,
    ways: Ways,
    seen: HashSet<u64>,
    ends_well: HashSet<u64>,
    checked: HashSet<u64>,
    outcome: Outcome,
}

/// Explores a world.
pub fn search(setup: &Setup, limits: Limits) -> Outcome {
    let setup = Arc::new(setup.clone());
    let first = World::first(setup.clone());
    let mut search = Search {
        setup,
        limits,
        ways: Ways::default(),
        seen: HashSet::from([first.hash()]),
        ends_well: HashSet::new(),
        checked: HashSet::new(),
        outcome: Outcome::default(),
    };
    let number = search.ways.add(0, START, &[]);
    // The states at each depth that were not visited yet.
    let mut levels = vec![vec![(first, number)]];
    while let Some(level) = levels.last_mut() {
        let rest = level.len().saturating_sub(limits.breadth);
        let part = if rest == 0 { std::mem::take(level) } else { level.split_off(rest) };
        search.outcome.depth = search.outcome.depth.max(levels.len() - 1);
        let mut next = Vec::new();
        for (world, at) in part {
            if search.look(&world, at, &mut next) {
                return search.finish();
            }
        }
        levels.push(next);
        while levels.last().is_some_and(Vec::is_empty) {
            levels.pop();
        }
    }
    search.finish()
}

impl Search {
    /// Visits a state, and adds its new successors. Returns whether the search is over.
    fn look(&mut self, world: &World, at: u32, next: &mut Vec<(World, u32)>) -> bool {
        if self.checked.insert(world.durable()) {
            for late in [false, true] {
                if late && world.late.is_empty() {
                    continue;
                }
                match calm(world.clone(), late, &|state| self.ends_well.contains(&state)) {
                    Ok(known) => self.ends_well.extend(known),
                    Err(_) => {
                        if self.found(at, None, Some(late)) {
                            return true;
                        }
                    }
                }
            }
        }
        for actor in world.actors() {
            let mut choices = Choices::default();
            loop {
                let mut after = world.clone();
                after.act(actor, &mut choices);
                self.outcome.steps += 1;
                if after.wrong.is_some() {
                    if self.found(at, Some((actor, choices.made())), None) {
                        return true;
                    }
                } else if self.seen.insert(after.hash()) {
                    next.push((after, self.ways.add(at, actor, choices.made())));
                }
                if !choices.advance() {
                    break;
                }
            }
        }
        self.outcome.is_cut = self.ways.nodes.len() >= self.limits.states;
        self.outcome.is_cut
    }

    /// Adds a violation unless there is a story of the same one. Returns whether there are enough.
    fn found(&mut self, to: u32, last: Option<(u8, &[u8])>, late: Option<bool>) -> bool {
        let violation = tell(&self.setup, self.ways.to(to), last, late);
        let violations = &mut self.outcome.violations;
        if violations.iter().all(|other| other.what != violation.what) {
            violations.push(violation);
        }
        violations.len() >= self.limits.violations
    }

    fn finish(mut self) -> Outcome {
        (self.outcome.states, self.outcome.calms) = (self.ways.nodes.len(), self.checked.len());
        self.outcome
    }
}

/// Repeats the way to a state, with words.
fn tell<'a>(
    setup: &Arc<Setup>,
    mut way: Vec<(u8, &'a [u8])>,
    last: Option<(u8, &'a [u8])>,
    late: Option<bool>,
) -> Violation {
    way.extend(last);
    let mut world = World::first(setup.clone());
    world.story = Some(String::new());
    for (actor, choices) in way {
        world.act(actor, &mut Choices::replay(choices));
    }
    if let Some(late) = late {
        world = *calm(world, late, &|_| false).expect_err("it went wrong before");
    }
    Violation { what: world.wrong.unwrap_or_default(), story: world.story.unwrap_or_default() }
}

impl World {
    /// The first state.
    fn first(setup: Arc<Setup>) -> Self {
        let mut world = Self::new(setup);
        if world.setup.applied {
            world.apply_before();
        }
        world
    }

    /// The possible actors in a state.
    fn actors(&self) -> Vec<u8> {
        let mut actors: Vec<u8> =
            (0..=254).zip(&self.appliers).filter(|(_, one)| !one.is_over()).map(|(at, _)| at).collect();
        if let Some(alone) = actors.iter().copied().find(|at| self.is_alone(usize::from(*at))) {
            return vec![alone];
        }
        if self.appliers.len() < self.setup.runs {
            actors.push(START);
        }
        actors
    }

    fn act(&mut self, actor: u8, choices: &mut Choices) {
        match actor {
            START => self.start(choices),
            applier => self.step(usize::from(applier), choices),
        }
    }
}
