//! `--on-drift`, for commands that plan.

use clap::{Args, ValueEnum};

use crate::nouns::on_drift::OnDrift;

/// What becomes of what someone did on the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Drifted {
    /// Restore what the files declare
    Overwrite,
    /// Refuse the plan: `plan` shows it and exits with 7, `apply` does nothing
    Stop,
}

/// The option about it.
#[derive(Clone, Debug, Default, Args)]
pub struct Drifting {
    /// What to do with changes that someone made on the service since the last apply [default: `on_drift` of the target, or
    /// overwrite]
    #[arg(long, value_name = "WHAT", value_enum)]
    on_drift: Option<Drifted>,
}

impl Drifting {
    /// The value on the command line.
    pub fn given(&self) -> Option<OnDrift> {
        self.on_drift.map(|given| match given {
            Drifted::Overwrite => OnDrift::Overwrite,
            Drifted::Stop => OnDrift::Stop,
        })
    }

    /// Returns the option as text to repeat it, with a space before it; empty if the option was not given.
    pub fn again(&self) -> &'static str {
        match self.on_drift {
            None => "",
            Some(Drifted::Overwrite) => " --on-drift overwrite",
            Some(Drifted::Stop) => " --on-drift stop",
        }
    }
}
