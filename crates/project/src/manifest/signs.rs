//! Characters that look like YAML syntax and are not: typographic quotes and non-ASCII blanks. Word processors and chat
//! programs insert them, and YAML treats them as letters.

use std::ops::Range;

use pushplan_model::codes;
use pushplan_model::finding::Finding;
use pushplan_model::node::yaml_text;
use pushplan_model::source::{FileId, Span};
use pushplan_model::text;

use super::line::SourceLine;

/// The closing quotes for each opening one, and whether people write them instead of straight quotes. Angled ones are
/// more often part of the text.
const QUOTES: &[(char, &[char], bool)] = &[
    ('“', &['”', '“', '‟'], true),
    ('”', &['”'], true),
    ('„', &['“', '”'], true),
    ('‟', &['”'], true),
    ('‘', &['’'], true),
    ('’', &['’'], true),
    ('‚', &['‘', '’'], true),
    ('«', &['»'], false),
    ('»', &['«'], false),
    ('‹', &['›'], false),
    ('›', &['‹'], false),
];

/// The number of bytes in which a closing quote is searched: a longer text is not written on one line.
const FAR: usize = 4096;

fn is_quote(c: char) -> bool {
    QUOTES.iter().any(|(open, ..)| *open == c)
}

/// A blank that YAML treats as a letter.
fn is_blank(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}

/// The role of a scalar without quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Key,
    /// A value after its key, on the same line.
    Value,
    /// A value at the beginning of a line or an item, which could also be a key.
    Free,
}

/// The problem of a scalar without quotes, and its end, which is after the scalar if that is only a part of the
/// intended value.
pub(crate) fn in_scalar(file: FileId, text: &str, scalar: Range<usize>, role: Role) -> Option<(Finding, usize)> {
    let written = text.get(scalar.clone())?;
    if written.is_ascii() {
        return None;
    }
    if written.starts_with(is_quote) {
        let end = text.floor_char_boundary(scalar.start + FAR.max(written.len()));
        let line = text[scalar.start..end].lines().next().unwrap_or(written);
        return Some(quotes(file, scalar.start, line, written.len(), role));
    }
    let blank = misplaced_blank(written, role)?;
    let at = Span::new(file, scalar.start + blank.start..scalar.start + blank.end);
    Some((blanks(at, &written[blank]), usize::MAX))
}

/// The problem at the beginning of an unreadable line or after its key.
pub fn in_line(line: &SourceLine, reached: usize) -> Option<Finding> {
    if line.text.is_ascii() || line.text.len() > FAR {
        return None;
    }
    if let Some(blank) = misplaced_blank(line.text, Role::Free) {
        return Some(blanks(line.span(blank.clone()), &line.text[blank]));
    }
    let mut before = ' ';
    for (at, c) in line.text.char_indices() {
        if is_quote(c) && "[{,:- ".contains(before) {
            let rest = &line.text[at..];
            let role = if before == ':' { Role::Value } else { Role::Free };
            // In brackets, a text ends with its quote; elsewhere it extends to the end of the line.
            let in_brackets = line.text[..at].contains(['[', '{']);
            let value = if in_brackets { 0 } else { rest.trim_end().len() };
            let (finding, end) = quotes(line.file, line.start + at, rest, value, role);
            let end = end - line.start;
            let is_text = line.text[..at].matches('"').count() % 2 == 1;
            if !is_text && end > at && (end == at + value || (at..=end).contains(&reached)) {
                return Some(finding);
            }
        }
        if c != ' ' {
            before = c;
        }
    }
    None
}

/// The range of non-ASCII blanks instead of a space: at the beginning, after a dash or after a key.
fn misplaced_blank(written: &str, role: Role) -> Option<Range<usize>> {
    let run = |text: &str, from: usize| {
        let rest = text[from..].trim_start_matches(is_blank);
        from..text.len() - rest.len()
    };
    let mut start = 0;
    for (number, line) in written.split('\n').enumerate() {
        let at = |range: Range<usize>| start + range.start..start + range.end;
        let indent = line.len() - line.trim_start_matches([' ', '\t', '-']).len();
        let own = number > 0 || role != Role::Value;
        if (number == 0 || own) && line[indent..].starts_with(is_blank) {
            return Some(at(run(line, indent)));
        }
        let word = line[indent..].find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)));
        if let Some(colon) =
            word.map(|end| indent + end).filter(|end| own && *end > indent && line[*end..].starts_with(':'))
            && line[colon + 1..].starts_with(is_blank)
        {
            return Some(at(run(line, colon + 1)));
        }
        start += line.len() + 1;
    }
    let kept = written.trim_end_matches(is_blank).len();
    (role == Role::Key && kept < written.len()).then_some(kept..written.len())
}

fn blanks(at: Span, written: &str) -> Finding {
    let number = written.chars().next().map_or(0, u32::from);
    let name = match number {
        0xa0 | 0x202f => "a non-breaking space".to_owned(),
        _ => format!("the space character U+{number:04X}"),
    };
    let plain = " ".repeat(written.chars().count());
    Finding::new(&codes::YM112, at, format!("{name} is used instead of a plain space"))
        .label("not a plain space")
        .note("it looks like a space, but for YAML it is a letter")
        .help("replace it with a plain space")
        .fix(at, plain)
}

/// The problem of a text that begins with a typographic quote, and its end. `line` is the rest of the line from the
/// quote, and `length` the number of bytes that YAML reads.
fn quotes(file: FileId, start: usize, line: &str, length: usize, role: Role) -> (Finding, usize) {
    let open = line.chars().next().unwrap_or('“');
    let (_, closing, replaces) = QUOTES.iter().find(|(quote, ..)| *quote == open).unwrap_or(&QUOTES[0]);
    let ends = |behind: &str| {
        let rest = behind.trim_start();
        rest.is_empty()
            || rest.starts_with([',', '}', ']'])
            || (rest.starts_with('#') && rest.len() < behind.len())
            || (rest.starts_with(':') && !rest[1..].starts_with(|c: char| !c.is_whitespace()))
    };
    let closed = line.char_indices().skip(1).find(|(at, c)| closing.contains(c) && ends(&line[at + c.len_utf8()..]));
    let from = |end: usize| Span::new(file, start..start + end);
    let finding = |at| {
        Finding::new(&codes::YM111, at, format!("`{open}` is not a quote to YAML"))
            .label("a typographic quote")
            .note("YAML has two quotes, \" and '; all others are letters of the text")
    };
    match closed.map(|(at, c)| (at, at + c.len_utf8())).filter(|(_, end)| *end >= length) {
        Some((close, end)) => {
            let inner = &line[open.len_utf8()..close];
            let straight = if role == Role::Key { yaml_text(inner) } else { text::quoted(inner) };
            let both = text::quoted(&line[..end]);
            let help = match role {
                Role::Key => format!("write {}", text::short(&straight, 80)),
                _ => format!(
                    "to show the quotes write {}, otherwise {}",
                    text::short(&both, 60),
                    text::short(&straight, 60)
                ),
            };
            let simple = *replaces && !inner.contains(|c| c == open || closing.contains(&c));
            let finding = finding(from(end)).help(help);
            let finding = if simple { finding.fix(from(end), straight) } else { finding.suggest(from(end), straight) };
            (finding, start + end)
        }
        None => {
            let whole = line.get(..length).unwrap_or(line).trim_end();
            let quoted = text::quoted(whole);
            let at = from(whole.len());
            let finding =
                finding(at).help(format!("put the whole text in straight quotes: {}", text::short(&quoted, 80)));
            (finding.suggest(at, quoted), start + length)
        }
    }
}

#[cfg(test)]
mod tests {
    use pushplan_model::source::{Source, Sources};

    use super::*;

    fn blank(written: &str, role: Role) -> Option<&str> {
        misplaced_blank(written, role).map(|range| &written[range])
    }

    #[test]
    fn only_a_blank_in_the_place_of_a_space_is_misplaced() {
        for (written, role, found) in [
            ("\u{a0}\u{a0}criteria", Role::Key, Some("\u{a0}\u{a0}")),
            ("alert\u{a0}", Role::Key, Some("\u{a0}")),
            ("alert:\u{3000}Hello", Role::Key, Some("\u{3000}")),
            ("alert:\u{a0}Hello", Role::Free, Some("\u{a0}")),
            ("-\u{a0}country", Role::Key, Some("\u{a0}")),
            ("\u{a0}Hello", Role::Value, Some("\u{a0}")),
            ("Now:\u{a0}10\u{a0}% off", Role::Value, None),
            ("10\u{a0}% off", Role::Free, None),
            ("Bonjour\u{a0}! Promo:\u{a0}10", Role::Free, None),
            ("Hello\u{a0}", Role::Value, None),
        ] {
            assert_eq!(blank(written, role), found, "{written:?} {role:?}");
        }
    }

    #[test]
    fn a_pair_of_quotes_reaches_to_its_end() {
        let mut sources = Sources::default();
        let file = sources.add(Source::new("m.yaml", ""));
        for (line, length, role, fix, safe) in [
            ("“Hello”", 11, Role::Value, "\"Hello\"", true),
            ("“Hello, friend”}", 8, Role::Value, "\"Hello, friend\"", true),
            ("‘It’s on’, x", 14, Role::Value, "\"It’s on\"", false),
            ("“alert”: Hi", 11, Role::Key, "alert", true),
            ("„Hallo“ # remark", 11, Role::Value, "\"Hallo\"", true),
            ("«Bonjour»", 11, Role::Value, "\"Bonjour\"", false),
            ("“Sale” today", 16, Role::Value, "\"“Sale” today\"", false),
            ("’Tis the season", 17, Role::Value, "\"’Tis the season\"", false),
        ] {
            let (finding, _) = quotes(file, 0, line, length, role);
            let made = finding.fix.expect("an edit");
            assert_eq!((made.text.as_str(), made.safe), (fix, safe), "{line}");
        }
    }
}
