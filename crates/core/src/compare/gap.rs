//! After a ledger was restored from a backup: unknown resources may have been created since, by records that are lost.

use jiff::Timestamp;
use pushplan_ledger::{Adopted, Gap, Ledger, Owned, Record, Resolution};
use pushplan_model::address::Address;
use pushplan_model::kinds::{self, Api, Create, Delete, Read};
use pushplan_model::nouns::level::Level;
use serde_json::Value;

use super::{Compared, Comparison, Situation, Unit};
use crate::live::LiveState;
use crate::plan::{Action, Reason};

impl Comparison<'_, '_> {
    /// Leaves a creation to a person, unless it is proven that the service does not have the object, or a second
    /// creation has no effect.
    pub(super) fn wait_for_gap(&self, out: &mut Compared) {
        let Situation { ledger, heed_gap, .. } = self.situation;
        let Some(gap) = ledger.gap.as_ref().filter(|gap| *heed_gap && gap.covers(self.address)) else { return };
        if !self.is_proven_absent() {
            wait(out, gap);
        }
    }

    /// Leaves it to a person to create a resource again that is in the ledger and not visible: in the gap, another one
    /// may have replaced it, and may message people.
    pub(super) fn wait_for_replaced(&self, owned: &Owned, seen: &LiveState, out: &mut Compared) {
        let is_made = matches!(out.change.action, Action::Create | Action::Replace);
        let is_older = self.situation.ledger.gap.as_ref().is_some_and(|gap| may_be_replaced(gap, owned, self.api));
        if is_made && is_older && !matches!(seen, LiveState::There(_)) {
            self.wait_for_gap(out);
        }
    }

    /// Leaves it to a person whether a message was sent at the time that the ledger knows, if another time is declared: in the gap,
    /// it may have been deleted before its time, and the new one may not have been created.
    pub(super) fn wait_for_put_off(&self, unit: Option<&Unit>, owned: &Owned, seen: &LiveState, out: &mut Compared) {
        let Situation { ledger, now, .. } = self.situation;
        let Some(unit) = unit.filter(|_| !owned.past && !matches!(seen, LiveState::There(_))) else { return };
        let is_later = !self.api.runs(&unit.spec).is_some_and(|runs| runs.has_begun(*now));
        if is_later && ledger.gap.as_ref().is_some_and(|gap| may_be_replaced(gap, owned, self.api)) {
            out.change.reasons.retain(|reason| !matches!(reason, Reason::Went { .. }));
            self.wait_for_gap(out);
        }
    }

    /// Whether no earlier creation can be missed: two complete lists contain neither its name nor an object with the
    /// same trigger. A resource that messages people by itself leaves the list after it was sent, so no list proves
    /// anything.
    fn is_proven_absent(&self) -> bool {
        let Situation { live, level, .. } = self.situation;
        let life = self.api.lifecycle(*level);
        let is_listed =
            matches!(life.read, Read::Listed | Read::ListedThenGet) && live.whole.contains(&*self.address.kind);
        match life.create {
            Create::Upsert => true,
            Create::Anew => is_listed && self.was_sought() && !self.api.has_runs() && !self.has_lookalike(),
            Create::Once => false,
        }
    }

    /// Whether two lists were searched for it, as for every known resource that is in no list.
    fn was_sought(&self) -> bool {
        let Situation { ledger, live, .. } = self.situation;
        ledger.owned.contains_key(self.address) || live.disproved.contains(self.address)
    }

    /// Whether a list shows an unmanaged object that may be this resource, under the same or another name.
    fn has_lookalike(&self) -> bool {
        let Some(unit) = self.situation.units.get(self.address) else { return false };
        if !self.known.others(self.address, &self.api.called(&unit.spec)).is_empty() {
            return true;
        }
        let own = unit.spec.tree();
        if !self.api.messages(&own) {
            return false;
        }
        let triggers = |spec: &Value| self.api.firing(spec).map(|firing| firing.triggers);
        let triggered_alike = |other: &Value| match (triggers(&own), triggers(other)) {
            (Some(own), Some(others)) => others.iter().any(|trigger| own.contains(trigger)),
            // One of them has a trigger that is no tag.
            _ => self.api.messages(other),
        };
        let ids = self.situation.ledger.ids();
        let listed = self.situation.live.listed.get(&*self.address.kind).into_iter().flatten();
        let mut others = listed.filter(|(id, _)| !ids.contains(&(&*self.address.kind, id.as_str())));
        others.any(|(_, found)| found.spec.as_ref().is_some_and(|spec| triggered_alike(&spec.tree())))
    }
}

/// Leaves it to a person to create a resource again that only refers to a segment that is created again: in the gap,
/// another one may have replaced it.
pub(crate) fn wait_for_renewed(one: &mut Compared, situation: &Situation) {
    let Situation { ledger, live, level, heed_gap, .. } = situation;
    let (address, Some(owned)) = (&one.change.address, &one.owned) else { return };
    let api = kinds::api(address);
    let gap = ledger.gap.as_ref().filter(|gap| *heed_gap && gap.covers(address) && may_be_replaced(gap, owned, api));
    let is_made = one.change.action == Action::Replace && api.lifecycle(*level).create != Create::Upsert;
    if let Some(gap) = gap.filter(|_| is_made && !matches!(live.of(address), LiveState::There(_))) {
        wait(one, gap);
    }
}

fn wait(one: &mut Compared, gap: &Gap) {
    one.since_gap = true;
    one.change.action = Action::ByHand;
    one.change.reasons.push(Reason::UnknownSinceGap { since: gap.since, accepted: gap.at });
}

/// The records by which a user reports that a resource was created in a gap of the ledger, with this id, or sent in it.
/// A later run deletes the resource that the ledger had under the address, unless its time has passed, or the API
/// cannot delete it and a person has.
pub fn found_in_gap(
    unit: &Unit,
    address: &Address,
    id: &str,
    is_sent: bool,
    (ledger, level, now): (&Ledger, Level, Timestamp),
) -> Vec<Record> {
    let api = kinds::api(address);
    let has_begun = |owned: &Owned| api.runs(&owned.spec).is_some_and(|runs| runs.has_begun(now));
    let is_over = |owned: &Owned| api.lifecycle(level).delete == Delete::Never || has_begun(owned);
    let owned = ledger.owned.get(address);
    let is_known = owned.is_some_and(|owned| owned.id == id);
    let forget = (!is_known && owned.is_some_and(is_over)).then(|| Record::Forget(vec![address.clone()]));
    let adopted = Record::Adopt(vec![Adopted { past: is_sent, ..unit.taken_over(address, id, ledger) }]);
    // It is in the ledger already, and nothing about the gap is left open.
    let found = || Resolution::Created { id: id.to_owned() };
    let resolved = is_known.then(|| Record::Resolve { address: address.clone(), found: found() });
    forget.into_iter().chain([adopted]).chain(resolved).collect()
}

/// Whether a managed resource may have been replaced in a gap by another one of a kind that messages people.
pub fn may_be_replaced(gap: &Gap, owned: &Owned, api: &dyn Api) -> bool {
    let spec = owned.spec.tree();
    owned.applied <= gap.at && (api.messages(&spec) || api.is_off(&spec))
}
