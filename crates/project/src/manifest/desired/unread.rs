//! Texts of catalogues that no message reads.

use std::collections::{BTreeSet, HashSet};

use pushplan_io::files::CATALOGUES;
use pushplan_model::address::{Address, KindKey};
use pushplan_model::codes;
use pushplan_model::finding::Finding;
use pushplan_model::kinds::{self, KINDS, Parts};
use pushplan_model::node::MapEntry;
use pushplan_model::source::Span;
use pushplan_model::text;

use super::super::Manifests;
use super::super::catalogues::Catalogue;
use super::{Declared, Desired};

/// The maximal number of addresses that are compared for a suggestion.
const COMPARED: usize = 10_000;

impl Manifests {
    /// Reports the texts of catalogues that no push of the target reads, except those with another finding.
    pub(crate) fn unread_texts(&self, desired: &Desired, reported: &[Finding]) -> Vec<Finding> {
        if self.catalogues.iter().next().is_none() {
            return Vec::new();
        }
        let read: HashSet<Span> = desired.resources.values().flat_map(localizations).collect();
        // The texts of a push whose `locales` cannot be read go nowhere for that reason.
        let broken: HashSet<&Address> = reported.iter().filter_map(|finding| finding.address.as_ref()).collect();
        let reported: BTreeSet<Span> =
            reported.iter().map(|finding| finding.at).filter(|at| self.catalogues.hold(*at)).collect();
        let is_reported = |entry: &MapEntry| {
            let own = entry.value.span;
            let within = own.slice(0..0);
            reported.range(within..).next().is_some_and(|at| own.contains(*at))
                || address_of(&entry.key).is_some_and(|address| broken.contains(&address))
        };
        let unread = self.catalogues.iter().flat_map(|catalogue| {
            let entries =
                catalogue.messages.iter().filter(|entry| !read.contains(&entry.key.span) && !is_reported(entry));
            entries.filter_map(|entry| self.unread(desired, catalogue, entry))
        });
        unread.collect()
    }

    fn unread(&self, desired: &Desired, catalogue: &Catalogue, entry: &MapEntry) -> Option<Finding> {
        let key = entry.key.as_str();
        let at = entry.key.span;
        let shown = text::short(key, 80);
        if kinds::kind(key).is_some() || key == "defaults" || key == "overlays" {
            let message = format!("`{shown}` is not a message: this file is a message catalogue");
            let finding = Finding::new(&codes::RF120, at, message).label("a part of a manifest");
            let note = format!("every YAML file directly in a folder `{CATALOGUES}` is a message catalogue");
            return Some(finding.note(note).help("move the manifest to another folder"));
        }
        let Some(address) = address_of(key) else {
            return Some(self.suggested(desired, no_message(at, &shown), key, at));
        };
        let Some(declared) = desired.resources.get(&address) else {
            let is_declared = desired.broken.contains(&address)
                || self.declarations(kinds::of(&address), &address.key).into_iter().next().is_some();
            return (!is_declared).then(|| self.suggested(desired, no_message(at, &shown), key, at));
        };
        // A message without a text that is translated has no localization.
        let is_empty = entry.value.entries().is_none_or(|texts| texts.iter().all(|text| text.value.is_null()));
        let (count, number) = (push_count(declared), key.len() > address.to_string().len());
        match count {
            0 => Some(no_message(at, &shown).note(format!("a {} has no texts", kinds::of(&address).noun))),
            2.. if !number => Some(no_message(at, &shown).help(format!(
                "the {} has {count} messages: write `{shown}/1` for the first of them",
                kinds::of(&address).noun
            ))),
            1 if number => {
                Some(no_message(at, &shown).help(format!("write `{address}`")).suggest(at, address.to_string()))
            }
            _ if is_empty => None,
            _ => {
                let finding = Finding::new(&codes::RF120, at, format!("`{shown}` does not read this catalogue"));
                Some(
                    finding
                        .label("goes nowhere")
                        .related(declared.key.span, "the resource")
                        .help(format!("add `locales: {}` to its push, or remove the text", catalogue.folder)),
                )
            }
        }
    }

    fn suggested(&self, desired: &Desired, finding: Finding, key: &str, at: Span) -> Finding {
        let speaking = |address: &&Address| KINDS.iter().any(|kind| kind.key == &*address.kind && kind.api.speaks());
        let known: Vec<String> =
            desired.resources.keys().filter(speaking).take(COMPARED).map(Address::to_string).collect();
        match text::nearest(key, known.iter().map(String::as_str)) {
            Some(near) => finding.help(format!("did you mean `{near}`?")).suggest(at, near),
            None => finding.help("write the address of a message, such as `scheduled_pushes/sale`, or remove the text"),
        }
    }
}

fn no_message(at: Span, shown: &str) -> Finding {
    Finding::new(&codes::RF120, at, format!("no message `{shown}`")).label("goes nowhere")
}

/// The address in the key of a message.
fn address_of(key: &str) -> Option<Address> {
    let (kind, key) = key.split_once('/')?;
    let key = key.split_once('/').filter(|(_, number)| number.parse::<usize>().is_ok()).map_or(key, |(key, _)| key);
    Some(Address::new(KindKey::find(kind)?, key))
}

fn push_count(declared: &Declared) -> usize {
    let mut parts = Parts::new(&declared.key);
    declared.spec.parts(&mut parts);
    parts.said.len()
}

/// The positions of the localizations of a resource.
fn localizations(declared: &Declared) -> Vec<Span> {
    let mut parts = Parts::new(&declared.key);
    declared.spec.parts(&mut parts);
    parts.said.iter().flat_map(|said| said.localizations).map(|own| own.span).collect()
}
