//! Converts a selector to terms. Segments are resolved by name, each once however often it is named. Nothing here is
//! recursive, so neither nesting nor a long chain of segments is too deep.

use std::collections::HashMap;
use std::sync::Arc;

use super::facts::Fact;
use super::terms::{Id, Join, Terms};
use crate::nouns::audience::{SegmentRef, Selector};

/// The maximum number of parts of an audience, including its segments.
const MOST: usize = 20_000;

/// The maximum number of members of all compounds, once they are flat.
const MOST_MEMBERS: usize = 100_000;

/// A selector with its segments, as a graph. A part only contains parts with lower numbers.
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
    /// Joins the last parts.
    Join(Join, usize),
    Not,
    /// A segment was processed completely.
    Close(&'s SegmentRef),
}

/// The progress of a segment.
enum ExpandState {
    /// It is being resolved: a reference to it closes a circle.
    Open,
    Done(usize),
}

impl Expanded {
    /// Resolves a selector. Returns `None` if it is too large. An unknown segment remains a condition of its own, and
    /// so does one that refers to itself.
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
                // The service treats an empty list as nobody, for `and` as for `or`.
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
                // A compound with one member is that member.
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

    /// Returns the term of a part; `None` if it is too large.
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

    /// Removes the negation around a part.
    fn straight(&self, part: usize, not: bool) -> (usize, bool) {
        match &self.parts[part] {
            // There are never two of them: see above.
            Part::Not(inner) => (*inner, !not),
            _ => (part, not),
        }
    }

    /// Returns the members of a compound and of nested compounds with the same join, each once, and the number of parts
    /// visited. `seen` marks the parts of this round.
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

/// The index of a part, or of its opposite.
fn place(part: usize, not: bool) -> usize {
    2 * part + usize::from(not)
}

/// Returns the join of the negation: "not all of" is "any of" the opposites.
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
