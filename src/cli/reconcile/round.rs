//! One round: every target is planned, and drift is corrected on request.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::board::Board;
use crate::apply::{Ending, Fate, Report, StepReport};
use crate::cli::applying::{How, exit};
use crate::cli::places::{Places, Which};
use crate::cli::signals::{Signal, Stop};
use crate::cli::turn::Turn;
use crate::cli::{Context, planning};
use crate::engine::ledger;
use crate::engine::ledger::unreadable;
use crate::engine::several::{TargetResult, each};
use crate::engine::target::{self, Opened, Shared};
use crate::engine::turn;
use crate::engine::turn::LockHeld;
use crate::engine::workspace::{PlanRequest, Planned, Workspace};
use crate::engine::{NotOpened, lasting};
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::guard::{Guard, Limits, guards};
use crate::plan::News;
use crate::reconcile::{Looked, RoundOutcome, Standing, TargetRound, action};
use crate::render::findings;
use crate::render::one_line;

/// The maximal age of a plan when it is applied: other targets are applied before it.
const FRESH: Duration = Duration::from_secs(60);

/// The settings of rounds.
#[derive(Debug)]
pub struct Rounds<'a> {
    pub places: &'a Places,
    pub how: How,
    pub fixes: bool,
    /// The time limit for planning a target.
    pub within: Duration,
    pub board: Arc<Board>,
    pub stop: &'a Stop,
    pub context: &'a Context,
    /// The errors in the files when they were last read.
    pub wrong: RefCell<Option<String>>,
}

/// The result of planning a target.
enum RoundResult {
    /// The plan, and the number of results of earlier runs that are not in the ledger yet.
    Planned(Box<Planned>, usize),
    Held(Box<LockHeld>),
    /// A user stopped it.
    Stopped,
}

/// A target at the end of a round, and the exit code of a command for it alone.
struct RoundEnd {
    target: TargetRound,
    exit: Exit,
}

impl Rounds<'_> {
    /// Runs one round, and returns the exit code of a command with only this round. The files are read again, because
    /// they may have changed.
    pub async fn round(&self) -> (Looked, Exit) {
        let workspaces = match self.read() {
            Ok(workspaces) => workspaces,
            Err(failure) => {
                let exit = Exit::from(&failure);
                return (Looked::Nowhere(failure), exit);
            }
        };
        let look = Look { fixes: self.fixes, within: self.within, stop: self.stop.clone() };
        let context = self.context.clone();
        let made = Instant::now();
        let all = each(self.shared(), &workspaces, move |workspace, opened| {
            let (look, context) = (look.clone(), context.clone());
            async move { look.at(&workspace, &opened, &context).await }
        });
        let (mut targets, mut exits) = (Vec::new(), Vec::new());
        for TargetResult { workspace, result: ended } in all.await {
            let RoundEnd { target, exit } = match ended {
                Err(failure) => failed(&workspace, failure),
                Ok(RoundResult::Held(lock)) => held(&workspace, &lock),
                Ok(RoundResult::Stopped) => self.stopped(&workspace),
                Ok(RoundResult::Planned(planned, _)) if self.fixes => self.correct(&workspace, *planned, made).await,
                Ok(RoundResult::Planned(planned, unwritten)) => {
                    let RoundEnd { target, exit } = reported(&workspace, &planned);
                    RoundEnd { target: TargetRound { unwritten, ..target }, exit }
                }
            };
            targets.push(self.said(target));
            exits.push(exit);
        }
        let exit = exit_of(&targets, exits);
        (Looked::At(targets), exit)
    }

    /// Completes the commands in the result of a target, so that they can be copied.
    fn said(&self, target: TargetRound) -> TargetRound {
        let TargetRound { name, standing, why, .. } = target;
        let out = &self.context.out;
        let why = why.map(|failure| out.why(failure, &name));
        let refused = |standing: Standing| Standing { refused: out.refused(standing.refused, Some(&name)), ..standing };
        TargetRound { standing: standing.map(refused), why, name, ..target }
    }

    fn read(&self) -> Result<Vec<Arc<Workspace>>, Failure> {
        let now = Timestamp::now();
        let opened = match self.places.which()? {
            Which::One(place) => place.open(now).map(|workspace| vec![Arc::new(workspace)]),
            Which::Several(asked) => asked.open(now),
        };
        let wrong = match &opened {
            Err(NotOpened::Invalid(invalid)) => {
                let errors = planning::report(&invalid.manifests, invalid.errors.iter());
                Some(findings::text(&errors, self.context.out.style()))
            }
            Err(NotOpened::Failed(_)) => return Ok(opened?),
            Ok(_) => None,
        };
        self.tell_wrong(wrong);
        Ok(opened?)
    }

    /// Reports errors in the files when they are new, and when there are none any more.
    fn tell_wrong(&self, errors: Option<String>) {
        let before = self.wrong.replace(errors.clone());
        match errors {
            Some(errors) if before.as_ref() != Some(&errors) => self.context.out.note(&errors),
            None if before.is_some() => self.context.out.note("The manifests no longer have errors."),
            _ => {}
        }
    }

    fn shared(&self) -> Shared {
        Shared::timed(self.board.clone(), self.within)
    }

    fn stopped(&self, workspace: &Workspace) -> RoundEnd {
        let exit = self.stop.by().map_or(Exit::Interrupted, Signal::exit);
        RoundEnd { target: TargetRound::unknown(&workspace.target, RoundOutcome::Stopped, None), exit }
    }

    /// Applies the plan of a target. If a guard refuses it, that is reported instead.
    async fn correct(&self, workspace: &Workspace, planned: Planned, made: Instant) -> RoundEnd {
        let RoundEnd { mut target, .. } = reported(workspace, &planned);
        if let Some(standing) = target.standing.as_ref().filter(|standing| !standing.refused.is_empty()) {
            let why = standing.refused.iter().map(|one| one.message.as_str()).collect::<Vec<_>>().join("; ");
            target.why = Some(Failure::new(why).kind(FailureKind::Refused));
            let target = TargetRound { outcome: RoundOutcome::Refused, ..target };
            return RoundEnd { target, exit: Exit::Refused };
        }
        if planned.plan.steps.is_empty() {
            workspace.end_unchanged(&planned, &self.context.session).await;
            let exit = if self.how.manual(&planned.plan) > 0 { Exit::Partly } else { Exit::Done };
            return RoundEnd { target, exit };
        }
        if self.stop.by().is_some() {
            return self.stopped(workspace);
        }
        let opened =
            match target::open_with(&self.shared(), &workspace.manifests.project, Some(&workspace.target)).await {
                Ok(opened) => opened,
                Err(failure) => return failed(workspace, failure),
            };
        let ended = match made.elapsed() < FRESH {
            true => self.apply(workspace, &opened, planned, target).await,
            false => self.look_again(workspace, &opened).await,
        };
        opened.close().await;
        ended
    }

    /// Plans again before the apply, because the plan is too old.
    async fn look_again(&self, workspace: &Workspace, opened: &Opened) -> RoundEnd {
        let look = Look { fixes: true, within: self.within, stop: self.stop.clone() };
        match look.at(workspace, opened, self.context).await {
            Err(failure) => failed(workspace, failure),
            Ok(RoundResult::Held(lock)) => held(workspace, &lock),
            Ok(RoundResult::Stopped) => self.stopped(workspace),
            Ok(RoundResult::Planned(planned, _)) => {
                let ended = reported(workspace, &planned);
                let is_refused = ended.target.standing.as_ref().is_some_and(|standing| !standing.refused.is_empty());
                if is_refused || planned.plan.steps.is_empty() {
                    // The next round handles what has changed since.
                    return ended;
                }
                self.apply(workspace, opened, *planned, ended.target).await
            }
        }
    }

    async fn apply(&self, workspace: &Workspace, opened: &Opened, planned: Planned, target: TargetRound) -> RoundEnd {
        let report = self.how.drive_until(self.stop, workspace, opened, &planned, self.context).await;
        let plan = planned.plan;
        let mut standing = target.standing.unwrap_or_default();
        let corrected = standing.correct(|address| {
            let mut steps = report.steps.iter().filter(|step| step.address == *address).peekable();
            steps.peek().is_some() && steps.all(|step| step.fate.is_done())
        });
        let begun = report.steps.iter().filter(|step| !matches!(step.fate, Fate::Skipped { .. } | Fate::NotStarted));
        let news = News::of(&plan);
        let word = |step: &StepReport| action(step.verb, news.has(&step.address, step.verb));
        let steps = begun.map(|step| (word(step), step.fate.is_done())).collect();
        let did = report.did_anything(&plan);
        let outcome = match report.ending {
            Ending::Done if !standing.items.is_empty() => RoundOutcome::Drift,
            Ending::Done if corrected.is_empty() => RoundOutcome::InSync,
            Ending::Done => RoundOutcome::Corrected,
            Ending::Interrupted => RoundOutcome::Stopped,
            // Another apply has begun before anything was sent.
            Ending::Conflict if !did => RoundOutcome::Held,
            _ if did => RoundOutcome::Partly,
            _ => RoundOutcome::Failed,
        };
        // The other apply may have changed anything.
        let standing = (outcome != RoundOutcome::Held).then_some(standing);
        let exit = match exit(&report, &plan, self.stop.by()) {
            Exit::Done if self.how.manual(&plan) > 0 => Exit::Partly,
            exit => exit,
        };
        let target = TargetRound { outcome, standing, corrected, steps, why: trouble(&report), ..target };
        RoundEnd { target, exit }
    }
}

/// The failure of a run.
fn trouble(report: &Report) -> Option<Failure> {
    let first = report.steps.iter().find_map(|step| match &step.fate {
        Fate::Failed { why } | Fate::Unknown { why } => Some(format!("{}: {why}", step.address)),
        Fate::Done { .. } | Fate::Skipped { .. } | Fate::NotStarted => None,
    });
    let message = match &report.ending {
        Ending::Done => return None,
        Ending::Interrupted => "it was stopped before everything was created; the next start continues".to_owned(),
        Ending::Conflict => "another apply has started".to_owned(),
        Ending::Unlocked { by } => format!("its lease was ended by {by}"),
        Ending::Ledger { why } => format!("the ledger could not be written: {why}"),
        Ending::Partly => first.unwrap_or_else(|| "not everything could be created".to_owned()),
    };
    Some(Failure::new(message))
}

/// The end of a target that failed without a plan.
fn failed(workspace: &Workspace, failure: Failure) -> RoundEnd {
    let exit = Exit::from(&failure);
    RoundEnd { target: TargetRound::unknown(&workspace.target, RoundOutcome::Failed, Some(failure)), exit }
}

/// The end of a target that is locked by another run.
fn held(workspace: &Workspace, lock: &LockHeld) -> RoundEnd {
    let target = TargetRound::unknown(&workspace.target, RoundOutcome::Held, Some(lock.skipped()));
    RoundEnd { target, exit: Exit::Busy }
}

/// The end of a target according to its plan.
fn reported(workspace: &Workspace, planned: &Planned) -> RoundEnd {
    // The options that allow something are those of `apply`.
    let refused = guards(&planned.plan, &Limits { elsewhere: true, ..workspace.limits() });
    let stops = refused.iter().any(|one| one.guard == Guard::Drift);
    let standing = Standing::of(&planned.plan, refused);
    let (outcome, exit) = match standing.items.is_empty() {
        _ if stops => (RoundOutcome::Drift, Exit::Refused),
        true => (RoundOutcome::InSync, Exit::Done),
        false => (RoundOutcome::Drift, Exit::Changes),
    };
    let target = TargetRound { standing: Some(standing), ..TargetRound::unknown(&workspace.target, outcome, None) };
    RoundEnd { target, exit }
}

/// The settings for planning a target.
#[derive(Clone)]
struct Look {
    fixes: bool,
    within: Duration,
    stop: Stop,
}

impl Look {
    /// Plans when no other run holds the lock. A stop at this time is safe, because nothing is sent.
    async fn at(&self, workspace: &Workspace, opened: &Opened, context: &Context) -> Result<RoundResult, Failure> {
        if lasting::is_in_ci() {
            lasting::check(workspace)?;
        }
        let before = async {
            let ledger = Turn::default().start().ledger(&context.session, &workspace.log, &workspace.target).await?;
            Ok::<_, Failure>(match ledger {
                Err(held) => Some(held),
                Ok(ledger) => {
                    let over = turn::taken_over(&context.session, &workspace.log, &ledger);
                    if let Some(words) = over.filter(|_| self.fixes) {
                        context.out.note(&one_line(&words));
                    }
                    None
                }
            })
        };
        match self.limited(before).await? {
            None => return Ok(RoundResult::Stopped),
            Some(Some(held)) => return Ok(RoundResult::Held(Box::new(held))),
            Some(None) => {}
        }
        if self.fixes {
            // This writes to the ledger, so it is not interrupted.
            ledger::take_in(&context.session, &workspace.log).await?;
        }
        let unwritten = workspace.log.kept().map_err(unreadable)?.iter().map(|kept| kept.outcomes().len()).sum();
        let planned = self.limited(workspace.plan(opened, &PlanRequest::default(), &context.session)).await?;
        Ok(planned.map_or(RoundResult::Stopped, |planned| RoundResult::Planned(Box::new(planned), unwritten)))
    }

    /// Waits for a reading operation; `None` if a user asks to stop first.
    async fn limited<T>(&self, asking: impl Future<Output = Result<T, Failure>>) -> Result<Option<T>, Failure> {
        tokio::select! {
            ended = tokio::time::timeout(self.within, asking) => match ended {
                Ok(ended) => ended.map(Some),
                Err(_) => Err(target::too_slow(self.within)),
            },
            () = self.stop.asked() => Ok(None),
        }
    }
}

/// The exit code of a command with one round.
fn exit_of(targets: &[TargetRound], exits: Vec<Exit>) -> Exit {
    let did = targets.iter().any(|target| target.steps.iter().any(|(_, is_done)| *is_done));
    match Exit::worst(exits) {
        exit @ (Exit::Done | Exit::Changes | Exit::Interrupted | Exit::Terminated) => exit,
        _ if did => Exit::Partly,
        exit => exit,
    }
}
