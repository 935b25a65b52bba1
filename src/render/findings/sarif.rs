//! Findings as SARIF 2.1.0, the format that code hosts and editors read from analysers.

use serde_json::{Map, Value, json};

use super::{CheckReport, FilePosition, LocatedFinding, Region};
use crate::codes::Severity;
use crate::codes::{CODES, Code};

/// The whole report as one SARIF log.
pub fn sarif(report: &CheckReport) -> String {
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "pushplan",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": CODES.iter().map(|code| rule(code)).collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "results": report.found.iter().map(result).collect::<Vec<_>>(),
        }],
    });
    format!("{log:#}\n")
}

fn rule(code: &Code) -> Value {
    json!({
        "id": code.name,
        "shortDescription": { "text": code.title },
        "fullDescription": { "text": first_paragraph(code.page).unwrap_or_else(|| code.title.to_owned()) },
        "defaultConfiguration": { "level": level(code.severity) },
    })
}

/// The first paragraph after the heading of a page, on one line.
fn first_paragraph(page: &str) -> Option<String> {
    let (_, body) = page.split_once('\n')?;
    let mut lines = body.lines().skip_while(|line| line.trim().is_empty());
    let lines: Vec<&str> = lines.by_ref().take_while(|line| !line.trim().is_empty()).map(str::trim).collect();
    let text = lines.join(" ");
    (!text.is_empty() && !text.starts_with(['#', '`'])).then_some(text)
}

fn level(severity: Severity) -> &'static str {
    severity.word()
}

fn result(found: &LocatedFinding) -> Value {
    let finding = found.finding;
    let mut result = json!({
        "ruleId": finding.code.name,
        "ruleIndex": CODES.iter().position(|code| code.name == finding.code.name),
        "level": level(finding.severity),
        "message": { "text": found.whole_text() },
        "locations": [],
    });
    if let Some(place) = found.place() {
        let mut location = json!({ "physicalLocation": physical(place) });
        if let Some(address) = &finding.address {
            location["logicalLocations"] = json!([{ "fullyQualifiedName": address.to_string(), "kind": "resource" }]);
        }
        result["locations"] = json!([location]);
    }
    let related: Vec<Value> = finding
        .related
        .iter()
        .filter_map(|(span, label)| {
            Some(json!({ "physicalLocation": physical(found.place_of(*span)?), "message": { "text": label } }))
        })
        .collect();
    if !related.is_empty() {
        result["relatedLocations"] = related.into();
    }
    if let Some(fix) = finding.fix.as_ref().filter(|fix| fix.safe)
        && let Some(FilePosition { path, region: Some(region) }) = found.place_of(fix.at)
    {
        result["fixes"] = json!([{
            "description": { "text": finding.help.as_deref().unwrap_or(finding.code.title) },
            "artifactChanges": [{
                "artifactLocation": { "uri": uri(path) },
                "replacements": [{
                    "deletedRegion": region_of(region),
                    "insertedContent": { "text": fix.text },
                }],
            }],
        }]);
    }
    result
}

fn physical(place: FilePosition) -> Value {
    let mut physical = Map::new();
    physical.insert("artifactLocation".into(), json!({ "uri": uri(place.path) }));
    if let Some(region) = place.region {
        physical.insert("region".into(), region_of(region));
    }
    physical.into()
}

fn region_of(Region { start, end }: Region) -> Value {
    json!({
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
    })
}

/// A path as a URI reference: relative unchanged, absolute as `file://`.
fn uri(path: &str) -> String {
    let mut out = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_described_by_the_first_paragraph_of_its_page() {
        let page = "# AU101: a title\n\nVersion tags have\nthe form 8.3.X.\n\n## Wrong\n";
        assert_eq!(first_paragraph(page).as_deref(), Some("Version tags have the form 8.3.X."));
        assert_eq!(first_paragraph("# AU101: a title\n\n## Wrong\n"), None);
        assert_eq!(first_paragraph("# AU101: a title\n"), None);
    }

    #[test]
    fn paths_become_uris() {
        assert_eq!(uri("a b/ü#1.yaml"), "a%20b/%C3%BC%231.yaml");
        assert_eq!(uri("/x/y"), "file:///x/y");
    }
}
