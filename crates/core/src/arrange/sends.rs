//! Sends that a plan causes: a tag that triggers a pipeline, an A/B test without a time.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use pushplan_ledger::Verb;
use pushplan_model::address::Address;
use pushplan_model::kinds::{self, Api, Firing, Tagging};
use pushplan_model::node::Shared;

use super::Arranging;
use super::order::Draft;
use crate::compare::{Compared, Situation};
use crate::live::LiveState;
use crate::plan::{Action, CausedSend, Change, RemoteThing, Step};

/// A resource that messages people who get or lose a tag.
pub(super) struct Sender {
    by: RemoteThing,
    /// Its live state.
    now: Option<Firing>,
    /// Its state after the plan.
    then: Option<Firing>,
    /// The drafts that create, change or delete it.
    drafts: Vec<usize>,
}

/// The senders by the tags that trigger them, in order: each change of tags concerns only a few.
fn by_tag(senders: &[Sender]) -> HashMap<&str, Vec<&Sender>> {
    let mut listening: HashMap<&str, Vec<&Sender>> = HashMap::new();
    for sender in senders {
        let triggers = sender.now.iter().chain(&sender.then).flat_map(|firing| &firing.triggers);
        let tags: BTreeSet<&str> = triggers.map(|trigger| trigger.tag.as_str()).collect();
        tags.into_iter().for_each(|tag| listening.entry(tag).or_default().push(sender));
    }
    listening
}

/// The drafts that add devices to named users or remove them, by user.
fn given(drafts: &[Draft]) -> HashMap<String, Vec<usize>> {
    let mut given: HashMap<String, Vec<usize>> = HashMap::new();
    for (number, Draft { step, .. }) in drafts.iter().enumerate() {
        let spec = step.spec.as_ref().filter(|_| matches!(step.verb, Verb::Create | Verb::Update | Verb::Delete));
        if let Some(user) = spec.and_then(|spec| kinds::api(&step.address).devices_of(spec)) {
            given.entry(user).or_default().push(number);
        }
    }
    given
}

impl Arranging<'_> {
    /// Marks every change that triggers a message. A change that triggers a pipeline of this plan waits until the
    /// pipeline is created, changed or turned off, and until the recipients have their devices from the plan: so the
    /// sends are those that the plan shows, and a failure sends nothing. Pipelines and devices never wait for a tag, so
    /// no steps wait for each other in a circle.
    pub(super) fn sends(&mut self, changes: &mut [Change], senders: &[Sender]) {
        let listening = by_tag(senders);
        let mut waiting: HashMap<Address, BTreeSet<usize>> = HashMap::new();
        let given = LazyCell::new(|| given(&self.drafts));
        for change in changes.iter_mut() {
            let makes = matches!(change.action, Action::Create | Action::Update | Action::Replace);
            if !makes && change.action != Action::Delete {
                continue;
            }
            let api = kinds::api(&change.address);
            let desired = change.desired.as_ref();
            let runs = desired.filter(|_| makes && api.has_runs()).and_then(|spec| api.runs(spec));
            if runs.is_some_and(|runs| runs.first.is_none()) {
                let (by, to) = (change.address.clone().into(), "its whole audience".to_owned());
                change.sends.push(CausedSend { by, tag: None, removed: false, after_seconds: 0, to });
            }
            let mut taggings = match change.action {
                Action::Create | Action::Update => api.taggings(change.live.as_ref(), desired),
                // The replacement is a different object.
                Action::Replace => api.taggings(None, desired),
                _ => Vec::new(),
            };
            if matches!(change.action, Action::Delete | Action::Replace) {
                // Only tags that pushplan applied are removed.
                taggings.extend(api.taggings(change.ledger.as_ref().or(change.live.as_ref()), None));
            }
            for tagging in &taggings {
                for sender in listening.get(tagging.tag.as_str()).into_iter().flatten() {
                    let delays = |firing: &Option<Firing>| firing.iter().flat_map(|it| it.delays(tagging)).collect();
                    let (now, then): (BTreeSet<_>, BTreeSet<_>) = (delays(&sender.now), delays(&sender.then));
                    if now.is_empty() && then.is_empty() {
                        continue;
                    }
                    let devices = tagging.whose.user.as_ref().and_then(|user| given.get(user));
                    let before = devices.into_iter().flatten().chain(&sender.drafts);
                    waiting.entry(change.address.clone()).or_default().extend(before);
                    let stays = sender.drafts.is_empty();
                    let send = |after_seconds: i64| {
                        let Tagging { removed, tag, whose, .. } = tagging.clone();
                        CausedSend { by: sender.by.clone(), tag: Some(tag), removed, after_seconds, to: whose.who }
                    };
                    change.sends.extend(if stays { now } else { then }.iter().map(|delay| send(delay.0)));
                }
            }
        }
        for draft in &mut self.drafts {
            draft.after.extend(waiting.get(&draft.step.address).into_iter().flatten());
        }
    }

    /// All senders that are or will be on, managed or not. Without changes, none is triggered.
    pub(super) fn senders(&self, compared: &[Compared]) -> Vec<Sender> {
        if self.drafts.is_empty()
            && self.changes.is_empty()
            && compared.iter().all(|one| one.change.action == Action::Keep)
        {
            return Vec::new();
        }
        let Situation { live, now, min_lead, .. } = *self.situation;
        let firing = |api: &dyn Api, spec: &Shared| api.firing(spec).filter(|firing| firing.is_on(now, min_lead));
        let mut senders: BTreeMap<RemoteThing, Sender> = BTreeMap::new();
        let mut ours: BTreeMap<(&str, &str), &Address> = BTreeMap::new();
        for one in compared {
            let address = &one.change.address;
            let api = kinds::api(address);
            let makes = matches!(one.change.action, Action::Create | Action::Update | Action::Replace);
            let then = one.change.desired.as_ref().filter(|_| makes).and_then(|spec| firing(api, spec));
            let now = match (live.of(address), &one.owned) {
                // If the service does not show it, its applied state counts.
                (LiveState::Untold, Some(owned)) => firing(api, &owned.spec),
                _ => None,
            };
            ours.extend(one.owned.as_ref().map(|owned| ((&*address.kind, owned.id.as_str()), address)));
            if now.is_some() || then.is_some() {
                let by = RemoteThing::from(address.clone());
                senders.insert(by.clone(), Sender { by, now, then, drafts: Vec::new() });
            }
        }
        for (kind, found) in live.listed() {
            let Some(now) = found.spec.as_ref().and_then(|spec| firing(kind.api, spec)) else { continue };
            let by = match ours.get(&(kind.key, found.id.as_str())) {
                Some(address) => RemoteThing::from(Address::clone(address)),
                None => RemoteThing::other(kind.key, found),
            };
            let new = Sender { by: by.clone(), now: None, then: None, drafts: Vec::new() };
            senders.entry(by).or_insert(new).now = Some(now);
        }
        for (number, draft) in self.drafts.iter().enumerate() {
            let Step { address, verb, id, .. } = &draft.step;
            let is_it = match verb {
                Verb::Create => self.made.get(address) == Some(&number),
                // Steps of old versions have other ids.
                Verb::Update | Verb::Delete => {
                    ours.get(&(&*address.kind, id.as_deref().unwrap_or_default())) == Some(&address)
                }
                _ => false,
            };
            if is_it && let Some(sender) = senders.get_mut(&RemoteThing::from(address.clone())) {
                sender.drafts.push(number);
            }
        }
        senders.into_values().collect()
    }
}
