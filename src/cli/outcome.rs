use clap::Args;

use super::forms::{PLAIN, described};
use super::many::each;
use super::places::Places;
use super::planning::TargetArgs;
use super::{Context, Ended, asking, ledger, runtime};
use crate::engine::outcome::PushOutcomes;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::Format;
use crate::render::outcome::OutcomeView;

/// Count the devices that messages from git reached.
///
/// It reads the service's reports for all scheduled pushes and experiments in the ledger whose time has passed: how
/// many devices received them, and how many people responded. A push that reached nobody is an error with exit code 1.
/// Missing numbers are listed. At the API level extended, the variants of an experiment are compared with its control
/// group.
#[derive(Debug, Args)]
pub struct Outcome {
    /// Scheduled pushes and experiments, such as scheduled_pushes/black-friday [default: all in the ledger]
    #[arg(value_name = "ADDRESS")]
    addresses: Vec<String>,

    /// Form: text for people, json for programs
    #[arg(long, value_parser = described(PLAIN), default_value_t = Format::Text)]
    format: Format,

    #[command(flatten)]
    places: Places,
}

impl Outcome {
    pub fn run(&self, context: &Context) -> Ended {
        each::run(&self.places, self.format, context, |place, context| self.one(place, context))
    }

    fn one(&self, place: &TargetArgs, context: &Context) -> Ended {
        let addresses = self.addresses.iter().map(|written| ledger::address_at(written, place));
        let addresses = addresses.map(|found| Ok(found?.to_string())).collect::<Result<Vec<_>, Failure>>()?;
        let project = asking::project(place, "asked", context)?;
        let PushOutcomes { target, now, pushes, trials } = runtime()?.block_on(place.outcomes(&project, &addresses))?;
        let told = pushes.iter().map(|(occasion, outcome)| (occasion, outcome)).collect();
        let view = OutcomeView { target: &target, now, told, trials: &trials };
        match self.format {
            Format::Json => context.out.json(&view.json()),
            _ => context.out.print(&context.out.said(&view.text(context.out.style()), None)),
        }
        match view.nobody() {
            Some((message, help)) => Err(Failure::new(message).help(help)),
            None => Ok(Exit::Done),
        }
    }
}
