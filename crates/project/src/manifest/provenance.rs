//! The values of a resource that are not in its own declaration: from defaults, overlays, body files, catalogues and
//! variables.

use std::collections::BTreeMap;

use pushplan_model::node::{Node, Scalar, Style, Tree};
use pushplan_model::source::{Sources, Span};

use super::Manifests;
use super::layers::Stack;
use super::variables::{self, Filling};

/// The longest value of a variable that is stored, in bytes. Each resource that uses it has a copy.
const LONGEST: usize = 4 * 1024;

/// The list whose items are named by their locales.
const LOCALIZATIONS: &str = "localizations";

/// A value that is not in the declaration of its resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// Its field, without positions in lists: `push.notification.alert`. A localization has its locale:
    /// `push.localizations[de]`.
    pub path: String,
    /// Its origin: `var.discount`, `defaults.segments`, `overlays.eu`, or the file of a body or a catalogue.
    pub origin: String,
    /// The value of a variable, if it is not too long to store.
    pub filled: Option<String>,
    /// [`Span::NONE`] for a body, whose file is its origin.
    pub at: Span,
}

/// The names of the variables in each body file.
pub type BodyVariables = BTreeMap<String, Vec<String>>;

/// Finds the origins of the values of one resource.
pub struct Tracing<'t> {
    sources: &'t Sources,
    with: &'t Filling<'t>,
    manifests: &'t Manifests,
    found: Vec<Provenance>,
}

/// A layer of a resource, with the name of its origin.
type Named<'n> = (&'n str, &'n Node);

impl<'t> Tracing<'t> {
    pub fn new(manifests: &'t Manifests, with: &'t Filling<'t>) -> Self {
        Self { sources: with.sources, with, manifests, found: Vec::new() }
    }

    /// Traces a resource with merged layers. Its bodies still name their files.
    pub fn trace(&mut self, node: &Node, stack: &Stack, defaults: Option<&Node>) {
        let collected = &self.manifests.collected;
        let kind = stack.own.kind.key;
        let below = format!("defaults.{kind}");
        let over: Vec<(String, &Node)> = stack
            .over
            .iter()
            .map(|it| {
                let is_it = |(_, layer): &(&String, &super::collect::Layer)| {
                    layer.get(kind, &it.key).is_some_and(|one| std::ptr::eq(one, *it))
                };
                let name = collected.overlays.iter().find(is_it).map_or("", |(name, _)| name.as_str());
                (format!("overlays.{name}"), &it.node)
            })
            .collect();
        let over = over.iter().map(|(name, node)| (name.as_str(), *node));
        let layers: Vec<Named> = defaults.map(|node| (below.as_str(), node)).into_iter().chain(over).collect();
        self.value(node, &layers, node.span, &mut String::new());
    }

    /// Adds the variables of the files that were read.
    pub fn ended(mut self, bodies: &BodyVariables) -> Vec<Provenance> {
        let of_bodies: Vec<(String, String)> = self
            .found
            .iter()
            .flat_map(|one| bodies.get(&one.origin).into_iter().flatten().map(|name| (one.path.clone(), name.clone())))
            .collect();
        of_bodies.into_iter().for_each(|(path, name)| self.variable(&path, &name));
        self.found
    }

    fn value<'n>(&mut self, node: &Node, layers: &[Named<'n>], key: Span, path: &mut String) {
        let is_map = matches!(node.tree, Tree::Map(_));
        // A map in several layers has the position of the last.
        let layer = layers.iter().rev().find(|(_, layer)| !is_map && layer.span == node.span);
        if let Some((name, _)) = layer {
            self.add(path, name, None, key);
        }
        match &node.tree {
            Tree::Scalar(Scalar { style: Style::Filled, .. }) => {
                let text = self.sources.text(node.span);
                variables::variables_in(text).for_each(|name| self.variable(path, name));
            }
            Tree::Scalar(_) => {}
            Tree::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    let length = path.len();
                    if path.ends_with(LOCALIZATIONS) {
                        path.push_str(&format!("[{}]", locale_of(item)));
                    }
                    if let Some(catalogue) = self.manifests.catalogues.at(item.span) {
                        self.add(path, &self.sources.get(catalogue.file).path, None, item.span);
                    }
                    // A value for a single item in a layer applies to each item.
                    let of_item = |(name, layer): &Named<'n>| match &layer.tree {
                        Tree::List(items) => Some((*name, items.get(if items.len() > 1 { at } else { 0 })?)),
                        _ => Some((*name, *layer)),
                    };
                    let below: Vec<Named> = match layer {
                        Some(_) => Vec::new(),
                        None => layers.iter().filter_map(of_item).collect(),
                    };
                    self.value(item, &below, item.span, path);
                    path.truncate(length);
                }
            }
            Tree::Map(entries) => {
                for entry in entries.iter().filter(|entry| !entry.is_own() && *entry.key != "lifecycle") {
                    let length = path.len();
                    if length > 0 {
                        path.push('.');
                    }
                    path.push_str(&entry.key);
                    if let ("body", Some([file])) = (entry.key.as_str(), entry.value.entries())
                        && *file.key == "file"
                        && let Tree::Scalar(name) = &file.value.tree
                    {
                        self.add(path, &name.text, None, Span::NONE);
                    }
                    let below: Vec<Named> =
                        layers.iter().filter_map(|(name, layer)| Some((*name, layer.get(&entry.key)?))).collect();
                    self.value(&entry.value, &below, entry.key.span, path);
                    path.truncate(length);
                }
            }
        }
    }

    fn variable(&mut self, path: &str, name: &str) {
        let target = self.with.target.and_then(|target| self.manifests.project.target(target));
        let declared = target.and_then(|target| target.variables.keys().find(|key| key.value == *name));
        let value = self.with.variables.get(name).filter(|value| value.len() <= LONGEST).cloned();
        self.add(path, &format!("var.{name}"), value, declared.map_or(Span::NONE, |key| key.span));
    }

    fn add(&mut self, path: &str, origin: &str, filled: Option<String>, at: Span) {
        let one = Provenance { path: path.to_owned(), origin: origin.to_owned(), filled, at };
        if !self.found.contains(&one) {
            self.found.push(one);
        }
    }
}

/// The language and the country of a localization.
fn locale_of(item: &Node) -> String {
    let codes = ["language", "country"].into_iter().filter_map(|key| match &item.get(key)?.tree {
        Tree::Scalar(code) => Some(code.text.as_str()),
        _ => None,
    });
    codes.collect::<Vec<_>>().join("-")
}
