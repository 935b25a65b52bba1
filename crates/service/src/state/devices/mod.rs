//! Devices, and the index from tags to devices.

mod audience;
mod carriers;
mod index;
mod nesting;
mod properties;
mod shared;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use pushplan_model::nouns::vocabulary;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use audience::{Members, has_attribute};
pub use carriers::Carriers;
pub use index::{Index, Numbers, has, pairs};
pub use nesting::Criteria;
pub use properties::{nearest_zone, property_tags};
pub use shared::Shared;

/// The group name of tags without a group: those of the legacy API and of the device itself.
pub const NO_GROUP: &str = "";

/// Tags by group; those without one under [`NO_GROUP`]. Groups without tags are removed.
pub type Tags = BTreeMap<String, BTreeSet<String>>;

/// One installation of the app, or one open channel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Device {
    /// `ios`, `android`, `amazon`, `web` or `open::<platform>`.
    pub device_type: String,
    pub installed: bool,
    pub opt_in: bool,
    /// Whether it has ever opted in.
    pub has_opted_in: bool,
    pub background: bool,
    pub location: bool,
    pub push_address: Option<String>,
    pub named_user: Option<String>,
    /// Its own tags, without those of its named user and the derived ones.
    pub tags: Shared<Tags>,
    pub properties: Shared<Properties>,
    /// The address of an open channel, and the platform's identifiers for it.
    pub address: Option<String>,
    pub identifiers: BTreeMap<String, String>,
    /// The uploaded and lifecycle lists that it is on.
    pub lists: BTreeSet<String>,
    pub subscriptions: BTreeSet<String>,
    pub attributes: BTreeMap<String, Value>,
    /// When it was last seen at each location.
    pub seen_at: BTreeMap<String, Timestamp>,
    pub created: Timestamp,
    /// When it last registered.
    pub modified: Timestamp,
    /// When the app was first and last opened.
    pub first_opened: Option<Timestamp>,
    pub last_opened: Option<Timestamp>,
    /// When it was last opened while opted in, and while opted out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened_opted_in: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened_opted_out: Option<Timestamp>,
    /// Its earlier states, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub past: Vec<Past>,
}

/// The state of a device until a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Past {
    pub until: Timestamp,
    pub installed: bool,
    pub opt_in: bool,
}

/// The maximum number of stored changes of a device, which is hardly ever reached.
const PAST: usize = 100;

/// The properties that a device reports. Unknown ones are omitted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
    /// Returns its own tags and those that the service derives, as group and tag.
    pub(crate) fn all_tags(&self) -> impl Iterator<Item = (&str, String)> {
        let own = pairs(&self.tags).map(|(group, tag)| (group, tag.to_owned()));
        own.chain(property_tags(self).map(|(group, tag): (&str, String)| (group, tag)))
    }

    /// Whether it has a tag itself, and not through its named user.
    pub(crate) fn has_tag(&self, group: &str, tag: &str) -> bool {
        has(&self.tags, group, tag)
            || property_tags(self).any(|derived| (derived.0, derived.1.as_str()) == (group, tag))
    }

    /// Stores the previous state of a device, if it has changed.
    pub(crate) fn comes_after(&mut self, old: &Device, now: Timestamp) {
        let Device { installed, opt_in, .. } = *old;
        let mut past = old.past.clone();
        if (installed, opt_in) != (self.installed, self.opt_in) {
            past.drain(..(past.len() + 1).saturating_sub(PAST));
            past.push(Past { until: now, installed, opt_in });
        }
        self.past = past;
    }

    /// Returns its state at a time.
    pub fn at(&self, time: Timestamp) -> Past {
        let today = Past { until: Timestamp::MAX, installed: self.installed, opt_in: self.opt_in };
        self.past.iter().find(|past| past.until > time).copied().unwrap_or(today)
    }

    /// Returns its time zone; `None` if it reported none that exists.
    pub(crate) fn zone(&self) -> Option<TimeZone> {
        let name = self.properties.timezone.as_deref()?.trim();
        TimeZone::get(vocabulary::iana(name)).ok()
    }

    /// Whether a notification can reach it.
    pub(crate) fn is_reachable(&self) -> bool {
        self.installed && self.opt_in
    }
}
