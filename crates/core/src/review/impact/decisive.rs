//! The changes that affect the recipients of a message.

use std::collections::BTreeSet;

use pushplan_model::address::Address;
use pushplan_model::audience::{self, Audience, Relation};
use pushplan_model::node::At;
use pushplan_model::nouns::audience::Selector;

use crate::plan::{Change, Reason};
use crate::review::members::Regrouping;
use crate::review::{Review, Side};

/// The number of resources that change tags and channels and are tested one by one for each message.
const TRIED: usize = 8;
/// The maximal depth of nested segments, and the maximal number of parts of the resulting audience.
const DEEPEST: usize = 60;
const LARGEST: usize = 1_000;

/// The changes without which a message would have other recipients.
#[derive(Debug)]
pub(super) struct Decisive<'r, 'p> {
    pub segments: Vec<&'p Change>,
    /// The keys of the segments of which the message uses an earlier version.
    pub outdated: Vec<&'r str>,
    pub regroupings: Vec<&'r Regrouping<'p>>,
}

impl<'p> Review<'p> {
    /// The changes without which the message of a change would have other recipients. If none of them is decisive by
    /// itself, and the audience has the same text, all of them are returned.
    pub(super) fn decisive<'r>(&'r self, change: &'r Change) -> Decisive<'r, 'p> {
        let segments = self.moved_segments(change);
        let is_moved = |key: &str| segments.iter().any(|segment| *segment.address.key == *key);
        // A segment that its new audience does not name is left by its own edit.
        let leaves = change.reasons.iter().any(|reason| matches!(reason, Reason::RefersToEarlier { .. }));
        let outdated = if leaves { Vec::new() } else { self.outdated_keys(change) };
        let outdated: Vec<&str> = outdated.into_iter().filter(|key| !is_moved(key)).collect();
        let regroupings = self.regroupings_of(change);
        let groups: BTreeSet<Address> = regroupings.iter().map(|one| one.change.address.resource()).collect();
        let is_written_alike = self.is_written_alike(change) && self.departed_from(change).is_empty();
        let all = Decisive { segments, outdated, regroupings };
        let number = all.segments.len() + all.outdated.len() + groups.len();
        if number == 0 || (is_written_alike && number == 1) {
            return all;
        }
        let mut found = Decisive {
            segments: all.segments.iter().copied().filter(|segment| self.decides(change, segment)).collect(),
            outdated: all.outdated.iter().copied().filter(|key| self.is_decided_by_outdated(change, key)).collect(),
            regroupings: Vec::new(),
        };
        let whole = if groups.is_empty() { None } else { self.opened_audience(change, None, None) };
        let decides = |address: &Address| {
            let without = whole.as_ref().and_then(|_| self.opened_audience(change, None, Some(address)));
            let both = whole.as_ref().zip(without.as_ref());
            both.is_none_or(|(whole, without)| audience::compare(without, whole) != Relation::Same)
        };
        let groups: BTreeSet<&Address> =
            groups.iter().filter(|address| groups.len() > TRIED || decides(address)).collect();
        let is_one = |one: &&Regrouping| groups.contains(&one.change.address.resource());
        found.regroupings = all.regroupings.iter().copied().filter(is_one).collect();
        let is_none = found.segments.is_empty() && found.outdated.is_empty() && found.regroupings.is_empty();
        if is_none && is_written_alike { all } else { found }
    }

    /// The segments that a change names, directly or through others, whose own criteria change.
    fn moved_segments(&self, change: &Change) -> Vec<&'p Change> {
        let named = self.named_segments(change);
        let is_moved = |key: &&String| self.criteria(Side::Before, key) != self.criteria(Side::After, key);
        let places = named.iter().filter(is_moved).filter_map(|key| {
            let sides = self.segments.get(key.as_str())?;
            sides.of(Side::After).or(sides.of(Side::Before)).copied()
        });
        places.map(|place| &self.plan.changes[place]).collect()
    }

    /// Whether a message would have other recipients if a segment did not change.
    fn decides(&self, change: &Change, segment: &Change) -> bool {
        let key = &*segment.address.key;
        if self.criteria(Side::Before, key).is_none() || self.criteria(Side::After, key).is_none() {
            return true;
        }
        let with = |old: Option<&str>| match self.regroupings.is_empty() {
            false => self.opened_audience(change, old, None),
            true => self.of_audience(change, Side::After, |selector| {
                Audience::of(selector, |reference| {
                    let (side, key) = self.meant_by(Side::After, reference)?;
                    self.segment(if old == Some(key) { Side::Before } else { side }, reference)
                })
            }),
        };
        let both = with(Some(key)).zip(with(None));
        both.is_none_or(|(old, new)| audience::compare(&old, &new) != Relation::Same)
    }

    /// The audience of a change after the plan, with the previous version of a segment, and without the tags and
    /// channels that a resource adds or removes; `None` if it is too complex.
    fn opened_audience(&self, change: &Change, old: Option<&str>, without: Option<&Address>) -> Option<Audience> {
        let opened =
            self.of_audience(change, Side::After, |selector| self.spelled_out(selector, old, without, DEEPEST, &mut 0));
        Some(Audience::of(&opened??, |_| None))
    }

    fn spelled_out(
        &self,
        selector: &Selector,
        old: Option<&str>,
        without: Option<&Address>,
        depth: usize,
        size: &mut usize,
    ) -> Option<Selector> {
        *size += 1;
        let depth = depth.checked_sub(1).filter(|_| *size <= LARGEST)?;
        let mut member = |member: &At<Selector>| {
            Some(At::new(self.spelled_out(&member.value, old, without, depth, size)?, member.span))
        };
        Some(match selector {
            Selector::And(members) => Selector::And(members.iter().map(member).collect::<Option<_>>()?),
            Selector::Or(members) => Selector::Or(members.iter().map(member).collect::<Option<_>>()?),
            Selector::Not(inner) => Selector::Not(Box::new(member(inner)?)),
            Selector::Segment(reference) => {
                let meant = self.meant_by(Side::After, reference);
                let side = |side, key| if old == Some(key) { Side::Before } else { side };
                match meant.and_then(|(meant, key)| self.criteria(side(meant, key), key)) {
                    Some(criteria) => self.spelled_out(criteria, old, without, depth, size)?,
                    None => selector.clone(),
                }
            }
            single => self.regroupings.rewritten_without(single, without).unwrap_or_else(|| single.clone()),
        })
    }
}
