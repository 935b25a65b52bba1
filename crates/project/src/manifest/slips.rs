//! Typos that break YAML or change its meaning, recognized by their form.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use granit_parser::{Event, ScalarStyle};
use pushplan_model::codes;
use pushplan_model::finding::Finding;
use pushplan_model::source::{FileId, Source, Span};
use pushplan_model::text;

use super::fields::Book;
use super::line::{SourceLine, balanced, closing};

/// Whether a word is the name of a field of any kind.
pub(crate) fn is_field(word: &str) -> bool {
    static NAMES: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
        let last = |path: &String| path.rsplit('.').next().unwrap_or_default().to_owned();
        Book::default().paths().iter().map(last).collect()
    });
    NAMES.contains(word)
}

/// The first conflict marker of git in a file, if it has any.
pub fn conflict(file: FileId, source: &Source) -> Option<Finding> {
    let is_mark = |line: &str| {
        let rest = line.strip_prefix("<<<<<<<").or_else(|| line.strip_prefix(">>>>>>>"));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let mut start = 0;
    for line in source.text.split_inclusive('\n') {
        let written = line.trim_end();
        if is_mark(written) {
            return Some(in_conflict(Span::new(file, start..start + written.len())));
        }
        start += line.len();
    }
    None
}

/// The separator of a git conflict whose other markers were removed.
pub(crate) fn half_conflict(line: &SourceLine) -> Option<Finding> {
    (line.text.trim_end() == "=======").then(|| in_conflict(line.span(0..7)))
}

fn in_conflict(at: Span) -> Finding {
    Finding::new(&codes::YM101, at, "a merge conflict is not resolved")
        .label("a conflict marker")
        .note("git writes such lines when two changes conflict")
        .help("keep the right lines, and remove those with <<<<<<<, ======= and >>>>>>>")
}

/// `-country: US`
pub(crate) fn glued_dash(at: Span) -> Finding {
    Finding::new(&codes::YM101, at, "a space is missing after the dash")
        .label("no space after it")
        .note("without the space, the dash is part of the word")
        .help("write `- ` before each item of a list")
        .suggest(at, "- ")
}

/// The dash at the beginning of a line, directly followed by a letter.
pub fn dash(line: &SourceLine) -> Option<Span> {
    let at = line.indent();
    let behind = line.text[at..].strip_prefix('-')?;
    behind.starts_with(|c: char| c.is_ascii_alphabetic()).then(|| line.span(at..at + 1))
}

/// `display_name:A` or `display_name A`.
pub fn colon(line: &SourceLine) -> Option<Finding> {
    let mut from = line.indent();
    while let Some(rest) = line.text[from..].strip_prefix("- ") {
        from = line.text.len() - rest.trim_start().len();
    }
    let written = line.text[from..].trim_end();
    let word = written.split([':', ' ']).next().filter(|word| is_field(word))?;
    let rest = &written[word.len()..];
    let end = from + word.len();
    let value = rest.trim_start_matches([':', ' ']);
    let meant = format!("{word}: {value}");
    if rest.starts_with(':') && !rest[1..].starts_with([' ', '/']) && rest.len() > 1 {
        return Some(glued_colon(line.span(end..end + 1), &meant));
    }
    (rest.starts_with(' ') && !written.contains(": ") && !written.ends_with(':')).then(|| {
        Finding::new(&codes::YM101, line.span(from..end), format!("a colon is missing after `{word}`"))
            .label("a key needs a colon")
            .help(format!("write `{}`", text::short(&meant, 80)))
            .suggest(line.span(end..end), ":")
    })
}

fn glued_colon(at: Span, meant: &str) -> Finding {
    Finding::new(&codes::YM101, at, "a space is missing after the colon")
        .label("no space after it")
        .note("without the space, the colon is part of the word")
        .help(format!("write `{}`", text::short(meant, 80)))
        .suggest(at, ": ")
}

/// A value that begins with another key: `immediate_trigger: tag_added: x`.
pub(crate) fn second_key(at: Span, value: &str) -> Option<Finding> {
    let (word, rest) = value.split_once(": ")?;
    if !is_field(word) {
        return None;
    }
    let finding = Finding::new(&codes::YM101, at, format!("`{word}` is a second key on one line"))
        .label("a map on one line needs braces");
    let braces = format!("{{{value}}}");
    Some(match rest.contains(" #") {
        true => finding.help(format!("put `{word}` on its own line, with more indentation")),
        false => finding
            .help(format!("write `{}`, or put it on its own line, with more indentation", text::short(&braces, 80)))
            .suggest(at, braces),
    })
}

/// The text after a closed bracket or quote, if it is no part of a text: a comma, or more brackets.
pub fn behind(line: &SourceLine, from: usize, value: &str) -> Option<Finding> {
    let end = if value.starts_with(['"', '\'']) { closing(value) } else { balanced(value) }?;
    let rest = value[end..].trim();
    let start = from + value[..end].len() + (value[end..].len() - value[end..].trim_start().len());
    let at = line.span(start..start + rest.len());
    if rest == "," {
        return Some(
            Finding::new(&codes::YM101, at, "a comma follows the value")
                .label("not needed here")
                .note("commas separate items in brackets; lines need none")
                .help("remove it")
                .fix(at, ""),
        );
    }
    if value.starts_with(['[', '{']) && !rest.is_empty() && !is_prose(value) && !rest.starts_with(['[', '{', ']', '}'])
    {
        return Some(
            Finding::new(&codes::YM101, at, "there is text after the closing bracket")
                .label("not expected here")
                .help("put it in the brackets or on its own line, or put the whole text in quotes"),
        );
    }
    let brackets = !rest.is_empty() && rest.chars().all(|c| "]}".contains(c));
    brackets.then(|| {
        Finding::new(&codes::YM101, at, "there is no opening bracket for this one")
            .label(
                "was not \
            opened",
            )
            .help("remove it")
    })
}

/// Whether a text in brackets is more likely a text, such as `[SALE] today`, than a list or a map.
pub fn is_prose(value: &str) -> bool {
    let end = balanced(value).unwrap_or(value.len());
    !value[..end].contains(": ") && !value[..end].contains(['"', '\''])
}

/// A `#` in brackets, after which the closing bracket is part of a comment.
pub fn comment(line: &SourceLine, open: usize) -> Option<Finding> {
    let (mut at, mut before, mut word) = (open + 1, ' ', open + 1);
    while let Some(c) = line.text[at..].chars().next() {
        let mut next = at + c.len_utf8();
        match c {
            '"' | '\'' if " [{,:".contains(before) => next = at + closing(&line.text[at..])?,
            '#' if before == ' ' => break,
            ',' | '[' | '{' => word = next,
            ':' if line.text[next..].starts_with(' ') => word = next,
            _ => {}
        }
        (at, before) = (next, c);
    }
    let comment = line.text.get(at..).filter(|comment| comment.contains(['}', ']']))?;
    let finding =
        Finding::new(&codes::YM101, line.span(at..at + 1), "a comment begins here, before the closing bracket")
            .label("begins a comment");
    let meant = line.text[word..].trim();
    let whole = meant.trim_end_matches(['}', ']']);
    let start = line.text.len() - line.text[word..].trim_start().len();
    // If more follows the text, its end is unknown.
    let simple = !comment.contains([',', '"', '\'', '[', '{']) && !whole.starts_with('#') && !whole.is_empty();
    Some(match simple {
        true => {
            let quoted = text::quoted(whole);
            let at = line.span(start..start + whole.len());
            finding
                .help(format!("a text with ` #` in it needs quotes: {}", text::short(&quoted, 80)))
                .suggest(at, quoted)
        }
        false => finding.help("a text with ` #` in it needs quotes"),
    })
}

/// `!!str 42`, or a text that begins with `!`.
pub(crate) fn yaml_tag(at: Span, written: &str, event: &Event, value: Span) -> Finding {
    let finding = Finding::new(&codes::YM103, at, format!("the tag `{written}` is not used in manifests"))
        .label("a YAML tag")
        .note("every field already has a type, so YAML tags are not needed");
    let whole = at.to(value);
    match event {
        Event::Scalar(text, ..) if written == "!!str" => {
            let quoted = text::quoted(text);
            finding.help(format!("write {}", text::short(&quoted, 80))).fix(whole, quoted)
        }
        Event::Scalar(text, ScalarStyle::Plain, ..) if !written.starts_with("!!") => {
            let quoted = text::quoted(format!("{written} {text}").trim_end());
            let help = format!("for a text that begins with `!` write {}", text::short(&quoted, 80));
            finding.help(help).suggest(whole, quoted)
        }
        _ => finding.help("remove it"),
    }
}

/// `{{NAME}}` without quotes, which YAML reads as a map in a map.
pub fn unquoted(written: &str, map: Span) -> Finding {
    let line = written.lines().next().unwrap_or(written);
    let end = line.find("}}").map_or(2, |end| end + 2);
    let placeholder = &written[..end];
    let start = map.range().start;
    let at = map.file().map_or(map, |file| Span::new(file, start..start + end));
    let message = format!("`{}` without quotes is a YAML map", text::short(placeholder, 40));
    let finding = Finding::new(&codes::YM109, at, message).label("needs quotes");
    match is_end_of_value(&line[end..]) {
        true => finding.help(format!("write {}", text::quoted(placeholder))).fix(at, text::quoted(placeholder)),
        false => finding.help("put the whole text in quotes"),
    }
}

/// Whether a value in brackets ends before the rest of its line. What follows a comma may be part of the text, unless it is another key.
fn is_end_of_value(rest: &str) -> bool {
    let rest = rest.trim_start();
    let Some(next) = rest.strip_prefix(',') else { return rest.is_empty() || rest.starts_with(['}', ']']) };
    let key = next.trim_start().split([',', '}', ']']).next().unwrap_or_default();
    key.split_once(':')
        .is_some_and(|(name, value)| is_field(name.trim()) && (value.is_empty() || value.starts_with([' ', '\t'])))
}

#[cfg(test)]
mod tests {
    use pushplan_model::source::Sources;

    use super::*;

    #[test]
    fn a_comment_in_brackets_is_told_with_the_text_that_was_meant() {
        for (line, edit) in [
            ("n: {alert: Use #SALE now}", Some("\"Use #SALE now\"")),
            ("n: {a: {b: \"x\", alert: Use #SALE}}", Some("\"Use #SALE\"")),
            ("n: {alert: Use #SALE now, b: c}", None),
        ] {
            let mut sources = Sources::default();
            let file = sources.add(Source::new("m.yaml", line));
            let finding = comment(&SourceLine::of(file, sources.get(file), 1), 3).expect(line);
            assert_eq!(sources.text(finding.at), "#");
            assert_eq!(finding.fix.as_ref().map(|fix| fix.text.as_str()), edit, "{line}");
        }
    }

    #[test]
    fn fields_of_every_kind_are_known() {
        for name in ["segments", "display_name", "tag_added", "alert", "country", "overlays"] {
            assert!(is_field(name), "{name}");
        }
        assert!(!is_field("Sale") && !is_field(""));
    }
}
