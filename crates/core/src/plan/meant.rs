//! Who the segments hold that changes name. What is reviewed is a message and its readers: a segment that holds other people is
//! another change of whatever names it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use pushplan_model::digest::Digest;
use pushplan_model::kinds::{self, Resource, Segment, remote};

use super::{Action, Change, Plan};

/// The criteria of segments, and the segments that these name, by their keys.
#[derive(Debug, Default)]
pub struct Meant<'p>(HashMap<&'p str, (Digest, Vec<&'p str>)>);

/// The segments that a change leads to by their keys.
pub fn named(change: &Change) -> Vec<&str> {
    let desired = change.desired.as_ref().filter(|_| change.action != Action::Delete);
    desired.map(|spec| remote::named(kinds::api(&change.address).audiences(), spec)).unwrap_or_default()
}

impl<'p> Meant<'p> {
    /// What these segments mean once a plan is applied, and those that they name. What the plan does not know is left out.
    pub fn of(plan: &'p Plan, named: impl IntoIterator<Item = &'p str>) -> Self {
        let mut open: Vec<&str> = named.into_iter().collect();
        if open.is_empty() {
            return Self::default();
        }
        let is_segment = |change: &&Change| *change.address.kind == *Segment::KEY && change.desired.is_some();
        let segments: HashMap<&str, &Change> =
            plan.changes.iter().filter(is_segment).map(|change| (change.address.key.as_str(), change)).collect();
        let mut meant = HashMap::new();
        while let Some(key) = open.pop() {
            let Some(change) = segments.get(key).filter(|_| !meant.contains_key(key)) else { continue };
            let audiences = kinds::api(&change.address).audiences();
            let criteria = change.desired.as_deref().map(|spec| audiences.iter().map(|at| spec.pointer(at)).collect());
            let criteria: Vec<_> = criteria.unwrap_or_default();
            let others = self::named(change);
            open.extend(&others);
            meant.insert(key, (Digest::of_sorted(&criteria), others));
        }
        Self(meant)
    }

    /// All that is reached from these segments, each with its meaning.
    pub fn behind(&self, named: &[&'p str]) -> BTreeMap<&'p str, &Digest> {
        let (mut open, mut seen, mut behind) = (named.to_vec(), BTreeSet::new(), BTreeMap::new());
        while let Some(key) = open.pop() {
            if let Some((digest, others)) = self.0.get(key).filter(|_| seen.insert(key)) {
                behind.insert(key, digest);
                open.extend(others);
            }
        }
        behind
    }
}
