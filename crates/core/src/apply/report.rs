//! The result of an apply.

use pushplan_ledger::{Ended, Seq, Verb};
use pushplan_model::address::Address;
use pushplan_model::digest::Digest;
use serde::{Deserialize, Serialize};

use crate::plan::{News, Plan};

/// The result of a run, step by step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub run: String,
    /// The digest of the plan.
    pub plan: Digest,
    pub ending: Ending,
    /// The last record of the ledger that this run knows of.
    pub ledger: Seq,
    /// Whether the service refused the credentials.
    #[serde(default)]
    pub denied: bool,
    pub steps: Vec<StepReport>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Every step is done.
    Done,
    /// Something failed, is unknown or was left out because of that.
    Partly,
    /// A person stopped it.
    Interrupted,
    /// Another apply has begun.
    Conflict,
    /// Someone ended the lease of this run.
    Unlocked { by: String },
    /// The ledger could not be written.
    Ledger { why: String },
}

impl Ending {
    /// The word for it in the ledger; `None` if the ledger cannot be written.
    pub fn record(&self) -> Option<Ended> {
        match self {
            Self::Done => Some(Ended::Done),
            Self::Partly => Some(Ended::Partly),
            Self::Interrupted => Some(Ended::Interrupted),
            Self::Conflict | Self::Unlocked { .. } | Self::Ledger { .. } => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    pub step: usize,
    pub address: Address,
    pub verb: Verb,
    pub fate: Fate,
    /// Whether the result is in the ledger. If not, the next run finds it out.
    pub recorded: bool,
}

/// The result of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It was done. A creation has the id of the new object.
    Done {
        id: Option<String>,
        /// The ids of the pushes that it sends, if the answer contains them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        push_ids: Vec<String>,
    },
    /// It was definitely not done.
    Failed { why: String },
    /// It was sent, and the result is unknown.
    Unknown { why: String },
    /// A step that it depends on was not done, or is unconfirmed.
    Skipped { why: String },
    /// The run ended before its turn.
    NotStarted,
}

impl Fate {
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done { .. })
    }
}

impl Report {
    /// Whether the run made a change that users see as one, or may have.
    pub fn did_anything(&self, plan: &Plan) -> bool {
        let news = News::of(plan);
        let may_be = |fate: &Fate| matches!(fate, Fate::Done { .. } | Fate::Unknown { .. });
        self.steps.iter().any(|step| may_be(&step.fate) && news.has(&step.address, step.verb))
    }

    /// Whether every step was done.
    pub fn did_all(&self) -> bool {
        self.steps.iter().all(|step| step.fate.is_done())
    }

    /// The number of steps with such a fate.
    pub fn count(&self, is: impl Fn(&Fate) -> bool) -> usize {
        self.steps.iter().filter(|step| is(&step.fate)).count()
    }
}
