//! What can be deleted, and after what: nothing live may point at a segment that is gone.

use std::collections::BTreeSet;

use super::Arranging;
use super::order::Draft;
use crate::address::Address;
use crate::compare::Compared;
use crate::kinds::remote::segments;
use crate::kinds::{self, Resource, Segment};
use crate::ledger::Verb;
use crate::live::Seen;
use crate::plan::{Action, Change, Reason, Step};

/// Something that points at a segment.
struct User {
    address: Address,
    /// `None`: nobody knows whether it was made.
    id: Option<String>,
    /// Something new stands in for it.
    is_old: bool,
}

impl Arranging<'_> {
    /// A segment is deleted after everything that points at it has been re-pointed or deleted; while something still does,
    /// it stays.
    pub(super) fn deletions(&mut self, compared: &[Compared]) {
        let deletes = |draft: &Draft| draft.step.verb == Verb::Delete && draft.step.address.kind == Segment::KEY;
        loop {
            let mut dropped = None;
            let numbers: Vec<usize> = (0..self.drafts.len()).filter(|number| deletes(&self.drafts[*number])).collect();
            for number in numbers {
                let id = self.drafts[number].step.id.clone().unwrap_or_default();
                let mut still = BTreeSet::new();
                let mut after = BTreeSet::new();
                for user in self.users(&id, compared) {
                    match self.frees(&user, &id) {
                        Some(step) => drop(after.insert(step)),
                        None => drop(still.insert(user.address)),
                    }
                }
                if still.is_empty() {
                    self.drafts[number].after.extend(after);
                } else {
                    dropped = Some((number, id, still.into_iter().collect()));
                    break;
                }
            }
            let Some((number, id, by)) = dropped else { return };
            self.hold(number, id, by);
        }
    }

    /// What points at an id, as far as is known, and is not past.
    fn users(&self, id: &str, compared: &[Compared]) -> Vec<User> {
        let now = self.situation.now;
        let mut users = Vec::new();
        for one in compared {
            let address = one.change.address.clone();
            // What was perhaps made points at it, perhaps.
            let in_doubt = one.change.reasons.iter().any(|reason| matches!(reason, Reason::InDoubt { .. }));
            let intent = self.situation.ledger.open.get(&address).map(|open| &open.intent).filter(|_| in_doubt);
            if intent.is_some_and(|intent| intent.refs.values().any(|other| other == id)) {
                users.push(User { address: address.clone(), id: None, is_old: false });
            }
            let Some(owned) = &one.owned else { continue };
            let api = kinds::api(&address);
            let live = match self.situation.live.of(&address) {
                Seen::There(found) => found.spec.as_ref(),
                _ => None,
            };
            // What the service showed may be older than what was last applied, or newer: somebody may have put it off.
            let is_over = |spec| api.runs(spec).is_some_and(|runs| runs.last.is_some_and(|last| last <= now));
            let over = owned.past || is_over(&owned.spec) && live.is_none_or(is_over);
            let shown = live.is_some_and(|spec| segments(api.audiences(), spec).contains(&id));
            let points = shown || owned.refs.values().any(|other| other == id);
            if points && !over {
                users.push(User { address, id: Some(owned.id.clone()), is_old: false });
            }
        }
        let old = self.old.iter().filter(|old| old.refs.values().any(|other| other == id));
        users.extend(old.map(|old| User { address: old.address.clone(), id: Some(old.id.clone()), is_old: true }));
        users
    }

    /// The step after which something of ours no longer points at an id.
    fn frees(&self, user: &User, id: &str) -> Option<usize> {
        let User { address, id: own, is_old } = user;
        own.as_ref()?;
        self.drafts.iter().position(|draft| {
            let step = &draft.step;
            step.address == *address
                && match step.verb {
                    Verb::Update => step.id == *own && !step.refs.values().any(|other| other == id),
                    Verb::Delete => step.id == *own,
                    // What is forgotten before it is made anew is known to be gone.
                    Verb::Forget => !is_old,
                    _ => false,
                }
        })
    }

    /// Takes a deletion out of the plan, and says why.
    fn hold(&mut self, number: usize, id: String, by: Vec<Address>) {
        let draft = self.drafts.remove(number);
        for other in &mut self.drafts {
            other.after =
                other.after.iter().filter(|at| **at != number).map(|at| at - usize::from(*at > number)).collect();
        }
        for made in self.made.values_mut() {
            *made -= usize::from(*made > number);
        }
        // Nothing more is drafted from here on.
        self.last.clear();
        let reason = Reason::StillUsed { id: id.clone(), by };
        let Step { address, spec, .. } = draft.step;
        if let Some(change) =
            self.changes.iter_mut().find(|change| change.address == address && change.id.as_ref() == Some(&id))
        {
            change.action = Action::ByHand;
            change.reasons.push(reason);
            return;
        }
        let name = spec.as_ref().map(|spec| kinds::api(&address).name(spec)).unwrap_or_default();
        self.changes.push(Change {
            address,
            action: Action::ByHand,
            name,
            place: None,
            id: Some(id),
            desired: None,
            live: spec.clone(),
            ledger: spec,
            moved: None,
            reasons: vec![reason],
            sends: Vec::new(),
            protect: false,
            broadcast: false,
            ignored: Vec::new(),
        });
    }
}
