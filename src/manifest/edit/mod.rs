//! Bringing what the service has into manifests that people wrote: only the values that differ are edited.
//!
//! Everything is decided by the byte spans of our own parser, so that one reader says what a text means. What is equal is never
//! touched: comments, order, quotes and anchors stay, and so does a variable that still gives the same value. A value that
//! stands somewhere else than in the resource itself is not edited but told, with the places that matter.
//!
//! [`Editor::place`] makes the edits of one resource, [`carry_out`] makes texts of them, and [`settle`] reads these texts again
//! and gives up every resource that would not become what the service has.

mod align;
mod condition;
mod page;
mod settle;
mod special;
mod walk;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use serde_json::Value;

pub use settle::{Settled, carry_out, settle};

use super::collect::Declaration;
use super::growth::Growth;
use super::variables::Filling;
use super::{Manifests, Target, author};
use crate::address::Address;
use crate::finding::Findings;
use crate::kinds;
use crate::node::{At, Entry, Node, Tree};
use crate::source::{FileId, Span};

/// A stretch of a file and what stands there afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    pub file: FileId,
    pub range: Range<usize>,
    pub text: String,
}

/// A value that cannot be brought back into the manifests.
#[derive(Clone, Debug, PartialEq)]
pub struct Unplaced {
    /// The field, such as `push.notification.alert`; empty: the whole resource.
    pub path: String,
    /// What the service has; `None`: it has nothing there.
    pub live: Option<Value>,
    /// Where the value is used and where it comes from, each with what that place is.
    pub places: Vec<(Span, &'static str)>,
}

/// What becomes of one resource.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placed {
    pub edits: Vec<Edit>,
    /// Files beside the manifests that get another content, by their names.
    pub bodies: BTreeMap<String, String>,
    pub unplaced: Vec<Unplaced>,
    /// What the manifests say of it after the edits, if they are right. Bodies in files are as they were.
    pub expected: Value,
}

/// Edits the manifests of a project for one target.
#[derive(Debug)]
pub struct Editor<'m> {
    manifests: &'m Manifests,
    target: Option<&'m str>,
    /// Values that stand in several places because of an alias.
    shared: HashSet<Span>,
    /// How many resources name each file.
    named: HashMap<String, usize>,
}

/// A resource with what it consists of.
pub(super) struct Subject<'m> {
    pub kind: &'static kinds::Kind,
    pub own: &'m Declaration,
    pub over: Option<&'m Declaration>,
    pub defaults: Option<&'m Node>,
}

impl<'m> Editor<'m> {
    pub fn new(manifests: &'m Manifests, target: Option<&'m str>) -> Self {
        let mut seen = Seen::default();
        let collected = &manifests.collected;
        let layers = std::iter::once(&collected.base).chain(collected.overlays.values());
        for declaration in layers.flat_map(|layer| &layer.resources) {
            seen.node(&declaration.node);
        }
        collected.defaults.values().for_each(|node| seen.node(node));
        let shared = seen.places.into_iter().filter(|(_, times)| *times > 1).map(|(span, _)| span).collect();
        Self { manifests, target, shared, named: seen.files }
    }

    /// The edits that make a resource what the service has. `desired` and `live` are canonical and name segments by their keys.
    /// `None`: it is not declared.
    pub fn place(&self, address: &Address, desired: &Value, live: &Value) -> Option<Placed> {
        let kind = kinds::kind(&address.kind)?;
        let collected = &self.manifests.collected;
        let over = self.target.and_then(|name| collected.overlays.get(name));
        let over = over.and_then(|layer| layer.get(kind.key, &address.key));
        let base = collected.base.get(kind.key, &address.key);
        let own = base.or(over)?;
        let over = over.filter(|over| !std::ptr::eq(*over, own));
        let defaults = collected.defaults.get(kind.key);
        let target = self.target.and_then(|name| self.manifests.project.target(name));
        let values = target.map(Target::values).unwrap_or_default();
        let growth = Growth::default();
        let with =
            Filling { variables: &values, target: self.target, sources: &self.manifests.sources, growth: &growth };
        let (mut taken, mut findings) = (Vec::new(), Findings::default());
        let node = self.manifests.laid(own, over, defaults, &with, &mut taken, &mut findings);
        let node = node.unwrap_or_else(|| own.node.clone());
        let subject = Subject { kind, own, over, defaults };
        let ordered = kind.api.read(live).map_or_else(|| Node::from_json_value(live), |read| read.in_order());
        let authored = author::authored(kind, &address.key, live);
        let mut walk = walk::Walk::new(self, &subject);
        walk.resource(&node, desired, live, &authored, &ordered);
        Some(walk.finish(live))
    }

    /// The edits that make what these checks find a warning for a resource: the service has it so. Empty where its manifest is
    /// written in a way that nothing can be added to.
    pub fn warn(&self, address: &Address, codes: &BTreeSet<&str>) -> Vec<Edit> {
        let collected = &self.manifests.collected;
        let Some(kind) = kinds::kind(&address.kind) else { return Vec::new() };
        let over = || collected.overlays.get(self.target?)?.get(kind.key, &address.key);
        let Some(own) = collected.base.get(kind.key, &address.key).or_else(over) else { return Vec::new() };
        let Some(file) = own.node.span.file() else { return Vec::new() };
        let page = page::Page { text: self.text(file) };
        let items: Vec<Node> = codes.iter().map(|code| walk::written(&Value::from(*code))).collect();
        let list = Node { span: Span::NONE, tree: Tree::List(items.clone()) };
        let entry = |key: &str, value: Node| Entry { key: At::new(key.to_owned(), Span::NONE), value };
        let last = |node: &Node| node.entries().map_or(0, <[_]>::len).checked_sub(1);
        let changes: Vec<Option<page::Change>> = match own.node.get("lifecycle") {
            None => {
                let map = Node { span: Span::NONE, tree: Tree::Map(vec![entry("warn", list)]) };
                vec![page.new_entry(&own.node, last(&own.node), &entry("lifecycle", map))]
            }
            Some(lifecycle) => match lifecycle.get("warn") {
                Some(warn @ Node { tree: Tree::List(known), .. }) => {
                    items.iter().map(|item| page.new_item(warn, known.len().checked_sub(1), item)).collect()
                }
                Some(_) => Vec::new(),
                None => vec![page.new_entry(lifecycle, last(lifecycle), &entry("warn", list))],
            },
        };
        changes.into_iter().flatten().map(|(range, text)| Edit { file, range, text }).collect()
    }

    fn text(&self, file: FileId) -> &'m str {
        &self.manifests.sources.get(file).text
    }

    /// Where a value comes from that does not stand in the resource alone.
    fn origin(&self, subject: &Subject, span: Span) -> Option<(Span, &'static str)> {
        let within = |declaration: &Declaration| begins_in(declaration.node.span, span);
        let why = match () {
            () if subject.over.is_some_and(within) => "the overlay for this target",
            () if self.shared.contains(&span) => "an anchor, whose value stands in several places",
            () if within(subject.own) => return None,
            () if subject.defaults.is_some_and(|node| holds(node, span)) => "the defaults of its kind",
            () => "an anchor, whose value stands in several places",
        };
        Some((span, why))
    }
}

/// Whether something stands within a stretch. A block of text ends behind its last line, and what holds it before.
fn begins_in(outer: Span, inner: Span) -> bool {
    outer.file() == inner.file() && (outer.range().start..=outer.range().end).contains(&inner.range().start)
}

/// Whether a node, or one beneath it, stands at a place. Defaults may be joined from several files.
fn holds(node: &Node, span: Span) -> bool {
    begins_in(node.span, span)
        || match &node.tree {
            Tree::Scalar(_) => false,
            Tree::List(items) => items.iter().any(|item| holds(item, span)),
            Tree::Map(entries) => entries.iter().any(|entry| entry.key.span == span || holds(&entry.value, span)),
        }
}

/// How often each place occurs, and each file is named.
#[derive(Default)]
struct Seen {
    places: HashMap<Span, usize>,
    files: HashMap<String, usize>,
}

impl Seen {
    fn node(&mut self, node: &Node) {
        if !node.span.range().is_empty() {
            *self.places.entry(node.span).or_default() += 1;
        }
        match &node.tree {
            Tree::Scalar(_) => {}
            Tree::List(items) => {
                // A list begins where its first item does, and may end there as well.
                let same = items.first().is_some_and(|first| first.span == node.span);
                *self.places.entry(node.span).or_default() -= usize::from(same);
                items.iter().for_each(|item| self.node(item));
            }
            Tree::Map(entries) => {
                for entry in entries {
                    *self.places.entry(entry.key.span).or_default() += 1;
                    if let ("body", Some([file])) = (entry.key.as_str(), entry.value.entries())
                        && let Tree::Scalar(name) = &file.value.tree
                    {
                        *self.files.entry(name.text.clone()).or_default() += 1;
                    }
                    self.node(&entry.value);
                }
            }
        }
    }
}
