//! Time zone tags: the service has 42 of them, and assigns every other zone to the nearest.

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use pushplan_model::codes;
use pushplan_model::finding::Finding;
use pushplan_model::node::At;
use pushplan_model::nouns::vocabulary::{SAO_PAULO_IANA, SAO_PAULO_TAG, ZONES, Zone, by_city, everyday, iana, zone};
use pushplan_model::text;

use super::tags::{correct, shown, suggest, suggest_with};

/// The problem of a tag in the time zone group that is not in its list.
pub fn wrong(tag: &At<String>, now: Timestamp) -> Finding {
    if tag.eq_ignore_ascii_case(SAO_PAULO_IANA) {
        return sao_paulo(tag);
    }
    let message = format!("{} is not among the {} time zone tags of the service", shown(tag), ZONES.len());
    let finding = Finding::new(&codes::AU104, tag.span, message).label("not in the list");
    let finding = finding.note("the service assigns a device in another zone to the nearest listed zone");
    // The dashboard shows `America/New_York (Eastern)`.
    let name = tag.split_once(" (").map_or(tag.as_str(), |(name, _)| name);
    if let Some(zone) = ZONES.iter().find(|zone| zone.tag.eq_ignore_ascii_case(name)) {
        return correct(finding, tag, zone.tag);
    }
    let everyday = everyday(tag).or_else(|| by_city(tag, ZONES.iter().map(|zone| zone.tag)));
    if let Some(meant) = everyday.filter(|meant| zone(meant).is_some()) {
        return suggest(finding, tag, meant);
    }
    let known: Vec<String> = jiff::tz::db().available().map(|name| name.to_string()).collect();
    let listed = ZONES.iter().map(|zone| zone.tag);
    let exact = known.iter().find(|name| name.eq_ignore_ascii_case(tag)).map(String::as_str);
    let exact = everyday.or(exact).or_else(|| by_city(tag, known.iter().map(String::as_str)));
    let Some(near) = exact.or_else(|| text::nearest(tag, listed.chain(known.iter().map(String::as_str)))) else {
        return finding.help("`pushplan explain AU104` lists the tags");
    };
    match pushplan_model::nouns::zone::get(near).and_then(|zone| counterpart(near, &zone, now)) {
        Some((zone, _)) if zone.tag == near => suggest(finding, tag, near),
        Some((zone, true)) => suggest_with(
            finding,
            tag,
            zone.tag,
            format!("write `{}`, which has the same local time as {near}", zone.tag),
        ),
        Some((zone, false)) => suggest_with(
            finding,
            tag,
            zone.tag,
            format!("the zone with the closest local time to {near} is `{}`", zone.tag),
        ),
        None => suggest(finding, tag, near),
    }
}

fn sao_paulo(tag: &At<String>) -> Finding {
    let message = format!("as a tag, Sao Paulo is spelled `{SAO_PAULO_TAG}`");
    let finding = Finding::new(&codes::AU105, tag.span, message)
        .label("Paulo, but the service's list has Paolo")
        .note(format!("use `{SAO_PAULO_IANA}` everywhere else, such as in the time_zone of a schedule"));
    correct(finding, tag, SAO_PAULO_TAG)
}

/// The listed zone whose local time differs least over the next year, and whether it is equal. Of equal ones, one in
/// the same region.
fn counterpart(name: &str, zone: &TimeZone, now: Timestamp) -> Option<(&'static Zone, bool)> {
    let days = || (0..26).filter_map(|fortnight| now.checked_add((fortnight * 14 * 24).hours()).ok());
    let region = |name: &str| name.split_once('/').map(|(region, _)| region.to_owned());
    let own: Vec<i32> = days().map(|day| zone.to_offset(day).seconds()).collect();
    let candidates = ZONES.iter().filter_map(|listed| {
        let other = pushplan_model::nouns::zone::get(iana(listed.tag))?;
        let difference: u32 = days().zip(&own).map(|(day, own)| other.to_offset(day).seconds().abs_diff(*own)).sum();
        Some((difference, listed.tag != name, region(listed.tag) != region(name), listed))
    });
    let (difference, _, _, best) = candidates.min_by_key(|(difference, same, near, _)| (*difference, *same, *near))?;
    Some((best, difference == 0))
}
