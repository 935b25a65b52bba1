//! Compares kept results with what others have written since. A run that has the id of a resource never records it as
//! absent: a created resource exists, whatever was recorded without knowing its id.

use std::collections::BTreeSet;

use pushplan_model::address::Address;

use super::{Kept, Twice};
use crate::chain::Chain;
use crate::intent::{Adopted, Done, Outcome, Resolution, Verb};
use crate::record::{Entry, Record};
use crate::{Ledger, Unreadable};

/// Kept results, sorted by what happens to them.
#[derive(Debug, Default)]
pub struct Sorted {
    /// Results that nobody has dealt with since.
    pub fresh: Vec<Outcome>,
    /// Created resources that someone resolved as absent since. They are managed anyway.
    pub made: Vec<(Outcome, Adopted)>,
    /// Resources that may exist twice. Those that the ledger has with another id are not added.
    pub twice: Vec<Twice>,
    /// Results that another run has dealt with.
    pub outdated: Vec<Outcome>,
}

impl Sorted {
    /// Returns all results that the ledger does not have.
    pub fn unsaid(self) -> Vec<Outcome> {
        let held = self.twice.into_iter().filter(|twice| twice.other.is_some()).map(|twice| twice.made);
        self.fresh.into_iter().chain(self.made.into_iter().map(|(made, _)| made)).chain(held).collect()
    }
}

impl Chain {
    /// Sorts results by what others have written since. A resource that was moved since has its new key; the move alone
    /// does not count as dealing with it.
    pub(super) async fn sorted(&self, kept: &Kept, since: &[Entry]) -> Result<Sorted, Unreadable> {
        let mut all = Sorted::default();
        let (touched, fresh) = touched(kept.outcomes(), since);
        all.fresh = fresh;
        let (made, outdated): (Vec<Outcome>, _) = touched.into_iter().partition(|outcome| created(outcome).is_some());
        all.outdated = outdated;
        if made.is_empty() {
            return Ok(all);
        }
        let (mut before, mut now) = (Ledger::default(), Ledger::default());
        for entry in self.history().await? {
            match &entry.record {
                _ if entry.seq < kept.entry.seq => before.add(&entry),
                Record::Move { from, to } => before.rename(from, to),
                _ => {}
            }
            now.take_in(entry);
        }
        made.into_iter().for_each(|outcome| all.judge(outcome, since, &before, &now, &kept.file));
        Ok(all)
    }
}

impl Sorted {
    /// Sorts a created resource that others have written about since. `before` is the state before that, with the
    /// current addresses.
    fn judge(&mut self, made: Outcome, since: &[Entry], before: &Ledger, now: &Ledger, file: &str) {
        let (address, id) = (&made.address, created(&made).unwrap_or_default());
        let is_known = since.iter().any(|entry| gives(&entry.record, address, id));
        let intent = before.open.get(address).map(|open| &open.intent).filter(|intent| intent.verb == Verb::Create);
        let (false, Some(intent)) = (is_known, intent) else { return self.outdated.push(made) };
        let twice = |other| Twice { made: made.clone(), other, file: file.to_owned() };
        let was = before.owned.get(address).map(|owned| &owned.id);
        if let Some(other) = now.owned.get(address).filter(|owned| Some(&owned.id) != was) {
            return self.twice.push(twice(Some(other.id.clone())));
        }
        let again = now.open.get(address).is_some_and(|open| open.intent.verb == Verb::Create);
        self.twice.extend(again.then(|| twice(None)));
        let push_ids = match &made.result {
            Done::Done { push_ids, .. } => push_ids.clone(),
            Done::Not { .. } | Done::Unknown { .. } => Vec::new(),
        };
        let adopted = Adopted {
            address: address.clone(),
            id: id.to_owned(),
            spec: intent.spec.clone().unwrap_or_default(),
            refs: intent.refs.clone(),
            stamp: None,
            protect: intent.protect,
            past: false,
            push_ids,
            zone: intent.zone.clone(),
            pruned: false,
        };
        self.made.push((made, adopted));
    }
}

/// Splits results into those that others have written about since and the rest, with the current addresses.
fn touched(kept: &[Outcome], since: &[Entry]) -> (Vec<Outcome>, Vec<Outcome>) {
    let mut touched = Vec::new();
    let mut fresh = kept.to_vec();
    for Entry { record, .. } in since {
        if let Record::Move { from, to } = record {
            for outcome in touched.iter_mut().chain(&mut fresh) {
                let Outcome { address, .. } = outcome;
                *address = address.renamed(from, to).unwrap_or_else(|| address.clone());
            }
            continue;
        }
        let named: BTreeSet<&Address> = record.addresses().into_iter().collect();
        let (done, left) = fresh.into_iter().partition::<Vec<_>, _>(|outcome| named.contains(&outcome.address));
        touched.extend(done);
        fresh = left;
    }
    (touched, fresh)
}

/// Returns the id of the created resource, if the result is a creation.
fn created(outcome: &Outcome) -> Option<&str> {
    match &outcome.result {
        Done::Done { id, .. } if outcome.verb == Verb::Create => id.as_deref(),
        _ => None,
    }
}

/// Whether a record says that a resource has this id, at any address. Parts must have the same address, because their
/// ids alone do not identify them.
fn gives(record: &Record, address: &Address, id: &str) -> bool {
    let is_it = |other: &Address, its: &str| {
        its == id && other.kind == address.kind && (other == address || other.part().or(address.part()).is_none())
    };
    match record {
        Record::Outcomes(all) => all.iter().any(|one| created(one).is_some_and(|its| is_it(&one.address, its))),
        Record::Adopt(all) => all.iter().any(|one| is_it(&one.address, &one.id)),
        Record::Resolve { address, found: Resolution::Created { id } } => is_it(address, id),
        _ => false,
    }
}
