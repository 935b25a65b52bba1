//! Managed resources that someone changed on the service.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pushplan_ledger::{Adopted, Ledger, Owned};
use pushplan_model::address::Address;
use pushplan_model::kinds::{self, Api, Found, Resource, Runs, Segment};
use pushplan_model::node::{At, Node, Reader, Shared};
use pushplan_model::source::Span;
use serde_json::Value;

use super::merge::{Clash, Field, by_key, like, merged};
use super::placing::{Declared, Placed};
use super::unmanaged::{Left, UnmanagedResource};
use crate::compare::{Names, Unit, ignoring};
use crate::live::{Live, LiveState};
use crate::plan::DeclaredAt;

/// A declared resource whose live state differs from the last applied one.
#[derive(Clone, Debug)]
pub struct Changed {
    pub address: Address,
    /// Its name on the service.
    pub name: String,
    pub id: String,
    /// The desired state in the manifests.
    pub desired: Value,
    /// The new desired state: with the changes on the service, and with those only in git.
    pub wanted: Value,
    /// The changed units. A resource that is applied as a whole is its own only part.
    pub parts: Vec<Part>,
}

/// A unit of a resource, with its new state.
#[derive(Clone, Debug)]
pub struct Part {
    pub address: Address,
    /// The new desired state, and the record for the ledger once the manifests have it; `None`: it was removed on the
    /// service.
    pub becomes: Option<(Value, Adopted)>,
    /// Fields that were changed in git as well: git's values are kept, and the ledger does not record this unit.
    pub clashes: Vec<Clash>,
}

/// A declared resource that was removed on the service.
#[derive(Clone, Debug)]
pub struct Gone {
    pub address: Address,
    /// Its name on the service.
    pub name: String,
    pub id: String,
    pub place: Option<DeclaredAt>,
}

impl Gone {
    /// The advice to remove it from git.
    pub fn way_out(&self) -> String {
        let place = match &self.place {
            Some(DeclaredAt { file, line }) => format!("Delete it in {file}:{line}"),
            None => "Delete it in your files".to_owned(),
        };
        format!(
            "{place}; the next apply then removes it from the ledger. If you keep it, `pushplan plan` shows what \
             happens to it"
        )
    }
}

/// Changes on the service of declared resources.
#[derive(Debug, Default)]
pub struct Changes {
    pub changed: Vec<Changed>,
    pub gone: Vec<Gone>,
    /// Parts that are not in git, of resources that are not declared for this target.
    pub grown: Vec<(Address, UnmanagedResource)>,
    pub left: Vec<Left>,
}

/// Finds every resource that was changed on the service since the last apply and is not declared like that, and every
/// one that has more parts there than are declared. Fields that are left to the dashboard count as unchanged. Segments
/// in `pulled` have keys from the same run. A field that was changed on both sides keeps git's value, or gets the
/// service's value with `theirs`.
pub fn changed(
    declared: &Declared,
    ledger: &Ledger,
    live: &Live,
    pulled: &[Placed],
    grown: Vec<(Address, UnmanagedResource)>,
    theirs: bool,
    now: Timestamp,
) -> Changes {
    let known = knowing(ledger, pulled, now);
    let mut out = Changes::default();
    let mut more: BTreeMap<Address, Vec<UnmanagedResource>> = BTreeMap::new();
    for (address, thing) in grown {
        match declared.desired.resources.contains_key(&address) {
            true => more.entry(address).or_default().push(thing),
            false => out.grown.push((address, thing)),
        }
    }
    let around = Around { units: declared.units, names: Names::new(&known), ledger, live, theirs, now };
    for (address, resource) in &declared.desired.resources {
        let singles = resource.spec.units(&address.key).into_iter().map(|(key, spec)| (key, spec.into_value()));
        let singles: Vec<(String, Value)> = singles.collect();
        let more = more.remove(address).unwrap_or_default();
        around.resource(address, &singles, &more, &|| resource.spec.canonical(), &mut out);
    }
    out
}

/// The ledger with the segments that are about to be pulled.
fn knowing(ledger: &Ledger, pulled: &[Placed], now: Timestamp) -> Ledger {
    let mut known = ledger.clone();
    for Placed { thing, key, .. } in pulled.iter().filter(|it| it.thing.kind.key == Segment::KEY) {
        let address = Address::new(Segment::KEY, key.clone());
        known.owned.entry(address).or_insert_with(|| Owned {
            id: thing.id.clone(),
            spec: thing.whole().into(),
            refs: BTreeMap::new(),
            stamp: None,
            protect: false,
            past: false,
            applied: now,
            push_ids: Vec::new(),
            zone: None,
        });
    }
    known
}

/// The result for a declared unit.
enum Fate {
    Stays,
    Becomes(Value, Box<Adopted>, Vec<Clash>),
    Removed,
    /// It was removed on the service, and changed in git.
    Disputed(Clash),
}

struct Around<'a> {
    units: &'a BTreeMap<Address, Unit>,
    names: Names<'a>,
    ledger: &'a Ledger,
    live: &'a Live,
    /// Whether the service's value wins if a field was changed on both sides.
    theirs: bool,
    now: Timestamp,
}

impl Around<'_> {
    fn resource(
        &self,
        address: &Address,
        singles: &[(String, Value)],
        more: &[UnmanagedResource],
        canonical: &dyn Fn() -> Value,
        out: &mut Changes,
    ) {
        let api = kinds::api(address);
        let mut parts = Vec::new();
        // The new state of all its units.
        let mut wanted: BTreeMap<Address, Value> = BTreeMap::new();
        for (key, spec) in singles {
            let at = Address::new(address.kind, key.clone());
            match self.fate(api, &at) {
                Fate::Stays => drop(wanted.insert(at, spec.clone())),
                Fate::Becomes(value, adopted, clashes) => {
                    wanted.insert(at.clone(), value.clone());
                    parts.push(Part { address: at, becomes: Some((value, *adopted)), clashes });
                }
                Fate::Removed => parts.push(Part { address: at, becomes: None, clashes: Vec::new() }),
                Fate::Disputed(clash) => {
                    wanted.insert(at.clone(), spec.clone());
                    parts.push(Part { address: at, becomes: None, clashes: vec![clash] });
                }
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
        // A resource may have fields beyond those of its parts, which are kept.
        let wanted = merged(api.audiences(), "", Field::of(&before, &desired, &after), &mut None).unwrap_or(after);
        let wanted = if parts.iter().any(|part| part.address != *address) { settled(address, wanted) } else { wanted };
        out.changed.push(Changed { address: address.clone(), name, id, desired, wanted, parts });
    }

    fn fate(&self, api: &dyn Api, address: &Address) -> Fate {
        let (Some(unit), Some(owned)) = (self.units.get(address), self.ledger.owned.get(address)) else {
            return Fate::Stays;
        };
        let begun = |runs: Runs| runs.has_begun(self.now);
        let found = match self.live.of(address) {
            LiveState::There(found) if found.id == owned.id && !owned.past => found,
            // A past push is no longer listed, although nobody removed it.
            LiveState::Absent if !owned.past && !api.runs(&owned.spec).is_some_and(begun) => {
                let in_doubt = self.ledger.open.contains_key(address);
                let same = by_key(api.audiences(), &self.names, &unit.spec)
                    == by_key(api.audiences(), &self.names, &owned.spec);
                return match in_doubt {
                    true => Fate::Stays,
                    false if same || self.theirs || address.part().is_none() => Fate::Removed,
                    false => Fate::Disputed(Clash {
                        path: String::new(),
                        git: Some(unit.spec.clone().into_value()),
                        live: None,
                        applied: Some(owned.spec.clone().into_value()),
                    }),
                };
            }
            _ => return Fate::Stays,
        };
        let Some(theirs) = &found.spec else { return Fate::Stays };
        let live = self.names.by_key(api, theirs);
        if live == owned.spec {
            return Fate::Stays;
        }
        let kept = ignoring(&live, &unit.spec, &unit.ignore).0;
        // A reference to a segment by id and one by key are equal.
        let alike = |spec: &Value| like(api.audiences(), &self.names, spec, &unit.spec);
        let (applied, kept) = (alike(&owned.spec), alike(&kept));
        let mut clashes = (!self.theirs).then(Vec::new);
        let fields = Field::of(&applied, &unit.spec, &kept);
        let Some(wanted) = merged(api.audiences(), "", fields, &mut clashes) else { return Fate::Stays };
        let clashes = clashes.unwrap_or_default();
        let same = by_key(api.audiences(), &self.names, &unit.spec) == by_key(api.audiences(), &self.names, &wanted);
        if same && clashes.is_empty() {
            return Fate::Stays;
        }
        let adopted = self.adopted(api, address, found, theirs);
        let (push_ids, zone) = (owned.push_ids.clone(), owned.zone.clone());
        let (protect, past) = (owned.protect, owned.past);
        Fate::Becomes(wanted, Box::new(Adopted { push_ids, zone, protect, past, ..adopted }), clashes)
    }

    /// Adds parts that the ledger does not have. A declared part that is not applied yet keeps git's value.
    fn grow(
        &self,
        address: &Address,
        thing: &UnmanagedResource,
        wanted: &mut BTreeMap<Address, Value>,
        parts: &mut Vec<Part>,
        out: &mut Changes,
    ) {
        let api = thing.kind.api;
        for single in &thing.singles {
            let at = thing.address(&address.key, single);
            let spec = self.names.by_key(api, &single.spec).into_value();
            if wanted.get(&at).is_some_and(|said| *said != spec) {
                let why = format!("it is different in git; `pushplan adopt {address}` manages it");
                let (name, id) = (thing.name.clone(), single.part.clone().unwrap_or_else(|| single.id.clone()));
                out.left.push(Left {
                    kind: thing.kind.key,
                    why: why.into(),
                    name,
                    id,
                    key: None,
                    is_part: true,
                    undecided: true,
                });
                continue;
            }
            let (id, stamp) = (single.id.clone(), single.stamp.clone());
            let found = Found { id, stamp, push_ids: single.push_ids.clone(), ..Found::default() };
            let adopted = self.adopted(api, &at, &found, &single.spec);
            wanted.insert(at.clone(), spec.clone());
            parts.push(Part { address: at, becomes: Some((spec, adopted)), clashes: Vec::new() });
        }
    }

    fn adopted(&self, api: &dyn Api, address: &Address, found: &Found, theirs: &Shared) -> Adopted {
        Adopted {
            address: address.clone(),
            id: found.id.clone(),
            refs: self.names.refs(api, theirs),
            spec: self.names.by_key(api, theirs),
            stamp: found.stamp.clone(),
            push_ids: found.push_ids.clone(),
            protect: false,
            past: false,
            zone: None,
            pruned: false,
        }
    }
}

/// The canonical form of a resource that was composed from its parts.
fn settled(address: &Address, spec: Value) -> Value {
    let key = At::new(address.key.clone(), Span::NONE);
    let read = (kinds::of(address).decode)(&key, &Node::from_json_value(&spec), &mut Reader::default());
    read.map_or(spec, |read| read.canonical())
}
