//! Resources that are the same on all sides: nearly all of nearly every plan. Comparing their texts is enough.

use std::collections::BTreeSet;

use pushplan_ledger::Owned;
use pushplan_model::kinds::remote::{may_name, segments};
use pushplan_model::kinds::{Found, Runs};
use pushplan_model::node::Shared;

use super::{Compared, Comparison, is_rezoned, segment_address};
use crate::live::LiveState;

impl Comparison<'_, '_> {
    /// The comparison if nothing changed, nothing is in progress and there is nothing to record; `None` if that is not
    /// obvious.
    pub(super) fn kept(&self) -> Option<Compared> {
        let situation = self.situation;
        let unit = situation.units.get(self.address)?;
        let owned = situation.ledger.owned.get(self.address)?;
        let found = match situation.live.of(self.address) {
            LiveState::There(found) => Some(found),
            LiveState::Untold => None,
            LiveState::Absent => return None,
        };
        let is_free = situation.own_only
            && !situation.under_way.contains(self.address)
            && !situation.ledger.open.contains_key(self.address);
        let protect = unit.protect.unwrap_or(owned.protect);
        let learns = found.is_some_and(|found| !found.push_ids.is_empty() && found.push_ids != owned.push_ids);
        if !is_free || learns || owned.past || protect != owned.protect || !unit.ignore.is_empty() {
            return None;
        }
        let spec = found.and_then(|found| found.spec.as_ref());
        let is_same = |spec: &Shared| self.known.names.by_key(self.api, spec) == owned.spec;
        if unit.spec != owned.spec || !spec.is_none_or(is_same) || self.may_have_begun(owned) {
            return None;
        }
        if may_name(self.api.audiences(), &owned.spec) && !self.points_right(owned, spec) {
            return None;
        }
        let stamp = found.filter(|_| spec.is_some()).and_then(|found: &Found| found.stamp.clone());
        let mut out = self.blank(Some(unit), Some(owned));
        out.change.id = Some(owned.id.clone());
        out.change.ledger = Some(owned.spec.clone());
        out.change.live = Some(owned.spec.clone());
        out.restamp = stamp.is_some() && stamp != owned.stamp || is_rezoned(unit, owned, self.address);
        out.stamp = stamp;
        out.owned = Some(owned.clone());
        Some(out)
    }

    fn may_have_begun(&self, owned: &Owned) -> bool {
        let begun = |runs: Runs| runs.has_begun(self.situation.now);
        self.api.has_runs() && self.api.runs(&owned.spec.tree()).is_some_and(begun)
    }

    /// Whether each segment that it names has that key now, on the service and in the ledger.
    fn points_right(&self, owned: &Owned, spec: Option<&Shared>) -> bool {
        let (own, read) = (owned.spec.tree(), spec.map(Shared::tree));
        let audiences = self.api.audiences();
        let read: Option<BTreeSet<&str>> = read.as_ref().map(|read| segments(audiences, read).into_iter().collect());
        segments(audiences, &own).into_iter().all(|key| {
            let address = segment_address(key);
            let now = self.situation.ledger.owned.get(&address).map(|segment| &segment.id);
            let Some(now) = self.known.renewed.get(&address).or(now) else { return true };
            let is_shown = read.as_ref().is_none_or(|ids| ids.contains(now.as_str()));
            is_shown && owned.refs.get(key).is_none_or(|id| id == now)
        })
    }
}
