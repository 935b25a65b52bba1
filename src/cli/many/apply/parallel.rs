//! Carrying out plans on several targets at a time.
//!
//! Each target has a thread, which prints nothing itself: reports are printed in one piece, in the order of the targets.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use tokio::runtime::Runtime;

use super::{FRESH, ManyApply, Ready};
use crate::cli::Context;
use crate::cli::applying::{Applied, ApplyJob, QUICKER, WhenFailed, left_to_people};
use crate::cli::signals::Stop;
use crate::engine::several::TargetResult;
use crate::engine::target::{Opened, Shared, open_with};
use crate::engine::workspace::{Planned, Workspace};
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::render::many::report;
use crate::render::{self, Format, Repetition};

/// A target that was dealt with: what became of it, and how a command would end for it alone.
pub(super) struct Dealt {
    pub workspace: Arc<Workspace>,
    pub again: Repetition,
    pub fate: Reported,
    /// Whether something of another target is not promoted to it, or manual steps are left.
    pub is_short: bool,
}

impl Dealt {
    /// Why nothing was begun, or what broke it off.
    pub fn failure(&self) -> Option<Cow<'_, Failure>> {
        match &self.fate {
            Reported::Failed(failure) => Some(Cow::Borrowed(failure)),
            Reported::Applied(applied) => render::report::broken_off(&applied.report, &applied.plan).map(Cow::Owned),
            Reported::Unchanged | Reported::Overtaken | Reported::NotBegun => None,
        }
    }

    /// Whether those that are left are not begun for it.
    pub fn is_in_the_way(&self) -> bool {
        match &self.fate {
            Reported::Applied(applied) => applied.exit != Exit::Done,
            Reported::Failed(_) => true,
            Reported::Unchanged | Reported::Overtaken | Reported::NotBegun => false,
        }
    }

    /// Whether no other target is begun after this one.
    fn stops(&self, goes_on: bool) -> bool {
        match &self.fate {
            Reported::Applied(applied) => match applied.exit {
                Exit::Interrupted | Exit::Terminated => true,
                exit => exit != Exit::Done && !goes_on,
            },
            Reported::Failed(_) => !goes_on,
            Reported::Unchanged | Reported::Overtaken | Reported::NotBegun => false,
        }
    }

    fn is_done(&self) -> bool {
        match &self.fate {
            Reported::Applied(applied) => applied.exit == Exit::Done,
            Reported::Unchanged => true,
            Reported::Failed(_) | Reported::Overtaken | Reported::NotBegun => false,
        }
    }
}

pub(super) enum Reported {
    Applied(Box<Applied>),
    Unchanged,
    Failed(Failure),
    /// Another run wrote the first record. It is planned again after the others, because a user may be asked about it.
    Overtaken,
    NotBegun,
}

/// Targets that wait for a thread, and those that were dealt with.
struct Board {
    waiting: VecDeque<(usize, TargetResult<Planned>)>,
    dealt: Vec<Option<(Dealt, String)>>,
    /// How many of them were printed.
    printed: usize,
    stopped: bool,
}

/// What all threads use.
struct Common {
    /// When the plans were made.
    made: Instant,
    shared: Shared,
    stop: Stop,
}

/// A carried out plan, or that another run came first.
enum Carried {
    Applied(Applied),
    Overtaken,
}

impl ManyApply<'_> {
    pub(super) fn goes_on(&self) -> bool {
        self.how.on_error == WhenFailed::Continue
    }

    /// Carries out all plans, several at a time. After a failure no other is begun, unless the others shall continue; those that
    /// are under way come to their end.
    pub(super) fn deal(&self, ready: Ready, runtime: &Runtime) -> Vec<Dealt> {
        let Ready { all, stopped, made, stop } = ready;
        let with_steps =
            all.iter().filter(|one| one.result.as_ref().is_ok_and(|planned| !planned.plan.steps.is_empty()));
        let is_alone = self.parallel == 1 || with_steps.count() <= 1;
        let threads = self.parallel.min(all.len()).max(1);
        let board = Mutex::new(Board {
            dealt: all.iter().map(|_| None).collect(),
            waiting: all.into_iter().enumerate().collect(),
            printed: 0,
            stopped,
        });
        let common = Common { made, shared: Shared::default(), stop };
        let work = || {
            let mut announced = None;
            while let Some((number, one, stopped)) = self.next(&board, &common.stop) {
                // The other threads wait with their records for this target before it is opened.
                drop(announced.replace(one.workspace.log.announce()));
                let out = if is_alone { self.context.out.clone() } else { self.context.out.keeping() };
                let context = Context { out, ..self.context.clone() };
                let dealt = runtime.block_on(self.one(one, stopped, &common, &context));
                self.take(&board, number, dealt, context.out.kept());
            }
        };
        match is_alone && threads == 1 {
            true => work(),
            false => thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work)))),
        }
        let Board { dealt, mut stopped, .. } = board.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut dealt: Vec<Dealt> = dealt.into_iter().flatten().map(|(dealt, _)| dealt).collect();
        for one in dealt.iter_mut().filter(|one| matches!(one.fate, Reported::Overtaken)) {
            stopped |= common.stop.by().is_some();
            one.fate = if stopped { Reported::NotBegun } else { runtime.block_on(self.anew(one, &common.shared)) };
            stopped |= one.stops(self.goes_on());
        }
        dealt
    }

    /// The next target, and whether it is not to be begun.
    fn next(&self, board: &Mutex<Board>, stop: &Stop) -> Option<(usize, TargetResult<Planned>, bool)> {
        let mut board = locked(board);
        let (number, one) = board.waiting.pop_front()?;
        Some((number, one, board.stopped || stop.by().is_some()))
    }

    /// Takes in what became of a target, and prints the reports of all that are in turn.
    fn take(&self, board: &Mutex<Board>, number: usize, dealt: Dealt, text: String) {
        let mut board = locked(board);
        board.stopped |= dealt.stops(self.goes_on());
        board.dealt[number] = Some((dealt, text));
        loop {
            let printed = board.printed;
            let Some(Some((_, text))) = board.dealt.get_mut(printed) else { break };
            let text = std::mem::take(text);
            board.printed += 1;
            match self.how.format {
                _ if text.is_empty() => {}
                Format::Text => self.context.out.print(&text),
                _ => self.context.out.exact(text.as_bytes()),
            }
        }
    }

    async fn one(
        &self,
        TargetResult { workspace, result }: TargetResult<Planned>,
        stopped: bool,
        common: &Common,
        context: &Context,
    ) -> Dealt {
        let again = self.does.again_for(self.asked, &workspace.target, &self.wanted.request(&workspace.target).choice);
        let manual = result.as_ref().map_or(0, |planned| self.how.manual(&planned.plan));
        let is_short = manual > 0 || result.as_ref().is_ok_and(|planned| planned.plan.told.left() > 0);
        let fate = match result {
            Err(failure) => Reported::Failed(failure),
            Ok(planned) if planned.plan.steps.is_empty() => {
                if common.stop.by().is_none() {
                    workspace.end_unchanged(&planned, &context.session).await;
                }
                Reported::Unchanged
            }
            Ok(_) if stopped => Reported::NotBegun,
            Ok(planned) => self.applied(&workspace, planned, &again, common, context).await,
        };
        let dealt = Dealt { workspace, again, fate, is_short };
        if dealt.is_done() && manual > 0 {
            dealt.workspace.note(&left_to_people(manual), &context.session);
        }
        dealt
    }

    async fn applied(
        &self,
        workspace: &Workspace,
        planned: Planned,
        again: &Repetition,
        common: &Common,
        context: &Context,
    ) -> Reported {
        let opened = match open_with(&common.shared, &workspace.manifests.project, Some(&workspace.target)).await {
            Ok(opened) => opened,
            Err(failure) => return Reported::Failed(failure),
        };
        let carried = self.carried(workspace, &opened, planned, common, context).await;
        let carried = match carried {
            // Nobody else prints, so this target is planned again at once.
            Ok(Carried::Overtaken) if !context.out.keeps() => {
                self.again(workspace, &opened, again).await.map(Carried::Applied)
            }
            carried => carried,
        };
        opened.close().await;
        match carried {
            Ok(Carried::Applied(applied)) => self.reported(applied, again, context),
            Ok(Carried::Overtaken) => Reported::Overtaken,
            Err(failure) => Reported::Failed(failure),
        }
    }

    fn reported(&self, applied: Applied, again: &Repetition, context: &Context) -> Reported {
        let Applied { report, plan, .. } = &applied;
        match self.how.format {
            Format::Json => {}
            Format::Jsonl => context.out.json(&render::report::last_line(report, plan, again)),
            _ => context.out.print(&render::report::text(report, plan, again, context.out.style())),
        }
        Reported::Applied(Box::new(applied))
    }

    async fn carried(
        &self,
        workspace: &Workspace,
        opened: &Opened,
        planned: Planned,
        common: &Common,
        context: &Context,
    ) -> Result<Carried, Failure> {
        let planned = self.fresh(workspace, opened, planned, common.made).await?;
        if self.how.format == Format::Text {
            context.out.print(&report::begins(&workspace.target, context.out.style()));
        }
        let applied = self.how.carry_out(workspace, opened, planned, &common.stop, context).await?;
        Ok(applied.map_or(Carried::Overtaken, Carried::Applied))
    }

    /// Plans a target again whose first record another run wrote, once nobody else prints.
    async fn anew(&self, Dealt { workspace, again, .. }: &Dealt, shared: &Shared) -> Reported {
        let opened = match open_with(shared, &workspace.manifests.project, Some(&workspace.target)).await {
            Ok(opened) => opened,
            Err(failure) => return Reported::Failed(failure),
        };
        let applied = self.again(workspace, &opened, again).await;
        opened.close().await;
        match applied {
            Ok(applied) => self.reported(applied, again, self.context),
            Err(failure) => Reported::Failed(failure),
        }
    }

    async fn again(&self, workspace: &Workspace, opened: &Opened, again: &Repetition) -> Result<Applied, Failure> {
        let Self { how, context, .. } = self;
        workspace.note(QUICKER, &context.session);
        let (request, saved) = (self.wanted.request(&workspace.target), self.wanted.saved(&workspace.target));
        let asking = self.asking.about_one(again.clone());
        ApplyJob { how, workspace, request: &request, saved, asking: &asking, context }.run(opened).await
    }

    /// The plan that was shown, if it is new; if not, another one, which has to be the same.
    async fn fresh(
        &self,
        workspace: &Workspace,
        opened: &Opened,
        planned: Planned,
        made: Instant,
    ) -> Result<Planned, Failure> {
        if made.elapsed() < FRESH {
            return Ok(planned);
        }
        let again = workspace.plan(opened, &self.wanted.request(&workspace.target), &self.context.session).await?;
        let moved = planned.plan.moved(&again.plan);
        match moved.is_empty() {
            true => Ok(again),
            false => Err(Failure::new(format!("the plan that was shown is stale: {}", moved.join("; ")))
                .kind(FailureKind::Stale)
                .help("nothing was changed there; make a new plan")),
        }
    }
}

fn locked(board: &Mutex<Board>) -> MutexGuard<'_, Board> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
}
