//! Resources on the service that are in neither a manifest nor the ledger.
//!
//! Pure: computed from the fetched state.

mod names;
mod prune;

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use pushplan_ledger::Ledger;
use pushplan_model::address::Address;
use pushplan_model::kinds::remote::{named_ids, segments};
use pushplan_model::kinds::{self, Api, Found, KINDS, Kind, LegacyTag, OpenChannel, Read, Resource, Runs};
use pushplan_model::nouns::level::Level;
use pushplan_model::text::is_like;
use serde_json::Value;

use crate::compare::Unit;
use crate::live::Live;
use crate::plan::{Annotations, Change, Reason, RemoteThing, Unmanaged};

pub use prune::contents;
pub(crate) use prune::prune;

/// A resource on the service that is not in git.
#[derive(Clone, Debug)]
pub struct Other<'l> {
    pub kind: &'static Kind,
    pub found: &'l Found,
    /// Its proposed address, from its name: the same list always gives the same addresses.
    pub address: Address,
}

impl Other<'_> {
    /// Whether a pattern of kind and name matches it, such as `segments/Test *`.
    pub fn is_like(&self, pattern: &str) -> bool {
        is_like(pattern, &format!("{}/{}", self.kind.key, self.found.name))
    }

    /// Whether it messaged people and is over: `pull` skips it.
    pub fn is_over(&self, now: Timestamp) -> bool {
        let runs = self.found.spec.as_ref().and_then(|spec| self.kind.api.runs(spec));
        runs.is_some_and(|runs| runs.is_done(now, SignedDuration::ZERO))
    }

    /// Whether one of these patterns matches it.
    pub fn is_ignored(&self, ignore: &[String]) -> bool {
        ignore.iter().any(|pattern| self.is_like(pattern))
    }
}

/// All listed resources that are in no ledger, by kind and name.
pub fn others<'l>(live: &'l Live, ledger: &Ledger, declared: &BTreeMap<Address, Unit>) -> Vec<Other<'l>> {
    let ours = ledger.ids();
    let tags = channel_tags(ledger, declared);
    let is_other = |(kind, found): &(&'static Kind, &Found)| {
        let is_of_channel = kind.key == LegacyTag::KEY && tags.contains(found.id.as_str());
        !ours.contains(&(kind.key, found.id.as_str())) && !is_of_channel
    };
    let others: Vec<_> = live.listed().filter(is_other).collect();
    if others.is_empty() {
        return Vec::new();
    }
    let known = declared.keys().chain(ledger.owned.keys()).chain(ledger.open.keys());
    let known = known.chain(ledger.retired.iter().map(|old| &old.address)).map(Address::resource).collect();
    names::named(others, &known)
}

/// The tags that open channels have, as declared or as applied.
pub(crate) fn channel_tags<'l>(ledger: &'l Ledger, declared: &'l BTreeMap<Address, Unit>) -> BTreeSet<&'l str> {
    let owned = ledger.owned.iter().map(|(address, owned)| (address, &owned.spec));
    let all = declared.iter().map(|(address, unit)| (address, &unit.spec)).chain(owned);
    let channels = all.filter(|(address, _)| address.kind == OpenChannel::KEY);
    channels.flat_map(|(_, spec)| spec["tags"].as_array().into_iter().flatten().filter_map(Value::as_str)).collect()
}

/// Adds the number of unmanaged resources to the facts for readers, without those that the plan names.
pub fn tell(told: &mut Annotations, live: &Live, others: &[Other], changes: &[Change], ignore: &[String]) {
    let is_told = if others.is_empty() { BTreeSet::new() } else { spoken_for(changes.iter()) };
    for other in others.iter().filter(|other| !other.is_ignored(ignore)) {
        let key = other.kind.key;
        if !is_told.contains(&(key, other.found.id.as_str())) {
            told.unmanaged.entry(key.to_owned()).or_insert_with(|| Unmanaged::new(!live.whole.contains(key))).number +=
                1;
        }
    }
    told.unlisted = live.unlisted.iter().map(|(kind, why)| ((*kind).to_owned(), why.clone())).collect();
}

/// The ids, by kind, that changes name: their own objects, objects with a declared name, and objects that may be
/// managed.
fn spoken_for<'c>(changes: impl Iterator<Item = &'c Change>) -> BTreeSet<(&'c str, &'c str)> {
    let mut ids = BTreeSet::new();
    for change in changes {
        let named = change.reasons.iter().flat_map(|reason| match reason {
            Reason::Collision { ids } => ids.as_slice(),
            Reason::InDoubt { candidates, .. } => candidates.as_slice(),
            _ => &[],
        });
        ids.extend(named.chain(&change.id).map(|id| (&*change.address.kind, id.as_str())));
    }
    ids
}

/// The known users of each segment, by its id. A resource that has messaged people for the last time is no user.
pub fn users(
    live: &Live,
    ledger: &Ledger,
    declared: &BTreeMap<Address, Unit>,
    now: Timestamp,
) -> BTreeMap<String, BTreeSet<RemoteThing>> {
    let mut users: BTreeMap<String, BTreeSet<RemoteThing>> = BTreeMap::new();
    let mut add = |ids: Vec<&str>, who: &RemoteThing| {
        for id in ids {
            users.entry(id.to_owned()).or_default().insert(who.clone());
        }
    };
    let is_over =
        |api: &dyn Api, spec: &Value| api.runs(spec).is_some_and(|runs| runs.is_over(now, SignedDuration::ZERO));
    let mut ours: BTreeMap<(&str, &str), &Address> = BTreeMap::new();
    for (address, owned) in &ledger.owned {
        let api = kinds::api(address);
        ours.insert((&*address.kind, owned.id.as_str()), address);
        let has_ended = match api.runs(&owned.spec) {
            Some(Runs { last: None, .. }) | None => owned.past,
            Some(runs) => runs.is_over(now, SignedDuration::ZERO),
        };
        if !has_ended {
            let ids = owned.refs.values().map(String::as_str).chain(named_ids(api.audiences(), &owned.spec));
            add(ids.collect(), &RemoteThing::from(address.clone()));
        }
    }
    for (address, unit) in declared {
        add(named_ids(kinds::api(address).audiences(), &unit.spec), &RemoteThing::from(address.clone()));
    }
    for (kind, found) in live.listed() {
        let Some(spec) = found.spec.as_ref().filter(|spec| !is_over(kind.api, spec)) else { continue };
        let who = match ours.get(&(kind.key, found.id.as_str())) {
            Some(address) => RemoteThing::from(Address::clone(address)),
            None => RemoteThing::other(kind.key, found),
        };
        add(segments(kind.api.audiences(), spec), &who);
    }
    users
}

/// The kinds whose contents no list shows. To find references, all of them have to be read.
pub fn read_by_itself(level: Level) -> BTreeSet<&'static str> {
    let by_itself = |kind: &&Kind| kind.api.lifecycle(level).read == Read::ListedThenGet;
    KINDS.iter().filter(by_itself).map(|kind| kind.key).collect()
}

/// The kinds that cannot be listed: resources of single people, or kinds that this API level does not list.
pub fn unlistable(level: Level) -> impl Iterator<Item = &'static Kind> {
    KINDS.iter().filter(move |kind| kind.api.list(level).is_empty())
}
