//! Localizations: their locales, and their texts next to the common ones.

use std::collections::{BTreeMap, BTreeSet};

use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::kinds::ReadableText;
use pushplan_model::node::At;
use pushplan_model::nouns::localization::Localization;
use pushplan_model::nouns::placeholder::{fill, placeholders};
use pushplan_model::nouns::vocabulary;
use pushplan_model::source::Span;
use pushplan_model::text;

use super::super::audience::locales;
use super::super::{Check, CheckScope, Dissected, Subject};
use super::{fillable, own};

pub const LOCALES: Check =
    Check { codes: &[&codes::AU106, &codes::AU107, &codes::MS122], run: CheckScope::Each(locales_of) };
pub const LOCALIZED: Check = Check { codes: &[&codes::MS123, &codes::MS124], run: CheckScope::Each(localized) };

fn locales_of(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    for said in own(subject, one) {
        let mut firsts: BTreeMap<String, Span> = BTreeMap::new();
        for own in said.localizations {
            let Localization { language, country, .. } = &own.value;
            let unknown = language.iter().filter(|code| vocabulary::language(code).is_none());
            findings.extend(unknown.map(locales::language));
            let unknown = country.iter().filter(|code| vocabulary::country(code).is_none());
            findings.extend(unknown.map(locales::country));
            let at = language.as_ref().or(country.as_ref()).map_or(own.span, |code| code.span);
            let locale = own.locale();
            if locale.is_empty() {
                findings.push(
                    Finding::new(&codes::MS122, at, "a localization without a language and a country")
                        .label("no device gets it")
                        .help("add `language: de`, `country: AT`, or both"),
                );
            } else if let Some(first) = firsts.get(&locale) {
                findings.push(
                    Finding::new(&codes::MS122, at, format!("two localizations for `{}`", text::short(&locale, 40)))
                        .label("the second")
                        .related(*first, "the first")
                        .note("it is undefined which of them a device gets")
                        .help("remove one of them"),
                );
            } else {
                firsts.insert(locale, at);
            }
        }
    }
}

fn localized(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    for common in own(subject, one) {
        for (own, said) in common.localized() {
            findings.extend(incomplete(&common, own, &said));
            findings.extend(untranslated(&common, own, &said));
        }
    }
}

/// The finding for a localization without a placeholder of the content that it replaces.
fn incomplete(common: &ReadableText, own: &At<Localization>, said: &ReadableText) -> Option<Finding> {
    // A localization replaces only what it has.
    let replaced = ReadableText {
        notification: common.notification.filter(|_| said.notification.is_some()),
        message: common.message.filter(|_| said.message.is_some()),
        ..*common
    };
    let used = keys(said);
    let missing: Vec<String> =
        keys(&replaced).difference(&used).map(|key| format!("{{{{{}}}}}", text::short(key, 40))).collect();
    if missing.is_empty() {
        return None;
    }
    let at = fillable(said).next().map_or(own.span, |text| text.span);
    let locale = text::short(&own.locale(), 40);
    let finding = Finding::new(&codes::MS123, at, format!("the text for `{locale}` lacks {}", text::all_of(&missing)))
        .label("the common text has it")
        .note("these devices get a text without the value");
    Some(finding.help("add it, or allow the code if the text needs no value"))
}

/// The keys of the placeholders in a content.
fn keys<'d>(said: &ReadableText<'d>) -> BTreeSet<&'d str> {
    fillable(said).flat_map(|text| placeholders(text).map(|placeholder| placeholder.key)).collect()
}

/// The finding for a text that equals the common one although its language differs.
fn untranslated(common: &ReadableText, own: &At<Localization>, said: &ReadableText) -> Option<Finding> {
    own.language.as_ref()?;
    let common = named(common);
    let mut both = named(said).into_iter().filter_map(|(name, own)| {
        let (_, common) = common.iter().find(|(other, _)| *other == name)?;
        Some((*common, name, own))
    });
    let (first, name, at) = both.find(|(common, _, own)| common.trim() == own.trim() && has_words(own))?;
    let locale = text::short(&own.locale(), 40);
    // A catalogue can leave out texts.
    let (at, is_left_out) = if at.span == first.span { (own.span, true) } else { (at.span, false) };
    let message = match is_left_out {
        true => format!("the {name} has no translation for `{locale}`"),
        false => format!("the {name} for `{locale}` equals the common one"),
    };
    let finding = Finding::new(&codes::MS124, at, message)
        .label("not translated")
        .related(first.span, format!("the common {name}"));
    Some(finding.help(match is_left_out {
        true => "add it to the texts of this message, or allow the code if the common text is meant",
        false => "translate it, or remove the localization if the common content is meant",
    }))
}

/// The texts that a content shows before a tap, and its message, each with its name.
fn named<'d>(said: &ReadableText<'d>) -> Vec<(String, &'d At<String>)> {
    let mut texts = Vec::new();
    if let Some(notification) = said.notification {
        texts.extend(notification.alert.as_ref().map(|text| ("text".to_owned(), text)));
        for (device, shown) in notification.overrides() {
            let of = |name: &str| format!("{name} on {device}");
            texts.extend(shown.heads().into_iter().filter_map(|(name, text)| Some((of(name), text?))));
        }
    }
    if let Some(message) = said.message {
        texts.push(("title of the message".to_owned(), &message.title));
        texts.push(("body of the message".to_owned(), &message.body));
    }
    texts
}

/// Whether a text has letters outside of its placeholders.
fn has_words(text: &str) -> bool {
    fill(text, |_| Some("")).chars().any(char::is_alphabetic)
}
