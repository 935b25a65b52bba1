//! Findings for programs: one JSON object, with a schema.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::LocatedFinding;
use crate::codes;
use crate::finding;
use crate::source::Span;

/// The output of `pushplan validate --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FindingsDocument<'a> {
    /// The version of this format. It increases when a field is removed or changes its meaning.
    pub version: u32,
    /// The findings, by file and position.
    #[serde(serialize_with = "one_by_one")]
    #[schemars(with = "Vec<Finding>")]
    findings: &'a [LocatedFinding<'a>],
    /// Number of errors.
    pub errors: usize,
    /// Number of warnings.
    pub warnings: usize,
    /// Number of findings that are turned off in the project file or on their resource.
    pub suppressed: usize,
}

/// One finding.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Finding {
    /// The code, such as AU101. `pushplan explain AU101` explains it.
    pub code: &'static str,
    pub severity: Severity,
    /// The message.
    pub message: String,
    /// The file, relative to the folder that the command ran in. Null if it has no file.
    pub file: Option<String>,
    /// The line, from 1. Null for the whole file, like the next three fields.
    pub line: Option<usize>,
    /// The column, from 1, in characters.
    pub column: Option<usize>,
    /// The line of the end.
    pub end_line: Option<usize>,
    /// The column after the last character.
    pub end_column: Option<usize>,
    /// A few words about the place; may be empty.
    pub label: String,
    /// Why it matters.
    pub notes: Vec<String>,
    /// The suggestion.
    pub help: Option<String>,
    /// Related places.
    pub related: Vec<Related>,
    pub fix: Option<Fix>,
    /// Its resource, such as segments/lapsed-buyers.
    pub address: Option<String>,
}

/// The severity of a finding.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Warning,
    Error,
}

/// A related place of a finding.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Related {
    /// The file, relative to the folder that the command ran in.
    pub file: String,
    /// The line, from 1.
    pub line: Option<usize>,
    /// The column, from 1, in characters.
    pub column: Option<usize>,
    /// Its relation to the finding.
    pub label: String,
}

/// An edit that removes a finding.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Fix {
    /// The file, relative to the folder that the command ran in.
    pub file: String,
    /// The start of the text to be replaced, in bytes from the beginning of the file.
    pub start_byte: usize,
    /// Its end: the byte after the last.
    pub end_byte: usize,
    /// The line where the text to be replaced begins, from 1.
    pub line: Option<usize>,
    /// The column, from 1, in characters.
    pub column: Option<usize>,
    /// The line of the end.
    pub end_line: Option<usize>,
    /// The column after the last character.
    pub end_column: Option<usize>,
    /// The new text.
    pub text: String,
    /// Whether the edit is safe, so `--fix` makes it.
    pub safe: bool,
}

/// The whole report as one object.
pub fn json(report: &super::CheckReport) -> String {
    let mut text =
        serde_json::to_string_pretty(&FindingsDocument::new(report)).expect("texts and numbers are valid JSON");
    text.push('\n');
    text
}

/// A line of `pushplan validate --format jsonl`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum FindingLine {
    /// A finding; they are sorted by file and position.
    Finding(Box<Finding>),
    /// The last line.
    Summary(Summary),
}

/// The numbers of all findings.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Summary {
    /// The version of this format. It increases when a field is removed or changes its meaning.
    pub version: u32,
    /// Number of errors.
    pub errors: usize,
    /// Number of warnings.
    pub warnings: usize,
    /// Number of findings that are turned off in the project file or on their resource.
    pub suppressed: usize,
}

/// A JSON line for each finding, and one for the totals, which is the last and so marks the end.
pub fn lines(report: &super::CheckReport) -> String {
    let FindingsDocument { version, findings, errors, warnings, suppressed } = FindingsDocument::new(report);
    let findings = findings.iter().map(|found| FindingLine::Finding(Box::new(Finding::new(found))));
    let summary = FindingLine::Summary(Summary { version, errors, warnings, suppressed });
    let line = |line: FindingLine| serde_json::to_string(&line).expect("texts and numbers are valid JSON") + "\n";
    findings.chain([summary]).map(line).collect()
}

impl<'a> FindingsDocument<'a> {
    pub fn new(report: &'a super::CheckReport) -> Self {
        Self {
            version: 1,
            findings: &report.found,
            errors: report.count(codes::Severity::Error),
            warnings: report.count(codes::Severity::Warning),
            suppressed: report.suppressed,
        }
    }
}

/// Serializes the findings one by one, so that a hundred thousand of them are not in memory twice.
fn one_by_one<S: Serializer>(findings: &&[LocatedFinding], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(findings.iter().map(Finding::new))
}

impl Finding {
    fn new(found: &LocatedFinding) -> Self {
        let finding::Finding { code, severity, message, at, label, related, notes, help, fix, address, part: _ } =
            found.finding;
        let place = found.place_of(*at);
        let region = place.and_then(|place| place.region);
        Self {
            code: code.name,
            severity: match severity {
                codes::Severity::Warning => Severity::Warning,
                codes::Severity::Error => Severity::Error,
            },
            message: message.clone(),
            file: place.map(|place| place.path.to_owned()),
            line: region.map(|region| region.start.line),
            column: region.map(|region| region.start.column),
            end_line: region.map(|region| region.end.line),
            end_column: region.map(|region| region.end.column),
            label: label.clone(),
            notes: notes.clone(),
            help: help.clone(),
            related: related.iter().filter_map(|(span, label)| Related::new(found, *span, label)).collect(),
            fix: fix.as_ref().and_then(|fix| Fix::new(found, fix)),
            address: address.as_ref().map(ToString::to_string),
        }
    }
}

impl Related {
    fn new(found: &LocatedFinding, span: Span, label: &str) -> Option<Self> {
        let place = found.place_of(span)?;
        Some(Self {
            file: place.path.to_owned(),
            line: place.region.map(|region| region.start.line),
            column: place.region.map(|region| region.start.column),
            label: label.to_owned(),
        })
    }
}

impl Fix {
    fn new(found: &LocatedFinding, fix: &finding::Fix) -> Option<Self> {
        let place = found.place_of(fix.at)?;
        Some(Self {
            file: place.path.to_owned(),
            start_byte: fix.at.range().start,
            end_byte: fix.at.range().end,
            line: place.region.map(|region| region.start.line),
            column: place.region.map(|region| region.start.column),
            end_line: place.region.map(|region| region.end.line),
            end_column: place.region.map(|region| region.end.column),
            text: fix.text.clone(),
            safe: fix.safe,
        })
    }
}
