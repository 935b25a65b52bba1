//! What the records add up to: what is ours, and what is unconfirmed.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use pushplan_model::address::Address;
use pushplan_model::node::Shared;
use serde::{Deserialize, Serialize};

use super::checkout::Checkout;
use super::gap::Gap;
use super::home::Home;
use super::intent::{Intent, Seq};
use super::lease::Running;
use super::safeguards::Safeguards;

/// All that is remembered of a target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ledger {
    /// The last record that is in it.
    pub seq: Seq,
    /// What is ours, by its address.
    pub owned: BTreeMap<Address, Owned>,
    /// Old versions that something new replaces. They are deleted once nothing points at them.
    pub retired: Vec<Retired>,
    /// Intents whose outcome is unknown.
    pub open: BTreeMap<Address, Unconfirmed>,
    /// Until when something that was lost on the way may still take effect.
    pub unsettled: Option<Timestamp>,
    /// What the run that began last has taken up to delete it, by its address with its id. It is nobody's in git and never
    /// ours:
    /// where it is not deleted, it is removed from the ledger.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pruning: BTreeMap<Address, String>,
    /// The run that began last and has not ended.
    pub run: Option<Running>,
    /// When something was last applied.
    pub applied: Option<Timestamp>,
    /// The fingerprint of the application that all of this is about.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub app: String,
    /// The project that something was last applied from, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<Home>,
    /// The commit that was applied last, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkout: Option<Checkout>,
    /// The safety settings that something was last applied with, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub safeguards: Option<Safeguards>,
    /// The newest gap: the ledger was restored from a backup.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Gap>,
}

/// A thing of ours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Owned {
    pub id: String,
    /// What it was made to be, segments by their keys.
    pub spec: Shared,
    /// The ids of the segments that it names, by their keys.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refs: BTreeMap<String, String>,
    /// The version stamp under which this spec was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub protect: bool,
    /// It has had its time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub past: bool,
    pub applied: Timestamp,
    /// The ids of the pushes that it sends, where the service has told them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub push_ids: Vec<String>,
    /// The time zone that its times were written in, if there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retired {
    pub address: Address,
    pub id: String,
    pub spec: Shared,
    /// The ids of the segments that it names, by their keys.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refs: BTreeMap<String, String>,
}

/// An unconfirmed request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unconfirmed {
    pub intent: Intent,
    pub at: Timestamp,
    /// Why it is unknown, where a request was sent.
    pub why: Option<String>,
    /// Names the clock that its times were read from, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
    /// An earlier creation or deletion of the same thing is in an unknown state as well.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeats: bool,
}

impl Unconfirmed {
    pub fn new(intent: Intent, at: Timestamp) -> Self {
        Self { intent, at, why: None, clock: None, repeats: false }
    }
}

impl Ledger {
    /// Whether it holds no resource, also none in an unknown state.
    pub fn is_empty(&self) -> bool {
        self.owned.is_empty() && self.open.is_empty() && self.retired.is_empty()
    }

    /// Whether records up to this one are missing, and no person has accepted that.
    pub fn lacks(&self, seen: Seq) -> bool {
        self.seq < seen && !self.gap.as_ref().is_some_and(|gap| gap.explains(seen))
    }

    /// Every id that is ours, also of what is retired.
    pub fn ids(&self) -> BTreeSet<(&str, &str)> {
        let owned = self.owned.iter().map(|(address, owned)| (&*address.kind, owned.id.as_str()));
        owned.chain(self.retired.iter().map(|old| (&*old.address.kind, old.id.as_str()))).collect()
    }
}
