//! Applying a plan, for every command that makes one.

mod before;
mod ending;

use std::io::{self, IsTerminal};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use jiff::Timestamp;

use super::drifting::Drifting;
use super::forms::among;
use super::planning::Chosen;
use super::review::{Became, Review};
use super::signals::Stop;
use super::turn::Turn;
use super::{Context, Ended, runtime};
use crate::apply::{Ending, Notice, OnError, Report};
use crate::engine::ApplyRequest;
use crate::engine::ledger::take_in;
use crate::engine::saved;
use crate::engine::target::Opened;
use crate::engine::turn;
use crate::engine::turn::Waiting;
use crate::engine::workspace::{PlanRequest, Planned, Workspace};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ledger::Chain;
use crate::plan::Plan;
use crate::render::Format;
use crate::render::{self, Out, Progress, Repetition, Showing};

pub use before::Asking;
pub(super) use ending::{exit, left_to_people};

/// The output formats.
const FORMATS: &[Format] = &[Format::Text, Format::Json, Format::Jsonl];

/// Which part, what is allowed, and how: for every command that can apply a plan that it makes.
#[derive(Clone, Debug, Args)]
pub struct Options {
    #[command(flatten)]
    pub chosen: Chosen,

    #[command(flatten)]
    pub drifting: Drifting,

    #[command(flatten)]
    pub allowed: Allowed,

    #[command(flatten)]
    pub how: How,

    /// Number of targets that are applied in parallel
    #[arg(long, value_name = "NUMBER", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub parallel: u16,
}

impl Options {
    /// How plans are applied, and on how many targets at a time.
    pub(super) fn together(&self) -> (&How, u16) {
        (&self.how, self.parallel)
    }

    /// The request for a plan of the manifests.
    pub fn request(&self) -> PlanRequest {
        let (choice, on_drift) = (self.chosen.choice(), self.drifting.given());
        PlanRequest { choice, on_drift, allow_older: self.allowed.allow_older, ..PlanRequest::default() }
    }
}

/// What is allowed beforehand.
#[derive(Clone, Debug, Args)]
pub struct Allowed {
    /// Do not ask for confirmation
    #[arg(long)]
    pub yes: bool,

    /// Allow up to this number of deletions, in all kinds together
    #[arg(long, value_name = "NUMBER")]
    allow_deletes: Option<usize>,

    /// Allow changes that send messages at once
    #[arg(long)]
    allow_sends: bool,

    /// Allow files older than the last apply to delete resources and restore old values
    #[arg(long)]
    pub allow_older: bool,
}

impl Allowed {
    /// The confirmation before an apply.
    pub fn asking<'a>(&self, question: &'a str, again: Repetition) -> Asking<'a> {
        let Self { yes, allow_deletes, allow_sends, allow_older } = *self;
        let given = yes.then_some("yes");
        let way_out = "pass --yes, or apply a saved plan: pushplan apply PLAN".to_owned();
        Asking { question, wanted: "yes", given, way_out, allow_deletes, allow_sends, allow_older, again, review: None }
    }
}

/// The message for an apply that is ended at once.
pub(super) const AT_ONCE: &str =
    "Ended at once. Requests in progress may have taken effect: `pushplan plan` checks them.";

/// The message before a plan is made again.
pub(super) const QUICKER: &str = "Another run came first. Planning again.";

/// How a plan is applied.
#[derive(Clone, Debug, Args)]
pub struct How {
    /// Number of parallel requests
    #[arg(long, value_name = "NUMBER", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub concurrency: u16,

    /// What to do when a change fails: stop, or continue with changes that do not depend on it
    #[arg(long, value_enum, default_value_t = WhenFailed::Stop)]
    pub on_error: WhenFailed,

    /// Form of the report: text; one JSON object; or one line of JSON per change
    #[arg(long, value_parser = among(FORMATS), default_value_t = Format::Text)]
    pub format: Format,

    /// Exit with 0 if manual steps are left [default: 6]
    #[arg(long)]
    pub allow_manual: bool,

    #[command(flatten)]
    pub turn: Turn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WhenFailed {
    Stop,
    Continue,
}

/// Listens for signals that ask an apply to stop.
pub(super) fn listen() -> Result<Stop, Failure> {
    Stop::listen(AT_ONCE).map_err(|error| Failure::new(error.to_string()))
}

pub(super) const APPLY_THIS: &str = "Apply this plan? Type `yes` to continue:";

/// A run that has ended, and the exit code of its command.
#[derive(Debug)]
pub struct Applied {
    pub report: Report,
    pub plan: Arc<Plan>,
    pub exit: Exit,
}

impl Applied {
    /// The result for reviewers.
    pub(super) fn became<'r>(&'r self, again: &'r Repetition, log: &Chain) -> Became<'r> {
        match self.plan.has_news() {
            true => Became::Ran(&self.report, &self.plan, again, log.known()),
            false => Became::Nothing,
        }
    }
}

/// A plan to make and apply.
pub(super) struct ApplyJob<'j> {
    pub how: &'j How,
    pub workspace: &'j Workspace,
    pub request: &'j PlanRequest,
    /// The saved plan, if one is applied.
    pub saved: Option<&'j Plan>,
    pub asking: &'j Asking<'j>,
    pub context: &'j Context,
}

impl ApplyJob<'_> {
    /// Opens the target for one run.
    async fn open_and_run(&self) -> Result<Applied, Failure> {
        let opened = self.workspace.open().await?;
        let ended = self.run(&opened).await;
        opened.close().await;
        ended
    }

    /// Plans, shows, asks and applies when no other apply runs. If another apply begins first, it plans again.
    pub(super) async fn run(&self, opened: &Opened) -> Result<Applied, Failure> {
        let Self { how, workspace, context, .. } = *self;
        let mut waiting = how.turn.start();
        loop {
            how.await_turn(workspace, &mut waiting, context).await?;
            if let Some(applied) = self.plan_and_apply(opened).await? {
                return Ok(applied);
            }
            workspace.note(QUICKER, &context.session);
        }
    }

    /// Plans and applies. `None`: another apply has started, nothing was done, and a new plan is needed.
    async fn plan_and_apply(&self, opened: &Opened) -> Result<Option<Applied>, Failure> {
        let Self { how, workspace, request, saved, asking, context } = *self;
        take_in(&context.session, &workspace.log).await?;
        asking.review.into_iter().for_each(Review::forget);
        let mut planned = workspace.plan(opened, request, &context.session).await?;
        if planned.at_work {
            return Ok(None);
        }
        if let Some(saved) = saved {
            saved::holds(saved, &planned.plan)?;
        }
        let plan = &planned.plan;
        let style = context.out.style();
        if how.format == Format::Text {
            planned.digest =
                render::plan::before_apply(plan, &asking.again, style, &mut |part| context.out.print(part));
        } else if asking.given.is_none() && saved.is_none() && io::stdin().is_terminal() {
            // The plan was shown before the confirmation.
            planned.digest = render::plan::before_apply(plan, &asking.again, style, &mut |part| context.out.note(part));
        }
        if !how.is_still_to_do(workspace, plan, request, asking, context).await? {
            return Ok(None);
        }
        if plan.steps.is_empty() {
            workspace.end_unchanged(&planned, &context.session).await;
            let report = Report {
                run: String::new(),
                plan: plan.digest(),
                ending: Ending::Done,
                ledger: plan.ledger.seq,
                denied: false,
                steps: Vec::new(),
            };
            return Ok(Some(Applied { report, plan: planned.plan, exit: Exit::Done }));
        }
        if plan.has_news() && saved.is_none() {
            how.ask(asking, context)?;
        }
        if let Some(review) = asking.review
            && let Some((_, failure)) = review.begin(&[plan], context).await.pop()
        {
            return Err(failure);
        }
        how.carry_out(workspace, opened, planned, &listen()?, context).await
    }
}

impl How {
    /// Plans, shows, asks, applies, and reports the result.
    pub fn run(
        &self,
        workspace: &Workspace,
        request: &PlanRequest,
        saved: Option<&Plan>,
        asking: &Asking,
        context: &Context,
    ) -> Ended {
        runtime()?.block_on(async {
            let job = ApplyJob { how: self, workspace, request, saved, asking, context };
            let ended = job.open_and_run().await;
            if let Ok(Applied { report, plan, .. }) = &ended {
                self.show(report, plan, &asking.again, context);
                if let Some(failure) = render::report::broken_off(report, plan) {
                    context.out.failure(&failure);
                }
            }
            if let Some(review) = asking.review {
                let became =
                    ended.as_ref().map_or_else(Became::Held, |applied| applied.became(&asking.again, &workspace.log));
                review.tell_one(&workspace.target, became, context).await;
            }
            let Applied { plan, exit, report } = ended?;
            let manual = self.manual(&plan);
            if exit == Exit::Done && manual > 0 {
                context.out.note(&left_to_people(manual));
            }
            let exit = if exit == Exit::Done && plan.told.left() + manual > 0 { Exit::Partly } else { exit };
            // The process ends here: dropping this would only take time.
            std::mem::forget((plan, report));
            Ok(exit)
        })
    }

    /// Applies a plan. `None`: another apply has started, nothing was done, and a new plan is needed.
    pub(super) async fn carry_out(
        &self,
        workspace: &Workspace,
        opened: &Opened,
        planned: Planned,
        stop: &Stop,
        context: &Context,
    ) -> Result<Option<Applied>, Failure> {
        let report = self.drive_until(stop, workspace, opened, &planned, context).await;
        let plan = planned.plan;
        if report.ending == Ending::Conflict && report.ledger == plan.ledger.seq && self.turn.waits() {
            return Ok(None);
        }
        let exit = exit(&report, &plan, stop.by());
        Ok(Some(Applied { report, plan, exit }))
    }

    /// Fails if another run holds the lock and the time to wait is over. A lease that is over is taken over.
    pub(crate) async fn await_turn(
        &self,
        workspace: &Workspace,
        waiting: &mut Waiting,
        context: &Context,
    ) -> Result<(), Failure> {
        let ledger = match waiting.ledger(&context.session, &workspace.log, &workspace.target).await? {
            Ok(ledger) => ledger,
            Err(held) => {
                // With several targets, this is part of the report.
                if self.format != Format::Text && !workspace.is_one_of_many {
                    context.out.json(&render::lease::held(&held.target, &held.running, &held.observed));
                }
                return Err(held.failure());
            }
        };
        if let Some(words) = turn::taken_over(&context.session, &workspace.log, &ledger) {
            workspace.note(&words, &context.session);
        }
        Ok(())
    }

    /// Applies a plan, until a user asks to stop.
    pub(super) async fn drive_until(
        &self,
        stop: &Stop,
        workspace: &Workspace,
        opened: &Opened,
        planned: &Planned,
        context: &Context,
    ) -> Report {
        let request = ApplyRequest {
            concurrency: usize::from(self.concurrency),
            on_error: match self.on_error {
                WhenFailed::Stop => OnError::Stop,
                WhenFailed::Continue => OnError::Continue,
            },
        };
        let plan = &planned.plan;
        let mut progress = Progress::start(&context.out, plan, self.showing(&context.out));
        if workspace.is_one_of_many {
            progress = progress.of_one(&workspace.target);
        }
        let asked = async {
            stop.asked().await;
            if stop.confirms() {
                context.out.note("Stopping after the requests in progress. Press Ctrl-C again to end at once.");
            }
        };
        let mut tell = |notice: Notice| match notice {
            Notice::Ended(step, fate) => progress.finished(plan, &[(step, fate.clone())]),
            Notice::Waits(until) => {
                let seconds = until.duration_since(Timestamp::now()).as_secs().max(1);
                progress.says(&format!("The service limits the rate of requests. Waiting {seconds} s."));
            }
            Notice::Over => progress.end(),
        };
        workspace.apply(opened, planned, request, asked, &mut tell, &context.session).await
    }

    fn showing(&self, out: &Out) -> Showing {
        match self.format {
            // Several bars would overwrite each other.
            Format::Text if io::stderr().is_terminal() && !out.keeps() => Showing::Bar,
            Format::Text => Showing::Lines,
            Format::Jsonl => Showing::JsonLines,
            _ => Showing::Nothing,
        }
    }

    fn show(&self, report: &Report, plan: &Plan, again: &Repetition, context: &Context) {
        let style = context.out.style();
        match self.format {
            Format::Text if plan.is_empty() && report.ending == Ending::Done => {}
            Format::Json => context.out.json(&render::report::json(report, plan, again)),
            Format::Jsonl => context.out.json(&render::report::last_line(report, plan, again)),
            _ => context.out.print(&render::report::text(report, plan, again, style)),
        }
    }
}
