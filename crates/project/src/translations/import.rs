//! The texts of a file for translators next to those of the catalogues.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use pushplan_model::nouns::placeholder::placeholders;
use pushplan_model::text;

use super::{ExchangedName, ExchangedText, ImportProblem, MOST, exchanged, problem, read, shown, xliff};
use crate::manifest::edit::NewText;
use crate::manifest::{Manifests, TranslatedMessage, TranslatedText, TranslationTable, variables_in};

/// The changes of a file for translators.
#[derive(Debug, Default)]
pub struct Import {
    pub changed: Vec<ChangedText>,
    /// The number of texts that the catalogues already have.
    pub unchanged: usize,
    /// The number of texts without a translation in the file.
    pub empty: usize,
}

/// A text that changes.
#[derive(Debug)]
pub struct ChangedText {
    pub locale: String,
    pub new: NewText,
    /// The text before, if there is one.
    pub old: Option<String>,
}

const REMOVE: &str = "remove the text from the file, or export the texts again";

impl Import {
    /// Compares a file with the catalogues. Texts whose common text has changed since the export are a problem, unless
    /// `outdated` allows them.
    pub fn of(
        manifests: &Manifests,
        table: &TranslationTable,
        file: &str,
        outdated: bool,
    ) -> Result<Self, Vec<ImportProblem>> {
        let known = KnownTexts::of(table);
        let (mut import, mut problems) = (Self::default(), Vec::new());
        let mut firsts: HashMap<(String, String, String), usize> = HashMap::new();
        let mut unknown_locales = BTreeSet::new();
        for text in read(file)? {
            if problems.len() >= MOST {
                problems.push(problem(text.line, "further problems are not listed", "fix these first"));
                break;
            }
            let (message, own) = match known.find(&text) {
                Ok(found) => found,
                Err(problem) => {
                    problems.push(problem);
                    continue;
                }
            };
            let place = (message.key.clone(), own.field.clone(), text.locale.clone());
            if let Some(first) = firsts.insert(place, text.line) {
                let what = format!("`{}` of `{}` for `{}`", own.field, message.key, shown(&text.locale));
                let message = format!("{what} is in the file twice, first in line {first}");
                problems.push(problem(text.line, message, "remove one of them"));
                continue;
            }
            if text.text.is_empty() {
                import.empty += 1;
                continue;
            }
            let folder = message.folder.as_deref().unwrap_or_default();
            let Some(catalogue) = manifests.catalogue_file(folder, &text.locale) else {
                if unknown_locales.insert(text.locale.clone()) {
                    let message = format!("the folder `{folder}` has no catalogue for `{}`", shown(&text.locale));
                    problems.push(problem(
                        text.line,
                        message,
                        "create an empty file with the name of the locale, such as locales/de.yaml",
                    ));
                }
                continue;
            };
            let old = own.translations.get(&text.locale).map(|own| own.text.clone());
            if old.as_ref() == Some(&text.text) {
                import.unchanged += 1;
                continue;
            }
            if !outdated && text.common.as_ref().is_some_and(|common| *common != own.common.text) {
                let message =
                    format!("the common text of `{}` of `{}` has changed since the export", own.field, message.key);
                problems.push(problem(
                    text.line,
                    message,
                    "export the texts again, or pass --outdated to import the translation anyway",
                ));
                continue;
            }
            if let Some(why) = other_placeholders(&own.common.text, &text.text) {
                let message = format!("`{}` of `{}` for `{}` {why}", own.field, message.key, text.locale);
                problems.push(problem(
                    text.line,
                    message,
                    "use the placeholders of the common text, each at least once",
                ));
                continue;
            }
            let before = message.texts.iter().map(|text| text.field.clone()).take_while(|field| *field != own.field);
            let (message, field) = (message.key.clone(), own.field.clone());
            let new = NewText { file: catalogue, message, field, before: before.collect(), text: text.text };
            import.changed.push(ChangedText { locale: text.locale, new, old });
        }
        if problems.is_empty() { Ok(import) } else { Err(problems) }
    }
}

/// The texts that a file can have.
struct KnownTexts<'t> {
    by_field: BTreeMap<(&'t str, &'t str), (&'t TranslatedMessage, &'t TranslatedText)>,
    by_unit: HashMap<String, (&'t str, &'t str)>,
    table: &'t TranslationTable,
}

impl<'t> KnownTexts<'t> {
    fn of(table: &'t TranslationTable) -> Self {
        let mut known = Self { by_field: BTreeMap::new(), by_unit: HashMap::new(), table };
        for (message, text) in exchanged(table) {
            let name = (message.key.as_str(), text.field.as_str());
            known.by_field.insert(name, (message, text));
            known.by_unit.insert(xliff::unit(&message.key, &text.field), name);
        }
        known
    }

    fn find(&self, text: &ExchangedText) -> Result<(&'t TranslatedMessage, &'t TranslatedText), ImportProblem> {
        let (message, field) = match &text.name {
            ExchangedName::Field { message, field } => (message.as_str(), field.as_str()),
            ExchangedName::Unit(id) => match self.by_unit.get(id) {
                Some(name) => *name,
                None => {
                    let message = format!("no text of a catalogue has the id `{}`", shown(id));
                    return Err(problem(text.line, message, REMOVE));
                }
            },
        };
        if let Some(found) = self.by_field.get(&(message, field)) {
            return Ok(*found);
        }
        let message = match self.table.messages.iter().find(|own| own.key == message) {
            None => match text::nearest(message, self.table.messages.iter().map(|own| own.key.as_str())) {
                Some(near) => format!("no message `{}`; did you mean `{near}`?", shown(message)),
                None => format!("no message `{}`", shown(message)),
            },
            Some(own) if own.folder.is_none() => {
                format!("the texts of `{}` are in `localizations` of its manifest, not in a catalogue", own.key)
            }
            Some(own) if own.texts.iter().any(|text| text.field == field) => {
                format!("`{}` of `{}` is in a file of its own", shown(field), own.key)
            }
            Some(own) => format!("`{}` has no text `{}`", own.key, shown(field)),
        };
        Err(problem(text.line, message, REMOVE))
    }
}

/// How the placeholders and variables of a translation differ from those of the common text.
fn other_placeholders(common: &str, own: &str) -> Option<String> {
    let (common, own) = (named(common), named(own));
    let missing: Vec<&String> = common.difference(&own).collect();
    let other: Vec<&String> = own.difference(&common).collect();
    match (missing.as_slice(), other.as_slice()) {
        ([], []) => None,
        (missing, []) => Some(format!("lacks {}", text::all_of(missing))),
        (_, other) => Some(format!("has {}, which the common text does not have", text::all_of(other))),
    }
}

/// The placeholders and the variables in a text, as written.
fn named(text: &str) -> BTreeSet<String> {
    // A doubled `$` is a `$` of the text.
    let text = &text.replace("$$", "");
    let keys = placeholders(text).map(|placeholder| format!("{{{{{}}}}}", text::short(placeholder.key, 40)));
    keys.chain(variables_in(text).map(|name| format!("${{var.{name}}}"))).collect()
}
