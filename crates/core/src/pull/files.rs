//! The files with pulled resources, and their text.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use pushplan_model::address::Address;
use pushplan_model::finding::Findings;
use pushplan_model::kinds::{KINDS, Resource, Segment};
use pushplan_model::node::{Node, Tree};
use pushplan_model::source::{FileId, Source, Span};
use pushplan_project::manifest::author::authored;
use pushplan_project::manifest::{parse, write};

use super::draft::{Draft, group_address};
use crate::guard::Segments;

/// The distribution of resources over files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// One file for each kind: `segments.yaml`.
    #[default]
    Kind,
    /// One file for each resource: `segments/lapsed-buyers.yaml`.
    Resource,
}

/// The existing content at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing<'e> {
    Nothing,
    /// A manifest of the project, with its text.
    Manifest(&'e str),
    /// Another file, which is not changed.
    Other,
}

/// A file with its new content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PulledFile {
    /// Its path, relative to the folder for new files.
    pub path: String,
    /// Its current content; `None` if it is new.
    pub before: Option<String>,
    pub text: String,
    /// The resources that are added to it.
    pub gains: Vec<Address>,
    /// The file that could not be extended, if this one replaces it.
    pub instead_of: Option<String>,
}

/// The lines of one resource.
struct Lines {
    address: Address,
    text: String,
}

/// The files with the new pieces of a draft.
pub fn files<'e>(draft: &Draft, layout: Layout, existing: &dyn Fn(&str) -> Existing<'e>) -> Vec<PulledFile> {
    let mut by_kind: BTreeMap<usize, Vec<Lines>> = BTreeMap::new();
    let place = |kind: &str| KINDS.iter().position(|one| one.key == kind).unwrap_or_default();
    let written = draft.written();
    let segments = written.iter().filter(|(piece, _)| piece.thing.kind.key == Segment::KEY);
    let segments = Segments::new(segments.map(|(piece, spec)| (piece.key.as_str(), || Cow::Borrowed(spec))));
    for (piece, spec) in written.iter().filter(|(piece, _)| piece.is_new) {
        let node = authored(piece.thing.kind, &piece.key, spec);
        let address = piece.address();
        let to_everybody = segments.messages_everybody(&address, spec);
        let text = lines(&piece.key, &node, to_everybody, &piece.warn);
        by_kind.entry(place(&address.kind)).or_default().push(Lines { address, text });
    }
    for group in &draft.groups {
        let (address, empty) = (group_address(group), Node { span: Span::NONE, tree: Tree::Map(Vec::new()) });
        let text = lines(group, &empty, false, &BTreeSet::new());
        by_kind.entry(place(&address.kind)).or_default().push(Lines { address, text });
    }
    let mut names = Names { existing, taken: BTreeSet::new() };
    let mut out = Vec::new();
    for (kind, mut resources) in by_kind {
        let kind = KINDS[kind].key;
        resources.sort_by(|a, b| a.address.cmp(&b.address));
        match layout {
            Layout::Kind => out.push(names.file(kind, kind, resources)),
            Layout::Resource => {
                for resource in resources {
                    // A dot could make it look like another type of file.
                    let path = format!("{kind}/{}", resource.address.key.replace('.', "-"));
                    out.push(names.file(&path, kind, vec![resource]));
                }
            }
        }
    }
    out
}

/// The lines of one resource, below its kind. `to_everybody`: it reaches all devices, so it needs `broadcast: true`.
fn lines(key: &str, node: &Node, to_everybody: bool, warn: &BTreeSet<&str>) -> String {
    let mut text = String::new();
    let codes: Vec<&str> = warn.iter().copied().collect();
    let broadcast = to_everybody.then(|| "broadcast: true".to_owned());
    let warns = (!warn.is_empty()).then(|| format!("warn: [{}]", codes.join(", ")));
    let lifecycle: Vec<String> = broadcast.into_iter().chain(warns).collect();
    match node.entries() {
        Some([]) if !lifecycle.is_empty() => text.push_str(&format!("{:INDENT$}{}:\n", "", write::key(key))),
        _ => write::resource(key, node, INDENT, &mut text),
    }
    let within = 2 * INDENT;
    if !warn.is_empty() {
        text.push_str(&format!("{:within$}# Pulled from the service: errors of these checks are warnings here.\n", ""));
    }
    if !lifecycle.is_empty() {
        text.push_str(&format!("{:within$}lifecycle: {{{}}}\n", "", lifecycle.join(", ")));
    }
    text
}

/// The indentation of resources below their kind.
const INDENT: usize = 2;

/// Finds a free name for each file, or extends the existing file.
struct Names<'n, 'e> {
    existing: &'n dyn Fn(&str) -> Existing<'e>,
    /// Paths in lower case, because some file systems ignore case.
    taken: BTreeSet<String>,
}

impl Names<'_, '_> {
    fn file(&mut self, stem: &str, kind: &str, resources: Vec<Lines>) -> PulledFile {
        let wanted = format!("{stem}.yaml");
        let mut blocked = None;
        for number in 0.. {
            let path = match number {
                0 => wanted.clone(),
                1 => format!("{stem}.pulled.yaml"),
                number => format!("{stem}.pulled-{number}.yaml"),
            };
            if self.taken.contains(&path.to_lowercase()) {
                continue;
            }
            let (before, text) = match (self.existing)(&path) {
                Existing::Nothing => (None, fresh(kind, &resources)),
                Existing::Manifest(text) => match added(text, kind, &resources) {
                    Some(more) => (Some(text.to_owned()), with_breaks_of(text, more)),
                    None => {
                        blocked.get_or_insert(path);
                        continue;
                    }
                },
                Existing::Other => {
                    blocked.get_or_insert(path);
                    continue;
                }
            };
            self.taken.insert(path.to_lowercase());
            let gains = resources.into_iter().map(|lines| lines.address).collect();
            return PulledFile { path, before, text, gains, instead_of: blocked };
        }
        unreachable!("numbers do not end")
    }
}

/// A file with only these resources.
fn fresh(kind: &str, resources: &[Lines]) -> String {
    format!("{kind}:\n{}", joined(resources))
}

/// Resources below each other; long ones are separated by blank lines.
fn joined(resources: &[Lines]) -> String {
    let mut out = String::new();
    let mut before = None;
    for Lines { text, .. } in resources {
        let is_long = text.lines().count() > 3;
        if before.is_some_and(|before| before || is_long) {
            out.push('\n');
        }
        before = Some(is_long);
        out.push_str(text);
    }
    out
}

/// A manifest with resources added at its end: to its last map if that is of the kind, otherwise in a new map. `None`
/// if that is not possible without rewriting the rest of the file.
fn added(text: &str, kind: &str, resources: &[Lines]) -> Option<String> {
    let source = Source::new("", text);
    let document = document(&source)?;
    let entries = document.entries().unwrap_or_default();
    // Files with several documents, or document markers, are not extended.
    let is_marked = text.lines().any(|line| line.starts_with("...") || line.starts_with("---"));
    let column = |span: Span| source.position(span.range().start).column - 1;
    if is_marked || entries.iter().any(|entry| column(entry.key.span) != 0) {
        return None;
    }
    let mut out = text.to_owned();
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    let Some(own) = entries.iter().find(|entry| *entry.key == kind) else {
        let apart = if out.trim().is_empty() { "" } else { "\n" };
        return Some(format!("{out}{apart}{}", fresh(kind, resources))).filter(|all| keeps(all, kind, &document));
    };
    let is_last = entries.last().is_some_and(|last| std::ptr::eq(last, own));
    let first = own.value.entries()?.first()?;
    let is_block = first.key.span.range().start > own.key.span.range().end
        && source.position(first.key.span.range().start).line > source.position(own.key.span.range().start).line
        && !source.text[own.value.span.range()].starts_with('{');
    let indent = column(first.key.span);
    if !is_last || !is_block || indent == 0 {
        return None;
    }
    let lines = joined(resources);
    let shifted = lines.lines().map(|line| match line.strip_prefix("  ") {
        Some(rest) => format!("{:indent$}{rest}\n", ""),
        None => format!("{line}\n"),
    });
    Some(format!("{out}\n{}", shifted.collect::<String>())).filter(|all| keeps(all, kind, &document))
}

/// A text whose new lines end like those of the original.
fn with_breaks_of(text: &str, all: String) -> String {
    match (text.contains("\r\n"), all.strip_prefix(text)) {
        (true, Some(more)) => format!("{text}{}", more.replace('\n', "\r\n")),
        _ => all,
    }
}

/// The only document of a text; an empty text is an empty document.
fn document(source: &Source) -> Option<Node> {
    let mut findings = Findings::default();
    let mut parsed = parse(FileId::ONLY, source, &mut findings);
    if !findings.is_empty() || !parsed.complete || parsed.documents.len() > 1 {
        return None;
    }
    let document = parsed.documents.pop().filter(|document| !document.is_null());
    let document = document.unwrap_or(Node { span: Span::NONE, tree: Tree::Map(Vec::new()) });
    document.entries().is_some().then_some(document)
}

/// Whether a text has all of its previous content: its last line may belong to a value that absorbs the added lines.
fn keeps(text: &str, kind: &str, before: &Node) -> bool {
    let Some(after) = document(&Source::new("", text)) else { return false };
    let was = before.entries().unwrap_or_default();
    was.iter().all(|entry| match (after.get(&entry.key), entry.value.entries()) {
        (Some(now), Some(own)) if *entry.key == kind => {
            own.iter().all(|one| now.get(&one.key).is_some_and(|now| now.to_json() == one.value.to_json()))
        }
        (Some(now), _) => now.to_json() == entry.value.to_json(),
        (None, _) => false,
    })
}
