//! The conditions of each segment, including those of nested segments. Computed once, because many pushes can name a
//! segment with a long chain of nested ones.

use std::collections::{HashMap, HashSet};

use pushplan_model::kinds::Segment;
use pushplan_model::node::At;
use pushplan_model::nouns::audience::{Selector, Tag};
use pushplan_model::nouns::vocabulary::{Values, group, iana};
use pushplan_model::nouns::zone;

use super::segment;
use crate::manifest::{Conditions, Desired};

/// The number of conditions that are stored for a segment. There are fewer groups of the service and listed time zones
/// than this.
const MOST: usize = 256;

/// The conditions of every segment about devices or places, outermost first, one for each property, with whether it is
/// negated. For segments in a circle, which is reported elsewhere, some can be missing.
pub(crate) fn of_segments(desired: &Desired) -> Conditions {
    let mut done: HashMap<&str, Vec<(&At<Selector>, bool)>> = HashMap::new();
    let (mut begun, mut order) = (HashSet::new(), Vec::new());
    for (address, _, first) in desired.all::<Segment>() {
        // A chain of segments can be longer than the stack allows.
        let mut open = vec![(address.key.as_str(), first)];
        while let Some((key, criteria)) = open.last().copied() {
            if done.contains_key(key) {
                open.pop();
            } else if begun.insert(key) {
                let unknown = named(criteria).into_iter().filter(|key| !begun.contains(key));
                open.extend(unknown.filter_map(|key| Some((key, desired.get::<Segment>(key)?))));
            } else {
                let all = conditions(&criteria.criteria, &done);
                done.insert(key, all);
                order.push((key, criteria));
                open.pop();
            }
        }
    }
    // Segments that lead into a circle were visited before its first segment was complete.
    for (key, criteria) in order {
        let all = conditions(&criteria.criteria, &done);
        done.insert(key, all);
    }
    let owned = |all: Vec<(&At<Selector>, bool)>| all.into_iter().map(|(it, negated)| (it.clone(), negated)).collect();
    done.into_iter().map(|(key, all)| (key.to_owned(), owned(all))).collect()
}

/// The keys of the segments that a segment names.
pub fn named(segment: &Segment) -> Vec<&str> {
    let mut keys = Vec::new();
    walk(&segment.criteria, &mut |selector, _| keys.extend(super::segment(selector).map(|(key, _)| key)));
    keys
}

/// The conditions of one segment, if those of its nested segments are known.
fn conditions<'d>(
    criteria: &'d At<Selector>,
    known: &HashMap<&str, Vec<(&'d At<Selector>, bool)>>,
) -> Vec<(&'d At<Selector>, bool)> {
    let (mut all, mut sorts) = (Vec::new(), HashSet::new());
    let mut keep = |selector: &'d At<Selector>, negated: bool| {
        if all.len() < MOST
            && let Some((family, value)) = sort(selector)
            && sorts.insert((family, value, negated))
        {
            all.push((selector, negated));
        }
    };
    let mut followed = HashSet::new();
    walk(criteria, &mut |selector, negated| {
        keep(selector, negated);
        if let Some((key, _)) = segment(selector)
            && followed.insert((key, negated))
        {
            for (selector, inside) in known.get(key).into_iter().flatten() {
                keep(selector, negated != *inside);
            }
        }
    });
    all
}

/// The property of a condition, if it is about devices or places.
fn sort(selector: &Selector) -> Option<(&str, &str)> {
    match selector {
        Selector::Tag(Tag { tag, group: Some(id) }) => match group(id)? {
            group if group.values == Values::TimeZone => {
                zone::get(iana(tag)).is_some().then_some((group.id, tag.as_str()))
            }
            group => group.platform.map(|_| (group.id, "")),
        },
        Selector::Channel(key, _) => Some((key.key(), "")),
        _ => None,
    }
}

/// Visits every selector of one segment without nested segments, outermost first.
fn walk<'d>(criteria: &'d At<Selector>, visit: &mut dyn FnMut(&'d At<Selector>, bool)) {
    let mut open = vec![(criteria, false)];
    while let Some((selector, negated)) = open.pop() {
        visit(selector, negated);
        let within = negated != matches!(selector.value, Selector::Not(_));
        open.extend(selector.members().iter().rev().map(|member| (member, within)));
    }
}
