//! Findings for programs: one JSON object, described by a schema.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::LocatedFinding;
use crate::codes;
use crate::finding;
use crate::source::Span;

/// What `pushplan validate --format json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FindingsDocument<'a> {
    /// The version of this form. It grows when a field changes its meaning or goes away.
    pub version: u32,
    /// What was found, by file and position.
    #[serde(serialize_with = "one_by_one")]
    #[schemars(with = "Vec<Finding>")]
    findings: &'a [LocatedFinding<'a>],
    /// How many of the findings are errors.
    pub errors: usize,
    /// How many of the findings are warnings.
    pub warnings: usize,
    /// How many were turned off in the project file or on their resource.
    pub suppressed: usize,
}

/// One thing that is wrong.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Finding {
    /// The code, such as AU101. `pushplan explain AU101` tells more.
    pub code: &'static str,
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// The file, relative to the folder that the command ran in. Null for what is about no file.
    pub file: Option<String>,
    /// The line, from 1. Null, as are the next three, where the file as a whole is meant.
    pub line: Option<usize>,
    /// The column, from 1, in characters.
    pub column: Option<usize>,
    /// The line of the end.
    pub end_line: Option<usize>,
    /// The column behind the last character.
    pub end_column: Option<usize>,
    /// A few words about the place; may be empty.
    pub label: String,
    /// Why it matters.
    pub notes: Vec<String>,
    /// What to write instead.
    pub help: Option<String>,
    /// Other places that belong to it.
    pub related: Vec<Related>,
    pub fix: Option<Fix>,
    /// The resource it is about, such as segments/lapsed-buyers.
    pub address: Option<String>,
}

/// How much a finding matters.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Warning,
    Error,
}

/// Another place that belongs to a finding.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Related {
    /// The file, relative to the folder that the command ran in.
    pub file: String,
    /// The line, from 1.
    pub line: Option<usize>,
    /// The column, from 1, in characters.
    pub column: Option<usize>,
    /// What the place has to do with it.
    pub label: String,
}

/// An edit that removes a finding.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Fix {
    /// The file, relative to the folder that the command ran in.
    pub file: String,
    /// Where the text to be replaced begins, in bytes from the beginning of the file.
    pub start_byte: usize,
    /// Where it ends: the byte behind the last.
    pub end_byte: usize,
    /// The line where the text to be replaced begins, from 1.
    pub line: Option<usize>,
    /// The column, from 1, in characters.
    pub column: Option<usize>,
    /// The line of the end.
    pub end_line: Option<usize>,
    /// The column behind the last character.
    pub end_column: Option<usize>,
    /// What is there afterwards.
    pub text: String,
    /// Whether the edit cannot change what the author meant, so that `--fix` carries it out.
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
    /// One for each thing that is wrong, by file and position.
    Finding(Box<Finding>),
    /// The last line.
    Summary(Summary),
}

/// What all findings add up to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Summary {
    /// The version of this form. It grows when a field changes its meaning or goes away.
    pub version: u32,
    /// How many of the findings are errors.
    pub errors: usize,
    /// How many of the findings are warnings.
    pub warnings: usize,
    /// How many were turned off in the project file or on their resource.
    pub suppressed: usize,
}

/// An object on a line for each finding, and one for what they add up to. A reader that has the last one has them all.
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

/// Writes each finding before the next is prepared: a hundred thousand of them never are in memory twice.
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
