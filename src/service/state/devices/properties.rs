//! Tags that the service derives from what a device tells of itself.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::{Device, Properties};
use crate::model::vocabulary::{self, GROUPS, Group, NO_TIME_ZONE, Platform, UNKNOWN, Values, ZONES};

/// The derived tags of a device, as group and tag.
///
/// A group of one platform is carried by the devices of that platform. The flags are carried by every device, as the texts
/// `true` and `false`; that of location only from SDK 6.0 on.
pub fn property_tags(device: &Device) -> impl Iterator<Item = (&'static str, String)> {
    GROUPS.iter().filter(|group| fits(group, device)).filter_map(|group| Some((group.id, tag(group, device)?)))
}

fn fits(group: &Group, device: &Device) -> bool {
    match group.platform {
        Some(Platform::Ios) => device.device_type == "ios",
        Some(Platform::Android) => device.device_type == "android",
        None => true,
    }
}

fn tag(group: &Group, device: &Device) -> Option<String> {
    let Properties { language, country, timezone, app_version, sdk_version, os_version, model } = &device.properties;
    let or_unknown = |value: &Option<String>| value.clone().unwrap_or_else(|| UNKNOWN.to_owned());
    let family = |version: &Option<String>| {
        version.as_deref().and_then(vocabulary::family).unwrap_or_else(|| UNKNOWN.to_owned())
    };
    Some(match (group.values, group.id) {
        (Values::Flag, "ua_opt_in") => device.opt_in.to_string(),
        (Values::Flag, "ua_background_enabled") => device.background.to_string(),
        (Values::Flag, _) => {
            let since = sdk_version.as_deref().and_then(|version| version.split('.').next()?.parse::<u32>().ok());
            since.filter(|major| *major >= 6)?;
            device.location.to_string()
        }
        (Values::TimeZone, _) => timezone.as_deref().map_or(NO_TIME_ZONE, nearest_zone).to_owned(),
        (Values::Language, _) => language.as_ref().map_or_else(|| UNKNOWN.to_owned(), |code| code.to_lowercase()),
        (Values::Country, _) => country.as_ref().map_or_else(|| UNKNOWN.to_owned(), |code| code.to_uppercase()),
        (Values::AppVersion, _) => or_unknown(app_version),
        (Values::Model, _) => or_unknown(model),
        (Values::Version(_), "ua_ios_sdk_version" | "ua_android_sdk_version") => family(sdk_version),
        (Values::Version(_), _) => family(os_version),
    })
}

/// The listed zone of a device. One that is not listed goes to the one whose clocks are nearest, in winter and in summer.
pub fn nearest_zone(name: &str) -> &'static str {
    let contract = ZONES.iter().find(|zone| zone.tag == name || vocabulary::iana(zone.tag) == name);
    if let Some(zone) = contract {
        return zone.tag;
    }
    let Ok(own) = TimeZone::get(name) else { return NO_TIME_ZONE };
    // One moment in each half of the year tells a zone's two offsets.
    let moments = ["2026-01-15T12:00Z", "2026-07-15T12:00Z"].map(|text| text.parse::<Timestamp>().unwrap_or_default());
    let offsets = |zone: &TimeZone| moments.map(|at| zone.to_offset(at).seconds());
    let mine = offsets(&own);
    let distance = |tag: &str| {
        let theirs = TimeZone::get(vocabulary::iana(tag)).map(|zone| offsets(&zone)).unwrap_or([i32::MAX / 4; 2]);
        mine.iter().zip(theirs).map(|(a, b)| (a - b).abs()).sum::<i32>()
    };
    ZONES.iter().map(|zone| zone.tag).min_by_key(|tag| distance(tag)).unwrap_or(NO_TIME_ZONE)
}
