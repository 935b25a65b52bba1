//! Bringing what the service has into manifests that people wrote: only the values that differ are edited.
//!
//! Everything is decided by the byte spans of our own parser, so that one reader says what a text means. What is equal is never
//! touched: comments, order, quotes and anchors stay, and so does a variable that still gives the same value. A value that
//! stands somewhere else than in the resource itself is not edited but told, with the places that matter.
//!
//! [`Editor::place`] makes the edits of one resource, [`carry_out`] makes texts of them, and [`settle`] reads these texts again
//! and gives up every resource that would not become what the service has.

mod align;
mod by_hand;
mod condition;
mod going;
mod items;
mod leaves;
mod origin;
mod page;
mod remarks;
mod settle;
mod special;
mod walk;
mod warn;
mod words;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use serde_json::Value;

pub use settle::{Settled, carry_out, settle};

use pushplan_io::files;
use pushplan_model::address::Address;
use pushplan_model::finding::Findings;
use pushplan_model::kinds;
use pushplan_model::node::{Node, Tree};
use pushplan_model::source::{FileId, Span};

use super::collect::Declaration;
use super::growth::Growth;
use super::layers::Stack;
use super::variables::Filling;
use super::{Manifests, Target, author};

/// What a place is whose value is in several.
const AN_ANCHOR: &str = "an anchor, whose value stands in several places";

/// A stretch of a file and what is there afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    pub file: FileId,
    pub range: Range<usize>,
    pub text: String,
}

/// A value that cannot be brought back into the manifests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unplaced {
    /// The field, such as `push.notification.alert`; empty: the whole resource.
    pub path: String,
    /// What the service has; `None`: it has nothing there.
    pub live: Option<Value>,
    /// The live value as the manifest has to say it, if that takes more than one word.
    pub words: Option<String>,
    /// Where the value is used and where it comes from, each with what that place is.
    pub places: Vec<(Span, &'static str)>,
    /// Places outside the manifests, and what can be done there.
    pub notes: Vec<String>,
    /// Git says something else of it that is not applied yet.
    pub clash: Option<Clash>,
}

/// The other sides of a field that was changed in git and on the service. `None`: it is not there.
#[derive(Clone, Debug, PartialEq)]
pub struct Clash {
    pub git: EditSide,
    pub applied: EditSide,
}

/// A value, and how a manifest says it where that is more than one word.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EditSide {
    pub value: Option<Value>,
    pub words: Option<String>,
}

/// What becomes of one resource.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placed {
    pub edits: Vec<Edit>,
    /// Files next to the manifests that get another content, by their names.
    pub bodies: BTreeMap<String, String>,
    pub unplaced: Vec<Unplaced>,
    /// What the manifests say of it after the edits, if they are right.
    pub expected: Value,
}

impl Placed {
    /// Whether any file changes for it.
    pub fn is_edited(&self) -> bool {
        !self.edits.is_empty() || !self.bodies.is_empty()
    }
}

/// Edits the manifests of a project for one target.
#[derive(Debug)]
pub struct Editor<'m> {
    manifests: &'m Manifests,
    target: Option<&'m str>,
    /// Values that are in several places because of an alias.
    shared: HashSet<Span>,
    /// Where each file is named.
    named: HashMap<String, Vec<Span>>,
    /// Where remarks stand, in the files that were looked at.
    remarks: RefCell<HashMap<FileId, Rc<[Range<usize>]>>>,
}

/// A resource with what it consists of.
pub(super) struct Subject<'m> {
    pub kind: &'static kinds::Kind,
    pub own: &'m Declaration,
    pub over: Vec<&'m Declaration>,
    pub defaults: Option<&'m Node>,
}

impl<'m> Editor<'m> {
    pub fn new(manifests: &'m Manifests, target: Option<&'m str>) -> Self {
        let mut seen = Occurrences::default();
        let collected = &manifests.collected;
        let layers = std::iter::once(&collected.base).chain(collected.overlays.values());
        for declaration in layers.flat_map(|layer| &layer.resources) {
            seen.node(&declaration.node);
        }
        collected.defaults.values().for_each(|node| seen.node(node));
        let shared = seen.places.into_iter().filter(|(_, times)| *times > 1).map(|(span, _)| span).collect();
        Self { manifests, target, shared, named: seen.files, remarks: RefCell::default() }
    }

    /// The edits that make a resource what the service has. `desired` and `live` are canonical and name segments by their keys.
    /// `None`: it is not declared.
    pub fn place(&self, address: &Address, desired: &Value, live: &Value) -> Option<Placed> {
        let kind = kinds::of(address);
        let collected = &self.manifests.collected;
        let stack = self.manifests.stack(self.target, kind, &address.key)?;
        let defaults = collected.defaults.get(kind.key);
        let target = self.target.and_then(|name| self.manifests.project.target(name));
        let values = target.map(Target::values).unwrap_or_default();
        let growth = Growth::default();
        let with =
            Filling { variables: &values, target: self.target, sources: &self.manifests.sources, growth: &growth };
        let (mut taken, mut findings) = (Vec::new(), Findings::default());
        let node = self.manifests.laid(&stack, defaults, &with, &mut taken, &mut findings);
        let Stack { own, over, .. } = stack;
        let node = node.unwrap_or_else(|| own.node.clone());
        let subject = Subject { kind, own, over, defaults };
        let ordered = kind.api.read(live).map_or_else(|| Node::from_json_value(live), |read| read.in_order());
        let authored = author::authored(kind, &address.key, live);
        let mut walk = walk::Walk::new(self, &subject);
        walk.resource(&node, desired, live, &authored, &ordered);
        let mut placed = walk.finish(live);
        for one in &mut placed.unplaced {
            one.words = self.words_at(address, &authored, &one.path);
        }
        Some(placed)
    }

    /// Where a field stands, such as `push.notification.alert`, or what is nearest above it.
    pub fn spot(&self, address: &Address, path: &str) -> Option<Span> {
        let kind = kinds::of(address);
        let Stack { own, over, .. } = self.manifests.stack(self.target, kind, &address.key)?;
        let find = |own: &Declaration| {
            let (mut node, mut span, mut depth) = (&own.node, own.key.span, 0);
            for key in path.split('.') {
                let Some(entry) = walk::entry_of(node, key) else { break };
                (node, span, depth) = (&entry.value, entry.key.span, depth + 1);
            }
            (depth, span)
        };
        over.into_iter().rev().chain([own]).map(find).max_by_key(|(depth, _)| *depth).map(|(_, span)| span)
    }

    /// The first value in what is edited that is in several places because of an alias.
    fn anchor_within(&self, edits: &[Edit]) -> Option<Span> {
        let touches = |span: &&Span, edit: &Edit| {
            let (at, of) = (span.range(), &edit.range);
            span.file() == Some(edit.file) && of.start <= at.start && at.end <= of.end
        };
        let edited = self.shared.iter().filter(|span| edits.iter().any(|edit| touches(span, edit)));
        edited.min_by_key(|span| (span.range().start, span.range().end)).copied()
    }

    fn text(&self, file: FileId) -> &'m str {
        &self.manifests.sources.get(file).text
    }

    /// Where a value comes from that does not are in the resource alone.
    fn origin(&self, subject: &Subject, span: Span) -> Option<(Span, &'static str)> {
        let within = |declaration: &Declaration| begins_in(declaration.node.span, span);
        let why = match () {
            () if subject.over.iter().any(|over| within(over)) => "the overlay for this target",
            () if self.shared.contains(&span) => AN_ANCHOR,
            () if within(subject.own) => return None,
            () if subject.defaults.is_some_and(|node| holds(node, span)) => "the defaults of its kind",
            () => AN_ANCHOR,
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

/// How often each place occurs, and where each file is named.
#[derive(Default)]
struct Occurrences {
    places: HashMap<Span, usize>,
    files: HashMap<String, Vec<Span>>,
}

impl Occurrences {
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
                        self.files.entry(files::plain(&name.text)).or_default().push(file.value.span);
                    }
                    self.node(&entry.value);
                }
            }
        }
    }
}
