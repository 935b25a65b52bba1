//! Applying to several targets: one look at all plans, one question, then several targets at a time.

mod parallel;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::plan::{make, several, told};
use super::{Does, PlansWanted, SeveralTargets, tell_failed};
use parallel::{Dealt, Reported};

use crate::cli::applying::{Applied, Asking, How, QUICKER, listen};
use crate::cli::review::{self, Review};
use crate::cli::signals::{Signal, Stop};
use crate::cli::{Context, Ended, runtime};
use crate::engine::ledger;
use crate::engine::saved;
use crate::engine::several::TargetResult;
use crate::engine::target;
use crate::engine::turn::Waiting;
use crate::engine::workspace::{Planned, Workspace};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ledger::Chain;
use crate::plan::Plan;
use crate::render::Format;
use crate::render::many::report::{self, Fate, TargetOutcome};
use crate::render::many::text::before_apply;

/// The maximal age of a plan when it is applied. Other targets are applied before it, so its basis may have changed.
const FRESH: Duration = Duration::from_secs(60);

/// Plans all targets, shows and asks, and applies them in parallel.
pub fn run(
    asked: &SeveralTargets,
    wanted: &PlansWanted,
    (how, parallel): (&How, u16),
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
    let run = ManyApply { how, parallel: usize::from(parallel), wanted, asking, asked, does, context };
    let runtime = runtime()?;
    let ready = runtime.block_on(run.ready(&workspaces))?;
    let stop = ready.stop.clone();
    let ended = run.deal(ready, runtime);
    show(&ended, how, asking, context);
    let failures: Vec<(&str, Cow<Failure>)> =
        ended.iter().filter_map(|dealt| Some((dealt.workspace.target.as_str(), dealt.failure()?))).collect();
    tell_failed(failures.iter().map(|(target, failure)| (*target, &**failure)), context);
    runtime.block_on(run.tell_all(&ended));
    Ok(exit_of(&ended, stop.by()))
}

/// The plans of all targets. Refused ones are shown as well.
struct Plans {
    all: Vec<TargetResult<Planned>>,
    refused: BTreeMap<String, Failure>,
    made: Instant,
}

/// Plans that may be carried out, and failures in the place of others.
struct Ready {
    all: Vec<TargetResult<Planned>>,
    /// Nothing is begun, because of a failure.
    stopped: bool,
    made: Instant,
    stop: Stop,
}

struct ManyApply<'a> {
    how: &'a How,
    /// How many targets are applied at the same time.
    parallel: usize,
    wanted: &'a PlansWanted,
    asking: &'a Asking<'a>,
    asked: &'a SeveralTargets,
    does: &'a Does,
    context: &'a Context,
}

impl ManyApply<'_> {
    /// Plans all targets, asks, and uses the approvals. If one cannot be planned or is refused, nothing is begun at all, unless
    /// the others shall continue.
    async fn ready(&self, workspaces: &[Arc<Workspace>]) -> Result<Ready, Failure> {
        let Plans { mut all, mut refused, made } = self.plans(workspaces).await;
        self.show(&all);
        for one in &mut all {
            if let Some(failure) = refused.remove(&one.workspace.target) {
                one.result = Err(failure);
            }
        }
        let goes_on = self.goes_on();
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
        Ok(Ready { all, stopped, made, stop: listen()? })
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
            let ahead = Chain::read_ahead(left.iter().map(|workspace| &workspace.log)).await;
            let mut ready = Vec::new();
            for workspace in left {
                match self.is_free(&workspace, &mut waiting).await {
                    Ok(()) => ready.push(workspace),
                    Err(failure) => plans.all.push(TargetResult { workspace, result: Err(failure) }),
                }
            }
            drop(ahead);
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
                Reported::Overtaken | Reported::NotBegun => review::Became::NotBegun(first),
            };
            results.push((workspace, became));
        }
        self.tell(results).await;
    }

    /// Whether a confirmation is needed: saved plans were reviewed.
    fn is_asked(&self) -> bool {
        !matches!(self.wanted, PlansWanted::Saved(_))
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
            Reported::Overtaken | Reported::NotBegun => Fate::NotBegun,
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

fn exit_of(ended: &[Dealt], signal: Option<Signal>) -> Exit {
    let exits = ended.iter().map(|dealt| match &dealt.fate {
        Reported::Applied(applied) if applied.exit == Exit::Done && dealt.is_short => Exit::Partly,
        Reported::Applied(applied) => applied.exit,
        Reported::Failed(failure) => failure.into(),
        // A signal that came between two targets interrupts the command all the same.
        Reported::Overtaken | Reported::NotBegun if signal.is_some() => signal.map_or(Exit::Done, Signal::exit),
        Reported::Unchanged | Reported::Overtaken | Reported::NotBegun if dealt.is_short => Exit::Partly,
        Reported::Unchanged | Reported::Overtaken | Reported::NotBegun => Exit::Done,
    });
    let did = |dealt: &Dealt| matches!(&dealt.fate, Reported::Applied(it) if it.report.did_anything(&it.plan));
    match Exit::worst(exits) {
        exit @ (Exit::Done | Exit::Interrupted | Exit::Terminated) => exit,
        _ if ended.iter().any(did) => Exit::Partly,
        exit => exit,
    }
}
