//! Analysis of a single line of an unreadable manifest.

use pushplan_model::source::{FileId, Source, Span};

/// One line of a file.
pub struct SourceLine<'s> {
    pub file: FileId,
    pub start: usize,
    pub text: &'s str,
}

impl<'s> SourceLine<'s> {
    pub fn of(file: FileId, source: &'s Source, number: usize) -> Self {
        let range = source.line_range(number, number);
        Self { file, start: range.start, text: &source.text[range] }
    }

    pub fn is_blank(&self) -> bool {
        let text = self.text.trim_start();
        text.is_empty() || text.starts_with('#')
    }

    pub fn indent(&self) -> usize {
        self.text.len() - self.text.trim_start().len()
    }

    pub fn span(&self, range: std::ops::Range<usize>) -> Span {
        Span::new(self.file, self.start + range.start..self.start + range.end)
    }

    /// The start of the value in the line: after its dashes and its key.
    pub fn value(&self) -> Option<usize> {
        let mut at = self.indent();
        let spaces = |at: usize| self.text[at..].len() - self.text[at..].trim_start().len();
        while self.text[at..].starts_with("- ") {
            at += 2;
            at += spaces(at);
        }
        match self.text[at..].split_once(": ") {
            Some((key, _)) if !key.contains(['"', '\'', '[', ']', '{', '}', '#']) => {
                at += key.len() + 2;
                Some(at + spaces(at))
            }
            _ => (at > self.indent()).then_some(at),
        }
    }

    /// A quote that is opened and not closed on this line, and an unclosed bracket, with the position of each.
    pub(crate) fn left_open(&self) -> (Option<usize>, Option<usize>) {
        let mut brackets = Vec::new();
        let mut before = ' ';
        let mut at = 0;
        while let Some(c) = self.text[at..].chars().next() {
            let mut behind = at + c.len_utf8();
            match c {
                '"' | '\'' if " [{,:".contains(before) => match closing(&self.text[at..]) {
                    None => return (Some(at), brackets.first().copied()),
                    Some(end) => behind = at + end,
                },
                '#' if before == ' ' => break,
                '[' | '{' => brackets.push(at),
                ']' | '}' => drop(brackets.pop()),
                _ => {}
            }
            (before, at) = (c, behind);
        }
        (None, brackets.first().copied())
    }
}

/// The position after the quote that closes the one at the beginning of a text.
pub fn closing(text: &str) -> Option<usize> {
    let quote = text.chars().next()?;
    let mut rest = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = rest.next() {
        if c == '\\' && quote == '"' {
            rest.next();
        } else if c == quote {
            let doubled = quote == '\'' && rest.next_if(|(_, next)| *next == quote).is_some();
            if !doubled {
                return Some(at + 1);
            }
        }
    }
    None
}

/// The first backslash in double quotes that is no valid escape, with the character after it.
pub(crate) fn wrong_escape(text: &str) -> Option<(usize, usize)> {
    let mut rest = text.char_indices();
    while let Some((at, c)) = rest.next() {
        if c == '\\' {
            let (next, c) = rest.next()?;
            if !"0abt\tnvfre \"/\\N_LPxuU\r\n".contains(c) {
                return Some((at, next + c.len_utf8()));
            }
        }
    }
    None
}

/// The position after the bracket that closes the one at the beginning of a text.
pub(crate) fn balanced(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}
