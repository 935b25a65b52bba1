//! What single devices receive before and after a plan. It is for readers alone, and no part of the plan's digest.

use jiff::Timestamp;
use pushplan_model::address::Address;
use serde::{Deserialize, Serialize};

/// Devices that were replayed through the built-in service, by the messages that they are examples for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct People {
    /// The time that was replayed.
    pub from: Timestamp,
    pub until: Timestamp,
    /// The most urgent message first.
    pub of: Vec<MessagePeople>,
    /// How many more messages have another audience than before.
    #[serde(default)]
    pub left_out: usize,
}

/// The devices of one message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessagePeople {
    /// What sends it.
    pub address: Address,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<ReplayedDevice>,
    /// Why there is no device, or why a side has no messages of this sender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A device, and its lock screens before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayedDevice {
    pub part: DevicePart,
    /// In words: `an iOS device in GB`.
    pub words: String,
    /// Its kind, such as `ios`.
    pub device_type: String,
    /// Its time zone.
    pub zone: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<LockScreen>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<LockScreen>,
}

/// What the plan means for a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DevicePart {
    Joins,
    Leaves,
    Excluded,
}

impl DevicePart {
    pub fn word(self) -> &'static str {
        match self {
            Self::Joins => "joins",
            Self::Leaves => "leaves",
            Self::Excluded => "excluded",
        }
    }
}

/// A message as it is shown on a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockScreen {
    pub at: Timestamp,
    /// What sent it.
    pub from: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The text, as much of it as the screen shows; `None` for what arrives in the Message Center alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alert: Option<String>,
    /// The title of the Message Center message that comes with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
