//! A whole ledger, for users and for programs.

use std::collections::BTreeMap;
use std::fmt::Write;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::Serialize;

use super::one_line;
use crate::address::count_resources;
use crate::ledger::{Entry, Facts, Kept, Owned, Restored, Retired, Running, Seq, Unconfirmed};
use crate::text;

/// The version of the JSON format. It increases when a field is removed or changes its meaning.
const VERSION: u32 = 1;

/// A ledger and the facts shown about it.
#[derive(Debug)]
pub struct LedgerView<'v> {
    pub target: &'v str,
    pub place: &'v str,
    pub facts: &'v Facts,
    pub kept: &'v [Kept],
    /// Whether the lease of the run that has not ended is still valid.
    pub is_held: bool,
}

/// The output of `pushplan ledger status --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Status<'v> {
    /// The version of this format.
    format_version: u32,
    /// The target.
    target: &'v str,
    /// The place of the ledger.
    place: &'v str,
    /// The unique id of the ledger. Empty before the first record.
    lineage: &'v str,
    /// The number of records.
    records: Seq,
    /// The checkpoint from which it is read.
    checkpoint: Option<Seq>,
    /// The number of bytes that were read.
    bytes_read: usize,
    /// The last record; null before the first.
    last: Option<Last<'v>>,
    /// The number of managed resources. One that is applied in parts counts once.
    resources: usize,
    /// Addresses of requests with an unknown result.
    in_doubt: Vec<String>,
    /// The run that holds the lock, or was cut off.
    run: Option<&'v Running>,
    /// Whether the lease of that run is still valid; null if there is no run.
    run_is_held: Option<bool>,
    /// Results that could not be written to the ledger.
    unwritten: usize,
    /// The new place of the ledger, once it was moved.
    moved_to: Option<&'v str>,
    /// Whether the ledger was restored from a backup, and changes since the backup still have to be checked.
    gap_is_open: bool,
}

/// The author and the time of a record.
#[derive(Debug, Serialize, JsonSchema)]
struct Last<'v> {
    #[schemars(with = "String")]
    at: Timestamp,
    actor: &'v str,
}

/// The message after a user has accepted that records are lost.
pub fn accepted(target: &str, restored: &Restored) -> String {
    let Restored { ledger, seen, since } = restored;
    let (target, last) = (one_line(target), ledger.seq);
    let lost = if *seen > last { format!("; records {} to {seen} are lost", last + 1) } else { String::new() };
    let since = since.map_or("the beginning".to_owned(), time);
    format!(
        "The ledger of {target} continues after record {last}{lost}.\n\
         What was applied since {since} is unknown, so plans create nothing that may have been created or sent since.\n\
         Next:\n  \
         1. pushplan plan --target {target} lists what is unknown. Look it up in the dashboard, then run:\n     \
         pushplan resolve ADDRESS --created ID --target {target}, or --absent if it was neither created nor sent\n  \
         2. After the last one: pushplan ledger restore --close-gap --target {target}"
    )
}

impl LedgerView<'_> {
    pub fn text(&self) -> String {
        let Facts { position, last, checkpoint, ledger, .. } = self.facts;
        let mut out = format!("The ledger of {} is in {}\n", one_line(self.target), one_line(self.place));
        let Some(last) = last else {
            out.push_str("It has no record yet.");
            return out;
        };
        let mut row = |label: &str, words: String| {
            let _ = writeln!(out, "  {label:<11} {words}");
        };
        row("records", format!("{}, the last on {} by {}", position.seq, time(last.at), one_line(&last.actor)));
        row("read from", checkpoint.map_or("the first record".to_owned(), |seq| format!("record {seq}, a checkpoint")));
        let doubt = match ledger.open.len() {
            0 => String::new(),
            some => format!(", {some} unconfirmed"),
        };
        let resources = count_resources(ledger.owned.keys());
        row("managed", format!("{}{doubt}", text::count(resources, "resource")));
        row("locked by", ledger.run.as_ref().filter(|_| self.is_held).map_or("nobody".to_owned(), at_work));
        if let Some(run) = ledger.run.as_ref().filter(|_| !self.is_held) {
            row("cut off", cut_off(run));
        }
        if !self.kept.is_empty() {
            let results: usize = self.kept.iter().map(|kept| kept.outcomes().len()).sum();
            row("unwritten", format!("{}; the next command that writes adds them", text::count(results, "result")));
        }
        if let Some(gap) = ledger.gap.as_ref().filter(|gap| !gap.is_closed) {
            let since = gap.since.map_or("the beginning".to_owned(), time);
            row("gap", format!("restored from a backup: changes from {since} to {} are unknown", time(gap.at)));
        }
        if let Some(to) = self.facts.moved_to() {
            row("moved to", one_line(to));
        }
        out.truncate(out.trim_end().len());
        out
    }

    pub fn json(&self) -> String {
        let Facts { position, last, checkpoint, bytes, ledger } = self.facts;
        json(&Status {
            format_version: VERSION,
            target: self.target,
            place: self.place,
            lineage: &position.lineage,
            records: position.seq,
            checkpoint: *checkpoint,
            bytes_read: *bytes,
            last: last.as_ref().map(|entry| Last { at: entry.at, actor: &entry.actor }),
            resources: count_resources(ledger.owned.keys()),
            gap_is_open: ledger.gap.as_ref().is_some_and(|gap| !gap.is_closed),
            in_doubt: ledger.open.keys().map(ToString::to_string).collect(),
            run: ledger.run.as_ref(),
            run_is_held: ledger.run.as_ref().map(|_| self.is_held),
            unwritten: self.kept.iter().map(|kept| kept.outcomes().len()).sum(),
            moved_to: self.facts.moved_to(),
        })
    }
}

fn at_work(run: &Running) -> String {
    let until = run.expires.map(|end| format!(", until {} unless it is renewed", time(end))).unwrap_or_default();
    format!("{} since {}{until}; lease {}", one_line(&run.actor), time(run.since), one_line(&run.run))
}

/// A run that was cut off: nobody has to wait for it.
fn cut_off(run: &Running) -> String {
    let over = run.expires.map(|end| format!(" Its lease ended on {}.", time(end))).unwrap_or_default();
    format!(
        "the run of {} since {} has not ended.{over} The next apply continues after it.",
        one_line(&run.actor),
        time(run.since)
    )
}

fn time(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC).strftime("%a %-d %b %Y %H:%M:%S UTC").to_string()
}

/// The message that every record is intact.
pub fn verified(target: &str, place: &str, all: &[Entry]) -> String {
    let (target, place) = (one_line(target), one_line(place));
    match all {
        [] => format!("The ledger of {target} in {place} has no record yet."),
        [first, .., last] | [first @ last] => format!(
            "The ledger of {target} in {place} is intact: {} from {} to {}, in an unbroken chain.",
            text::count(all.len(), "record"),
            time(first.at),
            time(last.at)
        ),
    }
}

/// The message that a ledger was moved, with the remaining steps.
pub fn moved(target: &str, records: usize, from: &str, to: &str, is_declared: bool) -> String {
    let (target, from, to) = (one_line(target), one_line(from), one_line(to));
    let done = format!(
        "Moved the ledger of {target}: {} from {from} to {to}, read back and compared. {from} accepts no more records.",
        text::count(records, "record")
    );
    match is_declared {
        true => done,
        false => {
            format!("{done}\nWrite this in [targets.{target}] of pushplan.toml and commit it:\n  ledger = \"{to}\"")
        }
    }
}

#[derive(Serialize)]
struct Export<'f> {
    format_version: u32,
    target: &'f str,
    lineage: &'f str,
    records: Seq,
    app: &'f str,
    owned: BTreeMap<String, &'f Owned>,
    in_doubt: BTreeMap<String, &'f Unconfirmed>,
    retired: &'f [Retired],
    run: Option<&'f Running>,
}

/// The whole ledger as JSON.
pub fn export(target: &str, facts: &Facts) -> String {
    let Facts { position, ledger, .. } = facts;
    json(&Export {
        format_version: VERSION,
        target,
        lineage: &position.lineage,
        records: position.seq,
        app: &ledger.app,
        owned: ledger.owned.iter().map(|(address, owned)| (address.to_string(), owned)).collect(),
        in_doubt: ledger.open.iter().map(|(address, open)| (address.to_string(), open)).collect(),
        retired: &ledger.retired,
        run: ledger.run.as_ref(),
    })
}

/// Every record, one on each line.
pub fn records(all: &[Entry]) -> String {
    let line = |entry| serde_json::to_string(entry).expect("a record has text keys only");
    all.iter().map(|entry| format!("{}\n", line(entry))).collect()
}

fn json(value: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(value).expect("all keys are texts");
    format!("{text}\n")
}
