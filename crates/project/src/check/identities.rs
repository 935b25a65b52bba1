//! Resources with different keys and the same identity on the service, or with the same unique part.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use pushplan_model::address::Address;
use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::kinds;
use pushplan_model::node::{At, Name};
use pushplan_model::text;

use super::{Check, CheckScope, Subject};

pub const TWICE: Check = Check { codes: &[&codes::RF105], run: CheckScope::All(twice) };

fn twice(subject: &Subject, findings: &mut Findings) {
    let resources = subject.desired.resources.iter();
    let mut known: Vec<_> = resources.filter_map(|(address, it)| Some((it.spec.identity()?, address))).collect();
    // The first is the first one in the files, whatever its key.
    known.sort_by_key(|(identity, _)| identity.at);
    let mut firsts: HashMap<(&str, &str), (&Address, &kinds::Identity)> = HashMap::new();
    for (identity, address) in &known {
        let (first, other) = *firsts.entry((&*address.kind, identity.name.as_str())).or_insert((address, identity));
        if first == *address {
            continue;
        }
        let noun = kinds::of(address).noun;
        let message = format!("{address} and {first} are the same {noun}, `{}`", text::short(&identity.name, 60));
        let mut finding = Finding::new(&codes::RF105, identity.at, message)
            .label("the second")
            .related(other.at, "the first")
            .note("the service has only one of them, and pushplan cannot choose between the two")
            .help("remove one of them, or rename it");
        finding.address = Some((*address).clone());
        findings.push(finding);
    }
}

pub(crate) const HELD_TWICE: Check = Check { codes: &[&codes::RF105], run: CheckScope::All(held_twice) };

/// A part that only one resource can have, in two resources or twice in one.
fn held_twice(subject: &Subject, findings: &mut Findings) {
    let resources = subject.desired.resources.iter();
    let mut held: Vec<_> = resources
        .flat_map(|(address, it)| it.spec.held().into_iter().map(move |(noun, id)| (address, noun, id)))
        .collect();
    // The first is the first one in the files, whatever the keys.
    held.sort_by_key(|(_, _, id)| id.span);
    let mut firsts: HashMap<(&str, &str), (&Address, &At<Name>)> = HashMap::new();
    for (address, noun, id) in held {
        let (first, other) = match firsts.entry((&*address.kind, id.as_str())) {
            Entry::Vacant(entry) => {
                entry.insert((address, id));
                continue;
            }
            Entry::Occupied(entry) => *entry.get(),
        };
        let (shown, one) = (text::short(id, 60), kinds::of(address).noun);
        let finding = if first == address {
            Finding::new(&codes::RF105, id.span, format!("{address} has the {noun} `{shown}` twice"))
                .note(format!("a {one} can have a {noun} only once"))
                .help("remove one of them")
        } else {
            Finding::new(&codes::RF105, id.span, format!("{address} and {first} both have the {noun} `{shown}`"))
                .note(format!("a {noun} belongs to one {one} at a time: each apply would move it to the other"))
                .help("remove it from one of them")
        };
        let mut finding = finding.label("the second").related(other.span, "the first");
        finding.address = Some(address.clone());
        findings.push(finding);
    }
}
