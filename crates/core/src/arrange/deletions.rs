//! Deletions and their order: nothing live may refer to a deleted segment.

use std::collections::{BTreeMap, BTreeSet};

use pushplan_ledger::Verb;
use pushplan_model::address::Address;
use pushplan_model::kinds::remote::{named_ids, segments};
use pushplan_model::kinds::{self, Resource, Segment};
use serde_json::Value;

use super::order::Draft;
use super::{Arranging, segment};
use crate::compare::{Compared, Situation};
use crate::live::LiveState;
use crate::plan::{Action, Change, Reason, RemoteThing, Step};

/// A user of a segment.
#[derive(Clone)]
struct User {
    who: RemoteThing,
    /// `None`: its creation is unconfirmed, or it is not managed.
    id: Option<String>,
    /// Whether it was replaced.
    is_old: bool,
}

impl Arranging<'_> {
    /// Orders deletions of segments: a segment is deleted after all its users are changed or deleted, and kept while it
    /// still has one.
    pub(super) fn deletions(&mut self, compared: &[Compared]) {
        let deletes = |draft: &Draft| draft.step.verb == Verb::Delete && draft.step.address.kind == Segment::KEY;
        let users = if self.drafts.iter().any(deletes) { self.users(compared) } else { return };
        loop {
            let mut dropped = None;
            let numbers: Vec<usize> = (0..self.drafts.len()).filter(|number| deletes(&self.drafts[*number])).collect();
            for number in numbers {
                let id = self.drafts[number].step.id.clone().unwrap_or_default();
                let mut still = BTreeSet::new();
                let mut after = BTreeSet::new();
                for user in users.get(&id).into_iter().flatten() {
                    match self.frees(user, &id) {
                        Some(step) => drop(after.insert(step)),
                        None => drop(still.insert(user.who.clone())),
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

    /// The known users of each segment that are not past, by the segment's id.
    fn users(&self, compared: &[Compared]) -> BTreeMap<String, Vec<User>> {
        let mut users: BTreeMap<String, Vec<User>> = BTreeMap::new();
        let mut add = |ids: BTreeSet<&str>, user: &User| {
            ids.into_iter().for_each(|id| users.entry(id.to_owned()).or_default().push(user.clone()));
        };
        let mut ours = self.situation.ledger.ids();
        for one in compared {
            let address = &one.change.address;
            let who = RemoteThing::from(address.clone());
            // An object that may have been created may use it, also if it is excluded.
            let in_doubt = !one.close && one.recovered.is_none();
            let open = self.situation.ledger.open.get(address).filter(|_| in_doubt);
            if let Some(open) = open {
                let user = User { who: who.clone(), id: None, is_old: false };
                add(open.intent.refs.values().map(String::as_str).collect(), &user);
            }
            // An object that may have been created before a gap may have been replaced in it.
            let gap = self.situation.ledger.gap.as_ref().filter(|gap| self.situation.heed_gap && gap.covers(address));
            let is_before_gap = gap.zip(open).is_some_and(|(gap, open)| open.at <= gap.at);
            if one.since_gap || is_before_gap {
                add(self.named_in_gap(one), &User { who: who.clone(), id: None, is_old: false });
            }
            let Some(owned) = &one.owned else {
                add(self.to_be_named(one), &User { who, id: None, is_old: false });
                continue;
            };
            ours.insert((&*address.kind, owned.id.as_str()));
            let api = kinds::api(address);
            let live = match self.situation.live.of(address) {
                LiveState::There(found) => found.spec.as_deref(),
                LiveState::Absent | LiveState::Untold => None,
            };
            // It was sent at another time than its last one: by a service that was restored, or as a person reported.
            let was_sent = owned.past && !self.has_begun(address, &owned.spec);
            // The live state may be older than the last applied state, or newer: someone may have postponed it.
            let has_ended = |spec: &Value| self.situation.has_ended(api, owned, spec);
            if (was_sent || has_ended(&owned.spec)) && live.is_none_or(has_ended) {
                continue;
            }
            let mut ids: BTreeSet<&str> = owned.refs.values().map(String::as_str).collect();
            ids.extend(live.iter().flat_map(|spec| segments(api.audiences(), spec)));
            // A managed segment can also be named by its id.
            let said = std::iter::once(&owned.spec).chain(&one.change.desired);
            ids.extend(said.flat_map(|spec| named_ids(api.audiences(), spec)));
            add(ids, &User { who, id: Some(owned.id.clone()), is_old: false });
        }
        for old in &self.old {
            let user = User { who: old.address.clone().into(), id: Some(old.id.clone()), is_old: true };
            add(old.refs.values().map(String::as_str).collect(), &user);
        }
        for (kind, found) in self.situation.live.listed() {
            let Some(spec) = found.spec.as_ref().filter(|_| !ours.contains(&(kind.key, found.id.as_str()))) else {
                continue;
            };
            if !self.situation.is_over(kind.api, spec) {
                let user = User { who: RemoteThing::other(kind.key, found), id: None, is_old: false };
                add(segments(kind.api.audiences(), spec).into_iter().collect(), &user);
            }
        }
        users
    }

    fn has_begun(&self, address: &Address, spec: &Value) -> bool {
        kinds::api(address).runs(spec).is_some_and(|runs| runs.has_begun(self.situation.now))
    }

    /// The segments that are not declared and will be used: segments outside git, named by their ids.
    fn to_be_named<'c>(&'c self, one: &'c Compared) -> BTreeSet<&'c str> {
        let Some(desired) = &one.change.desired else { return BTreeSet::new() };
        let audiences = kinds::api(&one.change.address).audiences();
        let Situation { units, ledger, .. } = self.situation;
        let undeclared = segments(audiences, desired).into_iter().map(segment).filter(|it| !units.contains_key(it));
        let ids = undeclared.filter_map(|it| Some(ledger.owned.get(&it)?.id.as_str()));
        ids.chain(named_ids(audiences, desired)).collect()
    }

    /// The segments that an object may use that may have been created in a gap of the ledger: every segment that
    /// existed then. A list that lacks it may be wrong, and the object's content may differ from the declared one.
    fn named_in_gap<'c>(&'c self, one: &'c Compared) -> BTreeSet<&'c str> {
        let Situation { ledger, live, .. } = self.situation;
        if kinds::api(&one.change.address).audiences().is_empty() {
            return BTreeSet::new();
        }
        let managed = ledger.ids().into_iter().filter(|(kind, _)| *kind == Segment::KEY).map(|(_, id)| id);
        let listed = live.listed.get(Segment::KEY).into_iter().flatten().map(|(id, _)| id.as_str());
        managed.chain(listed).collect()
    }

    /// The step after which a managed resource no longer uses an id. A resource that is deleted and created again uses
    /// it until the creation.
    fn frees(&self, user: &User, id: &str) -> Option<usize> {
        let User { who: RemoteThing::Ours(address), id: own @ Some(_), is_old } = user else { return None };
        let audiences = kinds::api(address).audiences();
        let by_id = |spec: &Value| named_ids(audiences, spec).contains(&id);
        let points =
            |step: &Step| step.refs.values().any(|other| other == id) || step.spec.as_deref().is_some_and(by_id);
        let at = self.drafts.iter().position(|draft| {
            let step = &draft.step;
            step.address == *address
                && match step.verb {
                    Verb::Update => step.id == *own && !points(step),
                    Verb::Delete => step.id == *own,
                    // A resource that is forgotten before it is created again is known to be gone.
                    Verb::Forget => !is_old,
                    _ => false,
                }
        })?;
        let anew = |(_, draft): &(usize, &Draft)| draft.step.address == *address && draft.step.verb == Verb::Create;
        match self.drafts.iter().enumerate().skip(at).find(anew).filter(|_| !is_old) {
            Some((_, draft)) if points(&draft.step) => None,
            Some((created, _)) => Some(created),
            None => Some(at),
        }
    }

    /// Removes a deletion from the plan, with a reason.
    fn hold(&mut self, number: usize, id: String, by: Vec<RemoteThing>) {
        let draft = self.drafts.remove(number);
        for other in &mut self.drafts {
            other.after =
                other.after.iter().filter(|at| **at != number).map(|at| at - usize::from(*at > number)).collect();
        }
        for made in self.made.values_mut() {
            *made -= usize::from(*made > number);
        }
        // No further steps are drafted.
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
