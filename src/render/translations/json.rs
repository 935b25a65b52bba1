//! The texts of messages in every locale as one JSON object.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::TranslationsView;
use crate::manifest::{TextState, TranslatedText};
use crate::source::Span;

/// The version of this format. It increases when a field is removed or changes its meaning.
const VERSION: u32 = 1;

/// The messages of one target that have texts in several locales, as written in its files.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TranslationsDocument {
    /// The version of this format.
    format_version: u32,
    /// The target.
    target: String,
    /// Every locale of a catalogue or a localization.
    locales: Vec<String>,
    messages: Vec<MessageTranslations>,
    /// Number of messages that have only common texts.
    single: usize,
}

/// A message.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MessageTranslations {
    /// The address of its resource, followed by its number if the resource has several messages.
    message: String,
    /// File and line where its resource is declared.
    place: String,
    /// The folder of its message catalogues.
    folder: Option<String>,
    texts: Vec<TextTranslations>,
}

/// A text of a message.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TextTranslations {
    /// Its field: `alert`, `ios.title`, `message.body`.
    field: String,
    /// The common text, or the name of its file.
    common: String,
    /// The translations, by locale. Every locale is in it.
    translations: BTreeMap<String, LocaleText>,
}

/// The text of one locale.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LocaleText {
    state: StateName,
    /// The text, or the name of its file.
    text: Option<String>,
    /// File and line of the text.
    place: Option<String>,
}

/// Whether there is a translation.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StateName {
    /// There is a translation.
    Translated,
    /// The text equals the common one.
    Untranslated,
    /// Devices get what the language without a country has.
    Inherited,
    /// There is none: devices get the common text.
    Missing,
}

impl From<TextState> for StateName {
    fn from(state: TextState) -> Self {
        match state {
            TextState::Translated => Self::Translated,
            TextState::Untranslated => Self::Untranslated,
            TextState::Inherited => Self::Inherited,
            TextState::Missing => Self::Missing,
        }
    }
}

/// The document of a target.
pub fn json(view: &TranslationsView) -> String {
    let TranslationsView { table, target, sources } = view;
    let place = |at: Span| sources.place(at).to_string();
    let of_locale = |text: &TranslatedText, locale: &str| {
        let own = text.translations.get(locale);
        LocaleText {
            state: text.state(locale).into(),
            text: own.map(|own| own.text.clone()),
            place: own.map(|own| place(own.at)),
        }
    };
    let messages = table.messages.iter().map(|message| MessageTranslations {
        message: message.key.clone(),
        place: place(message.at),
        folder: message.folder.clone(),
        texts: message
            .texts
            .iter()
            .map(|text| TextTranslations {
                field: text.field.clone(),
                common: text.common.text.clone(),
                translations: table.locales.iter().map(|locale| (locale.clone(), of_locale(text, locale))).collect(),
            })
            .collect(),
    });
    let document = TranslationsDocument {
        format_version: VERSION,
        target: (*target).to_owned(),
        locales: table.locales.clone(),
        messages: messages.collect(),
        single: table.single,
    };
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}
