//! Texts with their edits carried out, read again before anybody believes them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::{Desired, Manifests};
use super::{Edit, Placed, Unplaced};
use crate::address::Address;

/// What is left of many edits once they were tried.
#[derive(Debug, Default)]
pub struct Settled {
    /// The files that change, by their names, with their new content: manifests, and bodies beside them.
    pub texts: BTreeMap<String, String>,
    /// What was edited as it should, and what is left to be done by hand.
    pub placed: BTreeMap<Address, Placed>,
    /// The other targets for which an edit changes a resource as well.
    pub also: BTreeMap<Address, Vec<String>>,
}

/// The texts of the manifests with some edits carried out, by the names of their files.
pub fn carry_out<'e>(manifests: &Manifests, edits: impl IntoIterator<Item = &'e Edit>) -> BTreeMap<String, String> {
    let mut by_file = BTreeMap::new();
    for edit in edits {
        by_file.entry(edit.file).or_insert_with(Vec::new).push(edit);
    }
    let mut texts = BTreeMap::new();
    for (file, mut edits) in by_file {
        let source = manifests.sources.get(file);
        // Those at one place keep the order in which they were made.
        edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
        let breaks = source.text.contains("\r\n");
        let (mut out, mut done) = (String::with_capacity(source.text.len()), 0);
        for edit in edits.into_iter() {
            // What overlaps is left out, and found when the text is read again.
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
        texts.insert(source.path.clone(), out);
    }
    texts
}

/// Keeps the edits of each resource that make it what the service has. Those of any other are given up, and the whole
/// resource is told as one that is to be edited by hand. `read` gives the manifests with other texts in the place of files.
pub fn settle(
    manifests: &Manifests,
    target: Option<&str>,
    mut placed: BTreeMap<Address, (Placed, Value)>,
    read: impl Fn(&BTreeMap<String, String>) -> Manifests,
) -> Settled {
    let before: Vec<(Option<&str>, Desired)> = targets(manifests, target);
    // Each round gives at least one up, or is the last.
    loop {
        let texts = carry_out(manifests, placed.values().flat_map(|(placed, _)| &placed.edits));
        let after = read(&texts);
        let desired: Vec<(Option<&str>, Desired)> = targets(&after, target);
        let is_right = |address: &Address, placed: &Placed| {
            let said = desired[0].1.resources.get(address).map(|declared| declared.spec.canonical());
            placed.edits.is_empty() || said.as_ref() == Some(&placed.expected)
        };
        // Whatever was not to be edited must stay what it is.
        let others: BTreeSet<&Address> = before[0].1.resources.keys().filter(|at| !placed.contains_key(*at)).collect();
        let same = |address: &&Address| spec(&before[0].1, address) == spec(&desired[0].1, address);
        let harmless = others.iter().all(same);
        let wrong: Vec<Address> = placed
            .iter()
            .filter(|(address, (placed, _))| !placed.edits.is_empty() && (!harmless || !is_right(address, placed)))
            .map(|(address, _)| address.clone())
            .collect();
        if wrong.is_empty() {
            let mut settled = Settled { texts, ..Settled::default() };
            for (address, (placed, _)) in placed {
                settled.texts.extend(placed.bodies.clone());
                let others = before.iter().zip(&desired).skip(1);
                let changed =
                    others.filter(|((_, before), (_, after))| spec(before, &address) != spec(after, &address));
                let names: Vec<String> = changed.filter_map(|((name, _), _)| name.map(str::to_owned)).collect();
                if !names.is_empty() {
                    settled.also.insert(address.clone(), names);
                }
                settled.placed.insert(address, placed);
            }
            return settled;
        }
        for address in wrong {
            let at = manifests.declared().find(|it| it.kind.key == address.kind && *it.key == address.key);
            let places = at.map(|it| (it.key.span, "written in a way that cannot be edited")).into_iter().collect();
            if let Some((placed, live)) = placed.get_mut(&address) {
                let whole = Unplaced { path: String::new(), live: Some(live.clone()), places };
                *placed = Placed { unplaced: vec![whole], expected: placed.expected.clone(), ..Placed::default() };
            }
        }
    }
}

fn spec(desired: &Desired, address: &Address) -> Option<Value> {
    desired.resources.get(address).map(|declared| declared.spec.canonical())
}

/// What each target gets, the given one first.
fn targets<'m>(manifests: &'m Manifests, first: Option<&'m str>) -> Vec<(Option<&'m str>, Desired)> {
    let names = manifests.project.target_names().into_iter().map(Some);
    let others = names.filter(|name| *name != first);
    std::iter::once(first).chain(others).map(|name| (name, manifests.resolve(name).0)).collect()
}
