//! Walks through the written, the resolved and the live form of a resource at the same time.

use std::collections::{HashMap, HashSet};

use pushplan_model::node::{At, MapEntry, Node, Scalar, Tree};
use pushplan_model::source::Span;
use serde_json::{Map, Value};

use super::super::{author, write};
use super::leaves::differing;
use super::page::{EditedPage, Rewritten, TextChange};
use super::special::{has_variable, holds_variable, names_file, only_text, scalar_of};
use super::{Edit, Editor, Placed, Subject, Unplaced};

pub(super) struct Walk<'w> {
    pub editor: &'w Editor<'w>,
    pub subject: &'w Subject<'w>,
    pub path: Vec<String>,
    pub placed: Placed,
    /// Notes about the next refused value.
    pub notes: Vec<String>,
    /// Fields that keep their values in the manifests, by path.
    pub kept: Vec<(Vec<String>, Option<Value>)>,
}

/// A value: in its resolved form with all layers and variables, and as written in the resource itself, if it is there.
#[derive(Clone, Copy)]
pub(super) struct Spot<'n> {
    pub node: &'n Node,
    pub own: Option<&'n Node>,
    pub holder: Holder<'n>,
    /// Whether it is in brackets.
    pub flow: bool,
    /// The nearest key above it within the resource itself.
    pub used: Option<Span>,
}

/// The owner of a value.
#[derive(Clone, Copy)]
pub(super) enum Holder<'n> {
    Resource,
    Entry(&'n MapEntry),
    Item,
}

/// The fields that are removed from a map.
pub(super) struct Going<'k> {
    pub keys: HashSet<&'k str>,
    /// Whether the map gets other fields.
    pub others_come: bool,
}

/// The positions that cannot be edited, and why.
pub(super) type Refusal = Vec<(Span, &'static str)>;

impl<'w> Walk<'w> {
    pub fn new(editor: &'w Editor<'w>, subject: &'w Subject<'w>) -> Self {
        Self { editor, subject, path: Vec::new(), placed: Placed::default(), notes: Vec::new(), kept: Vec::new() }
    }

    pub fn finish(self, live: &Value) -> Placed {
        let mut expected = live.clone();
        for (path, value) in self.kept {
            put(&mut expected, &path, value);
        }
        Placed { expected, ..self.placed }
    }

    pub fn resource(&mut self, node: &Node, desired: &Value, live: &Value, authored: &Node, ordered: &Node) {
        let own = Some(&self.subject.own.node).filter(|node| node.entries().is_some());
        let spot = Spot { node, own, holder: Holder::Resource, flow: false, used: None };
        self.value(spot, desired, live, Some(authored), Some(ordered));
    }

    /// Edits a field whose live value differs from that in the manifests.
    pub fn value(&mut self, at: Spot, old: &Value, new: &Value, authored: Option<&Node>, ordered: Option<&Node>) {
        if old == new {
            return;
        }
        let pointer: String = self.path.iter().map(|key| format!("/{key}")).collect();
        if self.subject.kind.api.audiences().contains(&pointer.as_str())
            && let Some(ordered) = ordered
        {
            return self.unit(Some(old), Some(new), |walk| walk.condition(at, old, new, ordered));
        }
        match (&at.node.tree, old, new) {
            (Tree::Map(_), Value::Object(was), Value::Object(_)) if was.contains_key("scheduled_time") => {
                self.unit(Some(old), Some(new), |walk| walk.schedule(at, new, authored));
            }
            // Text in brackets is not preserved: it is rewritten if nothing of it is kept.
            (Tree::Map(entries), Value::Object(_), Value::Object(_)) if self.starts_anew(at, entries, authored) => {
                let made = authored.cloned().unwrap_or_else(|| written(new));
                self.unit(Some(old), Some(new), |walk| walk.replace(at, &made));
            }
            (Tree::Map(_), Value::Object(old), Value::Object(new)) => self.map(at, old, new, authored, ordered),
            (Tree::Map(entries), Value::String(_), Value::String(text)) if names_file(entries) => {
                self.body(at, &entries[0].value, old, text);
            }
            // `{tag: vip}` instead of `vip`.
            (Tree::Map(entries), Value::String(was), Value::String(_)) if only_text(entries, was).is_some() => {
                let spot = only_text(entries, was).map_or(at, |entry| self.below(at, entry));
                self.unit(Some(old), Some(new), |walk| walk.scalar(spot, &scalar_of(spot.node, new)));
            }
            (Tree::List(nodes), Value::Array(olds), Value::Array(news)) if self.has_catalogue(nodes) => {
                self.unit(Some(old), Some(new), |walk| walk.localizations(at, nodes, olds, news));
            }
            (Tree::List(_), Value::Array(olds), Value::Array(news)) => {
                let items = items_of(authored);
                self.unit(Some(old), Some(new), |walk| walk.list(at, olds, news, items));
            }
            (_, Value::Array(olds), Value::Array(news)) if olds.len() == 1 && news.len() == 1 => {
                let items = items_of(authored);
                self.unit(Some(old), Some(new), |walk| walk.one(at, &olds[0], &news[0], items.first()));
            }
            (Tree::Scalar(_), _, Value::String(_) | Value::Number(_) | Value::Bool(_)) => {
                self.unit(Some(old), Some(new), |walk| walk.scalar(at, &scalar_of(at.node, new)));
            }
            _ => {
                let made = authored.cloned().unwrap_or_else(|| written(new));
                self.unit(Some(old), Some(new), |walk| walk.replace(at, &made));
            }
        }
    }

    /// Whether a map in brackets keeps no entry and gets new ones.
    fn starts_anew(&self, at: Spot, entries: &[MapEntry], authored: Option<&Node>) -> bool {
        let names = authored.and_then(Node::entries).unwrap_or_default();
        let stays = |entry: &MapEntry| entry.is_own() || names.iter().any(|new| *new.key == *entry.key);
        let flow = at.own.is_some_and(|own| self.page(own).is_flow(own));
        flow && !names.is_empty() && !entries.iter().any(stays)
    }

    /// Makes an edit completely, or not at all with a report.
    pub fn unit(
        &mut self,
        old: Option<&Value>,
        new: Option<&Value>,
        edit: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) {
        let (edits, bodies) = (self.placed.edits.len(), self.placed.bodies.clone());
        let (kept, told) = (self.kept.len(), self.placed.unplaced.len());
        let mut places = edit(self).err().unwrap_or_default();
        for one in self.placed.unplaced.drain(told..) {
            places.extend(one.places);
            self.notes.extend(one.notes);
        }
        let mut notes = std::mem::take(&mut self.notes);
        if !places.is_empty() || self.kept.len() > kept {
            self.placed.edits.truncate(edits);
            self.placed.bodies = bodies;
            self.kept.truncate(kept);
            places.dedup();
            notes.dedup();
            self.kept.push((self.path.clone(), old.cloned()));
            let mut leaves = Vec::new();
            differing(self.path.join("."), old, new, &mut leaves);
            let unplaced = |(path, live)| Unplaced {
                path,
                live,
                places: places.clone(),
                notes: notes.clone(),
                ..Unplaced::default()
            };
            self.placed.unplaced.extend(leaves.into_iter().map(unplaced));
        }
    }

    fn map(
        &mut self,
        at: Spot,
        old: &Map<String, Value>,
        new: &Map<String, Value>,
        authored: Option<&Node>,
        ordered: Option<&Node>,
    ) {
        let mut keys: Vec<&String> = old.keys().chain(new.keys().filter(|key| !old.contains_key(*key))).collect();
        // In the order in which they are written, which applies to new lines as well.
        let names: Vec<&str> =
            authored.and_then(Node::entries).unwrap_or_default().iter().map(|entry| entry.key.as_str()).collect();
        let ranks: HashMap<&str, usize> = names.iter().enumerate().map(|(n, name)| (*name, n)).collect();
        let rank = |key: &str| ranks.get(key).copied().unwrap_or(names.len());
        keys.sort_by_key(|key| rank(key));
        let said: HashSet<&str> =
            at.node.entries().unwrap_or_default().iter().map(|entry| entry.key.as_str()).collect();
        let changed = |key: &&String| old.get(*key) != new.get(*key);
        // A field that was left out because another field implies its value, if that field changes.
        let implied = |key: &&String| {
            let same = |other: &&String| changed(other) && old.get(*other) == old.get(*key);
            !said.contains(key.as_str()) && ranks.contains_key(key.as_str()) && old.keys().any(|other| same(&other))
        };
        let going = Going {
            keys: old.keys().filter(|key| !new.contains_key(*key)).map(String::as_str).collect(),
            others_come: new.keys().any(|key| !said.contains(key.as_str())),
        };
        // An unchanged value with another key is not rewritten.
        let renamed: Vec<(&str, &str)> = new.keys().filter_map(|key| renamed(at.node, key, old, new)).collect();
        let has_other_key = |key: &str| renamed.iter().any(|(was, is)| *was == key || *is == key);
        for (was, is) in &renamed {
            let kept = self.kept.len();
            self.path.push((*is).to_owned());
            self.unit(None, new.get(*is), |walk| walk.rename(at, was, is));
            self.path.pop();
            if self.kept.len() > kept {
                let path = self.path.iter().cloned().chain([(*was).to_owned()]).collect();
                self.kept.push((path, old.get(*was).cloned()));
            }
        }
        let keys = keys.into_iter().filter(|key| !has_other_key(key));
        for key in keys.filter(|key| changed(key) || implied(key)) {
            let (was, is) = (old.get(key), new.get(key));
            let form = authored.and_then(|node| node.get(key));
            let made = || form.cloned().unwrap_or_else(|| written(is.unwrap_or(&Value::Null)));
            self.path.push(key.clone());
            match (entry_of(at.node, key), was, is) {
                (Some(entry), Some(was), Some(is)) => {
                    let spot = self.below(at, entry);
                    self.value(spot, was, is, form, ordered.and_then(|it| it.get(key)));
                }
                (Some(entry), None, Some(is)) => {
                    let spot = self.below(at, entry);
                    self.unit(None, Some(is), |walk| walk.replace(spot, &made()));
                }
                (Some(entry), _, None) => {
                    let spot = self.below(at, entry);
                    self.unit(was, None, |walk| walk.remove(at, spot, key, &going));
                }
                (None, _, Some(is)) => {
                    let before = &names[..rank(key)];
                    self.unit(was, Some(is), |walk| walk.insert(at, key, made(), before));
                }
                (None, _, None) => self.unit(was, None, |walk| Err(walk.elsewhere(at))),
            }
            self.path.pop();
        }
    }

    /// The value of an entry.
    pub fn below<'n>(&self, at: Spot<'n>, entry: &'n MapEntry) -> Spot<'n> {
        let own = at.own.and_then(|own| entry_of(own, &entry.key));
        let flow = at.flow || at.own.is_some_and(|own| self.page(own).is_flow(own));
        let holder = own.map_or(Holder::Entry(entry), Holder::Entry);
        Spot { node: &entry.value, own: own.map(|own| &own.value), holder, flow, used: self.used(at, entry) }
    }

    pub fn page(&self, node: &Node) -> EditedPage<'w> {
        EditedPage { text: node.span.file().map_or("", |file| self.editor.text(file)) }
    }

    pub fn edit(&mut self, node: &Node, change: Option<TextChange>) -> Result<(), Refusal> {
        let (Some(file), Some((range, text))) = (node.span.file(), change) else {
            return Err(vec![(node.span, "written in a way that cannot be edited")]);
        };
        self.placed.edits.push(Edit { file, range, text });
        Ok(())
    }

    pub fn scalar(&mut self, at: Spot, new: &Scalar) -> Result<(), Refusal> {
        let own = self.own(at)?;
        let Tree::Scalar(written) = &own.tree else {
            return self.replace(at, &Node { span: Span::NONE, tree: Tree::Scalar(new.clone()) });
        };
        if holds_variable(&written.text) {
            let here = (own.span, "a variable is filled in here");
            return Err(match self.variable(&written.text) {
                Some(value) => vec![here, (value, "its value")],
                None => {
                    self.notes.extend(self.settable(&written.text));
                    vec![(own.span, "the default of a variable is filled in here")]
                }
            });
        }
        let page = self.page(own);
        let (range, text) = page.scalar(own, new, at.flow);
        // The comment after the indicator of a block is kept, as long as there is an indicator.
        let remarks = own.span.file().map(|file| self.editor.remarks(file, &range));
        let remarks = remarks.as_deref().unwrap_or_default();
        let first = text.lines().next().unwrap_or_default();
        let kept =
            remarks.iter().find(|it| range.contains(&it.start) && first.ends_with(page.text[(*it).clone()].trim()));
        let from = range.start;
        let changes = page.with_remarks(from, Rewritten { kept: kept.cloned(), range, text }, remarks);
        changes.into_iter().try_for_each(|change| self.edit(own, Some(change)))
    }

    pub fn replace(&mut self, at: Spot, new: &Node) -> Result<(), Refusal> {
        let own = self.own(at)?;
        if has_variable(own) {
            return Err(vec![(own.span, "a variable is filled in here")]);
        }
        if let (Tree::Scalar(_), Tree::Scalar(scalar)) = (&own.tree, &new.tree) {
            return self.scalar(at, scalar);
        }
        let page = self.page(own);
        let resource = MapEntry { key: self.subject.own.key.clone(), value: own.clone() };
        let (change, from) = match at.holder {
            Holder::Entry(entry) => (page.value(entry, new, at.flow), entry.key.span),
            Holder::Resource => (page.value(&resource, new, at.flow), resource.key.span),
            Holder::Item => (page.item(own, new, at.flow).map(Rewritten::all), own.span),
        };
        let (Some(file), Some(rewritten)) = (own.span.file(), change) else { return self.edit(own, None) };
        let remarks = self.editor.remarks(file, &rewritten.range);
        let changes = page.with_remarks(from.range().start, rewritten, &remarks);
        changes.into_iter().try_for_each(|change| self.edit(own, Some(change)))
    }

    /// Inserts a field, after the one that precedes it in the contract.
    pub fn insert(&mut self, at: Spot, key: &str, new: Node, before: &[&str]) -> Result<(), Refusal> {
        if at.node.get("template").is_some() {
            return Err(self.elsewhere(at));
        }
        let Some(own) = at.own else { return Err(self.own(at).err().unwrap_or_default()) };
        if self.editor.shared.contains(&own.span) {
            return Err(self.anchored(at, own.span));
        }
        let entries = own.entries().unwrap_or_default();
        let after = before.iter().rev().find_map(|name| entries.iter().position(|entry| *entry.key == *name));
        let new = MapEntry { key: At::new(key.to_owned(), Span::NONE), value: new };
        let change = self.page(own).new_entry(own, after, &new);
        self.edit(own, change)
    }

    /// Renames the key of a value that is kept in place.
    pub fn rename(&mut self, map: Spot, was: &str, is: &str) -> Result<(), Refusal> {
        let Some(entry) = entry_of(map.node, was) else { return Err(self.elsewhere(map)) };
        self.own(self.below(map, entry))?;
        let Some((own, entry)) = map.own.and_then(|own| Some((own, entry_of(own, was)?))) else {
            return Err(self.elsewhere(map));
        };
        self.edit(own, Some((entry.key.span.range(), write::key(is))))
    }

    pub fn remove(&mut self, map: Spot, at: Spot, key: &str, going: &Going) -> Result<(), Refusal> {
        self.own(at)?;
        let Some(own) = map.own else { return Err(self.elsewhere(map)) };
        let entries = own.entries().unwrap_or_default();
        let Some(number) = entries.iter().position(|entry| *entry.key == key) else { return self.edit(own, None) };
        let goes = |n: usize| entries.get(n).is_some_and(|entry| going.keys.contains(entry.key.as_str()));
        let page = self.page(own);
        // When the last line of a block is removed, `{}` is inserted.
        if (0..entries.len()).all(goes) && !going.others_come && !page.is_flow(own) && number == 0 {
            let key = match map.holder {
                Holder::Resource => self.subject.own.key.span,
                Holder::Entry(entry) => entry.key.span,
                Holder::Item => return Err(vec![(own.span, "nothing would be left of this")]),
            };
            self.edit(own, page.emptied(key.range()))?;
        }
        self.edit(own, page.no_entry(own, number, &goes))
    }

    fn one(&mut self, at: Spot, old: &Value, new: &Value, authored: Option<&Node>) -> Result<(), Refusal> {
        self.value(at, old, new, authored, None);
        Ok(())
    }
}

/// The key that a new one replaces: it is removed, and the new one has its value.
fn renamed<'k>(
    node: &Node,
    key: &'k str,
    old: &'k Map<String, Value>,
    new: &'k Map<String, Value>,
) -> Option<(&'k str, &'k str)> {
    let value = new.get(key).filter(|it| it.is_object() || it.is_array())?;
    let goes = |(was, it): &(&String, &Value)| !new.contains_key(*was) && *it == value && entry_of(node, was).is_some();
    let mut like = old.iter().filter(goes);
    let only = like.next().filter(|_| like.next().is_none() && !old.contains_key(key))?;
    let claimed = new.iter().filter(|(other, it)| !old.contains_key(*other) && *it == value).count();
    (claimed == 1).then_some((only.0.as_str(), key))
}

pub(super) fn entry_of<'n>(node: &'n Node, key: &str) -> Option<&'n MapEntry> {
    node.entries()?.iter().find(|entry| *entry.key == key)
}

fn items_of(node: Option<&Node>) -> &[Node] {
    match node {
        Some(Node { tree: Tree::List(items), .. }) => items,
        Some(node) => std::slice::from_ref(node),
        None => &[],
    }
}

/// The value of a node, without the author's own fields.
pub(super) fn read_of(node: &Node) -> Value {
    match &node.tree {
        Tree::Scalar(_) => node.to_json(),
        Tree::List(items) => items.iter().map(read_of).collect(),
        Tree::Map(entries) => {
            let said = entries.iter().filter(|entry| !entry.is_own());
            Value::Object(said.map(|entry| (entry.key.value.clone(), read_of(&entry.value))).collect())
        }
    }
}

/// The default form of a value that was not written before.
pub(super) fn written(value: &Value) -> Node {
    let mut node = Node::from_json_value(value);
    author::escape(&mut node);
    node
}

/// Sets the value at a path, or removes it.
pub(super) fn put(value: &mut Value, path: &[String], new: Option<Value>) {
    let Some((last, way)) = path.split_last() else {
        *value = new.unwrap_or(Value::Null);
        return;
    };
    let owner = way.iter().try_fold(value, |value, key| value.get_mut(key));
    if let Some(Value::Object(owner)) = owner {
        match new {
            Some(new) => drop(owner.insert(last.clone(), new)),
            None => drop(owner.remove(last)),
        }
    }
}
