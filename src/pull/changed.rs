//! Resources of ours that somebody changed on the service.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::placing::Declared;
use super::unmanaged::{Left, Thing};
use crate::address::Address;
use crate::compare::{Names, Unit, ignoring};
use crate::kinds::{self, Api, Found, Runs, remote};
use crate::ledger::{Adopted, Ledger};
use crate::live::{Live, Seen};
use crate::node::{At, Node, Reader};
use crate::plan::Place;
use crate::source::Span;

/// A declared resource that is something else on the service than what was last applied.
#[derive(Clone, Debug)]
pub struct Changed {
    pub address: Address,
    /// The name that the service knows it by.
    pub name: String,
    pub id: String,
    /// What the manifests say.
    pub desired: Value,
    /// What they are to say: what was changed on the service, and what was changed in git alone.
    pub wanted: Value,
    /// The single things of it that are different. One that is applied as a whole is its own only part.
    pub parts: Vec<Part>,
}

/// A single thing of a resource, as the service has it by now.
#[derive(Clone, Debug)]
pub struct Part {
    pub address: Address,
    /// What the manifests are to say of it, and what the ledger learns once they do; `None`: it was removed there.
    pub becomes: Option<(Value, Adopted)>,
}

/// A declared resource that was removed on the service.
#[derive(Clone, Debug)]
pub struct Gone {
    pub address: Address,
    /// The name that the service knew it by.
    pub name: String,
    pub id: String,
    pub place: Option<Place>,
}

/// What the service did to what is declared.
#[derive(Debug, Default)]
pub struct Changes {
    pub changed: Vec<Changed>,
    pub gone: Vec<Gone>,
    /// Parts that are not in git, of resources that are not declared for this target.
    pub grown: Vec<(Address, Thing)>,
    pub left: Vec<Left>,
}

/// Every resource that was changed on the service since it was last applied and is not declared so, and every one that has more
/// parts there than are declared. Fields that are left to the dashboard are as they were.
pub fn changed(
    declared: &Declared,
    ledger: &Ledger,
    live: &Live,
    grown: Vec<(Address, Thing)>,
    now: Timestamp,
) -> Changes {
    let mut out = Changes::default();
    let mut more: BTreeMap<Address, Vec<Thing>> = BTreeMap::new();
    for (address, thing) in grown {
        match declared.desired.resources.contains_key(&address) {
            true => more.entry(address).or_default().push(thing),
            false => out.grown.push((address, thing)),
        }
    }
    let around = Around { units: declared.units, names: Names::new(ledger), ledger, live, now };
    for (address, resource) in &declared.desired.resources {
        let singles = resource.spec.units(&address.key);
        let more = more.remove(address).unwrap_or_default();
        around.resource(address, &singles, &more, &|| resource.spec.canonical(), &mut out);
    }
    out
}

/// What became of a single thing that is declared.
enum Fate {
    Stays,
    Becomes(Value, Box<Adopted>),
    Removed,
}

struct Around<'a> {
    units: &'a BTreeMap<Address, Unit>,
    names: Names<'a>,
    ledger: &'a Ledger,
    live: &'a Live,
    now: Timestamp,
}

impl Around<'_> {
    fn resource(
        &self,
        address: &Address,
        singles: &[(String, Value)],
        more: &[Thing],
        canonical: &dyn Fn() -> Value,
        out: &mut Changes,
    ) {
        let api = kinds::api(address);
        let mut parts = Vec::new();
        // What all single things of it are to be.
        let mut wanted: BTreeMap<Address, Value> = BTreeMap::new();
        for (key, spec) in singles {
            let at = Address::new(address.kind.clone(), key.clone());
            match self.fate(api, &at) {
                Fate::Stays => drop(wanted.insert(at, spec.clone())),
                Fate::Becomes(value, adopted) => {
                    wanted.insert(at.clone(), value.clone());
                    parts.push(Part { address: at, becomes: Some((value, *adopted)) });
                }
                Fate::Removed => parts.push(Part { address: at, becomes: None }),
            }
        }
        for thing in more {
            self.grow(address, thing, &mut wanted, &mut parts, out);
        }
        if parts.is_empty() {
            return;
        }
        let owned = |at: &Address| self.ledger.owned.get(at);
        let first = &parts[0].address;
        let spec = singles.first().map(|(_, spec)| spec).or(wanted.values().next());
        let name = spec.map(|spec| api.name(spec)).unwrap_or_default();
        let id = owned(first).filter(|_| first.part().is_none()).map_or_else(|| name.clone(), |owned| owned.id.clone());
        let after = api.whole(&wanted.values().collect::<Vec<_>>());
        let removed = |part: &Part| part.becomes.is_none() && part.address == *address;
        if after.is_null() || parts.iter().any(removed) {
            let place = self.units.get(first).and_then(|unit| unit.place.clone());
            out.gone.push(Gone { address: address.clone(), name, id, place });
            return;
        }
        let before = api.whole(&singles.iter().map(|(_, spec)| spec).collect::<Vec<_>>());
        let desired = canonical();
        // A resource may say more than its parts: that stays.
        let wanted = merged(api.audiences(), "", Some(&before), Some(&desired), Some(&after)).unwrap_or(after);
        let wanted = if parts.iter().any(|part| part.address != *address) { settled(address, wanted) } else { wanted };
        out.changed.push(Changed { address: address.clone(), name, id, desired, wanted, parts });
    }

    fn fate(&self, api: &dyn Api, address: &Address) -> Fate {
        let (Some(unit), Some(owned)) = (self.units.get(address), self.ledger.owned.get(address)) else {
            return Fate::Stays;
        };
        let begun = |runs: Runs| runs.first.is_none_or(|first| first <= self.now);
        let found = match self.live.of(address) {
            Seen::There(found) if found.id == owned.id && !owned.past => found,
            // What had its time is no longer listed, and nobody removed it.
            Seen::Absent if !owned.past && !api.runs(&owned.spec).is_some_and(begun) => {
                let in_doubt = self.ledger.open.contains_key(address);
                return if in_doubt { Fate::Stays } else { Fate::Removed };
            }
            _ => return Fate::Stays,
        };
        let Some(theirs) = &found.spec else { return Fate::Stays };
        let live = self.names.by_key(api, theirs);
        if live == owned.spec {
            return Fate::Stays;
        }
        let kept = ignoring(&live, &unit.spec, &unit.ignore).0;
        let Some(wanted) = merged(api.audiences(), "", Some(&owned.spec), Some(&unit.spec), Some(&kept)) else {
            return Fate::Stays;
        };
        if by_key(api.audiences(), &self.names, &unit.spec) == by_key(api.audiences(), &self.names, &wanted) {
            return Fate::Stays;
        }
        let adopted = self.adopted(api, address, found, theirs);
        let (push_ids, protect, past) = (owned.push_ids.clone(), owned.protect, owned.past);
        Fate::Becomes(wanted, Box::new(Adopted { push_ids, protect, past, ..adopted }))
    }

    /// Takes in parts that the ledger does not know. One that is declared and not applied yet is git's.
    fn grow(
        &self,
        address: &Address,
        thing: &Thing,
        wanted: &mut BTreeMap<Address, Value>,
        parts: &mut Vec<Part>,
        out: &mut Changes,
    ) {
        let api = thing.kind.api;
        for single in &thing.singles {
            let at = thing.address(&address.key, single);
            let spec = self.names.by_key(api, &single.spec);
            if wanted.get(&at).is_some_and(|said| *said != spec) {
                let why = format!("git says something else of it; `pushplan adopt {address}` takes it");
                let (name, id) = (thing.name.clone(), single.part.clone().unwrap_or_else(|| single.id.clone()));
                out.left.push(Left { kind: thing.kind.key, why: why.into(), name, id, is_part: true });
                continue;
            }
            let (id, stamp) = (single.id.clone(), single.stamp.clone());
            let found = Found { id, stamp, push_ids: single.push_ids.clone(), ..Found::default() };
            let adopted = self.adopted(api, &at, &found, &single.spec);
            wanted.insert(at.clone(), spec.clone());
            parts.push(Part { address: at, becomes: Some((spec, adopted)) });
        }
    }

    fn adopted(&self, api: &dyn Api, address: &Address, found: &Found, theirs: &Value) -> Adopted {
        Adopted {
            address: address.clone(),
            id: found.id.clone(),
            refs: self.names.refs(api, theirs),
            spec: self.names.by_key(api, theirs),
            stamp: found.stamp.clone(),
            push_ids: found.push_ids.clone(),
            protect: false,
            past: false,
        }
    }
}

/// The canonical form of a resource that was put together from its parts.
fn settled(address: &Address, spec: Value) -> Value {
    let key = At::new(address.key.clone(), Span::NONE);
    let read = |kind: &kinds::Kind| (kind.decode)(&key, &Node::from_json_value(&spec), &mut Reader::default());
    kinds::kind(&address.kind).and_then(read).map_or(spec, |read| read.canonical())
}

/// The same with segments of ours by their keys.
fn by_key(audiences: &[&str], names: &Names, spec: &Value) -> Value {
    remote::point(audiences, spec, &mut |reference| {
        let key = reference["id"].as_str().and_then(|id| names.key(id));
        key.map_or_else(|| reference.clone(), Value::from)
    })
}

/// A field with both kinds of changes since it was last applied: what was changed in git alone stays, and what was changed on the
/// service takes its place. An audience is one field.
fn merged(
    audiences: &[&str],
    path: &str,
    ledger: Option<&Value>,
    desired: Option<&Value>,
    live: Option<&Value>,
) -> Option<Value> {
    if live == ledger {
        return desired.cloned();
    }
    match (desired, live) {
        (Some(Value::Object(ours)), Some(Value::Object(theirs))) if desired != ledger && !audiences.contains(&path) => {
            let keys: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
            let mut out = Map::new();
            for key in keys {
                let before = ledger.and_then(|ledger| ledger.get(key));
                let value = merged(audiences, &format!("{path}/{key}"), before, ours.get(key), theirs.get(key));
                out.extend(value.map(|value| (key.clone(), value)));
            }
            Some(out.into())
        }
        _ => live.cloned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_was_changed_in_git_alone_stays() {
        let both = |ledger: Value, desired: Value, live: Value| {
            merged(&["/criteria"], "", Some(&ledger), Some(&desired), Some(&live)).expect("a value")
        };
        let ledger = json!({ "name": "a", "push": { "alert": "x", "title": "t" } });
        let desired = json!({ "name": "b", "push": { "alert": "x", "title": "t" } });
        let live = json!({ "name": "a", "push": { "alert": "y" } });
        assert_eq!(both(ledger, desired, live), json!({ "name": "b", "push": { "alert": "y" } }));
        let criteria = |value: Value| json!({ "criteria": value });
        let one =
            both(criteria(json!({ "tag": "a" })), criteria(json!({ "tag": "b" })), criteria(json!({ "NOT": "c" })));
        assert_eq!(one, criteria(json!({ "NOT": "c" })));
    }
}
