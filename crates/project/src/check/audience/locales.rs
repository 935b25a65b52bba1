//! Language and country codes.

use pushplan_model::codes;
use pushplan_model::finding::Finding;
use pushplan_model::node::At;
use pushplan_model::nouns::vocabulary::{self, COUNTRIES, LANGUAGES};
use pushplan_model::text;

use super::tags::{SILENT, correct, shown, suggest, suggest_with};

/// Wrong codes for languages with the right ones: codes of countries, and withdrawn codes.
const LANGUAGE_SLIPS: &[(&str, &str)] = &[
    ("cn", "zh"),
    ("cz", "cs"),
    ("dk", "da"),
    ("gb", "en"),
    ("gr", "el"),
    ("in", "id"),
    ("iw", "he"),
    ("ji", "yi"),
    ("jp", "ja"),
    ("kr", "ko"),
    ("ua", "uk"),
    ("us", "en"),
];

/// Wrong codes for countries with the right ones: codes of languages, and everyday names.
const COUNTRY_SLIPS: &[(&str, &str)] = &[
    ("CS", "CZ"),
    ("DA", "DK"),
    ("EL", "GR"),
    ("GBR", "GB"),
    ("JA", "JP"),
    ("KO", "KR"),
    ("UK", "GB"),
    ("USA", "US"),
    ("ZH", "CN"),
];

pub fn language(tag: &At<String>) -> Finding {
    let message = format!("{} is not an ISO 639-1 language code", shown(tag));
    let finding = Finding::new(&codes::AU106, tag.span, message).label("expected two lowercase letters, such as en");
    let finding = finding.note(SILENT);
    let lower = tag.to_ascii_lowercase();
    if vocabulary::language(&lower).is_some() {
        return correct(finding, tag, &lower);
    }
    if let Some((language, country)) = locale(tag) {
        let help = format!("write `{language}`; the country is a separate condition, {{country: {country}}}");
        return suggest_with(finding, tag, &language, help);
    }
    match slip(&lower, LANGUAGE_SLIPS).or_else(|| by_name(tag, LANGUAGES)) {
        Some(code) => named(finding, tag, code, vocabulary::language(code)),
        None => finding,
    }
}

pub fn country(tag: &At<String>) -> Finding {
    let message = format!("{} is not an ISO 3166-1 country code", shown(tag));
    let finding = Finding::new(&codes::AU107, tag.span, message).label("expected two capital letters, such as US");
    let finding = finding.note(SILENT);
    let upper = tag.to_ascii_uppercase();
    if vocabulary::country(&upper).is_some() {
        return correct(finding, tag, &upper);
    }
    if let Some((language, country)) = locale(tag) {
        let help = format!("write `{country}`; the language is a separate condition, {{language: {language}}}");
        return suggest_with(finding, tag, &country, help);
    }
    if let Some((country, _)) = upper.split_once(['-', '_']).filter(|(head, _)| vocabulary::country(head).is_some()) {
        return suggest(finding, tag, country);
    }
    match slip(&upper, COUNTRY_SLIPS).or_else(|| by_name(tag, COUNTRIES)) {
        Some(code) => named(finding, tag, code, vocabulary::country(code)),
        None => finding,
    }
}

/// Splits `en-US` and `en_US` into two codes.
fn locale(tag: &str) -> Option<(String, String)> {
    let (language, country) = tag.split_once(['-', '_'])?;
    let (language, country) = (language.to_ascii_lowercase(), country.to_ascii_uppercase());
    let both = vocabulary::language(&language).is_some() && vocabulary::country(&country).is_some();
    // `CA-QC` is a part of a country: a locale begins with a lower-case language.
    both.then_some((language, country)).filter(|(language, _)| tag.starts_with(language.as_str()))
}

fn slip(code: &str, slips: &[(&str, &'static str)]) -> Option<&'static str> {
    slips.iter().find(|(written, _)| *written == code).map(|(_, meant)| *meant)
}

/// The code for a name, or for the only name that begins with these three letters.
fn by_name(tag: &str, table: &[(&'static str, &'static str)]) -> Option<&'static str> {
    let lower = tag.to_lowercase();
    if lower.chars().count() == 3 {
        let mut begun = table.iter().filter(|(_, name)| name.to_lowercase().starts_with(&lower));
        return match (begun.next(), begun.next()) {
            (Some((code, _)), None) => Some(code),
            _ => None,
        };
    }
    let near = text::nearest(tag, table.iter().map(|(_, name)| *name).filter(|name| name.len() > 3))?;
    table.iter().find(|(_, name)| *name == near).map(|(code, _)| *code)
}

fn named(finding: Finding, tag: &At<String>, code: &str, name: Option<&str>) -> Finding {
    match name {
        Some(name) => suggest_with(finding, tag, code, format!("did you mean `{code}`, {name}?")),
        None => suggest(finding, tag, code),
    }
}
