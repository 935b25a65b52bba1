//! Rounds of `reconcile`: a line for each round and each change.

pub mod json;
pub mod metrics;

use std::time::Duration;

use crate::failure::Failure;
use crate::nouns::delay::Delay;
use crate::plan::Action;
use crate::reconcile::{Cause, Item, Looked, Round, RoundOutcome, TargetNews, TargetRound};
use crate::render::one_line;
use crate::text::{count, in_one};

/// The number of targets with the same outcome that are named.
const NAMED: usize = 5;
/// The number of fields of a change that are named.
const FIELDS: usize = 5;

/// The result of a round, in one line.
pub fn round(round: &Round, next: Option<Duration>) -> String {
    let Round { at, looked, .. } = round;
    let said = match looked {
        Looked::Nowhere(failure) => why(failure),
        Looked::At(targets) => match targets.as_slice() {
            [only] => format!("{}: {}", only.name, stands(only)),
            all => several(all),
        },
    };
    let next = next.map(|next| format!("; next in {}", shown(next))).unwrap_or_default();
    one_line(&format!("{at:.0} {said}{next}"))
}

/// A duration of at least a second.
fn shown(time: Duration) -> String {
    let seconds = i64::try_from(time.as_millis().div_ceil(1000)).unwrap_or(i64::MAX);
    Delay(seconds.max(1)).written()
}

fn why(failure: &Failure) -> String {
    match &failure.help {
        Some(help) => format!("{} ({})", in_one(&failure.message), in_one(help)),
        None => in_one(&failure.message),
    }
}

fn words(outcome: RoundOutcome) -> &'static str {
    match outcome {
        RoundOutcome::InSync => "in sync",
        RoundOutcome::Corrected => "corrected",
        RoundOutcome::Drift => "not in sync",
        RoundOutcome::Refused => "refused",
        RoundOutcome::Held => "skipped",
        RoundOutcome::Stopped => "stopped",
        RoundOutcome::Invalid => "invalid",
        RoundOutcome::Partly => "partly corrected",
        RoundOutcome::Failed => "failed",
    }
}

/// `not in sync, 2 changes, 1 of them made on the service`.
fn stands(target: &TargetRound) -> String {
    let mut said = vec![words(target.outcome).to_owned()];
    if !target.corrected.is_empty() {
        said.push(format!("{} made", count(target.corrected.len(), "change")));
    }
    if let Some(standing) = target.standing.as_ref().filter(|standing| !standing.items.is_empty()) {
        said.push(format!("{} to make", count(standing.items.len(), "change")));
        if standing.edited() > 0 {
            said.push(format!("{} changed in the dashboard", standing.edited()));
        }
    }
    said.extend(unwritten(target));
    let why = target.why.as_ref().map(|failure| format!(": {}", why(failure))).unwrap_or_default();
    format!("{}{why}", said.join(", "))
}

/// The note that results are not in the ledger yet, and what adds them.
fn unwritten(target: &TargetRound) -> Option<String> {
    let results = count(target.unwritten, "result");
    (target.unwritten > 0)
        .then(|| format!("{results} of an earlier run not in the ledger yet (the next apply here adds them)"))
}

/// `97 in sync; 2 not in sync: shop-at, shop-de`.
fn several(targets: &[TargetRound]) -> String {
    let group = |outcome: RoundOutcome| {
        let of: Vec<&str> = targets.iter().filter(|one| one.outcome == outcome).map(|one| one.name.as_str()).collect();
        let more = of.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        match (of.len(), outcome) {
            (0, _) => None,
            (number, RoundOutcome::InSync) => Some(format!("{number} in sync")),
            (number, _) => Some(format!("{number} {}: {}{more}", words(outcome), of[..number.min(NAMED)].join(", "))),
        }
    };
    RoundOutcome::ALL.into_iter().filter_map(group).collect::<Vec<_>>().join("; ")
}

/// With several targets, the failure of each and its unwritten results, a line each.
pub fn reasons(round: &Round) -> Vec<String> {
    let targets = round.looked.targets();
    if targets.len() < 2 {
        return Vec::new();
    }
    let said = |target: &TargetRound| {
        let all: Vec<String> = target.why.as_ref().map(why).into_iter().chain(unwritten(target)).collect();
        (!all.is_empty()).then(|| one_line(&format!("  {}: {}", target.name, all.join("; "))))
    };
    targets.iter().filter_map(said).collect()
}

/// The changes of a target since the previous round, a line each.
pub fn news(told: &TargetNews) -> Vec<String> {
    let TargetNews { target, standing, began, over, corrected } = told;
    let line = |sign: &str, words: String| one_line(&format!("  {target} {sign} {words}"));
    let began = began.iter().map(|item| line(item.action.symbol(), format!("{} {}", item.address, differs(item))));
    let made = corrected.iter().map(|item| line("=", format!("{} is corrected: {}", item.address, differs(item))));
    let over = over.iter().map(|item| line("=", format!("{} is in sync again", item.address)));
    let refused =
        standing.refused.iter().map(|one| line("!", format!("{} ({})", in_one(&one.message), in_one(&one.help))));
    made.chain(over).chain(began).chain(refused).collect()
}

/// The difference from the files.
fn differs(item: &Item) -> String {
    if item.action == Action::ByHand {
        return "needs a manual step in the dashboard".to_owned();
    }
    match (item.cause, item.fields.as_slice()) {
        (Cause::Files, _) if item.action == Action::Delete => "is no longer in your files".to_owned(),
        (Cause::Files, _) => "was not applied yet".to_owned(),
        (Cause::Service, []) => "was changed or removed on the service".to_owned(),
        (Cause::Service, fields) => {
            let more = fields.len().saturating_sub(FIELDS);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("was changed on the service: {}{more}", fields[..fields.len().min(FIELDS)].join(", "))
        }
    }
}
