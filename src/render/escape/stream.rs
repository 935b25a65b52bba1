//! The last look at whatever is written to standard output and standard error for people to read.
//!
//! Forms of output make texts visible as they build lines. What they cannot know is where a line begins once it is wrapped
//! and indented, and one of them could forget; so it is done here, for all of them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::text::{escape, marked};

/// What a terminal or a log shows, and nothing that it obeys:
///
/// - of all controls, line breaks and colours alone remain;
/// - no line begins with `::`, and none holds `##[` or `##word[`: CI systems would take them for commands;
/// - right-to-left text is kept apart from what stands around it;
/// - where only ASCII can be shown, there is nothing else.
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

/// Nearly all lines: nothing in them needs a closer look.
fn is_harmless(line: &str) -> bool {
    let mut last = 0;
    line.bytes().all(|byte| {
        let twice = byte == last && matches!(byte, b':' | b'#');
        last = byte;
        matches!(byte, b' '..=b'~') && !twice
    })
}

/// Returns whether a line needs no closer look if signs that are common in plans are allowed too. Each sign is one column wide,
/// is visible, and is read from left to right.
fn is_calm(line: &str) -> bool {
    let mut last = ' ';
    line.chars().all(|c| {
        let twice = c == last && matches!(c, ':' | '#');
        last = c;
        matches!(c, ' '..='~' | '…' | '—' | '–' | '“' | '”' | '→' | '─' | '·') && !twice
    })
}

/// A line, and its colours apart from it: they change neither what is read nor what a command is.
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
            // What ends here ends before a new colour, what begins here begins after it.
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

/// A text in which no CI system finds a command, wherever it is in a line, as long as it does not begin one.
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

/// How long the colour is that a text begins with: `ESC [ 1 ; 31 m`. No other sequence is written by us.
fn color(text: &str) -> usize {
    let Some(inside) = text.strip_prefix("\u{1b}[") else { return 0 };
    let digits = inside.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
    if inside[digits..].starts_with('m') { digits + 3 } else { 0 }
}

/// Where commands begin that CI systems obey. One reads `::name::` at the beginning of a line, whatever spaces stand before
/// it; others read `##[name]`, `##vso[name]` and their like anywhere.
fn commands(line: &str) -> Vec<usize> {
    let start = line.len() - line.trim_start().len();
    // Three and a space stand before the second place of a finding; a command has a name there.
    let is_first = line[start..].starts_with("::") && !line[start..].starts_with("::: ");
    let first = is_first.then_some(start);
    first.into_iter().chain(signs(line)).collect()
}

/// Where `##[name]` and its like begin.
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

/// Where right-to-left text begins and ends, with the signs that keep it apart.
///
/// A terminal or a browser that follows the Unicode rules for direction would otherwise read `"אב" -> "גד"` as one text
/// from right to left: new and old would change places, and so would columns. Each value is therefore isolated, by
/// first strong character, as a whole where it is in quotes. These two signs are the only controls of direction ever
/// written; those within data are escaped before, so that data can neither open nor close an isolate. They take no
/// columns, and a terminal that does not know them ignores them. Lines without right-to-left letters hold none.
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
            // Marks upon the last letter belong to it.
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

/// Where a value may end, and how much is there: quotes, an arrow, the marks of a difference, a gap between columns.
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

/// Letters of Hebrew, Arabic and the other scripts that run from right to left.
fn is_right_to_left(c: char) -> bool {
    matches!(c,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10800}'..='\u{10fff}'
        | '\u{1e800}'..='\u{1efff}')
}

/// A text for a terminal that shows ASCII alone.
pub fn ascii(text: &str) -> String {
    let mut signs = Signs::default();
    let mut out = String::with_capacity(text.len() + 16);
    text.chars().for_each(|c| signs.push(&mut out, c));
    out
}

/// Writes ASCII in place of other characters: for our own signs something like them, and an escape for
/// everything within quotes, where texts from files and services stand. An ellipsis is ours also there.
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
