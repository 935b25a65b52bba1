//! The texts that were read, and places in them.
//!
//! A [`Span`] is three numbers, so that every value of a project can carry one. Lines and columns are computed when
//! somebody is told about a place, and only then.

use std::ops::Range;
use std::sync::OnceLock;

/// A stretch of bytes in one of the files that were read. [`Span::NONE`] is the place of what came from no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    file: u32,
    start: u32,
    end: u32,
}

impl Span {
    /// The place of a value that no file holds, such as one the service sent.
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

    /// Whether another span lies within this one.
    pub fn contains(self, inner: Span) -> bool {
        self.file == inner.file && self.start <= inner.start && inner.end <= self.end
    }

    /// From the beginning of this span to the end of a later one in the same file.
    pub fn to(self, later: Span) -> Self {
        Self { end: later.end.max(self.end), ..self }
    }

    /// The part of this span `range` bytes into it; the whole where it does not lie inside.
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
    /// The only file, where there is just one text.
    pub const ONLY: FileId = FileId(0);
}

/// A line and a column, both counted from 1. Columns count characters, as editors and compilers do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

/// One text that was read and the path that people know it by.
#[derive(Debug)]
pub struct Source {
    pub path: String,
    pub text: String,
    lines: OnceLock<Vec<u32>>,
    /// How many characters begin before each [`BLOCK`] of bytes, for files whose lines are long.
    characters: OnceLock<Vec<u32>>,
}

/// How many bytes a column is counted over at most.
const BLOCK: usize = 4096;

impl Source {
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into(), lines: OnceLock::new(), characters: OnceLock::new() }
    }

    /// Where each line begins, in bytes. `\n`, `\r\n` and a lone `\r` end a line, as in YAML.
    fn lines(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let bytes = self.text.as_bytes();
            let mut starts = vec![0];
            for (at, byte) in bytes.iter().enumerate() {
                let ends = *byte == b'\n' || (*byte == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
                if ends {
                    starts.push(at as u32 + 1);
                }
            }
            starts
        })
    }

    pub fn position(&self, offset: usize) -> Position {
        let offset = self.floor(offset);
        let lines = self.lines();
        let line = lines.partition_point(|start| *start as usize <= offset) - 1;
        let start = lines[line] as usize;
        let characters = match offset - start {
            0..BLOCK => beginnings(&self.text.as_bytes()[start..offset]),
            _ => self.characters(offset) - self.characters(start),
        };
        let mark = usize::from(line == 0 && offset > 0 && self.text.starts_with('\u{feff}'));
        Position { line: line + 1, column: characters - mark + 1 }
    }

    /// How many characters stand before `offset`. All of a file may be one line, with thousands of places to tell of.
    fn characters(&self, offset: usize) -> usize {
        let bytes = self.text.as_bytes();
        let blocks = self.characters.get_or_init(|| {
            let counts = bytes.chunks(BLOCK).scan(0, |sum, block| {
                let before = *sum;
                *sum += beginnings(block) as u32;
                Some(before)
            });
            counts.collect()
        });
        let block = (offset / BLOCK).min(blocks.len().saturating_sub(1));
        blocks.get(block).map_or(0, |before| *before as usize + beginnings(&bytes[block * BLOCK..offset]))
    }

    /// The bytes of line `number` (from 1) and all that lies between it and line `last`, without the last line break.
    pub fn line_range(&self, number: usize, last: usize) -> Range<usize> {
        let lines = self.lines();
        let start = lines.get(number - 1).map_or(self.text.len(), |s| *s as usize);
        let end = lines.get(last).map_or(self.text.len(), |s| *s as usize);
        let text = &self.text[start..end];
        start..start + text.trim_end_matches(['\n', '\r']).len()
    }

    /// The nearest character boundary at or before `offset`.
    pub fn floor(&self, offset: usize) -> usize {
        let mut at = offset.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}

/// How many characters begin in these bytes of UTF-8.
fn beginnings(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0b1100_0000 != 0b1000_0000).count()
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

    /// Gives every file the path that `name` makes of the one it has.
    pub fn rename(&mut self, name: impl Fn(&str) -> String) {
        for file in &mut self.files {
            file.path = name(&file.path);
        }
    }

    /// What stands at a place; empty for a place in no file.
    pub fn text(&self, span: Span) -> &str {
        span.file().and_then(|file| self.get(file).text.get(span.range())).unwrap_or("")
    }

    /// `messages/segments.yaml:22:24`, or nothing for a place in no file.
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
    fn a_byte_order_mark_takes_no_column() {
        let source = Source::new("f", "\u{feff}a: 1\n");
        assert_eq!(source.position(3), Position { line: 1, column: 1 });
    }
}
