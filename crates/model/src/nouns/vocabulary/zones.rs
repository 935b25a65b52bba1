//! The time zone tags, as the contract lists them.

/// One time zone tag.
///
/// The offsets are the contract's, to be shown and never computed with. Some are older than
/// today's zone data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zone {
    /// The tag, such as `America/New_York`.
    pub tag: &'static str,
    /// The everyday name, such as `Eastern`, where the contract gives one.
    pub label: Option<&'static str>,
    /// The offset from UTC in standard time, such as `-05:00`.
    pub standard: &'static str,
    /// The offset from UTC in daylight time. It equals `standard` where there is none.
    pub daylight: &'static str,
}

/// Sao Paulo as the contract spells it. Only this spelling is a tag of the table.
pub const SAO_PAULO_TAG: &str = "America/Sao_Paolo";

/// Sao Paulo as zone data spells it.
pub const SAO_PAULO_IANA: &str = "America/Sao_Paulo";

/// Finds a zone by its tag, in the spelling of the contract.
pub fn zone(tag: &str) -> Option<&'static Zone> {
    ZONES.iter().find(|zone| zone.tag == tag)
}

/// The name zone data knows this tag by. Only Sao Paulo differs.
pub fn iana(tag: &str) -> &str {
    if tag == SAO_PAULO_TAG { SAO_PAULO_IANA } else { tag }
}

/// Abbreviations of zones, and the IANA names that they stand for. Zone data contains some of them as well, for clocks
/// that keep the same offset all year or follow the rules of another time.
const ABBREVIATIONS: &[(&str, &str)] = &[
    ("AEDT", "Australia/Sydney"),
    ("AEST", "Australia/Sydney"),
    ("AKDT", "America/Juneau"),
    ("AKST", "America/Juneau"),
    ("BST", "Europe/London"),
    ("CDT", "America/Chicago"),
    ("CEST", "Europe/Paris"),
    ("CET", "Europe/Paris"),
    ("CST", "America/Chicago"),
    ("CST6CDT", "America/Chicago"),
    ("EDT", "America/New_York"),
    ("EEST", "Europe/Athens"),
    ("EET", "Europe/Athens"),
    ("EST", "America/New_York"),
    ("EST5EDT", "America/New_York"),
    ("ET", "America/New_York"),
    ("HST", "Pacific/Honolulu"),
    ("IST", "Asia/Kolkata"),
    ("JST", "Asia/Tokyo"),
    ("MDT", "America/Denver"),
    ("MET", "Europe/Paris"),
    ("MSK", "Europe/Moscow"),
    ("MST", "America/Denver"),
    ("MST7MDT", "America/Denver"),
    ("NZDT", "Pacific/Auckland"),
    ("NZST", "Pacific/Auckland"),
    ("PDT", "America/Los_Angeles"),
    ("PST", "America/Los_Angeles"),
    ("PST8PDT", "America/Los_Angeles"),
    ("PT", "America/Los_Angeles"),
    ("WEST", "Europe/Lisbon"),
    ("WET", "Europe/Lisbon"),
];

/// Returns the IANA name for an everyday name such as Eastern, or an abbreviation such as EST.
pub fn everyday(name: &str) -> Option<&'static str> {
    let word = name.strip_suffix(" Time").unwrap_or(name);
    let labelled = ZONES.iter().find(|zone| zone.label.is_some_and(|label| label.eq_ignore_ascii_case(word)));
    let abbreviated =
        || ABBREVIATIONS.iter().find(|(short, _)| short.eq_ignore_ascii_case(word)).map(|(_, name)| *name);
    labelled.map(|zone| zone.tag).or_else(abbreviated)
}

/// Returns the only one of these names with this city: `Paris` and `new york` identify one.
pub fn by_city<'n>(city: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let city = city.replace(' ', "_");
    let mut found =
        names.filter(|name| name.rsplit_once('/').is_some_and(|(_, last)| last.eq_ignore_ascii_case(&city)));
    found.next().filter(|_| found.next().is_none())
}

/// A zone without an everyday name.
const fn plain(tag: &'static str, standard: &'static str, daylight: &'static str) -> Zone {
    Zone { tag, label: None, standard, daylight }
}

/// Adds an everyday name to a zone.
const fn labelled(label: &'static str, zone: Zone) -> Zone {
    Zone { label: Some(label), ..zone }
}

/// Every time zone tag, in the order of the contract.
pub static ZONES: &[Zone] = &[
    plain("Africa/Addis_Ababa", "+03:00", "+03:00"),
    plain("Africa/Harare", "+02:00", "+02:00"),
    plain("Africa/Lagos", "+01:00", "+01:00"),
    plain("America/Argentina/Buenos_Aires", "-03:00", "-03:00"),
    plain("America/Bogota", "-05:00", "-05:00"),
    plain("America/Caracas", "-04:30", "-04:30"),
    labelled("Central", plain("America/Chicago", "-06:00", "-05:00")),
    plain("America/Costa_Rica", "-06:00", "-06:00"),
    labelled("Mountain", plain("America/Denver", "-07:00", "-06:00")),
    plain("America/Halifax", "-04:00", "-03:00"),
    labelled("Alaska", plain("America/Juneau", "-09:00", "-08:00")),
    plain("America/Lima", "-05:00", "-05:00"),
    labelled("Pacific", plain("America/Los_Angeles", "-08:00", "-07:00")),
    labelled("Eastern", plain("America/New_York", "-05:00", "-04:00")),
    plain("America/Phoenix", "-07:00", "-07:00"),
    plain("America/Santiago", "-03:00", "-03:00"),
    plain(SAO_PAULO_TAG, "-03:00", "-02:00"),
    plain("Asia/Bangkok", "+07:00", "+07:00"),
    plain("Asia/Dhaka", "+06:00", "+06:00"),
    plain("Asia/Dubai", "+04:00", "+04:00"),
    plain("Asia/Hong_Kong", "+08:00", "+08:00"),
    plain("Asia/Jakarta", "+07:00", "+07:00"),
    plain("Asia/Karachi", "+05:00", "+05:00"),
    plain("Asia/Kolkata", "+05:30", "+05:30"),
    plain("Asia/Manila", "+08:00", "+08:00"),
    plain("Asia/Seoul", "+09:00", "+09:00"),
    plain("Asia/Singapore", "+08:00", "+08:00"),
    plain("Asia/Tehran", "+03:30", "+04:30"),
    plain("Asia/Tokyo", "+09:00", "+09:00"),
    plain("Asia/Vladivostok", "+10:00", "+10:00"),
    plain("Australia/Adelaide", "+09:30", "+10:30"),
    plain("Australia/Brisbane", "+10:00", "+10:00"),
    plain("Australia/Sydney", "+10:00", "+11:00"),
    plain("Etc/GMT", "+00:00", "+00:00"),
    plain("Europe/Istanbul", "+02:00", "+03:00"),
    plain("Europe/Lisbon", "+00:00", "+01:00"),
    plain("Europe/London", "+00:00", "+01:00"),
    plain("Europe/Moscow", "+03:00", "+03:00"),
    plain("Europe/Paris", "+01:00", "+02:00"),
    plain("Pacific/Auckland", "+12:00", "+13:00"),
    labelled("Hawaii", plain("Pacific/Honolulu", "-10:00", "-10:00")),
    plain("UTC", "+00:00", "+00:00"),
];
