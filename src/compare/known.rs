//! What every comparison may ask for, worked out once and only if somebody asks.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::OnceLock;

use super::{Names, Situation};
use crate::address::Address;
use crate::kinds::{self, Found};
use crate::ledger::Owned;

/// What every comparison needs, worked out once.
pub(super) struct Known<'s> {
    situation: &'s Situation<'s>,
    pub names: Names<'s>,
    /// What is ours under any address, where that is ours to choose.
    identities: OnceLock<BTreeSet<(String, String)>>,
    /// The ids of segments that were found again after their answers were lost.
    pub renewed: BTreeMap<Address, String>,
    others: OnceLock<Others<'s>>,
}

/// What is not ours, by kind and name.
type Others<'s> = HashMap<&'static str, HashMap<&'s str, Vec<&'s Found>>>;

impl<'s> Known<'s> {
    pub fn new(situation: &'s Situation<'s>) -> Self {
        let names = Names::new(situation.ledger);
        Self { situation, names, identities: OnceLock::new(), renewed: BTreeMap::new(), others: OnceLock::new() }
    }

    /// Things of a name that are not ours.
    pub fn others(&self, address: &Address, name: &str) -> &[&'s Found] {
        let others = self.others.get_or_init(|| {
            let ids = self.situation.ledger.ids();
            let mut others = Others::new();
            for (kind, all) in &self.situation.live.listed {
                for found in all.values().filter(|found| !ids.contains(&(*kind, found.id.as_str()))) {
                    others.entry(*kind).or_default().entry(found.name.as_str()).or_default().push(found);
                }
            }
            others
        });
        others.get(&*address.kind).and_then(|named| named.get(name)).map_or(&[], Vec::as_slice)
    }

    /// Whether something is ours under any address.
    pub fn is_ours(&self, kind: &str, identity: String) -> bool {
        let identities = self.identities.get_or_init(|| {
            let identity = |(address, owned): (&Address, &Owned)| {
                Some((address.kind.to_string(), kinds::api(address).identity(&owned.spec.tree())?))
            };
            self.situation.ledger.owned.iter().filter_map(identity).collect()
        });
        identities.contains(&(kind.to_owned(), identity))
    }
}
