//! The history for programs: one JSON object. It holds every fact that the text shows.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::ledger::history::{Act, Changed, Deed};
use crate::ledger::{Done, Kept};

/// The version of this form. It grows when a field changes its meaning or goes away.
const VERSION: u32 = 1;

/// What `pushplan history --format json` prints: all that was done, or one of it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum HistoryDocument<'d> {
    List(List<'d>),
    One(Whole<'d>),
}

/// All that was done.
#[derive(Debug, Serialize, JsonSchema)]
pub struct List<'d> {
    /// The version of this form.
    format_version: u32,
    /// The target.
    target: &'d str,
    /// Oldest first.
    entries: Vec<HistorySummary<'d>>,
    /// Results that could not be written to the ledger.
    unwritten: Vec<Unwritten<'d>>,
}

/// One run, or one command that changed the ledger alone.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Whole<'d> {
    /// The version of this form.
    format_version: u32,
    /// The target.
    target: &'d str,
    #[serde(flatten)]
    one: HistorySummary<'d>,
    /// What it did, or tried to do.
    changes: Vec<HistoryChange<'d>>,
}

/// What was done, without its changes.
#[derive(Debug, Serialize, JsonSchema)]
struct HistorySummary<'d> {
    /// From 1. It stays the same.
    number: usize,
    /// When it began.
    at: String,
    /// Who it was.
    actor: &'d str,
    /// `done`, `in part`, `interrupted`, `cut off` or `not ended`; `by hand` for a single command that changed the ledger alone.
    ended: &'static str,
    /// How many things became what.
    counts: BTreeMap<&'static str, usize>,
    /// What is known of a run; null for a single command.
    run: Option<HistoryRun<'d>>,
    /// What was done to the ledger as a whole, in words; left out where nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
    /// The first record of the ledger that tells of it.
    first_record: u64,
    /// The last one.
    last_record: u64,
}

/// A run.
#[derive(Debug, Serialize, JsonSchema)]
struct HistoryRun<'d> {
    /// Tells it from every other.
    id: &'d str,
    /// The digest of its plan.
    plan: &'d str,
    /// The version of pushplan.
    tool: &'d str,
    /// How many changes of each action its plan had.
    planned: &'d BTreeMap<String, usize>,
}

/// One thing that was done, or tried.
#[derive(Debug, Serialize, JsonSchema)]
struct HistoryChange<'d> {
    /// What it was done to, such as `segments/lapsed`.
    address: String,
    /// What was done, or tried: `created`, `updated`, …
    act: &'static str,
    /// `done`, `not` or `unknown`.
    result: &'static str,
    /// Why it was not done, or why nobody knows.
    why: Option<&'d str>,
    /// The thing on the service, where it is known.
    id: Option<&'d str>,
    /// The address that it has since.
    moved_to: Option<String>,
    /// What it was before, as far as the ledger knew.
    before: Option<&'d Value>,
    /// What it was to be.
    after: Option<&'d Value>,
}

/// Results that are kept beside the ledger until it can be written.
#[derive(Debug, Serialize, JsonSchema)]
struct Unwritten<'d> {
    /// When they were known.
    at: String,
    /// Who it was.
    actor: &'d str,
    /// Where they are kept.
    file: &'d str,
    /// What became of each step, in words.
    results: Vec<String>,
}

pub fn list(target: &str, deeds: &[Deed], kept: &[Kept]) -> String {
    let unwritten = kept.iter().map(|kept| Unwritten {
        at: kept.entry.at.to_string(),
        actor: &kept.entry.actor,
        file: &kept.file,
        results: kept.outcomes().iter().map(ToString::to_string).collect(),
    });
    let entries = deeds.iter().map(one_of).collect();
    written(&HistoryDocument::List(List { format_version: VERSION, target, entries, unwritten: unwritten.collect() }))
}

pub fn one(target: &str, deed: &Deed) -> String {
    let changes = deed.changes.iter().map(change).collect();
    written(&HistoryDocument::One(Whole { format_version: VERSION, target, one: one_of(deed), changes }))
}

fn one_of(deed: &Deed) -> HistorySummary<'_> {
    HistorySummary {
        number: deed.number,
        at: deed.at.to_string(),
        actor: &deed.actor,
        ended: deed.run.as_ref().map_or("by hand", |run| run.ended.word()),
        counts: super::counts(deed).into_iter().collect(),
        run: deed.run.as_ref().map(|run| HistoryRun {
            id: &run.id,
            plan: run.plan.as_str(),
            tool: &run.tool,
            planned: &run.planned,
        }),
        note: deed.note,
        first_record: deed.first,
        last_record: deed.last,
    }
}

fn change(changed: &Changed) -> HistoryChange<'_> {
    let (result, why) = match &changed.result {
        Some(Done::Done { .. }) => ("done", None),
        Some(Done::Not { why }) => ("not", Some(why.as_str())),
        Some(Done::Unknown { why }) => ("unknown", Some(why.as_str())),
        None => ("unknown", None),
    };
    let moved_to = match &changed.act {
        Act::Move(to) => Some(to.to_string()),
        Act::Step(_) | Act::Resolve => None,
    };
    HistoryChange {
        address: changed.address.to_string(),
        act: changed.act.done(),
        result,
        why,
        id: changed.id.as_deref(),
        moved_to,
        before: changed.before.as_deref(),
        after: changed.after.as_deref(),
    }
}

fn written(data: &HistoryDocument) -> String {
    let mut text = serde_json::to_string_pretty(data).expect("a history has text keys only");
    text.push('\n');
    text
}
