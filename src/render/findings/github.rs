//! Findings as workflow commands: lines that GitHub shows next to the changed lines of a pull request.

use super::{CheckReport, FilePosition, LocatedFinding};
use crate::codes::Severity;
use crate::render::escape::stream::unsigned;
use crate::render::{one_line, visible};
use crate::text::count;

/// The number of annotations of one step that GitHub shows.
const MOST: usize = 10;

/// One command per finding, the worst first. If there are more than are shown, the last one counts the rest.
pub fn github(report: &CheckReport) -> String {
    let (told, rest) = shown(report);
    let mut out: String = told.iter().map(|found| command(found)).collect();
    if !rest.is_empty() {
        let severity = rest[0].finding.severity;
        let text = format!("{}; they are in the log of this step, and `pushplan validate` shows all", sum(&rest));
        let title = property(&format!("{} more", rest.len()));
        out.push_str(&format!("::{} title={title}::{}\n", severity.word(), data(&text)));
    }
    out
}

/// The findings without an annotation, a line each, for the log.
pub fn github_rest(report: &CheckReport) -> Vec<String> {
    let line = |found: &&LocatedFinding| {
        let place = found.place().map_or(String::new(), |place| match place.region {
            Some(region) => format!("{}:{}:{}: ", place.path, region.start.line, region.start.column),
            None => format!("{}: ", place.path),
        });
        let finding = found.finding;
        one_line(&format!("{place}{}[{}]: {}", finding.severity.word(), finding.code.name, finding.message))
    };
    shown(report).1.iter().map(line).collect()
}

/// The findings with an annotation, and those without: errors before warnings, each by file and position.
fn shown<'r, 'a>(report: &'r CheckReport<'a>) -> (Vec<&'r LocatedFinding<'a>>, Vec<&'r LocatedFinding<'a>>) {
    let mut all: Vec<&LocatedFinding> = report.found.iter().collect();
    all.sort_by_key(|found| std::cmp::Reverse(found.finding.severity));
    let rest = if all.len() > MOST { all.split_off(MOST - 1) } else { Vec::new() };
    (all, rest)
}

/// `3 more errors and 1 more warning`
fn sum(found: &[&LocatedFinding]) -> String {
    let counted = |severity: Severity| {
        let number = found.iter().filter(|found| found.finding.severity == severity).count();
        (number > 0).then(|| count(number, &format!("more {}", severity.word())))
    };
    let parts: Vec<String> = [Severity::Error, Severity::Warning].into_iter().filter_map(counted).collect();
    parts.join(" and ")
}

fn command(found: &LocatedFinding) -> String {
    let finding = found.finding;
    let mut properties = Vec::new();
    if let Some(FilePosition { path, region }) = found.place() {
        properties.push(("file", one_line(path)));
        if let Some(region) = region {
            properties.push(("line", region.start.line.to_string()));
            properties.push(("col", region.start.column.to_string()));
            // Columns of an end on another line are refused, so the first line is marked.
            if region.end.line == region.start.line {
                properties.push(("endLine", region.end.line.to_string()));
                properties.push(("endColumn", region.end.column.to_string()));
            }
        }
    }
    properties.push(("title", finding.code.name.to_owned()));
    let properties: Vec<String> =
        properties.into_iter().map(|(name, value)| format!("{name}={}", property(&value))).collect();
    let text = data(&visible(&found.whole_text()));
    format!("::{} {}::{text}\n", finding.severity.word(), properties.join(","))
}

/// Escapes a text after the command. Its lines are kept, and none of them can be read as a command.
fn data(text: &str) -> String {
    unsigned(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a value within the command, which `:` and `,` would end.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_command_is_escaped() {
        assert_eq!(data("100 %\r\n::error::x"), "100 %25%0D%0A::error::x");
        assert_eq!(property("a,b:c%3A"), "a%2Cb%3Ac%253A");
        assert_eq!(data("##[error]x ##vso[a]"), r"\x23#[error]x \x23#vso[a]");
    }
}
