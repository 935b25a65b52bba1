//! What becomes of the items of a list where another takes its place.

use serde_json::Value;
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// One step from the old items to the new ones, in the order of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Keep,
    /// The old item becomes the new one.
    Change {
        old: usize,
        new: usize,
    },
    Remove {
        old: usize,
    },
    /// A new item behind the old one of that number, or before all.
    Add {
        after: Option<usize>,
        new: usize,
    },
}

impl Step {
    /// The number of the item that goes.
    pub fn removed(&self) -> Option<usize> {
        match self {
            Self::Remove { old } => Some(*old),
            _ => None,
        }
    }
}

/// Whether two lists have the same items, in whatever order.
pub fn is_same_set(one: &[Value], other: &[Value]) -> bool {
    one.len() == other.len()
        && one.iter().all(|item| other.contains(item))
        && other.iter().all(|item| one.contains(item))
}

/// The steps from one list to another whose order counts: as few as there can be.
pub fn align(old: &[Value], new: &[Value]) -> Vec<Step> {
    let steps = moved(old, new);
    let differ = (0..old.len()).filter(|n| old.get(*n) != new.get(*n));
    let in_place: Vec<Step> = differ.map(|n| Step::Change { old: n, new: n }).collect();
    let few = steps.iter().filter(|step| **step != Step::Keep).count();
    if old.len() == new.len() && in_place.len() <= few { in_place } else { steps }
}

fn moved(old: &[Value], new: &[Value]) -> Vec<Step> {
    let texts = |values: &[Value]| -> Vec<String> { values.iter().map(Value::to_string).collect() };
    let mut steps = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &texts(old), &texts(new)) {
        match op {
            DiffOp::Equal { .. } => steps.push(Step::Keep),
            DiffOp::Delete { old_index, old_len, .. } => gap(old_index, old_len, 0, 0, &mut steps),
            DiffOp::Insert { old_index, new_index, new_len } => gap(old_index, 0, new_index, new_len, &mut steps),
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                gap(old_index, old_len, new_index, new_len, &mut steps);
            }
        }
    }
    steps
}

fn gap(old: usize, olds: usize, new: usize, news: usize, steps: &mut Vec<Step>) {
    let both = olds.min(news);
    steps.extend((0..both).map(|n| Step::Change { old: old + n, new: new + n }));
    steps.extend((both..olds).map(|n| Step::Remove { old: old + n }));
    let after = (old + olds).checked_sub(1);
    steps.extend((both..news).map(|n| Step::Add { after, new: new + n }));
}

/// The same where the order says nothing: what stays keeps its place, what is new takes the place of what goes, and first of
/// what it shares a value with.
pub fn align_set(old: &[Value], new: &[Value]) -> Vec<Step> {
    let gone = (0..old.len()).filter(|n| !new.contains(&old[*n]) || old[..*n].contains(&old[*n]));
    let gone: Vec<usize> = gone.collect();
    let mut come: Vec<usize> = (0..new.len()).filter(|n| !old.contains(&new[*n])).collect();
    for (place, was) in gone.iter().enumerate().take(come.len()) {
        if let Some(like) = (place..come.len()).max_by_key(|n| (shared(&old[*was], &new[come[*n]]), usize::MAX - n)) {
            come.swap(place, like);
        }
    }
    let both = gone.len().min(come.len());
    let changed = gone.iter().zip(&come).map(|(old, new)| Step::Change { old: *old, new: *new });
    let removed = gone[both..].iter().map(|old| Step::Remove { old: *old });
    let added = come[both..].iter().map(|new| Step::Add { after: old.len().checked_sub(1), new: *new });
    changed.chain(removed).chain(added).collect()
}

/// How many fields two maps agree in.
fn shared(old: &Value, new: &Value) -> usize {
    let (Value::Object(old), Value::Object(new)) = (old, new) else { return 0 };
    old.iter().filter(|(key, value)| new.get(*key) == Some(value)).count()
}
