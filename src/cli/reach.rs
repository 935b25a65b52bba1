use std::path::PathBuf;

use clap::Args;
use jiff::Timestamp;

use super::forms::{PLAIN, described};
use super::planning::TargetArgs;
use super::signals::Stop;
use super::{Context, Ended, runtime};
use crate::engine::Workspace;
use crate::engine::reach::ReachFound;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::Format;
use crate::render::reach::{ReachBar, ReachView};

/// Read the devices of a target, for the numbers in plans.
///
/// It reads the lists of named users and channels page by page and stores properties and tags in `.pushplan/`, without
/// ids of channels and users and without addresses. Plans of the target then show how many devices their messages reach, and the age of these numbers.
/// Plans of the built-in service count its devices without this. A plan that removes tags or moves channels between users shows no numbers.
#[derive(Debug, Args)]
pub struct Reach {
    /// Read sample devices from a file instead, one JSON object per line
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,

    /// Form: text for people, json for programs
    #[arg(long, value_parser = described(PLAIN), default_value_t = Format::Text)]
    format: Format,

    #[command(flatten)]
    place: TargetArgs,
}

impl Reach {
    pub fn run(&self, context: &Context) -> Ended {
        let workspace = self.place.read_for(context, Timestamp::now(), self.format == Format::Json)?;
        let found = match &self.from {
            Some(file) => Ok(workspace.sample_population(file)?),
            None => runtime()?.block_on(read(&workspace))?,
        };
        let found = match found {
            Ok(found) => found,
            Err(exit) => {
                context.out.note("Interrupted. The earlier population is kept.");
                return Ok(exit);
            }
        };
        let view = ReachView { found: &found, now: Timestamp::now() };
        match self.format {
            Format::Json => context.out.json(&view.json()),
            _ => context.out.print(&context.out.said(&view.text(context.out.style()), None)),
        }
        Ok(Exit::Done)
    }
}

/// Reads the channel list, until a user interrupts it.
async fn read(workspace: &Workspace) -> Result<Result<ReachFound, Exit>, Failure> {
    let stop = Stop::listen("Ended at once.").map_err(|error| Failure::new(error.to_string()))?;
    let opened = workspace.open().await?;
    let bar = ReachBar::start();
    let progress = |progress| bar.update(progress);
    let found = tokio::select! {
        found = workspace.read_population(&opened, &progress) => found.map(Ok),
        () = stop.asked() => Ok(Err(stop.by().map_or(Exit::Interrupted, super::signals::Signal::exit))),
    };
    drop(bar);
    opened.close().await;
    found
}
