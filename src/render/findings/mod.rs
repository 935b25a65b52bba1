//! Findings, as people and programs read them: one file per form, all of the same [`Report`].

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

/// What a run of the checks has to say.
#[derive(Debug)]
pub struct CheckReport<'a> {
    /// By file and position.
    pub found: Vec<LocatedFinding<'a>>,
    /// How many were turned off.
    pub suppressed: usize,
    /// How many resources were looked at.
    pub resources: usize,
    /// The files that were looked at, by the paths that people know them by.
    pub files: Vec<&'a str>,
    /// The project files that were looked at.
    pub project_files: Vec<&'a str>,
    /// What is to be said besides, a line each.
    pub notes: Vec<&'a str>,
    /// From which severity on the run fails.
    pub fails_from: Severity,
}

/// A finding and the texts that it points into.
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

/// A place as people name it. Without a region it is the file as a whole: one that is empty or cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FilePosition<'a> {
    path: &'a str,
    region: Option<Region>,
}

/// From a character to the one behind the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Region {
    start: Position,
    end: Position,
}

impl<'a> LocatedFinding<'a> {
    /// Where the finding is; nothing for one about no file.
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

    /// The message and all that explains it, a line each.
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
