//! All that a comparison is made of.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use pushplan_ledger::{Ledger, Owned};
use pushplan_model::address::Address;
use pushplan_model::kinds::{Api, Runs};
use pushplan_model::nouns::level::Level;
use serde_json::Value;

use super::Unit;
use crate::live::Live;
use crate::plan::Reason;

/// Everything that the comparison may know.
#[derive(Debug)]
pub struct Situation<'s> {
    pub units: &'s BTreeMap<Address, Unit>,
    pub ledger: &'s Ledger,
    pub live: &'s Live,
    pub level: Level,
    pub now: Timestamp,
    /// How near the time of a new push may be.
    pub min_lead: SignedDuration,
    /// Whether what is not declared is to be deleted. A project that could not be read, or declares nothing, deletes nothing.
    pub deletes: bool,
    /// Resources that have another key by now, with the address that they had; the ledger here has them under the new one.
    pub moves: &'s BTreeMap<Address, Address>,
    /// Addresses of an apply that is running: they are left to it.
    pub under_way: &'s BTreeSet<Address>,
    /// What a person says has been done by hand.
    pub done: &'s BTreeSet<Address>,
    /// Whether what was lost on its way is looked for. Only the simulation leaves that out.
    pub adopt: bool,
    /// Whether only what is in the ledger is ours, whatever its name. Only the simulation leaves that out.
    pub own_only: bool,
    /// Whether a new message waits for a similar one that is no longer declared. Only the simulation leaves that out.
    pub similar: bool,
    /// Whether what may have been created in a gap of the ledger waits for a person. Only the simulation leaves that out.
    pub heed_gap: bool,
}

impl Situation<'_> {
    /// Whether something has messaged people for the last time.
    pub fn is_over(&self, api: &dyn Api, spec: &Value) -> bool {
        api.runs(spec).is_some_and(|runs| runs.is_over(self.now, self.min_lead))
    }

    /// Returns whether a managed resource has messaged people for the last time. The ledger knows this for a resource that is
    /// sent as soon as it exists, because its spec has no time.
    pub fn has_ended(&self, api: &dyn Api, owned: &Owned, spec: &Value) -> bool {
        match api.runs(spec) {
            Some(Runs { last: None, .. }) => owned.past,
            _ => self.is_over(api, spec),
        }
    }

    /// Whether the time of something that would be made now has passed or is too near.
    pub fn too_late(&self, api: &dyn Api, spec: &Value) -> Option<Reason> {
        let first = api.runs(spec)?.first?;
        let from = self.now.checked_add(self.min_lead).unwrap_or(Timestamp::MAX);
        (first < from).then_some(Reason::TooLate { at: first })
    }
}
