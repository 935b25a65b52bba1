//! Findings as JUnit XML, which every CI system shows as a test report: a test case per finding, and a passing one for
//! each file without findings.

use std::collections::BTreeSet;

use super::{CheckReport, LocatedFinding};
use crate::text::{self, marked};

/// The whole report as one test suite.
pub fn junit(report: &CheckReport) -> String {
    let with_findings: BTreeSet<&str> =
        report.found.iter().filter_map(LocatedFinding::place).map(|place| place.path).collect();
    let clean: Vec<&str> = report.files.iter().copied().filter(|path| !with_findings.contains(path)).collect();
    let tests = clean.len() + report.found.len();
    let failures = report.found.iter().filter(|found| report.fails(found.finding)).count();
    let counts = format!(r#"tests="{tests}" failures="{failures}" errors="0""#);

    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    out.push_str(&format!("<testsuites name=\"pushplan\" {counts}>\n"));
    out.push_str(&format!("  <testsuite name=\"pushplan validate\" {counts} skipped=\"0\">\n"));
    for path in clean {
        let path = escape(path);
        out.push_str(&format!("    <testcase classname=\"{path}\" name=\"no problems\" file=\"{path}\"/>\n"));
    }
    for found in &report.found {
        out.push_str(&case(found, report.fails(found.finding)));
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

/// A finding that fails the run is a failure; any other is in the output of a passing test.
fn case(found: &LocatedFinding, fails: bool) -> String {
    let finding = found.finding;
    let place = found.place();
    let path = place.map_or("pushplan", |place| place.path);
    let start = place.and_then(|place| place.region).map(|region| region.start);
    let at = start.map_or(String::new(), |start| format!(" at {}:{}", start.line, start.column));
    let line = start.map_or(String::new(), |start| format!(" line=\"{}\"", start.line));
    let code = finding.code.name;
    let full = escape(&format!("{path}{}\n{}", at.replace(" at ", ":"), found.whole_text()));
    let inside = if fails {
        format!("<failure type=\"{code}\" message=\"{}\">{full}</failure>", escape(&finding.message))
    } else {
        format!("<system-out>{} {code}: {full}</system-out>", finding.severity.word())
    };
    let path = escape(path);
    format!(
        "    <testcase classname=\"{path}\" name=\"{code}{at}\" file=\"{path}\"{line}>\n      {inside}\n    </testcase>\n"
    )
}

/// Escapes a text for an element or an attribute. All characters are visible, because XML 1.0 does not allow others;
/// possible CI commands are read as the same text, but are not found as commands in a log.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, c, hidden) in marked(text) {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push_str(&format!("&#{};", u32::from(c))),
            '#' if text[at + 1..].starts_with('#') => out.push_str("&#35;"),
            c if hidden => out.push_str(&text::escape(c)),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_hold_is_escaped() {
        let shown = r"&lt;a b=&quot;&amp;&quot;&gt;&#10;\x00\x1B\uFFFFé😀&#35;#[x]";
        assert_eq!(escape("<a b=\"&\">\n\0\u{1b}\u{ffff}é😀##[x]"), shown);
    }
}
