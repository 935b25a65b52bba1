//! Keeping targets as the manifests say, round after round: when the next round is, what is news, and what is counted.
//!
//! Pure: time is an argument, and nothing is asked, sent or shown here.

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

/// How a round ended, for one target or for all of them. The worst comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RoundOutcome {
    /// The service is what the manifests say.
    InSync,
    /// It was not, and is now.
    Corrected,
    /// It is not.
    Drift,
    /// It is not, and a guard refuses to make it so.
    Refused,
    /// Another user was applying, so that nobody looked.
    Held,
    /// Someone asked to stop.
    Stopped,
    /// The manifests have errors.
    Invalid,
    /// Some of it was made, and some was not or is unknown to be.
    Partly,
    /// It could not be looked at, or nothing of it could be made.
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

    /// How programs know it.
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

    /// Whether everything was looked at and nothing went wrong. What a guard refuses is for people to decide: nothing is wrong
    /// with the round.
    pub fn is_success(self) -> bool {
        self <= Self::Refused
    }

    /// Whether it did all that it could: it succeeded, or left out targets to which another user is applying.
    pub fn is_fine(self) -> bool {
        self.is_success() || self == Self::Held
    }

    /// Whether the service or the ledger was in the way: the next round waits longer then. What is wrong with the manifests costs
    /// the service nothing, and is soon corrected.
    pub(crate) fn is_failure(self) -> bool {
        matches!(self, Self::Partly | Self::Failed)
    }
}

/// Whose doing a difference is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The files say something that was not applied yet.
    Files,
    /// Someone changed or removed it on the service since the last apply.
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

/// One thing that is not as the manifests say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub address: Address,
    /// What makes it so.
    pub action: Action,
    pub cause: Cause,
    /// The fields that someone edited on the service, by their paths.
    pub fields: Vec<String>,
    /// What both sides say. It tells one difference from another of the same thing.
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

/// How a target stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// In the order of addresses.
    pub items: Vec<Item>,
    /// Why they are not made so.
    pub refused: Vec<Refused>,
}

impl Standing {
    /// What a plan finds: every change of it that people would call one.
    pub fn of(plan: &Plan, refused: Vec<Refused>) -> Self {
        let is_change = |change: &&Change| {
            !matches!(change.action, Action::Keep | Action::Past) || change.reasons.iter().any(Reason::is_change)
        };
        Self { items: plan.changes.iter().filter(is_change).map(Item::of).collect(), refused }
    }

    /// How many are the doing of someone on the service.
    pub fn edited(&self) -> usize {
        self.items.iter().filter(|item| item.cause == Cause::Service).count()
    }

    /// Takes out what was made as it should be, and gives that.
    pub fn correct(&mut self, is_made: impl Fn(&Address) -> bool) -> Vec<Item> {
        let (made, left) = self.items.drain(..).partition(|item| is_made(&item.address));
        self.items = left;
        made
    }
}
