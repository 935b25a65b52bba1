//! After a crash: what was about to be done is held against what the service has.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::Timestamp;
use pushplan_ledger::{Intent, Owned, Verb};
use pushplan_model::kinds::{Create, Found, Read};
use pushplan_model::node::Shared;

use super::{Compared, Comparison, Situation};
use crate::live::LiveState;
use crate::plan::{Action, Reason};

impl Comparison<'_, '_> {
    /// An earlier run wrote down that it would create something, and no more. Says whether the rest can be decided.
    pub(super) fn recover(&self, owned: &mut Option<Owned>, seen: &mut Cow<LiveState>, out: &mut Compared) -> bool {
        let Situation { ledger, level, adopt, now, .. } = self.situation;
        let Some(open) = ledger.open.get(self.address).filter(|_| *adopt) else { return true };
        let intent = &open.intent;
        let (Verb::Create, Some(intended)) = (intent.verb, &intent.spec) else {
            // A change or a deletion shows in what the service has; the ledger's memory follows it.
            if let (Verb::Update, Some(intended), Some(owned), LiveState::There(found)) =
                (intent.verb, &intent.spec, &mut *owned, &**seen)
                && found.spec.as_ref().is_some_and(|spec| self.known.names.by_key(self.api, spec) == *intended)
            {
                owned.spec = intended.clone();
                owned.refs.clone_from(&intent.refs);
                out.refresh = true;
            }
            if let Some(due) = self.may_be_unsent(intent, owned.as_ref(), seen) {
                let id = intent.id.clone().unwrap_or_default();
                out.change.action = Action::ByHand;
                out.change.reasons.push(Reason::DeletedOrSent { since: open.at, id, due });
                return false;
            }
            self.deleted_by_us(intent, owned, seen, out);
            out.close = true;
            return true;
        };
        let life = self.api.lifecycle(*level);
        if out.change.name.is_empty() {
            out.change.name = self.api.name(intended);
        }
        let as_owned = |found: &Found| Owned {
            id: found.id.clone(),
            spec: intended.clone(),
            refs: intent.refs.clone(),
            stamp: None,
            protect: intent.protect,
            past: false,
            applied: open.at,
            push_ids: found.push_ids.clone(),
            zone: intent.zone.clone(),
        };
        let doubt = |candidates: Vec<String>| Reason::InDoubt { since: open.at, candidates };
        if life.create == Create::Upsert {
            // Doing it again is the same. Where it is no longer wanted, what is there is ours.
            let listed = self.listed_under_own_id(intended).filter(|_| owned.is_none());
            match (&**seen, listed) {
                (LiveState::There(found), _) if owned.is_none() => {
                    *owned = Some(as_owned(found));
                    out.recovered = Some(Box::new(found.clone()));
                }
                (_, Some(found)) if !intent.seen.contains(&found.id) => {
                    *owned = Some(as_owned(found));
                    *seen = Cow::Owned(LiveState::There(found.clone()));
                    out.recovered = Some(Box::new(found.clone()));
                    out.change.reasons.push(Reason::Recovered { id: found.id.clone() });
                }
                // Nobody wants it, and no list can say whether it is there.
                (_, None) if self.is_lost_from_lists(owned.as_ref()) => {
                    out.change.action = Action::ByHand;
                    out.change.reasons.push(doubt(Vec::new()));
                    return false;
                }
                _ => out.close = true,
            }
            return true;
        }
        if life.read == Read::LedgerOnly {
            out.change.action = Action::ByHand;
            out.change.reasons.push(doubt(Vec::new()));
            return false;
        }
        let name = self.api.name(intended);
        let new = self.known.others(self.address, &name).iter().copied();
        let new: Vec<&Found> = new.filter(|found| !intent.seen.contains(&found.id)).collect();
        // Someone may have given it another name since.
        let renamed: Vec<&Found> = match self.api.has_runs() && new.is_empty() {
            true => self.known.alike_intent(intent),
            false => Vec::new(),
        };
        let same = |spec: &Shared| self.known.names.by_key(self.api, spec) == *intended;
        let ours: Vec<&Found> = new.iter().copied().filter(|found| found.spec.as_ref().is_some_and(same)).collect();
        // One that two of them may have made is nobody's until a person says whose it is.
        let is_another = |other: &Intent, found: &Found| {
            other.address != *self.address && other.spec == intent.spec && !other.seen.contains(&found.id)
        };
        let sought = self.known.sought(&self.address.kind, &name);
        let is_shared = |found: &Found| sought.iter().any(|other| is_another(other, found));
        // A list does not show what was sent, so that its absence proves nothing.
        let sent = self.api.runs(intended).is_some_and(|runs| runs.has_begun(*now));
        match ours[..] {
            [] if new.is_empty() && renamed.is_empty() && !sent && self.is_disproved() => {
                out.close = true;
                true
            }
            // Another one of the name may be ours as well, edited since, and this one a copy of it.
            [one] if new.len() == 1 && !is_shared(one) => {
                *owned = Some(as_owned(one));
                *seen = Cow::Owned(LiveState::There(one.clone()));
                out.recovered = Some(Box::new(one.clone()));
                out.change.reasons.push(Reason::Recovered { id: one.id.clone() });
                true
            }
            // One that says something else may be ours as well: someone may have edited it since.
            _ => {
                out.change.action = Action::ByHand;
                out.change.reasons.push(doubt(new.iter().chain(&renamed).map(|found| found.id.clone()).collect()));
                false
            }
        }
    }

    /// Whether two lists say that an intended creation came to nothing.
    fn is_disproved(&self) -> bool {
        self.situation.live.disproved.contains(self.address)
    }

    /// What a list shows under the id that a thing gets from us, where nobody else's address has it.
    fn listed_under_own_id(&self, spec: &Shared) -> Option<&Found> {
        let id = self.api.own_id(spec).filter(|_| self.address.part().is_none())?;
        let named = self.known.others(self.address, &self.api.name(spec));
        named.iter().copied().find(|found| found.id == id)
    }

    /// Whether something that nobody declares may be there, although it is in no list.
    fn is_lost_from_lists(&self, owned: Option<&Owned>) -> bool {
        let Situation { units, level, .. } = self.situation;
        let is_listed = self.api.lifecycle(*level).read == Read::Listed && self.address.part().is_none();
        is_listed && owned.is_none() && !units.contains_key(self.address) && !self.is_disproved()
    }

    /// An earlier run was about to delete it, and it is gone: that is no drift. What has begun may be gone for that reason.
    fn deleted_by_us(&self, intent: &Intent, owned: &mut Option<Owned>, seen: &LiveState, out: &mut Compared) {
        let Some(old) = owned else { return };
        let ours = intent.verb == Verb::Delete && intent.id.as_ref() == Some(&old.id);
        if ours && *seen == LiveState::Absent && !self.has_begun(old, seen) {
            *owned = None;
            out.released = out.change.desired.is_some();
        }
    }

    /// When something is or was due that an earlier run was about to delete, if nothing shows whether it did, and nothing will: its
    /// time has come, it cannot be read and is not to be deleted any more, or a person may have sent it before. If it were taken for
    /// sent or for kept, a later time, declared by now or by newer files than these, would silently never come. If it were taken for
    /// deleted, what is declared in its place would be sent as well.
    fn may_be_unsent(&self, intent: &Intent, owned: Option<&Owned>, seen: &LiveState) -> Option<Timestamp> {
        let is_ours = |old: &&Owned| intent.verb == Verb::Delete && intent.id.as_ref() == Some(&old.id) && !old.past;
        let old = owned.filter(is_ours)?;
        let unit = self.situation.units.get(self.address);
        let has_begun = self.has_begun(old, seen);
        let is_unknown = match seen {
            LiveState::There(_) => false,
            LiveState::Absent if has_begun => unit.is_some(),
            LiveState::Absent => self.may_be_sent_early(),
            LiveState::Untold => unit.is_some_and(|unit| has_begun || unit.spec == old.spec),
        };
        // The clock of that run may have been fast, so that its time says nothing.
        is_unknown.then(|| self.api.runs(&old.spec)?.first)?
    }

    /// Whether a person may have sent it before an earlier run deleted it: no list shows either, and the reports of pushes prove
    /// nothing.
    fn may_be_sent_early(&self) -> bool {
        self.api.leaves_list_when_sent() && !self.situation.live.unsent.contains(self.address)
    }

    /// Treats an object of the same name as managed. Only the simulation does this, to see that it is noticed.
    pub(super) fn take_by_name(&self, owned: &mut Option<Owned>, seen: &mut Cow<LiveState>) {
        let (None, Some(unit)) = (&owned, self.situation.units.get(self.address)) else { return };
        let Some(other) = self.known.others(self.address, &self.api.name(&unit.spec)).first().copied() else { return };
        *owned = Some(Owned {
            id: other.id.clone(),
            spec: other.spec.clone().unwrap_or_else(|| unit.spec.clone()),
            refs: BTreeMap::new(),
            stamp: None,
            protect: false,
            past: false,
            applied: self.situation.now,
            push_ids: other.push_ids.clone(),
            zone: None,
        });
        *seen = Cow::Owned(LiveState::There(other.clone()));
    }
}
