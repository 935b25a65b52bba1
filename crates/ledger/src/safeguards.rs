//! The settings that keep a plan from doing harm, as they were when something was last applied. A plan compares them with those
//! of the files, and names what is looser by now.

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
    /// How many deletions a plan may have.
    pub max_deletes: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet_hours: Option<Quiet>,
    /// How far apart two messages to one person are to be, if the target says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart_seconds: Option<i64>,
    /// How near the time of a new push may be.
    pub min_lead_seconds: i64,
    /// Whether tests may be sent to anybody.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub test_sends: bool,
    /// Who else may get tests.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub test_recipients: BTreeSet<String>,
    /// The kinds of which everything is deleted that is not in git.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub prune: BTreeSet<String>,
    /// Whether nothing is done on any other application.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_pinned: bool,
    /// The checks that weigh less than usual, by their codes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub checks: BTreeMap<String, CheckWeight>,
    /// What single resources are exempt from.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub exempt: BTreeMap<Address, BTreeSet<Exemption>>,
}

/// What a check is that weighs less than usual. The first weighs least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckWeight {
    Off,
    Warning,
}

/// What a resource is exempt from by its `lifecycle`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exemption {
    /// It may address everybody.
    Broadcast,
    /// This check does not apply to it.
    Allow(String),
    /// An error of this check is a warning.
    Warn(String),
    /// This field is left to the dashboard.
    Ignore(String),
}

impl Safeguards {
    /// The exemptions of a resource.
    pub fn exemptions(&self, address: &Address) -> impl Iterator<Item = &Exemption> {
        self.exempt.get(address).into_iter().flatten()
    }
}
