use clap::Args;
use jiff::Timestamp;

use super::applying::{Asking, How};
use super::forms::Forms;
use super::planning::{Chosen, TargetArgs};
use super::presenting::{self, ExitCodes};
use super::{Context, Ended};
use crate::engine::workspace::PlanRequest;
use crate::nouns::on_drift::OnDrift;
use crate::plan::Aim;
use crate::render::Format;
use crate::text::shell_word;

/// Delete everything that pushplan manages, and nothing else.
///
/// With --only, it deletes these resources and not what they refer to. A segment that a remaining message uses is kept until
/// that message is deleted.
#[derive(Debug, Args)]
#[command(mut_arg("only", |arg| arg.help("Delete only these, such as `segments/*`")))]
#[command(mut_arg("except", |arg| arg.help("Do not delete these")))]
pub struct Destroy {
    #[command(flatten)]
    place: TargetArgs,

    #[command(flatten)]
    chosen: Chosen,

    /// Name of the target; replaces the interactive confirmation
    #[arg(long, value_name = "TARGET")]
    confirm: Option<String>,

    /// Show what would be deleted, and delete nothing
    #[arg(long, conflicts_with = "confirm")]
    dry_run: bool,

    #[command(flatten)]
    how: How,
}

impl Destroy {
    pub fn run(&self, context: &Context) -> Ended {
        let workspace = self.place.read(context, Timestamp::now())?;
        // Deleting everything includes what other users changed.
        let on_drift = Some(OnDrift::Overwrite);
        let request =
            PlanRequest { choice: self.chosen.choice(), aim: Aim::Nothing, on_drift, ..PlanRequest::default() };
        let again = |confirm: &str| self.place.again(&format!("destroy {confirm}"), &request.choice);
        let confirm = format!("--confirm {}", shell_word(&workspace.target));
        if self.dry_run {
            let format = if self.how.format == Format::Text { Format::Text } else { Format::Json };
            let forms = Forms::one(format, None);
            let again = again(&confirm);
            return presenting::make(None, &workspace, &request, again, &forms, ExitCodes::TO_APPLY, context);
        }
        let question = format!("Delete all of this? Type the name of the target, `{}`, to continue:", workspace.target);
        let asking = Asking {
            question: &question,
            wanted: &workspace.target,
            given: self.confirm.as_deref(),
            way_out: format!("pass {confirm}"),
            // Typing the name of the target also allows any number of deletions.
            allow_deletes: Some(usize::MAX),
            allow_sends: false,
            allow_older: false,
            again: again(&confirm),
            review: None,
        };
        self.how.run(&workspace, &request, None, &asking, context)
    }
}
