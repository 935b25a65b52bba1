//! Facts that comparisons share, computed once and on demand.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::OnceLock;

use pushplan_ledger::{Intent, Owned, Unconfirmed, Verb};
use pushplan_model::address::Address;
use pushplan_model::digest::Digest;
use pushplan_model::kinds::{self, Found};
use pushplan_model::node::Shared;

use super::renames::unnamed;
use super::{Names, Situation};

/// Facts that every comparison needs, computed once.
pub(super) struct CompareIndex<'s> {
    situation: &'s Situation<'s>,
    pub names: Names<'s>,
    /// The identities of managed resources, under any address, if pushplan chooses them.
    identities: OnceLock<BTreeSet<(String, String)>>,
    /// The ids of objects that were found after the answers to their creation were lost.
    pub renewed: BTreeMap<Address, String>,
    others: OnceLock<Others<'s>>,
    sought: OnceLock<Sought<'s>>,
    alike: OnceLock<ByContent<'s>>,
}

/// Unmanaged objects, by kind and name.
type Others<'s> = HashMap<&'static str, HashMap<&'s str, Vec<&'s Found>>>;

/// Unmanaged objects, by kind and content, whatever their names.
type ByContent<'s> = HashMap<&'static str, BTreeMap<Digest, Vec<&'s Found>>>;

/// Unconfirmed creations, by kind and name.
type Sought<'s> = HashMap<&'s str, HashMap<String, Vec<&'s Intent>>>;

impl<'s> CompareIndex<'s> {
    pub fn new(situation: &'s Situation<'s>) -> Self {
        Self {
            situation,
            names: Names::new(situation.ledger),
            identities: OnceLock::new(),
            renewed: BTreeMap::new(),
            others: OnceLock::new(),
            sought: OnceLock::new(),
            alike: OnceLock::new(),
        }
    }

    /// Unmanaged objects with the content of an intent but another name, of kinds that message people by themselves.
    /// Objects that an unconfirmed creation under that name may have created are not included.
    pub fn alike_intent(&self, intent: &Intent) -> Vec<&'s Found> {
        let Some(spec) = &intent.spec else { return Vec::new() };
        // The ledger may have forgotten a segment since, but the intent has its id.
        let audiences = kinds::api(&intent.address).audiences();
        let by_id = kinds::remote::pointed(audiences, spec, &mut |reference| {
            let id = reference.as_str().and_then(|key| intent.refs.get(key));
            id.map_or_else(|| reference.clone(), |id| id.as_str().into())
        });
        let mut found = self.alike(&intent.address, spec).to_vec();
        for one in self.alike(&intent.address, &by_id) {
            if !found.iter().any(|other| other.id == one.id) {
                found.push(one);
            }
        }
        found
    }

    /// Unmanaged objects with the same content under another name, as above. Segments are named by key, or by id.
    pub fn alike(&self, address: &Address, spec: &Shared) -> &[&'s Found] {
        let alike = self.alike.get_or_init(|| {
            let (ids, mut alike) = (self.situation.ledger.ids(), ByContent::new());
            for (kind, found) in self.situation.live.listed().filter(|(kind, _)| kind.api.has_runs()) {
                let is_known = ids.contains(&(kind.key, found.id.as_str()));
                let Some(spec) = found.spec.as_ref().filter(|_| !is_known) else { continue };
                if self.sought(kind.key, &found.name).is_empty() {
                    let by_key = unnamed(kind.api, &self.names.by_key(kind.api, spec));
                    let by_id = unnamed(kind.api, spec);
                    let of_kind = alike.entry(kind.key).or_default();
                    if by_id != by_key {
                        of_kind.entry(by_id).or_default().push(found);
                    }
                    of_kind.entry(by_key).or_default().push(found);
                }
            }
            alike
        });
        let says = || unnamed(kinds::api(address), spec);
        alike.get(&*address.kind).and_then(|all| all.get(&says())).map_or(&[], Vec::as_slice)
    }

    /// Unconfirmed creations of a kind and a name.
    pub fn sought(&self, kind: &str, name: &str) -> &[&'s Intent] {
        let sought = self.sought.get_or_init(|| {
            let mut sought = Sought::new();
            for (address, Unconfirmed { intent, .. }) in &self.situation.ledger.open {
                if let (Verb::Create, Some(spec)) = (intent.verb, &intent.spec) {
                    let named = sought.entry(&address.kind).or_default();
                    named.entry(kinds::api(address).name(spec)).or_default().push(intent);
                }
            }
            sought
        });
        sought.get(kind).and_then(|named| named.get(name)).map_or(&[], Vec::as_slice)
    }

    /// Unmanaged objects with a name.
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

    /// Whether a resource with this identity is managed under any address.
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
