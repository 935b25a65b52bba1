use std::path::PathBuf;

use clap::Args;
use jiff::Timestamp;

use super::applying::{Allowed, How};
use super::drifting::Drifting;
use super::forms::Forms;
use super::planning::{Chosen, TargetArgs};
use super::presenting::ExitCodes;
use super::{Context, Ended, presenting};
use crate::engine::workspace::PlanRequest;
use crate::plan::Aim;
use crate::render::Format;

/// Undo a run of the history.
///
/// Resources that the run created are deleted, those that it changed get their old content, those that it deleted are
/// created again, and those that it renamed get their old key. Later changes to the content of these resources are
/// undone too; other later changes stay. A resource that was renamed later keeps its new key. Adopted resources stay
/// managed, and forgotten ones stay unmanaged. Resources that were sent or deleted later are not created again. All of
/// this is listed.
///
/// The manifests are not changed: revert the commit too, or the next apply applies the changes again.
#[derive(Debug, Args)]
pub struct Revert {
    /// Number of the run in `pushplan history`
    #[arg(value_name = "NUMBER")]
    number: usize,

    /// Save the plan for `pushplan apply FILE`, and change nothing
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    place: TargetArgs,

    #[command(flatten)]
    chosen: Chosen,

    #[command(flatten)]
    drifting: Drifting,

    #[command(flatten)]
    allowed: Allowed,

    #[command(flatten)]
    how: How,
}

impl Revert {
    /// Prints a reminder that the manifests may still declare the reverted changes.
    fn remind(&self, context: &Context) {
        context
            .out
            .note("Your files were not changed: revert the commit too, or the next apply applies the changes again.");
    }

    pub fn run(&self, context: &Context) -> Ended {
        let workspace = self.place.read(context, Timestamp::now())?;
        let on_drift = self.drifting.given();
        let request = PlanRequest {
            choice: self.chosen.choice(),
            aim: Aim::Before(self.number),
            on_drift,
            ..PlanRequest::default()
        };
        let again = self.place.again(&format!("revert {}{}", self.number, self.drifting.again()), &request.choice);
        if let Some(path) = &self.out {
            let format = if self.how.format == Format::Text { Format::Text } else { Format::Json };
            let forms = Forms::one(format, Some(path.clone()));
            return presenting::make(None, &workspace, &request, again, &forms, ExitCodes::TO_APPLY, context);
        }
        let question = format!("Go back to the state before {}? Type `yes` to continue:", self.number);
        self.how
            .run(&workspace, &request, None, &self.allowed.asking(&question, again), context)
            .inspect(|_| self.remind(context))
    }
}
