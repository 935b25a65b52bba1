//! The resources of a deed, followed until now.

use std::collections::{BTreeMap, BTreeSet};

use pushplan_model::address::Address;
use pushplan_model::kinds::{self, Create, Resource, Segment};
use pushplan_model::nouns::level::Level;

use crate::history::{Act, Deed};
use crate::intent::Adopted;
use crate::record::{Entry, Record};
use crate::state::{Ledger, Owned};

/// The state around a deed, and what happened since. Keys are the addresses at the end of the deed.
#[derive(Debug)]
pub struct Trail {
    /// The managed resources before the deed.
    pub old: BTreeMap<Address, Owned>,
    /// Every resource of the deed, and all segments.
    pub lines: BTreeMap<Address, Lifeline>,
}

/// A resource from the end of a deed until now.
#[derive(Clone, Debug)]
pub struct Lifeline {
    /// Its address, or its last address if it is gone.
    pub at: Address,
    /// Whether it existed at the end of the deed.
    pub stayed: bool,
    /// Whether it was deleted or removed from the ledger.
    pub gone: bool,
    /// Its creation was unconfirmed, and a person adopted a resource in its place.
    pub by_hand: bool,
    id: Option<String>,
}

impl Trail {
    pub fn of(entries: &[Entry], deed: &Deed) -> Self {
        let before = entries.iter().take_while(|entry| entry.seq < deed.first);
        let mut state = Ledger::replay(before.cloned());
        let mut old = Ledger { owned: state.owned.clone(), ..Ledger::default() };
        let rest = entries.iter().skip_while(|entry| entry.seq < deed.first);
        for entry in rest.clone().take_while(|entry| entry.seq <= deed.last) {
            if let Record::Move { from, to } = &entry.record {
                old.rename(from, to);
            }
            state.add(entry);
        }
        let mut trail = Self { lines: lines(deed, &old, &state), old: old.owned };
        trail.follow(state, rest.skip_while(|entry| entry.seq <= deed.last));
        trail
    }

    fn follow<'e>(&mut self, mut state: Ledger, later: impl Iterator<Item = &'e Entry>) {
        let mut touched = BTreeSet::new();
        for entry in later {
            // A run may delete and create the same resource, so its changes are evaluated once it is over.
            if let Record::Begin(_) = entry.record {
                self.settle(&state, &mut touched);
            }
            match &entry.record {
                Record::Move { from, to } => {
                    for line in self.lines.values_mut().filter(|line| !line.gone) {
                        line.at = line.at.renamed(from, to).unwrap_or_else(|| line.at.clone());
                    }
                }
                Record::Adopt(all) => self.adopt(all, &state),
                _ => {}
            }
            touched.extend(entry.record.addresses().into_iter().cloned());
            state.add(entry);
            if state.run.is_none() {
                self.settle(&state, &mut touched);
            }
        }
        self.settle(&state, &mut touched);
    }

    fn settle(&mut self, state: &Ledger, touched: &mut BTreeSet<Address>) {
        if !touched.is_empty() {
            self.lines.values_mut().filter(|line| touched.contains(&line.at)).for_each(|line| line.settle(state));
            touched.clear();
        }
    }

    /// Follows adopted resources by their ids, even if they were removed from the ledger or have another address now.
    fn adopt(&mut self, all: &[Adopted], state: &Ledger) {
        let ours = || all.iter().filter(|one| !one.pruned);
        let by_id: BTreeMap<(&str, &str), &Address> =
            ours().map(|one| ((&*one.address.kind, one.id.as_str()), &one.address)).collect();
        let by_address: BTreeMap<&Address, &str> = ours().map(|one| (&one.address, one.id.as_str())).collect();
        for line in self.lines.values_mut() {
            let id = line.id.as_deref();
            let found = match line.at.part() {
                None => id.and_then(|id| by_id.get(&(&*line.at.kind, id))).map(|address| (*address).clone()),
                Some(_) => by_address.get(&line.at).filter(|other| id == Some(**other)).map(|_| line.at.clone()),
            };
            // If a kind is identified by name, a resource with the name of a deleted one is another resource.
            let by_name = || kinds::api(&line.at).lifecycle(Level::Extended).create == Create::Upsert;
            if let Some(found) = found.filter(|_| !line.gone || !by_name()) {
                (line.at, line.gone) = (found, false);
            }
            let in_doubt = state.open.contains_key(&line.at) && !state.owned.contains_key(&line.at);
            line.by_hand |= in_doubt && state.run.is_none() && by_address.contains_key(&line.at);
        }
    }
}

/// Returns the resources to follow, as they are at the end of a deed.
fn lines(deed: &Deed, old: &Ledger, state: &Ledger) -> BTreeMap<Address, Lifeline> {
    let (mut changed, mut moved) = (BTreeSet::new(), BTreeSet::new());
    for one in &deed.changes {
        match &one.act {
            Act::Move(to) => moved.insert(to),
            Act::Step(_) | Act::Resolve => changed.insert(&one.address),
        };
    }
    let is_segment = |address: &Address| address.kind == <Segment as Resource>::KEY;
    let is_wanted = |address: &&Address| {
        is_segment(address) || changed.contains(address) || (!moved.is_empty() && moved.contains(&address.resource()))
    };
    let all = old.owned.keys().chain(state.owned.keys()).chain(state.open.keys());
    all.filter(is_wanted).map(|address| (address.clone(), Lifeline::new(address, old, state))).collect()
}

impl Lifeline {
    fn new(address: &Address, old: &Ledger, state: &Ledger) -> Self {
        let id = old.owned.get(address).map(|owned| owned.id.clone());
        let mut line = Self { at: address.clone(), stayed: false, gone: false, by_hand: false, id };
        line.settle(state);
        line.stayed = !line.gone;
        line
    }

    /// Checks whether it is still managed.
    fn settle(&mut self, state: &Ledger) {
        match state.owned.get(&self.at) {
            _ if self.gone => {}
            Some(owned) => self.id = Some(owned.id.clone()),
            None => self.gone = !state.open.contains_key(&self.at),
        }
    }
}
