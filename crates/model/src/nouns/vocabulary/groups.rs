//! The tag groups the service fills in by itself from device properties.

use super::countries::country;
use super::languages::language;
use super::models::model;
use super::versions::{ANDROID, ANDROID_SDK, IOS, IOS_SDK, Version};
use super::zones::zone;
use crate::nouns::tagged::DEVICE;

/// One tag group of device properties.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    /// The tag group id, as written in the `group` field of a tag selector.
    pub id: &'static str,
    /// The short key an author may write instead of the id.
    pub shorthand: &'static str,
    /// The name the dashboard shows.
    pub name: &'static str,
    /// Words for people. For a flag they describe a device that carries `true`.
    pub noun: &'static str,
    /// The one platform whose devices carry this group, if it is only one.
    pub platform: Option<Platform>,
    /// Which tags are valid.
    pub values: Values,
}

/// A platform that owns a group alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    Ios,
    Android,
}

/// The kind of tags a group holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// A tag of the time zone table.
    TimeZone,
    /// The string `true` or the string `false`.
    Flag,
    /// Any string that is not empty.
    AppVersion,
    /// An ISO 639-1 code, in lower case.
    Language,
    /// An ISO 3166-1 alpha-2 code, in upper case.
    Country,
    /// A `#.#.X` tag of the given table.
    Version(&'static [Version]),
    /// A tag of the iOS model table.
    Model,
}

/// The tag of a device whose value is unknown, outside the time zone group.
pub const UNKNOWN: &str = "Unknown";

/// The group of the tags for a device's time zone.
pub const TIME_ZONE: &str = "timezone";

/// The tag of a device whose time zone is unknown.
pub const NO_TIME_ZONE: &str = "NO_TIME_ZONE";

impl Group {
    /// The tag of an unknown value. Flags have none.
    pub fn sentinel(&self) -> Option<&'static str> {
        match self.values {
            Values::Flag => None,
            Values::TimeZone => Some(NO_TIME_ZONE),
            _ => Some(UNKNOWN),
        }
    }

    /// Whether the tag is one of the valid tags of this group, or its sentinel.
    ///
    /// The comparison is exact, upper and lower case included.
    pub fn accepts(&self, tag: &str) -> bool {
        if self.sentinel() == Some(tag) {
            return true;
        }
        match self.values {
            Values::TimeZone => zone(tag).is_some(),
            Values::Flag => matches!(tag, "true" | "false"),
            Values::AppVersion => !tag.is_empty(),
            Values::Language => language(tag).is_some(),
            Values::Country => country(tag).is_some(),
            Values::Version(table) => table.iter().any(|version| version.tag == tag),
            Values::Model => model(tag).is_some(),
        }
    }
}

/// Finds a group by its id.
pub fn group(id: &str) -> Option<&'static Group> {
    GROUPS.iter().find(|group| group.id == id)
}

/// Whether a group is one of the service's own, or stands for the tags that are in no group.
pub fn is_reserved(id: &str) -> bool {
    id.starts_with("ua_") || id == DEVICE || group(id).is_some()
}

/// Finds a group by its shorthand.
pub fn by_shorthand(shorthand: &str) -> Option<&'static Group> {
    GROUPS.iter().find(|group| group.shorthand == shorthand)
}

/// Every group, in the order of the contract.
pub static GROUPS: &[Group] = &[
    Group {
        id: TIME_ZONE,
        shorthand: TIME_ZONE,
        name: "Timezone",
        noun: "time zone",
        platform: None,
        values: Values::TimeZone,
    },
    Group {
        id: "ua_opt_in",
        shorthand: "opt_in",
        name: "Notification Opt-in",
        noun: "opted in to notifications",
        platform: None,
        values: Values::Flag,
    },
    Group {
        id: "ua_background_enabled",
        shorthand: "background_enabled",
        name: "Background Enabled",
        noun: "enabled for background push",
        platform: None,
        values: Values::Flag,
    },
    Group {
        id: "ua_location_enabled",
        shorthand: "location_enabled",
        name: "Location Enabled",
        noun: "enabled for location",
        platform: None,
        values: Values::Flag,
    },
    Group {
        id: "ua_ios_app_version",
        shorthand: "ios_app_version",
        name: "iOS App Version",
        noun: "iOS app version",
        platform: Some(Platform::Ios),
        values: Values::AppVersion,
    },
    Group {
        id: "ua_android_app_version",
        shorthand: "android_app_version",
        name: "Android App Version",
        noun: "Android app version",
        platform: Some(Platform::Android),
        values: Values::AppVersion,
    },
    Group {
        id: "ua_locale_language",
        shorthand: "language",
        name: "Language",
        noun: "language",
        platform: None,
        values: Values::Language,
    },
    Group {
        id: "ua_locale_country",
        shorthand: "country",
        name: "Language Country",
        noun: "country",
        platform: None,
        values: Values::Country,
    },
    Group {
        id: "ua_ios_sdk_version",
        shorthand: "ios_sdk_version",
        name: "iOS SDK Version",
        noun: "iOS SDK version",
        platform: Some(Platform::Ios),
        values: Values::Version(IOS_SDK),
    },
    Group {
        id: "ua_android_sdk_version",
        shorthand: "android_sdk_version",
        name: "Android SDK Version",
        noun: "Android SDK version",
        platform: Some(Platform::Android),
        values: Values::Version(ANDROID_SDK),
    },
    Group {
        id: "ua_ios_version",
        shorthand: "ios_version",
        name: "iOS Version",
        noun: "iOS version",
        platform: Some(Platform::Ios),
        values: Values::Version(IOS),
    },
    Group {
        id: "ua_android_version",
        shorthand: "android_version",
        name: "Android Version",
        noun: "Android version",
        platform: Some(Platform::Android),
        values: Values::Version(ANDROID),
    },
    Group {
        id: "ua_ios_model",
        shorthand: "ios_model",
        name: "iOS Model",
        noun: "iOS model",
        platform: Some(Platform::Ios),
        values: Values::Model,
    },
];
