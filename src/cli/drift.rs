use clap::Args;

use super::forms::among;
use super::many;
use super::places::{Places, Which};
use super::planning::TargetArgs;
use super::{Context, Ended, asking, runtime};
use crate::engine::drift::DriftFound;
use crate::engine::ledger;
use crate::engine::ledger::unreadable;
use crate::exit::Exit;
use crate::plan::Choice;
use crate::render::Format;
use crate::render::plan::drift::{ShownDrift, json, markdown, text};

/// The output formats.
const FORMATS: &[Format] = &[Format::Text, Format::Json, Format::Markdown];

/// Show what changed on the service since the last apply.
///
/// The service is compared with the ledger, which records what was applied. It needs no files, and works if they have errors.
/// If they can be read, changes in fields of `lifecycle.ignore` are counted, not listed. Nothing is changed.
///
/// The exit code is 0 even if there is drift; with --detailed-exitcode, drift gives 2. `--on-drift` of `plan` and
/// `apply`, or `on_drift` of the target, sets what a plan does with drift: with `stop`, both exit with 7.
#[derive(Debug, Args)]
pub struct Drift {
    #[command(flatten)]
    places: Places,

    /// Include only these, such as `segments/*`
    #[arg(long, value_name = "ADDRESS")]
    only: Vec<String>,

    /// Exclude these
    #[arg(long, value_name = "ADDRESS")]
    except: Vec<String>,

    /// Form: text for people, Markdown for a pull request (at most 60,000 bytes), JSON for programs
    #[arg(long, value_parser = among(FORMATS), default_value_t = Format::Text)]
    format: Format,

    /// Exit with 2 if something was changed, removed or added
    #[arg(long)]
    detailed_exitcode: bool,
}

impl Drift {
    pub fn run(&self, context: &Context) -> Ended {
        let choice = Choice { only: self.only.clone(), except: self.except.clone() };
        match self.places.which()? {
            Which::One(place) => self.one(&place, &choice, context),
            Which::Several(asked) => many::drift::run(&asked, &choice, self.format, self.detailed_exitcode, context),
        }
    }

    fn one(&self, place: &TargetArgs, choice: &Choice, context: &Context) -> Ended {
        asking::project(place, "asked", context)?;
        let (workspace, whole) = place.open_leniently()?;
        if let Some(words) = ledger::pending(&workspace.log.kept().map_err(unreadable)?) {
            context.out.note(&words);
        }
        let DriftFound { drift, plan } = runtime()?.block_on(async {
            let opened = workspace.open().await?;
            let found = workspace.drift(&opened, choice, &context.session).await;
            opened.close().await;
            found
        })?;
        let again = place.again("apply", choice);
        let declares = whole && workspace.declares();
        let shown = ShownDrift { drift: &drift, plan: &plan, again: &again, unread: !whole, declares };
        let out = &context.out;
        let text = match self.format {
            Format::Json => json::json(&shown),
            Format::Markdown => markdown(&shown),
            _ => text(&shown, out.style()),
        };
        out.show(self.format, &text);
        Ok(if self.detailed_exitcode && !drift.is_none() { Exit::Changes } else { Exit::Done })
    }
}
