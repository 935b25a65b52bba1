//! The exit codes of the program.

use crate::failure::{Failure, FailureKind};

/// The exit codes. They are part of the command line's contract: scripts branch on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Done = 0,
    Failed = 1,
    /// A plan has changes; only with `--detailed-exitcode`.
    Changes = 2,
    /// Manifests are invalid, or findings reach the level of `--fail-on`.
    Findings = 3,
    /// Credentials are missing, or the service refuses them.
    Credentials = 4,
    /// A saved plan is out of date, or the merged files differ from the approved ones.
    Stale = 5,
    /// Some changes were applied; others failed, are unconfirmed, or are manual steps.
    Partly = 6,
    /// A guard refused the plan.
    Refused = 7,
    /// Another apply holds the lock, and nothing was done.
    Busy = 8,
    Usage = 64,
    /// It was ended by Ctrl-C or SIGTERM before its work was done.
    Interrupted = 130,
    Terminated = 143,
}

/// Every exit code with its word in `ci outputs`, and its meaning for authors of scripts.
pub const EXITS: [(Exit, &str, &str); 12] = [
    (Exit::Done, "done", "success, even if the plan has changes"),
    (Exit::Failed, "failed", "error"),
    (Exit::Changes, "changes", "there are changes or drift; only with `--detailed-exitcode`"),
    (
        Exit::Findings,
        "findings",
        "manifests are invalid, findings reach the level of `--fail-on`, or `--check` found differences",
    ),
    (Exit::Credentials, "credentials", "credentials are missing or refused"),
    (Exit::Stale, "stale", "the saved plan is out of date, or the merged plan differs from the approved one"),
    (
        Exit::Partly,
        "partly",
        "applied in part, manual steps are left, or `pull` left something to edit, remove or decide",
    ),
    (
        Exit::Refused,
        "refused",
        "a guard refused the plan, or you did not confirm it; `plan` also exits with 7 if `apply` would refuse",
    ),
    (Exit::Busy, "busy", "another apply holds the ledger: nothing was done; run it again, or pass `--wait`"),
    (Exit::Usage, "usage", "wrong usage, such as an unknown option, address or target"),
    (Exit::Interrupted, "interrupted", "interrupted by Ctrl-C; `reconcile` exits with 0"),
    (Exit::Terminated, "interrupted", "interrupted by SIGTERM; `reconcile` exits with 0"),
];

impl Exit {
    /// The word for an exit code; an unknown code is a failure.
    pub fn word_of(code: u8) -> &'static str {
        let known = EXITS.iter().find(|(exit, ..)| *exit as u8 == code);
        known.map_or("failed", |(_, word, _)| *word)
    }

    /// The worst of several.
    pub fn worst(exits: impl IntoIterator<Item = Self>) -> Self {
        let weight = |exit: &Self| match exit {
            Self::Done => 0,
            Self::Changes => 1,
            Self::Busy => 2,
            Self::Refused => 3,
            Self::Stale => 4,
            Self::Findings => 5,
            Self::Credentials => 6,
            Self::Usage => 7,
            Self::Failed => 8,
            Self::Partly => 9,
            Self::Terminated | Self::Interrupted => 10,
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
            FailureKind::Busy => Self::Busy,
            FailureKind::Usage => Self::Usage,
        }
    }
}

impl From<&Failure> for Exit {
    fn from(failure: &Failure) -> Self {
        failure.kind.into()
    }
}
