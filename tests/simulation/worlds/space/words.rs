//! Stories in words: plans, records and reports in one line each.

use pushplan::address::Address;
use pushplan::apply::{Ending, Fate, Report};
use pushplan::ledger::Record;
use pushplan::plan::Plan;

/// A plan in one line.
pub fn words(plan: &Plan) -> String {
    let changes = plan.changes.iter().filter(|change| change.action.symbol() != " ");
    let changes: Vec<String> = changes.map(|change| format!("{} {}", change.action.word(), change.address)).collect();
    let steps: Vec<String> =
        plan.steps.iter().map(|step| step_words(&step.address, step.verb, step.id.as_deref())).collect();
    match (changes.is_empty(), steps.is_empty()) {
        (true, true) => "nothing to do".to_owned(),
        (true, false) => format!("steps: {}", steps.join(", ")),
        (false, true) => format!("{}; no steps", changes.join(", ")),
        (false, false) => format!("{}; steps: {}", changes.join(", "), steps.join(", ")),
    }
}

fn step_words(address: &Address, verb: pushplan::ledger::Verb, id: Option<&str>) -> String {
    let verb = format!("{verb:?}").to_lowercase();
    id.map_or_else(|| format!("{verb} {address}"), |id| format!("{verb} {address} ({id})"))
}

/// The result of a run, in one line.
pub fn ending(report: &Report) -> String {
    let fate = |fate: &Fate| match fate {
        Fate::Done { .. } => "done".to_owned(),
        Fate::Failed { why } => format!("failed ({why})"),
        Fate::Unknown { .. } => "unknown".to_owned(),
        Fate::Skipped { .. } => "skipped".to_owned(),
        Fate::NotStarted => "not started".to_owned(),
    };
    let steps: Vec<String> = report.steps.iter().map(|step| format!("{} {}", step.address, fate(&step.fate))).collect();
    let ending = match &report.ending {
        Ending::Done => "all done",
        Ending::Partly => "done in part",
        Ending::Interrupted => "interrupted",
        Ending::Conflict => "another one has begun",
        Ending::Unlocked { .. } => "unlocked",
        Ending::Ledger { .. } => "the ledger cannot be written",
    };
    format!("{ending} ({})", steps.join(", "))
}

/// A record in a few words.
pub fn record(record: &Record) -> String {
    match record {
        Record::Begin(_) => "begin".to_owned(),
        Record::Alive { .. } => "alive".to_owned(),
        Record::Intents(all) => {
            let all: Vec<String> = all.iter().map(|it| step_words(&it.address, it.verb, it.id.as_deref())).collect();
            format!("intents: {}", all.join(", "))
        }
        Record::Outcomes(all) => {
            let all: Vec<String> = all.iter().map(ToString::to_string).collect();
            format!("outcomes: {}", all.join(", "))
        }
        Record::Adopt(all) => {
            let all: Vec<String> = all.iter().map(|one| format!("{} ({})", one.address, one.id)).collect();
            format!("adopt: {}", all.join(", "))
        }
        Record::Forget(all) => {
            let all: Vec<String> = all.iter().map(ToString::to_string).collect();
            format!("forget: {}", all.join(", "))
        }
        Record::Move { from, to } => format!("move: {from} to {to}"),
        Record::Resolve { address, .. } => format!("resolve: {address}"),
        Record::End { .. } => "end".to_owned(),
        Record::Gap { .. } => "gap".to_owned(),
        _ => "another record".to_owned(),
    }
}
