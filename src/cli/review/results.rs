//! The text in a review's comment about an apply: that it has begun, and its result.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::address::Address;
use crate::apply::{Ending, Fate, Report};
use crate::failure::{Failure, FailureKind};
use crate::forge::{self, Comment, Hidden, HiddenLine, ReviewState};
use crate::ledger::Position;
use crate::plan::Plan;
use crate::render::Repetition;
use crate::render::ci::{self, JobRun, Section};

/// The result of a plan.
#[derive(Debug)]
pub enum Became<'r> {
    /// Applied, with the position of the ledger at its end.
    Ran(&'r Report, &'r Plan, &'r Repetition, Position),
    Nothing,
    Held(&'r Failure),
    /// Another target was not applied as planned.
    NotBegun(&'r str),
}

/// The facts about the current run.
pub fn run_of<'r>(targets: &'r str, job: Option<&'r str>) -> JobRun<'r> {
    JobRun { at: Timestamp::now(), targets, job }
}

/// The footer of a comment with these results, each with the indexes of its targets.
pub fn told_in(comment: &Comment, line: &HiddenLine, results: BTreeMap<String, BTreeSet<usize>>) -> String {
    let names = |of: &BTreeSet<usize>| {
        let names: Vec<&str> = of.iter().map(|place| line.approvals[*place].target.as_str()).collect();
        ci::target_names(&names)
    };
    let new = results.into_iter().map(|(words, of)| Section { text: words.replace(ci::TARGETS, &names(&of)), of });
    let targets = line.approvals.len();
    ci::footer(new.collect(), ci::sections(&forge::footer_of(&comment.body), targets), targets)
}

/// The new footer of a comment, and its hidden data; `None` if it is not changed.
pub fn footer(became: &Became, hidden: &Hidden, run: &JobRun) -> Option<(Hidden, String)> {
    let with = |state| Hidden { state, ..hidden.clone() };
    Some(match became {
        Became::Ran(report, plan, again, position) => {
            // From now on, a ledger without this run is behind.
            let ended = &Hidden { reached: position.clone(), begun: None, ..hidden.clone() };
            let with = |state| Hidden { state, ..ended.clone() };
            let ended = match report.ending {
                Ending::Done => with(ReviewState::Applied),
                _ if report.did_anything(plan) => partly(ended, report, plan),
                // Another apply was faster, or a retry did nothing: the earlier result is kept.
                _ if hidden.state.is_done() && hidden.begun.is_none() => return None,
                // The other apply may have used the same approval: only the ledger shows this.
                Ending::Conflict | Ending::Unlocked { .. } => not_applied(hidden),
                _ if hidden.state == ReviewState::Partly => with(ReviewState::Partly),
                _ => with(ReviewState::Held),
            };
            (ended, ci::ran(report, plan, again, run))
        }
        // It was already applied, by hand or before.
        Became::Nothing if hidden.state == ReviewState::Applied => return None,
        Became::Nothing if hidden.state != ReviewState::Partly && hidden.changes.is_empty() => return None,
        Became::Nothing => (Hidden { begun: None, ..with(ReviewState::Applied) }, ci::nothing_left(run)),
        // The earlier result is kept.
        Became::Held(_) | Became::NotBegun(_) if hidden.state.is_done() && hidden.begun.is_none() => return None,
        // The apply that holds the lock will write its own result.
        Became::Held(failure) if failure.kind == FailureKind::Busy && hidden.begun.is_some() => return None,
        Became::Held(failure) => (not_applied(hidden), ci::held(failure, run)),
        Became::NotBegun(other) => (not_applied(hidden), ci::not_begun(other, run)),
    })
}

/// The hidden data of a plan that was not applied this time.
fn not_applied(hidden: &Hidden) -> Hidden {
    match hidden.state {
        ReviewState::Applied | ReviewState::Partly => hidden.clone(),
        ReviewState::Planned | ReviewState::Held => Hidden { state: ReviewState::Held, ..hidden.clone() },
    }
}

/// The hidden data after a run that ended half-way.
fn partly(hidden: &Hidden, report: &Report, plan: &Plan) -> Hidden {
    let those = |is: fn(&Fate) -> bool| -> BTreeSet<&Address> {
        report.steps.iter().filter(|step| is(&step.fate)).map(|step| &step.address).collect()
    };
    let open = those(|fate| !fate.is_done());
    let begun = those(|fate| !matches!(fate, Fate::NotStarted | Fate::Skipped { .. }));
    let done = begun.difference(&open).copied().collect();
    hidden.partly(plan, &done, &begun)
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::plan::About;

    #[test]
    fn a_run_that_did_nothing_does_not_say_that_another_one_did_nothing() {
        let about = About {
            ledger: Position { lineage: "l".into(), seq: 7 },
            ..About::new("production", "https://messaging.example")
        };
        let plan = Plan::new(about, Vec::new(), Vec::new(), Vec::new(), Timestamp::UNIX_EPOCH);
        let (run, digest) = (String::new(), plan.digest());
        let report =
            Report { run, plan: digest, ending: Ending::Conflict, ledger: 7, denied: false, steps: Vec::new() };
        let again = Repetition::default();
        let became = Became::Ran(&report, &plan, &again, plan.ledger.clone());
        let after = |state| {
            let hidden = Hidden { state, ..Hidden::new("", &plan, false, None, 1) };
            footer(&became, &hidden, &run_of("", None)).map(|(hidden, _)| hidden.state)
        };
        assert_eq!(after(ReviewState::Planned), Some(ReviewState::Held));
        assert_eq!(after(ReviewState::Held), Some(ReviewState::Held));
        assert_eq!(after(ReviewState::Applied), None);
        assert_eq!(after(ReviewState::Partly), None);
        // The other apply may have used this approval, which its own result shows.
        let begun = Hidden { state: ReviewState::Planned, ..Hidden::new("", &plan, false, None, 1).begin(&plan) };
        let (told, _) = footer(&became, &begun, &run_of("", None)).expect("a result");
        assert_eq!((told.state, told.begun), (ReviewState::Held, begun.begun));
    }
}
