//! After a crash: intents without outcomes are compared with the live state.

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
    /// Handles a creation that an earlier run recorded without an outcome. Returns whether the rest can be decided.
    pub(super) fn recover(&self, owned: &mut Option<Owned>, seen: &mut Cow<LiveState>, out: &mut Compared) -> bool {
        let Situation { ledger, level, adopt, now, .. } = self.situation;
        let Some(open) = ledger.open.get(self.address).filter(|_| *adopt) else { return true };
        let intent = &open.intent;
        let (Verb::Create, Some(intended)) = (intent.verb, &intent.spec) else {
            // The live state shows whether a change or a deletion was done; the ledger is updated from it.
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
            // Creating it again has no further effect. If it is no longer declared, an existing object is managed.
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
                // It is not declared, and no list can show whether it exists.
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
        // Someone may have renamed it since.
        let renamed: Vec<&Found> = match self.api.has_runs() && new.is_empty() {
            true => self.known.alike_intent(intent),
            false => Vec::new(),
        };
        let same = |spec: &Shared| self.known.names.by_key(self.api, spec) == *intended;
        let ours: Vec<&Found> = new.iter().copied().filter(|found| found.spec.as_ref().is_some_and(same)).collect();
        // An object that two intents may have created is unmanaged until a person decides.
        let is_another = |other: &Intent, found: &Found| {
            other.address != *self.address && other.spec == intent.spec && !other.seen.contains(&found.id)
        };
        let sought = self.known.sought(&self.address.kind, &name);
        let is_shared = |found: &Found| sought.iter().any(|other| is_another(other, found));
        // A list does not contain sent pushes, so absence proves nothing.
        let sent = self.api.runs(intended).is_some_and(|runs| runs.has_begun(*now));
        match ours[..] {
            [] if new.is_empty() && renamed.is_empty() && !sent && self.is_disproved() => {
                out.close = true;
                true
            }
            // Another object with the name may be the created one, edited since, and this one a copy of it.
            [one] if new.len() == 1 && !is_shared(one) => {
                *owned = Some(as_owned(one));
                *seen = Cow::Owned(LiveState::There(one.clone()));
                out.recovered = Some(Box::new(one.clone()));
                out.change.reasons.push(Reason::Recovered { id: one.id.clone() });
                true
            }
            // An object with other content may be the created one as well: someone may have edited it since.
            _ => {
                out.change.action = Action::ByHand;
                out.change.reasons.push(doubt(new.iter().chain(&renamed).map(|found| found.id.clone()).collect()));
                false
            }
        }
    }

    /// Whether two lists show that an intended creation had no effect.
    fn is_disproved(&self) -> bool {
        self.situation.live.disproved.contains(self.address)
    }

    /// The listed object with the id that pushplan assigns to a resource, if no other address has it.
    fn listed_under_own_id(&self, spec: &Shared) -> Option<&Found> {
        let id = self.api.own_id(spec).filter(|_| self.address.part().is_none())?;
        let named = self.known.others(self.address, &self.api.name(spec));
        named.iter().copied().find(|found| found.id == id)
    }

    /// Whether an undeclared object may exist, although it is in no list.
    fn is_lost_from_lists(&self, owned: Option<&Owned>) -> bool {
        let Situation { units, level, .. } = self.situation;
        let is_listed = self.api.lifecycle(*level).read == Read::Listed && self.address.part().is_none();
        is_listed && owned.is_none() && !units.contains_key(self.address) && !self.is_disproved()
    }

    /// Handles a resource that an earlier run was about to delete and that is gone: that is no drift. A push that has
    /// begun may be gone for that reason.
    fn deleted_by_us(&self, intent: &Intent, owned: &mut Option<Owned>, seen: &LiveState, out: &mut Compared) {
        let Some(old) = owned else { return };
        let ours = intent.verb == Verb::Delete && intent.id.as_ref() == Some(&old.id);
        if ours && *seen == LiveState::Absent && !self.has_begun(old, seen) {
            *owned = None;
            out.released = out.change.desired.is_some();
        }
    }

    /// Returns the time of a push that an earlier run was about to delete, if nothing shows or will show whether it
    /// did: its time has passed, it cannot be read and is no longer to be deleted, or a person may have sent it before.
    /// If it counted as sent or as kept, a later time, declared now or in newer files, would silently be skipped. If it
    /// counted as deleted, its replacement would be sent as well.
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
        // The clock of that run may have been fast, so its time proves nothing.
        is_unknown.then(|| self.api.runs(&old.spec)?.first)?
    }

    /// Whether a person may have sent it before an earlier run deleted it: no list shows this, and the reports of
    /// pushes prove nothing.
    fn may_be_sent_early(&self) -> bool {
        self.api.leaves_list_when_sent() && !self.situation.live.unsent.contains(self.address)
    }

    /// Treats an object with the same name as managed. Only the simulation does this, to check that it detects the
    /// error.
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
