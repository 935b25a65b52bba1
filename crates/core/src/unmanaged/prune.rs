//! Deletion of undeclared resources, if the target prunes their kinds.

use std::collections::{BTreeMap, BTreeSet};

use pushplan_ledger::{Owned, Verb};
use pushplan_model::address::Address;
use pushplan_model::kinds::{self, Api, Delete, Kind, LegacyTag, Resource, Segment, kind};
use pushplan_model::nouns::level::Level;
use pushplan_model::nouns::tagged;
use serde_json::Value;

use super::{Other, others, read_by_itself, spoken_for};
use crate::compare::{Compared, Names, Situation};
use crate::plan::{Action, Change, Reason, RemoteThing};

/// The kinds whose contents have to be read for that: users of a tag are in audiences that no list shows.
pub fn contents(kinds: &BTreeSet<&'static str>, level: Level) -> BTreeSet<&'static str> {
    let mut read = read_by_itself(level);
    read.retain(|key| kinds.contains(key) || kinds.contains(LegacyTag::KEY));
    read
}

/// Adds the deletion of every undeclared resource of these kinds that is not ignored. A resource is kept if it has
/// begun to message people, has a declared name, or may be one that an earlier run created. If a creation of an earlier
/// run is unconfirmed, all resources of that kind are kept, because a person may have edited the created one beyond
/// recognition. While a gap of the ledger is open, nothing is deleted: a resource may have been created in the gap, or
/// be named by one that was.
pub fn prune(compared: &mut Vec<Compared>, situation: &Situation, kinds: &BTreeSet<&'static str>, ignore: &[String]) {
    let is_gap_open = situation.heed_gap && situation.ledger.gap.as_ref().is_some_and(|gap| !gap.is_closed);
    if !situation.deletes || kinds.is_empty() || is_gap_open {
        return;
    }
    let names = Names::new(situation.ledger);
    let others = others(situation.live, situation.ledger, situation.units);
    let mut found = Vec::new();
    {
        let spoken_for = spoken_for(compared.iter().map(|one| &one.change));
        let recovered: BTreeSet<&str> =
            compared.iter().filter_map(|one| Some(one.recovered.as_ref()?.id.as_str())).collect();
        let is_free = |other: &&Other| {
            let id = other.found.id.as_str();
            !spoken_for.contains(&(other.kind.key, id)) && !recovered.contains(id)
        };
        let held = Obstacles { unclear: unclear(situation), tags: tag_users(situation) };
        let unconfirmed = situation.ledger.open.values().filter(|open| open.intent.verb == Verb::Create);
        let in_doubt: BTreeSet<&str> = unconfirmed.map(|open| &*open.intent.address.kind).collect();
        let is_asked = |other: &&Other| {
            let kind = other.kind.key;
            kinds.contains(kind) && !in_doubt.contains(kind) && !other.is_ignored(ignore)
        };
        found.extend(
            others.iter().filter(is_asked).filter(is_free).filter_map(|other| one(other, situation, &names, &held)),
        );
    }
    compared.extend(found);
    compared.sort_by(|one, other| one.change.address.cmp(&other.change.address));
}

/// The reasons against deletions.
struct Obstacles {
    /// Resources that may name segments and tags.
    unclear: Vec<RemoteThing>,
    /// The users of each tag.
    tags: BTreeMap<String, BTreeSet<RemoteThing>>,
}

impl Obstacles {
    /// The remaining users of a resource.
    fn by(&self, other: &Other) -> Vec<RemoteThing> {
        let named = self.tags.get(&other.found.id).filter(|_| other.kind.key == LegacyTag::KEY);
        let unclear = self.unclear.iter().filter(|_| is_named(other.kind));
        let by: BTreeSet<&RemoteThing> = named.into_iter().flatten().chain(unclear).collect();
        by.into_iter().cloned().collect()
    }
}

/// Whether audiences name resources of a kind.
fn is_named(kind: &Kind) -> bool {
    [Segment::KEY, LegacyTag::KEY].contains(&kind.key)
}

/// The users of each tag without a group: in git, in the ledger or on the service. A resource that has messaged people
/// for the last time is no user.
fn tag_users(situation: &Situation) -> BTreeMap<String, BTreeSet<RemoteThing>> {
    let mut users: BTreeMap<String, BTreeSet<RemoteThing>> = BTreeMap::new();
    // A tag does not name itself.
    let mut add = |kind: &str, api: &dyn Api, spec: &Value, who: &RemoteThing| {
        if kind == LegacyTag::KEY {
            return;
        }
        for tag in tagged::tags(spec).into_iter().filter(|_| !situation.is_over(api, spec)) {
            users.entry(tag.to_owned()).or_default().insert(who.clone());
        }
    };
    for (address, unit) in situation.units {
        add(&address.kind, kinds::api(address), &unit.spec, &RemoteThing::from(address.clone()));
    }
    let mut ours: BTreeMap<(&str, &str), &Address> = BTreeMap::new();
    for (address, owned) in &situation.ledger.owned {
        ours.insert((&*address.kind, owned.id.as_str()), address);
        if !situation.has_ended(kinds::api(address), owned, &owned.spec) {
            add(&address.kind, kinds::api(address), &owned.spec, &RemoteThing::from(address.clone()));
        }
    }
    for (address, open) in &situation.ledger.open {
        if let Some(spec) = &open.intent.spec {
            add(&address.kind, kinds::api(address), spec, &RemoteThing::from(address.clone()));
        }
    }
    for old in &situation.ledger.retired {
        add(&old.address.kind, kinds::api(&old.address), &old.spec, &RemoteThing::from(old.address.clone()));
    }
    for (kind, found) in situation.live.listed() {
        let Some(spec) = &found.spec else { continue };
        let who = match ours.get(&(kind.key, found.id.as_str())) {
            Some(address) => RemoteThing::from(Address::clone(address)),
            None => RemoteThing::other(kind.key, found),
        };
        add(kind.key, kind.api, spec, &who);
    }
    users
}

/// The deletion of one resource, as the API allows it; `None` if it is kept.
fn one(other: &Other, situation: &Situation, names: &Names, held: &Obstacles) -> Option<Compared> {
    let (api, found) = (other.kind.api, other.found);
    // The references of unmanaged pushes are unknown if pushes should be listed and are not.
    if is_named(other.kind) && situation.live.unlisted.keys().any(|key| kind(key).is_some_and(points)) {
        return None;
    }
    // A resource with an unreadable content cannot be judged.
    let spec = found.spec.as_ref()?;
    if has_begun(api, spec, situation) {
        return None;
    }
    let by_hand = api.lifecycle(situation.level).delete == Delete::Never;
    // The manual step is already done.
    if by_hand && api.is_off(spec) {
        return None;
    }
    let mut reasons = vec![Reason::Pruned { made: found.made }];
    let held = held.by(other);
    let is_held = !held.is_empty();
    if is_held {
        reasons.push(Reason::StillUsed { id: found.id.clone(), by: held });
    }
    let deletes = !by_hand && !is_held;
    let live = names.by_key(api, spec);
    let owned = Owned {
        id: found.id.clone(),
        spec: live.clone(),
        refs: names.refs(api, spec),
        stamp: found.stamp.clone(),
        push_ids: found.push_ids.clone(),
        protect: false,
        past: false,
        applied: situation.now,
        zone: None,
    };
    let change = Change {
        address: other.address.clone(),
        action: if deletes { Action::Delete } else { Action::ByHand },
        name: found.name.clone(),
        place: None,
        id: Some(found.id.clone()),
        desired: None,
        live: Some(live),
        ledger: None,
        moved: None,
        reasons,
        sends: Vec::new(),
        protect: false,
        broadcast: false,
        ignored: Vec::new(),
    };
    Some(Compared {
        change,
        owned: deletes.then_some(owned),
        recovered: None,
        refresh: false,
        since_gap: false,
        restamp: false,
        close: false,
        released: false,
        stamp: None,
    })
}

/// Resources that may name segments, because this version cannot read their content.
fn unclear(situation: &Situation) -> Vec<RemoteThing> {
    let listed = situation.live.listed();
    let unread = listed.filter(|(kind, found)| points(kind) && found.spec.is_none());
    unread.map(|(kind, found)| RemoteThing::other(kind.key, found)).collect()
}

/// Whether resources of a kind refer to segments.
fn points(kind: &Kind) -> bool {
    !kind.api.audiences().is_empty()
}

fn has_begun(api: &dyn Api, spec: &Value, situation: &Situation) -> bool {
    api.runs(spec).is_some_and(|runs| runs.has_begun(situation.now))
}
