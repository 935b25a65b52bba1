//! Schedules: past times, and times in quiet hours.

use std::collections::{BTreeMap, HashSet};

use jiff::civil::{DateTime, Time};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Timestamp, ToSpan};
use pushplan_model::address::Address;
use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::kinds::{Parts, ScheduledPush, Segment, Sending, of_kind};
use pushplan_model::nouns::audience::{SegmentRef, Selector};
use pushplan_model::nouns::clock::authored;
use pushplan_model::nouns::schedule::{Schedule, When};
use pushplan_model::nouns::zone;
use pushplan_model::source::Span;
use pushplan_model::text;

use super::{Check, CheckScope, Dissected, Subject};
use crate::manifest::QuietHours;
use crate::timing::{self, Country, Upcoming, Where, collisions, has_passed, places};

pub const PAST: Check = Check { codes: &[&codes::SC101], run: CheckScope::Each(past) };

pub(crate) const SECONDS: Check = Check { codes: &[&codes::SC105], run: CheckScope::Each(seconds) };

pub const QUIET: Check = Check { codes: &[&codes::SC104], run: CheckScope::Each(quiet) };

pub const TWICE: Check = Check { codes: &[&codes::SC107], run: CheckScope::Each(twice) };

pub const CLOCKS: Check = Check { codes: &[&codes::SC109], run: CheckScope::Each(clocks) };

/// Messages that one person would get shortly after each other.
pub const NEAR: Check = Check { codes: &[&codes::SC108], run: CheckScope::All(near) };

/// The number of zones in a message.
const NAMED: usize = 3;

fn past(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    for Sending { schedule, .. } in &one.parts.sendings {
        if !has_passed(schedule.when, subject.now) {
            continue;
        }
        let time = authored(schedule.written.value).replace('T', " ");
        let message = match schedule.when {
            When::At(_) => format!("{time} in {} has passed: it will never be sent", name(&schedule.zone)),
            When::EachZone(_) => format!("{time} has passed in every time zone: it will never be sent"),
        };
        findings.push(
            Finding::new(&codes::SC101, schedule.value.span(), message)
                .label("in the past")
                .note("a push whose time has passed is never created, and never sent again")
                .help("choose a later time; to keep a sent push as a record, write `lifecycle: {allow: [SC101]}`"),
        );
    }
}

/// Seconds in a time if the target only supports the contract's form, which ends with the minute.
fn seconds(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    let is_documented = subject.is_documented();
    for Sending { schedule, .. } in &one.parts.sendings {
        if !is_documented || schedule.written.second() == 0 {
            continue;
        }
        let minute = schedule.written.strftime("%Y-%m-%dT%H:%M").to_string();
        findings.push(
            Finding::new(&codes::SC105, schedule.value.span(), "seconds cannot be sent to this target")
                .label("the API's times end with the minute")
                .help(format!("write {minute}, or set `api = \"extended\"` if the service supports it"))
                .suggest(schedule.value.span(), minute),
        );
    }
}

/// A list of times with the same moment twice. Variants of an experiment share theirs.
fn twice(_: &Subject, one: &Dissected, findings: &mut Findings) {
    let Some(push) = of_kind::<ScheduledPush>(&*one.declared.spec) else { return };
    let mut firsts: BTreeMap<When, &Schedule> = BTreeMap::new();
    for schedule in &push.schedule {
        if let Some(first) = firsts.get(&schedule.when) {
            findings.push(
                Finding::new(&codes::SC107, schedule.value.span(), "this schedule has the same time twice")
                    .label("the second")
                    .related(first.span(), "the first")
                    .note("recipients may get the message twice")
                    .help("remove one of the two"),
            );
        } else {
            firsts.insert(schedule.when, schedule);
        }
    }
}

/// For each message, the first earlier one that is too close.
fn near(subject: &Subject, findings: &mut Findings) {
    let Some(apart) = subject.target.and_then(|target| target.apart.as_ref()) else { return };
    let mut sendings: Vec<(&Address, Sending)> = Vec::new();
    for (address, declared) in &subject.desired.resources {
        let mut parts = Parts::new(&declared.key);
        declared.spec.parts(&mut parts);
        let upcoming = parts.sendings.into_iter().filter(|sending| !has_passed(sending.schedule.when, subject.now));
        sendings.extend(upcoming.map(|sending| (address, sending)));
    }
    let upcoming: Vec<Upcoming> =
        sendings.iter().map(|(address, sending)| Upcoming::of(address, *sending, false)).collect();
    let found =
        collisions(&upcoming, SignedDuration::from_secs(apart.value.0), |reference| segment(subject, reference));
    let mut told = HashSet::new();
    for collision in found.found.iter().filter(|collision| told.insert(collision.other.number)) {
        let [one, other] =
            [&collision.one, &collision.other].map(|party| sendings[party.number].1.schedule.value.span());
        let message = format!("{} is sent {}", collision.other, timing::words::collision(collision, false));
        let mut finding = Finding::new(&codes::SC108, other, message)
            .label(format!("less than {} from another message", apart.value))
            .related(one, "the other message")
            .related(apart.span, "the minimum time between messages")
            .note(format!("if this is intended, set `lifecycle: {{allow: [SC108]}}` on {}", collision.other.address));
        finding.address = Some(collision.other.address.clone());
        findings.push(finding);
    }
}

pub(super) fn segment<'d>(subject: &Subject<'d>, reference: &SegmentRef) -> Option<&'d Selector> {
    match reference {
        SegmentRef::Key(key) => subject.desired.get::<Segment>(key).map(|segment| &segment.criteria.value),
        SegmentRef::Id(_) => None,
    }
}

fn quiet(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    let Some(hours) = subject.target.and_then(|target| target.quiet_hours.as_ref()) else { return };
    for Sending { schedule, audience, .. } in &one.parts.sendings {
        if has_passed(schedule.when, subject.now) {
            continue;
        }
        let finding = match schedule.when {
            When::EachZone(time) => by_own_clock(schedule, time, hours),
            When::At(instant) => {
                let reached = places(audience, |reference| segment(subject, reference), Country::Main);
                in_zones(schedule, instant, &zones(schedule, reached), hours)
            }
        };
        if let Some(finding) = finding {
            findings.push(
                finding
                    .related(hours.span, "the quiet hours of the target")
                    .note("if this is intended, set `lifecycle: {allow: [SC104]}` on the resource"),
            );
        }
    }
}

/// A local time that is skipped or occurs twice when clocks change, in the places of the audience.
fn clocks(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    for Sending { schedule, audience, .. } in &one.parts.sendings {
        let When::EachZone(time) = schedule.when else { continue };
        if has_passed(schedule.when, subject.now) {
            continue;
        }
        let reached = places(audience, |reference| segment(subject, reference), Country::Main);
        let (mut skipped, mut twice) = (Vec::new(), Vec::new());
        for (name, seen) in reached.named.iter() {
            let offset = zone::get(name).map(|zone| zone.to_ambiguous_timestamp(time).offset());
            match offset {
                Some(AmbiguousOffset::Gap { .. }) => skipped.push((name, seen.at)),
                Some(AmbiguousOffset::Fold { .. }) => twice.push((name, seen.at)),
                _ => {}
            }
        }
        for (there, verb, label, moved) in [
            (skipped, "does not exist", "clocks skip this time there", "forward"),
            (twice, "happens twice", "which of the two?", "back"),
        ] {
            let Some((_, first)) = there.first() else { continue };
            let mut names: Vec<String> = there.iter().take(NAMED).map(|(name, _)| name.to_string()).collect();
            if there.len() > NAMED {
                names.push(text::count(there.len() - NAMED, "more zone"));
            }
            let message = format!("{} {verb} on that day in {}", clock(time), text::all_of(&names));
            findings.push(
                Finding::new(&codes::SC109, schedule.span(), message)
                    .label(label)
                    .related(*first, "recipients are there")
                    .note(format!("clocks go {moved} that night; the contract does not say when the push is sent"))
                    .help("choose a time outside that hour; if this is intended, set `lifecycle: {allow: [SC109]}`"),
            );
        }
    }
}

/// A time zone of an audience, given by a tag or as the main zone of a country, with the first such tag.
#[derive(Debug)]
struct AudienceZone {
    zone: TimeZone,
    tag: Option<Span>,
}

/// The zones of an audience, by name: those of its tags, and the schedule's own if the audience may include it.
fn zones(schedule: &Schedule, audience: Where) -> BTreeMap<String, AudienceZone> {
    let Where { named, elsewhere, without } = audience;
    let own = name(&schedule.zone);
    let with_own = elsewhere && !without.contains_key(own.as_str()) && !named.contains(own.as_str());
    let named = named.iter().filter_map(|(name, seen)| {
        let zone = zone::get(name)?;
        Some((name.to_string(), AudienceZone { zone, tag: Some(seen.at) }))
    });
    let own = with_own.then(|| (own.clone(), AudienceZone { zone: schedule.zone.clone(), tag: None }));
    named.chain(own).collect()
}

/// The names and zones of an audience, with the schedule's own zone if the audience may include it.
pub(super) fn audience_zones(schedule: &Schedule, audience: Where) -> impl Iterator<Item = (String, TimeZone)> {
    zones(schedule, audience).into_iter().map(|(name, place)| (name, place.zone))
}

fn by_own_clock(schedule: &Schedule, time: DateTime, hours: &QuietHours) -> Option<Finding> {
    if !hours.quiet().contains(time.time()) {
        return None;
    }
    let message = format!("recipients get this at {} local time, in {}", clock(time), words(hours));
    let finding = Finding::new(&codes::SC104, schedule.span(), message).label("quiet hours");
    Some(match end_of_quiet(time, hours) {
        Some(free) => propose(finding, schedule, free),
        None => finding,
    })
}

fn in_zones(
    schedule: &Schedule,
    instant: Timestamp,
    zones: &BTreeMap<String, AudienceZone>,
    hours: &QuietHours,
) -> Option<Finding> {
    let disturbed: Vec<(&String, &AudienceZone, DateTime)> = zones
        .iter()
        .map(|(name, place)| (name, place, schedule.clock_in(&place.zone)))
        .filter(|(_, _, there)| hours.quiet().contains(there.time()))
        .collect();
    let (first, _, there) = disturbed.first()?;
    let message = match disturbed.len() {
        1 => format!("at this time it is {} in {first}, in {}", clock(*there), words(hours)),
        count => {
            let mut places: Vec<String> =
                disturbed.iter().take(NAMED).map(|(name, _, there)| format!("{} in {name}", clock(*there))).collect();
            if count > NAMED {
                places.push(text::count(count - NAMED, "more zone"));
            }
            format!("at this time it is {}, in {}", text::all_of(&places), words(hours))
        }
    };
    let mut finding =
        Finding::new(&codes::SC104, schedule.span(), message).label(format!("{} in {first}", clock(*there)));
    for (_, place, there) in disturbed.iter().take(NAMED) {
        if let Some(tag) = place.tag {
            finding = finding.related(tag, format!("it is {} in this zone", clock(*there)));
        }
    }
    Some(match free_in_all(instant, zones, hours) {
        Some(free) => propose(finding, schedule, schedule.zone.to_datetime(free)),
        None => finding.help("no hour suits all of these zones: write one push for each region"),
    })
}

fn propose(finding: Finding, schedule: &Schedule, free: DateTime) -> Finding {
    let time = free.strftime("%Y-%m-%dT%H:%M").to_string();
    finding.help(format!("the next time outside quiet hours is {time}")).suggest(schedule.span(), time)
}

/// The first moment from `instant` within two days at which no zone is in quiet hours.
fn free_in_all(instant: Timestamp, zones: &BTreeMap<String, AudienceZone>, hours: &QuietHours) -> Option<Timestamp> {
    let latest = instant.checked_add(48.hours()).ok()?;
    let mut at = instant;
    while at <= latest {
        let ends = zones.values().filter_map(|place| {
            let there = place.zone.to_datetime(at);
            let ends = hours.quiet().contains(there.time()).then(|| end_of_quiet(there, hours))??;
            place.zone.to_timestamp(ends).ok()
        });
        match ends.max() {
            None => return Some(at),
            // When clocks change, the end can be before the beginning.
            Some(end) if end <= at => return None,
            Some(end) => at = end,
        }
    }
    None
}

/// The end of the quiet hours that include `time`.
fn end_of_quiet(time: DateTime, hours: &QuietHours) -> Option<DateTime> {
    let end = hours.to.0;
    let date = if time.time() < end { time.date() } else { time.date().tomorrow().ok()? };
    Some(date.to_datetime(end))
}

fn name(zone: &TimeZone) -> String {
    zone.iana_name().unwrap_or("UTC").to_owned()
}

fn clock(time: DateTime) -> String {
    hour_and_minute(time.time())
}

fn hour_and_minute(time: Time) -> String {
    time.strftime("%H:%M").to_string()
}

fn words(hours: &QuietHours) -> String {
    format!("the quiet hours from {} to {}", hour_and_minute(hours.from.0), hour_and_minute(hours.to.0))
}
