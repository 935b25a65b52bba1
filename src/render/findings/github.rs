//! Findings as workflow commands: lines that a GitHub workflow shows beside the changed lines of a pull request.

use super::{Place, Report};
use crate::render::escape::stream::unsigned;
use crate::render::{one_line, visible};

/// One command per finding.
pub fn github(report: &Report) -> String {
    let mut out = String::new();
    for found in &report.found {
        let finding = found.finding;
        let mut properties = Vec::new();
        if let Some(Place { path, region }) = found.place() {
            properties.push(("file", one_line(path)));
            if let Some(region) = region {
                properties.push(("line", region.start.line.to_string()));
                properties.push(("col", region.start.column.to_string()));
                // Columns of an end on another line are refused: the first line is marked.
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
        out.push_str(&format!("::{} {}::{text}\n", finding.severity.word(), properties.join(",")));
    }
    out
}

/// A text behind the command. Its lines are kept, and none of them can be taken for a command.
fn data(text: &str) -> String {
    unsigned(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A value within the command, which `:` and `,` would end.
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
