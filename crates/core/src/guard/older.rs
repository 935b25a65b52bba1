//! A guard: files that do not contain the last apply revert nothing of it.

use pushplan_ledger::Ancestry;
use pushplan_model::kinds;
use pushplan_model::node::Shared;

use super::{Guard, Limits, Refused, chosen, is_deletion, named, refused};
use crate::plan::{Action, Change, Plan};

/// Whether a change would revert a part of the last apply. A change that restores the applied state after an edit in
/// the dashboard reverts nothing.
fn reverses(change: &Change, ancestry: Ancestry) -> bool {
    match change.action {
        Action::Update | Action::Replace | Action::ByHand | Action::Forget => {
            change.ledger.is_some() && change.desired != change.ledger
        }
        Action::Create => brings_back(change, ancestry),
        _ => is_deletion(change),
    }
}

/// Whether a creation may restore something that was deleted. Older files declare what newer ones removed. On another
/// branch, or in a clone with unknown history, it may be new. A message that was cancelled, in the files or in the
/// dashboard, is never restored.
fn brings_back(change: &Change, ancestry: Ancestry) -> bool {
    let messages = |spec: &Shared| kinds::api(&change.address).messages(&spec.tree());
    let is_other = change.desired != change.ledger;
    match ancestry {
        Ancestry::Same | Ancestry::Descendant | Ancestry::Outside => false,
        _ if change.desired.as_ref().is_some_and(messages) => true,
        Ancestry::Behind | Ancestry::Missing => is_other,
        Ancestry::Diverged | Ancestry::Uncommitted | Ancestry::Unknown => is_other && change.ledger.is_some(),
    }
}

pub fn older(plan: &Plan, limits: &Limits) -> Option<Refused> {
    let descent = plan.told.descent.as_ref().filter(|descent| !descent.ancestry.may_undo() && !limits.allow_older)?;
    let addresses = chosen(plan, |change| reverses(change, descent.ancestry));
    let words = descent.words().unwrap_or_default();
    let message = format!("{words} This would revert later changes: {}", named(&addresses));
    let help = format!("{}; or, to apply these files anyway, {}", descent.help(), limits.option("--allow-older"));
    refused(Guard::Older, addresses, message, help)
}
