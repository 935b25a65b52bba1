//! The order of steps: each follows all of its dependencies.

use std::collections::BTreeSet;

use crate::plan::Step;

/// A step without a number.
#[derive(Debug)]
pub struct Draft {
    pub step: Step,
    /// Other drafts that it waits for.
    pub after: BTreeSet<usize>,
}

impl Draft {
    pub fn new(step: Step) -> Self {
        Self { step, after: BTreeSet::new() }
    }
}

/// Numbers the drafts. Of the drafts that could come next, the lowest number comes first, so the order is
/// deterministic.
pub fn order(drafts: Vec<Draft>) -> Vec<Step> {
    if drafts.is_empty() {
        return Vec::new();
    }
    let mut waits: Vec<usize> = drafts.iter().map(|draft| draft.after.len()).collect();
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); drafts.len()];
    for (number, draft) in drafts.iter().enumerate() {
        for before in &draft.after {
            followers[*before].push(number);
        }
    }
    let mut ready: BTreeSet<usize> = (0..drafts.len()).filter(|number| waits[*number] == 0).collect();
    let mut places: Vec<Option<usize>> = vec![None; drafts.len()];
    let mut sequence = Vec::with_capacity(drafts.len());
    while let Some(number) = ready.pop_first() {
        places[number] = Some(sequence.len());
        sequence.push(number);
        for follower in &followers[number] {
            waits[*follower] -= 1;
            if waits[*follower] == 0 {
                ready.insert(*follower);
            }
        }
    }
    // Steps in a circle would wait for each other for ever; circular references are refused when manifests are checked.
    let mut steps: Vec<Option<Draft>> = drafts.into_iter().map(Some).collect();
    let placed = sequence.iter().filter_map(|number| steps[*number].take());
    placed
        .enumerate()
        .map(|(place, Draft { mut step, after, .. })| {
            step.number = place;
            step.after = after.iter().filter_map(|before| places[*before]).collect();
            step.after.sort_unstable();
            step
        })
        .collect()
}
