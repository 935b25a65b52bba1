//! Devices, and the index from tags to those that carry them.

mod audience;
mod index;
mod properties;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use audience::Members;
pub use index::{Index, Numbers};
pub use properties::property_tags;

/// The group of tags that have none: those of the legacy API and of the device itself.
pub const NO_GROUP: &str = "";

/// One installation of the app, or one open channel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Device {
    /// `ios`, `android`, `amazon`, `web` or `open::<platform>`.
    pub device_type: String,
    pub installed: bool,
    pub opt_in: bool,
    pub background: bool,
    pub location: bool,
    pub push_address: Option<String>,
    pub named_user: Option<String>,
    /// Tags by group; those without one under the empty name.
    pub tags: BTreeMap<String, BTreeSet<String>>,
    pub properties: Properties,
    /// The address of an open channel, and the platform's identifiers for it.
    pub address: Option<String>,
    pub identifiers: BTreeMap<String, String>,
    /// Uploaded and lifecycle lists that it is on.
    pub lists: BTreeSet<String>,
    pub subscriptions: BTreeSet<String>,
    pub attributes: BTreeMap<String, Value>,
    /// When it was last seen at each location.
    pub seen_at: BTreeMap<String, Timestamp>,
    pub created: Timestamp,
    pub modified: Timestamp,
    /// When the app was first and last opened.
    pub first_opened: Option<Timestamp>,
    pub last_opened: Option<Timestamp>,
}

/// What a device tells of itself. What is not known is left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Properties {
    pub language: Option<String>,
    pub country: Option<String>,
    pub timezone: Option<String>,
    pub app_version: Option<String>,
    pub sdk_version: Option<String>,
    pub os_version: Option<String>,
    pub model: Option<String>,
}

impl Device {
    /// Its own tags and those that the service derives, as group and tag.
    pub fn all_tags(&self) -> impl Iterator<Item = (&str, String)> {
        let derived = property_tags(self).map(|(group, tag): (&str, String)| (group, tag));
        let own = self.tags.iter().flat_map(|(group, tags)| tags.iter().map(|tag| (group.as_str(), tag.clone())));
        own.chain(derived)
    }

    /// Whether a notification can reach it.
    pub fn is_reachable(&self) -> bool {
        self.installed && self.opt_in
    }
}
