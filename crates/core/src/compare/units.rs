//! The units that the manifests declare.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::Timestamp;
use pushplan_ledger::{Adopted, Ledger};
use pushplan_model::address::Address;
use pushplan_model::codes;
use pushplan_model::cores;
use pushplan_model::digest::{Digest, Listed, written};
use pushplan_model::kinds::{self, Parts, Sending, remote};
use pushplan_model::node::Shared;
use pushplan_model::nouns::schedule::When;
use pushplan_model::source::{Sources, Span};
use pushplan_project::look;
use pushplan_project::manifest::{self, Declared, Desired, Provenance};
use serde_json::Value;

use super::Names;
use crate::plan::{Annotation, DeclaredAt, WrittenValue};

/// A declared unit: it is applied separately.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    pub spec: Shared,
    pub place: Option<DeclaredAt>,
    /// Whether deletion is refused; if not set, the ledger's value counts.
    pub protect: Option<bool>,
    pub broadcast: bool,
    /// Paths of fields that are left to the dashboard.
    pub ignore: Vec<String>,
    /// Whether its author marked it as a record, so that its time may have passed.
    pub record: bool,
    /// The previous key of its resource.
    pub renamed_from: Option<String>,
    /// Facts for readers only.
    pub aside: Annotation,
}

impl Unit {
    /// A unit with a spec and no other settings.
    pub fn of(spec: Shared) -> Self {
        Self {
            spec,
            place: None,
            protect: None,
            broadcast: false,
            ignore: Vec::new(),
            record: false,
            renamed_from: None,
            aside: Annotation::default(),
        }
    }

    /// The record for a resource that a user identifies on the service by its id. Its content was not read, so it has
    /// no version yet.
    pub fn taken_over(&self, address: &Address, id: &str, ledger: &Ledger) -> Adopted {
        let id_of = |key: &str| Some((key.to_owned(), ledger.owned.get(&super::segment_address(key))?.id.clone()));
        let named = remote::segments(kinds::api(address).audiences(), &self.spec);
        Adopted {
            address: address.clone(),
            id: id.to_owned(),
            spec: self.spec.clone(),
            refs: named.into_iter().filter_map(id_of).collect(),
            stamp: Some(String::new()),
            protect: self.protect.unwrap_or(false),
            past: false,
            push_ids: Vec::new(),
            zone: self.zone(address),
            pruned: false,
        }
    }

    /// The time zone that its times are written in, if it has times and only one zone.
    pub fn zone(&self, address: &Address) -> Option<String> {
        let has_one = kinds::api(address).has_runs() && self.aside.zones.is_empty();
        has_one.then(|| self.aside.zone.clone().unwrap_or_else(|| "UTC".to_owned()))
    }
}

/// The digest of everything in the manifests that a plan depends on.
pub fn digest(units: &BTreeMap<Address, Unit>) -> Digest {
    let mut said = Listed::default();
    for (address, unit) in units {
        let Unit { spec, place: _, protect, broadcast, ignore, record, renamed_from, aside: _ } = unit;
        let rest = written(&(protect, broadcast, ignore, record, renamed_from));
        said = said.text(&format!("[{},{},{}", written(address), spec.text(), &rest[1..]));
    }
    said.digest()
}

/// The units that the manifests declare.
pub fn units(desired: &Desired, sources: &Sources) -> BTreeMap<Address, Unit> {
    let resources: Vec<(&Address, &Declared)> = desired.resources.iter().collect();
    let units = cores::each_of(resources, |(address, declared)| units_of(address, declared, sources));
    units.into_iter().flatten().collect()
}

/// Returns the units that the manifests declare, and the places of resources that are applied in parts. Drops each resource as
/// soon as its units are made, because both together would need twice the memory.
pub fn taken(desired: Desired, sources: &Sources) -> (BTreeMap<Address, Unit>, BTreeMap<Address, DeclaredAt>) {
    let made = cores::each_of(desired.resources.into_iter().collect(), |(address, declared)| {
        let units = units_of(&address, &declared, sources);
        let is_whole = units.iter().any(|(unit, _)| *unit == address);
        let composite = if is_whole { None } else { place(&declared, sources).map(|place| (address, place)) };
        (units, composite)
    });
    let (units, composites): (Vec<_>, Vec<_>) = made.into_iter().unzip();
    (units.into_iter().flatten().collect(), composites.into_iter().flatten().collect())
}

/// The units of one resource.
fn units_of(address: &Address, declared: &Declared, sources: &Sources) -> Vec<(Address, Unit)> {
    let (place, aside, lifecycle) = (place(declared, sources), aside(declared, sources), &declared.lifecycle);
    let of_part = Annotation { written: Vec::new(), ..aside.clone() };
    let unit = |(key, spec): (String, Shared)| {
        let unit = Unit {
            spec,
            place: place.clone(),
            protect: lifecycle.protect,
            broadcast: lifecycle.broadcast.unwrap_or(false),
            ignore: lifecycle.ignore.iter().flatten().map(|path| path.value.clone()).collect(),
            record: lifecycle.allowed().any(|code| code.value == codes::SC101.name),
            renamed_from: lifecycle.renamed_from.as_ref().map(|key| key.value.clone()),
            aside: if key == *address.key { aside.clone() } else { of_part.clone() },
        };
        (Address::new(address.kind, key), unit)
    };
    declared.spec.units(&address.key).into_iter().map(unit).collect()
}

/// Returns units that name managed segments by their keys instead of their ids. Both mean the same thing.
pub fn by_key<'u>(units: &'u BTreeMap<Address, Unit>, ledger: &Ledger) -> Cow<'u, BTreeMap<Address, Unit>> {
    let names = Names::new(ledger);
    let ids = |(address, unit): (&Address, &Unit)| {
        let audiences = kinds::api(address).audiences();
        let is_ours = |spec: &Value| remote::named_ids(audiences, spec).into_iter().any(|id| names.key(id).is_some());
        remote::may_name(audiences, &unit.spec) && is_ours(&unit.spec.tree())
    };
    let named: Vec<Address> = units.iter().filter(|one| ids(*one)).map(|(address, _)| address.clone()).collect();
    let mut units = Cow::Borrowed(units);
    for address in named {
        if let Some(unit) = units.to_mut().get_mut(&address) {
            unit.spec = remote::pointed(kinds::api(&address).audiences(), &unit.spec, &mut |reference| {
                let key = reference["id"].as_str().and_then(|id| names.key(id));
                key.map_or_else(|| reference.clone(), Value::from)
            });
        }
    }
    units
}

/// File and line of a declaration.
fn place(declared: &Declared, sources: &Sources) -> Option<DeclaredAt> {
    place_at(declared.key.span, sources)
}

pub(crate) fn place_at(span: Span, sources: &Sources) -> Option<DeclaredAt> {
    let source = sources.get(span.file()?);
    Some(DeclaredAt { file: source.path.clone(), line: source.line(span.range().start) })
}

/// Facts in the manifest that are not sent to the service.
fn aside(declared: &Declared, sources: &Sources) -> Annotation {
    let mut parts = Parts::new(&declared.key);
    declared.spec.parts(&mut parts);
    let name = |sending: &Sending| sending.schedule.zone.iana_name().unwrap_or("UTC").to_owned();
    let at = |sending: &Sending| match sending.schedule.when {
        When::At(instant) => Some((instant, name(sending))),
        When::EachZone(_) => None,
    };
    let mut zones: BTreeMap<Timestamp, String> = parts.sendings.iter().filter_map(at).collect();
    let zone = parts.sendings.iter().map(name).find(|zone| zone != "UTC");
    if zones.values().all(|other| Some(other) == zones.values().next()) {
        zones.clear();
    }
    let previews = parts.previews.iter().map(|(name, sample)| (name.value.clone(), look::values(sample))).collect();
    let templates = parts.pushes.iter().filter_map(|push| push.template.as_ref());
    let mut templates: Vec<String> = templates.map(|name| name.0.clone()).collect();
    templates.dedup();
    let variables = variables(&parts, sources);
    let written = declared.provenance.iter().map(|one| written_value(one, sources)).collect();
    Annotation { zone, zones, templates, previews, variables, written, ..Annotation::default() }
}

fn written_value(one: &Provenance, sources: &Sources) -> WrittenValue {
    let Provenance { path, origin, filled, at } = one;
    let (path, origin, filled) = (path.clone(), origin.clone(), filled.clone());
    WrittenValue { path, origin, filled, place: place_at(*at, sources) }
}

/// The variables in the texts of messages, each once.
fn variables(parts: &Parts, sources: &Sources) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for said in &parts.said {
        let localized = said.localizations.iter().map(|own| Some(own.span));
        // The texts of a localization can be in a catalogue.
        let single = said.localized().flat_map(|(_, own)| {
            let notification = own.notification.into_iter().flat_map(|notification| notification.texts());
            notification.chain(own.message.into_iter().flat_map(|message| [&message.title, &message.body]))
        });
        let spans = [said.notification.map(|it| it.span), said.message.map(|it| it.span)];
        for text in spans
            .into_iter()
            .chain(localized)
            .flatten()
            .chain(single.map(|text| text.span))
            .filter(|span| span.file().is_some())
            .map(|span| sources.text(span))
        {
            names.extend(manifest::variables_in(text).map(str::to_owned));
        }
    }
    names.sort_unstable();
    names.dedup();
    names
}
