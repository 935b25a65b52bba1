//! A resource as a person would write it, from its canonical form.
//!
//! Each rewriting is kept only if the parsed result is the same resource, so no table of exceptions is needed: a text
//! that only looks like a time, in a field outside the contract, is not changed.

use pushplan_model::kinds::Kind;
use pushplan_model::node::{At, MapEntry, Node, Plain, Reader, Scalar, Style, Tree};
use pushplan_model::nouns::delay::Delay;
use pushplan_model::nouns::vocabulary::{self, Group, Values};
use pushplan_model::source::Span;
use serde_json::Value;

/// Returns the node for a resource in a manifest. `spec` is canonical and names segments by their keys.
///
/// Fields are in the order of the contract. Values that the key implies are left out, tags of the service's own groups
/// have their short names, and `${` is escaped.
pub fn authored(kind: &Kind, key: &str, spec: &Value) -> Node {
    let means_it = |node: &Node| means(kind, key, node).as_ref() == Some(spec);
    let plain = match kind.api.read(spec) {
        Some(read) => read.in_order(),
        None => Node::from_json_value(spec),
    };
    let mut node = shorter(&rewritten(kind, &plain, &REWRITINGS), key);
    // Nearly always, all rewritings are right.
    if !means_it(&node) {
        let kept: Vec<Rewriting> =
            REWRITINGS.into_iter().filter(|one| means_it(&rewritten(kind, &plain, &[*one]))).collect();
        node = rewritten(kind, &plain, &kept);
        for place in repeated(&node, key).into_iter().rev() {
            let other = without(&node, &place);
            if means_it(&other) {
                node = other;
            }
        }
    }
    escape(&mut node);
    node
}

/// The parsed resource of a node.
fn means(kind: &Kind, key: &str, node: &Node) -> Option<Value> {
    let key = At::new(key.to_owned(), Span::NONE);
    Some((kind.decode)(&key, node, &mut Reader::default())?.canonical())
}

/// Writes a part of a resource in another form.
type Rewriting = fn(&Kind, &mut Node);

const REWRITINGS: [Rewriting; 3] = [conditions, times, alone];

fn rewritten(kind: &Kind, node: &Node, ways: &[Rewriting]) -> Node {
    let mut node = node.clone();
    ways.iter().for_each(|way| way(kind, &mut node));
    node
}

fn made(tree: Tree) -> Node {
    Node { span: Span::NONE, tree }
}

fn text(text: impl Into<String>) -> Node {
    made(Tree::Scalar(Scalar { text: text.into(), style: Style::Quoted }))
}

fn entry(key: &str, value: Node) -> MapEntry {
    MapEntry { key: At::new(key.to_owned(), Span::NONE), value }
}

fn text_of(node: &Node) -> Option<&str> {
    match &node.tree {
        Tree::Scalar(Scalar { text, style: Style::Quoted }) => Some(text),
        _ => None,
    }
}

/// Writes lists with one item without the list, if that is allowed.
fn alone(kind: &Kind, node: &mut Node) {
    let Tree::Map(entries) = &mut node.tree else { return };
    for MapEntry { value, .. } in entries.iter_mut().filter(|entry| kind.one_or_many.contains(&entry.key.as_str())) {
        if let Tree::List(items) = &mut value.tree
            && items.len() == 1
        {
            *value = items.remove(0);
        }
    }
}

/// Writes times and durations in a readable form. The content of a push has none.
fn times(_: &Kind, node: &mut Node) {
    times_in(node);
}

fn times_in(node: &mut Node) {
    match &mut node.tree {
        Tree::Scalar(_) => {}
        Tree::List(items) => items.iter_mut().for_each(times_in),
        Tree::Map(entries) => {
            for MapEntry { key, value } in entries.iter_mut().filter(|entry| *entry.key != "push") {
                match (key.as_str(), &mut value.tree) {
                    ("scheduled_time" | "local_scheduled_time", Tree::Scalar(scalar)) => {
                        // The contract's form is a date, a T and four digits.
                        if scalar.text.len() == 15 && scalar.text.is_ascii() && scalar.text.as_bytes()[10] == b'T' {
                            scalar.text.insert(13, ':');
                        }
                    }
                    ("delay", Tree::Scalar(scalar)) => {
                        if let Some(Plain::Integer(seconds)) = scalar.plain()
                            && seconds > 0
                        {
                            *value = text(Delay(seconds).written());
                        }
                    }
                    _ => times_in(value),
                }
            }
        }
    }
}

/// Writes audiences with short names.
fn conditions(kind: &Kind, node: &mut Node) {
    for pointer in kind.api.audiences() {
        let steps = pointer.split('/').skip(1);
        let place = steps.into_iter().try_fold(&mut *node, |node, step| match &mut node.tree {
            Tree::Map(entries) => entries.iter_mut().find(|entry| *entry.key == step).map(|entry| &mut entry.value),
            _ => None,
        });
        if let Some(audience) = place {
            *audience = condition(audience);
        }
    }
}

/// A selector as a person would write it.
pub fn condition(node: &Node) -> Node {
    condition_with(node, short)
}

/// Returns a selector as a person would write it, but with the names that the service has for its groups.
pub(crate) fn long_condition(node: &Node) -> Node {
    condition_with(node, Node::clone)
}

fn condition_with(node: &Node, leaf: fn(&Node) -> Node) -> Node {
    let Some([head, ..]) = node.entries() else { return node.clone() };
    let condition = |node: &Node| condition_with(node, leaf);
    let members = |members: &[Node]| made(Tree::List(members.iter().map(condition).collect()));
    let only = |key: &str, value: Node| made(Tree::Map(vec![entry(key, value)]));
    match (head.key.as_str(), &head.value.tree) {
        ("AND", Tree::List(items)) => only("and", members(items)),
        ("OR", Tree::List(items)) => any_of(items, leaf).unwrap_or_else(|| only("or", members(items))),
        ("NOT", _) => only("not", condition(&head.value)),
        _ => leaf(node),
    }
}

/// `country: US` instead of a tag of the service's own group.
fn short(node: &Node) -> Node {
    let part = |key: &str| node.get(key).and_then(text_of);
    let (Some(tag), Some(group)) = (part("tag"), part("group").and_then(vocabulary::group)) else {
        return node.clone();
    };
    made(Tree::Map(vec![entry(group.shorthand, property(group, tag))]))
}

fn property(group: &Group, tag: &str) -> Node {
    match group.values {
        // The tags are texts, but people write true and false without quotes.
        Values::Flag if matches!(tag, "true" | "false") => {
            made(Tree::Scalar(Scalar { text: tag.to_owned(), style: Style::Plain }))
        }
        _ => text(tag),
    }
}

/// `tag: [a, b]` instead of an `or` of conditions that only differ in one value.
fn any_of(items: &[Node], leaf: fn(&Node) -> Node) -> Option<Node> {
    const NOT_LISTED: [&str; 5] = ["AND", "OR", "NOT", "location", "attribute"];
    let all: Vec<Node> = items.iter().map(leaf).collect();
    let parts: Vec<(&MapEntry, &[MapEntry])> =
        all.iter().map(|node| node.entries()?.split_first()).collect::<Option<Vec<_>>>()?;
    let [(first, beside), (_, _), ..] = parts[..] else { return None };
    let texts = |entries: &[MapEntry]| -> Vec<Option<String>> {
        entries.iter().map(|entry| Some(format!("{} {}", entry.key, text_of(&entry.value)?))).collect()
    };
    let beside_it = texts(beside);
    let alike = |(head, others): &(&MapEntry, &[MapEntry])| head.key == first.key && texts(others) == beside_it;
    if NOT_LISTED.contains(&first.key.as_str()) || beside_it.contains(&None) || !parts.iter().all(alike) {
        return None;
    }
    let values = parts.iter().map(|(head, _)| head.value.clone()).collect();
    let listed = entry(&first.key, made(Tree::List(values)));
    Some(made(Tree::Map(std::iter::once(listed).chain(beside.iter().cloned()).collect())))
}

/// The path of an entry: the index of each entry or item on the way to it.
type EntryPath = Vec<usize>;

/// The node without entries that seem to repeat others.
fn shorter(node: &Node, key: &str) -> Node {
    repeated(node, key).into_iter().rev().fold(node.clone(), |node, place| without(&node, &place))
}

/// Entries that may be redundant: the resource's key as its name, a name that is the first text of its sibling, the
/// audience of a triggered push, an empty list.
fn repeated(node: &Node, key: &str) -> Vec<EntryPath> {
    let mut found = Vec::new();
    let Some(entries) = node.entries() else { return found };
    for (n, entry) in entries.iter().enumerate() {
        let is_empty = matches!(&entry.value.tree, Tree::List(items) if items.is_empty());
        if text_of(&entry.value) == Some(key) || is_empty {
            found.push(vec![n]);
        }
        repeated_below(&entry.value, &mut vec![n], &mut found);
    }
    found
}

fn repeated_below(node: &Node, place: &mut EntryPath, found: &mut Vec<EntryPath>) {
    let below = |n: usize, node: &Node, place: &mut EntryPath, found: &mut Vec<EntryPath>| {
        place.push(n);
        repeated_below(node, place, found);
        place.pop();
    };
    match &node.tree {
        Tree::Scalar(_) => {}
        Tree::List(items) => items.iter().enumerate().for_each(|(n, item)| below(n, item, place, found)),
        Tree::Map(entries) => {
            let first = entries.first().and_then(|entry| text_of(&entry.value));
            for (n, entry) in entries.iter().enumerate() {
                let text = text_of(&entry.value);
                let is_name = n > 0 && *entry.key == "name" && first.is_some() && text == first;
                if is_name || (*entry.key == "audience" && text == Some("triggered")) {
                    found.push(place.iter().copied().chain([n]).collect());
                }
                below(n, &entry.value, place, found);
            }
        }
    }
}

fn without(node: &Node, place: &[usize]) -> Node {
    let mut node = node.clone();
    if let Some((last, way)) = place.split_last() {
        let owner = way.iter().try_fold(&mut node, |node, step| match &mut node.tree {
            Tree::Map(entries) => entries.get_mut(*step).map(|entry| &mut entry.value),
            Tree::List(items) => items.get_mut(*step),
            Tree::Scalar(_) => None,
        });
        if let Some(Node { tree: Tree::Map(entries), .. }) = owner
            && *last < entries.len()
        {
            entries.remove(*last);
        }
    }
    node
}

/// Writes `$${` for `${`, where variables are filled in; in keys only for `${var.`, as they are read.
pub fn escape(node: &mut Node) {
    match &mut node.tree {
        Tree::List(items) => items.iter_mut().for_each(escape),
        Tree::Map(entries) => {
            for entry in entries.iter_mut().filter(|entry| !entry.is_own()) {
                if entry.key.contains("${var.") {
                    entry.key.value = entry.key.replace("${var.", "$${var.");
                }
                escape(&mut entry.value);
            }
        }
        Tree::Scalar(scalar) if scalar.text.contains("${") => scalar.text = scalar.text.replace("${", "$${"),
        Tree::Scalar(_) => {}
    }
}
