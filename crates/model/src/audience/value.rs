//! The values of a device's properties.

use crate::nouns::device::DeviceType;

/// A value of a property of a device.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// The value of a property that holds or does not.
    Yes,
    Text(String),
    Kind(DeviceType),
    /// A channel, and the class of its device, as far as selectors distinguish them. So `channel` covers `ios_channel`
    /// with the same id, and no two values hold together.
    Channel(String, DeviceClass),
}

/// The classes of device that selectors for channels distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeviceClass {
    Ios,
    Android,
    Amazon,
    Other,
}

impl DeviceClass {
    pub const ALL: [DeviceClass; 4] = [Self::Ios, Self::Android, Self::Amazon, Self::Other];

    /// Returns the kind of device; `None` for the classes without a selector of their own.
    pub fn kind(self) -> Option<DeviceType> {
        match self {
            Self::Ios => Some(DeviceType::Ios),
            Self::Android => Some(DeviceType::Android),
            Self::Amazon => Some(DeviceType::Amazon),
            Self::Other => None,
        }
    }
}
