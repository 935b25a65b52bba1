use std::io::{self, IsTerminal};

use clap::Args;
use jiff::Timestamp;

use super::forms::{PLAIN, described};
use super::planning::TargetArgs;
use super::{Context, Ended, runtime};
use crate::engine::ledger::{append, unreadable};
use crate::engine::turn;
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::ledger::{Ledger, Log, Running};
use crate::render::Format;
use crate::render::{lease, one_line};
use crate::text::shell_word;

/// End the lease of a dead run.
///
/// Other runs can then start at once. If that run is still alive after all, it stops before its next request.
#[derive(Debug, Args)]
pub struct Unlock {
    /// Id of the lease, as printed by a command that waits for it
    #[arg(long, value_name = "ID")]
    lease: String,

    #[command(flatten)]
    place: TargetArgs,

    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,

    /// Form: text for people, json for programs
    #[arg(long, value_parser = described(PLAIN), default_value_t = Format::Text)]
    format: Format,
}

impl Unlock {
    pub fn run(&self, context: &Context) -> Ended {
        let (log, target) = self.place.log()?;
        runtime()?.block_on(async {
            let ledger = Ledger::replay(log.read(0).await.map_err(unreadable)?);
            let running = self.held(&ledger, &target)?;
            self.ask(running, context)?;
            if let Some(end) = turn::end_of(&ledger) {
                append(&log, ledger.seq, end).await?;
            }
            let told = format!("Ended the lease of {} since {:.0}.", running.actor, running.since);
            match self.format {
                Format::Json => context.out.json(&lease::unlocked(&target, running)),
                _ => context.out.print(&format!(
                    "{}\nRequests that it sent may still take effect: the next plan waits for them if necessary.",
                    one_line(&told)
                )),
            }
            Ok(Exit::Done)
        })
    }

    /// The run with this lease.
    fn held<'l>(&self, ledger: &'l Ledger, target: &str) -> Result<&'l Running, Failure> {
        let Some(running) = &ledger.run else {
            return Err(Failure::new(one_line(&format!("`{target}` is not locked"))).help("there is nothing to unlock"));
        };
        if running.run != self.lease {
            let asked = &self.lease;
            let message = format!("the lease on `{target}` is not {asked}: {}", turn::at_work(running));
            let again = format!("pushplan unlock --lease {} --target {}", shell_word(&running.run), shell_word(target));
            return Err(Failure::new(one_line(&message))
                .kind(FailureKind::Refused)
                .help(one_line(&format!("if that run is dead: {again}"))));
        }
        Ok(running)
    }

    fn ask(&self, running: &Running, context: &Context) -> Result<(), Failure> {
        if self.yes {
            return Ok(());
        }
        if !io::stdin().is_terminal() {
            return Err(Failure::new("ending this lease needs a confirmation, but standard input is not a terminal")
                .kind(FailureKind::Refused)
                .help("pass --yes"));
        }
        let over = turn::seems_over(running, Timestamp::now());
        context.out.note(&one_line(&over.unwrap_or_else(|| turn::at_work(running))));
        context.out.ask("End this lease? Type `yes` to continue:");
        let mut answer = String::new();
        let _ = io::stdin().read_line(&mut answer);
        if answer.trim() == "yes" {
            return Ok(());
        }
        Err(Failure::new("not unlocked: nothing was changed").kind(FailureKind::Refused).help("type `yes` to continue"))
    }
}
