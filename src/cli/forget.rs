use clap::Args;

use super::ledger::{self, Open};
use super::planning::Place;
use super::{Context, Ended};
use crate::failure::{Exit, Failure};
use crate::ledger::Record;
use crate::text;

/// Let go of resources: the service keeps them, and pushplan no longer changes or deletes them.
#[derive(Debug, Args)]
pub struct Forget {
    /// Addresses such as segments/lapsed-buyers, each with all of its parts
    #[arg(value_name = "ADDRESS", required = true)]
    addresses: Vec<String>,

    #[command(flatten)]
    place: Place,
}

impl Forget {
    pub fn run(&self, context: &Context) -> Ended {
        let wanted = self.addresses.iter().map(|text| ledger::address(text)).collect::<Result<Vec<_>, _>>()?;
        let mut open = Open::new(context, &self.place)?;
        let mut found = Vec::new();
        for address in &wanted {
            let here = open.at(address);
            if here.is_empty() {
                return Err(open.unknown(address));
            }
            found.extend(here);
        }
        found.sort();
        found.dedup();
        // What is forgotten may be made again. Where something may already be under way, that is twice.
        if let Some(doubt) = found.iter().find(|address| open.ledger.open.contains_key(address)) {
            let message = format!("what became of {doubt} is not known: forgotten, it could be made a second time");
            return Err(Failure::new(message)
                .exit(Exit::Refused)
                .help(format!("say what became of it first: pushplan resolve {doubt} --created ID | --absent")));
        }
        open.append(context, Record::Forget(found.clone()))?;
        for address in &found {
            context.out.print(&format!("Forgot {address}"));
        }
        let them = if found.len() == 1 { "it" } else { "them" };
        context.out.print(&format!(
            "{} still has {them}. A later plan makes what is in the manifests anew, unless you adopt {them}.",
            text::short(&open.target, 80)
        ));
        Ok(Exit::Done)
    }
}
