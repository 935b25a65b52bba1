//! References to outdated ids of segments.

use std::collections::{BTreeMap, BTreeSet};

use pushplan_ledger::{Owned, Retired};
use pushplan_model::address::Address;
use pushplan_model::kinds::Found;
use pushplan_model::kinds::remote::segments;
use serde_json::Value;

use super::{Comparison, same, segment_address};
use crate::plan::Reason;

impl Comparison<'_, '_> {
    /// The segments that it names under an outdated id.
    pub(super) fn stale(&self, desired: &Value, live: &Value, owned: &Owned, found: Option<&Found>) -> Vec<Address> {
        let ledger = self.situation.ledger;
        let read = found.and_then(|found| found.spec.as_ref());
        let read: Option<BTreeSet<&str>> = read.map(|spec| segments(self.api.audiences(), spec).into_iter().collect());
        let mut stale = Vec::new();
        for key in segments(self.api.audiences(), desired) {
            let address = segment_address(key);
            let now = ledger.owned.get(&address).map(|target| &target.id);
            let Some(now) = self.known.renewed.get(&address).or(now) else { continue };
            let points = match &read {
                Some(ids) => ids.contains(now.as_str()),
                None => owned.refs.get(key).is_none_or(|id| id == now),
            };
            let declared = segments(self.api.audiences(), &owned.spec).contains(&key);
            // If a person pointed it at another segment, this one may be unchanged.
            let is_renewed =
                self.known.renewed.contains_key(&address) || owned.refs.get(key).is_some_and(|id| id != now);
            if !points && declared && (is_renewed || same(desired, live)) && !stale.contains(&address) {
                stale.push(address);
            }
        }
        stale
    }

    /// Whether the service shows references to the current segments although the ledger has earlier versions: after a
    /// restore from a backup. Segments that are in use according to the ledger are never deleted.
    pub(super) fn is_repointed(&self, desired: &Value, owned: &Owned, found: Option<&Found>) -> bool {
        let Some(spec) = found.and_then(|found| found.spec.as_ref()) else { return false };
        let audiences = self.api.audiences();
        let shown = segments(audiences, spec);
        segments(audiences, desired).into_iter().any(|key| {
            let now = self.situation.ledger.owned.get(&segment_address(key)).map(|target| &target.id);
            let before = owned.refs.get(key).filter(|before| Some(*before) != now);
            before.is_some_and(|before| !shown.contains(&before.as_str()))
                && now.is_some_and(|now| shown.contains(&now.as_str()))
        })
    }

    /// What it says about the versions of segments that it refers to.
    pub(super) fn pointing(
        &self,
        stale: Vec<Address>,
        live: &Value,
        owned: &Owned,
        found: Option<&Found>,
    ) -> Option<Reason> {
        let retired = &self.situation.ledger.retired;
        let named = segments(self.api.audiences(), live).into_iter().map(segment_address);
        let others: Vec<Address> = named.filter(|address| !stale.contains(address)).collect();
        let mut refs = self.outdated(&others, owned, found);
        refs.retain(|_, id| retired.iter().any(|old| old.id == *id));
        if stale.is_empty() {
            return (!refs.is_empty()).then_some(Reason::RefersToEarlier { refs });
        }
        refs.extend(self.outdated(&stale, owned, found));
        Some(Reason::Repoint { to: stale, outdated: refs })
    }

    /// The ids of earlier versions that it refers to, by the keys of those segments.
    fn outdated(&self, stale: &[Address], owned: &Owned, found: Option<&Found>) -> BTreeMap<String, String> {
        let read = found.and_then(|found| found.spec.as_ref());
        let read = read.map(|spec| segments(self.api.audiences(), spec)).unwrap_or_default();
        let retired = &self.situation.ledger.retired;
        let id = |address: &Address| {
            let is_it = |old: &&Retired| old.address == *address && read.contains(&old.id.as_str());
            let id = retired.iter().find(is_it).map(|old| &old.id).or(owned.refs.get(&address.key))?;
            Some((address.key.clone(), id.clone()))
        };
        stale.iter().filter_map(id).collect()
    }
}
