//! Files for translators: texts of catalogues as XLIFF 2.0 and as CSV, and their way back.

mod csv;
mod import;
mod xliff;

pub use import::{ChangedText, Import};

use pushplan_model::text;

use crate::manifest::{TranslatedMessage, TranslatedText, TranslationTable};

/// A form of a file for translators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExchangeFormat {
    Csv,
    Xliff,
}

/// A problem of a file for translators. Nothing of the file is imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportProblem {
    /// Counted from 1.
    pub line: usize,
    pub message: String,
    pub help: &'static str,
}

/// A text of a file for translators.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ExchangedText {
    line: usize,
    /// The key of the message and the field; for XLIFF, the id of the unit.
    name: ExchangedName,
    locale: String,
    /// The common text that was translated, if the file has it.
    common: Option<String>,
    /// Empty: not translated.
    text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ExchangedName {
    Field { message: String, field: String },
    Unit(String),
}

/// The largest number of problems that are reported for one file.
const MOST: usize = 50;

/// Writes the texts of catalogues in some locales, for translators. `source` is the language of the common texts. XLIFF
/// has only the first locale.
pub fn export(table: &TranslationTable, format: ExchangeFormat, source: &str, locales: &[String]) -> String {
    match (format, locales) {
        (ExchangeFormat::Xliff, [locale, ..]) => xliff::written(table, source, locale),
        (ExchangeFormat::Xliff, []) => String::new(),
        (ExchangeFormat::Csv, locales) => csv::written(table, locales),
    }
}

/// The texts that translators get: those in catalogues, without those in files of their own.
pub fn exchanged(table: &TranslationTable) -> impl Iterator<Item = (&TranslatedMessage, &TranslatedText)> {
    let messages = table.messages.iter().filter(|message| message.folder.is_some());
    messages
        .flat_map(|message| message.texts.iter().map(move |text| (message, text)))
        .filter(|(_, text)| !text.common.is_file && text.translations.values().all(|own| !own.is_file))
}

/// Reads the texts of a file: XLIFF if it begins with `<`, otherwise CSV.
fn read(file: &str) -> Result<Vec<ExchangedText>, Vec<ImportProblem>> {
    let content = file.strip_prefix('\u{feff}').unwrap_or(file);
    if content.trim_start().starts_with('<') { xliff::read(content) } else { csv::read(content) }
}

fn problem(line: usize, message: impl Into<String>, help: &'static str) -> ImportProblem {
    ImportProblem { line, message: message.into(), help }
}

/// A name of a file as shown in a message.
fn shown(name: &str) -> String {
    text::one_line(&text::short(name, 80))
}
