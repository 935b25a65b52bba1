//! Limits on how often a device gets the messages of a pipeline.

use std::borrow::Cow;
use std::fmt;

use jiff::SignedDuration;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::codes;
use crate::finding::Finding;
use crate::node::{At, Decode, Fields, Node, Reader, shape};
use crate::text;

shape! {
    /// A limit on how often a device gets the messages of a pipeline.
    pub struct Constraint as "a limit such as {rate: {pushes: 1, days: 7}}" {
        /// The number of messages in a time.
        rate: At<Rate>,
    }
}

/// At most so many messages to one device in a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate {
    pub pushes: i64,
    pub period: RatePeriod,
}

/// The time of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RatePeriod {
    Hours(i64),
    Days(i64),
    /// As long as the device exists.
    Lifetime,
}

/// The keys of the period, and the largest value of each.
const PERIODS: [(&str, i64); 3] = [("hours", 72), ("days", 90), ("lifetimes", 1)];
const KEYS: &[&str] = &["pushes", "hours", "days", "lifetimes"];

impl Rate {
    /// The length of the period; `None` if it never ends.
    pub fn length(self) -> Option<SignedDuration> {
        match self.period {
            RatePeriod::Hours(hours) => Some(SignedDuration::from_hours(hours)),
            RatePeriod::Days(days) => Some(SignedDuration::from_hours(days.saturating_mul(24))),
            RatePeriod::Lifetime => None,
        }
    }

    /// Whether it allows every message that another limit allows.
    pub fn covers(self, other: Self) -> bool {
        let is_as_long = match (self.length(), other.length()) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(own), Some(other)) => own <= other,
        };
        is_as_long && other.pushes <= self.pushes
    }

    fn period(self) -> (&'static str, i64) {
        match self.period {
            RatePeriod::Hours(hours) => ("hours", hours),
            RatePeriod::Days(days) => ("days", days),
            RatePeriod::Lifetime => ("lifetimes", 1),
        }
    }
}

/// `at most 1 push in 24 hours`, `at most 2 pushes in 7 days`, `at most 1 push ever`
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |number: i64, noun: &str| text::count(usize::try_from(number).unwrap_or_default(), noun);
        let pushes = match self.pushes {
            1 => "1 push".to_owned(),
            several => format!("{several} pushes"),
        };
        match self.period {
            RatePeriod::Hours(hours) => write!(f, "at most {pushes} in {}", count(hours, "hour")),
            RatePeriod::Days(days) => write!(f, "at most {pushes} in {}", count(days, "day")),
            RatePeriod::Lifetime => write!(f, "at most {pushes} ever"),
        }
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (key, number) = self.period();
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("pushes", &self.pushes)?;
        map.serialize_entry(key, &number)?;
        map.end()
    }
}

impl Decode for Rate {
    const WHAT: &'static str = "{pushes: <number>}, and hours (1 to 72), days (1 to 90) or lifetimes (1)";
    const FIELDS: &'static [&'static str] = KEYS;

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let fields = Fields::of(node, Self::WHAT, reader)?;
        let pushes: Option<At<i64>> = fields.take("pushes", reader);
        let mut periods = Vec::new();
        let mut is_read = true;
        for (key, most) in PERIODS {
            match fields.take::<Option<At<i64>>>(key, reader) {
                Some(Some(number)) => periods.push((key, most, number)),
                Some(None) => {}
                None => is_read = false,
            }
        }
        fields.close(KEYS, reader);
        let pushes = pushes?;
        let before = reader.findings.len();
        if pushes.value < 1 {
            let message = format!("a limit of {} pushes cannot be kept: it is at least 1", pushes.value);
            let finding = Finding::new(&codes::PL106, pushes.span, message).label("at least 1");
            reader.report(finding.help("to send nothing, write `enabled: false`"));
        }
        for (key, most, number) in periods.iter().filter(|(_, most, number)| !(1..=*most).contains(&number.value)) {
            let range = if *most == 1 { "1".to_owned() } else { format!("1 to {most}") };
            let message = format!("`{key}` of a limit is {range}, not {}", number.value);
            reader.report(Finding::new(&codes::PL106, number.span, message).label(format!("expected {range}")));
        }
        if is_read && periods.len() != 1 {
            let message = match periods.len() {
                0 => "a limit needs a time".to_owned(),
                _ => "a limit has one time only".to_owned(),
            };
            let finding = Finding::new(&codes::PL106, reader.place_of(node), message);
            reader.report(finding.label("one of hours, days or lifetimes").help("write, for example, `days: 1`"));
        }
        if reader.findings.len() > before || !is_read {
            return None;
        }
        let (key, _, number) = periods.first()?;
        let period = match *key {
            "hours" => RatePeriod::Hours(number.value),
            "days" => RatePeriod::Days(number.value),
            _ => RatePeriod::Lifetime,
        };
        Some(Self { pushes: pushes.value, period })
    }
}

impl JsonSchema for Rate {
    fn schema_name() -> Cow<'static, str> {
        "Rate".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let whole =
            |most: i64, words: &str| json!({ "type": "integer", "minimum": 1, "maximum": most, "description": words });
        json_schema!({
            "description": "At most so many messages to one device in a time.",
            "type": "object",
            "properties": {
                "pushes": { "type": "integer", "minimum": 1, "description": "The largest number of messages." },
                "hours": whole(72, "The time in hours, 1 to 72."),
                "days": whole(90, "The time in days, 1 to 90."),
                "lifetimes": whole(1, "1: as long as the device exists."),
            },
            "required": ["pushes"],
            "oneOf": [{ "required": ["hours"] }, { "required": ["days"] }, { "required": ["lifetimes"] }],
            "additionalProperties": false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_said_in_words() {
        for (pushes, period, words) in [
            (1, RatePeriod::Days(1), "at most 1 push in 1 day"),
            (3, RatePeriod::Hours(12), "at most 3 pushes in 12 hours"),
            (1, RatePeriod::Lifetime, "at most 1 push ever"),
        ] {
            assert_eq!(Rate { pushes, period }.to_string(), words);
        }
    }

    #[test]
    fn a_rate_covers_one_with_fewer_pushes_in_at_least_its_time() {
        let rate = |pushes, period| Rate { pushes, period };
        for (one, other, covers) in [
            (rate(1, RatePeriod::Days(1)), rate(1, RatePeriod::Hours(24)), true),
            (rate(2, RatePeriod::Days(1)), rate(1, RatePeriod::Days(7)), true),
            (rate(1, RatePeriod::Days(7)), rate(1, RatePeriod::Days(1)), false),
            (rate(1, RatePeriod::Days(1)), rate(2, RatePeriod::Days(7)), false),
            (rate(1, RatePeriod::Days(90)), rate(1, RatePeriod::Lifetime), true),
            (rate(1, RatePeriod::Lifetime), rate(1, RatePeriod::Days(90)), false),
        ] {
            assert_eq!(one.covers(other), covers, "{one} covers {other}");
        }
    }
}
