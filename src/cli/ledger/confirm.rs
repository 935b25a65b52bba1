use clap::Args;

use super::{OpenLedger, TargetArgs};
use crate::cli::turn::Turn;
use crate::cli::{Context, Ended, asking};
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::ledger::Record;

/// Record the application of a ledger that has none, after you have checked its contents
#[derive(Debug, Args)]
pub struct Confirm {
    /// Fingerprint of the application whose credentials you use; `pushplan doctor` shows it
    #[arg(long, value_name = "FINGERPRINT")]
    app: String,

    #[command(flatten)]
    turn: Turn,

    #[command(flatten)]
    place: TargetArgs,
}

impl Confirm {
    pub fn run(&self, context: &Context) -> Ended {
        let app = asking::with(&self.place, context, async |opened| Ok(opened.app.clone()))?;
        if self.app != app {
            return Err(Failure::new(format!("the credentials are for the application {app}, not {}", self.app))
                .kind(FailureKind::Refused)
                .help("use the credentials of the ledger's application"));
        }
        let mut open = OpenLedger::new(context, &self.place, self.turn)?;
        let target = open.target.clone();
        if !open.ledger.app.is_empty() {
            return Err(Failure::usage(format!("the ledger of `{target}` names the application {}", open.ledger.app)));
        }
        if open.ledger.is_empty() {
            return Err(Failure::usage(format!("the ledger of `{target}` has no resource: no confirmation is needed")));
        }
        open.append(context, Record::About { app: app.clone(), home: None })?;
        context.out.print(&format!("The ledger of {target} is for the application {app}."));
        Ok(Exit::Done)
    }
}
