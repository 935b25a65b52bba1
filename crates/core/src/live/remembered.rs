//! The live state according to a ledger: everything as it was applied, and nothing else.

use pushplan_ledger::{Ledger, Owned, Retired};
use pushplan_model::address::Address;
use pushplan_model::kinds::{self, Found, Read, remote};
use pushplan_model::node::Shared;
use pushplan_model::nouns::level::Level;
use serde_json::Value;

use super::{Live, LiveState, by_id};

impl Live {
    /// Returns the live state according to a ledger, for plans without the service. Whether other objects exist, or a
    /// list is complete, is unknown.
    pub fn remembered(ledger: &Ledger, level: Level) -> Self {
        let mut live = Self::default();
        for (address, owned) in &ledger.owned {
            let Owned { id, spec, refs, stamp, push_ids, .. } = owned;
            let found = Found {
                stamp: stamp.clone(),
                push_ids: push_ids.clone(),
                ..found(address, id, spec, |key| refs.get(key))
            };
            live.add(address, found, level);
        }
        for Retired { address, id, spec, refs } in &ledger.retired {
            live.list(address, found(address, id, spec, |key| refs.get(key)), level);
        }
        live
    }

    fn add(&mut self, address: &Address, found: Found, level: Level) {
        // The service would not show it, so the ledger's state counts.
        if kinds::api(address).lifecycle(level).read != Read::LedgerOnly {
            self.units.insert(address.clone(), LiveState::There(found.clone()));
            self.list(address, found, level);
        }
    }

    fn list(&mut self, address: &Address, found: Found, level: Level) {
        let kind = kinds::of(address);
        if !kind.api.list(level).is_empty() {
            self.listed.entry(kind.key).or_default().insert(found.id.clone(), found);
        }
    }
}

/// A resource as a list would show it: with ids of segments.
fn found<'r>(address: &Address, id: &str, spec: &Shared, ids: impl Fn(&str) -> Option<&'r String>) -> Found {
    let api = kinds::api(address);
    let spec = remote::pointed(api.audiences(), spec, &mut |reference| {
        let id = reference.as_str().and_then(&ids);
        id.map_or_else(|| by_id(reference), |id| Value::from(id.as_str()))
    });
    Found { id: id.to_owned(), name: api.name(&spec), spec: Some(spec), ..Found::default() }
}
