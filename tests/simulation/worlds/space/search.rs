//! The search: breadth first, so that the first violation has the shortest story.

use std::collections::HashSet;
use std::sync::Arc;

use super::Setup;
use super::calm::calm;
use super::choose::Choices;
use super::world::World;

/// What a search found.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Distinct states, and how many steps lead to them.
    pub states: usize,
    pub steps: usize,
    /// The length of the longest shortest way to a state.
    pub depth: usize,
    /// Distinct states from which everything had to come right.
    pub calms: usize,
    /// The shortest story of each violation that was found first.
    pub violations: Vec<Violation>,
    /// Whether it was broken off because it had seen too many states.
    pub is_cut: bool,
}

#[derive(Debug)]
pub struct Violation {
    pub what: String,
    pub story: String,
}

/// How a state was reached.
#[derive(Debug)]
struct Node {
    parent: u32,
    actor: u8,
    choices: Box<[u8]>,
}

/// The actor that is not an applier: another applier starts.
const START: u8 = u8::MAX;

impl Outcome {
    /// Adds a violation unless there is a shorter story of the same. Says whether there are enough of them.
    fn add(&mut self, violation: Violation, enough: usize) -> bool {
        if self.violations.iter().all(|other| other.what != violation.what) {
            self.violations.push(violation);
        }
        self.violations.len() >= enough
    }
}

/// Explores a world, up to so many states, until there are enough violations.
pub fn search(setup: &Setup, most: usize, enough: usize) -> Outcome {
    let setup = Arc::new(setup.clone());
    let mut outcome = Outcome::default();
    let first = World::first(setup.clone());
    let mut nodes: Vec<Node> = vec![Node { parent: 0, actor: START, choices: Box::default() }];
    let mut seen: HashSet<u64> = HashSet::from([first.hash()]);
    let mut ends_well: HashSet<u64> = HashSet::new();
    let mut checked: HashSet<u64> = HashSet::new();
    let mut frontier: Vec<(World, u32)> = vec![(first, 0)];
    while !frontier.is_empty() {
        let mut next = Vec::new();
        for (world, at) in frontier {
            if checked.insert(world.durable()) {
                for late in [false, true] {
                    if late && world.late.is_empty() {
                        continue;
                    }
                    match calm(world.clone(), late, &|state| ends_well.contains(&state)) {
                        Ok(known) => ends_well.extend(known),
                        Err(_) => {
                            if outcome.add(tell(&setup, &nodes, at, None, Some(late)), enough) {
                                return finish(outcome, &nodes, &checked);
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
                    outcome.steps += 1;
                    if after.wrong.is_some() {
                        if outcome.add(tell(&setup, &nodes, at, Some((actor, choices.made())), None), enough) {
                            return finish(outcome, &nodes, &checked);
                        }
                    } else if seen.insert(after.hash()) {
                        let number = u32::try_from(nodes.len()).expect("fewer states");
                        nodes.push(Node { parent: at, actor, choices: choices.made().into() });
                        next.push((after, number));
                    }
                    if !choices.advance() {
                        break;
                    }
                }
            }
            if nodes.len() >= most {
                outcome.is_cut = true;
                return finish(outcome, &nodes, &checked);
            }
        }
        outcome.depth += usize::from(!next.is_empty());
        frontier = next;
    }
    finish(outcome, &nodes, &checked)
}

fn finish(mut outcome: Outcome, nodes: &[Node], checked: &HashSet<u64>) -> Outcome {
    (outcome.states, outcome.calms) = (nodes.len(), checked.len());
    outcome
}

/// Lives through the way to a state once more, with words.
fn tell(setup: &Arc<Setup>, nodes: &[Node], to: u32, last: Option<(u8, &[u8])>, late: Option<bool>) -> Violation {
    let mut way = Vec::new();
    let mut at = to;
    while at != 0 {
        let node = &nodes[at as usize];
        way.push((node.actor, &*node.choices));
        at = node.parent;
    }
    way.reverse();
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

    /// What can act in a state.
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
