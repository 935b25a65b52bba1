//! The same for programs: one JSON object. It holds every fact that the text shows.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::ledger::history::{Act, Changed, Deed};
use crate::ledger::{Done, Kept};

/// The version of this form. It grows when a field changes its meaning or goes away.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct List<'d> {
    format_version: u32,
    target: &'d str,
    /// Oldest first.
    entries: Vec<One<'d>>,
    /// Results that could not be written to the ledger.
    unwritten: Vec<Unwritten<'d>>,
}

#[derive(Serialize)]
struct Whole<'d> {
    format_version: u32,
    target: &'d str,
    #[serde(flatten)]
    one: One<'d>,
    changes: Vec<Change<'d>>,
}

#[derive(Serialize)]
struct One<'d> {
    number: usize,
    at: String,
    actor: &'d str,
    /// `by hand` for a single command that changed the ledger alone.
    ended: &'static str,
    /// How many things became what.
    counts: BTreeMap<&'static str, usize>,
    run: Option<Run<'d>>,
    first_record: u64,
    last_record: u64,
}

#[derive(Serialize)]
struct Run<'d> {
    id: &'d str,
    plan: &'d str,
    tool: &'d str,
    planned: &'d BTreeMap<String, usize>,
}

#[derive(Serialize)]
struct Change<'d> {
    address: String,
    /// What was done, or tried: `created`, `updated`, …
    act: &'static str,
    /// `done`, `not` or `unknown`.
    result: &'static str,
    why: Option<&'d str>,
    id: Option<&'d str>,
    moved_to: Option<String>,
    before: Option<&'d Value>,
    after: Option<&'d Value>,
}

#[derive(Serialize)]
struct Unwritten<'d> {
    at: String,
    actor: &'d str,
    file: &'d str,
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
    written(&List { format_version: VERSION, target, entries, unwritten: unwritten.collect() })
}

pub fn one(target: &str, deed: &Deed) -> String {
    let changes = deed.changes.iter().map(change).collect();
    written(&Whole { format_version: VERSION, target, one: one_of(deed), changes })
}

fn one_of(deed: &Deed) -> One<'_> {
    One {
        number: deed.number,
        at: deed.at.to_string(),
        actor: &deed.actor,
        ended: deed.run.as_ref().map_or("by hand", |run| run.ended.word()),
        counts: super::counts(deed).into_iter().collect(),
        run: deed.run.as_ref().map(|run| Run {
            id: &run.id,
            plan: run.plan.as_str(),
            tool: &run.tool,
            planned: &run.planned,
        }),
        first_record: deed.first,
        last_record: deed.last,
    }
}

fn change(changed: &Changed) -> Change<'_> {
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
    Change {
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

fn written(data: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(data).expect("a history has text keys only");
    text.push('\n');
    text
}
