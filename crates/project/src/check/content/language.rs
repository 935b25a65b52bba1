//! The language of a text that differs from that of its recipients.

use std::cell::Cell;

use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::node::At;
use pushplan_model::nouns::audience::{Selector, Tag};
use pushplan_model::nouns::vocabulary::{self, Values, group};
use pushplan_model::text;

use super::schedules::segment;
use super::stop_words::{is_known, language};
use super::{Check, CheckScope, Dissected, Subject, contents, place};

pub const LANGUAGE: Check = Check { codes: &[&codes::MS118], run: CheckScope::Each(other_language) };

/// The number of conditions of an audience that are evaluated, including those of its segments. A larger audience is
/// skipped.
pub const MOST: usize = 1_000;

fn other_language(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    let mut last = None;
    for sending in &one.parts.sendings {
        // All times of a schedule have the same text.
        if last == Some((sending.variant, sending.audience.span)) {
            continue;
        }
        last = Some((sending.variant, sending.audience.span));
        let Some(expected) = required(subject, sending.audience, &Cell::new(MOST)) else { continue };
        // Devices whose language has a localization do not get the common text.
        let localized = |tag: &At<String>| {
            let mut own = sending.said.localizations.iter().filter(|own| own.country.is_none());
            own.any(|own| own.language.as_ref().is_some_and(|language| language.value == tag.value))
        };
        let expected: Vec<&At<String>> = expected.into_iter().filter(|tag| !localized(tag)).collect();
        if expected.is_empty() || expected.iter().any(|tag| !is_known(tag)) {
            continue;
        }
        let contents = contents(&sending.said);
        let other = contents.iter().find_map(|content| {
            let code = language(&content.text).filter(|code| expected.iter().all(|tag| tag.value != *code))?;
            Some((content, name(code)))
        });
        let Some((content, written)) = other else { continue };
        let mut names: Vec<&str> = expected.iter().map(|tag| name(tag)).collect();
        names.dedup();
        let message = format!("the text is in {written}, but the audience's language is {}", text::any_of(&names));
        let at = place(one, sending, content);
        let finding = Finding::new(&codes::MS118, at, message).label(format!("in {written}"));
        let finding = if at == content.at { finding } else { finding.related(content.at, "the text") };
        findings.push(
            finding
                .related(expected[0].span, "the language of the audience")
                .note("to keep the text, add `lifecycle: {allow: [MS118]}`")
                .help("translate the text, or change the language of the audience"),
        );
    }
}

pub fn name(code: &str) -> &str {
    vocabulary::language(code).unwrap_or(code)
}

/// The languages of which every member of an audience has one; `None` if the audience does not require any.
pub fn required<'d>(subject: &Subject<'d>, audience: &'d Selector, left: &Cell<usize>) -> Option<Vec<&'d At<String>>> {
    left.set(left.get().checked_sub(1)?);
    match audience {
        Selector::Tag(Tag { tag, group: Some(id) }) => {
            let is_language = group(id).is_some_and(|group| matches!(group.values, Values::Language));
            (is_language && vocabulary::language(tag).is_some()).then(|| vec![tag])
        }
        Selector::And(members) => members.iter().find_map(|member| required(subject, member, left)),
        Selector::Or(members) if !members.is_empty() => {
            let each = members.iter().map(|member| required(subject, member, left));
            each.collect::<Option<Vec<_>>>().map(|all| all.concat())
        }
        Selector::Segment(reference) => required(subject, segment(subject, reference)?, left),
        _ => None,
    }
}
