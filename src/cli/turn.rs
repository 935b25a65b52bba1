//! Waiting for another running apply.

use anyhow::Context as _;
use clap::Args;
use jiff::SignedDuration;

use super::Context;
use crate::engine::turn::Waiting;
use crate::failure::Failure;
use crate::ledger::{Chain, Ledger};
use crate::nouns::delay::Delay;

/// What to do while another apply is running.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct Turn {
    /// How long to wait for another apply to finish, such as 10m [default: stop at once]
    #[arg(long, value_name = "TIME", value_parser = length)]
    pub wait: Option<SignedDuration>,
}

pub fn length(text: &str) -> anyhow::Result<SignedDuration> {
    let delay = Delay::parse(text).context("expected a duration such as 90s, 10m or 1h30m")?;
    Ok(SignedDuration::from_secs(delay.0))
}

impl Turn {
    /// Whether to wait for another run.
    pub fn waits(self) -> bool {
        self.wait.is_some()
    }

    /// Starts to wait.
    pub fn start(self) -> Waiting {
        Waiting::start(self.wait)
    }

    /// The ledger, when no other run holds its lock.
    pub async fn ledger(self, context: &Context, log: &Chain, target: &str) -> Result<Ledger, Failure> {
        self.start().ledger(&context.session, log, target).await?.map_err(|held| held.failure())
    }
}
