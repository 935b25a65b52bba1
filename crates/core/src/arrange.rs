//! From changes to steps: dependencies, references that change, and deletions that have to wait.

mod choose;
mod deletions;
mod hand_over;
mod order;
mod references;
mod sends;
mod successors;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use pushplan_ledger::{Owned, Retired, Verb};
use pushplan_model::address::Address;
use pushplan_model::exchange::Request;
use pushplan_model::kinds::remote::named;
use pushplan_model::kinds::{self, Create, Found, Read, Resource, Segment};
use pushplan_model::node::Shared;

use crate::compare::gap::wait_for_renewed;
use crate::compare::{Compared, Situation, by_hand_done, how};
use crate::plan::{Action, Change, Moved, Reason, ShownRequest, Step};
use hand_over::DeclaredIds;
use order::Draft;
use references::blocked;

pub use choose::matches;
pub(crate) use choose::{LeftOut, choose};

/// Returns the changes in the order of their addresses, and the steps that carry them out. Excluded changes get no
/// steps.
pub(crate) fn arrange(mut compared: Vec<Compared>, situation: &Situation, left: &LeftOut) -> (Vec<Change>, Vec<Step>) {
    cascade(&mut compared, situation, left);
    let wanted = DeclaredIds::new(&compared, situation.ledger);
    let went = wanted.hand_over(&mut compared);
    let old = old_versions(&compared, &wanted, situation);
    let named = if compared.iter().any(makes) { situation.live.by_name() } else { HashMap::new() };
    let mut arranging = Arranging {
        situation,
        wanted,
        old,
        named,
        drafts: Vec::new(),
        made: BTreeMap::new(),
        adopted: BTreeMap::new(),
        last: BTreeMap::new(),
        changes: Vec::new(),
    };
    let outdated = arranging.outdated(left);
    arranging.moves(&compared, &outdated);
    let blocked = blocked(&compared, situation);
    for one in &mut compared {
        if let Some(by) = blocked.get(&one.change.address) {
            one.change.action = Action::ByHand;
            one.change.reasons.push(Reason::Blocked { by: by.clone() });
        }
        arranging.draft(one);
    }
    arranging.retired(&outdated);
    arranging.hand_over(&went);
    arranging.successors(&compared);
    arranging.restamp(&compared);
    arranging.references();
    arranging.deletions(&compared);
    arranging.take_up(&compared);
    let senders = arranging.senders(&compared);
    let mut held = std::mem::take(&mut arranging.changes);
    let mut changes: Vec<Change> = compared.into_iter().map(|one| one.change).collect();
    for change in &mut changes {
        // A deferred deletion is reported with the change that it belongs to.
        if let Some(at) = held.iter().position(|other| other.address == change.address && other.id == change.id) {
            let other = held.remove(at);
            // A resource that is already gone is deleted only as a precaution: a deferral is not worth reporting.
            if change.moved == Some(Moved::Removed) {
                continue;
            }
            if change.action == Action::Delete {
                change.action = other.action;
            }
            change.reasons.extend(other.reasons);
        }
    }
    changes.extend(held);
    changes.sort_by(|a, b| a.address.cmp(&b.address));
    arranging.sends(&mut changes, &senders);
    (changes, order::order(arranging.drafts))
}

/// Whether a change creates an object.
fn makes(one: &Compared) -> bool {
    matches!(one.change.action, Action::Create | Action::Replace)
}

fn segment(key: &str) -> Address {
    Address::new(Segment::KEY, key)
}

/// Whether a change gives a resource another id.
fn renews(one: &Compared) -> bool {
    match one.change.action {
        Action::Replace => true,
        Action::Create => one.owned.is_some(),
        _ => false,
    }
}

/// Changes the resources that name a segment with a new id, and so on. Excluded ones still refer to the old segment,
/// which is kept for them.
fn cascade(compared: &mut [Compared], situation: &Situation, left: &LeftOut) {
    loop {
        let renewed: BTreeSet<Address> = compared
            .iter()
            .filter(|one| one.change.address.kind == Segment::KEY && renews(one))
            .map(|one| one.change.address.clone())
            .collect();
        if renewed.is_empty() {
            return;
        }
        let mut moved = false;
        let is_left = |address: &Address| left.untouched.contains(address) || situation.under_way.contains(address);
        for one in compared.iter_mut().filter(|one| !is_left(&one.change.address)) {
            let (Action::Keep, Some(owned), Some(desired)) = (one.change.action, &one.owned, &one.change.desired)
            else {
                continue;
            };
            let api = kinds::api(&one.change.address);
            let all: BTreeSet<Address> = named(api.audiences(), desired).into_iter().map(segment).collect();
            let to: Vec<Address> = all.intersection(&renewed).cloned().collect();
            if to.is_empty() || owned.past {
                continue;
            }
            let live = one.change.live.as_ref().unwrap_or(&owned.spec);
            let (action, reason) = how(api, situation.level, &owned.id, live, desired);
            one.change.action = action;
            one.change.reasons.push(Reason::Repoint { to, outdated: BTreeMap::new() });
            one.change.reasons.extend(reason);
            // A resource that cannot be created again in time is not deleted either.
            one.change.reasons.extend(situation.too_late(api, desired));
            if let Some(owned) = one.owned.clone() {
                by_hand_done(situation, &owned, one);
            }
            wait_for_renewed(one, situation);
            moved = true;
        }
        if !moved {
            return;
        }
    }
}

/// The old versions that are not declared: those that an earlier run could not delete, and those whose successor was
/// found.
fn old_versions(compared: &[Compared], wanted: &DeclaredIds, situation: &Situation) -> Vec<Retired> {
    let mut old: Vec<Retired> = wanted.unwanted(situation.ledger).into_iter().cloned().collect();
    for one in compared {
        let address = &one.change.address;
        if let (Some(found), Some(before)) = (&one.recovered, situation.ledger.owned.get(address))
            && found.id != before.id
        {
            let Owned { id, spec, refs, .. } = before.clone();
            old.push(Retired { address: address.clone(), id, spec, refs });
        }
    }
    old
}

fn is_late(change: &Change) -> bool {
    change.reasons.iter().any(|reason| matches!(reason, Reason::TooLate { .. }))
}

struct Arranging<'s> {
    situation: &'s Situation<'s>,
    wanted: DeclaredIds,
    /// Old versions that were replaced.
    old: Vec<Retired>,
    /// Listed objects, by kind and name.
    named: HashMap<(&'s str, &'s str), Vec<&'s Found>>,
    drafts: Vec<Draft>,
    /// The draft that creates an object, by its address.
    made: BTreeMap<Address, usize>,
    /// The first draft that adopts an object into the ledger, by its address.
    adopted: BTreeMap<Address, usize>,
    /// The last draft of each address.
    last: BTreeMap<Address, usize>,
    /// Deferred changes, or changes of objects that are not declared.
    changes: Vec<Change>,
}

impl Arranging<'_> {
    fn push(&mut self, draft: Draft) -> usize {
        let number = self.drafts.len();
        // Steps of one address follow each other.
        let before = self.last.insert(draft.step.address.clone(), number);
        if draft.step.verb == Verb::Adopt {
            self.adopted.entry(draft.step.address.clone()).or_insert(number);
        }
        self.drafts.push(draft);
        self.drafts[number].after.extend(before);
        number
    }

    fn step(&self, address: &Address, verb: Verb) -> Step {
        Step {
            number: 0,
            address: address.clone(),
            verb,
            from: None,
            id: None,
            spec: None,
            before: None,
            refs: BTreeMap::new(),
            seen: BTreeSet::new(),
            after: Vec::new(),
            stamp: None,
            protect: false,
            past: false,
            push_ids: Vec::new(),
            zone: None,
            pruned: false,
            request: None,
        }
    }

    /// Renames resources in the ledger before any other step for them.
    fn moves(&mut self, compared: &[Compared], outdated: &[Retired]) {
        let is_told = |one: &&Compared| one.change.reasons.iter().any(|why| matches!(why, Reason::Renamed { .. }));
        let acts = |one: &&Compared| one.change.action != Action::Keep;
        let all = compared.iter().filter(|one| is_told(one) || acts(one)).map(|one| &one.change.address);
        let all = all.chain(outdated.iter().map(|old| &old.address)).map(Address::resource);
        // Excluded resources are not moved.
        let moved: BTreeSet<Address> = all.filter(|address| self.situation.moves.contains_key(address)).collect();
        for to in moved {
            let mut step = self.step(&to, Verb::Move);
            step.from = self.situation.moves.get(&to).cloned();
            let number = self.push(Draft::new(step));
            let parts = compared.iter().map(|one| &one.change.address).filter(|address| address.resource() == to);
            self.last.extend(parts.map(|address| (address.clone(), number)));
        }
    }

    /// Drafts the steps of one change.
    fn draft(&mut self, one: &Compared) {
        let address = &one.change.address;
        let open = self.situation.ledger.open.contains_key(address);
        if let (Some(_), Some(owned)) = (&one.recovered, &one.owned) {
            self.adopt(one, owned, false);
        }
        if one.released {
            let step = self.step(address, Verb::Forget);
            self.push(Draft::new(step));
        }
        if is_late(&one.change) {
            return;
        }
        let goes_on = !matches!(one.change.action, Action::Keep | Action::Create) && !self.keeps_deletion_open(one);
        if let Some(owned) = one.owned.as_ref().filter(|_| one.close && open && goes_on && !one.released) {
            // An intent without effect is closed before any other step for the object.
            self.adopt(one, owned, owned.past);
        }
        match one.change.action {
            Action::Create => self.create_again(one),
            Action::Update => self.update(one),
            Action::Replace => {
                let life = kinds::api(address).lifecycle(self.situation.level);
                if life.create == Create::Once {
                    // Two of them would message people twice: the old one is deleted first.
                    self.delete_owned(one);
                    self.create(one);
                } else {
                    self.create(one);
                    self.delete_owned(one);
                }
            }
            Action::Delete => self.delete_owned(one),
            Action::Forget if !one.released => {
                let step = self.step(address, Verb::Forget);
                self.push(Draft::new(step));
            }
            Action::Past => {
                if let Some(owned) = one.owned.as_ref().filter(|owned| !owned.past) {
                    self.adopt(one, owned, true);
                }
            }
            Action::Keep if one.refresh || (one.close && open) => match &one.owned {
                Some(owned) if one.recovered.is_none() => self.adopt(one, owned, owned.past),
                Some(_) => {}
                None => {
                    let step = self.step(address, Verb::Forget);
                    self.push(Draft::new(step));
                }
            },
            Action::Keep | Action::Adopt | Action::Forget | Action::ByHand => {}
        }
    }

    /// Whether the deletion that an earlier run left unconfirmed stays open: it is the first step of the change, or the
    /// change waits for a person and no list shows whether it was deleted. Its intent stays until the new intent
    /// replaces it: if a run stopped between the two, the ledger would forget the deletion, and a deleted push would
    /// count as sent.
    fn keeps_deletion_open(&self, one: &Compared) -> bool {
        let address = &one.change.address;
        let api = kinds::api(address);
        let life = api.lifecycle(self.situation.level);
        let keeps = match one.change.action {
            Action::Delete => true,
            Action::Replace => life.create == Create::Once,
            Action::ByHand => life.read == Read::LedgerOnly,
            _ => false,
        };
        let (Some(open), Some(owned)) = (self.situation.ledger.open.get(address), &one.owned) else { return false };
        let is_same = open.intent.verb == Verb::Delete && open.intent.id.as_ref() == Some(&owned.id);
        keeps && is_same && api.has_runs() && !self.wanted.keeps(address, &owned.spec)
    }

    /// Adds newer version stamps to the ledger if the plan writes to it anyway.
    fn restamp(&mut self, compared: &[Compared]) {
        if self.drafts.is_empty() {
            return;
        }
        let drafted: BTreeSet<Address> = self.drafts.iter().map(|draft| draft.step.address.clone()).collect();
        for one in compared.iter().filter(|one| one.restamp) {
            if let Some(owned) = one.owned.as_ref().filter(|_| !drafted.contains(&one.change.address)) {
                self.adopt(one, owned, owned.past);
            }
        }
    }

    /// Adopts an object into the ledger.
    fn adopt(&mut self, one: &Compared, owned: &Owned, past: bool) {
        let mut step = self.step(&one.change.address, Verb::Adopt);
        let agreed = one.change.action == Action::Keep && one.change.desired.is_some();
        step.id = Some(owned.id.clone());
        step.spec = if agreed { one.change.desired.clone() } else { Some(owned.spec.clone()) };
        step.refs = match one.change.desired.as_ref().filter(|_| agreed) {
            Some(desired) => self.pointed_at(&one.change.address, desired, owned),
            None => owned.refs.clone(),
        };
        // A stamp is recorded only for the content that the service has.
        let found = one.recovered.as_ref().and_then(|found| found.stamp.clone());
        step.stamp = if agreed { one.stamp.clone().or(found) } else { found };
        let declared = self.situation.units.get(&one.change.address);
        step.protect = declared.and_then(|unit| unit.protect).unwrap_or(owned.protect);
        step.zone = declared.filter(|_| agreed).and_then(|unit| unit.zone(&one.change.address)).or(owned.zone.clone());
        step.past = past;
        step.push_ids.clone_from(&owned.push_ids);
        self.push(Draft::new(step));
    }

    /// An undeclared object is not managed, and only managed objects are deleted: pruning first adopts it into the
    /// ledger, only to delete it.
    fn take_up(&mut self, compared: &[Compared]) {
        let pruned = compared.iter().filter(|one| one.change.is_pruned());
        let pruned: BTreeMap<&Address, &Owned> =
            pruned.filter_map(|one| Some((&one.change.address, one.owned.as_ref()?))).collect();
        for deleted in 0..self.drafts.len() {
            let Step { address, verb, .. } = &self.drafts[deleted].step;
            let Some(owned) = pruned.get(address).filter(|_| *verb == Verb::Delete) else { continue };
            let mut step = self.step(address, Verb::Adopt);
            step.id = Some(owned.id.clone());
            step.spec = Some(owned.spec.clone());
            step.refs.clone_from(&owned.refs);
            step.stamp.clone_from(&owned.stamp);
            step.pruned = true;
            let adopted = self.drafts.len();
            self.drafts.push(Draft::new(step));
            self.drafts[deleted].after.insert(adopted);
        }
    }

    /// Creates an object, also one that was managed and is gone. The old one is deleted as a precaution, because it may
    /// only have been missing from a list; not if both have the same identity, or if the API cannot delete it.
    fn create_again(&mut self, one: &Compared) {
        let address = &one.change.address;
        let Some(owned) = one.owned.as_ref().filter(|_| !one.released) else { return self.create(one) };
        let api = kinds::api(address);
        let level = self.situation.level;
        let deletes =
            api.lifecycle(level).create != Create::Upsert && api.delete(&owned.id, &owned.spec, level).is_some();
        if deletes {
            self.create(one);
            self.delete_owned(one);
        } else {
            let step = self.step(address, Verb::Forget);
            self.push(Draft::new(step));
            self.create(one);
        }
    }

    fn create(&mut self, one: &Compared) {
        let Some(spec) = &one.change.desired else { return };
        let api = kinds::api(&one.change.address);
        let (method, path) = api.create_at(spec);
        let mut step = self.writing(one, Verb::Create, spec, Some(ShownRequest { method, path }));
        let same = self.named.get(&(&*one.change.address.kind, one.change.name.as_str()));
        step.seen = same.into_iter().flatten().map(|found| found.id.clone()).collect();
        let number = self.push(Draft::new(step));
        self.made.insert(one.change.address.clone(), number);
    }

    fn update(&mut self, one: &Compared) {
        let (Some(spec), Some(owned)) = (&one.change.desired, &one.owned) else { return };
        let api = kinds::api(&one.change.address);
        let before = one.change.live.as_ref().unwrap_or(&owned.spec);
        let request = api.update(&owned.id, before, spec, self.situation.level);
        let mut step = self.writing(one, Verb::Update, spec, request.map(shown));
        step.id = Some(owned.id.clone());
        step.before = Some(before.clone());
        self.push(Draft::new(step));
    }

    fn writing(&self, one: &Compared, verb: Verb, spec: &Shared, request: Option<ShownRequest>) -> Step {
        let mut step = self.step(&one.change.address, verb);
        step.spec = Some(spec.clone());
        let declared = self.situation.units.get(&one.change.address);
        step.zone = declared.and_then(|unit| unit.zone(&one.change.address));
        let protect = declared.and_then(|unit| unit.protect);
        step.protect = protect.unwrap_or(one.owned.as_ref().is_some_and(|owned| owned.protect));
        step.request = request;
        step
    }

    fn delete_owned(&mut self, one: &Compared) {
        // An object that another address declares now is kept.
        if let Some(owned) = one.owned.as_ref().filter(|owned| !self.wanted.keeps(&one.change.address, &owned.spec)) {
            self.delete(&one.change.address, &owned.id, &owned.spec);
        }
    }

    fn delete(&mut self, address: &Address, id: &str, spec: &Shared) {
        let request = kinds::api(address).delete(id, spec, self.situation.level);
        let mut step = self.step(address, Verb::Delete);
        step.id = Some(id.to_owned());
        step.spec = Some(spec.clone());
        step.request = request.map(shown);
        self.push(Draft::new(step));
    }

    /// Old versions that can be deleted. Excluded ones are kept, and an empty project keeps all.
    fn outdated(&self, left: &LeftOut) -> Vec<Retired> {
        let mut old = self.old.clone();
        old.retain(|old| self.situation.deletes && !left.untouched.contains(&old.address));
        old
    }

    /// Deletes old versions that an earlier run could not delete.
    fn retired(&mut self, outdated: &[Retired]) {
        for old in outdated {
            let api = kinds::api(&old.address);
            self.delete(&old.address, &old.id, &old.spec);
            self.changes.push(Change {
                address: old.address.clone(),
                action: Action::Delete,
                name: api.name(&old.spec),
                place: None,
                id: Some(old.id.clone()),
                desired: None,
                live: Some(old.spec.clone()),
                ledger: Some(old.spec.clone()),
                moved: None,
                reasons: vec![Reason::Retired { id: old.id.clone(), refs: old.refs.clone() }],
                sends: Vec::new(),
                protect: false,
                broadcast: false,
                ignored: Vec::new(),
            });
        }
    }

    /// An address is removed from the ledger once another address has its object.
    fn hand_over(&mut self, went: &BTreeMap<Address, Address>) {
        for (from, to) in went {
            if let (Some(forget), Some(made)) = (self.last.get(from), self.made.get(to)) {
                self.drafts[*forget].after.insert(*made);
            }
        }
    }
}

fn shown(request: Request) -> ShownRequest {
    ShownRequest { method: request.method, path: request.path }
}
