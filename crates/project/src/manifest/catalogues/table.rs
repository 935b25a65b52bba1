//! The messages of a target and their texts in every locale, as written.

use std::collections::{BTreeMap, BTreeSet};

use pushplan_io::files;
use pushplan_model::address::Address;
use pushplan_model::finding::Findings;
use pushplan_model::node::{Node, Tree};
use pushplan_model::source::{FileId, Span};

use super::super::Manifests;
use super::super::growth::Growth;
use super::super::variables::{self, Filling};
use super::texts::{pushes, texts_of};
use super::{Catalogue, LOCALES, message_key};

/// The messages of a target that have texts in several locales.
#[derive(Clone, Debug, Default)]
pub struct TranslationTable {
    pub locales: Vec<String>,
    pub messages: Vec<TranslatedMessage>,
    /// The number of other messages.
    pub single: usize,
}

/// A message, with its texts in the order of their fields.
#[derive(Clone, Debug)]
pub struct TranslatedMessage {
    /// Its key in catalogues.
    pub key: String,
    /// The position of its resource.
    pub at: Span,
    /// The folder of its catalogues.
    pub folder: Option<String>,
    pub texts: Vec<TranslatedText>,
}

/// A text of a message.
#[derive(Clone, Debug)]
pub struct TranslatedText {
    pub field: String,
    pub common: WrittenText,
    /// By locale.
    pub translations: BTreeMap<String, WrittenText>,
    /// The languages with a catalogue. A locale with one of them and a country gets its text if it lacks one.
    languages: Vec<String>,
}

/// A text without its variables filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenText {
    /// The text, or the name of its file.
    pub text: String,
    /// Whether the text is in a file of its own.
    pub is_file: bool,
    pub at: Span,
}

/// Whether a text has a translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextState {
    Translated,
    /// It equals the common text.
    Untranslated,
    /// Devices get that of the language without a country.
    Inherited,
    Missing,
}

impl TranslatedText {
    pub fn state(&self, locale: &str) -> TextState {
        let language = locale.split_once('-').map(|(language, _)| language);
        match (self.translations.get(locale), language) {
            (Some(own), _) if own.text == self.common.text && has_words(own, locale) => TextState::Untranslated,
            (Some(_), _) => TextState::Translated,
            (None, Some(language)) if self.languages.iter().any(|own| own == language) => TextState::Inherited,
            (None, _) => TextState::Missing,
        }
    }
}

/// Whether a text needs a translation. A locale without a language can repeat a text.
fn has_words(own: &WrittenText, locale: &str) -> bool {
    let has_language = locale.starts_with(|c: char| c.is_ascii_lowercase());
    has_language && !own.is_file && own.text.chars().any(char::is_alphabetic)
}

impl Manifests {
    /// The texts of a target's messages in every locale.
    pub fn translations(&self, target: Option<&str>) -> TranslationTable {
        let (growth, values) = (Growth::default(), self.values(target));
        let with = self.filling(target, &values, &growth);
        let mut table = TranslationTable::default();
        for stack in self.stacks(target).stacks.iter().filter(|stack| stack.own.kind.api.speaks()) {
            let own = stack.own;
            let defaults = self.collected.defaults.get(own.kind.key);
            let node = stack.layered(defaults, &growth, &mut Vec::new());
            let pushes = pushes(node.as_ref().unwrap_or(&own.node));
            let address = Address::new(own.kind.key, own.key.value.clone()).to_string();
            for (number, push) in (1..).zip(&pushes) {
                // Its texts are those of the template.
                if push.get("template").is_some() {
                    continue;
                }
                let key = message_key(&address, number, pushes.len());
                match self.translated(push, key, own.key.span, &with) {
                    Some(message) => table.messages.push(message),
                    None => table.single += 1,
                }
            }
        }
        let of_texts = table.messages.iter().flat_map(|message| &message.texts);
        let written = of_texts.flat_map(|text| text.translations.keys().cloned());
        let folders: BTreeSet<&String> = table.messages.iter().filter_map(|message| message.folder.as_ref()).collect();
        let catalogues = self.catalogues.iter().filter(|catalogue| folders.contains(&catalogue.folder));
        let all: BTreeSet<String> = written.chain(catalogues.map(|catalogue| catalogue.locale.to_string())).collect();
        table.locales = all.into_iter().collect();
        table
    }

    /// A message with catalogues or localizations; `None` for another one.
    fn translated(&self, push: &Node, key: String, at: Span, with: &Filling) -> Option<TranslatedMessage> {
        let folder = folder_of(push, with);
        let localizations = match push.get("localizations").map(|node| &node.tree) {
            Some(Tree::List(items)) => items.as_slice(),
            _ => &[],
        };
        if folder.is_none() && localizations.is_empty() {
            return None;
        }
        let common = texts_of(push);
        let catalogues: Vec<&Catalogue> = folder.iter().flat_map(|folder| self.catalogues.of_folder(folder)).collect();
        let languages: Vec<String> = catalogues.iter().map(|catalogue| catalogue.locale.to_string()).collect();
        let mut texts: Vec<TranslatedText> = common
            .iter()
            .filter_map(|text| {
                let (field, common) = (text.field.clone(), written(text.value)?);
                Some(TranslatedText { field, common, translations: BTreeMap::new(), languages: languages.clone() })
            })
            .collect();
        let mut add = |field: &str, locale: &str, value: &Node| {
            if let (Some(text), Some(own)) = (texts.iter_mut().find(|text| text.field == field), written(value)) {
                text.translations.insert(locale.to_owned(), own);
            }
        };
        for catalogue in catalogues {
            let entries = catalogue.message(&key).and_then(|message| message.value.entries()).unwrap_or_default();
            let locale = catalogue.locale.to_string();
            entries.iter().for_each(|entry| add(&entry.key, &locale, &entry.value));
        }
        for own in localizations {
            let codes = ["language", "country"].into_iter().filter_map(|code| Some(written(own.get(code)?)?.text));
            let locale = codes.collect::<Vec<_>>().join("-");
            texts_of(own).iter().for_each(|text| add(&text.field, &locale, text.value));
        }
        Some(TranslatedMessage { key, at, folder, texts })
    }

    /// The catalogue of a locale in a folder.
    pub fn catalogue_file(&self, folder: &str, locale: &str) -> Option<FileId> {
        self.catalogues.of_folder(folder).find(|own| own.locale.to_string() == locale).map(|own| own.file)
    }
}

/// The folder that a push reads catalogues from.
fn folder_of(push: &Node, with: &Filling) -> Option<String> {
    let mut value = push.get(LOCALES)?.clone();
    variables::fill(&mut value, with, &mut Findings::default());
    match &value.tree {
        Tree::Scalar(name) if !value.is_null() => Some(files::plain(&name.text)),
        _ => None,
    }
}

fn written(node: &Node) -> Option<WrittenText> {
    match &node.tree {
        Tree::Scalar(_) if node.is_null() || node.is_unread() => None,
        Tree::Scalar(scalar) => Some(WrittenText { text: scalar.text.clone(), is_file: false, at: node.span }),
        Tree::Map(_) => Some(WrittenText { is_file: true, ..written(node.get("file")?)? }),
        Tree::List(_) => None,
    }
}
