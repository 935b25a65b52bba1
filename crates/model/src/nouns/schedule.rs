//! Send times. The contract's form is a date, a `T` and four digits, in UTC; authors use their own time zone.

use std::borrow::Cow;

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Timestamp, ToSpan};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::json;

use super::clock::{Written, authored, clock_time};
use super::zone::Zone;
use crate::codes;
use crate::finding::Finding;
use crate::node::{At, Decode, Fields, Node, ObjectSchema, Reader};
use crate::source::Span;

/// A send time. Two schedules are equal if they are the same instant, in whatever zone they were written.
#[derive(Clone, Debug)]
pub struct Schedule {
    pub when: When,
    /// The time as written, with its position.
    pub written: At<DateTime>,
    /// The zone that it was written in; UTC by default.
    pub zone: TimeZone,
}

/// An instant, or the same local time in each device's own zone.
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

/// Returns the contract's form, which ends with the minute. A time with seconds has the form of newer servers, which
/// includes them.
fn canonical(time: DateTime) -> String {
    let form = if time.second() == 0 { "%Y-%m-%dT%H%M" } else { "%Y-%m-%dT%H:%M:%S" };
    time.strftime(form).to_string()
}

/// Parses a time in a spec: the inverse of how a schedule is serialized.
pub fn of_spec(text: &str) -> Option<DateTime> {
    plain(text).or_else(|| read(text))
}

/// Parses a time in the form of a spec, by its digits alone.
fn plain(text: &str) -> Option<DateTime> {
    let text = text.as_bytes();
    let number = |range: std::ops::Range<usize>| {
        let digits = text.get(range)?.iter();
        digits
            .map(|byte| byte.is_ascii_digit().then(|| i16::from(byte - b'0')))
            .try_fold(0, |all, one| Some(10 * all + one?))
    };
    let small = |range| i8::try_from(number(range)?).ok();
    let is_plain = text.len() == 15 && (text[4], text[7], text[10]) == (b'-', b'-', b'T');
    let (hour, minute) = (small(11..13)?, small(13..15)?);
    let time = DateTime::new(number(0..4)?, small(5..7)?, small(8..10)?, hour, minute, 0, 0);
    time.ok().filter(|_| is_plain)
}

fn read(text: &str) -> Option<DateTime> {
    ["%Y-%m-%dT%H%M", "%Y-%m-%dT%H:%M:%S"].iter().find_map(|form| DateTime::strptime(form, text).ok())
}

impl Serialize for Schedule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (key, time) = match self.when {
            When::At(instant) => ("scheduled_time", TimeZone::UTC.to_datetime(instant)),
            When::EachZone(time) => ("local_scheduled_time", time),
        };
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(key, &canonical(time))?;
        map.end()
    }
}

impl Decode for Schedule {
    const WHAT: &'static str = "a schedule such as {scheduled_time: 2026-11-27T09:00, time_zone: Europe/Paris}";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let fields = Fields::of(node, Self::WHAT, reader)?.owning(&["time_zone"]);
        fields.close(Self::KEYS, reader);
        let local = fields.entry("local_scheduled_time");
        let Some(local) = local else {
            let time = fields.take::<At<Written>>("scheduled_time", reader);
            let zone = fields.take_own::<Option<At<Zone>>>("time_zone", reader);
            let time = time?;
            let Some(zone) = zone else {
                // The zone was reported; the time may be wrong as well.
                clock_time(&time, reader);
                return None;
            };
            return instant(&time, zone.map(|zone| At::new(zone.value.0, zone.span)), reader);
        };
        for other in ["scheduled_time", "time_zone"].iter().filter_map(|key| fields.entry(key)) {
            reader.report(
                Finding::new(
                    &codes::YM201,
                    other.key.span,
                    format!("`{}` cannot be combined with `{}`", other.key, local.key),
                )
                .label("each device's own zone is used")
                .related(local.key.span, "the local time is set here")
                .help(format!("remove it, or write `{}: null` if it comes from `defaults`", other.key)),
            );
        }
        let text = reader.value::<At<Written>>(local)?;
        let (time, suffix) = clock_time(&text, reader)?;
        if !suffix.is_empty() {
            reader.report(
                no_offset(&text, suffix)
                    .label("each device's own zone is used")
                    .help(format!("remove `{suffix}`, or use `scheduled_time` for one moment everywhere")),
            );
            return None;
        }
        Some(Self { when: When::EachZone(time), written: At::new(time, text.span), zone: TimeZone::UTC })
    }
}

/// Returns the instant of a local time in a zone. A time that does not exist there, or exists twice, is reported.
pub fn instant(text: &At<Written>, zone: Option<At<TimeZone>>, reader: &mut Reader) -> Option<Schedule> {
    let (time, suffix) = clock_time(text, reader)?;
    let utc = suffix == "Z";
    if !suffix.is_empty() && (!utc || zone.as_ref().is_some_and(|zone| zone.value != TimeZone::UTC)) {
        reader.report(no_offset_at(time, text, suffix, zone.as_ref(), reader.is_wire()));
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
                .label("clocks skip this time")
                .note(format!("clocks go forward by {} that night", super::delay::Delay(skipped)))
                .help(format!("write {} for the moment after the change", authored(later)))
                .suggest(text.span, authored(later)),
            );
            return None;
        }
        AmbiguousOffset::Fold { before, after } => {
            let as_utc =
                |offset: jiff::tz::Offset| offset.to_timestamp(time).map(|at| authored(TimeZone::UTC.to_datetime(at)));
            let finding = Finding::new(
                &codes::SC103,
                text.span,
                format!("{} happens twice on that day in {name}", time.strftime("%H:%M")),
            )
            .label("which of the two?")
            .note("clocks go back that night");
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
            Finding::new(&codes::SC106, text.span, "the time is outside the range of the calendar").label("too far"),
        );
        return None;
    };
    Some(Schedule { when: When::At(at), written: At::new(time, text.span), zone })
}

fn no_offset(text: &At<Written>, suffix: &str) -> Finding {
    Finding::new(&codes::SC105, text.span, format!("a send time has no offset, but this one ends with `{suffix}`"))
        .label("the API takes times without an offset")
}

/// Returns the finding for an offset after a single send time. Its help shows how to write that moment without an offset.
fn no_offset_at(time: DateTime, text: &At<Written>, suffix: &str, zone: Option<&At<TimeZone>>, wire: bool) -> Finding {
    let finding = no_offset(text, suffix);
    if let Some(zone) = zone {
        return finding.related(zone.span, "the zone is already set here").help(format!("remove `{suffix}`"));
    }
    match format!("{}{suffix}", authored(time)).parse::<Timestamp>() {
        Ok(at) => {
            let utc = authored(TimeZone::UTC.to_datetime(at));
            let help = match wire {
                true => format!("write {utc}, the same moment in UTC"),
                false => {
                    format!("write {utc}, the same moment in UTC; or remove `{suffix}` and set `time_zone`")
                }
            };
            finding.help(help).suggest(text.span, utc)
        }
        Err(_) if wire => finding.help("write the time in UTC, without an offset"),
        Err(_) => finding.help("remove the offset and set the zone with `time_zone: Europe/Paris`"),
    }
}

impl JsonSchema for Schedule {
    fn schema_name() -> Cow<'static, str> {
        "Schedule".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut object =
            ObjectSchema::new(" When it is sent. Either `scheduled_time` or `local_scheduled_time` is required.");
        object.field::<Option<String>>(
            "scheduled_time",
            " The local time in `time_zone`, such as \
            2026-11-27T09:00.",
            generator,
        );
        object.field::<Option<String>>("time_zone", " The IANA name of the time zone [default: UTC].", generator);
        object.field::<Option<String>>(
            "local_scheduled_time",
            " The time on each recipient's clock, such as 2026-11-27T09:00, instead of `scheduled_time`. Devices without \
            a time zone get nothing.",
            generator,
        );
        let mut schema = object.finish(false);
        let forms = json!([
            { "required": ["scheduled_time"], "properties": { "local_scheduled_time": false } },
            { "required": ["local_scheduled_time"], "properties": { "scheduled_time": false, "time_zone": false } },
        ]);
        schema.insert("oneOf".into(), forms);
        schema
    }
}

impl Schedule {
    /// Returns the local time of this send in another zone; for a send in each device's own zone, the time itself.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_the_same_by_its_digits() {
        for text in ["2031-02-28T2359", "1999-12-01T0007"] {
            assert_eq!(plain(text), read(text), "{text}");
            assert!(plain(text).is_some(), "{text}");
        }
        for text in [
            "2031-02-30T0900",
            "2031-02-28T2460",
            "2031/02/28T0900",
            "2031-02-28T09:00:00",
            "2031-02-28T09000",
            "-31-02-28T0900",
            "",
        ] {
            assert_eq!(plain(text), None, "{text}");
        }
        assert_eq!(of_spec("2031-02-28T09:00:00"), of_spec("2031-02-28T0900"));
    }
}
