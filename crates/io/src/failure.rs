//! Why something could not be done, and what to do about it.

use std::fmt;

/// What sort of failure it is. The command line has an exit code for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// None of the others.
    Other,
    /// The manifests or the project file are invalid.
    Invalid,
    /// Credentials are missing, or the service refuses them.
    Credentials,
    /// A saved plan is out of date, or the merged files are not what was approved.
    Stale,
    /// A part of it was done.
    Partial,
    /// A guard or a rule refuses it.
    Refused,
    /// Another run holds the ledger.
    Busy,
    /// What was asked for cannot be, or does not exist.
    Usage,
}

/// Why a command could not do its work, and what to do about it.
#[derive(Clone, Debug)]
pub struct Failure {
    pub kind: FailureKind,
    pub message: String,
    pub help: Option<String>,
}

impl Failure {
    pub fn new(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Other, message: message.into(), help: None }
    }

    /// A command line that asks for something that cannot be.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Usage, ..Self::new(message) }
    }

    /// Sets what sort of failure it is.
    pub fn kind(mut self, kind: FailureKind) -> Self {
        self.kind = kind;
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
