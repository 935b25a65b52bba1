//! Pushes that have begun: they are neither created again nor changed, and their remaining times are reported.

use std::borrow::Cow;

use pushplan_ledger::Owned;
use pushplan_model::kinds::Runs;
use pushplan_model::kinds::remote::{Coming, to_come};

use super::{Compared, Comparison, Unit, fields, moved, same, shown};
use crate::live::LiveState;
use crate::plan::{Action, Moved, Reason};

impl Comparison<'_, '_> {
    /// Whether its time, or the first of its times, has passed: according to the live state if the service shows it,
    /// because someone may have postponed it.
    pub(super) fn has_begun(&self, owned: &Owned, seen: &LiveState) -> bool {
        let begun = |runs: Runs| runs.has_begun(self.situation.now);
        match shown(seen) {
            Some(spec) => self.api.runs(spec).is_some_and(begun),
            None => owned.past || self.api.runs(&owned.spec).is_some_and(begun),
        }
    }

    /// Handles a push whose time, or the first of its times, has passed: whatever is edited, it is not sent again.
    pub(super) fn begun(&self, unit: Option<&Unit>, owned: &Owned, seen: &LiveState, out: &mut Compared) {
        let spec = shown(seen).unwrap_or(&owned.spec);
        let runs = self.api.runs(spec);
        let has_begun = runs.is_some_and(|runs| runs.has_begun(self.situation.now));
        // The ledger says that it was sent, although its time is still to come. If that time is near, an earlier run
        // had a fast clock, and it is about to be sent; otherwise a person reported that it was sent at another time
        // than the one declared now.
        let was_sent = owned.past && !has_begun && *seen == LiveState::Untold;
        let is_said = was_sent && self.situation.too_late(self.api, spec).is_none();
        let at = runs.and_then(|runs| runs.first).filter(|_| !is_said);
        let rest = if was_sent { Vec::new() } else { to_come(&self.api.times(spec), self.situation.now) };
        // A push that was deleted before its end is not sent any more.
        let is_removed = *seen == LiveState::Absent && !rest.is_empty();
        if !rest.is_empty() && !is_removed {
            return self.half_out(unit, owned, seen, (at, rest), out);
        }
        let Some(unit) = unit else {
            // It is no longer declared, and there is nothing left to delete. A push that a list still shows may have
            // been postponed after the list was read: it leaves the list when it is sent.
            let is_listed = matches!(seen, LiveState::There(_)) && self.api.leaves_list_when_sent();
            let over = is_said || runs.is_none_or(|runs| runs.is_done(self.situation.now, self.situation.min_lead));
            if self.situation.deletes && !is_listed && (over || is_removed) {
                out.change.action = Action::Forget;
                out.change.moved = is_removed.then_some(Moved::Removed);
            }
            return;
        };
        let edited = unit.spec != owned.spec;
        if owned.past && !edited && !is_removed {
            return;
        }
        out.change.action = Action::Past;
        out.change.moved = is_removed.then_some(Moved::Removed);
        out.change.reasons.push(Reason::Went { at, edited, rest: Vec::new() });
    }

    /// Handles a push whose first time has passed and that has other times to come: they are sent as the service has
    /// them, unless it can be deleted and is no longer declared.
    fn half_out(
        &self,
        unit: Option<&Unit>,
        owned: &Owned,
        seen: &LiveState,
        (at, rest): (Option<jiff::Timestamp>, Vec<Coming>),
        out: &mut Compared,
    ) {
        let Some(unit) = unit else {
            self.undeclared(owned, seen, out);
            if out.change.action != Action::Keep {
                out.change.reasons.push(Reason::Went { at, edited: false, rest });
            }
            return;
        };
        let live = shown(seen).map_or_else(|| owned.spec.clone(), |spec| self.keyed(spec, owned));
        let (desired, ignored) = fields::ignoring(&unit.spec, &live, &unit.ignore);
        let edited = !same(&desired, &live);
        if edited {
            let (applied, _) = fields::ignoring(&owned.spec, &live, &unit.ignore);
            out.change.moved = moved(&desired, &live, &applied);
            out.change.action = Action::ByHand;
        } else if !owned.past {
            out.change.action = Action::Past;
        } else {
            return;
        }
        if let Cow::Owned(desired) = desired {
            out.change.desired = Some(desired.into());
        }
        out.change.ignored = ignored;
        out.change.live = Some(live);
        out.change.reasons.push(Reason::Went { at, edited, rest });
    }
}
