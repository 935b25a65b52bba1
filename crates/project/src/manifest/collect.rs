//! The content of a project's documents by type: resources, defaults, overlays.

use std::collections::{BTreeMap, HashMap};

use pushplan_model::address::{is_key, is_own, to_key};
use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::kinds::{self, KINDS, Kind};
use pushplan_model::node::{At, MapEntry, Node, Tree, owner_of};
use pushplan_model::source::Span;
use pushplan_model::text;

use super::merge;
use super::project::Project;

const DEFAULTS: &str = "defaults";
const OVERLAYS: &str = "overlays";

/// The keys of defaults and overlays.
pub(crate) const LAYERS: [&str; 2] = [DEFAULTS, OVERLAYS];

/// The keys of a manifest other than kinds, with descriptions.
pub const TOP_LEVEL: &[(&str, &str)] = &[
    (DEFAULTS, "Default values for all resources of a kind, by kind."),
    (
        OVERLAYS,
        "Differences for one target: the name of a target or group, and below it the changed fields as in a manifest.",
    ),
];

/// A resource as written, before variables and overlays.
#[derive(Debug)]
pub struct Declaration {
    pub kind: &'static Kind,
    pub key: At<String>,
    pub node: Node,
}

/// The declarations of one layer of manifests.
#[derive(Debug, Default)]
pub struct Layer {
    pub resources: Vec<Declaration>,
    index: HashMap<(&'static str, String), usize>,
}

impl Layer {
    pub fn get(&self, kind: &'static str, key: &str) -> Option<&Declaration> {
        self.index.get(&(kind, key.to_owned())).map(|at| &self.resources[*at])
    }

    fn add(&mut self, declaration: Declaration, findings: &mut Findings) {
        let name = (declaration.kind.key, declaration.key.value.clone());
        if let Some(first) = self.index.get(&name) {
            let first = self.resources[*first].key.span;
            findings.push(twice(declaration.kind, &declaration.key, first));
            return;
        }
        self.index.insert(name, self.resources.len());
        self.resources.push(declaration);
    }
}

/// The finding for a resource that is declared a second time.
pub fn twice(kind: &Kind, key: &At<String>, first: Span) -> Finding {
    Finding::new(&codes::RF105, key.span, format!("the {} `{key}` is declared twice", kind.noun))
        .label("the second")
        .related(first, "the first")
        .help("rename one of them, or remove it")
}

/// The content of a project's documents.
#[derive(Debug, Default)]
pub struct Collected {
    pub base: Layer,
    pub defaults: BTreeMap<&'static str, Node>,
    /// By target or group, which never share a name.
    pub overlays: BTreeMap<String, Layer>,
}

pub fn collect(documents: Vec<Node>, project: &Project, findings: &mut Findings) -> Collected {
    let mut collected = Collected::default();
    for document in documents {
        for MapEntry { key, value } in sections(document, findings) {
            match key.as_str() {
                DEFAULTS => defaults(value, &mut collected.defaults, findings),
                OVERLAYS => overlays(value, &mut collected.overlays, project, findings),
                _ => section(&key, value, &mut |it, findings| collected.base.add(it, findings), findings),
            }
        }
    }
    collected
}

/// All declarations in the documents of one file, including duplicates. `None` if it has layers.
pub fn listed(documents: Vec<Node>, findings: &mut Findings) -> Option<Vec<Declaration>> {
    let mut all = Vec::new();
    for document in documents {
        for MapEntry { key, value } in sections(document, findings) {
            if LAYERS.contains(&key.as_str()) {
                return None;
            }
            section(&key, value, &mut |it, _| all.push(it), findings);
        }
    }
    Some(all)
}

fn sections(document: Node, findings: &mut Findings) -> Vec<MapEntry> {
    map(document, "a manifest: maps by kind, such as `segments:`", findings).unwrap_or_default()
}

/// The entries of a map. No value is an empty map; any other value is reported.
fn map(node: Node, expected: &str, findings: &mut Findings) -> Option<Vec<MapEntry>> {
    if node.is_null() || node.is_unread() {
        return Some(Vec::new());
    }
    let (at, what) = (owner_of(&node), node.what());
    match node.tree {
        Tree::Map(entries) => Some(entries),
        _ => {
            let finding =
                Finding::new(&codes::YM205, at, format!("expected {expected}, found {what}")).label("not a map");
            findings.push(finding.help("each resource has its own key: `segments: {buyers: {...}, visitors: {...}}`"));
            None
        }
    }
}

/// The resources of one kind: `segments: {...}`.
fn section(key: &At<String>, value: Node, add: &mut dyn FnMut(Declaration, &mut Findings), findings: &mut Findings) {
    let Some(kind) = known_kind(key, findings) else { return };
    for MapEntry { key, value } in
        map(value, &format!("a map of {}s by their keys", kind.noun), findings).unwrap_or_default()
    {
        if is_own(&key) {
            // Notes belong to the author, but a possible resource is never skipped silently.
            if value.entries().is_some() {
                findings.push(not_read(kind, &key));
            }
        } else if is_key(&key) {
            add(Declaration { kind, key, node: value }, findings);
        } else {
            findings.push(wrong_key(kind, &key));
        }
    }
}

fn known_kind(key: &At<String>, findings: &mut Findings) -> Option<&'static Kind> {
    if is_own(key) {
        return None;
    }
    let kind = kinds::kind(key);
    if kind.is_none() {
        let known = || KINDS.iter().map(|kind| kind.key).chain(TOP_LEVEL.iter().map(|(key, _)| *key));
        let finding = Finding::new(&codes::YM201, key.span, format!("unknown kind `{key}`")).label("not known here");
        findings.push(match text::nearest(key, known()) {
            Some(near) => finding.help(format!("did you mean `{near}`?")).suggest(key.span, near),
            None => {
                let all: Vec<String> = known().map(|key| format!("`{key}`")).collect();
                finding.help(format!("expected {}, or your own key that begins with x-", text::any_of(&all)))
            }
        });
    }
    kind
}

fn not_read(kind: &Kind, key: &At<String>) -> Finding {
    let near = to_key(&format!("{}-{}", kind.noun, key.value));
    Finding::new(&codes::YM209, key.span, format!("the {} `{}` would be ignored", kind.noun, text::short(key, 40)))
        .label("begins with x-")
        .note(
            "keys that begin with x- are ignored: they are for your own data, at the top of a file or inside a \
            resource",
        )
        .help(format!("rename it, for example to `{near}`; put your own data at the top of the file"))
}

fn wrong_key(kind: &Kind, key: &At<String>) -> Finding {
    let finding = Finding::new(
        &codes::YM208,
        key.span,
        format!("`{}` is not a valid key of a {}", text::short(key, 40), kind.noun),
    )
    .label("up to 128 letters, digits, -, _ and .")
    .note("a key is the resource's address in git; the name in the dashboard is a separate field");
    match to_key(key) {
        near if near.is_empty() => finding,
        near => finding.help(format!("write `{near}`")).suggest(key.span, near),
    }
}

/// `defaults: {scheduled_pushes: {...}}`, from any file. A value must not be given twice, because files have no order.
fn defaults(value: Node, into: &mut BTreeMap<&'static str, Node>, findings: &mut Findings) {
    for MapEntry { key, value } in map(value, "defaults by kind", findings).unwrap_or_default() {
        let Some(kind) = known_kind(&key, findings) else { continue };
        let joined = match into.get(kind.key) {
            None => value,
            Some(earlier) => {
                if let Some((first, second)) = clash(earlier, &value) {
                    findings.push(
                        Finding::new(&codes::RF111, second, format!("a default for {}s is set twice", kind.noun))
                            .label("the second")
                            .related(first, "the first")
                            .note("files have no order, so pushplan cannot choose one"),
                    );
                }
                merge::lay(earlier, &value)
            }
        };
        into.insert(kind.key, joined);
    }
}

/// The first value that both trees define.
fn clash(first: &Node, second: &Node) -> Option<(Span, Span)> {
    let (Some(a), Some(b)) = (first.entries(), second.entries()) else {
        return Some((first.span, second.span));
    };
    let index = merge::Index::of(a);
    let both = b.iter().filter_map(|entry| Some((index.get(&entry.key)?, entry)));
    both.into_iter().find_map(|(a, b)| match (&a.value.tree, &b.value.tree) {
        (Tree::Map(_), Tree::Map(_)) => clash(&a.value, &b.value),
        _ => Some((a.key.span, b.key.span)),
    })
}

/// `overlays: {production: {segments: {...}}}`.
fn overlays(value: Node, into: &mut BTreeMap<String, Layer>, project: &Project, findings: &mut Findings) {
    for MapEntry { key: target, value } in map(value, "overlays by target", findings).unwrap_or_default() {
        if is_own(&target) {
            continue;
        }
        if !project.has_overlays(&target) {
            findings.push(project.unknown_overlay(&target));
            continue;
        }
        let layer = into.entry(target.value).or_default();
        for MapEntry { key, value } in map(value, "maps by kind, as in a manifest", findings).unwrap_or_default() {
            section(&key, value, &mut |it, findings| layer.add(it, findings), findings);
        }
    }
}
