//! The exit codes of the program.

use crate::failure::{Failure, FailureKind};

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
    /// A saved plan is out of date, or the merged files are not what was approved.
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

/// Every exit code with what it means, for people who write scripts.
pub const EXITS: [(Exit, &str); 11] = [
    (Exit::Done, "done; a plan with changes too"),
    (Exit::Failed, "failed"),
    (Exit::Changes, "there are changes; only with `--detailed-exitcode`"),
    (Exit::Findings, "manifests are invalid, or findings reach the level of `--fail-on`"),
    (Exit::Credentials, "credentials are missing or refused"),
    (Exit::Stale, "the saved plan is out of date, or the merged files are not what was approved"),
    (Exit::Partly, "applied in part, manual steps are left, or `pull` left something to edit, remove or decide"),
    (Exit::Refused, "refused by a guard; a plan that `apply` would refuse"),
    (Exit::Usage, "the command line is wrong"),
    (Exit::Interrupted, "interrupted by Ctrl-C"),
    (Exit::Terminated, "interrupted by SIGTERM"),
];

impl Exit {
    /// The worst of several.
    pub fn worst(exits: impl IntoIterator<Item = Self>) -> Self {
        let weight = |exit: &Self| match exit {
            Self::Done => 0,
            Self::Changes => 1,
            Self::Refused => 2,
            Self::Stale => 3,
            Self::Findings => 4,
            Self::Credentials => 5,
            Self::Usage => 6,
            Self::Failed => 7,
            Self::Partly => 8,
            Self::Terminated | Self::Interrupted => 9,
        };
        exits.into_iter().max_by_key(weight).unwrap_or(Self::Done)
    }
}

impl From<FailureKind> for Exit {
    fn from(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Other => Self::Failed,
            FailureKind::Invalid => Self::Findings,
            FailureKind::Credentials => Self::Credentials,
            FailureKind::Stale => Self::Stale,
            FailureKind::Partial => Self::Partly,
            FailureKind::Refused => Self::Refused,
            FailureKind::Usage => Self::Usage,
        }
    }
}

impl From<&Failure> for Exit {
    fn from(failure: &Failure) -> Self {
        failure.kind.into()
    }
}
