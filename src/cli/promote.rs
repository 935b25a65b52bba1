use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use jiff::Timestamp;

use super::applying::Options;
use super::forms::Forms;
use super::many::{self, Does, PlansWanted};
use super::places::{Places, SeveralTargets, Which};
use super::presenting::ExitCodes;
use super::{Context, Ended, presenting};
use crate::engine::promote;
use crate::engine::workspace::PlanRequest;
use crate::plan::Aim;
use crate::render::Format;

/// Apply the contents of one target to another target.
///
/// It plans what the ledger of the source records as applied, with the variables and overlays of the new target.
/// Changes in your files that the source does not have yet are skipped and listed. Without --yes, the plan is shown and
/// nothing is changed.
#[derive(Debug, Args)]
pub struct Promote {
    /// Target to copy from, such as staging
    #[arg(long, value_name = "NAME")]
    from: String,

    /// Targets to apply to: names, groups, or patterns such as `prod-*`
    #[arg(long, value_name = "NAME", value_delimiter = ',', required = true)]
    to: Vec<String>,

    /// Folder of the project [default: this one or the nearest above it]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,

    /// Save the plan for `pushplan apply FILE` and change nothing; a folder if there are several targets
    #[arg(long, value_name = "FILE", conflicts_with = "yes")]
    out: Option<PathBuf>,

    #[command(flatten)]
    wanted: Options,
}

impl Promote {
    pub fn run(&self, context: &Context) -> Ended {
        let request = PlanRequest { aim: Aim::Promoted(self.from.clone()), ..self.wanted.request() };
        let places = Places::new(self.project.clone(), self.to.clone());
        let format = if self.wanted.how.format == Format::Text { Format::Text } else { Format::Json };
        let forms = Forms::one(format, self.out.clone());
        promote::check_source(&places.root()?, &self.from)?;
        match places.which()? {
            Which::One(place) => {
                promote::check_destination(&self.from, place.target())?;
                let workspace = place.read_for(context, Timestamp::now(), self.wanted.how.format != Format::Text)?;
                let again = place.again(&self.does().command(&workspace.target).0, &request.choice).whole();
                if !self.wanted.allowed.yes {
                    return presenting::make(None, &workspace, &request, again, &forms, ExitCodes::TO_APPLY, context);
                }
                let asking = self.wanted.allowed.asking("", again);
                self.wanted.how.run(&workspace, &request, None, &asking, context)
            }
            Which::Several(asked) => self.several(&asked, &request, &forms, context),
        }
    }

    fn several(&self, asked: &SeveralTargets, request: &PlanRequest, forms: &Forms, context: &Context) -> Ended {
        promote::check_destinations(&self.from, asked)?;
        let does = self.does();
        if !self.wanted.allowed.yes {
            return many::plan::run(asked, request, &does, forms, ExitCodes::TO_APPLY, context);
        }
        let asking = self.wanted.allowed.asking("", does.again(asked, &request.choice));
        many::apply::run(
            asked,
            &PlansWanted::Alike(Arc::new(request.clone())),
            self.wanted.together(),
            &asking,
            &does,
            context,
        )
    }

    /// The command that applies the plan.
    fn does(&self) -> Does {
        Does::Promote { from: self.from.clone(), options: self.wanted.drifting.again().to_owned() }
    }
}
