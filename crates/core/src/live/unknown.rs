//! Searching for resources that an earlier run may have created: the answer was lost, or the record, in a gap of the
//! ledger. Such a resource is absent only if two complete lists, a settle time apart, do not contain it.

use std::collections::HashMap;

use pushplan_ledger::{Intent, Verb};
use pushplan_model::address::Address;
use pushplan_model::kinds::{self, Create, Found, Kind, Read};

use super::{Fetch, Look};

/// Listed unmanaged resources, by kind and name.
type Strangers<'s> = HashMap<(&'s str, &'s str), Vec<&'s Found>>;

impl<'l> Fetch<'l> {
    /// Whether one list is not enough for a resource in an unknown state.
    pub(super) fn looks_twice(&self) -> bool {
        self.look.recovers && self.look.proof.two_lists
    }

    /// Decides after the first lists which creations in an unknown state are searched in a second one.
    pub(super) fn begin_search(&mut self) {
        let strangers = self.strangers();
        let (mut sought, mut disproved) = (Vec::new(), Vec::new());
        let has_gap = self.has_gap();
        for intent in self.creations().filter(|intent| self.is_decided_by_lists(&intent.address)) {
            let shown = candidates(&strangers, intent);
            // After a gap, a list with one such resource may have missed another one, which is the created one.
            let is_enough = !has_gap && shown.iter().any(|found| found.spec.is_some());
            if self.looks_twice() && !is_enough {
                sought.push(intent.address.clone());
            } else if !self.looks_twice() && shown.is_empty() {
                disproved.push(intent.address.clone());
            }
        }
        for (address, name) in self.unrecorded().filter(|(address, _)| self.is_decided_by_lists(address)) {
            if is_shown(&strangers, address, &name) {
                continue;
            }
            if self.looks_twice() { sought.push(address.clone()) } else { disproved.push(address.clone()) }
        }
        self.sought.extend(sought);
        self.live.disproved.extend(disproved);
    }

    /// Decides after the second lists: resources that are in neither are absent, unless they may have been sent.
    pub(super) fn end_search(&mut self) {
        let strangers = self.strangers();
        let is_sought = |intent: &&Intent| self.sought.contains(&intent.address);
        let absent = self.creations().filter(is_sought).filter(|intent| candidates(&strangers, intent).is_empty());
        let absent = absent.filter(|intent| self.live.whole.contains(&*intent.address.kind));
        let absent = absent.filter(|intent| !self.may_be_sent(intent));
        let absent = absent.map(|intent| &intent.address);
        let is_unrecorded = |(address, name): &(&Address, String)| {
            let is_sought = self.sought.contains(*address) && self.live.whole.contains(&*address.kind);
            is_sought && !is_shown(&strangers, address, name)
        };
        let unrecorded = self.unrecorded().filter(is_unrecorded).map(|(address, _)| address);
        let absent: Vec<Address> = absent.chain(unrecorded).cloned().collect();
        self.live.disproved.extend(absent);
        self.sought.clear();
    }

    /// The ids of listed resources that may have been created and whose content has to be read separately. A second
    /// list drops the content of resources that changed since the first one.
    pub(super) fn unread_candidates(&self, kind: &Kind) -> Vec<String> {
        let strangers = self.strangers();
        let creations = self.creations().filter(|intent| intent.address.kind == kind.key && self.looks_twice());
        let found = creations.flat_map(|intent| candidates(&strangers, intent));
        found.filter(|found| found.spec.is_none()).map(|found| found.id.clone()).collect()
    }

    /// Whether a listed resource may be one that an earlier run created.
    pub(super) fn is_candidate(&self, kind: &Kind, id: &str) -> bool {
        let strangers = self.strangers();
        let mut creations = self.creations().filter(|intent| intent.address.kind == kind.key);
        creations.any(|intent| candidates(&strangers, intent).iter().any(|found| found.id == id))
    }

    /// The creations in an unknown state, if the caller resolves them.
    pub(super) fn creations(&self) -> impl Iterator<Item = &'l Intent> {
        let Look { ledger, recovers, .. } = self.look;
        let intents = ledger.open.values().map(|open| &open.intent);
        intents.filter(move |intent| recovers && intent.verb == Verb::Create)
    }

    /// Declared resources that may have been created in a gap of the ledger, with their names. A second one could be
    /// created, and lists contain them as long as they exist.
    fn unrecorded(&self) -> impl Iterator<Item = (&'l Address, String)> {
        let ledger = self.look.ledger;
        let is_new = |address: &Address| !ledger.owned.contains_key(address) && !ledger.open.contains_key(address);
        self.declared_since_gap().filter(move |(address, _)| is_new(address))
    }

    /// Declared resources that a gap of the ledger covers, with their names, if a second one could be created.
    fn declared_since_gap(&self) -> impl Iterator<Item = (&'l Address, String)> {
        let Look { ledger, level, desired, recovers, .. } = self.look;
        let gap = ledger.gap.as_ref().filter(|_| recovers);
        let declared = gap.into_iter().flat_map(move |gap| desired.iter().filter(|(address, _)| gap.covers(address)));
        declared.filter_map(move |(address, spec)| {
            let api = kinds::api(address);
            (api.lifecycle(level).create == Create::Anew).then(|| (*address, api.called(spec)))
        })
    }

    /// Whether any listed resource may have been created in a gap of the ledger. Its content shows which segments it
    /// needs.
    pub(super) fn has_gap(&self) -> bool {
        self.look.recovers && self.look.ledger.gap.as_ref().is_some_and(|gap| !gap.is_closed)
    }

    fn strangers(&self) -> Strangers<'_> {
        let mut strangers = Strangers::new();
        if self.creations().next().is_some() || self.unrecorded().next().is_some() {
            let ids = self.look.ledger.ids();
            for (kind, found) in
                self.live.listed().filter(|(kind, found)| !ids.contains(&(kind.key, found.id.as_str())))
            {
                strangers.entry((kind.key, &found.name)).or_default().push(found);
            }
        }
        strangers
    }

    /// Whether lists of its kind are complete, and a decision depends on them: a declared resource with an id chosen by
    /// pushplan is created again in any case, which has no effect if it exists.
    fn is_decided_by_lists(&self, address: &Address) -> bool {
        let Look { level, desired, .. } = &self.look;
        let life = kinds::api(address).lifecycle(*level);
        let is_listed = matches!(life.read, Read::Listed | Read::ListedThenGet) && address.part().is_none();
        let is_repeated = life.create == Create::Upsert && desired.contains_key(address);
        is_listed && !is_repeated && self.live.whole.contains(&*address.kind)
    }
}

fn is_shown(strangers: &Strangers, address: &Address, name: &str) -> bool {
    strangers.get(&(&*address.kind, name)).is_some_and(|named| !named.is_empty())
}

/// The listed resources with the name of an intended creation that did not exist before it.
fn candidates<'s>(strangers: &Strangers<'s>, intent: &Intent) -> Vec<&'s Found> {
    let name = intent.spec.as_ref().map(|spec| kinds::api(&intent.address).called(spec)).unwrap_or_default();
    let named = strangers.get(&(&*intent.address.kind, name.as_str())).into_iter().flatten().copied();
    named.filter(|found| !intent.seen.contains(&found.id)).collect()
}
