//! The safety settings of the last apply. A plan compares them with those of the files and lists those that are now
//! looser.

use std::collections::{BTreeMap, BTreeSet};

use pushplan_model::address::Address;
use pushplan_model::nouns::on_drift::OnDrift;
use pushplan_model::nouns::quiet::Quiet;
use serde::{Deserialize, Serialize};

/// The safety settings of a target and of the resources on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Safeguards {
    #[serde(default = "OnDrift::usual", skip_serializing_if = "OnDrift::is_usual")]
    pub on_drift: OnDrift,
    /// The maximum number of deletions in a plan.
    pub max_deletes: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet_hours: Option<Quiet>,
    /// The minimum time between two messages to one person, if the target sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart_seconds: Option<i64>,
    /// The minimum time between now and a new push.
    pub min_lead_seconds: i64,
    /// Whether test messages may be sent to any recipient.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub test_sends: bool,
    /// The allowed recipients of test messages.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub test_recipients: BTreeSet<String>,
    /// The kinds whose undeclared resources are deleted.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub prune: BTreeSet<String>,
    /// Whether the target is limited to one application.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_pinned: bool,
    /// The checks with a reduced severity, by code.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub checks: BTreeMap<String, CheckWeight>,
    /// The exemptions of individual resources.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub exempt: BTreeMap<Address, BTreeSet<Exemption>>,
}

/// A reduced severity of a check, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckWeight {
    Off,
    Warning,
}

/// An exemption in the `lifecycle` of a resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exemption {
    /// It may be sent to everyone.
    Broadcast,
    /// This check does not apply to it.
    Allow(String),
    /// An error of this check is a warning.
    Warn(String),
    /// Differences in this field are ignored: the dashboard may change it.
    Ignore(String),
}

impl Safeguards {
    /// The exemptions of a resource.
    pub fn exemptions(&self, address: &Address) -> impl Iterator<Item = &Exemption> {
        self.exempt.get(address).into_iter().flatten()
    }
}
