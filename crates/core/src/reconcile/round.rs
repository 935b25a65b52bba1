//! The results of a round.

use std::time::Duration;

use jiff::Timestamp;
use pushplan_io::failure::{Failure, FailureKind};

use super::{Item, RoundOutcome, Standing};

/// A round: every target, planned once.
#[derive(Clone, Debug)]
pub struct Round {
    /// The number of the round, from 1.
    pub number: u64,
    /// The time of its end.
    pub at: Timestamp,
    pub took: Duration,
    pub looked: Looked,
}

/// The results of all targets.
#[derive(Clone, Debug)]
pub enum Looked {
    /// The project could not be read.
    Nowhere(Failure),
    /// The targets, in the order of the project.
    At(Vec<TargetRound>),
}

/// A target in a round.
#[derive(Clone, Debug)]
pub struct TargetRound {
    pub name: String,
    pub outcome: RoundOutcome,
    /// The state at the end; `None` if it is unknown.
    pub standing: Option<Standing>,
    pub corrected: Vec<Item>,
    /// The action of each step that was begun, and whether it was done.
    pub steps: Vec<(&'static str, bool)>,
    /// How many results of earlier runs are not in the ledger yet: a round that does not apply does not write them.
    pub unwritten: usize,
    /// The failure.
    pub why: Option<Failure>,
}

impl TargetRound {
    /// A target without a known state.
    pub fn unknown(name: &str, outcome: RoundOutcome, why: Option<Failure>) -> Self {
        let (name, standing) = (name.to_owned(), None);
        Self { name, outcome, standing, corrected: Vec::new(), steps: Vec::new(), unwritten: 0, why }
    }
}

impl Looked {
    pub fn targets(&self) -> &[TargetRound] {
        match self {
            Self::Nowhere(_) => &[],
            Self::At(targets) => targets,
        }
    }

    /// The worst outcome of all targets.
    pub fn outcome(&self) -> RoundOutcome {
        match self {
            Self::Nowhere(failure) if failure.kind == FailureKind::Invalid => RoundOutcome::Invalid,
            Self::Nowhere(_) => RoundOutcome::Failed,
            Self::At(targets) => targets.iter().map(|target| target.outcome).max().unwrap_or(RoundOutcome::InSync),
        }
    }
}
