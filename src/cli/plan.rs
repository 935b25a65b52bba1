use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use jiff::Timestamp;

use super::planning::{Chosen, Place, Site, Wish, unreadable};
use super::{Context, Ended, ledger, private, runtime};
use crate::failure::{Exit, Failure};
use crate::guard::guards;
use crate::plan::Plan as Planned;
use crate::render::plan::Ahead;
use crate::render::{self, Again};

/// Show what would change, and change nothing.
#[derive(Debug, Args)]
pub struct Plan {
    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    chosen: Chosen,

    /// Save the plan, for `pushplan apply FILE`
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Form of the plan: text for people, JSON for programs
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// Exit with 2 if there are changes
    #[arg(long)]
    detailed_exitcode: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
}

impl Plan {
    pub fn run(&self, context: &Context) -> Ended {
        let site = self.place.read_for(context, Timestamp::now(), self.format == Format::Json)?;
        let wish = Wish { choice: self.chosen.choice(), ..Wish::default() };
        let again = self.place.again("apply", &wish.choice);
        let plan = make(&site, &wish, again, self.out.as_deref(), self.format, context)?;
        Ok(if self.detailed_exitcode && !plan.is_empty() { Exit::Changes } else { Exit::Done })
    }
}

/// Makes a plan, saves it where that is asked for, and prints it.
pub fn make(
    site: &Site,
    wish: &Wish,
    again: Again,
    out: Option<&Path>,
    format: Format,
    context: &Context,
) -> Result<Planned, Failure> {
    if let Some(words) = ledger::pending(&site.log.kept().map_err(unreadable)?) {
        context.out.note(&words);
    }
    let planned = runtime()?.block_on(async {
        let opened = site.open().await?;
        let planned = site.plan(&opened, wish, context).await;
        opened.close().await;
        planned
    })?;
    let plan = planned.plan;
    if let Some(path) = out {
        save(&plan, path)?;
    }
    let ahead =
        Ahead { again, saved: out.map(|path| path.display().to_string()), refused: guards(&plan, &site.limits()) };
    show(&plan, &ahead, format, context);
    Ok(plan)
}

/// Prints a plan.
fn show(plan: &Planned, ahead: &Ahead, format: Format, context: &Context) {
    let style = context.out.style();
    match format {
        Format::Text => context.out.print(&render::plan::text(plan, ahead, style)),
        Format::Json => context.out.json(&render::plan::json(plan, ahead)),
    }
}

/// Writes a plan where only its owner can read it: it holds what will be sent, and to whom.
fn save(plan: &Planned, path: &Path) -> Result<(), Failure> {
    private::write(path, plan.save().as_bytes())
        .map_err(|error| Failure::new(format!("{} cannot be written: {error}", path.display())))
}
