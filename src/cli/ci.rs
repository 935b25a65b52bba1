mod comment;
mod environments;
mod init;
mod naming;
mod outputs;
mod summary;
mod words;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::many::Way;
use super::planning::TargetArgs;
use super::{Context, Ended};
use crate::engine::saved::{self, FailedTarget, SavedPlans};
use crate::engine::select::select;
use crate::failure::Failure;
use crate::guard::{Limits, guards};
use crate::manifest::Project;
use crate::plan::{Aim, Plan};
use crate::render::Repetition;
use crate::render::many::review::{ReviewText, TargetGroups, review};
use crate::render::many::{PlanResult, Several};
use crate::render::plan::NextSteps;

/// Show plans in pull requests and CI systems.
#[derive(Debug, Args)]
pub struct Ci {
    #[command(subcommand)]
    command: CiCommand,
}

#[derive(Debug, Subcommand)]
enum CiCommand {
    Comment(comment::Comment),
    Init(init::Init),
    Outputs(outputs::Outputs),
    Summary(summary::Summary),
}

impl Ci {
    pub fn run(&self, context: &Context) -> Ended {
        match &self.command {
            CiCommand::Comment(command) => command.run(context),
            CiCommand::Init(command) => command.run(context),
            CiCommand::Outputs(command) => command.run(context),
            CiCommand::Summary(command) => command.run(context),
        }
    }
}

/// Plans with their next steps.
type ReviewedPlans = Vec<(Plan, NextSteps)>;

/// Plans that were saved, and the project that they are of.
#[derive(Debug, Args)]
struct Saved {
    /// Plan saved by `pushplan plan --out FILE`, or a folder of plans; can be repeated
    #[arg(long = "plan", value_name = "FILE", required = true)]
    plans: Vec<PathBuf>,

    /// Folder of the project [default: this one or the nearest above it]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,

    /// Targets that need a plan: names, groups, values of the matrix or patterns; one without is shown as failed
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    target: Vec<String>,
}

impl Saved {
    fn place(&self) -> TargetArgs {
        TargetArgs::new(self.project.clone(), None)
    }

    /// Each plan with its next steps, and the targets that could not be planned.
    fn read(&self) -> Result<(ReviewedPlans, Vec<FailedTarget>), Failure> {
        let project = Project::open(&self.place().root()?);
        let SavedPlans { plans, failed } = saved::read_all(&self.plans, &select(&project, &self.target)?)?;
        let plans = plans
            .into_iter()
            .map(|plan| (self.ahead(&plan, &project), plan))
            .map(|(ahead, plan)| (plan, ahead))
            .collect();
        Ok((plans, failed))
    }

    /// The plans of several targets as one review, in parts with these sizes.
    fn review(
        &self,
        plans: &[(Plan, NextSteps)],
        failed: &[FailedTarget],
        room: &[usize],
    ) -> Result<ReviewText, Failure> {
        let project = Project::open(&self.place().root()?);
        let planned = plans.iter().map(|(plan, _)| plan.target.clone());
        let names: Vec<String> = planned.chain(failed.iter().map(|failed| failed.target.clone())).collect();
        let is_all = project.target_names().iter().all(|name| names.iter().any(|own| own == name));
        let options = match is_all {
            true => vec!["--all-targets".to_owned()],
            false => vec!["--target".to_owned(), names.join(",")],
        };
        let folder = self.project.as_ref().map(|folder| folder.display().to_string());
        let choice = plans.first().map(|(plan, _)| plan.choice.clone()).unwrap_or_default();
        let way = Way::of(plans.iter().map(|(plan, _)| (plan.target.as_str(), &plan.aim)));
        let command = way.as_ref().map_or_else(|| "apply".to_owned(), |way| format!("promote {}", way.options(None)));
        // Targets that fail do not hold back the others.
        let goes_on = if failed.is_empty() { "" } else { " --on-error continue" };
        let command_line = format!("{command} --approved --yes{goes_on}");
        let again = Repetition::of_several(&command_line, folder.as_deref(), &options, &choice);
        let again = if way.is_some() { again.looking(&command).whole() } else { again };
        let group = |name: &str| {
            let members = project.targets_of(name).into_iter().map(str::to_owned).collect();
            (name.to_owned(), members)
        };
        let mut groups: TargetGroups = project.group_names().into_iter().map(group).collect();
        groups.sort_by_key(|(name, _)| environments::place(name));
        let planned = plans.iter().map(|(plan, ahead)| (plan.target.as_str(), PlanResult::Planned(plan, ahead)));
        let failed = failed.iter().map(|failed| (failed.target.as_str(), PlanResult::Failed(&failed.why)));
        let mut all: Vec<(&str, PlanResult)> = planned.chain(failed).collect();
        all.sort_by_key(|(target, _)| *target);
        let is_applied = plans.iter().all(|(_, ahead)| ahead.on_merge);
        Ok(review(&Several::new(all, &again, None), &groups, is_applied, room))
    }

    fn ahead(&self, plan: &Plan, project: &Project) -> NextSteps {
        let most = project.target(&plan.target).and_then(|target| target.max_deletes.as_ref());
        let most = most.and_then(|most| usize::try_from(most.value).ok());
        let usual = Limits::default();
        let limits = Limits { max_deletes: most.unwrap_or(usual.max_deletes), ..usual };
        let folder = self.project.as_ref().map(|folder| folder.display().to_string());
        let target = Some(plan.target.as_str()).filter(|_| project.target_names().len() > 1);
        // After a merge the manifests are applied, or other targets are promoted, and only a plan with the service knows the
        // remaining changes.
        let is_applied = plan.basis.is_service();
        let way = Way::of([(plan.target.as_str(), &plan.aim)].into_iter());
        let on_merge = is_applied && (plan.aim == Aim::Manifests || way.is_some());
        let command = way.as_ref().map_or_else(|| "apply".to_owned(), |way| format!("promote {}", way.options(None)));
        let approved = if on_merge { " --approved --yes" } else { "" };
        let again = Repetition::new(&format!("{command}{approved}"), folder.as_deref(), target, &plan.choice);
        let again = if way.is_some() { again.looking(&command).whole() } else { again };
        let saved = self.plans.first().filter(|_| is_applied && !on_merge).map(|file| file.display().to_string());
        NextSteps { again, saved, refused: guards(plan, &limits), on_merge }
    }
}
