//! What the records add up to: what is ours, and what is in doubt.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::checkout::Checkout;
use super::gap::Gap;
use super::home::Home;
use super::lease::Running;
use super::record::{Adopted, Done, Entry, Intent, Outcome, Record, Resolution, Seq, Verb};
use crate::address::Address;
use crate::kinds::{self, Resource, Segment, remote};
use crate::node::Shared;

/// All that is remembered of a target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ledger {
    /// The last record that is in it.
    pub seq: Seq,
    /// What is ours, by its address.
    pub owned: BTreeMap<Address, Owned>,
    /// Old versions that something new stands in for. They are deleted once nothing points at them.
    pub retired: Vec<Retired>,
    /// Intents whose outcome is not known.
    pub open: BTreeMap<Address, Open>,
    /// Until when something that was lost on the way may still take effect.
    pub unsettled: Option<Timestamp>,
    /// What the run that began last has taken up to delete it, by its address with its id. It is nobody's in git and never ours:
    /// where it is not deleted, it is let go.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pruning: BTreeMap<Address, String>,
    /// The run that began last and has not ended.
    pub run: Option<Running>,
    /// When something was last applied.
    pub applied: Option<Timestamp>,
    /// The fingerprint of the application that all of this is about.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub app: String,
    /// The project that something was last applied from, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<Home>,
    /// The commit that was applied last, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkout: Option<Checkout>,
    /// The newest gap: the ledger was restored from a backup.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Gap>,
}

/// A thing of ours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Owned {
    pub id: String,
    /// What it was made to be, segments by their keys.
    pub spec: Shared,
    /// The ids of the segments that it names, by their keys.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refs: BTreeMap<String, String>,
    /// The version stamp under which this spec was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub protect: bool,
    /// It has had its time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub past: bool,
    pub applied: Timestamp,
    /// The ids of the pushes that it sends, where the service has told them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub push_ids: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retired {
    pub address: Address,
    pub id: String,
    pub spec: Shared,
    /// The ids of the segments that it names, by their keys.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refs: BTreeMap<String, String>,
}

/// Something that was about to be done, and nobody knows whether it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    pub intent: Intent,
    pub at: Timestamp,
    /// Why it is not known, where a request was sent.
    pub why: Option<String>,
    /// Names the clock that its times were read from, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
    /// An earlier creation of the same thing is in an unknown state as well.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeats: bool,
}

impl Open {
    pub fn new(intent: Intent, at: Timestamp) -> Self {
        Self { intent, at, why: None, clock: None, repeats: false }
    }
}

impl Ledger {
    /// The state after all of these records.
    pub fn replay(entries: impl IntoIterator<Item = Entry>) -> Self {
        let mut ledger = Self::default();
        for entry in entries {
            ledger.take_in(entry);
        }
        ledger
    }

    /// Whether it holds no resource, also none in an unknown state.
    pub fn is_empty(&self) -> bool {
        self.owned.is_empty() && self.open.is_empty() && self.retired.is_empty()
    }

    /// The record that names the application and the project, if the ledger does not name an application yet.
    pub fn about(&self, app: &str, home: &Home) -> Option<Record> {
        let home = home.is_known().then(|| Box::new(home.clone()));
        self.app.is_empty().then(|| Record::About { app: app.to_owned(), home })
    }

    /// Takes in the next record.
    pub fn add(&mut self, entry: &Entry) {
        self.take_in(entry.clone());
    }

    /// The same of a record that nobody else needs.
    pub fn take_in(&mut self, entry: Entry) {
        let Entry { seq, at, actor, record } = entry;
        match record {
            Record::Begin(begin) => {
                self.run = Some(Running::new(&begin.run, &actor, begin.lease, at));
                self.app = begin.app;
                self.home = begin.home.map(|home| *home);
                // A run that does not say leaves what is known.
                if let Some(checkout) = begin.checkout {
                    self.checkout = Some(*checkout);
                }
                self.pruning.clear();
            }
            Record::About { app, home } => {
                self.app = app;
                self.home = home.map(|home| *home).or(self.home.take());
            }
            Record::Alive { .. } => {}
            Record::Intents(intents) => {
                let clock = self.run.as_ref().and_then(|run| run.lease.as_ref()?.clock.clone());
                for intent in intents {
                    let address = intent.address.clone();
                    let is_create = |open: &Open| open.intent.verb == Verb::Create && intent.verb == Verb::Create;
                    let repeats = self.open.get(&address).is_some_and(is_create);
                    self.open.insert(address, Open { clock: clock.clone(), repeats, ..Open::new(intent, at) });
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
                // Who lets go by hand means older versions too. A run lets go of one thing, and deletes them as ever.
                if self.run.is_none() {
                    self.retired.retain(|old| !addresses.contains(&old.address));
                }
            }
            Record::Move { from, to } => self.rename(&from, &to),
            Record::Resolve { address, found } => match (self.open.remove(&address), found) {
                // Nothing was known of it but that it may have been created in a gap.
                (None, Resolution::Absent) if !self.owned.contains_key(&address) => {
                    if let Some(gap) = &mut self.gap {
                        gap.resolved.insert(address);
                    }
                }
                (Some(open), Resolution::Created { id }) => {
                    self.made(open.intent, id, &[], at);
                    // A person named it, and nobody has seen what it says: that is no version of it.
                    self.owned.entry(address).and_modify(|owned| owned.stamp = Some(String::new()));
                }
                // What was to be made is not there. What it was to stand in for is where it was.
                (Some(open), Resolution::Absent) if open.intent.verb == Verb::Create => {}
                (Some(open), Resolution::Absent) => self.deleted(&address, open.intent.id.as_deref()),
                (None, Resolution::Absent) => drop(self.owned.remove(&address)),
                (None, Resolution::Created { .. }) => {}
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
            // This request was refused. An earlier one may have been carried out.
            Done::Not { why } if self.open.get(address).is_some_and(|open| open.repeats) => {
                self.open.entry(address.clone()).and_modify(|open| open.why = Some(why));
            }
            Done::Not { .. } => drop(self.open.remove(address)),
            Done::Done { id, push_ids } => {
                let Some(Open { intent, .. }) = self.open.remove(address) else { return };
                self.applied = Some(at);
                match outcome.verb {
                    Verb::Create => self.made(intent, id.unwrap_or_default(), &push_ids, at),
                    Verb::Update => {
                        let id = intent.id.clone().unwrap_or_default();
                        let address = intent.address.clone();
                        self.own(intent, id, &push_ids, at);
                        // Nobody has seen the service hold it: an answer is no version of it.
                        self.owned.entry(address).and_modify(|owned| owned.stamp = Some(String::new()));
                    }
                    Verb::Delete => self.deleted(address, intent.id.as_deref()),
                    Verb::Adopt | Verb::Forget | Verb::Move => {}
                }
            }
        }
    }

    /// Something new is ours. What it stands in for is retired until it is deleted.
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
        let Intent { address, spec, refs, protect, .. } = intent;
        let push_ids = self.told(&address, &id, push_ids);
        let spec = spec.unwrap_or_default();
        let owned = Owned { id, spec, refs, stamp: None, protect, past: false, applied: at, push_ids };
        self.owned.insert(address, owned);
    }

    /// The pushes of a thing: those that were told just now, or else those that were known of it.
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

    /// One thing has one owner: another address that had what is adopted would delete what this one keeps. Parts are told apart
    /// by more than their ids.
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
        let Adopted { address, id, spec, refs, stamp, protect, past, push_ids, pruned } = adopted;
        // What is taken up to be deleted is somebody else's for as long as it is there.
        if pruned {
            self.pruning.insert(address, id);
            return;
        }
        let push_ids = self.told(&address, &id, &push_ids);
        self.open.remove(&address);
        self.retired.retain(|old| old.address != address || old.id != id);
        let before = self.owned.remove(&address);
        // Without a stamp, a thing is taken to be as it was made: not so if it was updated since.
        let is_updated = |owned: &Owned| owned.id == id && (owned.stamp.as_deref() == Some("") || owned.spec != spec);
        let stamp = stamp.or_else(|| before.as_ref().filter(|owned| is_updated(owned)).map(|_| String::new()));
        let applied = before.as_ref().filter(|owned| owned.id == id).map_or(at, |owned| owned.applied);
        // One that was made in the place of another, and whose answer was lost.
        if let Some(old) = before.filter(|owned| owned.id != id) {
            self.retire(&address, old);
        }
        self.owned.insert(address, Owned { id, spec, refs, stamp, protect, past, applied, push_ids });
    }

    /// A resource has another key, with all its parts. Whoever names it does so by the new key; ids stay as they are.
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
        for (address, Open { intent, .. }) in &mut self.open {
            if let Some(spec) = &mut intent.spec {
                point(address, spec, &mut intent.refs);
            }
        }
    }

    /// Every id that is ours, also of what is retired.
    pub fn ids(&self) -> BTreeSet<(&str, &str)> {
        let owned = self.owned.iter().map(|(address, owned)| (&*address.kind, owned.id.as_str()));
        owned.chain(self.retired.iter().map(|old| (&*old.address.kind, old.id.as_str()))).collect()
    }
}

#[cfg(test)]
mod tests;
