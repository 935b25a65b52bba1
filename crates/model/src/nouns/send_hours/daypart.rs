//! Dayparts: the days and times at which a pipeline may send, as they are written.

use std::borrow::Cow;
use std::collections::BTreeSet;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use super::{AllowedTime, DAYS, SendHours, Week};
use crate::codes;
use crate::finding::Finding;
use crate::node::{At, Decode, Node, Reader, shape, words};
use crate::nouns::time_of_day::{LAST, TimeOfDay};
use crate::source::Span;
use crate::text;

words! {
    /// The clock of the hours of a pipeline.
    HoursClock, "\"local\" or \"utc\"" {
        /// The local time of each recipient.
        Local = "local",
        Utc = "utc",
    }
}

words! {
    /// The effect on a message that is due at another time.
    MissBehavior, "\"wait\" or \"cancel\"" {
        /// It is sent at the next allowed time.
        Wait = "wait",
        /// It is not sent.
        Cancel = "cancel",
    }
}

/// A day of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DayOfWeek(usize);

/// The days, in their order.
const NAMES: [&str; DAYS] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

impl DayOfWeek {
    /// Returns a day by its number, from 0 for Monday.
    pub(super) fn at(day: usize) -> Self {
        Self(day)
    }

    pub(super) fn name(self) -> &'static str {
        NAMES[self.0]
    }
}

impl Decode for DayOfWeek {
    const WHAT: &'static str = "a day such as monday";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let written = reader.text(node)?;
        let lower = written.to_lowercase();
        if let Some(day) = NAMES.iter().position(|name| *name == lower) {
            return Some(Self(day));
        }
        let finding = Finding::new(&codes::YM206, node.span, format!("`{}` is not a day", text::short(written, 40)))
            .label("expected monday to sunday");
        let short = lower.trim_end_matches('.');
        let whole = NAMES.into_iter().find(|name| short.len() >= 2 && name.starts_with(short));
        reader.report(match (whole, text::nearest(&lower, NAMES)) {
            (Some(whole), _) => finding.help(format!("write {whole}")).suggest(node.span, whole),
            (None, Some(near)) => finding.help(format!("did you mean {near}?")).suggest(node.span, near),
            (None, None) => finding.help(format!("write {}", text::any_of(&NAMES))),
        });
        None
    }
}

impl Serialize for DayOfWeek {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.name().serialize(serializer)
    }
}

impl JsonSchema for DayOfWeek {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "DayOfWeek".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "enum": NAMES })
    }
}

shape! {
    /// The hours at which a pipeline may send.
    pub struct WrittenHours as "{type: local, miss_behavior: wait, dayparts: [...]}" {
        /// The clock of the hours: `local` is the local time of each recipient, and `utc` is UTC. With `local`, a device without a time
        /// zone gets nothing.
        r#type: HoursClock,
        /// The effect on a message that is due at another time: `wait` sends it at the next allowed time, and `cancel` does not send it.
        miss_behavior: MissBehavior,
        /// The days and times at which messages are sent.
        dayparts: Vec<At<Daypart>>,
    }
}

shape! {
    /// Times on some days of the week.
    pub struct Daypart as "{days_of_week: [monday], allowed_times: [{start: \"09:00\", end: \"21:00\"}]}" {
        /// The days: monday to sunday.
        days_of_week: At<Vec<At<DayOfWeek>>>,
        /// The times on each of these days.
        allowed_times: At<Vec<At<WrittenTime>>>,
    }
}

shape! {
    /// A window with `start` and `end`, or one time with `preferred`.
    pub struct WrittenTime as "{start: \"09:00\", end: \"21:00\"} or {preferred: \"18:00\"}" {
        /// The start of the window.
        start: Option<At<TimeOfDay>>,
        /// The end of the window, which is not part of it. A window ends on the day on which it starts.
        end: Option<At<TimeOfDay>>,
        /// The time at which messages are sent. Those that are due earlier on the day wait for it.
        preferred: Option<At<TimeOfDay>>,
    }
}

fn wrong(span: Span, message: impl Into<String>) -> Finding {
    Finding::new(&codes::PL110, span, message)
}

impl WrittenTime {
    /// Returns the position of its first value, which is shorter than the whole.
    fn place(&self) -> Option<Span> {
        [&self.start, &self.preferred, &self.end].into_iter().flatten().next().map(|time| time.span)
    }

    /// Returns its meaning; reports a wrong one.
    fn read(&self, span: Span, reader: &mut Reader) -> Option<AllowedTime> {
        let (start, end) = match (&self.start, &self.end, &self.preferred) {
            (Some(start), Some(end), None) => (start, end),
            (None, None, Some(at)) => return Some(AllowedTime::Preferred(at.value.0)),
            _ => {
                let message = "an allowed time has `start` and `end`, or `preferred`";
                let finding = wrong(self.place().unwrap_or(span), message).label("neither of the two");
                reader.report(finding.help("write {start: \"09:00\", end: \"21:00\"}, or {preferred: \"18:00\"}"));
                return None;
            }
        };
        if start.value < end.value {
            return Some(AllowedTime::Window { start: start.value.0, end: end.value.0 });
        }
        let (from, to) = (start.value, end.value);
        reader.report(match from == to {
            true => wrong(end.span, format!("the window from {from} to {to} is empty"))
                .label("the same time")
                .help(format!("write a later `end`; for the whole day, write {{start: \"00:00\", end: \"{}\"}}", TimeOfDay(LAST))),
            false => wrong(end.span, format!("the window ends at {to}, before it starts at {from}"))
                .label("before `start`")
                .note("a window ends on the day on which it starts")
                .help(format!(
                    "write two windows: {{start: \"{from}\", end: \"{}\"}}, and on the next day {{start: \"00:00\", end: \"{to}\"}}",
                    TimeOfDay(LAST)
                )),
        });
        None
    }
}

impl Decode for SendHours {
    const WHAT: &'static str = WrittenHours::WHAT;
    const FIELDS: &'static [&'static str] = WrittenHours::FIELDS;

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let WrittenHours { r#type, miss_behavior, dayparts } = WrittenHours::decode(node, reader)?;
        let before = reader.findings.len();
        if dayparts.is_empty() {
            let finding = wrong(reader.place_of(node), "a schedule without dayparts has no time to send");
            reader.report(finding.label("no daypart").help("add a daypart, or remove `schedule`"));
        }
        let mut week: [Vec<(AllowedTime, Span)>; DAYS] = std::array::from_fn(|_| Vec::new());
        for Daypart { days_of_week, allowed_times } in dayparts.iter().map(|daypart| &daypart.value) {
            if days_of_week.is_empty() {
                let finding = wrong(days_of_week.span, "a daypart without days has no time to send").label("no day");
                reader.report(finding.help("write the days, such as [monday, tuesday], or remove the daypart"));
            }
            if allowed_times.is_empty() {
                let finding = wrong(allowed_times.span, "a daypart without times has no time to send").label("no time");
                reader.report(finding.help("write a time, such as [{start: \"09:00\", end: \"21:00\"}]"));
            }
            // A day that is listed twice is listed once.
            let days: BTreeSet<DayOfWeek> = days_of_week.iter().map(|day| day.value).collect();
            for time in allowed_times.iter() {
                let Some(read) = time.read(time.span, reader) else { continue };
                for day in &days {
                    week[day.0].push((read, time.place().unwrap_or(time.span)));
                }
            }
        }
        for (times, day) in week.iter_mut().zip(NAMES) {
            times.sort_unstable_by_key(|(time, _)| time.start());
            for pair in times.windows(2) {
                let [(first, place), (second, span)] = [pair[0], pair[1]];
                // Two times that overlap on several days are reported once.
                let is_known = |known: &Finding| known.at == span && known.code == &codes::PL110;
                if first.overlaps(second) && !reader.findings.since(before).iter().any(is_known) {
                    let finding = wrong(span, format!("{first} and {second} overlap on {day}"));
                    let finding = finding.label("the second one").related(place, "the first one");
                    reader.report(finding.help("write times that do not overlap"));
                }
            }
        }
        let week: Week = week.map(|times| times.into_iter().map(|(time, _)| time).collect());
        (reader.findings.len() == before).then(|| Self::new(r#type, miss_behavior, week))
    }
}

impl Serialize for SendHours {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        fn here<T>(value: T) -> At<T> {
            At::new(value, Span::NONE)
        }
        let time = |time: &AllowedTime| {
            let at = |time| Some(here(TimeOfDay(time)));
            here(match *time {
                AllowedTime::Window { start, end } => WrittenTime { start: at(start), end: at(end), preferred: None },
                AllowedTime::Preferred(time) => WrittenTime { start: None, end: None, preferred: at(time) },
            })
        };
        let daypart = |(days, times): (Vec<usize>, &[AllowedTime])| {
            let days = days.into_iter().map(|day| here(DayOfWeek::at(day))).collect();
            here(Daypart { days_of_week: here(days), allowed_times: here(times.iter().map(time).collect()) })
        };
        let (r#type, miss_behavior) = (self.clock, self.miss);
        WrittenHours { r#type, miss_behavior, dayparts: self.days().map(daypart).collect() }.serialize(serializer)
    }
}

impl JsonSchema for SendHours {
    fn schema_name() -> Cow<'static, str> {
        "SendHours".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        WrittenHours::json_schema(generator)
    }
}
