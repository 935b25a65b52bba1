//! References to segments: a segment exists, or is created first.

use std::collections::{BTreeMap, BTreeSet};

use pushplan_ledger::{Owned, Verb};
use pushplan_model::address::Address;
use pushplan_model::kinds;
use pushplan_model::kinds::remote::{named, segments};
use serde_json::Value;

use super::{Arranging, is_late, makes, segment};
use crate::compare::{Compared, Situation};
use crate::live::LiveState;
use crate::plan::{Action, Step};

/// The changes that name a segment that neither exists nor is created by this plan, with those segments.
pub(super) fn blocked(compared: &[Compared], situation: &Situation) -> BTreeMap<Address, Vec<Address>> {
    let writes = |one: &Compared| matches!(one.change.action, Action::Create | Action::Update | Action::Replace);
    if !compared.iter().any(writes) {
        return BTreeMap::new();
    }
    let is_made = |one: &Compared| makes(one) && !is_late(&one.change);
    // A recovered segment has another id than in the ledger.
    let is_found =
        |one: &Compared| one.recovered.is_some() || one.owned.is_some() && !is_gone(situation, &one.change.address);
    let mut there: BTreeSet<&Address> = situation.ledger.owned.keys().filter(|it| !is_gone(situation, it)).collect();
    there.extend(compared.iter().filter(|one| is_made(one) || is_found(one)).map(|one| &one.change.address));
    there.extend(situation.under_way);
    let mut blocked: BTreeMap<Address, Vec<Address>> = BTreeMap::new();
    loop {
        let before = blocked.len();
        for one in compared {
            let (true, Some(desired)) = (writes(one), &one.change.desired) else { continue };
            let api = kinds::api(&one.change.address);
            let by: Vec<Address> = named(api.audiences(), desired)
                .into_iter()
                .map(segment)
                .filter(|it| !there.contains(it) || (blocked.contains_key(it) && !is_there(situation, it)))
                .collect();
            if !by.is_empty() {
                blocked.entry(one.change.address.clone()).or_insert(by);
            }
        }
        if blocked.len() == before {
            return blocked;
        }
    }
}

/// Whether a segment in the ledger is on the service, as far as is known.
fn is_there(situation: &Situation, address: &Address) -> bool {
    situation.ledger.owned.contains_key(address) && !is_gone(situation, address)
}

/// Whether the service no longer has a segment under the id in the ledger: no new reference to it is allowed.
fn is_gone(situation: &Situation, address: &Address) -> bool {
    *situation.live.of(address) == LiveState::Absent
}

impl Arranging<'_> {
    /// The ids of the segments that a resource names now: those that the service shows, or else those in the ledger. A
    /// segment that it no longer names can be deleted.
    pub(super) fn pointed_at(&self, address: &Address, spec: &Value, owned: &Owned) -> BTreeMap<String, String> {
        let audiences = kinds::api(address).audiences();
        let shown = match self.situation.live.of(address) {
            LiveState::There(found) => found.spec.as_ref().map(|spec| segments(audiences, spec)),
            LiveState::Absent | LiveState::Untold => None,
        };
        let is_shown = |id: &&String| shown.as_ref().is_some_and(|shown| shown.contains(&id.as_str()));
        let id = |key: &str| {
            let before = owned.refs.get(key);
            let now = self.situation.ledger.owned.get(&segment(key)).map(|owned| &owned.id);
            Some((key.to_owned(), now.filter(is_shown).or(before).or(now)?.clone()))
        };
        segments(audiences, spec).into_iter().filter_map(id).collect()
    }

    /// Adds the ids of existing segments to creations and updates, and makes them wait for the step that creates a
    /// segment.
    pub(super) fn references(&mut self) {
        for number in 0..self.drafts.len() {
            let Step { address, verb, spec, .. } = &self.drafts[number].step;
            let (Verb::Create | Verb::Update, Some(spec)) = (verb, spec) else { continue };
            let keys: Vec<String> =
                named(kinds::api(address).audiences(), spec).into_iter().map(str::to_owned).collect();
            for key in keys {
                let target = segment(&key);
                if let Some(made) = self.made.get(&target) {
                    let made = *made;
                    self.drafts[number].after.insert(made);
                    // A resource that is deleted and created again is deleted only when it can be created.
                    let deletes = |before: &usize| self.drafts[*before].step.verb == Verb::Delete;
                    let before: Vec<usize> = self.drafts[number].after.iter().copied().filter(deletes).collect();
                    for deleted in before {
                        self.drafts[deleted].after.insert(made);
                    }
                } else if let Some((at, id)) = self.found_again(&target) {
                    self.drafts[number].after.insert(at);
                    self.drafts[number].step.refs.insert(key, id);
                } else if let Some(owned) = self.situation.ledger.owned.get(&target) {
                    self.drafts[number].step.refs.insert(key, owned.id.clone());
                }
            }
        }
    }

    /// The id of a recovered object, and the step that adopts it.
    fn found_again(&self, address: &Address) -> Option<(usize, String)> {
        let known = self.situation.ledger.owned.get(address).map(|owned| &owned.id);
        let at = *self.adopted.get(address)?;
        let id = self.drafts[at].step.id.as_ref().filter(|id| Some(*id) != known)?;
        Some((at, id.clone()))
    }
}
