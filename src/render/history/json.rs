//! The history as one JSON object, with every fact of the text.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::ledger::history::{Act, Changed, Deed};
use crate::ledger::{Done, Kept};

/// The version of this format. It increases when a field is removed or changes its meaning.
const VERSION: u32 = 1;

/// The output of `pushplan history --format json`: all runs, or one.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum HistoryDocument<'d> {
    List(List<'d>),
    One(Whole<'d>),
}

/// All runs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct List<'d> {
    /// The version of this format.
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
    /// The version of this format.
    format_version: u32,
    /// The target.
    target: &'d str,
    #[serde(flatten)]
    one: HistorySummary<'d>,
    /// Its changes, done or tried.
    changes: Vec<HistoryChange<'d>>,
}

/// A run, without its changes.
#[derive(Debug, Serialize, JsonSchema)]
struct HistorySummary<'d> {
    /// From 1. It stays the same.
    number: usize,
    /// When it began.
    at: String,
    /// The user.
    actor: &'d str,
    /// `done`, `in part`, `interrupted`, `cut off` or `not ended`; `by hand` for a single command that changed the ledger alone.
    ended: &'static str,
    /// The number of resources per result. One that is applied in parts counts once.
    counts: BTreeMap<&'static str, usize>,
    /// Details of a run; null for a single command.
    run: Option<HistoryRun<'d>>,
    /// Changes of the ledger as a whole, in words; missing if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
    /// Its first record in the ledger.
    first_record: u64,
    /// The last one.
    last_record: u64,
}

/// A run.
#[derive(Debug, Serialize, JsonSchema)]
struct HistoryRun<'d> {
    /// Its unique id.
    id: &'d str,
    /// The digest of its plan.
    plan: &'d str,
    /// The version of pushplan.
    tool: &'d str,
    /// The number of changes per action in its plan. Parts of a resource are counted one by one.
    planned: &'d BTreeMap<String, usize>,
    /// The number of the run that it reverts; null if it is not a revert.
    reverts: Option<usize>,
}

/// One change, done or tried.
#[derive(Debug, Serialize, JsonSchema)]
struct HistoryChange<'d> {
    /// The address, such as `segments/lapsed`.
    address: String,
    /// The action: `created`, `updated`, …
    act: &'static str,
    /// `done`, `not` or `unknown`.
    result: &'static str,
    /// Why it was not done, or why the result is unknown.
    why: Option<&'d str>,
    /// The id on the service, if known.
    id: Option<&'d str>,
    /// Its new address.
    moved_to: Option<String>,
    /// The old content, according to the ledger.
    before: Option<&'d Value>,
    /// The new content.
    after: Option<&'d Value>,
}

/// Results that are stored next to the ledger until it can be written.
#[derive(Debug, Serialize, JsonSchema)]
struct Unwritten<'d> {
    /// When they were received.
    at: String,
    /// The user.
    actor: &'d str,
    /// The file in which they are stored.
    file: &'d str,
    /// The result of each step, in words.
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
            reverts: run.reverts,
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
