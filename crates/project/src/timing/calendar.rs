//! The messages of one target by time, according to the manifests: messages with a send time, and pipelines that send
//! after an event.

use std::collections::{BTreeMap, HashMap};

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};
use pushplan_model::address::Address;
use pushplan_model::audience;
use pushplan_model::kinds::{Parts, Pipeline, ReadableText, Role, Segment, SendRule, Sending};
use pushplan_model::nouns::audience::{SegmentRef, Selector};
use pushplan_model::nouns::quiet::Quiet;
use pushplan_model::nouns::schedule::When;
use pushplan_model::nouns::zone;
use pushplan_model::source::Span;

use super::follows::{Fired, Follow, delay};
use super::{Collisions, Country, Times, Upcoming, Where, can_disturb, collisions, has_passed, places, range, words};
use crate::manifest::{Declared, Desired};

/// The settings of a calendar.
#[derive(Clone, Debug)]
pub struct CalendarRequest {
    pub now: Timestamp,
    /// The zone of its days and times. Default: the most common one in the manifests.
    pub zone: Option<TimeZone>,
    /// Its first day. Default: it begins now.
    pub from: Option<Date>,
    /// Its last day.
    pub to: Option<Date>,
    /// The number of its days, instead of the last day.
    pub days: Option<i32>,
    pub quiet: Option<Quiet>,
    pub apart: SignedDuration,
}

#[derive(Debug)]
pub struct Calendar {
    pub now: Timestamp,
    pub zone: TimeZone,
    pub quiet: Option<Quiet>,
    /// The messages, sorted by time.
    pub sends: Vec<CalendarEntry>,
    /// The messages that are sent after an event.
    pub standing: Vec<Standing>,
    /// The number of past messages that are not shown.
    pub past: usize,
    /// The number of messages after the requested period.
    pub beyond: usize,
    /// The messages that are too close together, if one of the two is shown.
    pub collisions: Collisions,
}

/// A message with a send time.
#[derive(Debug)]
pub struct CalendarEntry {
    pub address: Address,
    /// The position of its declaration.
    pub at: Span,
    /// The number of the variant of an experiment, from 1.
    pub variant: Option<usize>,
    /// The number of this time among several of one message, from 1; `None` if it has one.
    pub number: Option<usize>,
    /// The date and time in the calendar's zone; for a local time that time.
    pub shown: DateTime,
    pub times: Times,
    pub message: Option<String>,
    /// The audience, in words.
    pub who: String,
    /// The device types that it goes to; empty for all.
    pub devices: Vec<String>,
    /// Whether it was sent, or its time has passed.
    pub passed: bool,
    pub collisions: Vec<Near>,
    /// The pipelines that a tap on it can trigger.
    pub follows: Vec<Follow>,
}

/// A collision of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Near {
    /// Its index in [`Collisions::found`].
    pub place: usize,
    /// Whether the message is the earlier of the two.
    pub earlier: bool,
}

/// A message that is sent after an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    pub address: Address,
    pub at: Span,
    /// The time of the send: `1 hour after the tag remind-me is added`.
    pub when: String,
    pub delay_seconds: i64,
    /// Its activation time, if there is one.
    pub from: Option<Timestamp>,
    /// Its deactivation time, if there is one.
    pub until: Option<Timestamp>,
    /// Its hours, limits and cancellations.
    pub rules: Vec<SendRule>,
    /// Whether it can be sent in quiet hours.
    pub quiet: bool,
    pub message: Option<String>,
}

/// Makes the calendar of a target.
pub fn calendar(desired: &Desired, asked: &CalendarRequest) -> Calendar {
    let all = sendings(desired);
    let zone = asked.zone.clone().unwrap_or_else(|| written_zone(&all));
    let (from, to) = period(asked, &zone);
    let segment = |reference: &SegmentRef| match reference {
        SegmentRef::Key(key) => desired.get::<Segment>(key).map(|segment| &segment.criteria.value),
        SegmentRef::Id(_) => None,
    };
    let fired = Fired::of(desired);
    // Audiences with the same text are evaluated once.
    let mut known: HashMap<String, Where> = HashMap::new();
    let (mut sends, mut upcoming, mut past, mut beyond) = (Vec::new(), Vec::new(), 0, 0);
    for one in &all {
        let Sending { schedule, audience, variant, said } = one.sending;
        let when = schedule.when;
        let passed = has_passed(when, asked.now);
        let (first, last) = range(when);
        let is_asked = match from {
            Some(from) => last >= from && first < to,
            None => !passed && first < to,
        };
        let place = is_asked.then_some(sends.len());
        if !passed {
            upcoming.push((Upcoming::of(one.address, one.sending, false), place));
        }
        if !is_asked {
            *(if passed { &mut past } else { &mut beyond }) += 1;
            continue;
        }
        let written = serde_json::to_string(&audience.value).unwrap_or_default();
        let reached = known.entry(written).or_insert_with(|| places(audience, segment, Country::All));
        sends.push(CalendarEntry {
            address: one.address.clone(),
            at: one.declared.key.span,
            variant,
            number: one.number,
            shown: shown(when, &zone),
            times: Times::new(when, &schedule.zone, reached, asked.quiet),
            message: message(&said),
            who: if variant.is_some() {
                match audience::words(audience).as_str() {
                    "everyone" => "a share of all devices".to_owned(),
                    words => format!("a share of {words}"),
                }
            } else {
                audience::words(audience)
            },
            devices: devices(&said),
            passed,
            collisions: Vec::new(),
            follows: fired.by(&said, when),
        });
    }
    let order = in_order(&mut sends, &zone);
    let numbers: Vec<Option<usize>> = upcoming.iter().map(|(_, place)| place.map(|place| order[place])).collect();
    let upcoming: Vec<Upcoming> = upcoming.into_iter().map(|(send, _)| send).collect();
    let found = collisions(&upcoming, asked.apart, segment);
    let collisions = within(found, &numbers, &mut sends);
    let standing = standing(desired, &zone, asked, segment);
    Calendar { now: asked.now, zone, quiet: asked.quiet, sends, standing, past, beyond, collisions }
}

/// One time of a resource.
struct Occurrence<'d> {
    address: &'d Address,
    declared: &'d Declared,
    number: Option<usize>,
    sending: Sending<'d>,
}

fn sendings(desired: &Desired) -> Vec<Occurrence<'_>> {
    let mut all = Vec::new();
    for (address, declared) in &desired.resources {
        let mut parts = Parts::new(&declared.key);
        declared.spec.parts(&mut parts);
        let several = parts.sendings.iter().filter(|sending| sending.variant.is_none()).count() > 1;
        let numbered = parts.sendings.into_iter().enumerate();
        all.extend(numbered.map(|(at, sending)| Occurrence {
            address,
            declared,
            number: several.then_some(at + 1),
            sending,
        }));
    }
    all
}

/// The most common zone of the times; of equally common ones, the first by name.
fn written_zone(all: &[Occurrence]) -> TimeZone {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in all.iter().filter_map(|one| one.sending.schedule.zone.iana_name()).filter(|name| *name != "UTC") {
        *counts.entry(name).or_default() += 1;
    }
    let most = counts.iter().max_by(|one, other| one.1.cmp(other.1).then(other.0.cmp(one.0)));
    most.and_then(|(name, _)| zone::get(name)).unwrap_or(TimeZone::UTC)
}

/// The start and the end of the period, without the end itself. The start is only set if it is requested; otherwise the
/// period begins now.
fn period(asked: &CalendarRequest, zone: &TimeZone) -> (Option<Timestamp>, Timestamp) {
    let start = |day: Date| zone.to_timestamp(day.to_datetime(jiff::civil::Time::midnight()));
    let from = asked.from.and_then(|day| start(day).ok());
    let first = asked.from.unwrap_or_else(|| zone.to_datetime(asked.now).date());
    let end = match (asked.to, asked.days) {
        (Some(last), _) => last.tomorrow().ok(),
        (None, Some(days)) => first.checked_add(days.days()).ok(),
        (None, None) => None,
    };
    (from, end.and_then(|end| start(end).ok()).unwrap_or(Timestamp::MAX))
}

fn shown(when: When, zone: &TimeZone) -> DateTime {
    match when {
        When::At(instant) => zone.to_datetime(instant),
        When::EachZone(time) => time,
    }
}

fn message(said: &ReadableText) -> Option<String> {
    let alert = said.notification.and_then(|notification| notification.heads().next());
    let title = || said.message.map(|message| &message.title);
    alert.or_else(title).map(|text| text.value.clone())
}

fn devices(said: &ReadableText) -> Vec<String> {
    said.devices
        .map(|devices| devices.named().iter().map(|device| device.value.to_string()).collect())
        .unwrap_or_default()
}

/// Sorts messages by time, and returns the new index of each.
fn in_order(sends: &mut Vec<CalendarEntry>, zone: &TimeZone) -> Vec<usize> {
    let moment = |entry: &CalendarEntry| match entry.times.when {
        When::At(instant) => instant,
        When::EachZone(time) => zone.to_timestamp(time).unwrap_or(Timestamp::MAX),
    };
    let mut sorted: Vec<(usize, CalendarEntry)> = std::mem::take(sends).into_iter().enumerate().collect();
    // Messages with one moment are sorted by address, which is the original order.
    sorted.sort_by_key(|(place, entry)| (entry.shown.date(), moment(entry), *place));
    let mut order = vec![0; sorted.len()];
    for (new, (old, entry)) in sorted.into_iter().enumerate() {
        order[old] = new;
        sends.push(entry);
    }
    order
}

/// Keeps the collisions of shown messages, and adds them to these.
fn within(found: Collisions, numbers: &[Option<usize>], sends: &mut [CalendarEntry]) -> Collisions {
    let mut kept = Vec::new();
    for collision in found.found {
        let place = kept.len();
        let sides = [(&collision.one, true), (&collision.other, false)];
        let shown = sides.map(|(party, earlier)| numbers[party.number].map(|entry| (entry, Near { place, earlier })));
        for (entry, near) in shown.into_iter().flatten() {
            sends[entry].collisions.push(near);
        }
        if shown.iter().any(Option::is_some) {
            kept.push(collision);
        }
    }
    Collisions { found: kept, ..found }
}

/// The messages that are sent after an event.
fn standing<'d>(
    desired: &'d Desired,
    zone: &TimeZone,
    asked: &CalendarRequest,
    segment: impl Fn(&SegmentRef) -> Option<&'d Selector>,
) -> Vec<Standing> {
    let now = asked.now;
    let mut found = Vec::new();
    for (address, declared, pipeline) in desired.all::<Pipeline>().filter(|(_, _, pipeline)| pipeline.enabled) {
        let (from, until) = pipeline.active();
        let from = from.filter(|from| *from > now);
        // No event triggers it any more, or ever.
        if until.is_some_and(|until| until <= from.unwrap_or(now)) {
            continue;
        }
        let there = |at: DateTime| format!("{} {}", words::day(at), words::clock(at));
        let told = |at: Timestamp| format!("{} {}", there(zone.to_datetime(at)), words::zone(zone));
        let within = match (from, until) {
            (Some(from), Some(until)) => format!(", from {} until {}", told(from), told(until)),
            (Some(from), None) => format!(", from {} on", told(from)),
            (None, Some(until)) => format!(", until {}", told(until)),
            (None, None) => String::new(),
        };
        let mut parts = Parts::new(&declared.key);
        declared.spec.parts(&mut parts);
        let triggers: Vec<String> = parts.triggers.iter().map(|trigger| trigger.happens()).collect();
        let condition = parts.audiences.iter().find(|audience| audience.role == Role::Condition);
        let there = condition.map(|own| places(own.selector, &segment, Country::Main));
        let hours = parts.hours.map(|hours| &hours.value);
        let quiet = asked.quiet.is_some_and(|quiet| can_disturb(hours, quiet, there.as_ref(), now));
        let rules = declared.spec.rules();
        for (outcome, said) in pipeline.outcome.iter().zip(&parts.said) {
            let delay_seconds = delay(outcome);
            let after = pushplan_model::nouns::delay::Delay(delay_seconds);
            let what = pushplan_model::text::any_of(&triggers);
            let when = if delay_seconds > 0 { format!("{after} after {what}") } else { format!("at once when {what}") };
            let (when, message) = (when + &within, message(said));
            found.push(Standing {
                address: address.clone(),
                at: declared.key.span,
                when,
                delay_seconds,
                from,
                until,
                rules: rules.clone(),
                quiet,
                message,
            });
        }
    }
    found
}
