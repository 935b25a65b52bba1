use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use jiff::Timestamp;

use super::applying::{APPLY_THIS, Asking, Options};
use super::many::{self, Does, PlansWanted};
use super::places::{Places, SeveralTargets, Which};
use super::review::{Approved, Became};
use super::{Context, Ended, ledger, runtime};
use crate::engine::saved::{self, FailedTarget};
use crate::engine::workspace::PlanRequest;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::{Format, one_line};

/// Make the service match the manifests.
#[derive(Debug, Args)]
pub struct Apply {
    /// Saved plan, or folder of saved plans [default: make a plan, show it and ask for confirmation]
    #[arg(value_name = "PLAN", conflicts_with = "approved")]
    plan: Option<PathBuf>,

    #[command(flatten)]
    places: Places,

    #[command(flatten)]
    wanted: Options,

    #[command(flatten)]
    approved: Approved,

    /// Confirm that a manual step of the plan was done; if the service can list the resource, pushplan checks it
    #[arg(long, value_name = "ADDRESS")]
    done: Vec<String>,
}

impl Apply {
    pub fn run(&self, context: &Context) -> Ended {
        let chosen = !self.wanted.chosen.is_all() || !self.done.is_empty() || self.wanted.drifting.given().is_some();
        if self.plan.is_some() && chosen {
            return Err(Failure::usage("--only, --except, --done and --on-drift cannot be used with a saved plan"));
        }
        if let Some(folder) = self.plan.as_deref().filter(|path| path.is_dir()) {
            return self.folder(folder, context);
        }
        let saved = self.plan.as_deref().map(saved::load).transpose()?;
        let place = match (self.places.which()?, &saved) {
            (Which::One(place), None) => place,
            // A saved plan contains its target.
            (Which::One(place), Some(plan)) => place.or_target(&plan.target),
            (Which::Several(asked), None) => return self.several(&asked, context),
            (Which::Several(_), Some(plan)) => {
                return Err(Failure::usage(format!("a saved plan is for one target: this one is for {}", plan.target))
                    .help("omit --target: the plan contains it"));
            }
        };
        let review = self.approved.review(&place.root()?);
        let (now, programs) = (Timestamp::now(), self.wanted.how.format != Format::Text);
        let read = match saved {
            Some(_) => place.read_for(context, now, programs),
            None => place.read_to_plan(context, now, programs),
        };
        if let (Err(failure), Some(review), Ok(name)) = (&read, &review, place.name()) {
            // The reviewers are informed that it is not applied.
            runtime()?.block_on(review.tell_one(&name, Became::Held(failure), context));
        }
        let workspace = read?;
        let mut done = BTreeSet::new();
        for address in &self.done {
            done.insert(ledger::address_at(address, &place)?);
        }
        let request = match &saved {
            Some(plan) => PlanRequest { allow_older: self.wanted.allowed.allow_older, ..saved::request(plan) },
            None => PlanRequest { done, ..self.wanted.request() },
        };
        let does = Does::to([(workspace.target.as_str(), &request.aim)].into_iter(), &self.options());
        let asking = self.wanted.allowed.asking(APPLY_THIS, does.again_at(&place, &workspace.target, &request.choice));
        let asking = Asking { review: review.as_ref(), ..asking };
        let ended = self.wanted.how.run(&workspace, &request, saved.as_ref(), &asking, context);
        // The process ends here: dropping what was read would only take time.
        std::mem::forget(workspace);
        ended
    }

    /// The options that affect a new plan, each with a space before it.
    fn options(&self) -> String {
        format!("{}{}", self.wanted.drifting.again(), self.approved.again())
    }

    fn several(&self, asked: &SeveralTargets, context: &Context) -> Ended {
        let done = self.done.iter().map(|text| ledger::address(text)).collect::<Result<_, _>>()?;
        let request = PlanRequest { done, ..self.wanted.request() };
        let does = Does::Apply(self.options());
        let asking = self.wanted.allowed.asking(APPLY_ALL, does.again(asked, &request.choice));
        let review = self.approved.review(&self.places.root()?);
        let asking = Asking { review: review.as_ref(), ..asking };
        many::apply::run(asked, &PlansWanted::Alike(Arc::new(request)), self.wanted.together(), &asking, &does, context)
    }

    /// Applies all plans of a folder, each to its target.
    fn folder(&self, folder: &Path, context: &Context) -> Ended {
        let plans = saved::load_all(folder)?;
        let failed = saved::failed_in(folder)?;
        for FailedTarget { target, why } in &failed {
            let why = why.message.lines().next().unwrap_or_default();
            context.out.note(&one_line(&format!("{target} is not applied, because it could not be planned: {why}")));
        }
        let asked = self.places.of_plans(plans.keys()).ok_or_else(|| {
            Failure::usage("--target cannot be used with a folder of saved plans").help(format!(
                "omit --target, or apply one of the plans: pushplan apply {}/NAME.plan",
                folder.display()
            ))
        })?;
        // The command that continues makes new plans. Plans that were made together have the same choice.
        let first = plans.values().next().map(|plan| &plan.choice);
        let choice =
            first.filter(|first| plans.values().all(|plan| plan.choice == **first)).cloned().unwrap_or_default();
        let does = Does::to(plans.iter().map(|(target, plan)| (target.as_str(), &plan.aim)), "");
        let asking = self.wanted.allowed.asking(APPLY_ALL, does.again(&asked, &choice));
        let wanted = PlansWanted::Saved(Arc::new(plans));
        let exit = many::apply::run(&asked, &wanted, self.wanted.together(), &asking, &does, context)?;
        Ok(if exit == Exit::Done && !failed.is_empty() { Exit::Partly } else { exit })
    }
}

const APPLY_ALL: &str = "Apply these plans to all of these targets? Type `yes` to continue:";
