//! Times of day.

use std::borrow::Cow;
use std::fmt;

use jiff::civil::Time;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use super::clock::Written;
use crate::codes;
use crate::finding::Finding;
use crate::node::{At, Decode, Node, Reader};
use crate::text;

/// A time of day with seconds: `09:00` or `09:00:00`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeOfDay(pub Time);

/// The last time of a day.
pub const LAST: Time = Time::constant(23, 59, 59, 0);

impl TimeOfDay {
    /// Parses `09:00` and `09:00:00`.
    fn parse(text: &str) -> Option<Self> {
        let form = match text.len() {
            5 => "%H:%M",
            8 => "%H:%M:%S",
            _ => return None,
        };
        // A leap second is none of a day's seconds.
        let read = Time::strptime(form, text).ok().filter(|_| !text.ends_with(":60"));
        read.filter(|read| read.strftime(form).to_string() == text).map(Self)
    }

    /// Returns the time that a wrong text probably means.
    fn meant(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase().replace(['.', ' '], "");
        if text.starts_with("24:00") {
            return Some(Self(LAST));
        }
        let (clock, afternoon) = match (text.strip_suffix("am"), text.strip_suffix("pm")) {
            (Some(clock), _) => (clock, Some(false)),
            (_, Some(clock)) => (clock, Some(true)),
            (None, None) => (text.trim_end_matches('h').trim_end_matches('z'), None),
        };
        let (hour, minute) = match clock.split_once(':') {
            Some((hour, rest)) => (hour, rest.split(':').next().unwrap_or_default()),
            None if clock.len() == 4 => clock.split_at_checked(2)?,
            None => (clock, "0"),
        };
        let number = |text: &str| text.parse::<i8>().ok().filter(|number| *number >= 0 && text.len() <= 2);
        let (hour, minute) = (number(hour)?, number(minute)?);
        let hour = match afternoon {
            Some(_) if !(1..=12).contains(&hour) => return None,
            Some(afternoon) => hour % 12 + if afternoon { 12 } else { 0 },
            None => hour,
        };
        Time::new(hour, minute, 0, 0).ok().map(Self)
    }
}

/// `09:00`, with seconds if there are any.
impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = if self.0.second() == 0 { "%H:%M" } else { "%H:%M:%S" };
        write!(f, "{}", self.0.strftime(form))
    }
}

impl Decode for TimeOfDay {
    const WHAT: &'static str = "a time of day such as 09:00";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let At { value: Written(written), span } = At::<Written>::decode(node, reader)?;
        let read = Self::parse(&written);
        if read.is_none() {
            let message = format!("`{}` is not a time of day", text::short(&written, 40));
            let finding = Finding::new(&codes::SC106, span, message).label("expected HH:MM or HH:MM:SS");
            reader.report(match Self::meant(&written) {
                Some(meant) => finding.help(format!("write {meant}")).suggest(span, meant.to_string()),
                None => finding.help("write a time from 00:00 to 23:59:59, such as 09:00"),
            });
        }
        read
    }
}

impl Serialize for TimeOfDay {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0.strftime("%H:%M:%S"))
    }
}

impl JsonSchema for TimeOfDay {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "TimeOfDay".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "x-words": "a time of day such as `09:00`",
            "pattern": "^([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d)?$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_day_are_read_and_others_are_guessed() {
        for (text, read, meant) in [
            ("09:00", Some("09:00"), Some("09:00")),
            ("21:30:15", Some("21:30:15"), Some("21:30")),
            ("23:59:59", Some("23:59:59"), Some("23:59")),
            ("9:00", None, Some("09:00")),
            ("0900", None, Some("09:00")),
            ("9", None, Some("09:00")),
            ("9am", None, Some("09:00")),
            ("9 p.m.", None, Some("21:00")),
            ("12:30am", None, Some("00:30")),
            ("24:00", None, Some("23:59:59")),
            ("24:00:00", None, Some("23:59:59")),
            ("23:59:60", None, Some("23:59")),
            ("25:00", None, None),
            ("13pm", None, None),
            ("09:60", None, None),
            ("-9:00", None, None),
            ("noon", None, None),
            ("é9:00", None, None),
            ("", None, None),
        ] {
            let shown = |time: Option<TimeOfDay>| time.map(|time| time.to_string());
            assert_eq!(shown(TimeOfDay::parse(text)).as_deref(), read, "{text}");
            assert_eq!(shown(TimeOfDay::meant(text)).as_deref(), meant, "{text}");
        }
    }
}
