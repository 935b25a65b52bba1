use clap::Args;

use super::forms::{PLAIN, described};
use super::many::each;
use super::places::{Places, Which};
use super::planning::TargetArgs;
use super::{Context, Ended, runtime};
use crate::engine::ledger;
use crate::engine::ledger::LedgerHistory;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ledger::history::deeds;
use crate::ledger::{Entry, Record};
use crate::render::Format;
use crate::render::{history, one_line};

/// Show who applied what, and when.
#[derive(Debug, Args)]
pub struct History {
    /// Run to show, by its number in the list [default: list all, newest first]
    #[arg(value_name = "N")]
    number: Option<usize>,

    #[command(flatten)]
    places: Places,

    /// Form: text for people, json for programs
    #[arg(long, value_parser = described(PLAIN), default_value_t = Format::Text)]
    format: Format,
}

impl History {
    pub fn run(&self, context: &Context) -> Ended {
        if let (Some(number), Which::Several(_)) = (self.number, self.places.which()?) {
            return Err(Failure::usage(format!(
                "number {number} is of the history of one target, and there are several"
            ))
            .help("name one: --target NAME"));
        }
        each::run(&self.places, self.format, context, |place, context| self.one(place, context))
    }

    fn one(&self, place: &TargetArgs, context: &Context) -> Ended {
        let LedgerHistory { target, entries, unwritten } = runtime()?.block_on(place.history())?;
        let deeds = deeds(&entries);
        let out = &context.out;
        let style = out.style();
        let deed = match self.number {
            None => None,
            Some(number) => match number.checked_sub(1).and_then(|place| deeds.get(place)) {
                None => return Err(not_there(number, &target, deeds.len())),
                found => found,
            },
        };
        match (self.format, deed) {
            (Format::Json, None) => out.json(&history::json::list(&target, &deeds, &unwritten)),
            (Format::Json, Some(deed)) => out.json(&history::json::one(&target, deed)),
            (_, None) => out.print(&out.said(&history::list(&target, &deeds, style), None)),
            (_, Some(deed)) => out.print(&history::one(&target, deed, style)),
        }
        if let Some(Entry { record: Record::Moved { to }, at, actor, .. }) = entries.last() {
            out.note(&one_line(&format!(
                "{actor} moved the ledger to {to} at {at:.0}. Later records are in the new \
                place."
            )));
        }
        if let Some(note) = ledger::pending(&unwritten) {
            out.note(&note);
        }
        Ok(Exit::Done)
    }
}

fn not_there(number: usize, target: &str, last: usize) -> Failure {
    let failure = Failure::usage(format!("the history of `{target}` has no run {number}"));
    match last {
        0 => failure.help("nothing was applied yet"),
        last => failure.help(format!("the runs are 1 to {last}")),
    }
}
