//! What people should know of a plan, worked out from its data alone: who is meant and how that changes, and what a spec
//! says as the resource that it is. Every output form shows the same facts.

mod audience;
pub mod fields;
mod messages;
pub mod page;
pub mod prose;
mod times;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::kinds::{self, Resource, Segment, Spec, of_kind};
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
        Self { plan, segments }
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
    kinds::api(&change.address).read(spec?)
}
