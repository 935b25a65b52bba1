//! The ledger as if some manifests had been applied.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use pushplan_ledger::{Ledger, Owned};
use pushplan_model::address::Address;
use pushplan_model::kinds::remote::segments;
use pushplan_model::kinds::{self, Resource, Segment};

use super::Unit;
use crate::plan::{Change, Reason, Step};

/// The declared resources as if applied in time, and their placeholder ids.
#[derive(Debug)]
pub struct Applied {
    pub ledger: Ledger,
    /// Placeholders for ids that only a service assigns. Output does not contain them.
    stand_ins: BTreeSet<String>,
}

/// The text shown instead of an id that only a service knows.
const UNKNOWN: &str = "(id)";

impl Applied {
    pub fn new(units: &BTreeMap<Address, Unit>, now: Timestamp) -> Self {
        let mut stand_ins = BTreeSet::new();
        let mut id = |address: &Address, unit: &Unit| {
            kinds::api(address).own_id(&unit.spec).unwrap_or_else(|| {
                // All have the same length, so none is a prefix of another.
                let id = format!("stand-in-{:08}", stand_ins.len());
                stand_ins.insert(id.clone());
                id
            })
        };
        let ids: BTreeMap<&Address, String> =
            units.iter().map(|(address, unit)| (address, id(address, unit))).collect();
        let owned = units.iter().map(|(address, unit)| {
            let api = kinds::api(address);
            let named = segments(api.audiences(), &unit.spec).into_iter();
            let refs =
                named.filter_map(|key| Some((key.to_owned(), ids.get(&Address::new(Segment::KEY, key))?.clone())));
            let owned = Owned {
                id: ids[address].clone(),
                spec: unit.spec.clone(),
                refs: refs.collect(),
                stamp: None,
                protect: unit.protect.unwrap_or(false),
                // A push whose time has passed was marked as past then.
                past: api.runs(&unit.spec).is_some_and(|runs| runs.has_begun(now)),
                applied: now,
                push_ids: Vec::new(),
                zone: unit.zone(address),
            };
            (address.clone(), owned)
        });
        Self { ledger: Ledger { owned: owned.collect(), ..Ledger::default() }, stand_ins }
    }

    /// Removes every placeholder id from a plan.
    pub fn forget_ids(&self, changes: &mut [Change], steps: &mut [Step]) {
        let is_one = |id: &String| self.stand_ins.contains(id);
        for change in changes {
            change.id.take_if(|id| is_one(id));
            for reason in &mut change.reasons {
                match reason {
                    Reason::InDashboard { old } => drop(old.take_if(|id| is_one(id))),
                    Reason::Retired { id, .. } | Reason::StillUsed { id, .. } if is_one(id) => UNKNOWN.clone_into(id),
                    _ => {}
                }
            }
        }
        for step in steps {
            if let (Some(id), Some(request)) = (step.id.take_if(|id| is_one(id)), &mut step.request) {
                request.path = request.path.replace(&id, UNKNOWN);
            }
            step.refs.retain(|_, id| !is_one(id));
            step.seen.retain(|id| !is_one(id));
        }
    }
}
