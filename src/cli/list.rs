use clap::Args;
use jiff::Timestamp;

use super::forms::{PLAIN, described};
use super::planning::TargetArgs;
use super::{Context, Ended, runtime};
use crate::engine::ledger::{pending, unreadable};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ledger::{Ledger, Log};
use crate::render::Format;
use crate::render::managed::{self, ManagedView};
use crate::text::{self, one_line};

/// List managed resources from the ledger, offline.
///
/// Each resource, and each part of it that is applied separately (such as each send time of a push, each channel of a
/// named user or each member of a tag group), has a row with its state: applied, waiting (to be sent), past, replaced (an old version that is not deleted yet) or unconfirmed (run `pushplan plan`).
#[derive(Debug, Args)]
#[command(alias = "ls")]
pub struct List {
    /// Kinds (segments) or patterns over addresses ('segments/sale-*') [default: everything]
    #[arg(value_name = "WHICH")]
    which: Vec<String>,

    /// Form of the list: text for people, JSON for programs
    #[arg(long, value_parser = described(PLAIN), default_value_t = Format::Text)]
    format: Format,

    #[command(flatten)]
    place: TargetArgs,
}

impl List {
    pub fn run(&self, context: &Context) -> Ended {
        let (log, target) = self.place.log()?;
        let (entries, kept) =
            runtime()?.block_on(async { Ok((log.read(0).await?, log.unwritten().await?)) }).map_err(unreadable)?;
        let ledger = Ledger::replay(entries);
        let mut managed = managed::of(&ledger, Timestamp::now());
        managed.retain(|one| self.is_asked(&one.address.kind, &one.address.to_string()));
        let is_address = |which: &&String| which.contains('/') && !which.contains('*');
        if let Some(which) = self.which.iter().find(is_address).filter(|_| managed.is_empty()) {
            let none = Failure::usage(format!("the ledger of {} has no {}", one_line(&target), one_line(which)));
            return Err(none.help("`pushplan list` lists all managed resources"));
        }
        let view = ManagedView { target: &target, managed: &managed, is_part: !self.which.is_empty() };
        match self.format {
            Format::Json => context.out.json(&view.json()),
            _ => context.out.print(&context.out.said(&view.text(context.out.style()), None)),
        }
        if let Some(note) = pending(&kept) {
            context.out.note(&note);
        }
        Ok(Exit::Done)
    }

    fn is_asked(&self, kind: &str, address: &str) -> bool {
        let key = address.split_once('/').map_or(address, |(_, key)| key);
        let is_it = |which: &String| which == kind || which == key || text::is_like(which, address);
        self.which.is_empty() || self.which.iter().any(is_it)
    }
}
