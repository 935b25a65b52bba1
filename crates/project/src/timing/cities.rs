//! Well-known cities, for local times in the world.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use pushplan_model::nouns::zone::Spread;

/// Large cities in the whole world, from west to east.
pub(crate) static WORLD: [Cow<str>; 10] = [
    Cow::Borrowed("America/Los_Angeles"),
    Cow::Borrowed("America/New_York"),
    Cow::Borrowed("America/Sao_Paulo"),
    Cow::Borrowed("Europe/London"),
    Cow::Borrowed("Europe/Paris"),
    Cow::Borrowed("Asia/Dubai"),
    Cow::Borrowed("Asia/Kolkata"),
    Cow::Borrowed("Asia/Singapore"),
    Cow::Borrowed("Asia/Tokyo"),
    Cow::Borrowed("Australia/Sydney"),
];

/// Cities sorted by fame, to choose one if several have the same local time.
const KNOWN: &[&str] = &[
    "America/New_York",
    "Europe/London",
    "America/Los_Angeles",
    "Europe/Paris",
    "Asia/Tokyo",
    "Australia/Sydney",
    "Asia/Kolkata",
    "America/Sao_Paulo",
    "Asia/Dubai",
    "Asia/Singapore",
    "Asia/Shanghai",
    "Asia/Hong_Kong",
    "Europe/Berlin",
    "America/Chicago",
    "Europe/Moscow",
    "America/Mexico_City",
    "Europe/Istanbul",
    "Europe/Madrid",
    "Europe/Rome",
    "Africa/Cairo",
    "Africa/Lagos",
    "Africa/Johannesburg",
    "Asia/Seoul",
    "Asia/Bangkok",
    "Asia/Jakarta",
    "America/Toronto",
    "America/Denver",
    "America/Argentina/Buenos_Aires",
    "Pacific/Auckland",
    "America/Vancouver",
    "Pacific/Honolulu",
    "America/Anchorage",
    "America/Halifax",
    "Europe/Athens",
    "Europe/Kyiv",
    "Europe/Lisbon",
    "Africa/Nairobi",
    "Asia/Karachi",
    "Asia/Dhaka",
    "Asia/Tehran",
    "Australia/Perth",
    "Australia/Brisbane",
    "Australia/Adelaide",
    "America/Phoenix",
    "America/Bogota",
    "America/Lima",
    "America/Santiago",
    "America/Caracas",
    "Asia/Manila",
];

/// The rank of a zone's city among the well-known ones. Smaller is better known.
pub(crate) fn fame(zone: &str) -> usize {
    static PLACES: LazyLock<HashMap<&str, usize, Spread>> = LazyLock::new(|| {
        // Of duplicates, the first one counts.
        KNOWN.iter().enumerate().rev().map(|(place, known)| (*known, place)).collect()
    });
    PLACES.get(zone).copied().unwrap_or(KNOWN.len())
}

/// The name of a zone's city: `Buenos Aires` for America/Argentina/Buenos_Aires.
pub fn city(zone: &str) -> String {
    match zone {
        "UTC" | "Etc/UTC" | "Etc/GMT" => "UTC".to_owned(),
        _ => zone.rsplit('/').next().unwrap_or(zone).replace('_', " "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_city_is_a_zone() {
        for zone in WORLD.iter().map(|zone| &**zone).chain(KNOWN.iter().copied()) {
            assert!(jiff::tz::TimeZone::get(zone).is_ok(), "{zone}");
        }
        assert!(WORLD.iter().all(|zone| fame(zone) < WORLD.len()));
        assert_eq!(city("America/Argentina/Buenos_Aires"), "Buenos Aires");
        assert_eq!(city("Etc/GMT"), "UTC");
    }
}
