//! When a message is sent. The contract's form is a date, a `T` and four digits, in UTC; authors write their own time zone.

use std::borrow::Cow;
use std::sync::LazyLock;

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Timestamp, ToSpan};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::vocabulary;
use crate::codes;
use crate::finding::Finding;
use crate::node::{At, Decode, Fields, Node, ObjectSchema, Reader};
use crate::source::Span;
use crate::text;

/// A time to send at. Two schedules are equal when they are the same instant, in whatever zone they were written.
#[derive(Clone, Debug)]
pub struct Schedule {
    pub when: When,
    /// The time as its author wrote it, and where.
    pub written: At<DateTime>,
    /// The zone it was written in; UTC where none was.
    pub zone: TimeZone,
}

/// An instant, or the same clock time in each device's own zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum When {
    At(Timestamp),
    EachZone(DateTime),
}

impl PartialEq for Schedule {
    fn eq(&self, other: &Self) -> bool {
        self.when == other.when
    }
}

impl Schedule {
    const KEYS: &'static [&'static str] = &["scheduled_time", "time_zone", "local_scheduled_time"];
}

impl Serialize for Schedule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (key, time) = match self.when {
            When::At(instant) => ("scheduled_time", TimeZone::UTC.to_datetime(instant)),
            When::EachZone(time) => ("local_scheduled_time", time),
        };
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(key, &time.strftime("%Y-%m-%dT%H%M").to_string())?;
        map.end()
    }
}

impl Decode for Schedule {
    const WHAT: &'static str = "a schedule such as {scheduled_time: 2026-11-27T09:00, time_zone: Europe/Paris}";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let fields = Fields::of(node, Self::WHAT, reader)?;
        fields.close(Self::KEYS, reader);
        let local = fields.entry("local_scheduled_time");
        let Some(local) = local else {
            let time = fields.take::<At<String>>("scheduled_time", reader);
            let zone = fields.take::<Option<At<String>>>("time_zone", reader);
            let (time, zone) = (time?, zone?);
            let zone = zone.as_ref().map(|name| find_zone(name, reader).map(|zone| At::new(zone, name.span)));
            return match zone {
                None => instant(&time, None, reader),
                Some(zone) => instant(&time, Some(zone?), reader),
            };
        };
        for other in ["scheduled_time", "time_zone"].iter().filter_map(|key| fields.entry(key)) {
            reader.report(
                Finding::new(
                    &codes::YM201,
                    other.key.span,
                    format!("`{}` cannot stand beside `{}`", other.key, local.key),
                )
                .label("each device's own zone is used")
                .related(local.key.span, "this says the time already"),
            );
        }
        let text = reader.value::<At<String>>(local)?;
        let (time, suffix) = clock_time(&text, reader)?;
        if !suffix.is_empty() {
            reader.report(no_offset(&text, suffix, None));
            return None;
        }
        Some(Self { when: When::EachZone(time), written: At::new(time, text.span), zone: TimeZone::UTC })
    }
}

/// The instant that a clock time means in a zone. A time that does not exist there, or exists twice, is reported.
fn instant(text: &At<String>, zone: Option<At<TimeZone>>, reader: &mut Reader) -> Option<Schedule> {
    let (time, suffix) = clock_time(text, reader)?;
    let utc = suffix == "Z";
    if !suffix.is_empty() && (!utc || zone.as_ref().is_some_and(|zone| zone.value != TimeZone::UTC)) {
        reader.report(no_offset(text, suffix, zone.as_ref()));
        return None;
    }
    let zone = zone.map_or(TimeZone::UTC, |zone| zone.value);
    let ambiguous = zone.to_ambiguous_timestamp(time);
    let name = zone.iana_name().unwrap_or("its zone");
    match ambiguous.offset() {
        AmbiguousOffset::Unambiguous { .. } => {}
        AmbiguousOffset::Gap { before, after } => {
            let skipped = i64::from(after.seconds() - before.seconds());
            let later = time.checked_add(skipped.seconds()).unwrap_or(time);
            reader.report(
                Finding::new(
                    &codes::SC102,
                    text.span,
                    format!("{} does not exist on that day in {name}", time.strftime("%H:%M")),
                )
                .label("the clocks skip this time")
                .note(format!("the clocks are put forward by {} that night", super::delay::Delay(skipped)))
                .help(format!("write {} for the moment after the change", later.strftime("%Y-%m-%dT%H:%M"))),
            );
            return None;
        }
        AmbiguousOffset::Fold { before, after } => {
            let as_utc = |offset: jiff::tz::Offset| {
                offset.to_timestamp(time).map(|at| TimeZone::UTC.to_datetime(at).strftime("%Y-%m-%dT%H:%M").to_string())
            };
            let finding = Finding::new(
                &codes::SC103,
                text.span,
                format!("{} happens twice on that day in {name}", time.strftime("%H:%M")),
            )
            .label("which of the two?");
            reader.report(match (as_utc(before), as_utc(after)) {
                (Ok(first), Ok(second)) => finding
                    .help(format!("write it in UTC, without time_zone: {first}Z is the first, {second}Z the second")),
                _ => finding,
            });
            return None;
        }
    }
    let at = ambiguous.compatible();
    let Ok(at) = at else {
        reader.report(
            Finding::new(&codes::SC106, text.span, "the time is beyond what a calendar can hold").label("too far"),
        );
        return None;
    };
    Some(Schedule { when: When::At(at), written: At::new(time, text.span), zone })
}

/// Reads `2026-11-27T09:00`, `2026-11-27T0900` or either with `:00` behind it; what follows is given back: `Z`, an offset.
fn clock_time<'t>(text: &'t At<String>, reader: &mut Reader) -> Option<(DateTime, &'t str)> {
    let wrong = |label: &str, help: String| {
        Finding::new(&codes::SC106, text.span, format!("`{}` is not a time", text::short(text, 40)))
            .label(label)
            .help(help)
    };
    let Some((date, clock)) = text.split_once(['T', 't', ' ']) else {
        let help = format!("write date and time, such as {}T09:00", if is_date(text) { text } else { "2026-11-27" });
        reader.report(wrong("expected YYYY-MM-DDTHH:MM", help));
        return None;
    };
    let end = clock.find(|c: char| !c.is_ascii_digit() && c != ':' && c != '.').unwrap_or(clock.len());
    let (clock, suffix) = clock.split_at(end);
    let suffix = if suffix.eq_ignore_ascii_case("z") { "Z" } else { suffix };
    let (minutes, seconds) = match clock.split(':').collect::<Vec<_>>()[..] {
        [hhmm] if hhmm.len() == 4 => (format!("{}:{}", &hhmm[..2], &hhmm[2..]), ""),
        [hh, mm] => (format!("{hh}:{mm}"), ""),
        [hh, mm, ss] => (format!("{hh}:{mm}"), ss),
        _ => (clock.to_owned(), ""),
    };
    let read = DateTime::strptime("%Y-%m-%d %H:%M", format!("{date} {minutes}"));
    let (Ok(time), false) = (read, text.contains(' ')) else {
        reader.report(wrong("expected YYYY-MM-DDTHH:MM", "write it like 2026-11-27T09:00".to_owned()));
        return None;
    };
    if seconds.chars().any(|c| c != '0' && c != '.') {
        reader.report(
            Finding::new(&codes::SC105, text.span, "a send time has no seconds")
                .label("the contract's form ends with the minute")
                .help(format!("write {}", time.strftime("%Y-%m-%dT%H:%M")))
                .suggest(text.span, time.strftime("%Y-%m-%dT%H:%M").to_string()),
        );
        return None;
    }
    Some((time, suffix))
}

fn is_date(text: &str) -> bool {
    jiff::civil::Date::strptime("%Y-%m-%d", text).is_ok()
}

fn no_offset(text: &At<String>, suffix: &str, zone: Option<&At<TimeZone>>) -> Finding {
    let finding =
        Finding::new(&codes::SC105, text.span, format!("a send time has no offset, but `{suffix}` follows this one"))
            .label("the contract's form cannot carry it");
    match zone {
        Some(zone) => finding.related(zone.span, "this says the zone already").help(format!("leave out `{suffix}`")),
        None => finding.help("leave the offset out and name the zone with `time_zone: Europe/Paris`"),
    }
}

/// The names of all zones.
static NAMES: LazyLock<Vec<String>> =
    LazyLock::new(|| jiff::tz::db().available().map(|name| name.to_string()).collect());

fn find_zone(name: &At<String>, reader: &mut Reader) -> Option<TimeZone> {
    if let Ok(zone) = TimeZone::get(name)
        && zone.iana_name().is_some_and(|iana| iana == name.value)
    {
        return Some(zone);
    }
    let finding =
        Finding::new(&codes::SC106, name.span, format!("`{name}` is not a time zone")).label("expected an IANA name");
    let contract = vocabulary::iana(name);
    let near =
        if contract == name.as_str() { text::nearest(name, NAMES.iter().map(String::as_str)) } else { Some(contract) };
    reader.report(match near {
        Some(near) => finding.help(format!("did you mean `{near}`?")).suggest(name.span, near),
        None => finding.help("use a name such as Europe/Paris, America/New_York or UTC"),
    });
    None
}

impl JsonSchema for Schedule {
    fn schema_name() -> Cow<'static, str> {
        "Schedule".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut object =
            ObjectSchema::new(" When it is sent. Either `scheduled_time` or `local_scheduled_time` is needed.");
        object.field::<Option<String>>("scheduled_time", " The time, as 2026-11-27T09:00, in `time_zone`.", generator);
        object.field::<Option<String>>(
            "time_zone",
            " The IANA name of the time's zone. UTC where it is left out.",
            generator,
        );
        object.field::<Option<String>>(
            "local_scheduled_time",
            " The time in each device's own zone. The contract does not describe it.",
            generator,
        );
        object.finish(false)
    }
}

impl Schedule {
    /// The clock time of this send in another zone; for a send in each device's own zone the time itself.
    pub fn clock_in(&self, zone: &TimeZone) -> DateTime {
        match self.when {
            When::At(instant) => zone.to_datetime(instant),
            When::EachZone(time) => time,
        }
    }

    pub fn span(&self) -> Span {
        self.written.span
    }
}
