//! Tags that the service derives from the properties that a device reports.

use std::sync::OnceLock;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use pushplan_model::nouns::vocabulary::{self, GROUPS, Group, NO_TIME_ZONE, Platform, UNKNOWN, Values, ZONES};

use super::{Device, Properties};

/// Returns the derived tags of a device, as group and tag.
///
/// Only devices of a platform have the groups of that platform. Every device has the flags, as the texts `true` and
/// `false`; the one for location only with SDK 6.0 or later.
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
    let Properties { language, country, timezone, app_version, sdk_version, os_version, model } = &*device.properties;
    let unknown = || UNKNOWN.to_owned();
    let any = |value: &Option<String>| given(value).map_or_else(unknown, str::to_owned);
    // A text that is not a valid code counts as unknown.
    let code = |value: &Option<String>, spelled: fn(&str) -> String| {
        given(value).map(spelled).filter(|code| group.accepts(code)).unwrap_or_else(unknown)
    };
    let family = |version: &Option<String>| given(version).and_then(vocabulary::family).unwrap_or_else(unknown);
    Some(match (group.values, group.id) {
        (Values::Flag, "ua_opt_in") => device.opt_in.to_string(),
        (Values::Flag, "ua_background_enabled") => device.background.to_string(),
        (Values::Flag, _) => {
            let major = given(sdk_version).and_then(|version| version.split('.').next()?.parse::<u32>().ok());
            major.filter(|major| *major >= 6)?;
            device.location.to_string()
        }
        (Values::TimeZone, _) => given(timezone).map_or(NO_TIME_ZONE, nearest_zone).to_owned(),
        (Values::Language, _) => code(language, str::to_lowercase),
        (Values::Country, _) => code(country, str::to_uppercase),
        (Values::AppVersion, _) => any(app_version),
        (Values::Model, _) => any(model),
        (Values::Version(_), "ua_ios_sdk_version" | "ua_android_sdk_version") => family(sdk_version),
        (Values::Version(_), _) => family(os_version),
    })
}

/// Returns a non-empty value, without white space around it.
fn given(value: &Option<String>) -> Option<&str> {
    value.as_deref().map(str::trim).filter(|value| !value.is_empty())
}

/// Returns the tag of a listed zone, by its name in the contract or in zone data.
pub(crate) fn listed_zone(name: &str) -> Option<&'static str> {
    ZONES.iter().find(|zone| zone.tag == name || vocabulary::iana(zone.tag) == name).map(|zone| zone.tag)
}

/// Returns the listed zone of a device. A zone that is not listed is mapped to the one with the nearest clocks in
/// winter and summer; if there are several, to one in the same part of the world.
pub fn nearest_zone(name: &str) -> &'static str {
    if let Some(listed) = listed_zone(name) {
        return listed;
    }
    let Ok(own) = TimeZone::get(name) else { return NO_TIME_ZONE };
    let mine = offsets(&own);
    let part = |name: &str| name.split('/').next().unwrap_or_default().to_owned();
    let distance = |(tag, theirs): &(&'static str, [i32; 2])| {
        let apart = mine.iter().zip(theirs).map(|(mine, theirs)| (mine - theirs).abs()).sum::<i32>();
        (apart, part(tag) != part(name))
    };
    listed_offsets().iter().min_by_key(|zone| distance(zone)).map_or(NO_TIME_ZONE, |(tag, _)| tag)
}

/// Returns a zone's offsets from UTC in seconds, at one moment in each half of the year.
fn offsets(zone: &TimeZone) -> [i32; 2] {
    let moments = [JANUARY, JULY].map(|second| Timestamp::from_second(second).unwrap_or_default());
    moments.map(|at| zone.to_offset(at).seconds())
}

/// 2026-01-15 and 2026-07-15 at noon. The year is fixed, so that a device stays in its zone however long the service
/// runs.
const JANUARY: i64 = 1_768_478_400;
const JULY: i64 = 1_784_116_800;

/// Returns the listed zones with their offsets from zone data, because the contract's offsets are partly out of date.
fn listed_offsets() -> &'static [(&'static str, [i32; 2])] {
    static OFFSETS: OnceLock<Vec<(&str, [i32; 2])>> = OnceLock::new();
    OFFSETS.get_or_init(|| {
        let known = |tag| Some((tag, offsets(&TimeZone::get(vocabulary::iana(tag)).ok()?)));
        ZONES.iter().filter_map(|zone| known(zone.tag)).collect()
    })
}
