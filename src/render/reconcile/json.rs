//! Rounds of `reconcile` as JSON: lines, the body of a webhook, and the response of `/healthz`.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::guard::Refused;
use crate::reconcile::{Counts, Item, Looked, Metrics, Round, TargetNews, TargetRound};

/// The version of these forms.
const VERSION: u32 = 1;
/// The number of changes of a target that a webhook gets in full. All of them are counted.
const MOST: usize = 100;

fn line(value: &Value) -> String {
    format!("{value}\n")
}

/// The address that it listens on.
pub fn listening(origin: &str) -> String {
    line(&json!({ "version": VERSION, "event": "listening", "origin": origin }))
}

/// The process stops.
pub fn stopped(at: Timestamp) -> String {
    line(&json!({ "version": VERSION, "event": "stopped", "at": at }))
}

/// A webhook could not be delivered.
pub fn not_posted(at: Timestamp, why: &str) -> String {
    line(&json!({ "version": VERSION, "event": "not_posted", "at": at, "why": why }))
}

/// The result of a round.
pub fn round(round: &Round, next: Option<Duration>) -> String {
    let Round { number, at, took, looked } = round;
    let why = match looked {
        Looked::Nowhere(failure) => Some(told(failure)),
        Looked::At(_) => None,
    };
    line(&json!({
        "version": VERSION,
        "event": "round",
        "round": number,
        "at": at,
        "seconds": took.as_secs_f64(),
        "outcome": looked.outcome().word(),
        "error": why,
        "targets": looked.targets().iter().map(target).collect::<Vec<_>>(),
        "next_in_seconds": next.map(|next| next.as_secs_f64()),
    }))
}

fn told(failure: &Failure) -> Value {
    json!({ "message": failure.message, "help": failure.help })
}

fn target(target: &TargetRound) -> Value {
    let counts = target.standing.as_ref().map(Counts::from);
    json!({
        "target": target.name,
        "outcome": target.outcome.word(),
        "drift": counts.map(|counts| counts.drift),
        "edited": counts.map(|counts| counts.edited),
        "refused": counts.map(|counts| counts.refused),
        "corrected": target.corrected.len(),
        "unwritten": target.unwritten,
        "error": target.why.as_ref().map(told),
    })
}

/// The changes of a target since the previous round, a line each.
pub fn news(news: &TargetNews, at: Timestamp) -> String {
    let TargetNews { target, standing, began, over, corrected } = news;
    let all = |event: &str, items: &[Item]| -> String {
        let of = |item: &Item| {
            line(&json!({ "version": VERSION, "event": event, "at": at, "target": target, "change": change(item) }))
        };
        items.iter().map(of).collect()
    };
    let refused = standing.refused.iter().map(|one| {
        line(&json!({ "version": VERSION, "event": "refused", "at": at, "target": target, "refused": refusal(one) }))
    });
    let refused: String = refused.collect();
    [all("corrected", corrected), all("over", over), all("drift", began), refused].concat()
}

/// A change without its values, because audiences and contents are only for the project's own members.
fn change(item: &Item) -> Value {
    let Item { address, action, cause, fields, .. } = item;
    json!({ "address": address, "action": action.word(), "cause": cause.word(), "fields": fields })
}

fn refusal(refused: &Refused) -> Value {
    let Refused { guard, message, help, .. } = refused;
    json!({ "guard": guard.word(), "message": message, "help": help })
}

/// The body of a webhook: the targets with news.
pub fn post(news: &[TargetNews], project: Option<&str>, fixes: bool, at: Timestamp) -> Value {
    let changes = |items: &[Item]| -> Vec<Value> { items.iter().take(MOST).map(change).collect() };
    let targets = news.iter().map(|told| {
        let TargetNews { target, standing, began, over, corrected } = told;
        let counts = Counts::from(standing);
        json!({
            "target": target,
            "in_sync": standing.items.is_empty(),
            "counts": {
                "drift": counts.drift,
                "edited": counts.edited,
                "began": began.len(),
                "over": over.len(),
                "corrected": corrected.len(),
            },
            "drift": changes(&standing.items),
            "began": changes(began),
            "over": changes(over),
            "corrected": changes(corrected),
            "refused": standing.refused.iter().map(refusal).collect::<Vec<_>>(),
        })
    });
    json!({
        "version": VERSION,
        "event": "drift",
        "at": at,
        "project": project,
        "mode": if fixes { "fix" } else { "report" },
        "targets": targets.collect::<Vec<_>>(),
    })
}

/// The health of the process.
pub fn health(metrics: &Metrics, every: Duration, now: Timestamp) -> String {
    let Metrics { last_success, last, failures, .. } = metrics;
    let age = last_success.map(|at| now.duration_since(at).as_secs().max(0));
    line(&json!({
        "status": metrics.health(every, now).word(),
        "last_success": last_success,
        "age_seconds": age,
        "every_seconds": every.as_secs(),
        "last_round": last.map(|(at, outcome)| json!({ "at": at, "outcome": outcome.word() })),
        "failures_in_a_row": failures,
    }))
}
