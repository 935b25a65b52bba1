use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use jiff::Timestamp;

use super::applying::{Asking, Options};
use super::forms::Forms;
use super::many::{self, Does, PlansWanted, Way};
use super::places::{Places, SeveralTargets, Which};
use super::planning::TargetArgs;
use super::presenting::ExitCodes;
use super::review::{Approved, Became, Review};
use super::{Context, Ended, presenting, runtime};
use crate::engine::promote::{self, Pairs};
use crate::engine::workspace::PlanRequest;
use crate::failure::Failure;
use crate::manifest::Project;
use crate::plan::Aim;
use crate::render::{Format, one_line};

/// Apply the contents of targets to other targets.
///
/// It plans what the ledger of the source records as applied, with the variables and overlays of the new target.
/// Changes in your files that the source does not have yet are skipped and listed. Without --yes, the plan is shown and
/// nothing is changed.
///
/// Several sources are paired with the targets of --to by the matrix: the targets of a pair differ in one dimension, such as
/// environment = staging and production, and have the same values in all others.
#[derive(Debug, Args)]
pub struct Promote {
    /// Targets to copy from, such as staging: names, groups, patterns, or a value of the matrix
    #[arg(long, value_name = "NAME", value_delimiter = ',', required = true)]
    from: Vec<String>,

    /// Targets to apply to: names, groups, patterns such as `prod-*`, or a value of the matrix
    #[arg(long, value_name = "NAME", value_delimiter = ',', required = true)]
    to: Vec<String>,

    /// Leave out targets without a counterpart, instead of refusing the command
    #[arg(long)]
    skip_unpaired: bool,

    /// Folder of the project [default: this one or the nearest above it]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,

    /// Save the plan for `pushplan apply FILE` and change nothing; a folder if there are several targets or if it ends with `/`
    #[arg(long, value_name = "FILE", conflicts_with = "yes")]
    out: Option<PathBuf>,

    #[command(flatten)]
    wanted: Options,

    #[command(flatten)]
    approved: Approved,
}

impl Promote {
    pub fn run(&self, context: &Context) -> Ended {
        let root = Places::new(self.project.clone(), self.to.clone()).root()?;
        let review = self.approved.review(&root);
        if review.is_some() && !self.wanted.allowed.yes {
            return Err(Failure::usage("--approved applies the plan, which needs --yes").help("add --yes"));
        }
        let pairs = self.pairs(&root, context)?;
        let does = self.does(&pairs);
        // Words are kept if they mean exactly the paired targets.
        let to = if pairs.unpaired.is_empty() { self.to.clone() } else { pairs.sources.keys().cloned().collect() };
        match Places::new(self.project.clone(), to).which()?.saved_as(&self.forms(), &root) {
            Which::One(place) => self.one(&place, &pairs, &does, review.as_ref(), context),
            Which::Several(asked) => self.several(&asked, &pairs, &does, review.as_ref(), context),
        }
    }

    /// The source of each target. Targets without a counterpart are refused or reported.
    fn pairs(&self, root: &Path, context: &Context) -> Result<Pairs, Failure> {
        let pairs = promote::pairs(&Project::open(root), &self.from, &self.to)?;
        if !self.skip_unpaired || pairs.sources.is_empty() {
            pairs.check_whole()?;
        }
        for (target, why) in &pairs.unpaired {
            context.out.note(&one_line(&format!("{target} is left out: {why}.")));
        }
        Ok(pairs)
    }

    fn request(&self, source: &str) -> PlanRequest {
        PlanRequest { aim: Aim::Promoted(source.to_owned()), ..self.wanted.request() }
    }

    /// The forms of a plan that is only shown.
    fn forms(&self) -> Forms {
        let format = if self.wanted.how.format == Format::Text { Format::Text } else { Format::Json };
        Forms::one(format, self.out.clone())
    }

    fn one(&self, place: &TargetArgs, pairs: &Pairs, does: &Does, review: Option<&Review>, context: &Context) -> Ended {
        let target = place.target().unwrap_or_default();
        let source = pairs.sources.get(target).cloned().unwrap_or_else(|| self.from.join(","));
        let (request, programs) = (self.request(&source), self.wanted.how.format != Format::Text);
        let read = place.read_for(context, Timestamp::now(), programs);
        if let (Err(failure), Some(review)) = (&read, review) {
            // The reviewers are informed that it is not applied.
            runtime()?.block_on(review.tell_one(target, Became::Held(failure), context));
        }
        let workspace = read?;
        let again = does.again_at(place, target, &request.choice);
        if !self.wanted.allowed.yes {
            return presenting::make(None, &workspace, &request, again, &self.forms(), ExitCodes::TO_APPLY, context);
        }
        let asking = Asking { review, ..self.wanted.allowed.asking("", again) };
        self.wanted.how.run(&workspace, &request, None, &asking, context)
    }

    fn several(
        &self,
        asked: &SeveralTargets,
        pairs: &Pairs,
        does: &Does,
        review: Option<&Review>,
        context: &Context,
    ) -> Ended {
        let requests = pairs.sources.iter().map(|(target, source)| (target.clone(), self.request(source)));
        let wanted = PlansWanted::Each(Arc::new(requests.collect()));
        let choice = self.wanted.chosen.choice();
        if !self.wanted.allowed.yes {
            return many::plan::run(asked, &wanted, &choice, does, &self.forms(), ExitCodes::TO_APPLY, context);
        }
        let asking = Asking { review, ..self.wanted.allowed.asking("", does.again(asked, &choice)) };
        many::apply::run(asked, &wanted, self.wanted.together(), &asking, does, context)
    }

    /// The command that applies the plan.
    fn does(&self, pairs: &Pairs) -> Does {
        let sources: BTreeMap<String, String> = pairs.sources.clone();
        let way = Way { from: self.from.join(","), to: self.to.join(","), sources, skips: self.skip_unpaired };
        Does::Promote { way, options: format!("{}{}", self.wanted.drifting.again(), self.approved.again()) }
    }
}
