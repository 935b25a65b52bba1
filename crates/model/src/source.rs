//! The texts that were read, and positions in them.
//!
//! A [`Span`] is three numbers, so that every value of a project can have one. Lines and columns are computed only when
//! a position is shown.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A range of bytes in one of the files that were read. [`Span::NONE`] is the position of values that come from no
/// file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    file: u32,
    start: u32,
    end: u32,
}

impl Span {
    /// The position of a value that is in no file, such as one that the service sent.
    pub const NONE: Span = Span { file: u32::MAX, start: 0, end: 0 };

    pub fn new(file: FileId, range: Range<usize>) -> Self {
        let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self { file: file.0, start: clamp(range.start), end: clamp(range.end) }
    }

    pub fn file(self) -> Option<FileId> {
        (self.file != u32::MAX).then_some(FileId(self.file))
    }

    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Whether it contains another span.
    pub fn contains(self, inner: Span) -> bool {
        self.file == inner.file && self.start <= inner.start && inner.end <= self.end
    }

    /// Returns the span from the beginning of this one to the end of a later one in the same file.
    pub fn to(self, later: Span) -> Self {
        Self { end: later.end.max(self.end), ..self }
    }

    /// Returns the part of this span `range` bytes into it; the whole span if the range is not inside.
    pub fn slice(self, range: Range<usize>) -> Self {
        let len = (self.end - self.start) as usize;
        if range.start > range.end || range.end > len {
            return self;
        }
        Self { file: self.file, start: self.start + range.start as u32, end: self.start + range.end as u32 }
    }
}

/// The number of a file in [`Sources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(u32);

impl FileId {
    /// The only file, if there is just one text.
    pub const ONLY: FileId = FileId(0);
}

/// A line and a column, both counted from 1. Columns count characters, as editors and compilers do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

/// The number of bytes between two marks.
const BLOCK: usize = 256;
/// The maximum length of a text whose lines are counted without marks.
const SHORT: usize = 4 * BLOCK;

/// The counts at one byte of a text: lines before it, the start of its line, and characters up to both.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    at: u32,
    line: u32,
    line_start: u32,
    chars: u32,
    line_chars: u32,
}

/// A text that was read, and its path for display.
#[derive(Debug)]
pub struct Source {
    /// Shared with everything in the file.
    pub path: Arc<str>,
    pub text: String,
    marks: OnceLock<Vec<Mark>>,
}

impl Source {
    pub fn new(path: impl Into<Arc<str>>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into(), marks: OnceLock::new() }
    }

    /// Returns the marks at the beginning of each block. Finding a position costs one block, however long the text, its
    /// lines or its list of problems are.
    fn marks(&self) -> &[Mark] {
        self.marks.get_or_init(|| {
            let mut mark = Mark::default();
            let mut marks = Vec::with_capacity(self.text.len() / BLOCK + 1);
            for block in self.text.as_bytes().chunks(BLOCK) {
                marks.push(mark);
                mark = self.advance(mark, marks.len() * BLOCK - BLOCK + block.len());
            }
            if marks.is_empty() {
                marks.push(mark);
            }
            marks
        })
    }

    /// Returns the last mark before a byte.
    fn mark(&self, offset: usize) -> Mark {
        let marks = self.marks();
        marks[(offset / BLOCK).min(marks.len() - 1)]
    }

    /// Advances a mark to the byte `to`. `\n`, `\r\n` and a lone `\r` end a line, as in YAML.
    fn advance(&self, mut mark: Mark, to: usize) -> Mark {
        let bytes = self.text.as_bytes();
        let between = &bytes[mark.at as usize..to];
        // Most texts contain nothing else. They are counted without inspecting each character.
        if between.is_ascii() && !between.contains(&b'\r') {
            let lines = between.iter().filter(|byte| **byte == b'\n').count() as u32;
            if let Some(last) = between.iter().rposition(|byte| *byte == b'\n') {
                mark.line_start = mark.at + last as u32 + 1;
                mark.line_chars = mark.chars + last as u32 + 1;
            }
            let (chars, line) = (mark.chars + between.len() as u32, mark.line + lines);
            return Mark { at: to as u32, chars, line, ..mark };
        }
        for (at, byte) in bytes.iter().enumerate().take(to).skip(mark.at as usize) {
            mark.chars += u32::from((*byte as i8) >= -0x40);
            if *byte == b'\n' || (*byte == b'\r' && bytes.get(at + 1) != Some(&b'\n')) {
                mark.line += 1;
                mark.line_start = at as u32 + 1;
                mark.line_chars = mark.chars;
            }
        }
        mark.at = to as u32;
        mark
    }

    /// Returns the line of a position. This is faster than finding its column.
    pub fn line(&self, offset: usize) -> usize {
        let offset = self.floor(offset);
        // Often one line of each of many short texts is needed: marks of all of them would be a waste.
        let mark = match self.text.len() > SHORT {
            true => self.mark(offset),
            false => Mark::default(),
        };
        let before = &self.text.as_bytes()[mark.at as usize..offset];
        // A `\r` right before a `\n` does not end a line.
        if before.contains(&b'\r') {
            return self.advance(mark, offset).line as usize + 1;
        }
        mark.line as usize + before.iter().filter(|byte| **byte == b'\n').count() + 1
    }

    pub fn position(&self, offset: usize) -> Position {
        let offset = self.floor(offset);
        let mark = self.advance(self.mark(offset), offset);
        let start = mark.line_start as usize;
        // A byte order mark takes no column.
        let unseen = usize::from(offset > start && self.text[start..].starts_with('\u{feff}'));
        Position { line: mark.line as usize + 1, column: (mark.chars - mark.line_chars) as usize - unseen + 1 }
    }

    /// Returns where a line (from 1) begins, in bytes; the end of the text if there is no such line.
    fn line_start(&self, number: usize) -> usize {
        let marks = self.marks();
        let before = marks.partition_point(|mark| (mark.line as usize) < number - 1).saturating_sub(1);
        let mut mark = marks[before];
        if number == 1 {
            return 0;
        }
        let bytes = self.text.as_bytes();
        for at in mark.at as usize..bytes.len() {
            if bytes[at] == b'\n' || (bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n')) {
                mark.line += 1;
                if mark.line as usize == number - 1 {
                    return at + 1;
                }
            }
        }
        bytes.len()
    }

    /// Returns the bytes from line `number` (from 1) to line `last`, without the last line break.
    pub fn line_range(&self, number: usize, last: usize) -> Range<usize> {
        let (start, end) = (self.line_start(number), self.line_start(last + 1));
        let text = &self.text[start..end];
        start..start + text.trim_end_matches(['\n', '\r']).len()
    }

    /// Returns the nearest character boundary at or before `offset`.
    pub fn floor(&self, offset: usize) -> usize {
        let mut at = offset.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}

/// Every text that was read, in a fixed order.
#[derive(Debug, Default)]
pub struct Sources {
    files: Vec<Source>,
}

impl Sources {
    pub fn add(&mut self, source: Source) -> FileId {
        self.files.push(source);
        FileId(self.files.len() as u32 - 1)
    }

    pub fn get(&self, file: FileId) -> &Source {
        &self.files[file.0 as usize]
    }

    pub fn iter(&self) -> impl Iterator<Item = (FileId, &Source)> {
        self.files.iter().enumerate().map(|(n, file)| (FileId(n as u32), file))
    }

    /// Replaces the path of every file by the result of `name`.
    pub fn rename(&mut self, name: impl Fn(&str) -> String) {
        for file in &mut self.files {
            file.path = name(&file.path).into();
        }
    }

    /// Replaces secret bytes by stars. All other positions stay the same.
    pub fn hide(&mut self, span: Span, range: Range<usize>) {
        let Some(file) = span.file() else { return };
        let source = &mut self.files[file.0 as usize];
        if source.text.get(range.clone()).is_some() {
            source.text.replace_range(range.clone(), &"*".repeat(range.len()));
        }
    }

    /// Returns the text at a position; empty for a position in no file.
    pub fn text(&self, span: Span) -> &str {
        span.file().and_then(|file| self.get(file).text.get(span.range())).unwrap_or("")
    }

    /// Returns a position such as `messages/segments.yaml:22:24`; empty for a position in no file.
    pub fn place(&self, span: Span) -> String {
        let Some(file) = span.file() else {
            return String::new();
        };
        let source = self.get(file);
        let Position { line, column } = source.position(span.range().start);
        format!("{}:{line}:{column}", source.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_after_tabs_emoji_and_crlf() {
        let source = Source::new("f", "a: 1\r\n\tb: 😀x\rc: 日本\n");
        let at = |needle: &str| source.position(source.text.find(needle).unwrap());
        assert_eq!(at("a"), Position { line: 1, column: 1 });
        assert_eq!(at("b"), Position { line: 2, column: 2 });
        assert_eq!(at("x"), Position { line: 2, column: 6 });
        assert_eq!(at("本"), Position { line: 3, column: 5 });
        assert_eq!(&source.text[source.line_range(2, 2)], "\tb: 😀x");
    }

    #[test]
    fn columns_of_a_long_line_are_counted_to_its_end() {
        let source = Source::new("f", format!("é\n{}", "aé日😀".repeat(5_000)));
        for (at, (offset, _)) in source.text[3..].char_indices().enumerate() {
            assert_eq!(source.position(3 + offset), Position { line: 2, column: at + 1 });
        }
        assert_eq!(source.position(source.text.len()), Position { line: 2, column: 20_001 });
    }

    #[test]
    fn places_are_the_same_however_far_into_the_text_they_are() {
        let text = "a\u{e9}\r\nb\r\u{65e5}c\n\n".repeat(800);
        let source = Source::new("f", text.as_str());
        let (mut line, mut start) = (1, 0);
        for (at, c) in text.char_indices() {
            let column = text[start..at].chars().count() + 1;
            assert_eq!(source.position(at), Position { line, column }, "byte {at}");
            assert_eq!(source.line(at), line, "byte {at}");
            if c == '\n' || (c == '\r' && !text[at + 1..].starts_with('\n')) {
                assert_eq!(source.line_range(line, line), start..start + text[start..at].trim_end_matches('\r').len());
                (line, start) = (line + 1, at + 1);
            }
        }
    }

    #[test]
    fn a_byte_order_mark_takes_no_column() {
        let source = Source::new("f", "\u{feff}a: 1\n");
        assert_eq!(source.position(3), Position { line: 1, column: 1 });
    }
}
