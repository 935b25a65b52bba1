//! Findings for users and programs: one file per form, all of the same [`Report`].

mod code_quality;
mod excerpt;
mod github;
pub mod json;
mod junit;
mod sarif;
mod text;

use std::collections::BTreeSet;

pub use code_quality::code_quality;
pub use github::{github, github_rest};
pub use junit::junit;
pub use sarif::sarif;
pub use text::{fixed, text};

use crate::codes::Severity;
use crate::finding::Finding;
use crate::source::{Position, Sources, Span};

/// The result of a run of the checks.
#[derive(Debug)]
pub struct CheckReport<'a> {
    /// The findings, by file and position.
    pub found: Vec<LocatedFinding<'a>>,
    /// The number of findings that were turned off.
    pub suppressed: usize,
    /// The number of checked resources.
    pub resources: usize,
    /// The checked files, by their shown paths.
    pub files: Vec<&'a str>,
    /// The checked project files.
    pub project_files: Vec<&'a str>,
    /// Further notes, a line each.
    pub notes: Vec<&'a str>,
    /// The severity from which the run fails.
    pub fails_from: Severity,
}

/// A finding and its source texts.
#[derive(Clone, Copy, Debug)]
pub struct LocatedFinding<'a> {
    pub finding: &'a Finding,
    pub sources: &'a Sources,
}

impl CheckReport<'_> {
    pub fn count(&self, severity: Severity) -> usize {
        self.found.iter().filter(|found| found.finding.severity == severity).count()
    }

    /// Whether a finding makes the run fail.
    pub fn fails(&self, finding: &Finding) -> bool {
        finding.severity >= self.fails_from
    }

    /// How many findings `--fix` would remove.
    fn fixable(&self) -> usize {
        self.found.iter().filter(|found| found.finding.is_fixable()).count()
    }

    /// How many files have findings.
    fn files_with_findings(&self) -> usize {
        self.found.iter().filter_map(LocatedFinding::place).map(|place| place.path).collect::<BTreeSet<_>>().len()
    }
}

/// A place with its shown path. Without a region it is the whole file, which may be empty or unreadable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FilePosition<'a> {
    path: &'a str,
    region: Option<Region>,
}

/// A range from a character to the one after the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Region {
    start: Position,
    end: Position,
}

impl<'a> LocatedFinding<'a> {
    /// The place of the finding; `None` if it has no file.
    fn place(&self) -> Option<FilePosition<'a>> {
        self.place_of(self.finding.at)
    }

    fn place_of(&self, span: Span) -> Option<FilePosition<'a>> {
        let source = self.sources.get(span.file()?);
        let range = span.range();
        let region = (!source.text.is_empty())
            .then(|| Region { start: source.position(range.start), end: source.position(range.end.max(range.start)) });
        Some(FilePosition { path: &source.path, region })
    }

    /// The message and all explanations, a line each.
    fn whole_text(&self) -> String {
        let Finding { message, label, notes, help, .. } = self.finding;
        let mut lines = vec![message.clone()];
        if !label.is_empty() {
            lines.push(label.clone());
        }
        lines.extend(notes.iter().map(|note| format!("note: {note}")));
        lines.extend(help.iter().map(|help| format!("help: {help}")));
        lines.join("\n")
    }
}
