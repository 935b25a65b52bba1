//! How a command ends when it does not end well.

use std::fmt;

/// The exit codes. They are part of the command line's contract: scripts branch on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Done = 0,
    Failed = 1,
    /// A plan has changes, where that was asked about with `--detailed-exitcode`.
    Changes = 2,
    /// Manifests are invalid, or findings reach the level of `--fail-on`.
    Findings = 3,
    /// Credentials are missing, or the service refuses them.
    Credentials = 4,
    /// A saved plan no longer fits what it was made for, or what is merged is not what was approved.
    Stale = 5,
    /// Some of it was applied, and some was not, is not known to be, or is left to people.
    Partly = 6,
    /// A guard says no.
    Refused = 7,
    Usage = 64,
    /// Ended by Ctrl-C or SIGTERM before its work was done.
    Interrupted = 130,
    Terminated = 143,
}

/// Every exit code with what it means, for whoever writes a script.
pub const EXITS: [(Exit, &str); 11] = [
    (Exit::Done, "done; a plan with changes too"),
    (Exit::Failed, "failed"),
    (Exit::Changes, "there are changes, with `--detailed-exitcode` alone"),
    (Exit::Findings, "manifests are invalid, or findings reach the level of `--fail-on`"),
    (Exit::Credentials, "credentials are missing or refused"),
    (Exit::Stale, "the saved plan does not hold any more, or what is merged is not what was approved"),
    (
        Exit::Partly,
        "applied in part, or manual steps are left; pulled, and something is left to be edited, taken out or decided by hand",
    ),
    (Exit::Refused, "refused by a guard"),
    (Exit::Usage, "the command line is wrong"),
    (Exit::Interrupted, "interrupted by Ctrl-C"),
    (Exit::Terminated, "interrupted by SIGTERM"),
];

/// Why a command could not do its work, and what to do about it.
#[derive(Clone, Debug)]
pub struct Failure {
    pub exit: Exit,
    pub message: String,
    pub help: Option<String>,
}

impl Failure {
    pub fn new(message: impl Into<String>) -> Self {
        Self { exit: Exit::Failed, message: message.into(), help: None }
    }

    /// A command line that asks for something that cannot be.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, ..Self::new(message) }
    }

    /// Sets the exit code.
    pub fn exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
