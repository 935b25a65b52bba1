//! From the project file to its targets: tables from the matrix, from their groups, and their own.

use std::collections::BTreeMap;

use pushplan_model::finding::Findings;
use pushplan_model::node::{At, Decode, MapEntry, Node, Reader, Tree};

use super::groups::{self, Group, Members};
use super::matrix::{AxisValues, Made, Matrix};
use crate::manifest::merge;

/// The members of groups, the values of the targets of the matrix, and whether it created all of its targets: if not, a
/// missing target proves nothing.
#[derive(Debug, Default)]
pub struct Expanded {
    pub members: Members,
    pub values: BTreeMap<String, AxisValues>,
    pub is_unmade: bool,
}

/// Replaces the targets' own tables by complete ones, and returns the members of groups. A later layer has priority:
/// first the matrix, then the groups in the order of the file, then the target's own table. Invalid parts of matrix and
/// groups are reported when these are read.
pub fn expand(file: &mut Node, findings: &mut Findings) -> Expanded {
    let matrix = entry(file, "matrix").cloned();
    let tables: BTreeMap<String, Node> =
        entries(file, "groups").map(|it| (it.key.value.clone(), it.value.clone())).collect();
    if matrix.is_none() && tables.is_empty() {
        return Expanded::default();
    }
    let mut silent = Reader::default();
    let before = findings.len();
    let made = matrix.iter().filter_map(|entry| Some((entry, Matrix::decode(&entry.value, &mut silent)?)));
    let made: Vec<Made> =
        made.flat_map(|(entry, matrix)| matrix.targets(entry.key.span, entry.value.get("target"), findings)).collect();
    let is_unmade = findings.len() > before || (matrix.is_some() && made.is_empty());
    let mut targets: BTreeMap<At<String>, Layers> = BTreeMap::new();
    let mut values = BTreeMap::new();
    for Made { name, values: own, table } in made {
        values.insert(name.value.clone(), own);
        targets.insert(name, Layers { made: Some(table), own: None });
    }
    for MapEntry { key, value } in entries(file, "targets").cloned() {
        // The position of a target is that of its own table, if it has one.
        let made = targets.remove(&key).and_then(|layers| layers.made);
        targets.insert(key, Layers { made, own: Some(value) });
    }
    let names: Vec<At<String>> = targets.keys().cloned().collect();
    let read = entries(file, "groups").filter_map(|it| Some((it.key.clone(), Group::decode(&it.value, &mut silent)?)));
    let read = read.collect();
    let mut found = Findings::default();
    let members = groups::members(&read, &names, &mut found);
    if !is_unmade {
        findings.extend(found.into_vec());
    }
    let whole = targets.into_iter().map(|(key, Layers { made, own })| {
        let groups = members.get(&key.value).into_iter().flatten().filter_map(|group| tables.get(group));
        let layers = made.into_iter().chain(groups.map(groups::settings)).chain(own);
        let laid = layers.reduce(|under, over| merge::lay(&under, &over));
        MapEntry { value: laid.unwrap_or(Node { span: key.span, tree: Tree::Map(Vec::new()) }), key }
    });
    let whole = Node { span: file.span, tree: Tree::Map(whole.collect()) };
    if let Tree::Map(entries) = &mut file.tree {
        match entries.iter_mut().find(|entry| *entry.key == "targets") {
            Some(entry) if entry.value.entries().is_some() => entry.value = whole,
            // A value that is no table is reported elsewhere.
            Some(_) => {}
            None => entries.push(MapEntry { key: At::new("targets".to_owned(), file.span), value: whole }),
        }
    }
    Expanded { members, values, is_unmade }
}

struct Layers {
    made: Option<Node>,
    own: Option<Node>,
}

fn entry<'n>(node: &'n Node, key: &str) -> Option<&'n MapEntry> {
    node.entries().into_iter().flatten().find(|entry| *entry.key == key)
}

/// The tables of a part of the file.
fn entries<'n>(file: &'n Node, key: &str) -> impl Iterator<Item = &'n MapEntry> {
    let tables = entry(file, key).and_then(|entry| entry.value.entries());
    tables.into_iter().flatten().filter(|entry| !entry.is_own())
}
