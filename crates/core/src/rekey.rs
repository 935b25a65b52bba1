//! A new key for a resource: the edits in the files, and the check that they change nothing else.
//!
//! Pure, except that it reads bodies from files. Edits replace spans, so all other bytes are unchanged. A place that
//! cannot be edited is reported before anything is written.

mod insert;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use pushplan_model::address::Address;
use pushplan_model::finding::Findings;
use pushplan_model::kinds::{self, Kind, Parts, Resource, Segment, Template, remote};
use pushplan_model::node::yaml_text;
use pushplan_model::node::{At, MapEntry, Node, Tree};
use pushplan_model::source::{Source, Sources, Span};
use pushplan_project::cases::{Names, names};
use pushplan_project::check::fix::{Edit, apply};
use pushplan_project::manifest::{self, Declaration, Input, InputSource, Manifests, Project};
use serde_json::Value;

use crate::compare::{Unit, units};

/// A unit without its line numbers, which an edit changes.
fn placeless(mut unit: Unit) -> Unit {
    unit.place = None;
    unit.aside.written.iter_mut().for_each(|value| value.place = None);
    unit
}

/// The inputs of a rename.
#[derive(Debug)]
pub struct RekeyRequest<'m> {
    pub manifests: &'m Manifests,
    /// The names in device tests.
    pub cases: &'m Names,
    pub kind: &'static Kind,
    pub from: &'m Address,
    pub to: &'m Address,
    /// Whether to write the old key into the manifest, for ledgers that are not updated by this command.
    pub in_git: bool,
}

/// The files with the new key.
#[derive(Clone, Debug, Default)]
pub struct Rekeyed {
    /// The text before and after, by file name.
    pub files: BTreeMap<String, [String; 2]>,
    /// The edits: a position such as `messages.yaml:2:3`, and a description.
    pub places: Vec<(String, &'static str)>,
    /// The field with the name on the service, if that was the key and is now written explicitly.
    pub named: Option<&'static str>,
}

/// Why nothing is edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// References that cannot be edited: the position and text of each.
    Places(Vec<(String, String)>),
    /// The units that would differ afterwards.
    Differ(Vec<Address>),
}

/// Computes the files with the new key.
pub fn rekey(asked: &RekeyRequest) -> Result<Rekeyed, Refused> {
    let mut edits = Edits::default();
    asked.keys(&mut edits);
    asked.references(&mut edits);
    if asked.in_git {
        let old = yaml_text(&asked.from.key);
        asked.say(&mut edits, "lifecycle", &[("renamed_from", old.as_str())]);
    }
    if !edits.refused.is_empty() {
        return Err(Refused::Places(edits.refused));
    }
    let mut named = None;
    let mut differ = asked.differ(&edits.texts());
    let own = |address: &Address| address.resource() == *asked.to;
    if !differ.is_empty() && differ.iter().all(own) {
        // The key was also its name on the service, which it keeps.
        let Some(field) = asked.kind.api.name_field() else { return Err(Refused::Differ(differ)) };
        edits.insertions.clear();
        let old = yaml_text(&asked.from.key);
        asked.say(&mut edits, field, &[("", old.as_str())]);
        if asked.in_git {
            asked.say(&mut edits, "lifecycle", &[("renamed_from", old.as_str())]);
        }
        if !edits.refused.is_empty() {
            return Err(Refused::Places(edits.refused));
        }
        named = Some(field);
        differ = asked.differ(&edits.texts());
    }
    if !differ.is_empty() {
        return Err(Refused::Differ(differ));
    }
    asked.same_cases(&edits.texts())?;
    let (files, mut places) = (edits.texts(), edits.places());
    places.sort();
    Ok(Rekeyed { files, places, named })
}

impl RekeyRequest<'_> {
    /// Edits the keys in manifests and overlays.
    fn keys(&self, edits: &mut Edits) {
        for Declaration { key, .. } in self.manifests.declarations(self.kind, &self.from.key) {
            edits.replace(&self.manifests.sources, key.span, &self.from.key, &yaml_text(&self.to.key), "its key");
        }
    }

    /// Edits all references.
    fn references(&self, edits: &mut Edits) {
        let (old, new) = (&self.from.key, yaml_text(&self.to.key));
        let sources = &self.manifests.sources;
        for target in self.targets() {
            let (desired, _) = self.manifests.resolve(target);
            for declared in desired.resources.values() {
                let mut parts = Parts::new(&declared.key);
                declared.spec.parts(&mut parts);
                let named = parts.named().into_iter();
                for (_, key) in named.filter(|(kind, key)| *kind == self.kind.key && key.value == *old) {
                    edits.replace(sources, key.span, old, &new, "a reference");
                }
            }
        }
        // A default that every resource overrides is in none of the resolved resources.
        for (_, node) in self.manifests.defaults() {
            in_defaults(node, self.kind.noun, old, &mut |at| edits.replace(sources, at, old, &new, "a reference"));
        }
        let (whole, moved) = (self.from.to_string(), self.to.to_string());
        for (kind, name) in &self.cases.names {
            match kind {
                None if name.value == whole => {
                    edits.replace(&self.cases.sources, name.span, &whole, &moved, "a device test");
                }
                Some(kind) if *kind == self.kind.key && name.value == *old => {
                    edits.replace(&self.cases.sources, name.span, old, &new, "a device test");
                }
                _ => {}
            }
        }
    }

    /// All targets, and the project without a target.
    fn targets(&self) -> impl Iterator<Item = Option<&str>> {
        let names = self.manifests.project.target_names();
        std::iter::once(None).chain(names.into_iter().map(Some))
    }

    /// Writes a field in the first declaration: in the manifest, or in the overlays if only these declare it. A field
    /// with subfields gets the values in addition to its own.
    fn say(&self, edits: &mut Edits, field: &str, values: &[(&str, &str)]) {
        let sources = &self.manifests.sources;
        let all = self.manifests.declarations(self.kind, &self.from.key);
        let base = self.manifests.base(self.kind, &self.from.key);
        let chosen = all.into_iter().filter(|it| base.is_none_or(|base| std::ptr::eq(base, *it)) && !is_taken(it));
        for Declaration { key, node, .. } in chosen {
            let there = node.entries().and_then(|entries| entries.iter().find(|entry| *entry.key == field));
            let (at, value, lines) = match (there, values) {
                (_, [("", value)]) => (key.span, node, vec![format!("{field}: {value}")]),
                (None, values) => {
                    let all: Vec<String> = values.iter().map(|(name, value)| format!("{name}: {value}")).collect();
                    (key.span, node, vec![format!("{field}: {{{}}}", all.join(", "))])
                }
                (Some(MapEntry { key, value }), values) => {
                    let lines = values.iter().map(|(name, value)| format!("{name}: {value}"));
                    (key.span, value, lines.collect())
                }
            };
            edits.insert(sources, at, value, lines);
        }
    }

    /// The new addresses of units that would differ in some target.
    fn differ(&self, texts: &BTreeMap<String, [String; 2]>) -> Vec<Address> {
        let after = reread(self.manifests, texts);
        let mut differ: BTreeSet<Address> = BTreeSet::new();
        for target in self.targets() {
            let (before, _) = self.manifests.resolve(target);
            let before = units(&before, &self.manifests.sources).into_iter().map(|unit| self.moved(unit));
            let before: BTreeMap<Address, Unit> = before.map(|(address, unit)| (address, placeless(unit))).collect();
            let (now, _) = after.resolve(target);
            let now: BTreeMap<Address, Unit> =
                units(&now, &after.sources).into_iter().map(|(address, unit)| (address, placeless(unit))).collect();
            let all: BTreeSet<&Address> = before.keys().chain(now.keys()).collect();
            differ.extend(all.into_iter().filter(|at| before.get(at) != now.get(at)).cloned());
        }
        differ.into_iter().collect()
    }

    /// Checks that device tests have the same names, with the new key.
    fn same_cases(&self, texts: &BTreeMap<String, [String; 2]>) -> Result<(), Refused> {
        let input = |(_, source): (_, &Source)| {
            let text = texts.get(&*source.path).map_or(&source.text, |[_, after]| after);
            Input { name: source.path.to_string(), from: InputSource::Bytes(text.clone().into_bytes()) }
        };
        let inputs = self.cases.sources.iter().map(input).collect();
        let after = names::of(inputs, self.manifests, self.cases.target.as_deref());
        let moved = |(kind, name): &(Option<&'static str>, At<String>)| match kind {
            None if name.value == self.from.to_string() => self.to.to_string(),
            Some(kind) if *kind == self.kind.key && name.value == self.from.key => self.to.key.clone(),
            _ => name.value.clone(),
        };
        let told =
            |(_, name): &(Option<&'static str>, At<String>)| (self.cases.sources.place(name.span), name.value.clone());
        let now = after.names.iter().map(|(_, name)| name.value.clone());
        if now.eq(self.cases.names.iter().map(moved)) {
            return Ok(());
        }
        Err(Refused::Places(self.cases.names.iter().filter(|name| moved(name) != name.1.value).map(told).collect()))
    }

    /// The expected state of a unit.
    fn moved(&self, (address, unit): (Address, Unit)) -> (Address, Unit) {
        let renamed = address.renamed(self.from, self.to);
        let spec = match *self.kind.key == *Segment::KEY {
            true => remote::pointed(kinds::api(&address).audiences(), &unit.spec, &mut |reference| match reference
                .as_str()
            {
                Some(key) if key == self.from.key => Value::from(self.to.key.as_str()),
                _ => reference.clone(),
            }),
            false => unit.spec,
        };
        let mut aside = unit.aside;
        if *self.kind.key == *Template::KEY {
            let is_it = |key: &&mut String| **key == self.from.key;
            aside.templates.iter_mut().filter(is_it).for_each(|key| key.clone_from(&self.to.key));
        }
        let said = renamed.as_ref().filter(|_| self.in_git).map(|_| self.from.key.clone());
        let renamed_from = said.or(unit.renamed_from);
        (renamed.unwrap_or(address), Unit { spec, place: None, renamed_from, aside, ..unit })
    }
}

/// Whether an overlay removes it.
fn is_taken(declaration: &Declaration) -> bool {
    declaration.node.is_null() && !declaration.node.span.range().is_empty()
}

/// Finds references in defaults, except in the author's own fields.
fn in_defaults(node: &Node, noun: &str, key: &str, tell: &mut dyn FnMut(Span)) {
    match &node.tree {
        Tree::Map(entries) => {
            for MapEntry { key: name, value } in entries.iter().filter(|entry| !entry.is_own()) {
                match &value.tree {
                    Tree::Scalar(scalar) if name.value == noun && scalar.text == key => tell(value.span),
                    Tree::List(items) if name.value == noun => {
                        let is_it = |item: &&Node| matches!(&item.tree, Tree::Scalar(scalar) if scalar.text == key);
                        items.iter().filter(is_it).for_each(|item| tell(item.span));
                    }
                    _ => in_defaults(value, noun, key, tell),
                }
            }
        }
        Tree::List(items) => items.iter().for_each(|item| in_defaults(item, noun, key, tell)),
        Tree::Scalar(_) => {}
    }
}

/// Reads the project with other texts.
pub fn reread(manifests: &Manifests, texts: &BTreeMap<String, [String; 2]>) -> Manifests {
    let (mut sources, mut findings) = (Sources::default(), Findings::default());
    let own = manifests.project_file();
    let said = own.map(|file| manifests.sources.get(file).text.clone()).unwrap_or_default();
    let project = Project::read(&manifests.project.root, said, &mut sources, &mut findings);
    let files = manifests.sources.iter().filter(|(file, _)| Some(*file) != own);
    let input = |(_, source): (_, &Source)| {
        let text = texts.get(&*source.path).map_or(&source.text, |[_, after]| after);
        Input { name: source.path.to_string(), from: InputSource::Bytes(text.clone().into_bytes()) }
    };
    manifest::read(project, files.map(input).collect(), sources, findings)
}

/// The edits of the files, by name.
#[derive(Debug, Default)]
struct Edits {
    files: BTreeMap<String, String>,
    /// Replacements by file and position.
    replacements: BTreeMap<(String, usize), Replacement>,
    insertions: Vec<(String, Range<usize>, insert::Added)>,
    refused: Vec<(String, String)>,
}

/// A replaced text.
#[derive(Debug)]
struct Replacement {
    at: Range<usize>,
    text: String,
    /// The position as shown, and a description.
    told: (String, &'static str),
}

impl Edits {
    /// Replaces the text of a scalar, in its quotes.
    fn replace(&mut self, sources: &Sources, at: Span, old: &str, new: &str, what: &'static str) {
        let Some(source) = at.file().map(|file| sources.get(file)) else { return };
        let written = sources.text(at);
        let bare = new.trim_matches('"');
        let text = match written.strip_prefix(['"', '\'']).and_then(|rest| rest.strip_suffix(['"', '\''])) {
            Some(inner) if inner == old => written.replacen(old, bare, 1),
            None if written == old => new.to_owned(),
            _ => {
                let told = (sources.place(at), written.to_owned());
                if !self.refused.contains(&told) {
                    self.refused.push(told);
                }
                return;
            }
        };
        self.files.entry(source.path.to_string()).or_insert_with(|| source.text.clone());
        let place = (source.path.to_string(), at.range().start);
        self.replacements.insert(place, Replacement { at: at.range(), text, told: (sources.place(at), what) });
    }

    /// Inserts lines next to the fields of a key.
    fn insert(&mut self, sources: &Sources, key: Span, value: &Node, lines: Vec<String>) {
        let Some(source) = key.file().map(|file| sources.get(file)) else { return };
        match insert::place(&source.text, key.range(), value) {
            Some(place) => {
                self.files.entry(source.path.to_string()).or_insert_with(|| source.text.clone());
                let same = self.insertions.iter_mut().find(|(file, at, _)| **file == *source.path && *at == place.at);
                match same {
                    Some((.., added)) => added.lines.extend(lines),
                    None => {
                        self.insertions.push((
                            source.path.to_string(),
                            place.at,
                            insert::Added { form: place.form, lines },
                        ));
                    }
                }
            }
            None => self.refused.push((sources.place(key), sources.text(key).to_owned())),
        }
    }

    /// The text of each file before and after.
    fn texts(&self) -> BTreeMap<String, [String; 2]> {
        let carried_out = |(name, before): (&String, &String)| {
            let inserted: Vec<(Range<usize>, String)> = self
                .insertions
                .iter()
                .filter(|(file, ..)| file == name)
                .map(|(_, at, added)| (at.clone(), added.text()))
                .collect();
            let replaced = self.replacements.iter().filter(|((file, _), _)| file == name);
            let mut edits: Vec<Edit> =
                replaced.map(|(_, one)| Edit { at: one.at.clone(), text: one.text.as_str() }).collect();
            edits.extend(inserted.iter().map(|(at, text)| Edit { at: at.clone(), text: text.as_str() }));
            (name.clone(), [before.clone(), apply(before, &edits).0])
        };
        self.files.iter().map(carried_out).collect()
    }

    fn places(&self) -> Vec<(String, &'static str)> {
        self.replacements.values().map(|one| one.told.clone()).collect()
    }
}
