//! Applying to several targets: one look at all plans, one question, then target after target.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::plan::{make, several, told};
use super::{Asked, Became, Does, worst};
use crate::apply::Report;
use crate::cli::apply::{Asking, Format, How, WhenFailed, exit};
use crate::cli::planning::{Planned, Site, Wish};
use crate::cli::review::{self, Review};
use crate::cli::{Context, Ended, ledger, runtime};
use crate::failure::{Exit, Failure};
use crate::plan::Plan;
use crate::render::many::report::{self, Fate, One};
use crate::render::many::text::before_apply;
use crate::render::{self, Again};

/// How old a plan may be when it is applied. Others are applied before it, and what it was made from may have moved.
const FRESH: Duration = Duration::from_secs(60);

/// Plans all targets, shows and asks, and applies them one after the other.
pub fn run(asked: &Asked, wish: &Wish, how: &How, asking: &Asking, does: &Does, context: &Context) -> Ended {
    if !wish.done.is_empty() {
        return Err(Failure::usage("what was done by hand was done on one target")
            .help("say it for each: pushplan apply --target NAME --done ADDRESS"));
    }
    let sites = asked.read(context, Timestamp::now(), how.format != Format::Text)?;
    runtime()?.block_on(async {
        let mut waiting = how.turn.start();
        for site in &sites {
            how.await_turn(site, &mut waiting, context).await?;
            ledger::take_in(context, &site.log).await?;
        }
        Ok::<_, Failure>(())
    })?;
    let mut all = make(&sites, wish, context)?;
    let made = Instant::now();
    {
        let aheads = told(&all, asked, does, None);
        let several = several(&all, &aheads, &asking.again);
        let style = context.out.style();
        if how.format == Format::Text {
            context.out.print(&before_apply(&several, style));
        } else if asking.given.is_none() && io::stdin().is_terminal() {
            context.out.note(&before_apply(&several, style));
        }
    }
    if let Some(review) = &asking.review {
        runtime()?.block_on(async {
            for one in &mut all {
                if let Ok(planned) = &one.ended
                    && let Err(moved) = review.check(&planned.plan, context).await
                {
                    one.ended = Err(moved);
                }
            }
        });
    }
    for one in &mut all {
        if let Ok(planned) = &one.ended
            && let Err(refused) = how.guard(&one.site, &planned.plan, asking)
        {
            one.ended = Err(refused);
        }
    }
    let wrong = all.iter().any(|one| one.ended.is_err());
    if !wrong || how.on_error == WhenFailed::Continue {
        let has_news = |one: &Became<Planned>| one.ended.as_ref().is_ok_and(|planned| planned.plan.has_news());
        if all.iter().any(has_news) {
            how.ask(asking, context)?;
        }
    }
    let run = Run { how, wish, made, asked, does, context };
    let ended = runtime()?.block_on(run.all(all, wrong))?;
    show(&ended, how, asking, context);
    if let Some(review) = &asking.review {
        runtime()?.block_on(tell(review, &ended, context));
    }
    Ok(exit_of(&ended))
}

/// Tells the reviewers of each target what became of it.
async fn tell(review: &Review, ended: &[Dealt], context: &Context) {
    for Dealt { site, again, fate } in ended {
        let became = match fate {
            Reported::Applied { report, plan, .. } if plan.has_news() => review::Became::Ran(report, plan, again),
            Reported::Applied { .. } | Reported::Unchanged => review::Became::Nothing,
            Reported::Failed(failure) => review::Became::Held(failure),
            Reported::NotBegun => review::Became::NotBegun,
        };
        review.tell(&site.target, became, context).await;
    }
}

/// A target that was dealt with: what became of it, and how a command would end for it alone.
struct Dealt {
    site: Arc<Site>,
    again: Again,
    fate: Reported,
}

enum Reported {
    Applied { report: Report, plan: Box<Plan>, exit: Exit },
    Unchanged,
    Failed(Failure),
    NotBegun,
}

struct Run<'a> {
    how: &'a How,
    wish: &'a Wish,
    made: Instant,
    asked: &'a Asked,
    does: &'a Does,
    context: &'a Context,
}

impl Run<'_> {
    /// One target after the other. Where one cannot be planned or is refused, nothing is begun at all, unless the rest shall go
    /// on.
    async fn all(&self, all: Vec<Became<Planned>>, wrong: bool) -> Result<Vec<Dealt>, Failure> {
        let goes_on = self.how.on_error == WhenFailed::Continue;
        let mut stopped = wrong && !goes_on;
        let mut dealt = Vec::new();
        for Became { site, ended } in all {
            let again = self.does.again_for(self.asked, &site.target, &self.wish.choice);
            let fate = match ended {
                Err(failure) => Reported::Failed(failure),
                Ok(planned) if planned.plan.steps.is_empty() => Reported::Unchanged,
                Ok(_) if stopped => Reported::NotBegun,
                Ok(planned) => self.one(&site, planned, &again).await,
            };
            stopped |= match &fate {
                Reported::Applied { exit: Exit::Interrupted | Exit::Terminated, .. } => true,
                Reported::Applied { exit, .. } => *exit != Exit::Done && !goes_on,
                Reported::Failed(_) => !goes_on,
                Reported::Unchanged | Reported::NotBegun => false,
            };
            dealt.push(Dealt { site, again, fate });
        }
        Ok(dealt)
    }

    async fn one(&self, site: &Site, planned: Planned, again: &Again) -> Reported {
        let Self { how, context, .. } = self;
        let opened = match site.open().await {
            Ok(opened) => opened,
            Err(failure) => return Reported::Failed(failure),
        };
        let applied = async {
            let planned = self.fresh(site, &opened, planned).await?;
            if how.format == Format::Text {
                context.out.print(&report::begins(&site.target, context.out.style()));
            }
            let plan = Box::new(planned.plan.clone());
            let (report, signal) = how.drive(site, &opened, planned, context).await?;
            Ok(Reported::Applied { exit: exit(&report, &plan, signal), report, plan })
        };
        let fate = applied.await.unwrap_or_else(Reported::Failed);
        opened.close().await;
        if let Reported::Applied { report, plan, .. } = &fate {
            match how.format {
                Format::Text => context.out.print(&render::report::text(report, plan, again, context.out.style())),
                Format::Json => {}
                Format::Jsonl => context.out.json(&render::report::last_line(report, plan, again)),
            }
        }
        fate
    }

    /// The plan that was shown, if it is new; if not, another one, which has to be the same.
    async fn fresh(
        &self,
        site: &Site,
        opened: &crate::cli::target::Opened,
        planned: Planned,
    ) -> Result<Planned, Failure> {
        if self.made.elapsed() < FRESH {
            return Ok(planned);
        }
        let again = site.plan(opened, self.wish, self.context).await?;
        let moved = planned.plan.moved(&again.plan);
        match moved.is_empty() {
            true => Ok(again),
            false => Err(Failure::new(format!("what was shown does not hold any more: {}", moved.join("; ")))
                .exit(Exit::Stale)
                .help("nothing was changed there; look at a new plan")),
        }
    }
}

fn show(ended: &[Dealt], how: &How, asking: &Asking, context: &Context) {
    let one = |dealt: &Dealt| One {
        target: dealt.site.target.clone(),
        fate: match &dealt.fate {
            Reported::Applied { report, plan, .. } => Fate::Applied(report.clone(), plan.clone(), dealt.again.clone()),
            Reported::Unchanged => Fate::Unchanged,
            Reported::Failed(failure) => Fate::Failed(failure.clone()),
            Reported::NotBegun => Fate::NotBegun,
        },
    };
    let all: Vec<One> = ended.iter().map(one).collect();
    match how.format {
        Format::Text => context.out.print(&report::text(&all, &asking.again, context.out.style())),
        Format::Json => context.out.json(&report::json(&all)),
        Format::Jsonl => context.out.json(&report::lines(&all)),
    }
}

fn exit_of(ended: &[Dealt]) -> Exit {
    let exits = ended.iter().map(|dealt| match &dealt.fate {
        Reported::Applied { exit, .. } => *exit,
        Reported::Failed(failure) => failure.exit,
        Reported::Unchanged | Reported::NotBegun => Exit::Done,
    });
    let did =
        |dealt: &Dealt| matches!(&dealt.fate, Reported::Applied { report, plan, .. } if report.did_anything(plan));
    match worst(exits) {
        exit @ (Exit::Done | Exit::Interrupted | Exit::Terminated) => exit,
        _ if ended.iter().any(did) => Exit::Partly,
        exit => exit,
    }
}
