use clap::Args;
use jiff::Timestamp;

use super::applying::{Asking, How};
use super::planning::{Chosen, TargetArgs};
use super::{Context, Ended};
use crate::engine::workspace::PlanRequest;
use crate::nouns::on_drift::OnDrift;
use crate::plan::Aim;
use crate::text::shell_word;

/// Delete everything of ours on the service. Nothing else is touched.
#[derive(Debug, Args)]
pub struct Destroy {
    #[command(flatten)]
    place: TargetArgs,

    #[command(flatten)]
    chosen: Chosen,

    /// Do not ask: the name of the target, to show that it is the one that is meant
    #[arg(long, value_name = "TARGET")]
    confirm: Option<String>,

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
        let question = format!("Delete all of this? Only the name of the target, `{}`, goes on:", workspace.target);
        let confirm = format!("--confirm {}", shell_word(&workspace.target));
        let asking = Asking {
            question: &question,
            wanted: &workspace.target,
            given: self.confirm.as_deref(),
            way_out: format!("pass {confirm}"),
            // Its name is the answer to how many as well.
            allow_deletes: Some(usize::MAX),
            allow_sends: false,
            allow_older: false,
            again: self.place.again(&format!("destroy {confirm}"), &request.choice),
            review: None,
        };
        self.how.run(&workspace, &request, None, &asking, context)
    }
}
