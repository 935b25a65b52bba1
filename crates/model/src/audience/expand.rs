//! From a selector to terms. Segments are followed by their names, each once however often it is named, and nothing here
//! calls itself: neither nesting nor a long chain of segments is too deep.

use std::collections::HashMap;
use std::sync::Arc;

use super::facts::Fact;
use super::terms::{Id, Join, Terms};
use crate::nouns::audience::{SegmentRef, Selector};

/// How many parts an audience may have, with all that its segments say.
const MOST: usize = 20_000;

/// How many members compounds may have in all, once they are flat.
const MOST_MEMBERS: usize = 100_000;

/// A selector with its segments, as a graph. What is in a part has a lower place.
#[derive(Debug, Default)]
pub struct Expanded {
    parts: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    Constant(bool),
    Fact(Arc<Fact>),
    Joined(Join, Vec<usize>),
    Not(usize),
}

enum Task<'s> {
    See(&'s Selector),
    /// The parts that were made last, joined.
    Join(Join, usize),
    Not,
    /// All of a segment was seen.
    Close(&'s SegmentRef),
}

/// How far a segment has come.
enum ExpandState {
    /// It is being followed: whoever names it meanwhile closes a circle.
    Open,
    Done(usize),
}

impl Expanded {
    /// Follows a selector. `None` if there is too much of it. A segment that is unknown stays a condition of its own,
    /// and so does one that names itself.
    pub fn of<'s>(
        selector: &'s Selector,
        segments: &dyn Fn(&SegmentRef) -> Option<&'s Selector>,
    ) -> Option<(Self, usize)> {
        let mut expanded = Self::default();
        let mut states: HashMap<(bool, &str), ExpandState> = HashMap::new();
        let mut made: Vec<usize> = Vec::new();
        let mut tasks = vec![Task::See(selector)];
        while let Some(task) = tasks.pop() {
            if expanded.parts.len() + tasks.len() > MOST {
                return None;
            }
            let part = match task {
                Task::See(Selector::All) => Part::Constant(true),
                Task::See(Selector::Not(member)) => {
                    tasks.extend([Task::Not, Task::See(member)]);
                    continue;
                }
                // The service takes a list of nothing for nobody, whatever joins it.
                Task::See(Selector::And(members) | Selector::Or(members)) if members.is_empty() => {
                    Part::Constant(false)
                }
                Task::See(joined @ (Selector::And(members) | Selector::Or(members))) => {
                    let join = if matches!(joined, Selector::And(_)) { Join::All } else { Join::Any };
                    tasks.push(Task::Join(join, members.len()));
                    tasks.extend(members.iter().map(|member| Task::See(member)));
                    continue;
                }
                Task::See(Selector::Segment(reference)) => {
                    let known = states.get(&name(reference));
                    let criteria = if known.is_none() { segments(reference) } else { None };
                    match (known, criteria) {
                        (Some(ExpandState::Done(place)), _) => {
                            made.push(*place);
                            continue;
                        }
                        (None, Some(criteria)) => {
                            states.insert(name(reference), ExpandState::Open);
                            tasks.extend([Task::Close(reference), Task::See(criteria)]);
                            continue;
                        }
                        _ => Part::Fact(Fact::segment(reference).into()),
                    }
                }
                Task::See(single) => Fact::of(single).map_or(Part::Constant(true), |fact| Part::Fact(fact.into())),
                // A compound of one is that one.
                Task::Join(_, 1) => continue,
                Task::Join(join, number) => Part::Joined(join, made.split_off(made.len() - number)),
                Task::Not => match expanded.parts[*made.last()?] {
                    Part::Not(twice) => {
                        made.pop();
                        made.push(twice);
                        continue;
                    }
                    _ => Part::Not(made.pop()?),
                },
                Task::Close(reference) => {
                    states.insert(name(reference), ExpandState::Done(*made.last()?));
                    continue;
                }
            };
            made.push(expanded.parts.len());
            expanded.parts.push(part);
        }
        let root = made.pop()?;
        Some((expanded, root))
    }

    /// The terms of a part. `None` if there is too much of it.
    pub(crate) fn terms(&self, root: usize, terms: &mut Terms) -> Option<Id> {
        let mut done: Vec<Option<Id>> = vec![None; 2 * self.parts.len()];
        let mut seen = vec![0; 2 * self.parts.len()];
        let (mut open, mut spent, mut round) = (vec![self.straight(root, false)], 0, 0);
        while let Some(&(part, not)) = open.last() {
            if done[place(part, not)].is_some() {
                open.pop();
                continue;
            }
            let id = match &self.parts[part] {
                Part::Constant(value) if *value != not => Terms::EVERYONE,
                Part::Constant(_) => Terms::NOBODY,
                Part::Fact(fact) => terms.is(fact.clone(), not),
                Part::Not(inner) => {
                    open.push(self.straight(*inner, !not));
                    continue;
                }
                Part::Joined(join, _) => {
                    round += 1;
                    let (members, looked_at) = self.flat(part, not, &mut seen, round);
                    spent += looked_at;
                    if spent > MOST_MEMBERS {
                        return None;
                    }
                    let before = open.len();
                    open.extend(members.iter().copied().filter(|(part, not)| done[place(*part, *not)].is_none()));
                    if open.len() > before {
                        continue;
                    }
                    terms.join(turned(*join, not), members.iter().filter_map(|(part, not)| done[place(*part, *not)]))
                }
            };
            done[place(part, not)] = Some(id);
        }
        let (part, not) = self.straight(root, false);
        done[place(part, not)]
    }

    /// A part without the negations around it.
    fn straight(&self, part: usize, not: bool) -> (usize, bool) {
        match &self.parts[part] {
            // Never two of them: see above.
            Part::Not(inner) => (*inner, !not),
            _ => (part, not),
        }
    }

    /// The members of a compound and of those in it that are joined alike, each once; and how many parts that took. What was
    /// seen in this round has its number.
    fn flat(&self, part: usize, not: bool, seen: &mut [usize], round: usize) -> (Vec<(usize, bool)>, usize) {
        let (mut members, mut number) = (Vec::new(), 1);
        seen[place(part, not)] = round;
        let mut open = vec![(part, not)];
        let own = self.join_of(part, not);
        while let Some((part, not)) = open.pop() {
            match &self.parts[part] {
                Part::Joined(_, within) if self.join_of(part, not) == own => {
                    let within = within.iter().map(|member| self.straight(*member, not));
                    for (part, not) in within {
                        if std::mem::replace(&mut seen[place(part, not)], round) != round {
                            number += 1;
                            open.push((part, not));
                        }
                    }
                }
                _ => members.push((part, not)),
            }
        }
        (members, number)
    }

    fn join_of(&self, part: usize, not: bool) -> Option<Join> {
        match &self.parts[part] {
            Part::Joined(join, _) => Some(turned(*join, not)),
            _ => None,
        }
    }
}

/// The place of what is known of a part, or of its opposite.
fn place(part: usize, not: bool) -> usize {
    2 * part + usize::from(not)
}

/// Not all of some is any of their opposites.
fn turned(join: Join, not: bool) -> Join {
    match (join, not) {
        (Join::All, false) | (Join::Any, true) => Join::All,
        (Join::Any, false) | (Join::All, true) => Join::Any,
    }
}

fn name(reference: &SegmentRef) -> (bool, &str) {
    match reference {
        SegmentRef::Key(key) => (false, key),
        SegmentRef::Id(id) => (true, id),
    }
}
