//! Applying to several targets: all plans are shown, with one confirmation, and then applied one after the other.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::plan::{make, several, told};
use super::{Does, PlansWanted, SeveralTargets, tell_failed};
use crate::cli::applying::{Applied, ApplyJob, Asking, How, QUICKER, WhenFailed, left_to_people};
use crate::cli::review::{self, Review};
use crate::cli::{Context, Ended, runtime};
use crate::engine::ledger;
use crate::engine::saved;
use crate::engine::several::TargetResult;
use crate::engine::target::{self, Opened};
use crate::engine::turn::Waiting;
use crate::engine::workspace::{Planned, Workspace};
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::plan::Plan;
use crate::render::Format;
use crate::render::many::report::{self, Fate, TargetOutcome};
use crate::render::many::text::before_apply;
use crate::render::{self, Repetition};

/// The maximal age of a plan when it is applied. Other targets are applied before it, so its basis may have changed.
const FRESH: Duration = Duration::from_secs(60);

/// Plans all targets, shows and asks, and applies them one after the other.
pub fn run(
    asked: &SeveralTargets,
    wanted: &PlansWanted,
    how: &How,
    asking: &Asking,
    does: &Does,
    context: &Context,
) -> Ended {
    if let PlansWanted::Alike(request) = wanted
        && !request.done.is_empty()
    {
        return Err(Failure::usage("--done works for one target at a time")
            .help("run it for each: pushplan apply --target NAME --done ADDRESS"));
    }
    let read = asked.read(context, Timestamp::now(), how.format != Format::Text);
    if let (Err(failure), Some(review), Ok(names)) = (&read, asking.review, asked.targets()) {
        // The reviewers are informed that it is not applied.
        let whys: Vec<Failure> = names.iter().map(|name| context.out.why(failure.clone(), name)).collect();
        let results: Vec<(&str, review::Became)> =
            names.iter().zip(&whys).map(|(name, why)| (name.as_str(), review::Became::Held(why))).collect();
        runtime()?.block_on(review.tell(&results, context));
    }
    let workspaces = read?;
    if let Some(workspace) = workspaces.iter().find(|workspace| wanted.leaves_out(&workspace.target)) {
        // A saved plan has the name of a group, which is no target.
        let names = asked.targets()?;
        return Err(target::unknown(&workspace.target, &names.iter().map(String::as_str).collect::<Vec<_>>()));
    }
    let run = ManyApply { how, wanted, asking, asked, does, context };
    let ended = runtime()?.block_on(run.all(&workspaces))?;
    show(&ended, how, asking, context);
    let failures: Vec<(&str, Cow<Failure>)> =
        ended.iter().filter_map(|dealt| Some((dealt.workspace.target.as_str(), dealt.failure()?))).collect();
    tell_failed(failures.iter().map(|(target, failure)| (*target, &**failure)), context);
    runtime()?.block_on(run.tell_all(&ended));
    Ok(exit_of(&ended))
}

/// A processed target: its result, and the exit code of a command for it alone.
struct Dealt {
    workspace: Arc<Workspace>,
    again: Repetition,
    fate: Reported,
    /// Whether a resource of another target is not promoted to it, or manual steps are left.
    is_short: bool,
}

impl Dealt {
    /// Why nothing was begun, or why the apply was interrupted.
    fn failure(&self) -> Option<Cow<'_, Failure>> {
        match &self.fate {
            Reported::Failed(failure) => Some(Cow::Borrowed(failure)),
            Reported::Applied(applied) => render::report::broken_off(&applied.report, &applied.plan).map(Cow::Owned),
            Reported::Unchanged | Reported::NotBegun => None,
        }
    }

    /// Whether the remaining targets are not begun because of it.
    fn is_in_the_way(&self) -> bool {
        match &self.fate {
            Reported::Applied(applied) => applied.exit != Exit::Done,
            Reported::Failed(_) => true,
            Reported::Unchanged | Reported::NotBegun => false,
        }
    }
}

enum Reported {
    Applied(Box<Applied>),
    Unchanged,
    Failed(Failure),
    NotBegun,
}

/// The plans of all targets. Refused ones are shown as well.
struct Plans {
    all: Vec<TargetResult<Planned>>,
    refused: BTreeMap<String, Failure>,
    made: Instant,
}

struct ManyApply<'a> {
    how: &'a How,
    wanted: &'a PlansWanted,
    asking: &'a Asking<'a>,
    asked: &'a SeveralTargets,
    does: &'a Does,
    context: &'a Context,
}

impl ManyApply<'_> {
    /// Applies one target after the other. If one cannot be planned or is refused, none is begun, unless errors are
    /// allowed.
    async fn all(&self, workspaces: &[Arc<Workspace>]) -> Result<Vec<Dealt>, Failure> {
        let Plans { mut all, mut refused, made } = self.plans(workspaces).await;
        self.show(&all);
        for one in &mut all {
            if let Some(failure) = refused.remove(&one.workspace.target) {
                one.result = Err(failure);
            }
        }
        let goes_on = self.how.on_error == WhenFailed::Continue;
        let mut stopped = all.iter().any(|one| one.result.is_err()) && !goes_on;
        let has_news = |one: &TargetResult<Planned>| one.result.as_ref().is_ok_and(|planned| planned.plan.has_news());
        if !stopped
            && self.is_asked()
            && all.iter().any(has_news)
            && let Err(refused) = self.how.ask(self.asking, self.context)
        {
            let held = all.iter().filter(|one| has_news(one));
            self.tell(held.map(|one| (&*one.workspace, review::Became::Held(&refused))).collect()).await;
            return Err(refused);
        }
        if !stopped {
            self.begin(&mut all).await;
            stopped = all.iter().any(|one| one.result.is_err()) && !goes_on;
        }
        let mut dealt = Vec::new();
        for TargetResult { workspace, result: ended } in all {
            let again =
                self.does.again_for(self.asked, &workspace.target, &self.wanted.request(&workspace.target).choice);
            let manual = ended.as_ref().map_or(0, |planned| self.how.manual(&planned.plan));
            let is_short = manual > 0 || ended.as_ref().is_ok_and(|planned| planned.plan.told.left() > 0);
            let fate = match ended {
                Err(failure) => Reported::Failed(failure),
                Ok(planned) if planned.plan.steps.is_empty() => {
                    workspace.end_unchanged(&planned, &self.context.session).await;
                    Reported::Unchanged
                }
                Ok(_) if stopped => Reported::NotBegun,
                Ok(planned) => self.one(&workspace, planned, made, &again).await,
            };
            stopped |= match &fate {
                Reported::Applied(applied) => match applied.exit {
                    Exit::Interrupted | Exit::Terminated => true,
                    exit => exit != Exit::Done && !goes_on,
                },
                Reported::Failed(_) => !goes_on,
                Reported::Unchanged | Reported::NotBegun => false,
            };
            let is_done = match &fate {
                Reported::Applied(applied) => applied.exit == Exit::Done,
                Reported::Unchanged => true,
                Reported::Failed(_) | Reported::NotBegun => false,
            };
            if is_done && manual > 0 {
                workspace.note(&left_to_people(manual), &self.context.session);
            }
            dealt.push(Dealt { workspace, again, fate, is_short });
        }
        Ok(dealt)
    }

    /// Uses the approvals of all targets, before anything is sent to any of them.
    async fn begin(&self, all: &mut [TargetResult<Planned>]) {
        let Some(review) = self.asking.review else { return };
        let plans: Vec<Arc<Plan>> = all.iter().filter_map(|one| Some(one.result.as_ref().ok()?.plan.clone())).collect();
        let plans: Vec<&Plan> = plans.iter().map(|plan| &**plan).collect();
        for (target, failure) in review.begin(&plans, self.context).await {
            if let Some(one) = all.iter_mut().find(|one| one.workspace.target == target) {
                one.result = Err(failure);
            }
        }
    }

    /// Plans all targets when no other run holds their locks, and plans those again where another run was faster. A
    /// target that cannot be planned keeps its place among the others.
    async fn plans(&self, workspaces: &[Arc<Workspace>]) -> Plans {
        let Self { how, context, .. } = self;
        let mut plans = Plans { all: Vec::new(), refused: BTreeMap::new(), made: Instant::now() };
        let mut waiting = how.turn.start();
        let mut left = workspaces.to_vec();
        while !left.is_empty() {
            self.asking.review.into_iter().for_each(Review::forget);
            let mut ready = Vec::new();
            for workspace in left {
                match self.is_free(&workspace, &mut waiting).await {
                    Ok(()) => ready.push(workspace),
                    Err(failure) => plans.all.push(TargetResult { workspace, result: Err(failure) }),
                }
            }
            let mut overtaken = Vec::new();
            for one in make(&ready, self.wanted, context).await {
                match self.is_still_to_do(&one).await {
                    Ok(true) => {}
                    Ok(false) => {
                        one.workspace.note(QUICKER, &context.session);
                        overtaken.push(one.workspace.clone());
                        continue;
                    }
                    Err(failure) => drop(plans.refused.insert(one.workspace.target.clone(), failure)),
                }
                plans.all.push(one);
            }
            left = overtaken;
        }
        plans.all.sort_by(|one, other| one.workspace.target.cmp(&other.workspace.target));
        plans
    }

    /// Waits until no other run holds the lock of a target, and adds results that an earlier run could not write.
    async fn is_free(&self, workspace: &Workspace, waiting: &mut Waiting) -> Result<(), Failure> {
        self.how.await_turn(workspace, waiting, self.context).await?;
        ledger::take_in(&self.context.session, &workspace.log).await
    }

    async fn is_still_to_do(&self, one: &TargetResult<Planned>) -> Result<bool, Failure> {
        let (workspace, Ok(Planned { plan, at_work, .. })) = (&one.workspace, &one.result) else { return Ok(true) };
        if *at_work {
            return Ok(false);
        }
        if let Some(saved) = self.wanted.saved(&workspace.target) {
            saved::holds(saved, plan)?;
        }
        self.how
            .is_still_to_do(workspace, plan, &self.wanted.request(&workspace.target), self.asking, self.context)
            .await
    }

    /// Reports the result of each target to its reviewers.
    async fn tell(&self, results: Vec<(&Workspace, review::Became<'_>)>) {
        let Some(review) = self.asking.review else { return };
        let why = |(workspace, became): &(&Workspace, review::Became)| match became {
            review::Became::Held(failure) => Some(self.context.out.why((*failure).clone(), &workspace.target)),
            _ => None,
        };
        let whys: Vec<Option<Failure>> = results.iter().map(why).collect();
        let mut told: Vec<(&str, review::Became)> = Vec::new();
        for ((workspace, became), why) in results.into_iter().zip(&whys) {
            told.push((&workspace.target, why.as_ref().map_or(became, review::Became::Held)));
        }
        review.tell(&told, self.context).await;
    }

    /// Reports the results of ended targets to their reviewers.
    async fn tell_all(&self, ended: &[Dealt]) {
        let first = ended.iter().find(|dealt| dealt.is_in_the_way()).map_or("", |dealt| &dealt.workspace.target);
        let mut results: Vec<(&Workspace, review::Became)> = Vec::new();
        for Dealt { workspace, again, fate, .. } in ended {
            let became = match fate {
                Reported::Applied(applied) => applied.became(again, &workspace.log),
                Reported::Unchanged => review::Became::Nothing,
                Reported::Failed(failure) => review::Became::Held(failure),
                Reported::NotBegun => review::Became::NotBegun(first),
            };
            results.push((workspace, became));
        }
        self.tell(results).await;
    }

    /// Whether a confirmation is needed: saved plans were reviewed.
    fn is_asked(&self) -> bool {
        matches!(self.wanted, PlansWanted::Alike(_))
    }

    /// Shows all plans before the confirmation.
    fn show(&self, all: &[TargetResult<Planned>]) {
        let Self { how, asking, context, .. } = self;
        let aheads = told(all, self.asked, self.does, None, &context.out);
        let several = several(all, &aheads, &asking.again, None);
        let style = context.out.style();
        if how.format == Format::Text {
            context.out.print(&before_apply(&several, style));
        } else if asking.given.is_none() && self.is_asked() && io::stdin().is_terminal() {
            context.out.note(&before_apply(&several, style));
        }
    }

    async fn one(&self, workspace: &Workspace, planned: Planned, made: Instant, again: &Repetition) -> Reported {
        let Self { how, context, .. } = self;
        let opened = match workspace.open().await {
            Ok(opened) => opened,
            Err(failure) => return Reported::Failed(failure),
        };
        let applied = self.applied(workspace, &opened, planned, made, again).await;
        opened.close().await;
        let applied = match applied {
            Ok(applied) => Box::new(applied),
            Err(failure) => return Reported::Failed(failure),
        };
        let Applied { report, plan, .. } = &*applied;
        match how.format {
            Format::Json => {}
            Format::Jsonl => context.out.json(&render::report::last_line(report, plan, again)),
            _ => context.out.print(&render::report::text(report, plan, again, context.out.style())),
        }
        Reported::Applied(applied)
    }

    async fn applied(
        &self,
        workspace: &Workspace,
        opened: &Opened,
        planned: Planned,
        made: Instant,
        again: &Repetition,
    ) -> Result<Applied, Failure> {
        let Self { how, context, .. } = self;
        let planned = self.fresh(workspace, opened, planned, made).await?;
        if how.format == Format::Text {
            context.out.print(&report::begins(&workspace.target, context.out.style()));
        }
        if let Some(applied) = how.carry_out(workspace, opened, planned, context).await? {
            return Ok(applied);
        }
        workspace.note(QUICKER, &context.session);
        let (request, saved) = (self.wanted.request(&workspace.target), self.wanted.saved(&workspace.target));
        let asking = self.asking.about_one(again.clone());
        ApplyJob { how, workspace, request: &request, saved, asking: &asking, context }.run(opened).await
    }

    /// The shown plan, if it is new enough; otherwise a new one, which must be the same.
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

fn show(ended: &[Dealt], how: &How, asking: &Asking, context: &Context) {
    let one = |dealt: &Dealt| TargetOutcome {
        target: dealt.workspace.target.clone(),
        fate: match &dealt.fate {
            Reported::Applied(applied) => {
                let Applied { report, plan, .. } = &**applied;
                Fate::Applied(report.clone(), plan.clone(), dealt.again.clone())
            }
            Reported::Unchanged => Fate::Unchanged,
            Reported::Failed(failure) => Fate::Failed(context.out.why(failure.clone(), &dealt.workspace.target)),
            Reported::NotBegun => Fate::NotBegun,
        },
    };
    let all: Vec<TargetOutcome> = ended.iter().map(one).collect();
    let text = match how.format {
        Format::Json => report::json(&all),
        Format::Jsonl => report::lines(&all),
        _ => report::text(&all, &asking.again, context.out.style()),
    };
    context.out.show(how.format, &text);
}

fn exit_of(ended: &[Dealt]) -> Exit {
    let exits = ended.iter().map(|dealt| match &dealt.fate {
        Reported::Applied(applied) if applied.exit == Exit::Done && dealt.is_short => Exit::Partly,
        Reported::Applied(applied) => applied.exit,
        Reported::Failed(failure) => failure.into(),
        Reported::Unchanged | Reported::NotBegun if dealt.is_short => Exit::Partly,
        Reported::Unchanged | Reported::NotBegun => Exit::Done,
    });
    let did = |dealt: &Dealt| matches!(&dealt.fate, Reported::Applied(it) if it.report.did_anything(&it.plan));
    match Exit::worst(exits) {
        exit @ (Exit::Done | Exit::Interrupted | Exit::Terminated) => exit,
        _ if ended.iter().any(did) => Exit::Partly,
        exit => exit,
    }
}
