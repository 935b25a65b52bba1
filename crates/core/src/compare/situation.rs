//! The inputs of a comparison.

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

/// All inputs of a comparison.
#[derive(Debug)]
pub struct Situation<'s> {
    pub units: &'s BTreeMap<Address, Unit>,
    pub ledger: &'s Ledger,
    pub live: &'s Live,
    pub level: Level,
    pub now: Timestamp,
    /// The minimal time until a new push is sent.
    pub min_lead: SignedDuration,
    /// Whether undeclared resources are deleted. A project that could not be read, or declares nothing, deletes
    /// nothing.
    pub deletes: bool,
    /// Resources with a new key: the new address with the old one. The ledger here has them under the new one.
    pub moves: &'s BTreeMap<Address, Address>,
    /// Addresses of an apply that is running: they are skipped.
    pub under_way: &'s BTreeSet<Address>,
    /// Addresses whose manual step is done, as reported by the user.
    pub done: &'s BTreeSet<Address>,
    /// Whether resources are searched whose answer was lost. Only the simulation turns this off.
    pub adopt: bool,
    /// Whether only resources in the ledger are managed, whatever their names. Only the simulation turns this off.
    pub own_only: bool,
    /// Whether a new message waits for a similar one that is no longer declared. Only the simulation turns this off.
    pub similar: bool,
    /// Whether a resource that may have been created in a gap of the ledger waits for a person. Only the simulation
    /// turns this off.
    pub heed_gap: bool,
}

impl Situation<'_> {
    /// Whether a resource has messaged people for the last time.
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

    /// Whether the time of a resource that would be created now has passed or is too near.
    pub fn too_late(&self, api: &dyn Api, spec: &Value) -> Option<Reason> {
        let first = api.runs(spec)?.first?;
        let from = self.now.checked_add(self.min_lead).unwrap_or(Timestamp::MAX);
        (first < from).then_some(Reason::TooLate { at: first })
    }
}
