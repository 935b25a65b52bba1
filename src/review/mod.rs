//! What people should know of a plan, worked out from its data alone: who is meant and how that changes, and what a spec
//! says as the resource that it is. Every output form shows the same facts.

mod audience;
pub mod fields;
mod messages;
pub mod page;
pub mod prose;
mod times;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::kinds::{self, Resource, Segment, Spec, of_kind, remote};
use crate::model::audience::{SegmentRef, Selector};
use crate::plan::{Action, Change, Plan};

pub use audience::{Mark, Marked, Who};

/// What the service has, or what it will have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    Before,
    After,
}

/// A plan with its specs as resources.
#[derive(Debug)]
pub struct Review<'p> {
    pub plan: &'p Plan,
    /// The criteria of all segments, by key, before and after.
    segments: BTreeMap<Side, BTreeMap<&'p str, Box<dyn Spec>>>,
    /// By the key of a segment: the changes whose audiences name it, before or after.
    users: BTreeMap<&'p str, Vec<&'p Change>>,
}

impl<'p> Review<'p> {
    pub fn of(plan: &'p Plan) -> Self {
        let mut segments: BTreeMap<Side, BTreeMap<&str, Box<dyn Spec>>> = BTreeMap::new();
        let is_segment = |change: &&Change| *change.address.kind == *Segment::KEY;
        for change in plan.changes.iter().filter(is_segment) {
            for side in [Side::Before, Side::After] {
                if let Some(spec) = resource(change, side) {
                    segments.entry(side).or_default().insert(&change.address.key, spec);
                }
            }
        }
        let mut users: BTreeMap<&str, Vec<&Change>> = BTreeMap::new();
        for change in &plan.changes {
            let audiences = kinds::api(&change.address).audiences();
            let specs = before(change).into_iter().chain(change.desired.as_ref());
            let named: BTreeSet<&str> = specs.flat_map(|spec| remote::segments(audiences, spec)).collect();
            named.into_iter().for_each(|key| users.entry(key).or_default().push(change));
        }
        Self { plan, segments, users }
    }

    /// Those whose audiences name a segment, before or after.
    pub fn users(&self, segment: &str) -> &[&'p Change] {
        self.users.get(segment).map(Vec::as_slice).unwrap_or_default()
    }

    /// The criteria of a segment that the plan knows.
    pub fn segment(&self, side: Side, reference: &SegmentRef) -> Option<&Selector> {
        let SegmentRef::Key(key) = reference else { return None };
        let spec = self.segments.get(&side)?.get(key.as_str())?;
        of_kind::<Segment>(&**spec).map(|segment| &segment.criteria.value)
    }
}

/// What a change starts from: what the service has, or what is remembered where it does not tell.
pub fn before(change: &Change) -> Option<&Value> {
    change.live.as_ref().or(change.ledger.as_ref())
}

/// What a change leads to.
pub fn after(change: &Change) -> Option<&Value> {
    change.desired.as_ref().filter(|_| change.action != Action::Delete)
}

/// A side of a change as the resource that it is; `None` where there is nothing, or but a part of a resource.
pub fn resource(change: &Change, side: Side) -> Option<Box<dyn Spec>> {
    let spec = match side {
        Side::Before => before(change),
        Side::After => after(change),
    };
    // A part is no resource of its kind, and to find that out by reading it takes long.
    if change.address.part().is_some() {
        return None;
    }
    kinds::api(&change.address).read(spec?)
}
