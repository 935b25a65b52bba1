//! After a crash: what was about to be done is held against what the service has.

use super::{Compared, One, Situation};
use crate::kinds::{Create, Read};
use crate::ledger::{Intent, Owned, Verb};
use crate::live::Seen;
use crate::plan::{Action, Reason};

impl One<'_> {
    /// An earlier run wrote down that it would create something, and no more. Says whether the rest can be decided.
    pub(super) fn recover(&self, owned: &mut Option<Owned>, seen: &mut Seen, out: &mut Compared) -> bool {
        let Situation { ledger, level, live, adopt, .. } = self.situation;
        let Some(open) = ledger.open.get(self.address).filter(|_| *adopt) else { return true };
        let intent = &open.intent;
        let (Verb::Create, Some(intended)) = (intent.verb, &intent.spec) else {
            // A change or a deletion shows in what the service has; the ledger's memory follows it.
            if let (Verb::Update, Some(intended), Some(owned), Seen::There(found)) =
                (intent.verb, &intent.spec, &mut *owned, &*seen)
                && found.spec.as_ref().is_some_and(|spec| self.known.names.by_key(self.api, spec) == *intended)
            {
                owned.spec = intended.clone();
                owned.refs.clone_from(&intent.refs);
                out.refresh = true;
            }
            self.deleted_by_us(intent, owned, seen, out);
            out.close = true;
            return true;
        };
        let life = self.api.lifecycle(*level);
        if out.change.name.is_empty() {
            out.change.name = self.api.name(intended);
        }
        let as_owned = |id: &str| Owned {
            id: id.to_owned(),
            spec: intended.clone(),
            refs: intent.refs.clone(),
            stamp: None,
            protect: intent.protect,
            past: false,
            applied: open.at,
        };
        if life.create == Create::Upsert {
            // Doing it again is the same. Where it is no longer wanted, what is there is ours.
            match seen {
                Seen::There(found) if owned.is_none() => {
                    *owned = Some(as_owned(&found.id));
                    out.recovered = Some(found.clone());
                }
                _ => out.close = true,
            }
            return true;
        }
        let doubt = |candidates: Vec<String>| Reason::InDoubt { since: open.at, candidates };
        if life.read == Read::LedgerOnly {
            out.change.action = Action::ByHand;
            out.change.reasons.push(doubt(Vec::new()));
            return false;
        }
        let mut new = self.known.others(self.address, &self.api.name(intended));
        new.retain(|found| {
            let same = |spec| self.known.names.by_key(self.api, spec) == *intended;
            !intent.seen.contains(&found.id) && found.spec.as_ref().is_some_and(same)
        });
        match new[..] {
            [] if live.whole.contains(&*self.address.kind) => {
                out.close = true;
                true
            }
            [one] => {
                *owned = Some(as_owned(&one.id));
                *seen = Seen::There(one.clone());
                out.recovered = Some(one.clone());
                out.change.reasons.push(Reason::Recovered { id: one.id.clone() });
                true
            }
            _ => {
                out.change.action = Action::ByHand;
                out.change.reasons.push(doubt(new.iter().map(|found| found.id.clone()).collect()));
                false
            }
        }
    }

    /// An earlier run was about to delete it, and it is gone: that is no drift. What has begun may be gone for that reason.
    fn deleted_by_us(&self, intent: &Intent, owned: &mut Option<Owned>, seen: &Seen, out: &mut Compared) {
        let Some(old) = owned else { return };
        let ours = intent.verb == Verb::Delete && intent.id.as_ref() == Some(&old.id);
        if ours && *seen == Seen::Absent && !self.has_begun(old) {
            *owned = None;
            out.released = out.change.desired.is_some();
        }
    }
}
