//! Escaping of text in Markdown, for comments and pages of code hosts.
//!
//! Special characters are written as character references, `&#42;` for `*`. Unlike a backslash, these have the same
//! meaning in a paragraph, a table and raw HTML, and no block begins with one. A zero-width space, `&#8203;`, prevents
//! hosts from interpreting plain words after the Markdown is parsed, such as a mention of `@name`. Data never contains
//! one itself, because it is escaped like all invisible characters.

use crate::render::{one_line, visible};

/// Separates the texts before and after it.
const APART: &str = "&#8203;";

/// Escapes a text on one line: for a paragraph, a heading, a list item, a table cell, or raw HTML such as `<summary>`.
/// It is read as exactly this text: no markup, no link, no mention, no reference, no emoji.
pub fn text(text: &str) -> String {
    let line = one_line(text);
    let mut out = String::with_capacity(line.len() + line.len() / 4);
    let bytes = line.as_bytes();
    let inner = line.trim();
    let start = line.len() - line.trim_start().len();
    let end = start + inner.len();
    let mut word = Word::default();
    for (at, c) in line.char_indices() {
        let next = bytes.get(at + 1).copied().unwrap_or(b' ');
        if word.splits(&line, at, c) {
            out.push_str(APART);
        }
        let first = at == start;
        // A special character at either end could combine with our own text.
        let is_edge = (first && c.is_ascii_punctuation()) || (at + c.len_utf8() == end && "!:/-#@".contains(c));
        let is_number = matches!(c, '.' | ')') && line[start..at].bytes().all(|byte| byte.is_ascii_digit());
        let is_sign = match c {
            c if c.is_whitespace() => at < start || at >= end,
            // Between letters and digits it has no meaning.
            '_' => !(next.is_ascii_alphanumeric() && at > 0 && bytes[at - 1].is_ascii_alphanumeric()),
            '&' | '<' | '>' | '"' | '\\' | '`' | '*' | '~' | '[' | ']' | '|' | '#' | '$' | '^' => true,
            // References on other hosts: `!12`, `%34`.
            '!' | '%' => next.is_ascii_digit() || matches!(next, b'[' | b'"'),
            _ => false,
        };
        if is_sign || is_edge || is_number {
            out.push_str(&format!("&#{};", u32::from(c)));
        } else {
            out.push(c);
        }
        if parts_after(&line, at, c) {
            out.push_str(APART);
        }
    }
    out
}

/// Whether the text after a character would make a reference of it: `@name`, `#12`, `GH-12`, `http://`, `www.`,
/// `:name:`, `[x]`.
fn parts_after(line: &str, at: usize, c: char) -> bool {
    let rest = &line[at + c.len_utf8()..];
    let next = rest.chars().next().unwrap_or(' ');
    let before = |word: &str| {
        let start = at.saturating_sub(word.len());
        line.get(start..at).is_some_and(|found| found.eq_ignore_ascii_case(word))
    };
    match c {
        '@' => !next.is_whitespace(),
        '#' => next.is_ascii_alphanumeric(),
        '-' => next.is_ascii_digit() && before("gh"),
        // A scheme, or an emoji.
        ':' => {
            let name = rest.trim_start_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | '+' | '-'));
            rest.starts_with("//")
                || before("mailto")
                || before("xmpp")
                || (name.len() < rest.len() && name.starts_with(':'))
        }
        'w' | 'W' => next == '.' && before("ww"),
        // A checkbox.
        '[' => rest.chars().nth(1) == Some(']'),
        _ => false,
    }
}

/// Splits words that could be a commit id.
#[derive(Debug, Default)]
struct Word {
    /// The end of the digits, and the next position to split.
    end: usize,
    next: usize,
}

impl Word {
    /// The shortest commit id is one digit longer.
    const PART: usize = 6;

    fn splits(&mut self, line: &str, at: usize, c: char) -> bool {
        if at >= self.end && c.is_ascii_hexdigit() {
            let rest = &line.as_bytes()[at..];
            let length = rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
            (self.end, self.next) = (at + length, at + Self::PART);
        }
        let splits = at < self.end && at == self.next;
        if splits {
            self.next += Self::PART;
        }
        splits
    }
}

/// Escapes a text on one line and formats commit ids as code, so that they can be copied.
pub fn with_commits(text: &str) -> String {
    let is_commit = |word: &str| {
        (7..=40).contains(&word.len())
            && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
            && word.bytes().any(|byte| byte.is_ascii_digit())
    };
    let read = |plain: &str| {
        let gap = |is_there: bool| if is_there { " " } else { "" };
        // After code, a closing bracket has no special meaning.
        let (end, plain) = plain.strip_prefix(')').map_or(("", plain), |rest| (")", rest));
        format!("{end}{}{}{}", gap(plain.starts_with(' ')), self::text(plain.trim()), gap(plain.ends_with(' ')))
    };
    let (mut out, mut done, mut at) = (String::new(), 0, 0);
    while let Some(start) = text[at..].find(|c: char| c.is_ascii_alphanumeric()).map(|start| at + start) {
        let length = text[start..].find(|c: char| !c.is_ascii_alphanumeric());
        let end = length.map_or(text.len(), |length| start + length);
        if is_commit(&text[start..end]) {
            out.push_str(&read(&text[done..start]));
            out.push_str(&code(&text[start..end]));
            done = end;
        }
        at = end;
    }
    out + &read(&text[done..])
}

/// Formats a text within a line as code. It is read as exactly this text. Not for a table, whose cells end at a `|`:
/// see [`code_in_html`].
pub fn code(text: &str) -> String {
    let line = one_line(text);
    if line.is_empty() {
        return code_in_html(text);
    }
    let fence = "`".repeat(longest_run(&line, '`') + 1);
    let is_stripped = line.starts_with(' ') && line.ends_with(' ') && !line.trim_matches(' ').is_empty();
    let pad = if line.starts_with('`') || line.ends_with('`') || is_stripped { " " } else { "" };
    format!("{fence}{pad}{line}{pad}{fence}")
}

/// Formats a text as code in a table or within raw HTML.
pub fn code_in_html(text: &str) -> String {
    format!("<code>{}</code>", self::text(text))
}

/// Formats lines as a block of code, with the final line break. `info` names the language, such as `diff`.
///
/// The fence is longer than any run of its character in the text. The caller indents the lines of a block, such as in a
/// list. Some bots read commands such as `/merge` also in blocks: lines of data should have a prefix, as in a diff.
pub fn block(info: &str, text: &str) -> String {
    let lines = visible(text);
    let fence = "`".repeat(longest_run(&lines, '`').max(longest_run(&lines, '~')).max(2) + 1);
    let info: String = info.chars().filter(|c| c.is_ascii_alphanumeric() || "-+_".contains(*c)).collect();
    let end = if lines.is_empty() || lines.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{info}\n{lines}{end}{fence}\n")
}

fn longest_run(text: &str, sign: char) -> usize {
    text.split(|c| c != sign).map(str::len).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_words() {
        for plain in
            ["Hi there, come back (20% off)", "segments/lapsed-buyers", "09:00 on 27 Nov", "+1 for", "Grüße 日本 👩‍👧"]
        {
            let read = text(plain).replace("&#43;", "+");
            assert_eq!(read, plain);
        }
    }

    #[test]
    fn signs_and_references_are_taken_apart() {
        for (data, written) in [
            ("# a", "&#35; a"),
            ("1. a", "1&#46; a"),
            ("a\n- b", "a - b"),
            ("  a  ", "&#32;&#32;a&#32;&#32;"),
            ("@team a@b.c", "&#64;&#8203;team a@&#8203;b.c"),
            ("o/r#12 GH-3", "o/r&#35;&#8203;12 GH-&#8203;3"),
            ("www.x https://x", "www&#8203;.x https:&#8203;//x"),
            ("a :tada: b", "a :&#8203;tada: b"),
            ("is 0123abcd", "is 0123ab&#8203;cd"),
            ("a\u{202e}", "a&#92;u202E"),
        ] {
            assert_eq!(text(data), written);
        }
    }

    #[test]
    fn fences_are_longer_than_what_they_hold() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("``a`"), "``` ``a` ```");
        assert_eq!(code(" a "), "`  a  `");
        assert_eq!(code(""), "<code></code>");
        assert_eq!(block("di\nff`", "a\n```\n~~~~"), "`````diff\na\n```\n~~~~\n`````\n");
        assert_eq!(block("", ""), "```\n```\n");
    }
}
