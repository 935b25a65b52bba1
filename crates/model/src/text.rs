//! Texts for people: suggestions, lists, counts; and texts that are safe to show.

mod hidden;
mod visible;

pub use hidden::{escape, goes_on, is_plain, is_printable, marked};
pub use visible::{line_breaks, moment, one_line, visible};

use std::borrow::Cow;

/// Returns the candidate that `word` was probably meant to be.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    let allowed = match length {
        0..=1 => 0,
        2..=4 => 1,
        5..=8 => 2,
        _ => 3,
    };
    // Lengths and letters rule out most candidates cheaply, so that a long list or an endless word does no harm.
    let letters = letters(word);
    let mut near = candidates
        .into_iter()
        .filter(|candidate| candidate.chars().count().abs_diff(length) <= allowed)
        .filter(|candidate| (self::letters(candidate) ^ letters).count_ones() as usize <= 2 * allowed)
        .peekable();
    near.peek()?;
    let lower = word.to_lowercase();
    near.map(|candidate| (strsim::osa_distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The maximum number of the user's own words that are searched.
const FEW: usize = 100;

/// Returns the candidate that `word` was probably meant to be, among the user's own words. It returns `None` if there are very
/// many candidates: each wrong word would have to be compared with all of them, and there can be many of both.
pub fn nearest_of_few<'a>(word: &str, candidates: impl ExactSizeIterator<Item = &'a str>) -> Option<&'a str> {
    if candidates.len() > FEW { None } else { nearest(word, candidates) }
}

/// Returns the letters of a word, ignoring case, as one bit each. An edit changes at most two of them.
fn letters(word: &str) -> u64 {
    word.chars().fold(0, |bits, c| bits | 1 << (u32::from(c.to_lowercase().next().unwrap_or(c)) & 63))
}

/// Returns the only name that has `word` as one of its parts: `trigger` is a part of `immediate_trigger`.
pub(crate) fn with_part<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    only(names.into_iter().filter(|name| is_part(word, name)))
}

/// Returns the only name that is one of the parts of `word`: `group` is a part of `tag_group`.
pub fn part_of<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    only(names.into_iter().filter(|name| is_part(name, word)))
}

fn is_part(part: &str, whole: &str) -> bool {
    whole.split('_').any(|one| one.eq_ignore_ascii_case(part))
}

fn only<'a>(mut names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    names.next().filter(|_| names.next().is_none())
}

/// Joins words: `a`, `a or b`, `a, b or c`.
pub fn any_of<S: AsRef<str>>(words: &[S]) -> String {
    list(words, "or")
}

/// Joins several lines to one: `a; b`.
pub fn in_one(lines: &str) -> String {
    lines.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}

/// Joins words: `a`, `a and b`, `a, b and c`.
pub fn all_of<S: AsRef<str>>(words: &[S]) -> String {
    list(words, "and")
}

fn list<S: AsRef<str>>(words: &[S], last: &str) -> String {
    match words {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [most @ .., end] => {
            let mut out = String::with_capacity(words.iter().map(|word| word.as_ref().len() + 4).sum());
            for (number, word) in most.iter().enumerate() {
                out.push_str(if number > 0 { ", " } else { "" });
                out.push_str(word.as_ref());
            }
            for part in [" ", last, " ", end.as_ref()] {
                out.push_str(part);
            }
            out
        }
    }
}

/// Returns a duration in whole minutes, or in seconds: `5 minutes`, `90 seconds`.
pub fn minutes(seconds: i64) -> String {
    let seconds = usize::try_from(seconds).unwrap_or_default();
    if seconds > 0 && seconds.is_multiple_of(60) { count(seconds / 60, "minute") } else { count(seconds, "second") }
}

/// Returns a number with its noun: `1 error`, `2 errors`, `2 pushes`.
pub fn count(number: usize, noun: &str) -> String {
    let mut out = number.to_string();
    for part in [" ", noun, if number == 1 { "" } else { ending(noun) }] {
        out.push_str(part);
    }
    out
}

/// Returns the plural of a noun: `errors`, `pushes`.
pub fn many(noun: &str) -> String {
    [noun, ending(noun)].concat()
}

fn ending(noun: &str) -> &'static str {
    if noun.ends_with(['s', 'x']) || noun.ends_with("sh") || noun.ends_with("ch") { "es" } else { "s" }
}

/// Whether a text matches a pattern, in which `*` matches any characters, and `\*` a star.
pub fn is_like(pattern: &str, text: &str) -> bool {
    let parts = around_stars(pattern);
    let Some((first, parts)) = parts.split_first() else { return false };
    let Some(mut rest) = text.strip_prefix(&**first) else { return false };
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(&**part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(&**last)
}

/// Returns the parts of a pattern between its stars, except escaped ones.
fn around_stars(pattern: &str) -> Vec<Cow<'_, str>> {
    if !pattern.contains(r"\*") {
        return pattern.split('*').map(Cow::Borrowed).collect();
    }
    let (mut parts, mut part) = (Vec::new(), String::new());
    let mut rest = pattern;
    while let Some(at) = rest.find('*') {
        match rest[..at].strip_suffix('\\') {
            Some(before) => part.extend([before, "*"]),
            None => {
                part.push_str(&rest[..at]);
                parts.push(Cow::Owned(std::mem::take(&mut part)));
            }
        }
        rest = &rest[at + 1..];
    }
    part.push_str(rest);
    parts.push(Cow::Owned(part));
    parts
}

/// Returns the pattern that matches only this text.
pub fn pattern_of(text: &str) -> String {
    text.replace('*', r"\*")
}

/// Quotes a text as one word of a shell command.
pub fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// Returns a text in double quotes for YAML, on one line and with every character visible.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for (_, c, hidden) in marked(text) {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if hidden => out.push_str(&escape(c)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Returns at most `most` characters of a text in double quotes, all of them visible.
pub fn quoted_short(text: &str, most: usize) -> String {
    let end = text.char_indices().nth(most).map_or(text.len(), |(end, _)| whole(text, end));
    let mut out = quoted(&text[..end]);
    if end < text.len() {
        out.insert(out.len() - 1, '…');
    }
    out
}

/// Returns at most `most` characters of a text, on one line, for use inside a message, all of them visible.
pub fn short(text: &str, most: usize) -> String {
    // Nearly always there is nothing to change.
    if text.len() <= most && is_printable(text) {
        return text.to_owned();
    }
    let end = text.char_indices().nth(most).map_or(text.len(), |(end, _)| whole(text, end));
    let mut out = String::with_capacity(end);
    for (_, c, hidden) in marked(&text[..end]) {
        if hidden { out.push_str(&escape(c)) } else { out.push(c) }
    }
    if end < text.len() {
        out.push('…');
    }
    out
}

/// Returns the position at or before another one that splits neither an emoji nor a letter and its marks.
fn whole(text: &str, mut end: usize) -> usize {
    while let (Some(before), Some(next)) = (text[..end].chars().next_back(), text[end..].chars().next()) {
        if !goes_on(before, next) {
            break;
        }
        end -= before.len_utf8();
    }
    end
}

/// Whether people copy a character without knowing: bidirectional and zero-width controls. The two joiners are not
/// among them, because emoji and many scripts need them. More characters have to be escaped to be visible, see
/// [`marked`].
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{061c}' | '\u{00ad}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_suggested_and_far_ones_are_not() {
        assert_eq!(nearest("tagg", ["tag", "group"]), Some("tag"));
        assert_eq!(nearest("Lapsed-buyer", ["lapsed-buyers", "new"]), Some("lapsed-buyers"));
        assert_eq!(nearest("x", ["y"]), None);
        assert_eq!(nearest("country", ["timezone", "language"]), None);
    }

    #[test]
    fn a_star_stands_for_any_letters_and_an_escaped_one_for_itself() {
        assert!(is_like("a*c*", "abcd") && !is_like("a*c", "abcd") && is_like("*", ""));
        assert!(
            is_like(r"M\*", "M*") && !is_like(r"M\*", "Mine") && is_like(r"*\**", "a*b") && !is_like(r"*\**", "ab")
        );
        for text in ["M*", "plain", r"a\b", r"a\*", "**"] {
            assert!(is_like(&pattern_of(text), text), "{text}");
            assert!(!is_like(&pattern_of(text), &text.replace('*', "x")) || !text.contains('*'), "{text}");
        }
    }

    #[test]
    fn of_very_many_words_none_is_suggested() {
        let words: Vec<String> = (0..=FEW).map(|n| format!("name{n}")).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert_eq!(nearest_of_few("name1x", words.iter().copied()), None);
        assert_eq!(nearest_of_few("name1x", words[1..].iter().copied()), Some("name1"));
    }

    #[test]
    fn a_part_of_a_name_is_near_if_no_other_name_has_it() {
        assert_eq!(with_part("trigger", ["enabled", "immediate_trigger"]), Some("immediate_trigger"));
        assert_eq!(with_part("tag", ["add_tag", "remove_tag"]), None);
        assert_eq!(part_of("tag_group", ["group"]), Some("group"));
        assert_eq!(part_of("tagging", ["tag"]), None);
    }

    #[test]
    fn a_text_is_not_cut_within_what_is_seen_as_one() {
        assert_eq!(short("abc", 2), "ab…");
        assert_eq!(short("a👩\u{200d}👧b", 2), "a…");
        assert_eq!(short("ae\u{301}b", 2), "a…");
        assert_eq!(short("a\u{1b}b", 2), "a\\x1B…");
    }

    #[test]
    fn quoting_survives_awkward_text() {
        assert_eq!(quoted("a\"b\\\n\u{202e}"), r#""a\"b\\\n\u202E""#);
    }
}
