//! The texts of messages in every locale, and what an import changes.

pub mod json;
mod text;

use crate::manifest::{TextState, TranslatedMessage, TranslationTable};
use crate::source::Sources;
use crate::translations::Import;

pub use text::{imported, text};

/// The texts of a target, with the positions of its files.
#[derive(Debug)]
pub struct TranslationsView<'v> {
    pub table: &'v TranslationTable,
    pub target: &'v str,
    pub sources: &'v Sources,
}

/// An import of a file.
#[derive(Debug)]
pub struct ImportView<'v> {
    pub import: &'v Import,
    pub sources: &'v Sources,
    /// Whether nothing is written.
    pub is_trial: bool,
}

/// The texts of a message in one locale, counted.
#[derive(Clone, Copy, Debug, Default)]
struct LocaleCounts {
    all: usize,
    translated: usize,
    inherited: usize,
}

impl LocaleCounts {
    fn of(message: &TranslatedMessage, locale: &str) -> Self {
        let mut counts = Self { all: message.texts.len(), ..Self::default() };
        for text in &message.texts {
            match text.state(locale) {
                TextState::Translated => counts.translated += 1,
                TextState::Inherited => counts.inherited += 1,
                TextState::Untranslated | TextState::Missing => {}
            }
        }
        counts
    }

    fn is_complete(self) -> bool {
        self.translated + self.inherited == self.all
    }
}
