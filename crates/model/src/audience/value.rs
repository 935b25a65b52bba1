//! The values of what is known of a device.

use crate::nouns::device::DeviceType;

/// A value of what is known of a device.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// Of what is so or not.
    Yes,
    Text(String),
    Kind(DeviceType),
    /// A channel, and the sort of device behind it as far as selectors tell them apart. Thus `channel` covers what
    /// `ios_channel` says of the same id, and no two values go together.
    Channel(String, DeviceClass),
}

/// The sorts of device that selectors for channels tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeviceClass {
    Ios,
    Android,
    Amazon,
    Other,
}

impl DeviceClass {
    pub const ALL: [DeviceClass; 4] = [Self::Ios, Self::Android, Self::Amazon, Self::Other];

    /// The kind of device; `None` for all but those that have a selector of their own.
    pub fn kind(self) -> Option<DeviceType> {
        match self {
            Self::Ios => Some(DeviceType::Ios),
            Self::Android => Some(DeviceType::Android),
            Self::Amazon => Some(DeviceType::Amazon),
            Self::Other => None,
        }
    }
}
