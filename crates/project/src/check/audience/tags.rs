//! Tags of the service's own groups: a tag that the service never sets matches no device.

use jiff::Timestamp;
use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::node::{At, Plain, resolve};
use pushplan_model::nouns::audience::{Selector, Tag};
use pushplan_model::nouns::vocabulary::{
    self, COMMON_SEGMENTS, Group, MODELS, NO_TIME_ZONE, UNKNOWN, Values, Version, family, is_well_formed,
};
use pushplan_model::text;

use super::super::{Dissected, Subject};
use super::{locales, zones};

/// The note for all of them.
pub(super) const SILENT: &str = "the service reports no error, but no device has this value";

pub fn tags(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    for audience in &one.parts.audiences {
        audience.selector.walk(&mut |selector| {
            if let Selector::Tag(Tag { tag, group: Some(id) }) = &selector.value
                && let Some(group) = vocabulary::group(id)
                && let Some(finding) = wrong(group, tag, subject.now)
            {
                findings.push(finding);
            }
        });
    }
    for (group, value) in &one.parts.properties {
        if let Some(finding) = wrong(group, value, subject.now) {
            findings.push(finding);
        }
    }
}

/// The problem of a tag in one of the service's own groups. An empty tag is wrong in any group, and not reported here.
fn wrong(group: &Group, tag: &At<String>, now: Timestamp) -> Option<Finding> {
    if tag.is_empty() || group.sentinel() == Some(tag.as_str()) {
        return None;
    }
    if let Some(right) = group.sentinel()
        && [UNKNOWN, NO_TIME_ZONE].iter().any(|word| word.eq_ignore_ascii_case(tag))
    {
        return Some(sentinel(group, tag, right));
    }
    if matches!(group.values, Values::AppVersion) && is_range(tag) {
        return Some(range(tag));
    }
    if group.accepts(tag) {
        return None;
    }
    match group.values {
        Values::TimeZone => Some(zones::wrong(tag, now)),
        Values::Flag => Some(flag(group, tag)),
        Values::AppVersion => None,
        Values::Language => Some(locales::language(tag)),
        Values::Country => Some(locales::country(tag)),
        Values::Version(table) if is_well_formed(tag) => Some(unlisted_version(group, tag, table)),
        Values::Version(table) => Some(version_form(tag, table)),
        Values::Model => Some(model(tag)),
    }
}

/// The replacement in the style of the original: without quotes if there were none and none are needed.
fn in_place_of(tag: &At<String>, text: &str) -> String {
    let bare = tag.span.range().len() == tag.len();
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '/' | '.'));
    if bare && plain && resolve(text) == Plain::Text { text.to_owned() } else { text::quoted(text) }
}

/// Adds the certain correction.
pub(super) fn correct(finding: Finding, tag: &At<String>, text: &str) -> Finding {
    let text = in_place_of(tag, text);
    finding.help(format!("write `{text}`")).fix(tag.span, text)
}

/// Adds the probable correction.
pub(super) fn suggest(finding: Finding, tag: &At<String>, text: &str) -> Finding {
    let text = in_place_of(tag, text);
    finding.help(format!("did you mean `{text}`?")).suggest(tag.span, text)
}

/// Adds the probable correction, with a separate text for it.
pub(super) fn suggest_with(finding: Finding, tag: &At<String>, text: &str, help: impl Into<String>) -> Finding {
    finding.help(help).suggest(tag.span, in_place_of(tag, text))
}

/// A tag as a message shows it.
pub(super) fn shown(tag: &str) -> String {
    format!("`{}`", text::short(tag, 40))
}

fn sentinel(group: &Group, tag: &At<String>, right: &str) -> Finding {
    let message = format!("the group `{}` has the tag `{right}` for an unknown value, not {}", group.id, shown(tag));
    let finding = Finding::new(&codes::AU108, tag.span, message).label("reaches no device").note(match group.values {
        Values::TimeZone => "the dashboard shows Unknown, but in this group the tag is NO_TIME_ZONE",
        _ => "upper and lower case count; NO_TIME_ZONE exists only in the group `timezone`",
    });
    correct(finding, tag, right)
}

fn flag(group: &Group, tag: &At<String>) -> Finding {
    let message = format!("the group `{}` has the tags `true` and `false` only, not {}", group.id, shown(tag));
    let finding = Finding::new(&codes::AU110, tag.span, message)
        .label("expected \"true\" or \"false\"")
        .note("every device has one of the two; there is no tag for an unknown value");
    match tag.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" => correct(finding, tag, "true"),
        "false" | "no" | "off" => correct(finding, tag, "false"),
        "1" | "y" | "t" | "enabled" => suggest(finding, tag, "true"),
        "0" | "n" | "f" | "disabled" => suggest(finding, tag, "false"),
        _ => finding.help("write \"true\" or \"false\""),
    }
}

/// Whether a version is written as a range: `>= 5.2`, `^5`, `5.*`.
fn is_range(tag: &str) -> bool {
    let tag = tag.trim();
    tag.starts_with(['>', '<', '=', '~', '^', '≥', '≤']) || tag.contains('*')
}

fn range(tag: &At<String>) -> Finding {
    let message = format!("the service compares app versions literally; no device has the version {}", shown(tag));
    Finding::new(&codes::AU121, tag.span, message)
        .label("matches this text only")
        .note("the service has no operators, ranges or wildcards for app versions, and accepts this")
        .help("list the versions, such as [\"5.2\", \"5.3\"]")
}

/// A tag of a version group that is not written `8.3.X`.
fn version_form(tag: &At<String>, table: &[Version]) -> Finding {
    let message =
        format!("version tags have the form 8.3.X; {} reaches no device", text::quoted(&text::short(tag, 40)));
    let finding = Finding::new(&codes::AU101, tag.span, message).note("the service accepts this silently");
    if let Some(meant) = family(tag) {
        // Two numbers stand for all patches of that version, like a lower-case x and an asterisk.
        let all_patches = tag.split('.').nth(2).is_none_or(|patch| matches!(patch, "x" | "*"));
        return if all_patches {
            correct(finding.label("X stands for all patches"), tag, &meant)
        } else {
            suggest(finding.label("patch-level targeting is not possible"), tag, &meant)
        };
    }
    let finding = finding.label("expected major.minor.X");
    let named = |version: &&Version| version.name.is_some_and(|name| name.eq_ignore_ascii_case(tag));
    let of_major = |version: &&Version| {
        let major = tag.trim_end_matches(['x', 'X', '*']).trim_end_matches('.');
        version.tag.split('.').next() == Some(major)
    };
    let mut meant: Vec<&str> = table.iter().filter(named).map(|version| version.tag).collect();
    if meant.is_empty() {
        meant = table.iter().filter(of_major).map(|version| version.tag).collect();
    }
    let digits = tag.trim_start_matches(|c: char| !c.is_ascii_digit());
    match (meant[..].len(), family(digits)) {
        (0, Some(family)) => suggest(finding, tag, &family),
        (0, None) => finding.help("write it with the X, such as 8.3.X"),
        (1, _) => suggest(finding, tag, meant[0]),
        _ => finding.help(format!("write [{}], or some of these", meant.join(", "))),
    }
}

/// A well-formed version that the service does not list.
fn unlisted_version(group: &Group, tag: &At<String>, table: &[Version]) -> Finding {
    let message = format!("{} is not among the {}s that the service lists", shown(tag), group.noun);
    let finding = Finding::new(&codes::AU102, tag.span, message).label("not in the list");
    let Some(last) = table.last() else { return finding };
    let finding = finding.note(format!("the list ends at {}; a tag outside it reaches no device", last.tag));
    let number = |tag: &str| -> Option<u64> {
        let mut parts = tag.split('.').map(|part| part.parse::<u64>().ok());
        Some(parts.next()??.saturating_mul(1_000).saturating_add(parts.next()??))
    };
    let wanted = number(tag).unwrap_or(u64::MAX);
    match table.iter().min_by_key(|version| number(version.tag).map_or(u64::MAX, |one| one.abs_diff(wanted))) {
        Some(near) => suggest_with(finding, tag, near.tag, format!("the nearest is {}", near.tag)),
        None => finding,
    }
}

/// A tag of the model group that is not in the list.
fn model(tag: &At<String>) -> Finding {
    let message = format!("{} is not among the iOS models that the service lists", shown(tag));
    let finding = Finding::new(&codes::AU103, tag.span, message).label("not in the list");
    if let Some(model) = MODELS.iter().find(|model| model.tag.eq_ignore_ascii_case(tag)) {
        return correct(finding.note("upper and lower case count"), tag, model.tag);
    }
    let finding = finding.note("the tag of a model is its identifier, such as iPhone7,2 for an iPhone 6");
    if let Some(model) = MODELS.iter().find(|model| model.name.eq_ignore_ascii_case(tag)) {
        return suggest(finding, tag, model.tag);
    }
    if let Some(several) = COMMON_SEGMENTS.iter().find(|several| several.name.eq_ignore_ascii_case(tag)) {
        let tags: Vec<String> = several.tags.iter().map(|tag| text::quoted(tag)).collect();
        return finding.help(format!("an {} is any of [{}]", several.name, tags.join(", ")));
    }
    // A newer model may differ from an old one by a single character, so only texts that cannot be a model count as
    // typos.
    let identifier = tag.rsplit_once(',').is_some_and(|(head, minor)| {
        let family = head.trim_end_matches(|c: char| c.is_ascii_digit());
        family.len() < head.len() && matches!(family, "iPhone" | "iPad" | "iPod") && minor.parse::<u16>().is_ok()
    });
    if identifier {
        return finding.help("if your service supports it, allow AU103 on this resource");
    }
    let near = text::nearest(tag, MODELS.iter().flat_map(|model| [model.tag, model.name]));
    match near.and_then(|near| MODELS.iter().find(|model| model.tag == near || model.name == near)) {
        Some(model) => suggest(finding, tag, model.tag),
        None => finding,
    }
}

#[cfg(test)]
mod tests {
    use pushplan_model::source::{Source, Sources, Span};

    use super::*;

    /// A group's shorthand, a tag, the code that it gets, the replacement and whether that is safe.
    type Row = (&'static str, &'static str, &'static str, Option<(&'static str, bool)>);

    /// Every kind of error.
    const WRONG: &[Row] = &[
        ("ios_version", "8.3", "AU101", Some(("8.3.X", true))),
        ("ios_version", "8.3.x", "AU101", Some(("8.3.X", true))),
        ("ios_version", "8.3.*", "AU101", Some(("8.3.X", true))),
        ("ios_version", "8.3.1", "AU101", Some(("8.3.X", false))),
        ("ios_version", "8.3.1-beta", "AU101", Some(("8.3.X", false))),
        ("ios_version", "iOS 8.3", "AU101", Some(("8.3.X", false))),
        ("ios_version", "v8.3.2", "AU101", Some(("8.3.X", false))),
        ("ios_version", "8", "AU101", None),
        ("ios_version", "8.X", "AU101", None),
        ("ios_version", "newest", "AU101", None),
        ("android_version", "KitKat", "AU101", Some(("4.4.X", false))),
        ("android_version", "jelly bean", "AU101", None),
        ("ios_version", "8.4.X", "AU102", Some(("8.3.X", false))),
        ("android_version", "1.4.X", "AU102", Some(("1.5.X", false))),
        ("ios_sdk_version", "99999999999999999999.0.X", "AU102", Some(("6.1.X", false))),
        ("ios_model", "iphone7,2", "AU103", Some(("\"iPhone7,2\"", true))),
        ("ios_model", "iPhone 6", "AU103", Some(("\"iPhone7,2\"", false))),
        ("ios_model", "iPhone 7,2", "AU103", Some(("\"iPhone7,2\"", false))),
        ("ios_model", "iPad 2", "AU103", None),
        ("ios_model", "iPhone12,1", "AU103", None),
        ("ios_model", "toaster", "AU103", None),
        ("timezone", "Europe/Berlin", "AU104", Some(("Europe/Paris", false))),
        ("timezone", "America/Toronto", "AU104", Some(("America/New_York", false))),
        ("timezone", "Asia/Kathmandu", "AU104", Some(("Asia/Dhaka", false))),
        ("timezone", "US/Pacific", "AU104", Some(("America/Los_Angeles", false))),
        ("timezone", "europe/paris", "AU104", Some(("Europe/Paris", true))),
        ("timezone", "America/New_York (Eastern)", "AU104", Some(("America/New_York", true))),
        ("timezone", "Eastern", "AU104", Some(("America/New_York", false))),
        ("timezone", "EST", "AU104", Some(("America/New_York", false))),
        ("timezone", "Paris", "AU104", Some(("Europe/Paris", false))),
        ("timezone", "new york", "AU104", Some(("America/New_York", false))),
        ("timezone", "Berlin", "AU104", Some(("Europe/Paris", false))),
        ("timezone", "CEST", "AU104", Some(("Europe/Paris", false))),
        ("timezone", "Europe/Pariss", "AU104", Some(("Europe/Paris", false))),
        ("timezone", "Europe/Berlim", "AU104", Some(("Europe/Paris", false))),
        ("timezone", "Moon/Tranquility", "AU104", None),
        ("timezone", "America/Sao_Paulo", "AU105", Some(("America/Sao_Paolo", true))),
        ("timezone", "america/sao_paulo", "AU105", Some(("America/Sao_Paolo", true))),
        ("language", "EN", "AU106", Some(("en", true))),
        ("language", "NO", "AU106", Some(("\"no\"", true))),
        ("language", "en-US", "AU106", Some(("en", false))),
        ("language", "pt_BR", "AU106", Some(("pt", false))),
        ("language", "jp", "AU106", Some(("ja", false))),
        ("language", "eng", "AU106", Some(("en", false))),
        ("language", "German", "AU106", Some(("de", false))),
        ("language", "Portugese", "AU106", Some(("pt", false))),
        ("language", "qq", "AU106", None),
        ("country", "us", "AU107", Some(("US", true))),
        ("country", "no", "AU107", Some(("\"NO\"", true))),
        ("country", "UK", "AU107", Some(("GB", false))),
        ("country", "uk", "AU107", Some(("GB", false))),
        ("country", "USA", "AU107", Some(("US", false))),
        ("country", "CAN", "AU107", Some(("CA", false))),
        ("country", "AUS", "AU107", None),
        ("country", "en-US", "AU107", Some(("US", false))),
        ("country", "US-CA", "AU107", Some(("US", false))),
        ("country", "Germany", "AU107", Some(("DE", false))),
        ("country", "Untied States", "AU107", Some(("US", false))),
        ("country", "XX", "AU107", None),
        ("timezone", "Unknown", "AU108", Some(("NO_TIME_ZONE", true))),
        ("timezone", "no_time_zone", "AU108", Some(("NO_TIME_ZONE", true))),
        ("country", "unknown", "AU108", Some(("Unknown", true))),
        ("ios_app_version", "UNKNOWN", "AU108", Some(("Unknown", true))),
        ("ios_version", "NO_TIME_ZONE", "AU108", Some(("Unknown", true))),
        ("opt_in", "TRUE", "AU110", Some(("\"true\"", true))),
        ("opt_in", "no", "AU110", Some(("\"false\"", true))),
        ("opt_in", "1", "AU110", Some(("\"true\"", false))),
        ("opt_in", "Unknown", "AU110", None),
        ("opt_in", "maybe", "AU110", None),
        ("ios_app_version", ">= 5.2", "AU121", None),
        ("ios_app_version", "5.*", "AU121", None),
        ("android_app_version", "~5.2", "AU121", None),
        ("android_app_version", "^5", "AU121", None),
        ("android_app_version", "<6", "AU121", None),
    ];

    fn now() -> Timestamp {
        "2026-11-15T12:00Z".parse().expect("a time")
    }

    /// The tag as written without quotes.
    fn written(tag: &str) -> At<String> {
        let file = Sources::default().add(Source::new("f", tag));
        At::new(tag.to_owned(), Span::new(file, 0..tag.len()))
    }

    #[test]
    fn every_wrong_tag_has_its_code_and_replacement() {
        let mut differences = Vec::new();
        for (shorthand, tag, code, fix) in WRONG {
            let group = vocabulary::by_shorthand(shorthand).expect(shorthand);
            let finding = wrong(group, &written(tag), now());
            let found = finding
                .as_ref()
                .map(|finding| (finding.code.name, finding.fix.as_ref().map(|fix| (fix.text.as_str(), fix.safe))));
            if found != Some((*code, *fix)) {
                differences.push(format!("{shorthand}: {tag}\n  expected {code} {fix:?}\n  found {found:?}"));
            }
        }
        assert!(differences.is_empty(), "{}", differences.join("\n"));
    }

    #[test]
    fn every_replacement_is_right_in_its_turn() {
        for (shorthand, tag, _, fix) in WRONG {
            let group = vocabulary::by_shorthand(shorthand).expect(shorthand);
            if let Some((text, _)) = fix {
                assert_eq!(wrong(group, &written(text.trim_matches('"')), now()), None, "{shorthand}: {tag}");
            }
        }
    }

    #[test]
    fn a_replacement_keeps_the_quotes_of_what_it_replaces() {
        let mut tag = written("\"8.3.1\"");
        tag.value = "8.3.1".to_owned();
        assert_eq!(in_place_of(&tag, "8.3.X"), "\"8.3.X\"");
        assert_eq!(in_place_of(&written("8.3.1"), "8.3.X"), "8.3.X");
    }
}
