//! What a round found and did.

use std::time::Duration;

use jiff::Timestamp;
use pushplan_io::failure::{Failure, FailureKind};

use super::{Item, RoundOutcome, Standing};

/// A round: every target, looked at once.
#[derive(Clone, Debug)]
pub struct Round {
    /// The first is 1.
    pub number: u64,
    /// When it ended.
    pub at: Timestamp,
    pub took: Duration,
    pub looked: Looked,
}

/// What was looked at.
#[derive(Clone, Debug)]
pub enum Looked {
    /// The project could not be read.
    Nowhere(Failure),
    /// In the order of the project.
    At(Vec<TargetRound>),
}

/// A target in a round.
#[derive(Clone, Debug)]
pub struct TargetRound {
    pub name: String,
    pub outcome: RoundOutcome,
    /// How it stands at the end; `None` where that is unknown.
    pub standing: Option<Standing>,
    pub corrected: Vec<Item>,
    /// What each step did, and whether that was done. What was not begun is none.
    pub steps: Vec<(&'static str, bool)>,
    /// How many results of earlier runs are not in the ledger yet: who only looks does not write them.
    pub unwritten: usize,
    /// What was in the way.
    pub why: Option<Failure>,
}

impl TargetRound {
    /// One of which is only known what was in the way.
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

    /// The worst of all targets.
    pub fn outcome(&self) -> RoundOutcome {
        match self {
            Self::Nowhere(failure) if failure.kind == FailureKind::Invalid => RoundOutcome::Invalid,
            Self::Nowhere(_) => RoundOutcome::Failed,
            Self::At(targets) => targets.iter().map(|target| target.outcome).max().unwrap_or(RoundOutcome::InSync),
        }
    }
}
