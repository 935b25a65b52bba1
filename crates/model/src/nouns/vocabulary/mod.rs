//! The contract's tables as data: device property groups and the tags each may hold.
//!
//! Every table is complete and keeps the contract's spelling. Nothing here reads or writes.

mod countries;
mod country_zones;
mod groups;
mod languages;
mod models;
mod versions;
mod zones;

pub use countries::{COUNTRIES, country};
pub use country_zones::zones_of;
pub use groups::{GROUPS, Group, NO_TIME_ZONE, Platform, TIME_ZONE, UNKNOWN, Values, by_shorthand, group, is_reserved};
pub use languages::{LANGUAGES, language};
pub use models::{COMMON_SEGMENTS, MODELS, Model, ModelSegment, model};
pub use versions::{ANDROID, ANDROID_SDK, IOS, IOS_SDK, Version, family, is_well_formed};
pub use zones::{SAO_PAULO_IANA, SAO_PAULO_TAG, ZONES, Zone, by_city, everyday, iana, zone};

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn assert_unique<'a>(keys: impl Iterator<Item = &'a str>) {
        let mut seen = HashSet::new();
        for key in keys {
            assert!(seen.insert(key), "{key} appears twice");
        }
    }

    #[test]
    fn tables_have_every_row() {
        assert_eq!(GROUPS.len(), 13);
        assert_eq!(ZONES.len(), 42);
        assert_eq!(IOS_SDK.len(), 13);
        assert_eq!(ANDROID_SDK.len(), 14);
        assert_eq!(IOS.len(), 22);
        assert_eq!(ANDROID.len(), 16);
        assert_eq!(MODELS.len(), 46);
        assert_eq!(COMMON_SEGMENTS.len(), 12);
        assert_eq!(LANGUAGES.len(), 183);
        assert_eq!(COUNTRIES.len(), 249);
    }

    #[test]
    fn no_key_appears_twice() {
        assert_unique(GROUPS.iter().map(|group| group.id));
        assert_unique(GROUPS.iter().map(|group| group.shorthand));
        assert_unique(GROUPS.iter().map(|group| group.name));
        assert_unique(ZONES.iter().map(|zone| zone.tag));
        assert_unique(MODELS.iter().map(|model| model.tag));
        assert_unique(MODELS.iter().map(|model| model.name));
        assert_unique(COMMON_SEGMENTS.iter().map(|segment| segment.name));
        assert_unique(COMMON_SEGMENTS.iter().flat_map(|s| s.tags.iter().copied()));
        for table in [IOS_SDK, ANDROID_SDK, IOS, ANDROID] {
            assert_unique(table.iter().map(|version| version.tag));
        }
    }

    #[test]
    fn codes_are_sorted_and_found() {
        assert!(LANGUAGES.is_sorted_by(|a, b| a.0 < b.0));
        assert!(COUNTRIES.is_sorted_by(|a, b| a.0 < b.0));
        assert!(LANGUAGES.iter().all(|row| language(row.0) == Some(row.1)));
        assert!(COUNTRIES.iter().all(|row| country(row.0) == Some(row.1)));
        assert_eq!(language("EN"), None);
        assert_eq!(country("us"), None);
        assert_eq!(country("UK"), None);
    }

    #[test]
    fn segments_hold_only_models() {
        for segment in COMMON_SEGMENTS {
            assert!(segment.tags.len() >= 2);
            for tag in segment.tags {
                let name = model(tag).expect("a tag of the model table").name;
                assert!(name.starts_with(segment.name), "{tag} is {name}");
            }
        }
        let first = COMMON_SEGMENTS[0].display_name();
        assert_eq!(first, "iPad 2 - UA Generated");
    }

    #[test]
    fn every_version_belongs_to_its_own_family() {
        for table in [IOS_SDK, ANDROID_SDK, IOS, ANDROID] {
            for version in table {
                assert!(is_well_formed(version.tag));
                for release in [version.tag, version.first, version.last] {
                    assert_eq!(family(release).as_deref(), Some(version.tag));
                }
            }
        }
        assert!(ANDROID.iter().all(|version| version.name.is_some()));
        assert!(IOS.iter().all(|version| version.name.is_none()));
    }

    #[test]
    fn family_reads_a_major_and_a_minor_number() {
        for text in ["8.3", "8.3.1", "8.3.x", "8.3.X", "8.3.*", "8.3.1-beta"] {
            assert_eq!(family(text).as_deref(), Some("8.3.X"), "{text}");
        }
        assert_eq!(family("10.12").as_deref(), Some("10.12.X"));
        for text in ["", "8", "8.", ".3", "8.x", "8.3.", "v8.3", "8.03", " 8.3"] {
            assert_eq!(family(text), None, "{text}");
        }
    }

    #[test]
    fn well_formed_tags_end_in_a_capital_x() {
        assert!(is_well_formed("10.12.X"));
        for tag in ["8.3", "8.3.1", "8.3.x", "8.X", "8.3.1.X", ".3.X", "8..X"] {
            assert!(!is_well_formed(tag), "{tag}");
        }
    }

    #[test]
    fn sentinels_follow_the_kind_of_group() {
        for group in GROUPS {
            let expected = match group.values {
                Values::Flag => None,
                Values::TimeZone => Some("NO_TIME_ZONE"),
                _ => Some("Unknown"),
            };
            assert_eq!(group.sentinel(), expected, "{}", group.id);
            assert!(expected.is_none_or(|tag| group.accepts(tag)));
            assert!(!group.accepts(""), "{}", group.id);
        }
    }

    #[test]
    fn groups_accept_their_own_tags_only() {
        let accepts = |id: &str, tag: &str| group(id).expect("a known group").accepts(tag);
        assert!(accepts("timezone", SAO_PAULO_TAG));
        assert!(!accepts("timezone", SAO_PAULO_IANA));
        assert!(!accepts("timezone", "Unknown"));
        assert!(accepts("ua_opt_in", "false"));
        assert!(!accepts("ua_opt_in", "Unknown"));
        assert!(accepts("ua_ios_app_version", "2.1 beta"));
        assert!(accepts("ua_locale_language", "pt"));
        assert!(!accepts("ua_locale_language", "sh"));
        assert!(accepts("ua_locale_country", "BR"));
        assert!(accepts("ua_ios_version", "8.3.X"));
        assert!(!accepts("ua_android_version", "8.3.X"));
        assert!(!accepts("ua_ios_version", "8.3.0"));
        assert!(accepts("ua_ios_model", "iPhone7,2"));
        assert!(!accepts("ua_ios_model", "iPhone 6"));
    }

    #[test]
    fn lookups_agree_with_the_tables() {
        for row in GROUPS {
            assert_eq!(group(row.id), Some(row));
            assert_eq!(by_shorthand(row.shorthand), Some(row));
        }
        assert_eq!(by_shorthand("ua_opt_in"), None);
        assert_eq!(zone("America/New_York").unwrap().label, Some("Eastern"));
        assert_eq!(zone(SAO_PAULO_IANA), None);
        assert_eq!(iana(SAO_PAULO_TAG), SAO_PAULO_IANA);
        assert_eq!(iana("Europe/Paris"), "Europe/Paris");
    }
}
