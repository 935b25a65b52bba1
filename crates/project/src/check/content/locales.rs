//! Localizations next to the languages and countries of the audience.

use std::cell::Cell;
use std::collections::BTreeSet;

use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::kinds::Sending;
use pushplan_model::node::At;
use pushplan_model::nouns::audience::{Selector, Tag};
use pushplan_model::nouns::localization::Localization;
use pushplan_model::nouns::vocabulary::{Values, group};
use pushplan_model::text;

use super::language::{MOST, name, required};
use super::schedules::segment;
use super::stop_words::language;
use super::{Check, CheckScope, Dissected, Subject, contents};

pub const AUDIENCE_LOCALES: Check =
    Check { codes: &[&codes::MS125, &codes::MS126], run: CheckScope::Each(audience_locales) };

fn audience_locales(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    let mut last = None;
    for sending in &one.parts.sendings {
        // All times of a schedule have the same text. Other audiences use the texts of a template as well.
        if last == Some(sending.variant) || sending.said.borrowed {
            continue;
        }
        last = Some(sending.variant);
        let own = sending.said.localizations;
        findings.extend(own.iter().filter_map(|own| unreachable(subject, sending, own)));
        findings.extend(missing(subject, sending));
    }
}

/// The finding for a localization that no device of the audience can get.
fn unreachable(subject: &Subject, sending: &Sending, own: &At<Localization>) -> Option<Finding> {
    let locale = [&own.language, &own.country].map(|code| code.as_ref().map(|code| code.as_str()));
    if locale == [None, None] || can_match(subject, sending.audience, locale, false, &Cell::new(MOST)) {
        return None;
    }
    let at = own.language.as_ref().or(own.country.as_ref()).map_or(own.span, |code| code.span);
    let message = format!("no device of the audience can have the locale `{}`", text::short(&own.locale(), 40));
    let finding = Finding::new(&codes::MS125, at, message).label("never sent");
    Some(finding.related(sending.audience.span, "the audience").help("remove it, or change the audience"))
}

/// Whether a device with this language and country can match the selector. Other conditions are not evaluated, so the
/// answer may be yes for an impossible combination.
fn can_match(
    subject: &Subject,
    selector: &Selector,
    locale: [Option<&str>; 2],
    negated: bool,
    left: &Cell<usize>,
) -> bool {
    let Some(rest) = left.get().checked_sub(1) else { return true };
    left.set(rest);
    let each = |member: &Selector, negated: bool| can_match(subject, member, locale, negated, left);
    match selector {
        Selector::Or(members) if members.is_empty() => true,
        Selector::And(members) if negated => members.iter().any(|member| each(member, true)),
        Selector::And(members) => members.iter().all(|member| each(member, false)),
        Selector::Or(members) if negated => members.iter().all(|member| each(member, true)),
        Selector::Or(members) => members.iter().any(|member| each(member, false)),
        Selector::Not(member) => each(member, !negated),
        Selector::Tag(Tag { tag, group: Some(id) }) => {
            let has = match group(id).map(|group| group.values) {
                Some(Values::Language) => locale[0],
                Some(Values::Country) => locale[1],
                _ => None,
            };
            has.is_none_or(|has| (has == tag.value) != negated)
        }
        Selector::Segment(reference) => segment(subject, reference).is_none_or(|own| each(own, negated)),
        _ => true,
    }
}

/// The finding for languages of the audience that get the common text although it is in another language.
fn missing(subject: &Subject, sending: &Sending) -> Option<Finding> {
    let own = sending.said.localizations;
    let translated: BTreeSet<&str> = own.iter().filter_map(|own| own.language.as_deref().map(String::as_str)).collect();
    let first = own.iter().find_map(|own| own.language.as_ref())?;
    let required = required(subject, sending.audience, &Cell::new(MOST))?;
    let mut codes: Vec<&str> = required.iter().map(|tag| tag.as_str()).collect();
    codes.sort_unstable();
    codes.dedup();
    let without: Vec<&str> = codes.iter().copied().filter(|code| !translated.contains(code)).collect();
    let texts = contents(&sending.said);
    let common = texts.iter().find_map(|content| language(&content.text));
    let without: Vec<&str> = match common {
        // The language of the common text is known.
        Some(common) if without.contains(&common) => without.into_iter().filter(|code| *code != common).collect(),
        // MS118 reports a common text in another language.
        Some(_) => return None,
        // The common text is in one of them.
        None if without.len() < 2 => return None,
        None => without,
    };
    if without.is_empty() {
        return None;
    }
    let names: Vec<&str> = without.iter().map(|code| name(code)).collect();
    let (names, at) = (text::all_of(&names), required[0].span);
    let message = format!("the audience has devices in {names}, and the message has no text for them");
    let finding = Finding::new(&codes::MS126, first.span, message).label("not the only language of the audience");
    let finding = finding.related(at, "the languages of the audience").note("these devices get the common text");
    Some(finding.help(match common {
        None => "add a localization for each language but that of the common text, or change the audience".to_owned(),
        Some(_) => format!("add a localization for {}, or change the audience", text::all_of(&quoted(&without))),
    }))
}

fn quoted(codes: &[&str]) -> Vec<String> {
    codes.iter().map(|code| format!("`{code}`")).collect()
}
