//! Explanations of the parser's errors for authors of manifests.
//!
//! Most errors are a text that needs quotes, an unclosed quote or bracket, or a line with another indentation than its
//! neighbours. The line shows which, and better than the parser's message.

use granit_parser::{ErrorKind, ScanError};
use pushplan_model::codes;
use pushplan_model::finding::Finding;
use pushplan_model::source::{FileId, Source, Span};
use pushplan_model::text;

use super::line::{SourceLine, balanced, closing, wrong_escape};
use super::{signs, slips};

/// The maximal depth of nested maps and lists.
pub(super) const DEPTH_LIMIT: usize = 64;

/// A syntax error as a finding at the value that causes it.
pub fn problem(error: &ScanError, file: FileId, source: &Source) -> Finding {
    let text = &source.text;
    let start = error.marker().byte_offset().unwrap_or(0).min(text.len());
    let end = text[start..].chars().next().filter(|c| !"\r\n".contains(*c)).map_or(start, |c| start + c.len_utf8());
    let number = source.position(start).line;
    let line = SourceLine::of(file, source, number);
    let above = (1..number).rev().map(|number| SourceLine::of(file, source, number)).find(|line| !line.is_blank());
    let place = StoppedAt { at: Span::new(file, start..end), start, line, above, source };
    slips::half_conflict(&place.line)
        .or_else(|| place.limit(error))
        .or_else(|| place.signs())
        .or_else(|| place.quotes(error))
        .or_else(|| place.layout(error))
        .unwrap_or_else(|| {
            Finding::new(&codes::YM101, place.at, format!("not valid YAML: {}", error.info())).label("here")
        })
}

/// The position where the parser stopped, and the lines around it.
struct StoppedAt<'s> {
    at: Span,
    start: usize,
    line: SourceLine<'s>,
    /// The nearest line above that is not blank.
    above: Option<SourceLine<'s>>,
    source: &'s Source,
}

impl StoppedAt<'_> {
    fn limit(&self, error: &ScanError) -> Option<Finding> {
        match error.kind() {
            ErrorKind::RecursionLimitExceeded => Some(
                Finding::new(&codes::YM105, self.at, format!("more than {DEPTH_LIMIT} levels of maps and lists"))
                    .label("nested too deeply")
                    .help("merge nested conditions, or move the inner ones to a segment"),
            ),
            ErrorKind::TabNotAllowed | ErrorKind::TabInBlockIndentation | ErrorKind::TabInIndentation => {
                let indent = &self.line.text[..self.line.indent()];
                let at = indent.find('\t').map_or(self.at, |tab| self.line.span(tab..tab + 1));
                Some(
                    Finding::new(&codes::YM108, at, "a tab cannot indent YAML")
                        .label("a tab")
                        .note("the width of a tab differs between editors, so the structure would be unclear")
                        .help("replace every tab at the beginning of a line with spaces"),
                )
            }
            _ => None,
        }
    }

    /// Whether only white space is before the position in its line.
    fn is_at_beginning(&self) -> bool {
        self.start <= self.line.start + self.line.indent()
    }

    /// A typographic quote, or a non-ASCII blank.
    fn signs(&self) -> Option<Finding> {
        let reached = self.start - self.line.start;
        signs::in_line(&self.line, reached).or_else(|| signs::in_line(self.above.as_ref()?, usize::MAX))
    }

    /// A text that needs quotes, or has too few.
    fn quotes(&self, error: &ScanError) -> Option<Finding> {
        let above = self.above.as_ref().filter(|_| self.is_at_beginning());
        std::iter::once(&self.line).chain(above).find_map(|line| self.quotes_in(line, error))
    }

    fn quotes_in(&self, line: &SourceLine, error: &ScanError) -> Option<Finding> {
        if let (Some(quote), _) = line.left_open() {
            return Some(
                Finding::new(&codes::YM101, line.span(quote..quote + 1), "the quote that opens here is not closed")
                    .label("no closing quote")
                    .help("close it at the end of the text; inside double quotes, write a quote as \\\""),
            );
        }
        let from = line.value()?;
        let value = line.text[from..].trim_end();
        let first = value.chars().next()?;
        if matches!(first, '"' | '\'') {
            if let Some(finding) = slips::behind(line, from, value) {
                return Some(finding);
            }
            let end = closing(value)?;
            let behind = value[end..].trim_start();
            let trailing = matches!(
                error.kind(),
                ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar
            );
            return (trailing && !behind.is_empty()).then(|| {
                let at = line.span(from + value.len() - behind.len()..from + value.len());
                let help = match first {
                    '\'' => "inside single quotes, write an apostrophe twice: ''; inside double quotes, once",
                    _ => "put the whole text in one pair of quotes; inside, write a quote as \\\"",
                };
                Finding::new(&codes::YM101, at, "there is text after the closing quote")
                    .label("not in the quotes")
                    .help(help)
            });
        }
        if let Some(finding) = placeholder(line, from, value) {
            return Some(finding);
        }
        if let Some(finding) = self.reserved(error) {
            return Some(finding);
        }
        // The position in the value that the parser reached.
        let reached = self.start.checked_sub(line.start + from).unwrap_or(value.len());
        let at = line.span(from..from + value.len());
        let is_closed = || balanced(value).is_some_and(|end| end <= reached && end < value.len());
        let why = match (first, error.kind()) {
            ('`', ErrorKind::UnexpectedCharacter { .. }) => "a text that begins with a backtick".to_owned(),
            ('@' | '%', ErrorKind::UnexpectedCharacter { .. }) => format!("a text that begins with `{first}`"),
            ('*' | '&' | '!' | '>' | '|', _) => format!("a text that begins with `{first}`"),
            ('[' | '{', _) if is_closed() => match slips::behind(line, from, value) {
                Some(finding) => return Some(finding),
                None if slips::is_prose(value) => format!("a text that begins with `{first}`"),
                None => return None,
            },
            ('-', ErrorKind::BlockSequenceEntryNotAllowed) => "a text that begins with `-` and a space".to_owned(),
            ('[' | '{', _) => return None,
            (_, ErrorKind::MappingValueNotAllowed) if reached < value.len() => match slips::second_key(at, value) {
                Some(finding) => return Some(finding),
                None => "a text with a colon in it".to_owned(),
            },
            _ => return None,
        };
        let finding = needs_quotes(&codes::YM101, at, value, &why);
        Some(finding.note("without quotes, this character has a special meaning in YAML"))
    }

    /// A text in brackets that begins with a reserved character of YAML.
    fn reserved(&self, error: &ScanError) -> Option<Finding> {
        let ErrorKind::UnexpectedCharacter { character: first @ ('@' | '%' | '`') } = error.kind() else { return None };
        let rest = self.source.text[self.start..].lines().next().filter(|rest| rest.starts_with(*first))?;
        let in_brackets = self.line.text[..self.start - self.line.start].contains(['[', '{']);
        let value = rest.split([',', ']', '}']).next().filter(|_| in_brackets)?.trim_end();
        let why = if *first == '`' {
            "a text that begins with a backtick".to_owned()
        } else {
            format!("a text that begins with `{first}`")
        };
        let at = Span::new(self.line.file, self.start..self.start + value.len());
        let finding = needs_quotes(&codes::YM101, at, value, &why);
        Some(finding.note("without quotes, this character has a special meaning in YAML"))
    }

    /// A dash without a space after it, on this line or on the one above with the same indentation.
    fn glued_dash(&self) -> Option<Span> {
        let beside = self.above.as_ref().filter(|above| above.indent() == self.line.indent());
        slips::dash(&self.line).or_else(|| beside.and_then(slips::dash))
    }

    /// The unclosed bracket, or the comment that contains its closing bracket.
    fn unclosed(&self, line: &SourceLine, open: usize) -> Option<Finding> {
        let bracket = line.text.get(open..=open)?;
        slips::comment(line, open).or_else(|| {
            let finding =
                Finding::new(&codes::YM101, line.span(open..open + 1), format!("the `{bracket}` is not closed"));
            Some(finding.label("no closing bracket").help("close it after its last item"))
        })
    }

    /// A misplaced line or bracket.
    fn layout(&self, error: &ScanError) -> Option<Finding> {
        let finding = |at, message: String| Some(Finding::new(&codes::YM101, at, message));
        let above = self.above.as_ref().filter(|_| self.is_at_beginning());
        if let Some(dash) = self.glued_dash() {
            return Some(slips::glued_dash(dash));
        }
        match error.kind() {
            ErrorKind::UnclosedFlowCollection { .. } => self.unclosed(&self.line, self.start - self.line.start),
            ErrorKind::MismatchedFlowCollectionEnd { open, close } => {
                Some(finding(self.at, format!("the `{open}` is closed by a `{close}`"))?.label("opens here"))
            }
            ErrorKind::InvalidIndentation if above.is_some_and(|line| line.left_open().1.is_some()) => {
                let line = above?;
                self.unclosed(line, line.left_open().1?)
            }
            ErrorKind::MappingValueNotAllowed => {
                let above = self.above.as_ref().filter(|line| line.indent() <= self.line.indent())?;
                if let Some(finding) = slips::colon(above) {
                    return Some(finding);
                }
                let written = above.text.trim();
                if !written.contains(':') {
                    let at = above.span(above.indent()..above.indent() + written.len());
                    let written = text::short(written, 40);
                    let finding = finding(at, format!("a colon is missing after `{written}`"))?;
                    return Some(finding.label("a key needs a colon").help(format!("write `{written}:`")));
                }
                let deeper = above.indent() < self.line.indent() && above.value().is_some();
                let key = self.line.text[self.line.indent()..].split(':').next().filter(|_| deeper)?;
                let at = self.line.span(self.line.indent()..self.line.indent() + key.len());
                let finding =
                    finding(at, "the line is indented too far: the line above already has a value".to_owned())?;
                Some(finding.label("not expected here").help("indent it like the line above"))
            }
            ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => {
                if let Some(finding) = slips::colon(&self.line) {
                    return Some(finding);
                }
                let written = self.source.text[self.start..].lines().next()?.trim_end();
                let at = Span::new(self.line.file, self.start..self.start + written.len());
                let finding = finding(at, format!("`{}` is not a key with a value", text::short(written, 40)))?;
                Some(finding.label("no colon with a space after it").help("write `key: value`"))
            }
            ErrorKind::MisplacedFlowCollectionEnd => {
                Some(finding(self.at, "there is no opening bracket for this one".to_owned())?.label("was not opened"))
            }
            ErrorKind::ExpectedBlockMappingKey
            | ErrorKind::InvalidIndentation
            | ErrorKind::ExpectedBlockSequenceEntry
                if self.is_at_beginning() =>
            {
                let finding = finding(self.at, "the indentation differs from the lines around it".to_owned())?;
                Some(
                    finding
                        .label("wrong indentation")
                        .help("keys of one map begin in the same column, with spaces before them"),
                )
            }
            ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar => {
                let finding = finding(self.at, "there is text after the closing quote".to_owned())?;
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
                let finding = finding(
                    at,
                    "in double quotes, a backslash begins an escape sequence, but this one is \
                        invalid"
                        .into(),
                )?;
                Some(finding.label("not an escape sequence").help("write \\\\ for a backslash, or use single quotes"))
            }
            ErrorKind::UnexpectedCharacter { character } if character.is_control() => {
                let message = format!("the control character U+{:04X} is not allowed in YAML", u32::from(*character));
                Some(finding(self.at, message)?.label("a control character").help("remove it"))
            }
            _ => None,
        }
    }
}

/// An unquoted `{{NAME}}` with text after it. On a separate line, the whole text gets quotes; between other brackets,
/// the end of the text is unknown.
fn placeholder(line: &SourceLine, from: usize, value: &str) -> Option<Finding> {
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
    // The text after a `#` may be part of the value or a comment.
    match value.contains(" #") {
        true => finding.help("put the text in quotes"),
        false => finding.help(format!("write {}", text::short(&quoted, 80))).suggest(at, quoted),
    }
}
