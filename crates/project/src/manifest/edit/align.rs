//! Alignment of two lists: the steps that turn one into the other.

use std::ops::Range;

use serde_json::{Map, Value};
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// One step from the old items to the new ones, in the order of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlignStep {
    Keep,
    /// The old item changes to the new one.
    Change {
        old: usize,
        new: usize,
    },
    Remove {
        old: usize,
    },
    /// The old item moves with its lines, after the item with that number, or to the beginning.
    Move {
        old: usize,
        new: usize,
        after: Option<usize>,
    },
    /// A new item is added after the old one with that number, or at the beginning.
    Add {
        after: Option<usize>,
        new: usize,
    },
}

impl AlignStep {
    /// The number of the item that leaves its position.
    pub fn removed(&self) -> Option<usize> {
        match self {
            Self::Remove { old } | Self::Move { old, .. } => Some(*old),
            _ => None,
        }
    }
}

/// Whether two lists have the same items, in any order.
pub(crate) fn is_same_set(one: &[Value], other: &[Value]) -> bool {
    one.len() == other.len()
        && one.iter().all(|item| other.contains(item))
        && other.iter().all(|item| one.contains(item))
}

/// The name of an item of a list, if it has one.
fn identity(item: &Value) -> Option<&str> {
    ["key", "name", "channel_id"].iter().find_map(|field| item.get(field)?.as_str())
}

/// The steps from one list to another whose order matters. Equal items keep their lines, and items with the same name
/// are changed in place. `is_bare` returns whether an old item has no comment of its own, so that another item may
/// replace it.
pub fn align(old: &[Value], new: &[Value], is_bare: &dyn Fn(usize) -> bool) -> Vec<AlignStep> {
    let tokens = |values: &[Value]| -> Vec<String> {
        let token = |value: &Value| identity(value).map_or_else(|| value.to_string(), |name| format!("={name}"));
        values.iter().map(token).collect()
    };
    let mut steps = Vec::new();
    let mut between = |olds: Range<usize>, news: Range<usize>| gap(old, new, olds, news, is_bare, &mut steps);
    // The end of the last pair.
    let (mut done_old, mut done_new) = (0, 0);
    for (was, is) in alike(&tokens(old), &tokens(new)) {
        between(done_old..was, done_new..is);
        between(was..was + 1, is..is + 1);
        (done_old, done_new) = (was + 1, is + 1);
    }
    between(done_old..old.len(), done_new..new.len());
    moved(old, new, steps)
}

/// The pairs of equal items. Those at both ends come first, so that of two equal items the right one is removed.
fn alike(old: &[String], new: &[String]) -> Vec<(usize, usize)> {
    let same = |(one, other): &(&String, &String)| one == other;
    let ahead = old.iter().zip(new).take_while(same).count();
    let behind = old[ahead..].iter().rev().zip(new[ahead..].iter().rev()).take_while(same).count();
    let (old_end, new_end) = (old.len() - behind, new.len() - behind);
    let mut pairs: Vec<(usize, usize)> = (0..ahead).map(|n| (n, n)).collect();
    for op in capture_diff_slices(Algorithm::Myers, &old[ahead..old_end], &new[ahead..new_end]) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            pairs.extend((0..len).map(|n| (ahead + old_index + n, ahead + new_index + n)));
        }
    }
    pairs.extend((0..behind).map(|n| (old_end + n, new_end + n)));
    pairs
}

/// The steps between two ranges without common items, or for one pair.
fn gap(
    old: &[Value],
    new: &[Value],
    olds: Range<usize>,
    news: Range<usize>,
    is_bare: &dyn Fn(usize) -> bool,
    steps: &mut Vec<AlignStep>,
) {
    let (is_single, same_count) = (olds.len() == 1 && news.len() == 1, olds.len() == news.len());
    let (from_old, from_new) = (olds.start, news.start);
    let takes_place = |was: usize, is: usize| match is_single {
        true => can_become(&old[was], &new[is], is_bare(was)),
        false => {
            let unnamed = identity(&old[was]).is_none() && identity(&new[is]).is_none();
            let in_place = same_count && was - from_old == is - from_new && is_alike(&old[was], &new[is]);
            unnamed && (in_place || (is_bare(was) && (same_count || shared(&old[was], &new[is]) > 0)))
        }
    };
    let end = olds.end;
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    let mut next = news.start;
    for was in olds.clone() {
        match (next..news.end).find(|is| takes_place(was, *is)) {
            Some(is) => {
                let same = old[was] == new[is];
                steps.push(if same { AlignStep::Keep } else { AlignStep::Change { old: was, new: is } });
                pairs.push((was, is));
                next = is + 1;
            }
            None => steps.push(AlignStep::Remove { old: was }),
        }
    }
    for is in news.filter(|is| pairs.iter().all(|(_, paired)| paired != is)) {
        let behind = pairs.iter().find(|(_, paired)| *paired > is).map_or(end, |(was, _)| *was);
        steps.push(AlignStep::Add { after: behind.checked_sub(1), new: is });
    }
}

/// Whether the only removed item can be changed to the only added one.
fn can_become(old: &Value, new: &Value, is_bare: bool) -> bool {
    match (old, new) {
        (Value::Object(was), Value::Object(is)) => {
            let differ = was.iter().filter(|(key, value)| is.get(*key) != Some(value)).count();
            identity(old) == identity(new) || (differ <= 1 && was.len() == is.len())
        }
        _ => is_bare || is_alike(old, new),
    }
}

/// Whether two items have the same shape, so that a replacement is a change of values.
pub fn is_alike(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Object(was), Value::Object(is)) => {
            let is_compound = |map: &Map<String, Value>| map.keys().all(|key| matches!(key.as_str(), "AND" | "OR"));
            was.keys().eq(is.keys()) || (is_compound(was) && is_compound(is))
        }
        (Value::Array(_), Value::Array(_)) => true,
        _ => !old.is_object() && !old.is_array() && !new.is_object() && !new.is_array(),
    }
}

/// Turns the removal and the addition of equal items into a move, so that an item keeps its comments.
fn moved(old: &[Value], new: &[Value], mut steps: Vec<AlignStep>) -> Vec<AlignStep> {
    for at in 0..steps.len() {
        let AlignStep::Add { after, new: is } = steps[at] else { continue };
        let equal = |step: &AlignStep| matches!(step, AlignStep::Remove { old: was } if old[*was] == new[is]);
        if let Some(from) = steps.iter().position(equal) {
            let Some(was) = steps[from].removed() else { continue };
            steps[at] = AlignStep::Move { old: was, new: is, after };
            steps[from] = AlignStep::Keep;
        }
    }
    steps
}

/// Returns the steps from one list to another whose order does not matter. A kept item stays in its position. A new
/// item is added at the end or replaces a removed one.
pub(crate) fn align_set(old: &[Value], new: &[Value], is_bare: &dyn Fn(usize) -> bool) -> Vec<AlignStep> {
    // Duplicate items are kept.
    let mut gone: Vec<usize> = (0..old.len()).filter(|n| !new.contains(&old[*n])).collect();
    let mut come: Vec<usize> = (0..new.len()).filter(|n| !old.contains(&new[*n])).collect();
    let is_single = gone.len() == 1 && come.len() == 1;
    let mut steps = Vec::new();
    gone.retain(|was| {
        let named = |is: &&usize| identity(&old[*was]).is_some() && identity(&old[*was]) == identity(&new[**is]);
        let fits = |is: &&usize| match is_single {
            true => can_become(&old[*was], &new[**is], true) && (old[*was].is_object() || is_bare(*was)),
            false => named(is) || (identity(&old[*was]).is_none() && is_bare(*was)),
        };
        let like = |is: &&usize| (named(is), shared(&old[*was], &new[**is]), usize::MAX - **is);
        let Some(is) = come.iter().filter(fits).max_by_key(like).copied() else { return true };
        come.retain(|other| *other != is);
        steps.push(AlignStep::Change { old: *was, new: is });
        false
    });
    steps.extend(gone.into_iter().map(|old| AlignStep::Remove { old }));
    steps.extend(come.into_iter().map(|new| AlignStep::Add { after: old.len().checked_sub(1), new }));
    steps
}

/// The number of fields in which two maps agree, at least partly.
fn shared(old: &Value, new: &Value) -> usize {
    let (Value::Object(old), Value::Object(new)) = (old, new) else { return 0 };
    let agree = |one: &Value, other: &Value| match (one, other) {
        (Value::Array(ones), Value::Array(others)) => ones.iter().any(|one| others.contains(one)),
        (Value::Object(_), Value::Object(_)) => one == other || shared(one, other) > 0,
        _ => one == other,
    };
    old.iter().filter(|(key, value)| new.get(*key).is_some_and(|other| agree(value, other))).count()
}
