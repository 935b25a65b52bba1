//! Backups: a service, or a ledger, returns to an earlier state.

use std::collections::BTreeMap;
use std::rc::Rc;

use pushplan::address::Address;
use pushplan::kinds;
use pushplan::ledger::{Unconfirmed, Verb};

use super::service::{Origin, Service, first_time, name};
use super::tally::Fault;
use super::time::{self, MINUTE, SECOND};
use super::world::World;

/// The objects that a backup did not contain.
#[derive(Clone, Copy, Debug, Default)]
pub struct Undone {
    pub created: usize,
    pub updated: usize,
    pub deleted: usize,
}

impl Service {
    /// Returns to the state at a moment. Sent messages stay sent, and messages that would have been sent since are left
    /// as they are. Objects that were deleted and exist again are unmanaged unless the ledger has them.
    pub fn restore(&mut self, at: i64, now: i64, is_known: impl Fn(&Address, &str) -> bool) -> Undone {
        let mut undone = Undone::default();
        for (id, object) in self.objects.iter_mut().filter(|(_, object)| !object.begun) {
            if object.versions.last().is_none_or(|(from, _)| *from <= at) {
                continue;
            }
            let kept = object.versions.iter().filter(|(from, _)| *from <= at).count();
            let before = kept.checked_sub(1).and_then(|place| object.versions[place].1.as_deref());
            let due = before.and_then(|body| first_time(object.kind, body));
            if due.is_some_and(|due| due <= now) {
                continue;
            }
            // A twin that returns while a creation is unconfirmed could be that creation: nobody could distinguish
            // them.
            if object.is_twin && object.body().is_none() {
                continue;
            }
            match (before.is_some(), object.body().is_some()) {
                (false, true) => {
                    undone.created += 1;
                    object.removed_by_person = true;
                }
                (true, true) => undone.updated += 1,
                (true, false) => {
                    undone.deleted += 1;
                    if let Origin::Ours(address) = &object.origin
                        && !is_known(address, id)
                    {
                        object.was = Some(address.clone());
                        object.origin = Origin::Person;
                        object.is_twin = true;
                    }
                }
                (false, false) => {}
            }
            object.versions.truncate(kept);
            object.due = due;
            self.due = self.due.min(due.unwrap_or(i64::MAX));
        }
        for versions in self.docs.values_mut() {
            let kept = versions.iter().filter(|(from, _)| *from <= at).count();
            undone.updated += usize::from(kept < versions.len());
            versions.truncate(kept);
        }
        undone
    }
}

impl World {
    /// Sometimes restores the service, or the ledger, from a backup that is some minutes old.
    pub fn maybe_restore(&mut self) {
        if !self.dice.chance(100) {
            return;
        }
        let most = *self.dice.pick(&[5 * MINUTE, 30 * MINUTE, 600 * MINUTE]);
        let mut at = self.now - self.dice.between(0, most);
        // Often from a moment just before something was written.
        if self.dice.chance(700) && !self.log.entries.is_empty() {
            at = time::of(self.dice.pick(&self.log.entries).at) - 1;
        }
        let at = at.clamp(0, self.now);
        let behind = (self.now - at) / SECOND;
        if self.dice.chance(500) {
            let ledger = &self.log.ledger;
            // An object that existed before an intent is not its result.
            let made: BTreeMap<String, i64> = self
                .service
                .objects
                .iter()
                .filter_map(|(id, object)| Some((id.clone(), object.versions.first()?.0)))
                .collect();
            let intended = &self.intended;
            let is_new = |address: &Address, id: &str| made.get(id) >= intended.get(address);
            let is_of = |open: &Unconfirmed, id: &str| match open.intent.verb {
                Verb::Create => !open.intent.seen.contains(id) && is_new(&open.intent.address, id),
                _ => open.intent.id.as_deref() == Some(id),
            };
            let is_known = |address: &Address, id: &str| {
                ledger.owned.get(address).is_some_and(|owned| owned.id == id)
                    || ledger.open.get(address).is_some_and(|open| is_of(open, id))
                    || ledger.retired.iter().any(|old| old.address == *address && old.id == id)
            };
            let undone = self.service.restore(at, self.now, is_known);
            for (count, what) in [(undone.created, "create"), (undone.updated, "update"), (undone.deleted, "delete")] {
                if count > 0 {
                    self.tally.met(Fault::ServiceRestored, what);
                }
            }
            self.forget_given();
            self.note(|| format!("the service is restored as of {behind}s ago: {undone:?}"));
        } else if self.log.restore(time::stamp(at)) {
            // No process is running, and the lease of the run at the time of the backup has expired.
            self.processes.iter_mut().for_each(|process| process.held_until = 0);
            self.tally.met(Fault::LedgerRestored, "run");
            self.note(|| format!("the ledger is restored as of {behind}s ago"));
            self.forget();
            self.maybe_accept_gap();
        }
    }

    /// Often a person accepts that the newest records are missing, and continues.
    fn maybe_accept_gap(&mut self) {
        if self.is_set_back() && self.dice.chance(700) {
            self.log.accept_gap(time::stamp(self.now));
            self.tally.met(Fault::GapAccepted, "run");
            self.note(|| "a person accepts the gap in the ledger".to_owned());
        }
    }

    /// Drops all expectations about resources that the ledger no longer contains.
    pub fn forget(&mut self) {
        self.undo_renames();
        let ledger = &self.log.ledger;
        for (id, object) in &mut self.service.objects {
            let is_its = |open: &&Unconfirmed| {
                let Unconfirmed { intent, .. } = open;
                let is_named = name(object.body()) == name(intent.spec.as_deref());
                intent.verb == Verb::Create
                    && intent.address.kind == object.kind
                    && is_named
                    && !intent.seen.contains(id)
            };
            let may_be = ledger.open.values().find(is_its).map(|open| open.intent.address.clone());
            // Another user's copy of the intended resource could be that creation: nobody could distinguish them.
            if object.origin == Origin::Person && object.is_twin {
                object.was = may_be.clone().or(object.was.take());
            }
            if let Origin::Ours(address) = &object.origin {
                let is_sought = |open: &Unconfirmed| match open.intent.verb {
                    Verb::Create if kinds::api(address).has_runs() => true,
                    Verb::Create => name(object.body()) == name(open.intent.spec.as_deref()),
                    _ => open.intent.id.as_ref() == Some(id),
                };
                let is_known = ledger.open.get(address).is_some_and(is_sought)
                    || ledger.owned.get(address).is_some_and(|owned| owned.id == *id)
                    || ledger.retired.iter().any(|old| old.address == *address && old.id == *id);
                object.forgotten |= !is_known;
                // So could one that was created under another key since.
                if object.forgotten {
                    object.was = may_be.or(object.was.take());
                }
            }
        }
        // Nobody can know the replacement of a message that the ledger does not contain.
        self.service.successors.retain(|_, old| ledger.owned.contains_key(old));
        self.forget_given();
    }

    /// Gives back the address in the ledger to resources that got another one since.
    fn undo_renames(&mut self) {
        let ledger = Rc::clone(&self.log.ledger);
        let owned = ledger.owned.iter().map(|(address, owned)| (address, &owned.id));
        for (address, id) in owned.chain(ledger.retired.iter().map(|old| (&old.address, &old.id))) {
            let Some(Origin::Ours(now)) = self.service.objects.get(id).map(|object| object.origin.clone()) else {
                continue;
            };
            if now != *address {
                self.service.rename(&now, address, self.now);
            }
        }
    }

    /// Values that were set and are forgotten, or were removed and exist again, are unmanaged.
    fn forget_given(&mut self) {
        let ledger = &self.log.ledger;
        let is_known = |address: &Address| ledger.owned.contains_key(address) || ledger.open.contains_key(address);
        self.service.given.retain(|address, _| is_known(address));
    }
}
