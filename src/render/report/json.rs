//! The result of an apply as JSON.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Next, ShownRun, ended, next, present_tense, why, word};
use crate::apply::{Ending, Fate, Report, StepReport};
use crate::plan::{Plan, Step};
use crate::render::Repetition;
use crate::render::lease::HeldDocument;

/// The output of `pushplan apply --format json`, and the last line of `--format jsonl`: the result of a run, or the run that holds the lock.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Printed<'p> {
    Ran(ReportDocument),
    Held(HeldDocument<'p>),
}

/// The result of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReportDocument {
    /// The version of this format. It increases when a field is removed or changes its meaning.
    pub format_version: u32,
    /// The unique id of this run.
    pub run: String,
    /// The digest of the plan.
    pub plan: String,
    pub target: String,
    /// done, partly, failed (nothing was done), interrupted, conflict, unlocked or ledger.
    pub ending: String,
    /// The ending in words.
    pub words: String,
    /// The number of the last ledger record that this run has read or written.
    pub ledger: u64,
    pub counts: FateCounts,
    /// The result of each step that changes the service. The last line of `--format jsonl` has only the steps that were not started.
    pub steps: Vec<StepLine>,
    /// Commands to run next.
    pub next: Vec<Next>,
}

/// The number of steps with each result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FateCounts {
    pub done: usize,
    pub failed: usize,
    /// Steps whose request was sent, and whose result is unknown.
    pub unknown: usize,
    pub skipped: usize,
    pub not_started: usize,
    /// Manual steps that are left.
    pub by_hand: usize,
}

/// The result of a step. `--format jsonl` prints a line for each finished step.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StepLine {
    /// Its position in the plan, from 0.
    pub step: usize,
    /// The address of its resource, such as `segments/lapsed`.
    pub address: String,
    /// create, update, delete, adopt, forget or move.
    pub verb: &'static str,
    /// done, failed, unknown, skipped or not_started.
    pub fate: &'static str,
    /// The id of the created resource.
    pub id: Option<String>,
    /// Why it was not done, or why its result is unknown.
    pub why: Option<String>,
    /// Whether the result is in the ledger. Missing while the run continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<bool>,
}

impl StepLine {
    /// A finished step of a run that continues.
    pub fn of(step: &Step, fate: &Fate) -> Self {
        let Step { number, address, verb, .. } = step;
        Self {
            step: *number,
            address: address.to_string(),
            verb: present_tense(*verb),
            fate: word(fate),
            id: if let Fate::Done { id, .. } = fate { id.clone() } else { None },
            why: why(fate).map(str::to_owned),
            recorded: None,
        }
    }

    fn new(report: &StepReport) -> Self {
        let StepReport { step, address, verb, fate, recorded } = report;
        Self {
            step: *step,
            address: address.to_string(),
            verb: present_tense(*verb),
            fate: word(fate),
            id: if let Fate::Done { id, .. } = fate { id.clone() } else { None },
            why: why(fate).map(str::to_owned),
            recorded: Some(*recorded),
        }
    }

    /// The step as one line of JSON.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers are valid JSON")
    }
}

impl ReportDocument {
    pub fn new(report: &Report, plan: &Plan, again: &Repetition) -> Self {
        let told = ShownRun::of(report, plan);
        let ending = match &report.ending {
            Ending::Done => "done",
            Ending::Partly if report.did_anything(plan) => "partly",
            Ending::Partly => "failed",
            Ending::Interrupted => "interrupted",
            Ending::Conflict => "conflict",
            Ending::Unlocked { .. } => "unlocked",
            Ending::Ledger { .. } => "ledger",
        };
        Self {
            format_version: 1,
            run: report.run.clone(),
            plan: report.plan.to_string(),
            target: plan.target.clone(),
            ending: ending.to_owned(),
            words: ended(report, plan).plain(),
            ledger: report.ledger,
            counts: FateCounts {
                done: told.count("done"),
                failed: told.count("failed"),
                unknown: told.count("unknown"),
                skipped: told.count("skipped"),
                not_started: told.count("not_started"),
                by_hand: plan.manual(),
            },
            steps: told.steps.iter().map(|step| StepLine::new(step)).collect(),
            next: next(report, plan, again),
        }
    }
}

/// The whole report as one JSON object.
pub fn json(report: &Report, plan: &Plan, again: &Repetition) -> String {
    let mut text = serde_json::to_string_pretty(&ReportDocument::new(report, plan, again))
        .expect("texts and numbers are valid JSON");
    text.push('\n');
    text
}

/// The last line of JSON: the result. The other lines were written during the run.
pub fn last_line(report: &Report, plan: &Plan, again: &Repetition) -> String {
    let mut document = ReportDocument::new(report, plan, again);
    document.steps.retain(|line| line.fate == word(&Fate::NotStarted));
    let mut text = serde_json::to_string(&document).expect("texts and numbers are valid JSON");
    text.push('\n');
    text
}
