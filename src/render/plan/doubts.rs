//! Questions that only a user can answer, each with the commands for the answers.

use jiff::Timestamp;

use super::PlanView;
use crate::address::Address;
use crate::kinds::{self, Read};
use crate::render::layout::{Paint, Row, Words};
use crate::text::any_of;
use crate::timing::words::moment;

/// The response to a creation was lost.
pub(super) fn created(view: &PlanView, address: &Address, since: Timestamp, candidates: &[String]) -> Row {
    let words = format!("its creation was sent on {}, but the answer was lost: it may exist", moment(since));
    let mut row = asks("unconfirmed", &words);
    if !candidates.is_empty() {
        row = row.line(Words::new(&format!("it may be {}", any_of(candidates))));
    }
    let id = if let [id] = candidates { id } else { "ID" };
    let answers = [("if it exists: ", format!("--created {id}")), ("if it does not exist: ", "--absent".to_owned())];
    unread(view, address, answered(view, address, row, &answers))
}

/// The response to a deletion was lost, and its time has passed since.
pub(super) fn deleted(view: &PlanView, address: &Address, since: Timestamp, id: &str, due: Timestamp) -> Row {
    let is_over = due <= view.plan.made;
    let or = if is_over { "it was sent" } else { "it still exists and is sent" };
    let words = format!(
        "its deletion was sent on {}, but the answer was lost: it was deleted, or {or} on {}",
        moment(since),
        moment(due)
    );
    let kept = if is_over { "if it was sent: " } else { "if it exists: " };
    let answers = [("if it was deleted: ", "--absent".to_owned()), (kept, format!("--created {id}"))];
    answered(view, address, asks("unconfirmed", &words), &answers)
}

/// The ledger was restored from a backup.
pub(super) fn since_gap(view: &PlanView, address: &Address, since: Option<Timestamp>, accepted: Timestamp) -> Row {
    let from = since.map_or_else(|| "at any time".to_owned(), |since| format!("between {}", moment(since)));
    let until = if since.is_some() { "and" } else { "before" };
    let words = format!(
        "the ledger was restored from a backup: this may have been created {from} {until} {}",
        moment(accepted)
    );
    let mut answers = vec![("if it exists: ", "--created ID".to_owned())];
    if kinds::api(address).has_runs() {
        answers.push(("if it was sent: ", "--created ID --sent".to_owned()));
    }
    answers.push(("if it does not exist: ", "--absent".to_owned()));
    unread(view, address, answered(view, address, asks("unknown", &words), &answers))
}

/// The manual step for a resource with other content than the one to be created, if the API cannot read it.
fn unread(view: &PlanView, address: &Address, row: Row) -> Row {
    let is_unlisted = kinds::api(address).lifecycle(view.plan.level).read == Read::LedgerOnly;
    match is_unlisted {
        true => {
            row.line(Words::new("if it exists with another content: delete it in the dashboard, then use --absent"))
        }
        false => row,
    }
}

fn asks(label: &str, words: &str) -> Row {
    Row::new(label, Words::new(words)).paint(Paint::Asks)
}

fn answered(view: &PlanView, address: &Address, row: Row, answers: &[(&str, String)]) -> Row {
    answers.iter().fold(row, |row, (case, answer)| {
        row.line(Words::new(case).copy(&view.again.other(&format!("resolve {address} {answer}"))))
    })
}
