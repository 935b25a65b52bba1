//! Failures, with how to fix them.

use std::fmt;

/// The kind of a failure. The command line has an exit code for each.
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
    /// Only a part was done.
    Partial,
    /// A guard or a rule refuses the request.
    Refused,
    /// Another run holds the ledger.
    Busy,
    /// The request is impossible, or names something that does not exist.
    Usage,
}

/// Why a command failed, and how to fix it.
#[derive(Clone, Debug)]
pub struct Failure {
    pub kind: FailureKind,
    pub message: String,
    pub help: Option<String>,
}

impl Failure {
    pub fn new(message: impl fmt::Display) -> Self {
        Self { kind: FailureKind::Other, message: format!("{message:#}"), help: None }
    }

    /// Returns the failure of a command line that asks for something impossible.
    pub fn usage(message: impl fmt::Display) -> Self {
        Self { kind: FailureKind::Usage, ..Self::new(message) }
    }

    /// Sets the kind of the failure.
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

/// The contexts and the cause make one line. If the cause is a failure, its kind and its help stay.
impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        let message = format!("{error:#}");
        let cause = error.downcast().unwrap_or_else(|_| Self::new(""));
        Self { message, ..cause }
    }
}
