//! Earlier versions of segments. When the API replaces a segment, resources that cannot be changed still refer to the
//! old one.

use std::collections::{BTreeMap, HashMap};

use pushplan_ledger::Retired;
use pushplan_model::audience::{self, Audience, Relation};
use pushplan_model::kinds::{self, Parts, Role, Segment, Spec, of_kind};
use pushplan_model::node::At;
use pushplan_model::nouns::audience::{SegmentRef, Selector};
use pushplan_model::source::Span;

use super::{Review, Side};
use crate::plan::{Change, Plan, Reason};

/// The maximal number of names in one audience that are replaced by criteria. With several names on each level, the
/// number grows exponentially.
const MOST: usize = 1_000;

/// An earlier version of a segment that is no change of the plan.
#[derive(Debug)]
pub(super) struct EarlierVersion<'p> {
    segment: Box<dyn Spec>,
    /// The ids of the segments that it names, by key.
    refs: &'p BTreeMap<String, String>,
}

impl<'p> EarlierVersion<'p> {
    pub fn all(plan: &'p Plan) -> HashMap<&'p str, Self> {
        let one = |old: &'p Retired| {
            let segment = kinds::api(&old.address).read(&old.spec)?;
            Some((old.id.as_str(), Self { segment, refs: &old.refs }))
        };
        plan.told.earlier.iter().filter_map(one).collect()
    }
}

impl<'p> Review<'p> {
    /// The keys of the segments of which a change uses an earlier version that exists, until the plan changes that.
    pub(super) fn outdated_keys<'c>(&self, change: &'c Change) -> Vec<&'c str> {
        let ids = change.outdated().into_iter().flatten();
        ids.filter(|(_, id)| self.outdated.contains_key(id.as_str())).map(|(key, _)| key.as_str()).collect()
    }

    /// The ids of the earlier versions of segments to which an excluded change refers, by key.
    pub(super) fn kept_refs(&self, change: &Change) -> Option<&'p BTreeMap<String, String>> {
        if self.earlier.is_empty() {
            return None;
        }
        self.plan.told.of.get(&change.address).map(|of| &of.earlier).filter(|earlier| !earlier.is_empty())
    }

    pub(super) fn names_outdated(&self, change: &Change) -> bool {
        self.kept_refs(change).is_some() || (!self.outdated.is_empty() && !self.outdated_keys(change).is_empty())
    }

    /// The audience of a change with the criteria of earlier versions; `None` if it uses none of them on that side.
    pub(super) fn with_outdated(&self, change: &Change, side: Side, selector: &Selector) -> Option<Selector> {
        let is_one = side == Side::Before && self.names_outdated(change);
        let refs = self.kept_refs(change).or_else(|| change.outdated().filter(|_| is_one))?;
        Some(self.inlined(selector, refs, &mut { MOST }))
    }

    /// Whether a message is affected by its use of an earlier version of a segment.
    pub(super) fn is_decided_by_outdated(&self, change: &Change, key: &str) -> bool {
        let Some(refs) = change.outdated() else { return true };
        let own_key = At::new(change.address.key.clone(), Span::NONE);
        let is_other = self.of_resource(change, Side::Before, |spec: &dyn Spec| {
            let mut parts = Parts::new(&own_key);
            spec.parts(&mut parts);
            let own = parts.audiences.iter().find(|audience| audience.role != Role::Criteria)?;
            let rest = refs.iter().filter(|(name, _)| **name != *key);
            let rest: BTreeMap<String, String> = rest.map(|(name, id)| (name.clone(), id.clone())).collect();
            let [all, rest] = [refs, &rest].map(|refs| {
                let inlined = self.inlined(&own.selector.value, refs, &mut { MOST });
                Audience::of(&inlined, |reference| self.segment(Side::Before, reference))
            });
            Some(audience::compare(&all, &rest) != Relation::Same)
        });
        is_other.flatten().unwrap_or(true)
    }

    fn inlined(&self, selector: &Selector, refs: &BTreeMap<String, String>, left: &mut usize) -> Selector {
        let mut member = |member: &At<Selector>| At::new(self.inlined(&member.value, refs, left), member.span);
        match selector {
            Selector::And(members) => Selector::And(members.iter().map(member).collect()),
            Selector::Or(members) => Selector::Or(members.iter().map(member).collect()),
            Selector::Not(inner) => Selector::Not(Box::new(member(inner))),
            Selector::Segment(reference) => {
                let SegmentRef::Key(key) = &reference.value else { return selector.clone() };
                match refs.get(key).and_then(|id| self.earlier_version(id)).filter(|_| *left > 0) {
                    Some((criteria, refs)) => {
                        *left -= 1;
                        self.inlined(criteria, refs, left)
                    }
                    None => selector.clone(),
                }
            }
            single => single.clone(),
        }
    }

    /// The criteria of an earlier version, and the ids of the segments in these.
    fn earlier_version(&self, id: &str) -> Option<(&Selector, &BTreeMap<String, String>)> {
        if let Some(EarlierVersion { segment, refs }) = self.earlier.get(id) {
            return Some((&of_kind::<Segment>(&**segment)?.criteria.value, refs));
        }
        let place = *self.outdated.get(id)?;
        let change = &self.plan.changes[place];
        let refs = change.reasons.iter().find_map(|reason| match reason {
            Reason::Retired { refs, .. } => Some(refs),
            _ => None,
        })?;
        let segment = of_kind::<Segment>(self.known.0[place].of(Side::Before).read(change, Side::Before)?)?;
        Some((&segment.criteria.value, refs))
    }
}
