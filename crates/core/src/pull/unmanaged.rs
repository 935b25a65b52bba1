//! Resources on the service that are not in git.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use jiff::{SignedDuration, Timestamp};
use pushplan_ledger::{Ledger, Verb};
use pushplan_model::address::{Address, to_key};
use pushplan_model::kinds::{self, Found, KINDS, Kind};
use pushplan_model::node::Shared;
use pushplan_model::text;
use serde_json::Value;

use super::choice::{Called, Choice};
use crate::live::Live;

/// An undeclared resource, as the service has it.
#[derive(Clone, Debug)]
pub struct UnmanagedResource {
    pub kind: &'static Kind,
    /// Its name on the service.
    pub name: String,
    /// Its id; its name if it has parts.
    pub id: String,
    /// The units that it is applied as.
    pub singles: Vec<Single>,
    /// Whether it has begun to message people and has not ended.
    pub past: bool,
}

/// A unit, which is applied separately.
#[derive(Clone, Debug)]
pub struct Single {
    pub part: Option<String>,
    pub id: String,
    /// With ids of segments.
    pub spec: Shared,
    pub stamp: Option<String>,
    /// The ids of the pushes that it sends, if the service shows them.
    pub push_ids: Vec<String>,
}

impl UnmanagedResource {
    /// The address of one of its units, if it has this key.
    pub fn address(&self, key: &str, single: &Single) -> Address {
        let part = single.part.as_ref().map(|part| format!("/{part}")).unwrap_or_default();
        Address::new(self.kind.key, format!("{key}{part}"))
    }

    /// All its units in one spec.
    pub fn whole(&self) -> Value {
        let specs: Vec<&Value> = self.singles.iter().map(|single| &*single.spec).collect();
        self.kind.api.whole(&specs)
    }
}

/// A resource that is not pulled, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Left {
    pub kind: &'static str,
    pub why: Cow<'static, str>,
    pub name: String,
    pub id: String,
    /// The key of the declared resource with its name.
    pub key: Option<String>,
    /// Whether it is only a part of the resource with that name.
    pub is_part: bool,
    /// Whether no plan can be applied before a person decides about it.
    pub undecided: bool,
}

/// Past pushes are not pulled.
pub const PAST: &str = "its time has passed";
const UNCLEAR: &str = "this version cannot read its content";
const IN_DOUBT: &str = "an earlier run may have created it; `pushplan apply` checks";

/// All resources that are in no manifest, by kind.
#[derive(Debug, Default)]
pub struct Unmanaged {
    pub things: Vec<UnmanagedResource>,
    /// Resources with some managed parts, each with its address and its unmanaged parts.
    pub grown: Vec<(Address, UnmanagedResource)>,
    pub left: Vec<Left>,
}

impl Unmanaged {
    /// Removes resources that match these patterns, such as `segments/Test *`, unless they are requested explicitly.
    /// Returns how many were removed.
    pub fn ignore(&mut self, patterns: &[String], choice: &Choice) -> usize {
        let before = self.things.len() + self.left.len();
        let is_kept = |kind: &'static str, name: &str, id: &str| {
            let is_meant = |pattern: &String| text::is_like(pattern, &format!("{kind}/{name}"));
            choice.singles_out(Called { kind, key: Some(&to_key(name)), name, id }) || !patterns.iter().any(is_meant)
        };
        self.things.retain(|thing| is_kept(thing.kind.key, &thing.name, &thing.id));
        self.left.retain(|left| left.is_part || is_kept(left.kind, &left.name, &left.id));
        before - self.things.len() - self.left.len()
    }
}

/// Finds the resources of these kinds that are on the service and not in the ledger.
pub fn unmanaged(live: &Live, ledger: &Ledger, wanted: &BTreeSet<&'static str>, now: Timestamp) -> Unmanaged {
    let mut out = Unmanaged::default();
    let ours = Ours::new(ledger);
    for kind in KINDS.iter().filter(|kind| wanted.contains(kind.key)) {
        let mut resources: BTreeMap<String, (UnmanagedResource, Vec<Address>)> = BTreeMap::new();
        let mut taken: HashSet<(&str, Option<&str>)> = HashSet::new();
        let listed = live.listed.get(kind.key).into_iter().flat_map(BTreeMap::values);
        let listed = listed.map(|found| (found, None, &found.name));
        let counted = live.counted.get(kind.key).into_iter().flat_map(BTreeMap::values);
        for one in counted.clone() {
            if let Some(why) = one.left {
                out.left.push(Left { is_part: one.found.id != one.resource, ..left(kind, &one.found, why) });
            }
        }
        let counted = counted.filter(|one| one.left.is_none());
        let counted = counted.map(|one| (&one.found, one.part.as_ref(), &one.resource));
        for (found, part, name) in listed.chain(counted) {
            if let Some(why) = out_of_question(kind, found, ledger, &ours, now) {
                out.left.push(left(kind, found, why));
                continue;
            }
            let Some(spec) = &found.spec else { continue };
            let group = if part.is_some() { name } else { &found.id };
            let (thing, owned) = resources.entry(group.clone()).or_insert_with(|| {
                let thing =
                    UnmanagedResource { kind, name: name.clone(), id: group.clone(), singles: Vec::new(), past: false };
                (thing, Vec::new())
            });
            if let Some(address) = ours.address(kind, &found.id, spec) {
                owned.push(address.resource());
            } else if taken.insert((group, part.map(String::as_str))) {
                let begun = kind.api.runs(spec).is_some_and(|runs| runs.has_begun(now));
                thing.past = begun;
                let Found { id, stamp, push_ids, .. } = found.clone();
                thing.singles.push(Single { part: part.cloned(), id, spec: spec.clone(), stamp, push_ids });
            }
        }
        for (mut thing, owned) in resources.into_values().filter(|(thing, _)| !thing.singles.is_empty()) {
            thing.singles.sort_by(|a, b| a.part.cmp(&b.part));
            match owned.first() {
                Some(address) => out.grown.push((address.clone(), thing)),
                None => out.things.push(thing),
            }
        }
    }
    out.left.sort();
    out.left.dedup();
    out
}

fn left(kind: &Kind, found: &Found, why: impl Into<Cow<'static, str>>) -> Left {
    let (name, id) = (found.name.clone(), found.id.clone());
    Left { kind: kind.key, why: why.into(), name, id, key: None, is_part: false, undecided: false }
}

/// Why a resource cannot be pulled, whatever is requested.
fn out_of_question(kind: &Kind, found: &Found, ledger: &Ledger, ours: &Ours, now: Timestamp) -> Option<&'static str> {
    let Some(spec) = &found.spec else {
        return (!ours.ids.contains(&(kind.key, found.id.as_str()))).then_some(UNCLEAR);
    };
    if ours.address(kind, &found.id, spec).is_some() {
        return None;
    }
    let in_doubt = ledger.open.iter().any(|(address, open)| {
        let name = open.intent.spec.as_ref().map(|spec| kind.api.name(spec));
        address.kind == kind.key
            && open.intent.verb == Verb::Create
            && name.as_ref() == Some(&found.name)
            && !open.intent.seen.contains(&found.id)
    });
    if in_doubt {
        return Some(IN_DOUBT);
    }
    kind.api.runs(spec).is_some_and(|runs| runs.is_done(now, SignedDuration::ZERO)).then_some(PAST)
}

/// Managed resources, by their identity on the service.
struct Ours<'l> {
    ids: BTreeSet<(&'l str, &'l str)>,
    by_id: BTreeMap<(&'l str, &'l str), &'l Address>,
    by_identity: BTreeMap<(&'l str, String), &'l Address>,
}

impl<'l> Ours<'l> {
    fn new(ledger: &'l Ledger) -> Self {
        let (mut by_id, mut by_identity) = (BTreeMap::new(), BTreeMap::new());
        for (address, owned) in &ledger.owned {
            match kinds::api(address).identity(&owned.spec) {
                Some(identity) => drop(by_identity.insert((&*address.kind, identity), address)),
                None => drop(by_id.insert((&*address.kind, owned.id.as_str()), address)),
            }
        }
        for old in &ledger.retired {
            by_id.insert((&*old.address.kind, old.id.as_str()), &old.address);
        }
        Self { ids: ledger.ids(), by_id, by_identity }
    }

    fn address(&self, kind: &Kind, id: &str, spec: &Value) -> Option<&'l Address> {
        match kind.api.identity(spec) {
            Some(identity) => self.by_identity.get(&(kind.key, identity)).copied(),
            None => self.by_id.get(&(kind.key, id)).copied(),
        }
    }
}
