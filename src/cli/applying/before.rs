//! The checks before a plan is applied: its review, confirmed manual steps, the guards, and the confirmation.

use std::io::{self, IsTerminal};

use super::{APPLY_THIS, How};
use crate::cli::Context;
use crate::cli::review::Review;
use crate::engine::lasting;
use crate::engine::workspace::{PlanRequest, Workspace};
use crate::failure::{Failure, FailureKind};
use crate::guard::{self, Limits};
use crate::ledger::Verb;
use crate::plan::{Plan, Reason};
use crate::render::Repetition;

/// The confirmation before an apply.
#[derive(Debug)]
pub struct Asking<'a> {
    pub question: &'a str,
    /// The answer that continues.
    pub wanted: &'a str,
    /// The answer from the command line.
    pub given: Option<&'a str>,
    /// The advice if there is no terminal.
    pub way_out: String,
    pub allow_deletes: Option<usize>,
    pub allow_sends: bool,
    pub allow_older: bool,
    /// The command to repeat.
    pub again: Repetition,
    /// The review that has to approve the plan, and that receives the result.
    pub review: Option<&'a Review>,
}

impl<'a> Asking<'a> {
    /// Returns the confirmation for one of several targets. `again` repeats the command for that target.
    pub(crate) fn about_one(&self, again: Repetition) -> Self {
        Self { question: APPLY_THIS, way_out: self.way_out.clone(), again, ..*self }
    }
}

impl How {
    /// Whether a plan is still current; if not, another run has written to the ledger since it was read. A plan that is
    /// refused for any other reason is a failure.
    pub(crate) async fn is_still_to_do(
        &self,
        workspace: &Workspace,
        plan: &Plan,
        request: &PlanRequest,
        asking: &Asking<'_>,
        context: &Context,
    ) -> Result<bool, Failure> {
        // Approved plans are always applied by a CI runner, even if its environment does not show that.
        let lasts = if lasting::is_in_ci() || asking.review.is_some() { lasting::check(workspace) } else { Ok(()) };
        let reviewed = match (lasts, asking.review) {
            (Ok(()), Some(review)) => review.check(plan, &workspace.log, context).await,
            (lasts, _) => lasts,
        };
        let may =
            reviewed.and_then(|()| self.not_done(plan, request)).and_then(|()| self.guard(workspace, plan, asking));
        let Err(refused) = may else { return Ok(true) };
        // A resource that another user has created since looks unmanaged.
        let is_overtaken = workspace.log.position().await.is_ok_and(|now| now.seq != plan.ledger.seq);
        if is_overtaken { Ok(false) } else { Err(refused) }
    }

    /// Checks that confirmed manual steps were part of the plan and are done.
    fn not_done(&self, plan: &Plan, request: &PlanRequest) -> Result<(), Failure> {
        for address in &request.done {
            let change = plan.changes.iter().find(|change| change.address == *address);
            let still = change
                .is_some_and(|change| change.reasons.iter().any(|reason| matches!(reason, Reason::InDashboard { .. })));
            if still {
                return Err(Failure::new(format!("{address} still exists and is enabled: nothing was changed"))
                    .kind(FailureKind::Refused)
                    .help("turn it off in the dashboard, then run the command again"));
            }
            // A change that waits for a decision is refused with advice, like in every other plan.
            let stuck = change.is_some_and(guard::is_stuck);
            let was = plan.steps.iter().any(|step| step.address == *address && step.verb == Verb::Forget);
            if !was && !stuck {
                return Err(Failure::usage(format!("the plan has no manual step for {address}"))
                    .help("`pushplan plan` lists the manual steps"));
            }
        }
        Ok(())
    }

    fn guard(&self, workspace: &Workspace, plan: &Plan, asking: &Asking) -> Result<(), Failure> {
        let Asking { allow_deletes, allow_sends, allow_older, .. } = *asking;
        let limits = Limits { allow_deletes, allow_sends, allow_older, ..workspace.limits() };
        let refused = guard::guards(plan, &limits);
        let Some((first, rest)) = refused.split_first() else { return Ok(()) };
        let mut message = first.message.clone();
        let mut help = first.help.clone();
        for other in rest {
            message = format!("{message}\n       {}", other.message);
            help = format!("{help}\n          {}", other.help);
        }
        Err(Failure::new(message).kind(FailureKind::Refused).help(help))
    }

    pub fn ask(&self, asking: &Asking, context: &Context) -> Result<(), Failure> {
        let Asking { question, wanted, given, way_out, .. } = asking;
        let answer = match given {
            Some(given) => (*given).to_owned(),
            None if !io::stdin().is_terminal() => {
                return Err(Failure::new("this plan needs a confirmation, but standard input is not a terminal")
                    .kind(FailureKind::Refused)
                    .help(way_out.clone()));
            }
            None => {
                let mut answer = String::new();
                context.out.ask(question);
                let _ = io::stdin().read_line(&mut answer);
                answer.trim().to_owned()
            }
        };
        if answer == *wanted {
            return Ok(());
        }
        Err(Failure::new("not applied: nothing was changed")
            .kind(FailureKind::Refused)
            .help(format!("type `{wanted}` to continue")))
    }
}
