//! A gap in the ledger: it was restored from a backup, and later changes are unknown.

use std::collections::BTreeSet;

use jiff::Timestamp;
use pushplan_model::address::Address;
use serde::{Deserialize, Serialize};

use super::intent::Seq;

/// The newest gap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// The time of the last record before it; `None` if there is none.
    pub since: Option<Timestamp>,
    /// When a person accepted it.
    pub at: Timestamp,
    /// The newest record seen before the gap. A clone or a comment that has seen no later record accepts the gap.
    pub upto: Seq,
    /// Whether a person has confirmed that everything was checked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_closed: bool,
    /// Resources that a person has resolved since the gap.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub resolved: BTreeSet<Address>,
}

impl Gap {
    pub fn new(since: Option<Timestamp>, at: Timestamp, upto: Seq) -> Self {
        Self { since, at, upto, is_closed: false, resolved: BTreeSet::new() }
    }

    /// Whether a resource that is not in the ledger may have been created in the gap.
    pub fn covers(&self, address: &Address) -> bool {
        !self.is_closed && !self.resolved.contains(address)
    }

    /// Returns the warning for readers of a plan while the gap is open.
    pub fn words(&self) -> Option<String> {
        let since = self.since.map_or_else(|| "before".to_owned(), |since| format!("between {since:.0} and"));
        let accepted = self.at;
        (!self.is_closed).then(|| {
            format!(
                "The ledger was restored from a backup: what was applied {since} {accepted:.0} is unknown. A resource that the service \
                 does not list may differ from this plan until everything was checked and `pushplan ledger restore --close-gap` was run."
            )
        })
    }

    /// Whether the gap explains the loss of every record up to this one.
    pub fn explains(&self, seen: Seq) -> bool {
        !self.is_closed || self.upto >= seen
    }
}
