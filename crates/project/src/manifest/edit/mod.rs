//! Editing manifests to agree with the service: only the different values are edited.
//!
//! Edits use the byte spans of our own parser, so that only one parser defines the meaning of a text. Equal values are
//! never edited: comments, order, quotes and anchors are kept, and so is a variable that still has the same value. A
//! value whose text is outside the resource itself is not edited but reported, with the relevant places.
//!
//! [`Editor::place`] makes the edits of one resource, [`carry_out`] applies them to the texts, and [`settle`] parses
//! these texts again and drops every resource that would not agree with the service.

mod align;
mod by_hand;
mod catalogues;
mod condition;
mod going;
mod items;
mod leaves;
mod origin;
mod page;
mod remarks;
mod settle;
mod special;
mod texts;
mod walk;
mod warn;
mod words;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use serde_json::Value;

pub use settle::{Settled, carry_out, settle};
pub use texts::NewText;

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

/// The description of a place whose value is used several times.
const AN_ANCHOR: &str = "an anchor, whose value stands in several places";

/// The description of a text in a message catalogue.
const A_CATALOGUE: &str = "the message catalogue";

/// A range of a file, and its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    pub file: FileId,
    pub range: Range<usize>,
    pub text: String,
}

/// A value that cannot be written to the manifests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unplaced {
    /// Its field, such as `push.notification.alert`; empty: the whole resource.
    pub path: String,
    /// The live value; `None` if it does not exist on the service.
    pub live: Option<Value>,
    /// The live value in the form of a manifest, if it is more than one word.
    pub words: Option<String>,
    /// The places that use the value and that define it, each with a description.
    pub places: Vec<(Span, &'static str)>,
    /// Places outside the manifests, with advice.
    pub notes: Vec<String>,
    /// Set if git has another change that is not applied yet.
    pub clash: Option<Clash>,
}

/// The other versions of a field that was changed in git and on the service. `None`: it does not exist.
#[derive(Clone, Debug, PartialEq)]
pub struct Clash {
    pub git: EditSide,
    pub applied: EditSide,
}

/// A value, and its form in a manifest if that is more than one word.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EditSide {
    pub value: Option<Value>,
    pub words: Option<String>,
}

/// The result for one resource.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placed {
    pub edits: Vec<Edit>,
    /// Files next to the manifests with new content, by name.
    pub bodies: BTreeMap<String, String>,
    pub unplaced: Vec<Unplaced>,
    /// The desired state after the edits, if they are right.
    pub expected: Value,
}

impl Placed {
    /// Whether any file is edited for it.
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
    /// The positions of each file name.
    named: HashMap<String, Vec<Span>>,
    /// The positions of comments, in the files that were read.
    remarks: RefCell<HashMap<FileId, Rc<[Range<usize>]>>>,
}

/// A resource with its layers.
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

    /// Makes the edits that bring a resource to its live state. `desired` and `live` are canonical and name segments by
    /// their keys. `None` if it is not declared.
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

    /// The position of a field, such as `push.notification.alert`, or of its nearest existing parent.
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

    /// The first edited value that is used several times because of an alias.
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

    /// The origin of a value that is not, or not only, in the resource.
    fn origin(&self, subject: &Subject, span: Span) -> Option<(Span, &'static str)> {
        let within = |declaration: &Declaration| begins_in(declaration.node.span, span);
        let why = match () {
            () if self.manifests.catalogues.hold(span) => A_CATALOGUE,
            () if subject.over.iter().any(|over| within(over)) => "the overlay for this target",
            () if self.shared.contains(&span) => AN_ANCHOR,
            () if within(subject.own) => return None,
            () if subject.defaults.is_some_and(|node| holds(node, span)) => "the defaults of its kind",
            () => AN_ANCHOR,
        };
        Some((span, why))
    }
}

/// Whether a span begins within another one. A block of text ends after its last line, and its parent before that.
fn begins_in(outer: Span, inner: Span) -> bool {
    outer.file() == inner.file() && (outer.range().start..=outer.range().end).contains(&inner.range().start)
}

/// Whether a node, or one below it, has a position. Defaults may be merged from several files.
fn holds(node: &Node, span: Span) -> bool {
    begins_in(node.span, span)
        || match &node.tree {
            Tree::Scalar(_) => false,
            Tree::List(items) => items.iter().any(|item| holds(item, span)),
            Tree::Map(entries) => entries.iter().any(|entry| entry.key.span == span || holds(&entry.value, span)),
        }
}

/// The number of uses of each position, and the positions of each file name.
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
                // A list begins at its first item, and may end there as well.
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
