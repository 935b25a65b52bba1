//! What the parser says about broken YAML, in the words of somebody who writes messages.
//!
//! Most of what breaks a manifest is a text that needs quotes, a quote or bracket that is not closed, or a line that is not
//! indented like its neighbours. The line shows which, and better than the parser's own words.

use granit_parser::{ErrorKind, ScanError};

use super::parse::DEPTH_LIMIT;
use crate::codes;
use crate::finding::Finding;
use crate::source::{FileId, Source, Span};
use crate::text;

/// A syntax error as a finding at the value that causes it.
pub fn problem(error: &ScanError, file: FileId, source: &Source) -> Finding {
    let text = &source.text;
    let start = error.marker().byte_offset().unwrap_or(0).min(text.len());
    let end = text[start..].chars().next().filter(|c| !"\r\n".contains(*c)).map_or(start, |c| start + c.len_utf8());
    let number = source.position(start).line;
    let line = Line::of(file, source, number);
    let above = (1..number).rev().map(|number| Line::of(file, source, number)).find(|line| !line.is_blank());
    let place = Place { at: Span::new(file, start..end), start, line, above, source };
    place.limit(error).or_else(|| place.quotes(error)).or_else(|| place.layout(error)).unwrap_or_else(|| {
        Finding::new(&codes::YM101, place.at, format!("not valid YAML: {}", error.info())).label("here")
    })
}

/// One line of a file.
struct Line<'s> {
    file: FileId,
    start: usize,
    text: &'s str,
}

impl<'s> Line<'s> {
    fn of(file: FileId, source: &'s Source, number: usize) -> Self {
        let range = source.line_range(number, number);
        Self { file, start: range.start, text: &source.text[range] }
    }

    fn is_blank(&self) -> bool {
        let text = self.text.trim_start();
        text.is_empty() || text.starts_with('#')
    }

    fn indent(&self) -> usize {
        self.text.len() - self.text.trim_start().len()
    }

    fn span(&self, range: std::ops::Range<usize>) -> Span {
        Span::new(self.file, self.start + range.start..self.start + range.end)
    }

    /// Where the value of the line begins: behind its dashes and its key.
    fn value(&self) -> Option<usize> {
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

    /// A quote that opens on this line and does not close on it, and what is left open of brackets, each with its place.
    fn left_open(&self) -> (Option<usize>, Option<usize>) {
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

/// Where the quote that a text begins with is closed: the byte behind it.
fn closing(text: &str) -> Option<usize> {
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

/// The first backslash in double quotes that begins no special character, with the character behind it.
fn wrong_escape(text: &str) -> Option<(usize, usize)> {
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

/// Where the bracket that a text begins with is closed: the byte behind it.
fn balanced(text: &str) -> Option<usize> {
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

/// Where the parser stopped, and the lines around.
struct Place<'s> {
    at: Span,
    start: usize,
    line: Line<'s>,
    /// The nearest line above that is not blank.
    above: Option<Line<'s>>,
    source: &'s Source,
}

impl Place<'_> {
    fn limit(&self, error: &ScanError) -> Option<Finding> {
        match error.kind() {
            ErrorKind::RecursionLimitExceeded => Some(
                Finding::new(&codes::YM105, self.at, format!("more than {DEPTH_LIMIT} levels of maps and lists"))
                    .label("nested too deeply")
                    .help("join conditions that stand in each other, or give the inner ones a segment of their own"),
            ),
            ErrorKind::TabNotAllowed | ErrorKind::TabInBlockIndentation | ErrorKind::TabInIndentation => {
                let indent = &self.line.text[..self.line.indent()];
                let at = indent.find('\t').map_or(self.at, |tab| self.line.span(tab..tab + 1));
                Some(
                    Finding::new(&codes::YM108, at, "a tab cannot indent YAML")
                        .label("a tab")
                        .note("a tab is as wide as each editor likes, so that nobody could tell what belongs to what")
                        .help("replace every tab at the beginning of a line with spaces"),
                )
            }
            _ => None,
        }
    }

    /// Whether only white space stands between the beginning of the line and the place.
    fn is_at_beginning(&self) -> bool {
        self.start <= self.line.start + self.line.indent()
    }

    /// A text that needs quotes, or has too few of them.
    fn quotes(&self, error: &ScanError) -> Option<Finding> {
        let above = self.above.as_ref().filter(|_| self.is_at_beginning());
        std::iter::once(&self.line).chain(above).find_map(|line| self.quotes_in(line, error))
    }

    fn quotes_in(&self, line: &Line, error: &ScanError) -> Option<Finding> {
        if let (Some(quote), _) = line.left_open() {
            return Some(
                Finding::new(&codes::YM101, line.span(quote..quote + 1), "the quote that opens here is not closed")
                    .label("no closing quote")
                    .help("close it at the end of the text; inside double quotes, a quote is written \\\""),
            );
        }
        let from = line.value()?;
        let value = line.text[from..].trim_end();
        let first = value.chars().next()?;
        if matches!(first, '"' | '\'') {
            let end = closing(value)?;
            let behind = value[end..].trim_start();
            let trailing = matches!(
                error.kind(),
                ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar
            );
            return (trailing && !behind.is_empty()).then(|| {
                let at = line.span(from + value.len() - behind.len()..from + value.len());
                let help = match first {
                    '\'' => "in single quotes an apostrophe is written twice: ''; in double quotes, once",
                    _ => "put the whole text in one pair of quotes; inside, a quote is written \\\"",
                };
                Finding::new(&codes::YM101, at, "text stands behind the closing quote")
                    .label("not in the quotes")
                    .help(help)
            });
        }
        if let Some(finding) = placeholder(line, from, value) {
            return Some(finding);
        }
        // How far into the value the parser came.
        let reached = self.start.checked_sub(line.start + from).unwrap_or(value.len());
        let why = match (first, error.kind()) {
            ('`', ErrorKind::UnexpectedCharacter { .. }) => "a text that begins with a backtick".to_owned(),
            ('@' | '%', ErrorKind::UnexpectedCharacter { .. }) => format!("a text that begins with `{first}`"),
            ('*' | '&' | '!' | '>' | '|', _) => format!("a text that begins with `{first}`"),
            ('[' | '{', _) if balanced(value).is_some_and(|end| end <= reached && end < value.len()) => {
                format!("a text that begins with `{first}`")
            }
            ('-', ErrorKind::BlockSequenceEntryNotAllowed) => "a text that begins with `-` and a space".to_owned(),
            ('[' | '{', _) => return None,
            (_, ErrorKind::MappingValueNotAllowed) if reached < value.len() => "a text with a colon in it".to_owned(),
            _ => return None,
        };
        let finding = needs_quotes(&codes::YM101, line.span(from..from + value.len()), value, &why);
        Some(finding.note("without quotes, YAML gives the character a meaning of its own"))
    }

    /// A line or a bracket that is out of place.
    fn layout(&self, error: &ScanError) -> Option<Finding> {
        let finding = |at, message: String| Some(Finding::new(&codes::YM101, at, message));
        let above = self.above.as_ref().filter(|_| self.is_at_beginning());
        match error.kind() {
            ErrorKind::UnclosedFlowCollection { open } => {
                Some(finding(self.at, format!("the `{open}` is not closed"))?.label("no closing bracket"))
            }
            ErrorKind::MismatchedFlowCollectionEnd { open, close } => {
                Some(finding(self.at, format!("the `{open}` is closed by a `{close}`"))?.label("opens here"))
            }
            ErrorKind::InvalidIndentation if above.is_some_and(|line| line.left_open().1.is_some()) => {
                let line = above?;
                let at = line.left_open().1?;
                let open = &line.text[at..=at];
                Some(finding(line.span(at..at + 1), format!("the `{open}` is not closed"))?.label("no closing bracket"))
            }
            ErrorKind::MappingValueNotAllowed => {
                let above = self.above.as_ref().filter(|line| line.indent() <= self.line.indent())?;
                let written = above.text.trim();
                if !written.contains(':') {
                    let at = above.span(above.indent()..above.indent() + written.len());
                    let written = text::short(written, 40);
                    let finding = finding(at, format!("a colon is missing behind `{written}`"))?;
                    return Some(finding.label("a key needs a colon").help(format!("write `{written}:`")));
                }
                let deeper = above.indent() < self.line.indent() && above.value().is_some();
                let key = self.line.text[self.line.indent()..].split(':').next().filter(|_| deeper)?;
                let at = self.line.span(self.line.indent()..self.line.indent() + key.len());
                let finding =
                    finding(at, "the line is indented too far: the one above has a value already".to_owned())?;
                Some(finding.label("belongs to nothing").help("indent it like the line above"))
            }
            ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => {
                let written = self.source.text[self.start..].lines().next()?.trim_end();
                let at = Span::new(self.line.file, self.start..self.start + written.len());
                let finding = finding(at, format!("`{}` is not a key with a value", text::short(written, 40)))?;
                Some(finding.label("no colon with a space behind it").help("write `key: value`"))
            }
            ErrorKind::MisplacedFlowCollectionEnd => {
                Some(finding(self.at, "the bracket closes nothing".to_owned())?.label("was not opened"))
            }
            ErrorKind::ExpectedBlockMappingKey
            | ErrorKind::InvalidIndentation
            | ErrorKind::ExpectedBlockSequenceEntry
                if self.is_at_beginning() =>
            {
                let finding = finding(self.at, "the line is not indented like those it belongs to".to_owned())?;
                Some(
                    finding
                        .label("out of line")
                        .help("keys of one thing begin in the same column, with spaces before them"),
                )
            }
            ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar => {
                let finding = finding(self.at, "text stands behind the closing quote".to_owned())?;
                Some(finding.label("not in the quotes").help("put the whole text in one pair of double quotes"))
            }
            ErrorKind::ExpectedFlowMappingSeparator | ErrorKind::ExpectedFlowSequenceSeparator => {
                let closing = if *error.kind() == ErrorKind::ExpectedFlowMappingSeparator { '}' } else { ']' };
                let finding = finding(self.at, format!("a `,` or a `{closing}` is missing before this"))?;
                Some(
                    finding
                        .label("not expected here")
                        .help("a text with a colon, a comma or a bracket in it needs quotes"),
                )
            }
            ErrorKind::UnknownQuotedScalarEscape => {
                let at = wrong_escape(&self.source.text[self.start..]).map_or(self.at, |(from, to)| {
                    self.line.span(self.start + from - self.line.start..self.start + to - self.line.start)
                });
                let finding =
                    finding(at, "a backslash in double quotes begins a special character, and this is none".into())?;
                Some(finding.label("not a special character").help("write \\\\ for a backslash, or use single quotes"))
            }
            ErrorKind::UnexpectedCharacter { character } if character.is_control() => {
                let message = format!("the control character U+{:04X} cannot stand in YAML", u32::from(*character));
                Some(finding(self.at, message)?.label("a control character").help("remove it"))
            }
            _ => None,
        }
    }
}

/// An unquoted `{{NAME}}` with text behind it. On a line of its own the whole text gets quotes; between other brackets
/// nobody can tell where the text ends.
fn placeholder(line: &Line, from: usize, value: &str) -> Option<Finding> {
    if value.starts_with("{{") {
        let at = line.span(from..from + value.len());
        let mut finding = needs_quotes(&codes::YM109, at, value, "a text that begins with `{{`");
        finding.fix.iter_mut().for_each(|fix| fix.safe = true);
        return Some(finding.label("a YAML map, without quotes"));
    }
    let inner = value.starts_with(['[', '{']).then(|| value.find(": {{").map(|at| at + 2)).flatten()?;
    let end = value[inner..].find("}}").map_or(value.len(), |end| inner + end + 2);
    let at = line.span(from + inner..from + end);
    Some(
        Finding::new(&codes::YM109, at, "a text that begins with `{{` needs quotes")
            .label("a YAML map, without quotes")
            .help("put the whole text in quotes"),
    )
}

fn needs_quotes(code: &'static codes::Code, at: Span, value: &str, why: &str) -> Finding {
    let quoted = text::quoted(value);
    let finding = Finding::new(code, at, format!("{why} needs quotes")).label("needs quotes");
    // What stands behind a `#` may be part of the text or a remark beside it.
    match value.contains(" #") {
        true => finding.help("put the text in quotes"),
        false => finding.help(format!("write {}", text::short(&quoted, 80))).suggest(at, quoted),
    }
}
