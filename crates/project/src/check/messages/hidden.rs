//! Invisible characters that change how a text is read.

use std::collections::BTreeMap;

use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::node::At;
use pushplan_model::text::{self, is_hidden};

use super::super::{Check, CheckScope, Dissected, Subject};
use super::{message_texts, own};

pub const CONTROLS: Check = Check { codes: &[&codes::MS108], run: CheckScope::Each(controls) };

/// The Unicode names of the characters.
const NAMES: &[(char, &str)] = &[
    ('\u{00ad}', "soft hyphen"),
    ('\u{061c}', "Arabic letter mark"),
    ('\u{200b}', "zero width space"),
    ('\u{200c}', "zero width non-joiner"),
    ('\u{200d}', "zero width joiner"),
    ('\u{200e}', "left-to-right mark"),
    ('\u{200f}', "right-to-left mark"),
    ('\u{202a}', "left-to-right embedding"),
    ('\u{202b}', "right-to-left embedding"),
    ('\u{202c}', "pop directional formatting"),
    ('\u{202d}', "left-to-right override"),
    ('\u{202e}', "right-to-left override"),
    ('\u{2060}', "word joiner"),
    ('\u{2061}', "function application"),
    ('\u{2062}', "invisible times"),
    ('\u{2063}', "invisible separator"),
    ('\u{2064}', "invisible plus"),
    ('\u{2066}', "left-to-right isolate"),
    ('\u{2067}', "right-to-left isolate"),
    ('\u{2068}', "first strong isolate"),
    ('\u{2069}', "pop directional isolate"),
    ('\u{feff}', "zero width no-break space"),
];

fn controls(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    for said in own(subject, one) {
        let shown = said.notification.into_iter().flat_map(|notification| notification.texts());
        let defaults = said.variables.into_iter().flatten().filter_map(|variable| variable.default_value.as_ref());
        for text in shown.chain(message_texts(&said)).chain(defaults) {
            look(text, findings);
        }
    }
    for value in one.parts.pushes.iter().flat_map(|push| push.substitutions.values()) {
        look(value, findings);
    }
}

/// One finding for each such character of a text, at its first occurrence.
fn look(text: &At<String>, findings: &mut Findings) {
    let mut found: BTreeMap<char, (usize, usize)> = BTreeMap::new();
    let hidden = |(at, c): &(usize, char)| is_hidden(*c) || is_idle_joiner(text, *at, *c);
    for (at, c) in text.char_indices().filter(hidden) {
        found.entry(c).or_insert((at, 0)).1 += 1;
    }
    for (c, (at, times)) in found {
        let name = format!("U+{:04X}", u32::from(c));
        let what = NAMES.iter().find(|(known, _)| *known == c).map_or(String::new(), |(_, what)| format!(" ({what})"));
        let finding = Finding::new(
            &codes::MS108,
            text.span,
            format!("the text contains {name}{what}, which is invisible, {}", place(&text[..at])),
        )
        .label(name)
        .note("such a character can change how a text reads, and search and review miss it");
        let finding = match times {
            1 => finding,
            _ => finding.note(format!("it is here {times} times")),
        };
        findings.push(finding.help("remove it; it often comes from copied text").suggest(text.span, "").within(c, 0));
    }
}

/// A joiner between Latin letters has no effect. Persian, Indic scripts and emoji need theirs.
fn is_idle_joiner(text: &str, at: usize, c: char) -> bool {
    let is_latin = |c: char| matches!(c, 'A'..='Z' | 'a'..='z' | '\u{c0}'..='\u{24f}') && c.is_alphabetic();
    matches!(c, '\u{200c}' | '\u{200d}')
        && text[..at].chars().next_back().is_some_and(is_latin)
        && text[at + c.len_utf8()..].chars().next().is_some_and(is_latin)
}

/// The position in words, because the character itself is invisible.
fn place(before: &str) -> String {
    let from = before.char_indices().rev().nth(11).map_or(0, |(at, _)| at);
    match before[from..].trim_end() {
        "" => "at its beginning".into(),
        words => format!("after {}", text::quoted(words)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hidden_character_has_a_name() {
        let hidden = (0..=u32::from(char::MAX)).filter_map(char::from_u32).filter(|c| is_hidden(*c));
        let without: Vec<char> = hidden.filter(|c| NAMES.iter().all(|(known, _)| known != c)).collect();
        // U+2065 is not assigned.
        assert_eq!(without, ['\u{2065}']);
    }

    #[test]
    fn the_place_is_told_by_the_words_before_it() {
        assert_eq!(place(""), "at its beginning");
        assert_eq!(place("Pay "), "after \"Pay\"");
        assert_eq!(place("日本語日本語日本語日本語日本語"), "after \"日本語日本語日本語日本語\"");
    }
}
