//! What single devices receive before and after a plan. Only for readers, and not part of the plan's digest.

use jiff::Timestamp;
use pushplan_model::address::Address;
use serde::{Deserialize, Serialize};

/// Devices that were replayed through the built-in service, by the messages for which they are examples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct People {
    /// The replayed time.
    pub from: Timestamp,
    pub until: Timestamp,
    /// The most urgent message first.
    pub of: Vec<MessagePeople>,
    /// The number of further messages whose audience changes.
    #[serde(default)]
    pub left_out: usize,
}

/// The devices of one message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessagePeople {
    /// The sender of the message.
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
    /// Its description: `an iOS device in GB`.
    pub words: String,
    /// Its type, such as `ios`.
    pub device_type: String,
    /// Its time zone.
    pub zone: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<LockScreen>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<LockScreen>,
}

/// The effect of the plan on a device.
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
    /// Its sender.
    pub from: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The text, as far as the screen shows it; `None` for a message that is only in the Message Center.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alert: Option<String>,
    /// The title of the Message Center message that comes with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
