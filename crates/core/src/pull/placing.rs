//! The place of each resource in git: an address that declares it already, or a new key.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pushplan_ledger::Ledger;
use pushplan_model::address::Address;
use pushplan_model::kinds::remote::point;
use pushplan_model::kinds::{self, KINDS, Kind};
use pushplan_project::manifest::Desired;
use serde_json::Value;

use super::keys::{Nameless, can_be_key, keys};
use super::unmanaged::{Left, Unmanaged, UnmanagedResource};
use crate::compare::Unit;

/// The declared resources of the project.
#[derive(Debug)]
pub struct Declared<'d> {
    pub desired: &'d Desired,
    pub units: &'d BTreeMap<Address, Unit>,
    /// Every resource that is declared for any target.
    pub addresses: &'d BTreeSet<Address>,
}

/// A resource and its key.
#[derive(Clone, Debug)]
pub struct Placed {
    pub thing: Arc<UnmanagedResource>,
    pub key: String,
    /// Whether it is not declared yet.
    pub is_new: bool,
}

/// All resources with their places.
#[derive(Debug, Default)]
pub struct Places {
    pub placed: Vec<Placed>,
    /// Declared resources, with their undeclared parts.
    pub grown: Vec<(Address, UnmanagedResource)>,
    pub left: Vec<Left>,
}

/// Finds the place of each resource. A declared resource with the same content that is not managed yet is its place: an
/// earlier run wrote it and could not record it in the ledger, or a person wrote it.
pub fn place(unmanaged: Unmanaged, declared: &Declared, ledger: &Ledger) -> Places {
    let Unmanaged { things, grown, left } = unmanaged;
    let mut places = Places { placed: Vec::new(), grown, left };
    let owned: BTreeSet<Address> = ledger.owned.keys().chain(ledger.open.keys()).map(Address::resource).collect();
    let homes = Homes::new(declared, ledger);
    let mut used: BTreeSet<Address> = BTreeSet::new();
    let mut of_kind: BTreeMap<&str, Vec<UnmanagedResource>> = BTreeMap::new();
    for thing in things {
        of_kind.entry(thing.kind.key).or_default().push(thing);
    }
    for kind in KINDS {
        let things = of_kind.remove(kind.key).unwrap_or_default();
        let nameless: Vec<Nameless> = things.iter().map(|it| Nameless { name: &it.name, id: &it.id }).collect();
        let address = |key: &str| Address::new(kind.key, key.to_owned());
        let natural = keys(kind.noun, &nameless, &|key| owned.contains(&address(key)));
        let free = keys(kind.noun, &nameless, &|key| {
            owned.contains(&address(key)) || declared.addresses.contains(&address(key))
        });
        let new = natural.into_iter().zip(free);
        let places_of: Vec<(String, String)> = new.collect();
        for (thing, (natural, free)) in things.into_iter().zip(places_of) {
            if kind.api.is_named_by_key() && !can_be_key(&thing.name) {
                places.left.push(leave(&thing, "its name cannot be a key in a manifest"));
                continue;
            }
            let free = if kind.api.is_named_by_key() { thing.name.clone() } else { free };
            match homes.of(&thing, &natural, &used) {
                Home::None => places.placed.push(Placed { thing: thing.into(), key: free, is_new: true }),
                Home::Other(address) => {
                    let why = format!("{address} has its name but is different; `pushplan adopt {address}` manages it");
                    places.left.push(Left { undecided: true, key: Some(address.key), ..leave(&thing, why) });
                }
                Home::At(address, same, missing) => {
                    used.insert(address.clone());
                    if let Some(missing) = missing {
                        places.grown.push((address.clone(), missing));
                    }
                    if let Some(thing) = same {
                        places.placed.push(Placed { thing: thing.into(), key: address.key, is_new: false });
                    }
                }
            }
        }
    }
    places
}

fn leave(thing: &UnmanagedResource, why: impl Into<std::borrow::Cow<'static, str>>) -> Left {
    let (name, id) = (thing.name.clone(), thing.id.clone());
    Left { kind: thing.kind.key, why: why.into(), name, id, key: None, is_part: false, undecided: false }
}

enum Home {
    None,
    /// Declared there: the parts with the same content, and the missing parts.
    At(Address, Option<UnmanagedResource>, Option<UnmanagedResource>),
    /// A resource with its name and other content is declared there.
    Other(Address),
}

/// Declared and unmanaged resources, by their identity on the service.
struct Homes<'d> {
    units: &'d BTreeMap<Address, Unit>,
    ledger: &'d Ledger,
    by_identity: BTreeMap<(&'d str, String), &'d Address>,
    by_name: BTreeMap<(&'d str, String), Vec<&'d Address>>,
}

impl<'d> Homes<'d> {
    fn new(declared: &Declared<'d>, ledger: &'d Ledger) -> Self {
        let (mut by_identity, mut by_name) = (BTreeMap::new(), BTreeMap::<_, Vec<_>>::new());
        for (address, resource) in &declared.desired.resources {
            let is_key = kinds::api(address).is_named_by_key();
            let identity = resource.spec.identity().map(|identity| identity.name);
            if let Some(identity) = identity.or_else(|| is_key.then(|| address.key.clone())) {
                by_identity.insert((&*address.kind, identity), address);
            }
        }
        for (address, unit) in declared.units.iter().filter(|(address, _)| !ledger.owned.contains_key(address)) {
            let name = kinds::api(address).name(&unit.spec);
            by_name.entry((&*address.kind, name)).or_default().push(address);
        }
        Self { units: declared.units, ledger, by_identity, by_name }
    }

    fn of(&self, thing: &UnmanagedResource, natural: &str, used: &BTreeSet<Address>) -> Home {
        match identity(thing) {
            Some(identity) => match self.by_identity.get(&(thing.kind.key, identity)) {
                Some(address) => self.parts(thing, address),
                None => Home::None,
            },
            None => self.namesake(thing, natural, used),
        }
    }

    /// A resource that can exist only once: each of its parts is declared or not.
    fn parts(&self, thing: &UnmanagedResource, address: &Address) -> Home {
        let (mut same, mut missing) = (thing.clone(), thing.clone());
        same.singles.clear();
        missing.singles.clear();
        for single in &thing.singles {
            match self.units.get(&thing.address(&address.key, single)) {
                Some(unit) if unit.spec == single.spec => same.singles.push(single.clone()),
                Some(_) => return Home::Other(address.clone()),
                None => missing.singles.push(single.clone()),
            }
        }
        let some = |thing: UnmanagedResource| (!thing.singles.is_empty()).then_some(thing);
        Home::At(address.clone(), some(same), some(missing))
    }

    /// Names need not be unique. The declared resource with the same content is chosen, and among several the one with
    /// the key that it would get.
    fn namesake(&self, thing: &UnmanagedResource, natural: &str, used: &BTreeSet<Address>) -> Home {
        let Some(single) = thing.singles.first() else { return Home::None };
        let name = (thing.kind.key, thing.kind.api.name(&single.spec));
        let free = |address: &&&Address| !used.contains(**address) && !self.ledger.open.contains_key(**address);
        let namesakes: Vec<&Address> = self.by_name.get(&name).into_iter().flatten().filter(free).copied().collect();
        let is_same = |address: &&&Address| {
            self.units.get(**address).is_some_and(|unit| said(thing.kind, &unit.spec) == said(thing.kind, &single.spec))
        };
        let mut same: Vec<&Address> = namesakes.iter().filter(is_same).copied().collect();
        same.sort_by_key(|address| address.key != natural);
        match (same.first(), namesakes.first()) {
            (Some(address), _) => Home::At((*address).clone(), Some(thing.clone()), None),
            (None, Some(address)) => Home::Other((*address).clone()),
            (None, None) => Home::None,
        }
    }
}

/// The identity of a resource on the service, if that is unique.
fn identity(thing: &UnmanagedResource) -> Option<String> {
    if thing.kind.api.is_named_by_key() {
        return Some(thing.name.clone());
    }
    thing.kind.api.read(&thing.whole())?.identity().map(|identity| identity.name)
}

/// A spec without its references to segments, which may be keys or ids.
fn said(kind: &Kind, spec: &Value) -> Value {
    point(kind.api.audiences(), spec, &mut |_| Value::Null)
}
