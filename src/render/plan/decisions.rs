//! Decisions and manual steps, which precede everything else.

use super::{Block, PlanView, Risk, renamed, rows, when, words};
use crate::plan::Action;
use crate::render::layout::{Row, Words};

/// The risks that need a decision, with their titles.
pub(crate) const RISKS: [(Risk, &str); 5] = [
    (Risk::Sends, "Sends"),
    (Risk::Stuck, "Waits for a decision"),
    (Risk::NoWayBack, "Cannot be undone"),
    (Risk::Deletes, "Deletes"),
    (Risk::ByHand, "Manual steps"),
];

/// Returns the title of a block's risk, usually `word`. A block that loses only some of its parts is not called
/// deleted.
pub fn called(block: &Block, word: &'static str) -> &'static str {
    let is_less = block.risk == Risk::Deletes && block.action != Action::Delete && block.retired.is_empty();
    if is_less { "Takes from" } else { word }
}

/// The words of a block that explain a decision.
pub fn why(view: &PlanView, block: &Block) -> Vec<Words> {
    let labels: &[&str] = match block.risk {
        Risk::Sends => &["SENDS"],
        Risk::Stuck => &["taken", "unconfirmed", "too late", "waits", "blocked", "gone"],
        Risk::NoWayBack => &["undo"],
        Risk::Deletes => &["devices", "protected", "pruned", "last used", renamed::RENAME],
        _ => &[words::MANUAL, "pruned", "waits", "blocked", "gone", "too late", "old version"],
    };
    let is_about = |row: &Row| labels.contains(&row.label.as_str());
    let when = block.whole.filter(|_| block.risk == Risk::NoWayBack).map(|change| when::rows(view, change));
    let said = rows::of_words(view, block).into_iter().filter(is_about);
    // The row says what it waits for; only the label says that it waits.
    let told = |row: Row| if row.label == "waits" { row.after("waits: ").lines } else { row.lines };
    when.into_iter().flatten().chain(said).flat_map(told).collect()
}

/// Whether a block sends or deletes something. Every form shows such blocks, however large the plan is.
pub(crate) fn is_grave(block: &Block) -> bool {
    block.changes().any(|change| !change.sends.is_empty() || change.action == Action::Delete)
}
