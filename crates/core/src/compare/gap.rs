//! After a ledger was restored from a backup: what it does not know may have been created since, by records that are lost.

use pushplan_ledger::Owned;
use pushplan_model::kinds::{Create, Read};

use super::{Compared, Comparison, Situation};
use crate::live::LiveState;
use crate::plan::{Action, Reason};

impl Comparison<'_, '_> {
    /// Leaves a creation to a person, unless it is proven that the service does not have the thing, or creating it twice is the
    /// same as once.
    pub(super) fn wait_for_gap(&self, out: &mut Compared) {
        let Situation { ledger, heed_gap, .. } = self.situation;
        let Some(gap) = ledger.gap.as_ref().filter(|gap| *heed_gap && gap.covers(self.address)) else { return };
        if !self.is_proven_absent() {
            out.change.action = Action::ByHand;
            out.change.reasons.push(Reason::UnknownSinceGap { since: gap.since, accepted: gap.at });
        }
    }

    /// Leaves it to a person to make something anew that the ledger knows and nothing shows: in the gap, another may have taken its
    /// place, and have been sent.
    pub(super) fn wait_for_replaced(&self, owned: &Owned, seen: &LiveState, out: &mut Compared) {
        let is_made = matches!(out.change.action, Action::Create | Action::Replace);
        let is_older = self.situation.ledger.gap.as_ref().is_some_and(|gap| owned.applied <= gap.at);
        if is_made && is_older && self.api.has_runs() && !matches!(seen, LiveState::There(_)) {
            self.wait_for_gap(out);
        }
    }

    /// Whether nothing that was created before can be missed: a complete list has no such name. Something that messages people
    /// by itself leaves the list once it has, so that no list proves anything.
    fn is_proven_absent(&self) -> bool {
        let Situation { live, level, .. } = self.situation;
        let life = self.api.lifecycle(*level);
        let is_listed =
            matches!(life.read, Read::Listed | Read::ListedThenGet) && live.whole.contains(&*self.address.kind);
        match life.create {
            Create::Upsert => true,
            Create::Anew => is_listed && !self.api.has_runs(),
            Create::Once => false,
        }
    }
}
