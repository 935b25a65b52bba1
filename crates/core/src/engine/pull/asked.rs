//! The requested part of a pull.

use std::collections::{BTreeMap, BTreeSet};

use pushplan_io::failure::Failure;
use pushplan_ledger::Ledger;
use pushplan_model::address::Address;
use pushplan_model::kinds::{self, Found, KINDS, Kind, Read};
use pushplan_model::nouns::level::Level;
use pushplan_model::text;
use pushplan_model::text::one_line;
use serde_json::Value;

use crate::live::{Live, LiveState};
use crate::pull::{Called, Choice, Declared, Left, Placed, Places};

/// Selects the requested part. Patterns that match nothing are refused.
pub fn chosen(choice: &Choice, places: Places, ours: &Ours, unlisted: &[&Kind]) -> Result<Places, Failure> {
    let Places { mut placed, mut grown, mut left } = places;
    let Ours { ledger, declared, names } = ours;
    let known: BTreeSet<Address> = ledger.owned.keys().map(Address::resource).chain(declared.iter().cloned()).collect();
    let mut all: Vec<Called> = Vec::new();
    all.extend(placed.iter().map(|it| Called {
        kind: it.thing.kind.key,
        key: Some(&it.key),
        name: &it.thing.name,
        id: &it.thing.id,
    }));
    all.extend(left.iter().map(called));
    let of_ours = |address: &Address| ledger.owned.get(address).map_or("", |owned| owned.id.as_str());
    for it in &known {
        let own = names.get(it).into_iter().flatten().map(String::as_str);
        let called = |name| Called { kind: &it.kind, key: Some(&it.key), name, id: of_ours(it) };
        all.extend(std::iter::once("").chain(own).map(called));
    }
    if let Some(word) = choice.idle(&all) {
        if let Some(kind) = unlisted.iter().find(|kind| word.split('/').next() == Some(kind.key)) {
            return Err(Failure::usage(format!(
                "{} cannot be found: this API does not list {}",
                one_line(&word),
                kind.plural()
            ))
            .help(format!("declare it and run `pushplan adopt {}/KEY --id ID`", kind.key)));
        }
        let keys: Vec<String> =
            all.iter().filter_map(|called| Some(format!("{}/{}", called.kind, called.key?))).collect();
        let failure = Failure::usage(format!("no resource on the service has the name {}", one_line(&word)));
        return Err(match text::nearest(&word, keys.iter().map(String::as_str)) {
            Some(near) => failure.help(format!("did you mean {near}?")),
            None => failure.help("write a key, or a name or an id as in the dashboard; `*` matches any characters"),
        });
    }
    placed.retain(|it| {
        let (key, thing) = (Some(it.key.as_str()), &it.thing);
        choice.takes(Called { kind: thing.kind.key, key, name: &thing.name, id: &thing.id })
    });
    grown.retain(|(address, thing)| {
        choice.takes(Called { kind: &address.kind, key: Some(&address.key), name: &thing.name, id: &thing.id })
    });
    left.retain(|left| choice.takes(called(left)));
    Ok(Places { placed, grown, left })
}

/// The managed and declared resources, and their names in git and on the service.
#[derive(Debug)]
pub struct Ours<'o> {
    pub ledger: &'o Ledger,
    pub declared: &'o BTreeSet<Address>,
    pub names: &'o BTreeMap<Address, BTreeSet<String>>,
}

impl Ours<'_> {
    /// Whether any name of a managed resource is selected.
    pub fn calls(&self, address: &Address, name: &str, id: &str, is_meant: &dyn Fn(Called) -> bool) -> bool {
        let more = self.names.get(address).into_iter().flatten().map(String::as_str);
        let called = |name| Called { kind: &address.kind, key: Some(&address.key), name, id };
        std::iter::once(name).chain(more).any(|name| is_meant(called(name)))
    }
}

/// Managed resources that are requested by name and no longer in any file: they are written again, under their keys.
#[derive(Debug)]
pub struct Returning {
    /// The keys in the ledger, by kind and id.
    keys: BTreeMap<(String, String), String>,
    owned: BTreeSet<Address>,
}

impl Ours<'_> {
    /// The resources that are requested by name and in no file.
    pub fn returning(&self, choice: &Choice) -> Returning {
        let is_asked = |resource: &Address, id: &str| {
            !self.declared.contains(resource) && self.calls(resource, "", id, &|it| choice.names(it))
        };
        let all = self.ledger.owned.iter();
        let all = all.filter(|(address, owned)| !owned.past && is_asked(&address.resource(), &owned.id));
        let (mut keys, mut owned) = (BTreeMap::new(), BTreeSet::new());
        for (address, it) in all {
            owned.insert(address.clone());
            if address.part().is_none() {
                keys.insert((address.kind.to_string(), it.id.clone()), address.key.clone());
            }
        }
        Returning { keys, owned }
    }
}

impl Returning {
    /// A ledger without these resources.
    pub fn without(&self, ledger: &Ledger) -> Ledger {
        let mut others = ledger.clone();
        others.owned.retain(|address, _| !self.owned.contains(address));
        others
    }

    /// Keeps the keys of these resources.
    pub(crate) fn keep_keys(&self, placed: &mut [Placed]) {
        for it in placed.iter_mut().filter(|it| it.is_new) {
            let own = (it.thing.kind.key.to_owned(), it.thing.id.clone());
            if let Some(key) = self.keys.get(&own) {
                it.key.clone_from(key);
            }
        }
    }
}

/// The names of declared and managed resources: in git, as last applied, and on the service.
pub fn names(declared: &Declared, ledger: &Ledger, live: &Live) -> BTreeMap<Address, BTreeSet<String>> {
    let mut names: BTreeMap<Address, BTreeSet<String>> = BTreeMap::new();
    let mut add = |address: &Address, spec: &Value| {
        names.entry(address.resource()).or_default().insert(kinds::api(address).name(spec));
    };
    declared.units.iter().for_each(|(address, unit)| add(address, &unit.spec));
    for (address, owned) in &ledger.owned {
        add(address, &owned.spec);
        if let LiveState::There(Found { spec: Some(spec), .. }) = live.of(address) {
            add(address, spec);
        }
    }
    names
}

/// Requested kinds that this API does not list.
pub fn unlisted(choice: &Choice, level: Level) -> Vec<&'static Kind> {
    let asked = choice.kinds();
    let is_unlisted = |kind: &&Kind| asked.contains(kind.key) && kind.api.lifecycle(level).read == Read::LedgerOnly;
    KINDS.iter().filter(is_unlisted).collect()
}

fn called(left: &Left) -> Called<'_> {
    Called { kind: left.kind, key: left.key.as_deref(), name: &left.name, id: &left.id }
}
