//! Events since a review of a plan that is the same again.

use std::collections::{BTreeMap, BTreeSet};

use pushplan_ledger::{Done, Entry, Intent, Outcome, Record, Verb};
use pushplan_model::address::Address;
use pushplan_model::node::Shared;

use super::{Change, Difference, Plan, Reason};

impl Reason {
    /// Whether it is about something that a run has left: an old version that still exists, or a lost answer.
    pub fn is_left(&self) -> bool {
        matches!(
            self,
            Self::Recovered { .. } | Self::Retired { .. } | Self::InDoubt { .. } | Self::DeletedOrSent { .. }
        )
    }
}

impl Plan {
    /// The changes of resources that a run created or changed since the review and that were then brought back to their
    /// previous state: the plan was approved before that. `entries` are the records since then.
    pub fn taken_back(&self, entries: &[Entry]) -> BTreeMap<Address, Difference> {
        let steps = self.steps.iter().filter(|step| changes_something(step.verb));
        let changed: BTreeSet<&Address> = steps.map(|step| &step.address).collect();
        let is_one =
            |change: &&Change| changed.contains(&change.address) && !change.reasons.iter().any(Reason::is_left);
        let mut open: BTreeMap<&Address, &Change> =
            self.changes.iter().filter(is_one).map(|change| (&change.address, change)).collect();
        let mut meant: BTreeMap<(&Address, Verb), Option<&Shared>> = BTreeMap::new();
        let mut found = BTreeMap::new();
        for entry in entries {
            match &entry.record {
                Record::Intents(intents) => meant
                    .extend(intents.iter().map(|Intent { address, verb, spec, .. }| ((address, *verb), spec.as_ref()))),
                Record::Outcomes(outcomes) => {
                    for Outcome { address, verb, result, .. } in outcomes {
                        let is_made = matches!((verb, result), (Verb::Create | Verb::Update, Done::Done { .. }));
                        let is_other =
                            |change: &&Change| meant.get(&(address, *verb)).copied().flatten() != change.live.as_ref();
                        if is_made && open.get(address).is_some_and(is_other) {
                            let change = open.remove(address);
                            let is_gone = change.is_some_and(|change| change.live.is_none());
                            let difference = if is_gone { Difference::Removed } else { Difference::Back };
                            found.insert(address.clone(), difference);
                        }
                    }
                }
                _ => {}
            }
        }
        found
    }
}

fn changes_something(verb: Verb) -> bool {
    matches!(verb, Verb::Create | Verb::Update | Verb::Delete)
}
