//! Edited texts, which are parsed again before they are trusted.

use std::collections::{BTreeMap, BTreeSet};

use pushplan_model::address::Address;
use pushplan_model::source::FileId;
use serde_json::Value;

use super::super::{Desired, Manifests, layout};
use super::{AN_ANCHOR, Edit, Editor, Placed};

/// The final result of edits that were tried.
#[derive(Debug, Default)]
pub struct Settled {
    /// The changed files, by name, with their new content: manifests, and bodies next to them.
    pub texts: BTreeMap<String, String>,
    /// The results: edited, or left for a manual edit.
    pub placed: BTreeMap<Address, Placed>,
    /// The other targets for which an edit changes a resource as well.
    pub also: BTreeMap<Address, Vec<String>>,
    /// The number of comments that were removed with their values.
    pub remarks_gone: BTreeMap<Address, usize>,
    /// Resources that change because they use an edited one.
    pub following: BTreeSet<Address>,
}

/// Applies edits to the texts of the manifests, by file name.
pub fn carry_out<'e>(manifests: &Manifests, edits: impl IntoIterator<Item = &'e Edit>) -> BTreeMap<String, String> {
    let mut by_file = BTreeMap::new();
    for edit in edits {
        by_file.entry(edit.file).or_insert_with(Vec::new).push(edit);
    }
    let mut texts = BTreeMap::new();
    for (file, mut edits) in by_file {
        let source = manifests.sources.get(file);
        // Edits at the same position keep their order.
        edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
        let breaks = source.text.contains("\r\n");
        let (mut out, mut done) = (String::with_capacity(source.text.len()), 0);
        for edit in edits.into_iter() {
            // Overlapping edits are skipped, which is detected when the text is parsed again.
            if edit.range.start < done {
                continue;
            }
            out.push_str(&source.text[done..edit.range.start]);
            match breaks {
                true => out.push_str(&edit.text.replace('\n', "\r\n")),
                false => out.push_str(&edit.text),
            }
            done = edit.range.end;
        }
        out.push_str(&source.text[done..]);
        texts.insert(source.path.to_string(), out);
    }
    texts
}

/// Keeps the edits of each resource that bring it to its live state. Those of all others are dropped, and the whole
/// resource is reported for a manual edit. A resource that changes only because it uses an edited one is no reason to
/// drop an edit. `read` parses the manifests with other texts for some files.
pub fn settle(
    manifests: &Manifests,
    target: Option<&str>,
    mut placed: BTreeMap<Address, (Placed, Value)>,
    read: impl Fn(&BTreeMap<String, String>) -> Manifests,
) -> Settled {
    let before: Vec<(Option<&str>, Desired)> = targets(manifests, target);
    let written = Written::of(manifests);
    // The project with the edits of only one resource: its nodes, if the edits are right.
    let mut alone: BTreeMap<Address, Option<Vec<Value>>> = BTreeMap::new();
    // Each round drops at least one resource, or is the last.
    loop {
        let texts = carry_out(manifests, placed.values().flat_map(|(placed, _)| &placed.edits));
        let bodies = placed.values().flat_map(|(placed, _)| placed.bodies.clone()).collect();
        let after = Manifests { given_bodies: bodies, ..read(&texts) };
        let desired: Vec<(Option<&str>, Desired)> = targets(&after, target);
        let edited = || placed.iter().filter(|(_, (placed, _))| placed.is_edited());
        let is_edited = |address: &Address| placed.get(address).is_some_and(|(placed, _)| placed.is_edited());
        let now = Written::of(&after);
        let is_harmless = written.is_same(&now, &is_edited);
        let is_right =
            |address: &Address, placed: &Placed| spec(&desired[0].1, address).as_ref() == Some(&placed.expected);
        let suspects: Vec<&Address> = edited()
            .filter(|(address, (placed, _))| !is_harmless || !is_right(address, placed))
            .map(|(address, _)| address)
            .collect();
        for address in &suspects {
            if !alone.contains_key(*address) {
                let (placed, _) = &placed[*address];
                let bodies = placed.bodies.clone().into_iter().collect();
                let after = Manifests { given_bodies: bodies, ..read(&carry_out(manifests, &placed.edits)) };
                let now = Written::of(&after);
                let is_right = spec(&after.resolve(target).0, address).as_ref() == Some(&placed.expected)
                    && written.is_same(&now, &|other| other == *address);
                alone.insert((*address).clone(), is_right.then(|| now.resource(address)));
            }
        }
        let is_wrong = |address: &&&Address| alone.get(**address).is_some_and(Option::is_none);
        let mut wrong: Vec<Address> = suspects.iter().filter(is_wrong).map(|address| (*address).clone()).collect();
        if wrong.is_empty() {
            // Each is right separately. Together, those are wrong that are written differently than separately.
            let is_other = |address: &&&Address| {
                !is_harmless || alone.get(**address).and_then(Option::as_ref) != Some(&now.resource(address))
            };
            wrong = suspects.iter().filter(is_other).map(|address| (*address).clone()).collect();
        }
        if wrong.is_empty() {
            let remarks_gone = remarks_gone(manifests, &placed);
            return Settled { remarks_gone, ..settled(texts, placed, &before, &desired) };
        }
        for address in wrong {
            if let Some((placed, live)) = placed.get_mut(&address) {
                let editor = Editor::new(manifests, target);
                // A removed value may have the anchor of a kept one.
                let anchor = editor.anchor_within(&placed.edits);
                let why = if anchor.is_some() { "used here" } else { "written in a way that cannot be edited" };
                // It is not changed.
                let expected = spec(&before[0].1, &address).unwrap_or_default();
                let mut unplaced = editor.by_hand(&address, &expected, live, why);
                for one in &mut unplaced {
                    one.places.extend(anchor.map(|anchor| (anchor, AN_ANCHOR)));
                }
                *placed = Placed { unplaced, expected, ..Placed::default() };
            }
        }
    }
}

fn settled(
    texts: BTreeMap<String, String>,
    placed: BTreeMap<Address, (Placed, Value)>,
    before: &[(Option<&str>, Desired)],
    after: &[(Option<&str>, Desired)],
) -> Settled {
    let mut settled = Settled { texts, ..Settled::default() };
    for (address, resource) in &after[0].1.resources {
        let now = resource.spec.canonical();
        let expected = match placed.get(address) {
            Some((placed, live)) if !placed.is_edited() && now == *live => continue,
            Some((placed, _)) if placed.is_edited() => Some(placed.expected.clone()),
            _ => spec(&before[0].1, address),
        };
        if expected.is_some_and(|expected| expected != now) {
            settled.following.insert(address.clone());
        }
    }
    for (address, (mut placed, live)) in placed {
        // A change in another resource may have the intended effect.
        if !placed.unplaced.is_empty() && spec(&after[0].1, &address).as_ref() == Some(&live) {
            placed.unplaced.clear();
            placed.expected = live;
        }
        settled.texts.extend(placed.bodies.clone());
        let others = before.iter().zip(after).skip(1);
        let changed = others.filter(|((_, before), (_, after))| spec(before, &address) != spec(after, &address));
        let names: Vec<String> = changed.filter_map(|((name, _), _)| name.map(str::to_owned)).collect();
        if !names.is_empty() {
            settled.also.insert(address.clone(), names);
        }
        settled.placed.insert(address, placed);
    }
    settled
}

/// The number of comments that the edits of each resource remove.
fn remarks_gone(manifests: &Manifests, placed: &BTreeMap<Address, (Placed, Value)>) -> BTreeMap<Address, usize> {
    let mut gone = BTreeMap::new();
    for (address, (placed, _)) in placed {
        let text = |edit: &Edit| &manifests.sources.get(edit.file).text;
        if !placed.edits.iter().any(|edit| text(edit)[edit.range.clone()].contains('#')) {
            continue;
        }
        let after = carry_out(manifests, &placed.edits);
        let files: BTreeSet<FileId> = placed.edits.iter().map(|edit| edit.file).collect();
        let remarks_of = |text: &str| {
            let mut counts: BTreeMap<String, usize> = BTreeMap::new();
            for range in layout::comments(text) {
                *counts.entry(text[range].trim().to_owned()).or_default() += 1;
            }
            counts
        };
        let mut count = 0;
        for source in files.into_iter().map(|file| manifests.sources.get(file)) {
            let left = remarks_of(after.get(&*source.path).map_or("", String::as_str));
            let lost =
                |(remark, times): (&String, &usize)| times.saturating_sub(left.get(remark).copied().unwrap_or(0));
            count += remarks_of(&source.text).iter().map(lost).sum::<usize>();
        }
        if count > 0 {
            gone.insert(address.clone(), count);
        }
    }
    gone
}

/// All declarations as written, before any resolution.
struct Written {
    resources: BTreeMap<(&'static str, String), Vec<Value>>,
    defaults: BTreeMap<String, Value>,
}

impl Written {
    fn of(manifests: &Manifests) -> Self {
        let collected = &manifests.collected;
        let mut resources: BTreeMap<(&'static str, String), Vec<Value>> = BTreeMap::new();
        for layer in std::iter::once(&collected.base).chain(collected.overlays.values()) {
            for it in &layer.resources {
                resources.entry((it.kind.key, it.key.value.clone())).or_default().push(it.node.to_json());
            }
        }
        let defaults = collected.defaults.iter().map(|(kind, node)| (kind.to_string(), node.to_json())).collect();
        Self { resources, defaults }
    }

    fn resource(&self, address: &Address) -> Vec<Value> {
        let own = self.resources.iter().find(|((kind, key), _)| *kind == address.kind && *key == address.key);
        own.map(|(_, nodes)| nodes.clone()).unwrap_or_default()
    }

    /// Whether everything except the edited resources is written as before.
    fn is_same(&self, other: &Self, is_edited: &dyn Fn(&Address) -> bool) -> bool {
        let same = |((kind, key), nodes): (&(&'static str, String), &Vec<Value>)| {
            other.resources.get(&(*kind, key.clone())) == Some(nodes) || is_edited(&Address::new(*kind, key.clone()))
        };
        self.defaults == other.defaults
            && self.resources.len() == other.resources.len()
            && self.resources.iter().all(same)
    }
}

fn spec(desired: &Desired, address: &Address) -> Option<Value> {
    desired.resources.get(address).map(|declared| declared.spec.canonical())
}

/// The desired state of each target, the given one first.
fn targets<'m>(manifests: &'m Manifests, first: Option<&'m str>) -> Vec<(Option<&'m str>, Desired)> {
    let names = manifests.project.target_names().into_iter().map(Some);
    let others = names.filter(|name| *name != first);
    std::iter::once(first).chain(others).map(|name| (name, manifests.resolve(name).0)).collect()
}
