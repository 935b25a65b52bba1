//! Message catalogues: the texts of messages in one language, in files next to the manifests.
//!
//! A catalogue is a YAML file directly in a folder named `locales`; the name of the file is its locale. With `locales:
//! FOLDER`, a push gets its texts from the catalogues of a folder. [`Expansion`] replaces this by `localizations` before
//! anything gets its type, so that all other code knows only those.

mod expansion;
mod table;
mod texts;

use std::collections::HashMap;

pub use expansion::Expansion;
pub use table::{TextState, TranslatedMessage, TranslatedText, TranslationTable, WrittenText};
pub use texts::{has_locales, pushes};

use pushplan_io::files::CATALOGUES;
use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::node::{At, MapEntry, Node, Tree, owner_of};
use pushplan_model::nouns::locale::Locale;
use pushplan_model::source::{FileId, Sources, Span};
use pushplan_model::text;

use super::parse::{LOCALES, Parsed};
use super::split::parse;

/// The texts of one locale.
#[derive(Debug)]
pub struct Catalogue {
    pub file: FileId,
    /// Its folder, relative to the project.
    pub folder: String,
    pub locale: Locale,
    /// The texts of each message, by field.
    pub messages: Vec<MapEntry>,
    /// The positions of the messages, by key.
    index: HashMap<String, usize>,
}

impl Catalogue {
    /// The texts of one message.
    pub fn message(&self, key: &str) -> Option<&MapEntry> {
        self.index.get(key).map(|at| &self.messages[*at])
    }
}

/// The catalogues of a project, by path.
#[derive(Debug, Default)]
pub struct Catalogues(Vec<Catalogue>);

impl Catalogues {
    /// Reads the catalogues in these files. Also returns facts about the files, without their documents.
    pub fn read(files: &[FileId], sources: &Sources, findings: &mut Findings) -> (Self, Parsed) {
        let mut facts = Parsed { complete: true, ..Parsed::default() };
        let mut all = Vec::new();
        for file in files {
            let mut parsed = parse(*file, sources.get(*file), findings);
            facts.add_facts(&parsed);
            let documents = std::mem::take(&mut parsed.documents);
            all.extend(catalogue(*file, &sources.get(*file).path, documents, findings));
        }
        (Self(all), facts)
    }

    /// The catalogues directly in a folder.
    pub fn of_folder<'c>(&'c self, folder: &str) -> impl Iterator<Item = &'c Catalogue> {
        self.0.iter().filter(move |catalogue| catalogue.folder == folder)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Catalogue> {
        self.0.iter()
    }

    /// The text at a position, as written, and the map that it is in.
    pub fn text_at(&self, at: Span) -> Option<(&Node, &Node)> {
        let mut own = self.0.iter().filter(|catalogue| Some(catalogue.file) == at.file());
        let texts = own.find_map(|catalogue| catalogue.messages.iter().find(|entry| entry.value.span.contains(at)))?;
        let text = texts.value.entries()?.iter().map(|entry| &entry.value).find(|value| value.span == at)?;
        Some((text, &texts.value))
    }

    /// The catalogue with a position.
    pub fn at(&self, at: Span) -> Option<&Catalogue> {
        let file = at.file()?;
        self.0.iter().find(|catalogue| catalogue.file == file)
    }

    /// Whether a position is in a catalogue.
    pub fn hold(&self, at: Span) -> bool {
        self.at(at).is_some()
    }
}

fn catalogue(file: FileId, path: &str, documents: Vec<Node>, findings: &mut Findings) -> Option<Catalogue> {
    let (folder, name) = path.rsplit_once('/').unwrap_or((CATALOGUES, path));
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let locale = Locale::parse(stem);
    if locale.is_none() {
        findings.push(not_a_locale(file, path, name, stem));
    }
    let mut documents = documents.into_iter().filter(|document| !document.is_null());
    let first = documents.next();
    if let Some(second) = documents.next() {
        let finding = Finding::new(&codes::YM205, owner_of(&second), "a catalogue has only one document");
        findings.push(finding.label("the second").help("remove the line `---` above it"));
    }
    let messages = first.map(|document| messages(document, findings)).unwrap_or_default();
    let index = messages.iter().enumerate().map(|(at, entry)| (entry.key.value.clone(), at)).collect();
    Some(Catalogue { file, folder: folder.to_owned(), locale: locale?, messages, index })
}

/// The messages of a catalogue whose texts are in the right form. Others are reported.
fn messages(document: Node, findings: &mut Findings) -> Vec<MapEntry> {
    let Tree::Map(entries) = document.tree else {
        if !document.is_unread() {
            findings.push(no_map(document.span, document.what(), "a map of messages", EXAMPLE));
        }
        return Vec::new();
    };
    let mut messages = Vec::with_capacity(entries.len());
    for mut entry in entries.into_iter().filter(|entry| !entry.is_own()) {
        let is_empty = entry.value.is_null() || entry.value.is_unread();
        let is_map = entry.value.entries().is_some();
        if !is_empty && !is_map {
            findings.push(no_map(entry.value.span, entry.value.what(), "a map of texts", EXAMPLE));
        }
        if !is_map {
            entry.value.tree = Tree::Map(Vec::new());
        }
        messages.push(entry);
    }
    messages
}

const EXAMPLE: &str = "write the texts below their message: `scheduled_pushes/sale: {alert: ...}`";

fn no_map(at: Span, what: &str, expected: &str, help: &str) -> Finding {
    Finding::new(&codes::YM205, at, format!("expected {expected}, found {what}")).label("not a map").help(help)
}

fn not_a_locale(file: FileId, path: &str, name: &str, stem: &str) -> Finding {
    let message = format!("the name of `{}` is not a locale", text::short(path, 80));
    let finding = Finding::new(&codes::RF119, Span::new(file, 0..0), message).label("the whole file").note(format!(
        "every YAML file directly in a folder `{CATALOGUES}` is a message catalogue, named by its locale"
    ));
    finding.help(match Locale::meant(stem) {
        Some(meant) => format!("rename it to `{}`", name.replacen(stem, &meant.to_string(), 1)),
        None => "use a language, a country or both, such as `de.yaml` or `de-AT.yaml`; a manifest needs another folder"
            .to_owned(),
    })
}

/// The key of a message in catalogues: the address of its resource, and its number if the resource has several.
pub fn message_key(address: &str, number: usize, count: usize) -> String {
    if count > 1 { format!("{address}/{number}") } else { address.to_owned() }
}

/// A key and its value that were not written.
fn entry(key: &str, at: Span, value: Node) -> MapEntry {
    MapEntry { key: At::new(key.to_owned(), at), value }
}
