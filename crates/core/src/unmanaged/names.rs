//! Proposed addresses for unmanaged resources: those that `pull` would use.

use std::collections::{BTreeMap, BTreeSet};

use pushplan_model::address::Address;
use pushplan_model::kinds::{Found, Kind};

use super::Other;
use crate::pull::keys::{Nameless, keys};

/// Assigns a unique address to each resource, and sorts by address.
pub fn named<'l>(all: Vec<(&'static Kind, &'l Found)>, taken: &BTreeSet<Address>) -> Vec<Other<'l>> {
    let mut of_kind: BTreeMap<&str, (&'static Kind, Vec<&'l Found>)> = BTreeMap::new();
    for (kind, found) in all {
        of_kind.entry(kind.key).or_insert((kind, Vec::new())).1.push(found);
    }
    let mut others: Vec<Other> = Vec::new();
    for (kind, found) in of_kind.into_values() {
        let nameless: Vec<Nameless> = found.iter().map(|it| Nameless { name: &it.name, id: &it.id }).collect();
        let keys = keys(kind.noun, &nameless, &|key| taken.contains(&Address::new(kind.key, key)));
        let named = found.into_iter().zip(keys);
        others.extend(named.map(|(found, key)| Other { kind, found, address: Address::new(kind.key, key) }));
    }
    others.sort_by(|one, other| one.address.cmp(&other.address));
    others
}
