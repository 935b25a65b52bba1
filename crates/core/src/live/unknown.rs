//! Looking for what an earlier run created, or did not: its answer was lost, or its record, in a gap of the ledger. It is absent only
//! if two complete lists, a settle time apart, do not show it.

use std::collections::HashMap;

use pushplan_ledger::{Intent, Verb};
use pushplan_model::address::Address;
use pushplan_model::kinds::{self, Create, Found, Kind, Read};

use super::{Fetch, Look};

/// Listed things that pushplan does not manage, by kind and name.
type Strangers<'s> = HashMap<(&'s str, &'s str), Vec<&'s Found>>;

impl<'l> Fetch<'l> {
    /// Whether one list is not enough for what is in an unknown state.
    pub(super) fn looks_twice(&self) -> bool {
        self.look.recovers && self.look.proof.two_lists
    }

    /// The first lists are read: says which creations in an unknown state are looked for in a second one.
    pub(super) fn begin_search(&mut self) {
        let strangers = self.strangers();
        let (mut sought, mut disproved) = (Vec::new(), Vec::new());
        let has_gap = self.has_gap();
        for intent in self.creations().filter(|intent| self.is_decided_by_lists(&intent.address)) {
            let shown = candidates(&strangers, intent);
            // Since a gap, a list that shows one of it may have missed another one, which is what was created.
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

    /// The second lists are read: what neither of them shows is absent, unless it may have been sent.
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

    /// The ids of what may have been created, is listed, and whose content is to be read by itself. A second list takes the
    /// content from what was changed since the first one.
    pub(super) fn unread_candidates(&self, kind: &Kind) -> Vec<String> {
        let strangers = self.strangers();
        let creations = self.creations().filter(|intent| intent.address.kind == kind.key && self.looks_twice());
        let found = creations.flat_map(|intent| candidates(&strangers, intent));
        found.filter(|found| found.spec.is_none()).map(|found| found.id.clone()).collect()
    }

    /// Whether something that is listed may be what an earlier run created.
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

    /// What is declared and may have been created in a gap of the ledger, with its name. Two of it can exist, and lists show it for
    /// as long as it exists.
    fn unrecorded(&self) -> impl Iterator<Item = (&'l Address, String)> {
        let ledger = self.look.ledger;
        let is_new = |address: &Address| !ledger.owned.contains_key(address) && !ledger.open.contains_key(address);
        self.declared_since_gap().filter(move |(address, _)| is_new(address))
    }

    /// What is declared while a gap of the ledger is open, with its name, if two of it can exist.
    fn declared_since_gap(&self) -> impl Iterator<Item = (&'l Address, String)> {
        let Look { ledger, level, desired, recovers, .. } = self.look;
        let gap = ledger.gap.as_ref().filter(|_| recovers);
        let declared = gap.into_iter().flat_map(move |gap| desired.iter().filter(|(address, _)| gap.covers(address)));
        declared.filter_map(move |(address, spec)| {
            let api = kinds::api(address);
            (api.lifecycle(level).create == Create::Anew).then(|| (*address, api.called(spec)))
        })
    }

    /// Whether anything that is listed may have been created in a gap of the ledger. Its content says which segments it needs.
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

    /// Whether lists of its kind show all there is, and something depends on that: what is declared and has an id of our own
    /// choice is created again in any case, which changes nothing if it is there.
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

/// What has the name of an intended creation and was not there before.
fn candidates<'s>(strangers: &Strangers<'s>, intent: &Intent) -> Vec<&'s Found> {
    let name = intent.spec.as_ref().map(|spec| kinds::api(&intent.address).called(spec)).unwrap_or_default();
    let named = strangers.get(&(&*intent.address.kind, name.as_str())).into_iter().flatten().copied();
    named.filter(|found| !intent.seen.contains(&found.id)).collect()
}
