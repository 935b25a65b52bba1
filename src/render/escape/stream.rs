//! The last check of text output to standard output and standard error.
//!
//! Output forms escape texts while they build lines. But they do not know the beginnings of lines after wrapping and
//! indentation, and one of them could forget to escape; so it is done here, for all of them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::text::{escape, marked};

/// Makes a text safe for a terminal or a log:
///
/// - of all control characters, only line breaks and colours remain;
/// - no line begins with `::`, and none contains `##[` or `##word[`, which CI systems would read as commands;
/// - right-to-left text is isolated from the text around it;
/// - if only ASCII can be shown, all other characters are replaced.
pub fn text(text: &str, ascii: bool) -> Cow<'_, str> {
    let is_harmless = |line: &str| is_harmless(line) || (!ascii && is_calm(line));
    if text.split('\n').all(is_harmless) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 64);
    for line in text.split_inclusive('\n') {
        if is_harmless(line.strip_suffix('\n').unwrap_or(line)) {
            out.push_str(line);
        } else {
            ColoredLine::new(line).write(&mut out, ascii);
        }
    }
    Cow::Owned(out)
}

/// Whether a line needs no further check, like nearly all lines.
fn is_harmless(line: &str) -> bool {
    let mut last = 0;
    line.bytes().all(|byte| {
        let twice = byte == last && matches!(byte, b':' | b'#');
        last = byte;
        matches!(byte, b' '..=b'~') && !twice
    })
}

/// Returns whether a line needs no further check if common characters of plans are allowed too. Each of these is one
/// column wide, visible, and read from left to right.
fn is_calm(line: &str) -> bool {
    let mut last = ' ';
    line.chars().all(|c| {
        let twice = c == last && matches!(c, ':' | '#');
        last = c;
        matches!(c, ' '..='~' | '…' | '—' | '–' | '“' | '”' | '→' | '─' | '·') && !twice
    })
}

/// A line without its colours, which change neither its text nor a command in it.
struct ColoredLine<'l> {
    plain: String,
    colors: Vec<(usize, &'l str)>,
}

impl<'l> ColoredLine<'l> {
    fn new(line: &'l str) -> Self {
        let (mut plain, mut colors) = (String::with_capacity(line.len()), Vec::new());
        let mut rest = line;
        while let Some(start) = rest.find('\u{1b}') {
            plain.push_str(&rest[..start]);
            let length = color(&rest[start..]);
            match length {
                0 => plain.push('\u{1b}'),
                _ => colors.push((plain.len(), &rest[start..start + length])),
            }
            rest = &rest[start + length.max(1)..];
        }
        plain.push_str(rest);
        Self { plain, colors }
    }

    fn write(&self, out: &mut String, ascii: bool) {
        let commands = commands(&self.plain);
        let isolates = if ascii { BTreeMap::new() } else { isolates(&self.plain) };
        let mut colors = self.colors.iter().peekable();
        let mut signs = Signs::default();
        for (at, c, hidden) in marked(&self.plain) {
            // An isolate that ends here ends before a new colour, and one that begins here begins after it.
            let isolate = isolates.get(&at).copied();
            out.extend(isolate.filter(|sign| *sign == POP));
            while let Some((_, code)) = colors.next_if(|(place, _)| *place <= at) {
                out.push_str(code);
            }
            out.extend(isolate.filter(|sign| *sign == ISOLATE));
            match c {
                '\n' => out.push(c),
                c if hidden || commands.binary_search(&at).is_ok() => out.push_str(&escape(c)),
                c if ascii => signs.push(out, c),
                c => out.push(c),
            }
        }
        out.extend(isolates.get(&self.plain.len()));
        colors.for_each(|(_, code)| out.push_str(code));
    }
}

/// Removes possible CI commands within a line, but not at its beginning.
pub fn unsigned(text: &str) -> Cow<'_, str> {
    if !text.contains("##") {
        return Cow::Borrowed(text);
    }
    let signs: Vec<usize> = signs(text).collect();
    Cow::Owned(text.char_indices().fold(String::with_capacity(text.len() + 8), |mut out, (at, c)| {
        if signs.binary_search(&at).is_ok() {
            out.push_str(&escape(c));
        } else {
            out.push(c);
        }
        out
    }))
}

/// The length of the colour sequence at the beginning of a text: `ESC [ 1 ; 31 m`. We write no other sequence.
fn color(text: &str) -> usize {
    let Some(inside) = text.strip_prefix("\u{1b}[") else { return 0 };
    let digits = inside.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
    if inside[digits..].starts_with('m') { digits + 3 } else { 0 }
}

/// The starts of CI commands. One system reads `::name::` at the beginning of a line, after any spaces; others read
/// `##[name]`, `##vso[name]` and similar forms anywhere.
fn commands(line: &str) -> Vec<usize> {
    let start = line.len() - line.trim_start().len();
    // Three colons and a space precede the second place of a finding; a command would have a name there.
    let is_first = line[start..].starts_with("::") && !line[start..].starts_with("::: ");
    let first = is_first.then_some(start);
    first.into_iter().chain(signs(line)).collect()
}

/// The starts of `##[name]` and similar forms.
fn signs(line: &str) -> impl Iterator<Item = usize> {
    let bytes = line.as_bytes();
    let pairs = (1..bytes.len()).filter(|end| bytes[*end] == b'#' && bytes[end - 1] == b'#').map(|end| end - 1);
    pairs.filter(|at| {
        let name = line[at + 2..].trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        name.starts_with('[')
    })
}

const ISOLATE: char = '\u{2068}';
const POP: char = '\u{2069}';

/// The starts and ends of right-to-left text, with the characters that isolate it.
///
/// A terminal or a browser that follows the Unicode rules for direction would otherwise read `"אב" -> "גד"` as one text
/// from right to left: new and old would be swapped, and so would columns. Each value is therefore isolated, by first
/// strong character, as a whole if it is in quotes. These two characters are the only direction controls in the output;
/// those within data are escaped before, so data can neither open nor close an isolate. They take no columns, and a
/// terminal that does not support them ignores them. Lines without right-to-left letters have none.
fn isolates(line: &str) -> BTreeMap<usize, char> {
    let mut found = BTreeMap::new();
    if !line.contains(is_right_to_left) {
        return found;
    }
    let mut start = 0;
    let mut opened = false;
    while start < line.len() {
        let (end, gap) = boundary(line, start);
        let stretch = &line[start..end];
        let closes = line[end..].starts_with('"');
        if let Some(first) = stretch.find(is_right_to_left) {
            let last = stretch.rfind(is_right_to_left).unwrap_or(first);
            // Combining marks after the last letter belong to it.
            let tail = stretch[last..].find(|c: char| c.is_ascii() || c.is_whitespace());
            let inner = (start + first, tail.map_or(end, |tail| start + last + tail));
            let (from, to) = if opened && closes { (start, end) } else { inner };
            found.insert(from, ISOLATE);
            found.insert(to, POP);
        }
        opened = closes && !opened;
        start = end + gap;
    }
    found
}

/// The possible end of a value, and the length of the separator: quotes, an arrow, the marks of a difference, a gap
/// between columns.
fn boundary(line: &str, start: usize) -> (usize, usize) {
    const SIGNS: [&str; 8] = ["->", "→", "[-", "-]", "{+", "+}", "  ", "\n"];
    let mut escaped = false;
    for (at, c) in line[start..].char_indices() {
        let rest = &line[start + at..];
        if c == '"' && !escaped {
            return (start + at, 1);
        }
        if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            return (start + at, sign.len());
        }
        escaped = c == '\\' && !escaped;
    }
    (line.len(), 0)
}

/// Letters of Hebrew, Arabic and the other right-to-left scripts.
fn is_right_to_left(c: char) -> bool {
    matches!(c,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10800}'..='\u{10fff}'
        | '\u{1e800}'..='\u{1efff}')
}

/// Converts a text for a terminal that only supports ASCII.
pub fn ascii(text: &str) -> String {
    let mut signs = Signs::default();
    let mut out = String::with_capacity(text.len() + 16);
    text.chars().for_each(|c| signs.push(&mut out, c));
    out
}

/// Writes ASCII instead of other characters: a similar text for our own characters, and an escape for everything in
/// quotes, where texts from files and services are. An ellipsis is ours also there.
#[derive(Debug, Default)]
struct Signs {
    quoted: bool,
    escaped: bool,
}

impl Signs {
    fn push(&mut self, out: &mut String, c: char) {
        if c.is_ascii() {
            self.quoted ^= c == '"' && !self.escaped;
            self.escaped = c == '\\' && !self.escaped;
            return out.push(c);
        }
        self.escaped = false;
        match sign(c).filter(|_| !self.quoted || c == '…') {
            Some(sign) => out.push_str(sign),
            None => out.push_str(&escape(c)),
        }
    }
}

fn sign(c: char) -> Option<&'static str> {
    Some(match c {
        '±' => "*",
        '·' | '•' => "o",
        '≠' => "#",
        '…' => "...",
        '→' => "->",
        '←' => "<-",
        '–' | '—' | '─' | '━' => "-",
        '│' | '┃' | '├' | '┤' => "|",
        '└' | '╰' => "`",
        '┌' | '┐' | '┘' | '┬' | '┴' | '┼' | '╭' | '╮' | '╯' => "+",
        '×' => "x",
        '≤' => "<=",
        '≥' => ">=",
        '✓' | '✔' => "v",
        '✗' | '✘' => "x",
        '░' => ".",
        '▒' | '▓' => ":",
        '█' | '▀' | '▄' => "#",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closer_look_leaves_a_calm_line_as_it_is() {
        let every: String = ('\0'..=char::MAX).filter(|c| is_calm(&c.to_string())).collect();
        assert!(every.contains('…') && every.len() > 95, "the usual signs are among them: {every}");
        let mut looked_at = String::new();
        ColoredLine::new(&every).write(&mut looked_at, false);
        assert_eq!(looked_at, every);
        for loud in ["::error::a", "a ##[group]", "\u{1b}[31ma", "\u{202e}a", "a\tb", "\u{5d0}"] {
            assert!(!is_calm(loud), "{loud:?}");
        }
    }
}
