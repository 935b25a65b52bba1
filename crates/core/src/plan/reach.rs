//! How many devices the messages of a plan reach. Only for readers, and not part of the plan's digest.

use std::collections::BTreeMap;

use pushplan_model::address::Address;
use pushplan_model::population::{DeviceCount, PopulationAbout};
use serde::{Deserialize, Serialize};

/// The population for the counts, and the counts by address of the sender.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    pub population: PopulationAbout,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub of: BTreeMap<Address, ReachChange>,
    /// How many devices get each localization after the plan, by address of the sender and by locale.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub locales: BTreeMap<Address, BTreeMap<String, DeviceCount>>,
}

/// How many devices an audience has, before and after. `None` if there is no such side, or if it could not be counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReachChange {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<DeviceCount>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<DeviceCount>,
}

impl ReachChange {
    /// Whether both sides were counted.
    pub fn is_both(&self) -> bool {
        self.before.is_some() && self.after.is_some()
    }
}
