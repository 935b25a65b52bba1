//! Walks through a resource as it is written, as it reads and as it is on the service, all at once.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::align::{Step, align, align_set, is_same_set};
use super::leaves::differing;
use super::page::{Change, Page};
use super::special::{has_variable, holds_variable, names_file, only_text, scalar_of};
use super::{Edit, Editor, Placed, Subject, Unplaced};
use crate::kinds::{Resource, Template};
use crate::node::{At, Entry, Node, Scalar, Tree};
use crate::source::Span;

use super::super::author;

pub(super) struct Walk<'w> {
    pub editor: &'w Editor<'w>,
    subject: &'w Subject<'w>,
    pub path: Vec<String>,
    pub placed: Placed,
    /// Fields that stay what they are in the manifests, by their paths.
    pub kept: Vec<(Vec<String>, Option<Value>)>,
}

/// A value: as it reads, with all layers and variables; and as the resource itself writes it, where it does.
#[derive(Clone, Copy)]
pub(super) struct Spot<'n> {
    pub node: &'n Node,
    pub own: Option<&'n Node>,
    pub holder: Holder<'n>,
    /// It stands between brackets.
    pub flow: bool,
}

/// What a value belongs to.
#[derive(Clone, Copy)]
pub(super) enum Holder<'n> {
    Resource,
    Entry(&'n Entry),
    Item,
}

/// The fields that go from a map.
pub(super) struct Going<'k> {
    pub keys: HashSet<&'k str>,
    /// The map gets others.
    pub others_come: bool,
}

/// Where something is not edited, and why.
pub(super) type Refusal = Vec<(Span, &'static str)>;

impl<'w> Walk<'w> {
    pub fn new(editor: &'w Editor<'w>, subject: &'w Subject<'w>) -> Self {
        Self { editor, subject, path: Vec::new(), placed: Placed::default(), kept: Vec::new() }
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
        let spot = Spot { node, own, holder: Holder::Resource, flow: false };
        self.value(spot, desired, live, Some(authored), Some(ordered));
    }

    /// A field whose value on the service differs from that in the manifests.
    fn value(&mut self, at: Spot, old: &Value, new: &Value, authored: Option<&Node>, ordered: Option<&Node>) {
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
            // Nothing is kept of what stands between brackets: it is written anew, as long as it has to be.
            (Tree::Map(entries), Value::Object(_), Value::Object(_)) if self.starts_anew(at, entries, authored) => {
                let made = authored.cloned().unwrap_or_else(|| written(new));
                self.unit(Some(old), Some(new), |walk| walk.replace(at, &made));
            }
            (Tree::Map(_), Value::Object(old), Value::Object(new)) => self.map(at, old, new, authored, ordered),
            (Tree::Map(entries), Value::String(_), Value::String(text)) if names_file(entries) => {
                self.body(at, &entries[0].value, old, text);
            }
            // `{tag: vip}` in the place of `vip`.
            (Tree::Map(entries), Value::String(was), Value::String(_)) if only_text(entries, was).is_some() => {
                let spot = only_text(entries, was).map_or(at, |entry| self.below(at, entry));
                self.unit(Some(old), Some(new), |walk| walk.scalar(spot, &scalar_of(spot.node, new)));
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

    /// Whether a map between brackets has no entry that stays, and gets some.
    fn starts_anew(&self, at: Spot, entries: &[Entry], authored: Option<&Node>) -> bool {
        let names = authored.and_then(Node::entries).unwrap_or_default();
        let stays = |entry: &Entry| entry.is_own() || names.iter().any(|new| *new.key == *entry.key);
        let flow = at.own.is_some_and(|own| self.page(own).is_flow(own));
        flow && !names.is_empty() && !entries.iter().any(stays)
    }

    /// Edits something as a whole: all of it, or nothing and a word about it.
    pub fn unit(
        &mut self,
        old: Option<&Value>,
        new: Option<&Value>,
        edit: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) {
        let (edits, bodies) = (self.placed.edits.len(), self.placed.bodies.clone());
        let (kept, told) = (self.kept.len(), self.placed.unplaced.len());
        let mut places = edit(self).err().unwrap_or_default();
        places.extend(self.placed.unplaced.drain(told..).flat_map(|one| one.places));
        if !places.is_empty() || self.kept.len() > kept {
            self.placed.edits.truncate(edits);
            self.placed.bodies = bodies;
            self.kept.truncate(kept);
            places.dedup();
            self.kept.push((self.path.clone(), old.cloned()));
            let mut leaves = Vec::new();
            differing(self.path.join("."), old, new, &mut leaves);
            let unplaced = |(path, live)| Unplaced { path, live, places: places.clone(), clash: None };
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
        // In the order in which they are written, so that new lines stand in it as well.
        let names: Vec<&str> =
            authored.and_then(Node::entries).unwrap_or_default().iter().map(|entry| entry.key.as_str()).collect();
        let ranks: HashMap<&str, usize> = names.iter().enumerate().map(|(n, name)| (*name, n)).collect();
        let rank = |key: &str| ranks.get(key).copied().unwrap_or(names.len());
        keys.sort_by_key(|key| rank(key));
        let said: HashSet<&str> =
            at.node.entries().unwrap_or_default().iter().map(|entry| entry.key.as_str()).collect();
        let changed = |key: &&String| old.get(*key) != new.get(*key);
        // What was left out because another field says it, and that field says something else from now on.
        let implied = |key: &&String| {
            let same = |other: &&String| changed(other) && old.get(*other) == old.get(*key);
            !said.contains(key.as_str()) && ranks.contains_key(key.as_str()) && old.keys().any(|other| same(&other))
        };
        let going = Going {
            keys: old.keys().filter(|key| !new.contains_key(*key)).map(String::as_str).collect(),
            others_come: new.keys().any(|key| !said.contains(key.as_str())),
        };
        for key in keys.into_iter().filter(|key| changed(key) || implied(key)) {
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
    pub fn below<'n>(&self, at: Spot<'n>, entry: &'n Entry) -> Spot<'n> {
        let own = at.own.and_then(|own| entry_of(own, &entry.key));
        let flow = at.flow || at.own.is_some_and(|own| self.page(own).is_flow(own));
        let holder = own.map_or(Holder::Entry(entry), Holder::Entry);
        Spot { node: &entry.value, own: own.map(|own| &own.value), holder, flow }
    }

    pub fn page(&self, node: &Node) -> Page<'w> {
        Page { text: node.span.file().map_or("", |file| self.editor.text(file)) }
    }

    pub fn edit(&mut self, node: &Node, change: Option<Change>) -> Result<(), Refusal> {
        let (Some(file), Some((range, text))) = (node.span.file(), change) else {
            return Err(vec![(node.span, "written in a way that cannot be edited")]);
        };
        self.placed.edits.push(Edit { file, range, text });
        Ok(())
    }

    /// The value as the resource itself writes it, if it stands there and nowhere else.
    pub fn own<'n>(&self, at: Spot<'n>) -> Result<&'n Node, Refusal> {
        let used = (self.subject.own.key.span, "used here");
        if let Some(origin) = self.editor.origin(self.subject, at.node.span) {
            let used = match at.holder {
                Holder::Entry(entry) if self.subject.own.node.span.contains(entry.key.span) => {
                    (entry.key.span, "used here")
                }
                _ => used,
            };
            return Err(vec![used, origin]);
        }
        at.own.ok_or_else(|| vec![used])
    }

    /// What a value that is not written comes from.
    fn elsewhere(&self, at: Spot) -> Refusal {
        let mut places = vec![(self.subject.own.key.span, "used here")];
        if let Some(Node { span, tree: Tree::Scalar(name) }) = at.node.get("template") {
            places = vec![(*span, "filled in from this template")];
            let template = self.editor.manifests.collected.base.get(Template::KEY, &name.text);
            places.extend(template.map(|it| (it.key.span, "the template")));
        }
        places
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
                None => vec![(own.span, "the default of a variable is filled in here")],
            });
        }
        let change = self.page(own).scalar(own, new, at.flow);
        self.edit(own, Some(change))
    }

    /// Where the value of a text's first variable is given; `None`: nowhere, and its default is used.
    fn variable(&self, text: &str) -> Option<Span> {
        let text = text.replace("$${", "");
        let (_, rest) = text.split_once("${var.")?;
        let name = rest.split(['}', ':']).next().unwrap_or_default();
        let target = self.editor.target.and_then(|name| self.editor.manifests.project.target(name));
        if rest[name.len()..].starts_with(":-") && !target.is_some_and(|target| target.values().contains_key(name)) {
            return None;
        }
        let Some(file) = self.editor.manifests.project_file() else { return Some(Span::NONE) };
        let text = self.editor.text(file);
        let section =
            self.editor.target.and_then(|target| text.find(&format!("[targets.{target}.variables]"))).unwrap_or(0);
        let line = format!("\n{name} ");
        Some(match text[section..].find(&line).or_else(|| text[section..].find(&format!("\n{name}="))) {
            Some(at) => Span::new(file, section + at + 1..section + at + 1 + name.len()),
            None => Span::new(file, section..section),
        })
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
        let change = match at.holder {
            Holder::Entry(entry) => page.value(entry, new, at.flow),
            Holder::Item => page.item(own, new, at.flow),
            Holder::Resource => {
                let entry = Entry { key: self.subject.own.key.clone(), value: own.clone() };
                page.value(&entry, new, at.flow)
            }
        };
        self.edit(own, change)
    }

    /// A new field, behind the one that stands before it in the contract.
    pub fn insert(&mut self, at: Spot, key: &str, new: Node, before: &[&str]) -> Result<(), Refusal> {
        if at.node.get("template").is_some() {
            return Err(self.elsewhere(at));
        }
        let Some(own) = at.own else { return Err(self.own(at).err().unwrap_or_default()) };
        if self.editor.shared.contains(&own.span) {
            return Err(vec![
                (self.subject.own.key.span, "used here"),
                (own.span, "an anchor, whose value stands in several places"),
            ]);
        }
        let entries = own.entries().unwrap_or_default();
        let after = before.iter().rev().find_map(|name| entries.iter().position(|entry| *entry.key == *name));
        let new = Entry { key: At::new(key.to_owned(), Span::NONE), value: new };
        let change = self.page(own).new_entry(own, after, &new);
        self.edit(own, change)
    }

    pub fn remove(&mut self, map: Spot, at: Spot, key: &str, going: &Going) -> Result<(), Refusal> {
        self.own(at)?;
        let Some(own) = map.own else { return Err(self.elsewhere(map)) };
        let entries = own.entries().unwrap_or_default();
        let Some(number) = entries.iter().position(|entry| *entry.key == key) else { return self.edit(own, None) };
        let goes = |n: usize| entries.get(n).is_some_and(|entry| going.keys.contains(entry.key.as_str()));
        let page = self.page(own);
        // The last line of a block leaves a sign that there is nothing.
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

    fn list(&mut self, at: Spot, old: &[Value], new: &[Value], authored: &[Node]) -> Result<(), Refusal> {
        let (Tree::List(nodes), own) = (&at.node.tree, self.own(at)?) else { return Ok(()) };
        let read: Vec<Value> = nodes.iter().map(read_of).collect();
        // All lists of texts are sets, in whatever order they stand; of others, those that read in another order than they stand.
        let is_set = read.iter().all(Value::is_string) || (read != old && is_same_set(&read, old));
        let made = |n: usize| authored.get(n).cloned().unwrap_or_else(|| written(&new[n]));
        if (!is_set && nodes.len() != old.len()) || new.is_empty() {
            let all = (0..new.len()).map(made).collect();
            return self.replace(at, &Node { span: Span::NONE, tree: Tree::List(all) });
        }
        let bare = self.bare(own);
        let is_bare = |n: usize| bare.get(n) == Some(&true);
        let steps = if is_set { align_set(&read, new, &is_bare) } else { align(old, new, &is_bare) };
        let old = if is_set { &read } else { old };
        self.steps(
            at,
            own,
            steps,
            |walk, spot, was, is| {
                walk.value(spot, &old[was], &new[is], authored.get(is), None);
                Ok(())
            },
            made,
        )
    }

    /// Which items of a list have no remark of their own.
    pub fn bare(&self, list: &Node) -> Vec<bool> {
        let page = self.page(list);
        let Tree::List(items) = &list.tree else { return Vec::new() };
        items.iter().map(|item| !page.has_remark(item)).collect()
    }

    /// Carries out the steps from the items of a list to those that take their place.
    pub fn steps(
        &mut self,
        at: Spot,
        own: &Node,
        steps: Vec<Step>,
        mut change: impl FnMut(&mut Self, Spot, usize, usize) -> Result<(), Refusal>,
        made: impl Fn(usize) -> Node,
    ) -> Result<(), Refusal> {
        let (Tree::List(nodes), Tree::List(owns)) = (&at.node.tree, &own.tree) else { return Ok(()) };
        let page = self.page(own);
        let flow = at.flow || page.is_flow(own);
        let going: Vec<usize> = steps.iter().filter_map(Step::removed).collect();
        let goes = |n: usize| going.contains(&n);
        let all_go = going.len() == owns.len();
        let comes = |step: &Step| matches!(step, Step::Add { .. } | Step::Move { .. });
        if all_go && !steps.iter().any(comes) {
            return Err(vec![(own.span, "nothing would be left of this")]);
        }
        let start = own.span.range().start;
        let alias = owns.iter().find(|item| item.span.file() != own.span.file() || item.span.range().start < start);
        let moves = |step: &Step| matches!(step, Step::Remove { .. } | Step::Add { .. } | Step::Move { .. });
        if let Some(alias) = alias.filter(|_| steps.iter().any(moves)) {
            let used = match at.holder {
                Holder::Entry(entry) => entry.key.span,
                _ => self.subject.own.key.span,
            };
            return Err(vec![(used, "used here"), (alias.span, "an anchor, whose value stands in several places")]);
        }
        if all_go && page.is_flow(own) {
            let new = steps.iter().filter_map(|step| match step {
                Step::Add { new, .. } | Step::Move { new, .. } => Some(made(*new)),
                _ => None,
            });
            return self.replace(at, &Node { span: Span::NONE, tree: Tree::List(new.collect()) });
        }
        for step in steps {
            match step {
                Step::Keep => {}
                Step::Change { old, new } => {
                    let spot = Spot { node: &nodes[old], own: owns.get(old), holder: Holder::Item, flow };
                    change(self, spot, old, new)?;
                }
                Step::Remove { old } => self.edit(own, page.no_item(own, old, &goes))?,
                Step::Move { old, new, after } if page.is_flow(own) => {
                    self.edit(own, page.no_item(own, old, &goes))?;
                    self.edit(own, page.new_item(own, after, &made(new)))?;
                }
                Step::Move { old, after, .. } => match page.moved_item(own, old, after) {
                    Some(changes) => changes.into_iter().try_for_each(|change| self.edit(own, Some(change)))?,
                    None => self.edit(own, None)?,
                },
                Step::Add { after, new } => self.edit(own, page.new_item(own, after, &made(new)))?,
            }
        }
        Ok(())
    }
}

pub(super) fn entry_of<'n>(node: &'n Node, key: &str) -> Option<&'n Entry> {
    node.entries()?.iter().find(|entry| *entry.key == key)
}

fn items_of(node: Option<&Node>) -> &[Node] {
    match node {
        Some(Node { tree: Tree::List(items), .. }) => items,
        Some(node) => std::slice::from_ref(node),
        None => &[],
    }
}

/// What a value says, without what its author keeps beside.
fn read_of(node: &Node) -> Value {
    match &node.tree {
        Tree::Scalar(_) => node.to_json(),
        Tree::List(items) => items.iter().map(read_of).collect(),
        Tree::Map(entries) => {
            let said = entries.iter().filter(|entry| !entry.is_own());
            Value::Object(said.map(|entry| (entry.key.value.clone(), read_of(&entry.value))).collect())
        }
    }
}

/// A value of a field as it is written where nobody wrote one before.
pub(super) fn written(value: &Value) -> Node {
    let mut node = Node::from_json_value(value);
    author::escape(&mut node);
    node
}

/// Puts a value where a path leads, or takes away what is there.
fn put(value: &mut Value, path: &[String], new: Option<Value>) {
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
