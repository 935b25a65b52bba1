use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use jiff::{SignedDuration, Timestamp};

use super::drifting::Drifting;
use super::forms::Forms;
use super::many::{self, Does, PlansWanted};
use super::offline::Offline;
use super::places::{Places, Which};
use super::planning::{Chosen, TargetArgs};
use super::presenting::{self, ExitCodes};
use super::turn::length;
use super::{Context, Ended, runtime};
use crate::engine::workspace::{PlanRequest, Prefetch, Replays};
use crate::render::Format;

/// The default wait for a running apply if the plan is saved to be applied later: that apply would make it stale.
const FOR_LATER: SignedDuration = SignedDuration::from_mins(10);

/// Show what would change; change nothing.
#[derive(Debug, Args)]
pub struct Plan {
    #[command(flatten)]
    places: Places,

    #[command(flatten)]
    chosen: Chosen,

    #[command(flatten)]
    drifting: Drifting,

    #[command(flatten)]
    offline: Offline,

    #[command(flatten)]
    forms: Forms,

    /// How long to wait for a running apply to finish [default: 10m with --out, otherwise 0s]
    #[arg(long, value_name = "TIME", value_parser = length)]
    wait: Option<SignedDuration>,

    /// Simulate the next 30 days, with and without the plan, for sample devices that join, that leave, and that
    /// still get nothing; the HTML page includes this if the plan has at most 500 resources
    #[arg(long)]
    people: bool,

    /// Exit with 2 if there are changes
    #[arg(long)]
    detailed_exitcode: bool,
}

impl Plan {
    pub fn run(&self, context: &Context) -> Ended {
        let request = PlanRequest {
            choice: self.chosen.choice(),
            on_drift: self.drifting.given(),
            patience: self.patience(),
            people: self.replays(),
            ..PlanRequest::default()
        };
        if self.offline.is_asked() {
            return self.offline.run(&self.places, &request, &self.forms, self.codes(), context);
        }
        let options = self.drifting.again();
        match self.places.which()?.saved_as(&self.forms, &self.places.root()?) {
            Which::One(place) => self.one(&place, &request, &format!("apply{options}"), context),
            Which::Several(asked) => {
                let does = Does::Apply(options.to_owned());
                let choice = request.choice.clone();
                let wanted = PlansWanted::Alike(Arc::new(request));
                many::plan::run(&asked, &wanted, &choice, &does, &self.forms, self.codes(), context)
            }
        }
    }

    /// The replays of the plan. A page shows devices by default if that is fast.
    fn replays(&self) -> Replays {
        let has_page = self.forms.shown.iter().any(|(format, _)| *format == Format::Html);
        match (self.people, has_page) {
            (true, _) => Replays::All,
            (false, true) => Replays::Small,
            (false, false) => Replays::None,
        }
    }

    /// How long to wait for a running apply.
    fn patience(&self) -> Duration {
        let usual = if self.forms.saved.is_some() { FOR_LATER } else { SignedDuration::ZERO };
        Duration::try_from(self.wait.unwrap_or(usual)).unwrap_or_default()
    }

    fn codes(&self) -> ExitCodes {
        ExitCodes { refused: true, changes: self.detailed_exitcode }
    }

    fn one(&self, place: &TargetArgs, request: &PlanRequest, command: &str, context: &Context) -> Ended {
        let programs = self.forms.printed() == Some(Format::Json);
        let prefetch = Prefetch::start(place, runtime()?.handle());
        let workspace = place.read_to_plan(context, Timestamp::now(), programs)?;
        let again = place.again(command, &request.choice);
        let ended = presenting::make(prefetch, &workspace, request, again, &self.forms, self.codes(), context);
        // The process ends here: dropping what was read would only take time.
        std::mem::forget(workspace);
        ended
    }
}
