//! Why a plan is not the approved one, with advice.

use std::collections::BTreeMap;

use crate::address::Address;
use crate::failure::{Failure, FailureKind};
use crate::forge::Hidden;
use crate::plan::{Aim, Difference, Plan};
use crate::text::{count, shell_word};

/// The number of differences that are named.
const NAMED: usize = 20;

/// The commands that show and apply a plan without its review.
fn by_hand(plan: &Plan) -> String {
    match &plan.aim {
        Aim::Promoted(from) => {
            let (from, to) = (shell_word(from), shell_word(&plan.target));
            format!("`pushplan promote --from {from} --to {to}`, then again with --yes")
        }
        _ => "`pushplan plan`, then `pushplan apply`".to_owned(),
    }
}

/// The failure for a comment that was edited.
pub fn edited(sign: &str, noun: &str, plan: &Plan) -> Failure {
    let message = format!(
        "the comment in {sign} was edited after pushplan wrote it: its reviewers may have seen something else than the plan"
    );
    Failure::new(message).kind(FailureKind::Refused).help(format!(
        "nothing was changed. Open another {noun}: its plan shows all that is left to do, and its merge applies that.\n          \
         Or apply it by hand, once someone has read it: {}",
        by_hand(plan)
    ))
}

/// The failure for an approval that was used by an apply which did everything.
pub fn used_up(sign: &str, noun: &str) -> Failure {
    Failure::new(format!("what was reviewed in {sign} is applied already, which uses its approval up"))
        .kind(FailureKind::Stale)
        .help(format!(
            "nothing was changed; what would be done now came since, or undoes what was merged later. Open another {noun}: its plan \
             shows all that is left to do, and its merge applies that"
        ))
}

/// The advice for a merge whose plan differs from the reviewed one, so that its review is void.
pub fn way_on(moved: &BTreeMap<Address, Difference>, hidden: &Hidden, plan: &Plan, noun: &str) -> String {
    let is_new = |difference: &Difference| matches!(difference, Difference::New(_));
    let earlier = match hidden.more > 0 || moved.values().any(is_new) {
        true => {
            "nothing was changed. Where an earlier merge was not applied, its changes come along: run the job of that merge again, \
             then this one.\n          Or open"
        }
        false => "nothing was changed. Open",
    };
    format!(
        "{earlier} another {noun}: its plan shows all that is left to do, and its merge applies that.\n          Or apply it by \
         hand, once someone has read it: {}",
        by_hand(plan)
    )
}

/// The advice if later merges reverted the reviewed changes.
pub fn no_way_back(noun: &str) -> String {
    format!(
        "nothing was changed; the job of an old merge restores nothing. Open another {noun}: its plan shows everything that is \
         left to do, and its merge applies it"
    )
}

/// The advice if the time of reviewed changes has passed before the apply.
pub fn too_late(noun: &str) -> String {
    format!(
        "nothing was changed; what was sent cannot be undone. Open another {noun}: its plan shows what else is left to do, and \
         its merge applies it"
    )
}

/// The differences since a review, a line each.
pub fn told(moved: &BTreeMap<Address, Difference>) -> Vec<String> {
    let mut told: Vec<String> =
        moved.iter().map(|(address, difference)| difference.words(address)).take(NAMED).collect();
    if moved.len() > NAMED {
        told.push(format!("and {} more", moved.len() - NAMED));
    }
    told
}

/// Returns the differences since a review, a line each, and those that the comment does not show.
pub fn all_told(moved: &BTreeMap<Address, Difference>, hidden: &Hidden, plan: &Plan) -> Vec<String> {
    let mut told = told(moved);
    if hidden.more > 0 {
        told.push(format!("the comment has no room for {}", count(hidden.more, "more change")));
    } else if told.is_empty() {
        told.push("it is for another application, another part of the project or another purpose".to_owned());
    }
    if hidden.tool != plan.tool {
        told.push(format!("it was made by pushplan {}, but this is {}", hidden.tool, plan.tool));
    }
    told
}
