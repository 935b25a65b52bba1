//! The state that the records add up to: managed resources and unconfirmed requests.

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

/// The state of a target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ledger {
    /// The last record that it includes.
    pub seq: Seq,
    /// The managed resources.
    pub owned: BTreeMap<Address, Owned>,
    /// Old versions that were replaced. They are deleted once nothing refers to them.
    pub retired: Vec<Retired>,
    /// Intents whose outcome is unknown.
    pub open: BTreeMap<Address, Unconfirmed>,
    /// Until when a lost request may still take effect.
    pub unsettled: Option<Timestamp>,
    /// Resources that the last run adopted in order to delete them: their ids by address. They are not declared in git
    /// and never become managed: one that is not deleted is removed from the ledger.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pruning: BTreeMap<Address, String>,
    /// The last run, if it has not ended.
    pub run: Option<Running>,
    /// When something was last applied.
    pub applied: Option<Timestamp>,
    /// The fingerprint of the application.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub app: String,
    /// The project of the last apply, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<Home>,
    /// The commit of the last apply, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkout: Option<Checkout>,
    /// The safety settings of the last apply, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub safeguards: Option<Safeguards>,
    /// The newest gap: the ledger was restored from a backup.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Gap>,
}

/// A managed resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Owned {
    pub id: String,
    /// The applied content, with segments by key.
    pub spec: Shared,
    /// The ids of the segments that it names, by key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refs: BTreeMap<String, String>,
    /// The version stamp of this content on the service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub protect: bool,
    /// Its time has passed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub past: bool,
    pub applied: Timestamp,
    /// The ids of the pushes that it sends, if the service reported them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub push_ids: Vec<String>,
    /// The time zone of its times, if there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retired {
    pub address: Address,
    pub id: String,
    pub spec: Shared,
    /// The ids of the segments that it names, by key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refs: BTreeMap<String, String>,
}

/// An unconfirmed request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unconfirmed {
    pub intent: Intent,
    pub at: Timestamp,
    /// Why the result is unknown, if a request was sent.
    pub why: Option<String>,
    /// Names the clock that its times were read from, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
    /// An earlier creation or deletion of the same resource is unconfirmed as well.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeats: bool,
}

impl Unconfirmed {
    pub fn new(intent: Intent, at: Timestamp) -> Self {
        Self { intent, at, why: None, clock: None, repeats: false }
    }
}

impl Ledger {
    /// Whether it contains no resource, not even an unconfirmed one.
    pub fn is_empty(&self) -> bool {
        self.owned.is_empty() && self.open.is_empty() && self.retired.is_empty()
    }

    /// Whether records up to this one are missing, and no person has accepted that.
    pub fn lacks(&self, seen: Seq) -> bool {
        self.seq < seen && !self.gap.as_ref().is_some_and(|gap| gap.explains(seen))
    }

    /// Returns every managed id, including those of old versions.
    pub fn ids(&self) -> BTreeSet<(&str, &str)> {
        let owned = self.owned.iter().map(|(address, owned)| (&*address.kind, owned.id.as_str()));
        owned.chain(self.retired.iter().map(|old| (&*old.address.kind, old.id.as_str()))).collect()
    }
}
