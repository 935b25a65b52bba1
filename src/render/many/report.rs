//! The results of an apply to several targets.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::json::Error;
use super::text::failed;
use crate::apply::{Ending, Report};
use crate::failure::Failure;
use crate::plan::Plan;
use crate::render::Repetition;
use crate::render::layout::{self, Paint, Row, Style, Words};
use crate::render::report::ReportDocument as Reported;
use crate::text::count;

/// One target and its result.
#[derive(Clone, Debug)]
pub struct TargetOutcome {
    pub target: String,
    pub fate: Fate,
}

#[derive(Clone, Debug)]
pub enum Fate {
    Applied(Report, Arc<Plan>, Repetition),
    /// There was nothing to do.
    Unchanged,
    Failed(Failure),
    NotBegun,
}

impl Fate {
    fn word(&self) -> &'static str {
        match self {
            Self::Applied(report, ..) if report.ending == Ending::Done => "applied",
            Self::Applied(report, plan, _) if report.did_anything(plan) => "partly",
            Self::Applied(..) | Self::Failed(_) => "failed",
            Self::Unchanged => "unchanged",
            Self::NotBegun => "not_begun",
        }
    }
}

/// The words for results, in the order of their importance to readers.
const FATES: [(&str, &str); 5] = [
    ("partly", "applied in part"),
    ("failed", "failed"),
    ("not_begun", "not begun"),
    ("applied", "applied"),
    ("unchanged", "without changes"),
];

/// The heading that is printed before a target is applied.
pub fn begins(target: &str, style: Style) -> String {
    let mut out = String::from("\n");
    layout::paragraph(&mut out, &Words::default().paint(target, Paint::Strong).and(":"), 0, style);
    out
}

/// A line for each target, and the number of targets with each result.
pub fn text(all: &[TargetOutcome], again: &Repetition, style: Style) -> String {
    let mut out = String::from("\n");
    let rows: Vec<Row> = all.iter().map(row).collect();
    layout::rows(&mut out, &rows, 2, style);
    out.push('\n');
    let number = |word: &str| all.iter().filter(|one| one.fate.word() == word).count();
    let parts = FATES.iter().map(|(word, words)| (number(word), words)).filter(|(number, _)| *number > 0);
    let parts: Vec<String> = parts.map(|(number, words)| format!("{number} {words}")).collect();
    let mut line = Words::new(&format!("{}: {}.", count(all.len(), "target"), parts.join(", ")));
    let is_left = all.iter().any(|one| matches!(one.fate.word(), "partly" | "failed" | "not_begun"));
    if is_left {
        line = line.and(" To continue without repeating finished steps: ").copy(&again.go_on());
    }
    layout::paragraph(&mut out, &line, 0, style);
    out
}

fn row(one: &TargetOutcome) -> Row {
    let words = FATES.iter().find(|(word, _)| *word == one.fate.word()).map_or("", |(_, words)| *words);
    match &one.fate {
        Fate::Failed(failure) => failed(&one.target, failure),
        Fate::Applied(report, plan, _) => {
            let paint = if report.ending == Ending::Done { Paint::New } else { Paint::Danger };
            let numbers = crate::render::report::numbers_of(report, plan);
            Row::new(&one.target, Words::default().paint(words, paint).and(": ").and(&numbers)).paint(Paint::Strong)
        }
        Fate::Unchanged => {
            Row::new(&one.target, Words::default().paint("no changes", Paint::Faint)).paint(Paint::Strong)
        }
        Fate::NotBegun => Row::new(&one.target, Words::default().paint(words, Paint::Asks)).paint(Paint::Strong),
    }
}

/// The output of `pushplan apply --format json` for several targets.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReportsDocument {
    /// The version of this format. It increases when a field is removed or changes its meaning.
    pub format_version: u32,
    pub targets: Vec<ReportTarget>,
}

/// The result of one target. `--format jsonl` prints a line for each target to which nothing was applied.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReportTarget {
    pub target: String,
    /// applied, partly, failed, unchanged or not_begun.
    pub fate: &'static str,
    /// The report of the run. Null if no run was started.
    pub report: Option<Reported>,
    /// The error, if no run could be started.
    pub error: Option<Error>,
}

impl ReportTarget {
    fn new(one: &TargetOutcome) -> Self {
        let (report, error) = match &one.fate {
            Fate::Applied(report, plan, again) => (Some(Reported::new(report, plan, again)), None),
            Fate::Failed(failure) => (None, Some(Error::new(failure))),
            Fate::Unchanged | Fate::NotBegun => (None, None),
        };
        Self { target: one.target.clone(), fate: one.fate.word(), report, error }
    }
}

/// All targets as one JSON object.
pub fn json(all: &[TargetOutcome]) -> String {
    let document = ReportsDocument { format_version: 1, targets: all.iter().map(ReportTarget::new).collect() };
    let mut text = serde_json::to_string_pretty(&document).expect("texts and numbers are valid JSON");
    text.push('\n');
    text
}

/// The JSON lines for targets without a run. The lines of a run end with the last line of its report, which names the
/// target.
pub fn lines(all: &[TargetOutcome]) -> String {
    let without = all.iter().filter(|one| !matches!(one.fate, Fate::Applied(..)));
    let line = |one: &TargetOutcome| {
        serde_json::to_string(&ReportTarget::new(one)).expect("texts and numbers are valid JSON") + "\n"
    };
    without.map(line).collect()
}
