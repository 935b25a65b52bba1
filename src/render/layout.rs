//! Lines for a terminal: labels at the left, texts that wrap below themselves, and optional colours.

mod place;

pub use place::{head, paragraph, rows};

use std::borrow::Cow;
use std::fmt::Write;

use anstyle::{AnsiColor, Effects};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::escape::stream;

use crate::text::{is_printable, one_line};

/// The properties of the terminal.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    pub width: usize,
    pub color: bool,
    /// The terminal shows only ASCII: signs have replacements, and other characters are escaped.
    pub ascii: bool,
}

impl Style {
    /// Text as written to a file.
    pub const PLAIN: Self = Self { width: 100, color: false, ascii: false };

    /// Narrows the style by this number of columns.
    pub fn narrower(self, columns: usize) -> Self {
        Self { width: self.width.saturating_sub(columns), ..self }
    }
}

/// The meaning of a text, which selects its colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Paint {
    #[default]
    Plain,
    Faint,
    Strong,
    /// Something added.
    New,
    /// Something removed.
    Old,
    /// Something changed.
    Changed,
    /// A decision or a manual step.
    Asks,
    /// Something that recipients will notice.
    Danger,
}

impl Paint {
    fn style(self) -> anstyle::Style {
        match self {
            Self::Plain => anstyle::Style::new(),
            Self::Faint => anstyle::Style::new().effects(Effects::DIMMED),
            Self::Strong => anstyle::Style::new().bold(),
            Self::New => AnsiColor::Green.on_default(),
            Self::Old => AnsiColor::Red.on_default(),
            Self::Changed => AnsiColor::Yellow.on_default(),
            Self::Asks => AnsiColor::Magenta.on_default(),
            Self::Danger => AnsiColor::Red.on_default().bold(),
        }
    }
}

/// A text with its colour.
pub(crate) fn painted(text: &str, paint: Paint, style: Style) -> String {
    let mut out = String::with_capacity(text.len());
    put(&mut out, text, paint, style);
    out
}

fn put(out: &mut String, text: &str, paint: Paint, style: Style) {
    if paint == Paint::Plain || !style.color || text.is_empty() {
        return out.push_str(text);
    }
    let paint = paint.style();
    let _ = write!(out, "{paint}{text}{paint:#}");
}

/// The width of a text in columns. Nearly all texts are printable ASCII.
fn columns(text: &str) -> usize {
    if is_printable(text) { text.len() } else { text.width() }
}

fn blanks(out: &mut String, mut number: usize) {
    const SOME: &str = "                                                                ";
    while number > 0 {
        let some = &SOME[..number.min(SOME.len())];
        out.push_str(some);
        number -= some.len();
    }
}

/// A text in several colours. Nothing in it moves the cursor or begins a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    pieces: Vec<Piece>,
    /// The indent of all lines but the first.
    hang: usize,
}

/// A part of a text, in one colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub text: String,
    pub paint: Paint,
    /// The piece is never broken.
    pub whole: bool,
    /// The piece is meant to be copied.
    pub copied: bool,
}

impl Words {
    pub fn new(text: &str) -> Self {
        Self::default().and(text)
    }

    pub fn and(self, text: &str) -> Self {
        self.paint(text, Paint::Plain)
    }

    pub(crate) fn paint(mut self, text: &str, paint: Paint) -> Self {
        self.pieces.push(Piece { text: one_line(text), paint, whole: false, copied: false });
        self
    }

    /// Something to copy, such as a command.
    pub fn copy(mut self, text: &str) -> Self {
        self.pieces.push(Piece { text: one_line(text), paint: Paint::Strong, whole: true, copied: true });
        self
    }

    /// A request, whose ids users may copy.
    pub(crate) fn request(mut self, text: &str) -> Self {
        self.pieces.push(Piece { text: one_line(text), paint: Paint::Plain, whole: false, copied: true });
        self
    }

    /// Words that stay on one line if they fit on one.
    pub fn together(mut self, text: &str, paint: Paint) -> Self {
        self.pieces.push(Piece { text: one_line(text), paint, whole: true, copied: false });
        self
    }

    /// Begins with a sign that stands alone at the left of all lines.
    pub fn after(sign: &str, paint: Paint) -> Self {
        let words = Self::default().paint(sign, paint);
        Self { hang: columns(sign), ..words }
    }

    /// Indents all lines but the first by this many columns.
    pub fn beneath(self, columns: usize) -> Self {
        Self { hang: columns, ..self }
    }

    /// The sign that stands alone at the left of all lines, if any, and the rest.
    pub fn pieces(&self) -> (Option<&Piece>, &[Piece]) {
        match self.pieces.split_first() {
            Some((sign, rest)) if self.hang > 0 => (Some(sign), rest),
            _ => (None, &self.pieces),
        }
    }

    /// The text without colours.
    pub fn plain(&self) -> String {
        self.pieces.iter().map(|piece| piece.text.as_str()).collect()
    }

    /// The width of the whole text in columns.
    fn columns(&self) -> usize {
        match &self.pieces[..] {
            [one] => columns(&one.text),
            pieces if pieces.iter().all(|piece| piece.text.is_ascii()) => {
                pieces.iter().map(|piece| columns(&piece.text)).sum()
            }
            _ => self.plain().width(),
        }
    }

    /// The text as the terminal can show it.
    fn in_style(&self, style: Style) -> Cow<'_, Self> {
        if !style.ascii || self.pieces.iter().all(|piece| piece.text.is_ascii()) {
            return Cow::Borrowed(self);
        }
        let mut words = self.clone();
        words.pieces.iter_mut().for_each(|piece| piece.text = stream::ascii(&piece.text));
        Cow::Owned(words)
    }

    /// Whether the whole text is one unchanged line that fits in this number of columns. If this is false,
    /// [`Self::lines`] decides.
    fn is_one_line(&self, width: usize, style: Style) -> bool {
        let all: usize = self.pieces.iter().map(|piece| piece.text.len()).sum();
        !style.color && all <= width && self.pieces.iter().all(|piece| is_printable(&piece.text))
    }

    /// Breaks the text into lines of at most this number of columns. Wider words are broken, except those that are
    /// meant to be copied.
    fn lines(&self, width: usize, style: Style) -> Vec<String> {
        let width = width.max(8 + self.hang);
        let mut lines = Vec::new();
        let (mut line, mut column) = (String::new(), 0);
        for piece in &self.in_style(style).pieces {
            // Most pieces fit on the rest of the line and need no break.
            let all = columns(&piece.text);
            let fits = !style.color && piece.text.is_ascii() && column + all <= width && !piece.text.is_empty();
            let kept = piece.copied || piece.whole && all <= width - self.hang;
            if fits && (lines.is_empty() || column > self.hang || !piece.text.starts_with(' ')) {
                line.push_str(&piece.text);
                column += all;
                continue;
            }
            if !kept && !style.color && is_easy(&piece.text, width - self.hang) {
                self.fill(&piece.text, width, &mut lines, (&mut line, &mut column));
                continue;
            }
            let words = if kept { vec![piece.text.as_str()] } else { words(&piece.text, width - self.hang) };
            for word in words {
                let bare = word.trim_end_matches(' ');
                let start = if lines.is_empty() { 0 } else { self.hang };
                if column > start && column + columns(bare) > width {
                    // An opening bracket stays with the next word.
                    let is_open = kept && line.ends_with(" (") && line.pop().is_some();
                    trim(&mut line);
                    lines.push(std::mem::take(&mut line));
                    blanks(&mut line, self.hang);
                    line.push_str(if is_open { "(" } else { "" });
                    column = self.hang + usize::from(is_open);
                }
                // A space at a line break is dropped; it is no indent.
                if bare.is_empty() && !lines.is_empty() && column == self.hang {
                    continue;
                }
                put(&mut line, bare, piece.paint, style);
                line.push_str(&word[bare.len()..]);
                column += columns(word);
            }
        }
        trim(&mut line);
        if !line.is_empty() || lines.is_empty() {
            lines.push(line);
        }
        lines
    }

    /// Appends a text for which `is_easy` holds: each line gets as much as fits on it, up to a space.
    fn fill(&self, text: &str, width: usize, lines: &mut Vec<String>, (line, column): (&mut String, &mut usize)) {
        let mut rest = text;
        loop {
            if !lines.is_empty() && *column == self.hang {
                rest = rest.trim_start_matches(' ');
            }
            if rest.is_empty() {
                return;
            }
            let fits = width.checked_sub(*column).and_then(|room| match rest.get(..=room) {
                Some(beginning) => beginning.rfind(' ').map(|space| space + 1),
                None => Some(rest.len()),
            });
            match fits {
                Some(end) => {
                    line.push_str(&rest[..end]);
                    *column += end;
                    rest = &rest[end..];
                }
                None => {
                    trim(line);
                    lines.push(std::mem::take(line));
                    blanks(line, self.hang);
                    *column = self.hang;
                }
            }
        }
    }
}

/// Whether a text is printable ASCII and each of its words fits on a line.
fn is_easy(text: &str, width: usize) -> bool {
    is_printable(text) && text.as_bytes().split(|byte| *byte == b' ').all(|word| word.len() <= width)
}

/// Removes trailing white space.
fn trim(line: &mut String) {
    line.truncate(line.trim_end().len());
}

/// Splits a text into pieces that each fit: words with the spaces after them, and parts of words that are too wide.
fn words(text: &str, width: usize) -> Vec<&str> {
    let mut found = Vec::new();
    for word in text.split_inclusive(' ') {
        // Nearly all words fit; no character is wider than two columns per byte.
        if word.len() * 2 <= width || columns(word.trim_end_matches(' ')) <= width {
            found.push(word);
            continue;
        }
        // Paths are broken between their segments if possible, so ids stay whole.
        let (mut start, mut column, mut slash) = (0, 0, 0);
        for (at, cluster) in word.grapheme_indices(true) {
            let wide = cluster.width();
            if column + wide > width && cluster != " " && at > start {
                let end = if slash > start { slash } else { at };
                found.push(&word[start..end]);
                (start, column) = (end, word[end..at].width());
            }
            column += wide;
            if cluster == "/" {
                slash = at + 1;
            }
        }
        found.push(&word[start..]);
    }
    found
}

/// A label and its texts: one text per line, which wraps below itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub label: String,
    pub paint: Paint,
    pub lines: Vec<Words>,
}

impl Row {
    pub fn new(label: &str, words: Words) -> Self {
        Self { label: one_line(label), paint: Paint::Faint, lines: vec![words] }
    }

    pub(crate) fn paint(mut self, paint: Paint) -> Self {
        self.paint = paint;
        self
    }

    /// The label as the terminal can show it.
    fn label(&self, style: Style) -> Cow<'_, str> {
        match style.ascii {
            true => Cow::Owned(stream::ascii(&self.label)),
            false => Cow::Borrowed(&self.label),
        }
    }

    /// Puts a text before the first line.
    pub fn after(mut self, text: &str) -> Self {
        if let Some(line) = self.lines.first_mut() {
            line.pieces.insert(0, Piece { text: one_line(text), paint: Paint::Plain, whole: false, copied: false });
        }
        self
    }

    pub fn line(mut self, words: Words) -> Self {
        self.lines.push(words);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLAIN: Style = Style { width: 40, ..Style::PLAIN };

    #[test]
    fn texts_go_on_beneath_themselves() {
        let mut out = String::new();
        let long = Words::new("one two three four five six seven eight nine");
        rows(&mut out, &[Row::new("label", long).line(Words::new("ten"))], 4, PLAIN);
        let gap = " ".repeat(15);
        assert_eq!(out, format!("    label      one two three four five\n{gap}six seven eight nine\n{gap}ten\n"));
    }

    #[test]
    fn a_wide_label_has_its_text_beneath_it() {
        let mut out = String::new();
        let path = "a.very.long.path.of.a.field";
        rows(&mut out, &[Row::new(path, Words::new("text")), Row::new(path, Words::new("a longer text"))], 0, PLAIN);
        assert_eq!(out, format!("{path}  text\n{path}\n           a longer text\n"));
    }

    #[test]
    fn a_line_does_not_begin_with_the_gap_before_it() {
        for (gap, second) in [(" ", "b"), ("  ", "b"), ("     ", "b")] {
            let first = "a".repeat(40);
            assert_eq!(Words::new(&first).and(gap).together(second, Paint::Plain).lines(40, PLAIN), [&*first, second]);
        }
    }

    #[test]
    fn a_path_is_broken_between_its_parts() {
        let words =
            Words::after("1 ", Paint::Plain).and("/api/experiments/scheduled/8e80a367-8368-4cad-a887-f821b472413e");
        let lines = ["1 /api/experiments/scheduled/", "  8e80a367-8368-4cad-a887-f821b472413e"];
        assert_eq!(words.lines(40, PLAIN), lines);
        // A copied text that is too wide for a line is broken anywhere.
        let words = Words::new("/a/").and(&"x".repeat(50));
        assert_eq!(words.lines(40, PLAIN).len(), 3);
    }

    #[test]
    fn what_is_copied_is_never_broken() {
        let command = "pushplan resolve scheduled_pushes/black-friday --created ID";
        let lines = Words::new("say ").copy(command).lines(20, PLAIN);
        assert_eq!(lines, ["say", command]);
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_terminal(
            text in "[a-z日😀\u{1b}\n\t ]{0,200}",
            label in "[a-z日é]{1,60}",
            width in 20..100usize,
            ascii in any::<bool>(),
        ) {
            let style = Style { width, color: true, ascii };
            let mut out = String::new();
            rows(&mut out, &[Row::new(&label, Words::new(&text).paint(&text, Paint::New))], 4, style);
            for line in anstream::adapter::strip_str(&out).to_string().lines() {
                prop_assert!(line.width() <= width, "{line:?}");
            }
        }
    }
}
