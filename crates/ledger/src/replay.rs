//! Replays records: how each one changes the state.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pushplan_model::address::Address;
use pushplan_model::kinds::{self, Resource, Segment, remote};
use pushplan_model::node::Shared;
use serde_json::Value;

use super::gap::Gap;
use super::home::Home;
use super::intent::{Adopted, Done, Intent, Outcome, Resolution, Verb};
use super::lease::Running;
use super::record::{Entry, Record};
use super::state::{Ledger, Owned, Retired, Unconfirmed};

/// Whether a request repeats an unconfirmed one. If the second is refused, the first may still have been carried out.
fn repeats(before: &Intent, next: &Intent) -> bool {
    match (before.verb, next.verb) {
        (Verb::Create, Verb::Create) => true,
        (Verb::Delete, Verb::Delete) => before.id == next.id,
        _ => false,
    }
}

impl Ledger {
    /// Returns the state after all of these records.
    pub fn replay(entries: impl IntoIterator<Item = Entry>) -> Self {
        let mut ledger = Self::default();
        for entry in entries {
            ledger.take_in(entry);
        }
        ledger
    }

    /// The record that names the application and the project, if the ledger does not name an application yet.
    pub fn about(&self, app: &str, home: &Home) -> Option<Record> {
        let home = home.is_known().then(|| Box::new(home.clone()));
        self.app.is_empty().then(|| Record::About { app: app.to_owned(), home })
    }

    /// Applies the next record.
    pub fn add(&mut self, entry: &Entry) {
        self.take_in(entry.clone());
    }

    /// Applies the next record and consumes it, to save a copy.
    pub fn take_in(&mut self, entry: Entry) {
        let Entry { seq, at, actor, record } = entry;
        match record {
            Record::Begin(begin) => {
                self.run = Some(Running::new(&begin.run, &actor, begin.lease, at));
                self.app = begin.app;
                self.home = begin.home.map(|home| *home);
                // A run without a checkout keeps the known one.
                if let Some(checkout) = begin.checkout {
                    self.checkout = Some(*checkout);
                }
                if let Some(safeguards) = begin.safeguards {
                    self.safeguards = Some(*safeguards);
                }
                self.pruning.clear();
            }
            Record::About { app, home } => {
                self.app = app;
                self.home = home.map(|home| *home).or(self.home.take());
            }
            Record::Alive { .. } => {}
            Record::Unchanged { checkout, safeguards } => {
                self.checkout = Some(*checkout);
                self.safeguards = safeguards.map(|safeguards| *safeguards).or(self.safeguards.take());
            }
            Record::Intents(intents) => {
                let clock = self.run.as_ref().and_then(|run| run.lease.as_ref()?.clock.clone());
                for intent in intents {
                    let address = intent.address.clone();
                    let repeats = self.open.get(&address).is_some_and(|open| repeats(&open.intent, &intent));
                    self.open
                        .insert(address, Unconfirmed { clock: clock.clone(), repeats, ..Unconfirmed::new(intent, at) });
                }
            }
            Record::Outcomes(outcomes) => outcomes.into_iter().for_each(|outcome| self.settle(outcome, at)),
            Record::Adopt(all) => {
                self.disown(&all);
                all.into_iter().for_each(|adopted| self.adopt(adopted, at));
            }
            Record::Forget(addresses) => {
                for address in &addresses {
                    self.owned.remove(address);
                    self.open.remove(address);
                }
                // Outside of a run, forgetting a resource includes its old versions. A run forgets only the resource,
                // and still deletes its old versions.
                if self.run.is_none() {
                    self.retired.retain(|old| !addresses.contains(&old.address));
                }
            }
            Record::Move { from, to } => self.rename(&from, &to),
            Record::Resolve { address, found } => match (self.open.remove(&address), found) {
                // It was not deleted, so its entry stays.
                (Some(open), Resolution::Created { .. }) if open.intent.verb == Verb::Delete => {}
                (Some(open), Resolution::Created { id }) => {
                    self.made(open.intent, id, &[], at);
                    // A person named its id, but its content was not seen: no version of it is known.
                    self.owned.entry(address).and_modify(|owned| owned.stamp = Some(String::new()));
                }
                // It was not created. A resource that it was to replace still exists.
                (Some(open), Resolution::Absent) if open.intent.verb == Verb::Create => {}
                (Some(open), Resolution::Absent) => self.deleted(&address, open.intent.id.as_deref()),
                // No request was unconfirmed: the question was whether it, or another in its place, was created in a
                // gap.
                (None, found) => {
                    if found == Resolution::Absent {
                        self.owned.remove(&address);
                    }
                    if let Some(gap) = &mut self.gap {
                        gap.resolved.insert(address);
                    }
                }
            },
            Record::End { run, .. } => {
                self.run.take_if(|running| running.run == run);
                self.pruning.clear();
            }
            Record::Moved { .. } => {}
            Record::Gap { since, upto } => {
                let before = self.gap.as_ref().map_or(0, |gap| gap.upto);
                self.gap = Some(Gap::new(since, at, upto.max(before)));
            }
            Record::GapClosed => self.gap.iter_mut().for_each(|gap| gap.is_closed = true),
            Record::Checkpoint(state) => *self = *state,
        }
        if let Some(running) = self.run.as_mut().filter(|running| running.actor == actor) {
            running.heard(at);
        }
        self.seq = seq;
    }

    fn settle(&mut self, outcome: Outcome, at: Timestamp) {
        self.unsettled = self.unsettled.max(outcome.unsettled);
        let address = &outcome.address;
        match outcome.result {
            Done::Unknown { why } => {
                if let Some(open) = self.open.get_mut(address) {
                    open.why = Some(why);
                }
            }
            // This request was refused, but an earlier one may have been carried out.
            Done::Not { why } if self.open.get(address).is_some_and(|open| open.repeats) => {
                self.open.entry(address.clone()).and_modify(|open| open.why = Some(why));
            }
            Done::Not { .. } => drop(self.open.remove(address)),
            Done::Done { id, push_ids } => {
                let Some(Unconfirmed { intent, .. }) = self.open.remove(address) else { return };
                self.applied = Some(at);
                match outcome.verb {
                    Verb::Create => self.made(intent, id.unwrap_or_default(), &push_ids, at),
                    Verb::Update => {
                        let id = intent.id.clone().unwrap_or_default();
                        let address = intent.address.clone();
                        self.own(intent, id, &push_ids, at);
                        // The answer does not contain the new content, so no version of it is known.
                        self.owned.entry(address).and_modify(|owned| owned.stamp = Some(String::new()));
                    }
                    Verb::Delete => self.deleted(address, intent.id.as_deref()),
                    Verb::Adopt | Verb::Forget | Verb::Move => {}
                }
            }
        }
    }

    /// Adds a created resource. A resource that it replaces is retired until it is deleted.
    fn made(&mut self, intent: Intent, id: String, push_ids: &[String], at: Timestamp) {
        if let Some(old) = self.owned.remove(&intent.address).filter(|old| old.id != id) {
            self.retire(&intent.address, old);
        }
        self.own(intent, id, push_ids, at);
    }

    fn retire(&mut self, address: &Address, old: Owned) {
        let Owned { id, spec, refs, .. } = old;
        self.retired.push(Retired { address: address.clone(), id, spec, refs });
    }

    fn own(&mut self, intent: Intent, id: String, push_ids: &[String], at: Timestamp) {
        let Intent { address, spec, refs, protect, zone, .. } = intent;
        let push_ids = self.told(&address, &id, push_ids);
        let spec = spec.unwrap_or_default();
        let owned = Owned { id, spec, refs, stamp: None, protect, past: false, applied: at, push_ids, zone };
        self.owned.insert(address, owned);
    }

    /// Returns the ids of a resource's pushes: the reported ones, or else the known ones.
    fn told(&self, address: &Address, id: &str, push_ids: &[String]) -> Vec<String> {
        let before = self.owned.get(address).filter(|owned| push_ids.is_empty() && owned.id == id);
        before.map_or_else(|| push_ids.to_vec(), |owned| owned.push_ids.clone())
    }

    fn deleted(&mut self, address: &Address, id: Option<&str>) {
        let is_it = |own: &str| id.is_none_or(|id| id == own);
        if self.owned.get(address).is_some_and(|owned| is_it(&owned.id)) {
            self.owned.remove(address);
        }
        self.retired.retain(|retired| retired.address != *address || !is_it(&retired.id));
        self.pruning.remove(address);
    }

    /// Removes other addresses of adopted resources: they would delete what the new address keeps. Parts are skipped,
    /// because their ids alone do not identify them.
    fn disown(&mut self, adopted: &[Adopted]) {
        let whole = adopted.iter().filter(|one| one.address.part().is_none() && !one.pruned);
        let whole: BTreeMap<(&str, &str), &Address> =
            whole.map(|one| ((&*one.address.kind, one.id.as_str()), &one.address)).collect();
        let is_others = |other: &Address, id: &str| {
            let owner = whole.get(&(&*other.kind, id));
            other.part().is_none() && owner.is_some_and(|owner| **owner != *other)
        };
        self.owned.retain(|other, owned| !is_others(other, &owned.id));
        self.retired.retain(|old| !is_others(&old.address, &old.id));
    }

    fn adopt(&mut self, adopted: Adopted, at: Timestamp) {
        let Adopted { address, id, spec, refs, stamp, protect, past, push_ids, zone, pruned } = adopted;
        // A resource that is adopted to be deleted belongs to someone else until it is deleted.
        if pruned {
            self.pruning.insert(address, id);
            return;
        }
        let push_ids = self.told(&address, &id, &push_ids);
        self.open.remove(&address);
        self.retired.retain(|old| old.address != address || old.id != id);
        let before = self.owned.remove(&address);
        // Without a stamp, a resource counts as unchanged since its creation. That is wrong after an update.
        let is_updated = |owned: &Owned| owned.id == id && (owned.stamp.as_deref() == Some("") || owned.spec != spec);
        let stamp = stamp.or_else(|| before.as_ref().filter(|owned| is_updated(owned)).map(|_| String::new()));
        let applied = before.as_ref().filter(|owned| owned.id == id).map_or(at, |owned| owned.applied);
        // The adopted resource was created as a replacement, and the answer was lost.
        if let Some(old) = before.filter(|owned| owned.id != id) {
            self.retire(&address, old);
        }
        self.owned.insert(address, Owned { id, spec, refs, stamp, protect, past, applied, push_ids, zone });
    }

    /// Gives a resource and all its parts another key. References use the new key; ids do not change.
    pub fn rename(&mut self, from: &Address, to: &Address) {
        let renamed = |address: Address| address.renamed(from, to).unwrap_or(address);
        self.owned = std::mem::take(&mut self.owned).into_iter().map(|(at, owned)| (renamed(at), owned)).collect();
        self.open = std::mem::take(&mut self.open).into_iter().map(|(at, open)| (renamed(at), open)).collect();
        for (address, open) in &mut self.open {
            open.intent.address.clone_from(address);
        }
        if let Some(gap) = &mut self.gap {
            gap.resolved = std::mem::take(&mut gap.resolved).into_iter().map(renamed).collect();
        }
        for old in &mut self.retired {
            old.address = renamed(old.address.clone());
        }
        if let Some(safeguards) = &mut self.safeguards {
            let exempt = std::mem::take(&mut safeguards.exempt);
            safeguards.exempt = exempt.into_iter().map(|(at, all)| (renamed(at), all)).collect();
        }
        if from.kind != <Segment as Resource>::KEY {
            return;
        }
        let point = |address: &Address, spec: &mut Shared, refs: &mut BTreeMap<String, String>| {
            *spec = remote::pointed(kinds::api(address).audiences(), spec, &mut |reference| match reference.as_str() {
                Some(key) if key == from.key => Value::from(to.key.as_str()),
                _ => reference.clone(),
            });
            if let Some(id) = refs.remove(&from.key) {
                refs.insert(to.key.clone(), id);
            }
        };
        for (address, owned) in &mut self.owned {
            point(address, &mut owned.spec, &mut owned.refs);
        }
        for old in &mut self.retired {
            point(&old.address, &mut old.spec, &mut old.refs);
        }
        for (address, Unconfirmed { intent, .. }) in &mut self.open {
            if let Some(spec) = &mut intent.spec {
                point(address, spec, &mut intent.refs);
            }
        }
    }
}

#[cfg(test)]
mod tests;
