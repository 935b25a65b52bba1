//! Keeping targets in sync with the manifests, round after round: the schedule, the news, and the counters.
//!
//! Pure: time is an argument, and there is no request and no output here.

mod metrics;
mod news;
mod round;
mod schedule;

use pushplan_model::address::Address;
use pushplan_model::digest::Digest;

use crate::guard::Refused;
use crate::plan::{Action, Change, Moved, Plan, Reason};

pub use metrics::{Counts, Health, Histogram, Metrics, action};
pub use news::{News, TargetNews};
pub use round::{Looked, Round, TargetRound};
pub use schedule::Schedule;

/// The result of a round, for one target or for all of them. The worst comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RoundOutcome {
    /// The service agrees with the manifests.
    InSync,
    /// It differed, and was corrected.
    Corrected,
    /// It differs.
    Drift,
    /// It differs, and a guard refuses the plan.
    Refused,
    /// Another user was applying, so the service was not read.
    Held,
    /// A user stopped it.
    Stopped,
    /// The manifests have errors.
    Invalid,
    /// Some changes were made, and others failed or are unconfirmed.
    Partly,
    /// The service could not be read, or no change could be made.
    Failed,
}

impl RoundOutcome {
    pub const ALL: [Self; 9] = [
        Self::InSync,
        Self::Corrected,
        Self::Drift,
        Self::Refused,
        Self::Held,
        Self::Stopped,
        Self::Invalid,
        Self::Partly,
        Self::Failed,
    ];

    /// Its name in machine-readable output.
    pub fn word(self) -> &'static str {
        match self {
            Self::InSync => "in_sync",
            Self::Corrected => "corrected",
            Self::Drift => "drift",
            Self::Refused => "refused",
            Self::Held => "held",
            Self::Stopped => "stopped",
            Self::Invalid => "invalid",
            Self::Partly => "partly",
            Self::Failed => "failed",
        }
    }

    /// Whether everything was planned without an error. A refusal by a guard needs a decision, but is no error of the
    /// round.
    pub fn is_success(self) -> bool {
        self <= Self::Refused
    }

    /// Whether it did everything that it could: it succeeded, or skipped targets to which another user is applying.
    pub fn is_fine(self) -> bool {
        self.is_success() || self == Self::Held
    }

    /// Whether the service or the ledger failed: then the next round waits longer. Errors in the manifests cost the
    /// service nothing, and are soon corrected.
    pub(crate) fn is_failure(self) -> bool {
        matches!(self, Self::Partly | Self::Failed)
    }
}

/// The cause of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The files have a change that was not applied yet.
    Files,
    /// Someone changed or deleted it on the service since the last apply.
    Service,
}

impl Cause {
    pub fn word(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Service => "service",
        }
    }
}

/// A resource that differs from the manifests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub address: Address,
    /// The action that corrects it.
    pub action: Action,
    pub cause: Cause,
    /// The paths of the fields that were edited on the service.
    pub fields: Vec<String>,
    /// A digest of both sides. It distinguishes successive differences of one resource.
    state: Digest,
}

impl Item {
    fn of(change: &Change) -> Self {
        let Change { address, action, desired, live, moved, .. } = change;
        let by_others = matches!(moved, Some(Moved::Service | Moved::Both | Moved::Removed));
        Self {
            address: address.clone(),
            action: *action,
            cause: if by_others { Cause::Service } else { Cause::Files },
            fields: change.overwritten().into_iter().map(|field| field.path).collect(),
            state: Digest::of_data(&(action, desired, live, moved)),
        }
    }
}

/// The state of a target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// The differences, in the order of addresses.
    pub items: Vec<Item>,
    /// The refusals of guards.
    pub refused: Vec<Refused>,
}

impl Standing {
    /// The state according to a plan: every change that users see as one.
    pub fn of(plan: &Plan, refused: Vec<Refused>) -> Self {
        let is_change = |change: &&Change| {
            !matches!(change.action, Action::Keep | Action::Past) || change.reasons.iter().any(Reason::is_change)
        };
        Self { items: plan.changes.iter().filter(is_change).map(Item::of).collect(), refused }
    }

    /// How many differences were caused by a change on the service.
    pub fn edited(&self) -> usize {
        self.items.iter().filter(|item| item.cause == Cause::Service).count()
    }

    /// Removes and returns the differences that were corrected.
    pub fn correct(&mut self, is_made: impl Fn(&Address) -> bool) -> Vec<Item> {
        let (made, left) = self.items.drain(..).partition(|item| is_made(&item.address));
        self.items = left;
        made
    }
}
