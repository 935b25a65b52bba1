//! What goes out because of a plan: a tag that sets off a pipeline, an A/B test without a time.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Arranging;
use super::order::Draft;
use crate::address::Address;
use crate::compare::Compared;
use crate::kinds::{self, Firing, Tagging};
use crate::ledger::Verb;
use crate::live::Seen;
use crate::plan::{Action, Change, Send, Step, Thing};

/// Something that messages whoever gets or loses a tag.
pub(super) struct Sender {
    by: Thing,
    /// As the service has it.
    now: Option<Firing>,
    /// As the plan makes it.
    then: Option<Firing>,
    /// The draft that changes or deletes it.
    changed: Option<usize>,
}

/// The senders by the tags that set them off, in their order: each change of tags is of interest to few of them.
fn by_tag(senders: &[Sender]) -> HashMap<&str, Vec<&Sender>> {
    let mut listening: HashMap<&str, Vec<&Sender>> = HashMap::new();
    for sender in senders {
        let triggers = sender.now.iter().chain(&sender.then).flat_map(|firing| &firing.triggers);
        let tags: BTreeSet<&str> = triggers.map(|trigger| trigger.tag.as_str()).collect();
        tags.into_iter().for_each(|tag| listening.entry(tag).or_default().push(sender));
    }
    listening
}

impl Arranging<'_> {
    /// Marks every change that sets off a message. What a pipeline would hear of that this plan turns off waits until it is.
    pub(super) fn sends(&mut self, changes: &mut [Change], senders: &[Sender]) {
        let listening = by_tag(senders);
        for change in changes.iter_mut() {
            let makes = matches!(change.action, Action::Create | Action::Update | Action::Replace);
            if !makes && change.action != Action::Delete {
                continue;
            }
            let api = kinds::api(&change.address);
            let desired = change.desired.as_deref();
            if makes && desired.and_then(|spec| api.runs(spec)).is_some_and(|runs| runs.first.is_none()) {
                let (by, to) = (change.address.clone().into(), "its whole audience".to_owned());
                change.sends.push(Send { by, tag: None, removed: false, after_seconds: 0, to });
            }
            let mut taggings = match change.action {
                Action::Create | Action::Update => api.taggings(change.live.as_deref(), desired),
                // What it stands in for is another one.
                Action::Replace => api.taggings(None, desired),
                _ => Vec::new(),
            };
            if matches!(change.action, Action::Delete | Action::Replace) {
                // What is taken away is what came from here.
                taggings.extend(api.taggings(change.ledger.as_deref().or(change.live.as_deref()), None));
            }
            for tagging in &taggings {
                for sender in listening.get(tagging.tag.as_str()).into_iter().flatten() {
                    let delays = |firing: &Option<Firing>| firing.iter().flat_map(|it| it.delays(tagging)).collect();
                    let (now, then): (BTreeSet<_>, BTreeSet<_>) = (delays(&sender.now), delays(&sender.then));
                    if let Some(off) = sender.changed.filter(|_| then.is_empty() && !now.is_empty()) {
                        self.wait(change, off);
                        continue;
                    }
                    let send = |after_seconds: i64| {
                        let Tagging { removed, tag, whose, .. } = tagging.clone();
                        Send { by: sender.by.clone(), tag: Some(tag), removed, after_seconds, to: whose.who }
                    };
                    change.sends.extend(now.union(&then).map(|delay| send(delay.0)));
                }
            }
        }
    }

    /// All that is on or will be, ours or not. Where nothing is changed, nobody hears of anything.
    pub(super) fn senders(&self, compared: &[Compared]) -> Vec<Sender> {
        if self.drafts.is_empty()
            && self.changes.is_empty()
            && compared.iter().all(|one| one.change.action == Action::Keep)
        {
            return Vec::new();
        }
        let mut senders: BTreeMap<Thing, Sender> = BTreeMap::new();
        let mut ours: BTreeMap<(&str, &str), &Address> = BTreeMap::new();
        for one in compared {
            let address = &one.change.address;
            let api = kinds::api(address);
            let makes = matches!(one.change.action, Action::Create | Action::Update | Action::Replace);
            let then = one.change.desired.as_ref().filter(|_| makes).and_then(|spec| api.firing(spec));
            let now = match (self.situation.live.of(address), &one.owned) {
                // Where the service does not tell, it is as it was made to be.
                (Seen::Untold, Some(owned)) => api.firing(&owned.spec),
                _ => None,
            };
            ours.extend(one.owned.as_ref().map(|owned| ((&*address.kind, owned.id.as_str()), address)));
            if now.is_some() || then.is_some() {
                let by = Thing::from(address.clone());
                senders.insert(by.clone(), Sender { by, now, then, changed: None });
            }
        }
        for (kind, found) in self.situation.live.listed() {
            let Some(now) = found.spec.as_ref().and_then(|spec| kind.api.firing(spec)) else { continue };
            let by = match ours.get(&(kind.key, found.id.as_str())) {
                Some(address) => Thing::from(Address::clone(address)),
                None => Thing::other(kind.key, found),
            };
            let new = Sender { by: by.clone(), now: None, then: None, changed: None };
            senders.entry(by).or_insert(new).now = Some(now);
        }
        let changes = |(_, draft): &(usize, &Draft)| matches!(draft.step.verb, Verb::Update | Verb::Delete);
        for (number, draft) in self.drafts.iter().enumerate().filter(changes) {
            // Steps of old versions have other ids.
            let Step { address, id, .. } = &draft.step;
            let is_it = ours.get(&(&*address.kind, id.as_deref().unwrap_or_default())) == Some(&address);
            if let Some(sender) = senders.get_mut(&Thing::from(address.clone())).filter(|_| is_it) {
                sender.changed = Some(number);
            }
        }
        senders.into_values().collect()
    }

    /// Everything that is done for a change waits for a draft.
    fn wait(&mut self, change: &Change, before: usize) {
        for draft in self.drafts.iter_mut().filter(|draft| draft.step.address == change.address) {
            draft.after.insert(before);
        }
    }
}
