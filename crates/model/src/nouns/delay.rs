use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use crate::codes;
use crate::finding::Finding;
use crate::node::{Decode, Node, Plain, Reader, Style, Tree, resolve};

/// A length of time in whole seconds, written `90s`, `15m`, `1h30m`, `2d`, `1w`, or as a bare number of seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Delay(pub i64);

const UNITS: [(char, i64, &str); 5] =
    [('w', 604_800, "week"), ('d', 86_400, "day"), ('h', 3_600, "hour"), ('m', 60, "minute"), ('s', 1, "second")];

impl Delay {
    /// Parses `1h30m`. Units go from large to small, each at most once.
    pub fn parse(text: &str) -> Option<Self> {
        let mut rest = text;
        let mut units = UNITS.iter();
        let mut total = 0_i64;
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit())?;
            let number: i64 = rest[..digits].parse().ok()?;
            let unit = rest[digits..].chars().next()?;
            let (_, seconds, _) = units.find(|(name, ..)| *name == unit)?;
            total = total.checked_add(number.checked_mul(*seconds)?)?;
            rest = &rest[digits + 1..];
        }
        (!text.is_empty()).then_some(Self(total))
    }

    /// Returns the delay as people write it: `1h30m`. A delay that is not positive has no such form and is written in seconds.
    pub fn written(self) -> String {
        if self.0 <= 0 {
            return self.0.to_string();
        }
        let mut left = self.0;
        let mut out = String::new();
        for (unit, seconds, _) in UNITS {
            let number = left / seconds;
            left %= seconds;
            if number > 0 {
                out.push_str(&format!("{number}{unit}"));
            }
        }
        out
    }
}

/// In words: `1 hour 30 minutes`.
impl fmt::Display for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 <= 0 {
            return write!(f, "{} seconds", self.0);
        }
        let mut left = self.0;
        let mut words = Vec::new();
        for (_, seconds, noun) in UNITS {
            let number = left / seconds;
            left %= seconds;
            if number > 0 {
                words.push(crate::text::count(number as usize, noun));
            }
        }
        f.write_str(&words.join(" "))
    }
}

impl Decode for Delay {
    const WHAT: &'static str = "a duration such as 90s, 15m, 1h30m or 2d";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let Tree::Scalar(scalar) = &node.tree else {
            reader.unexpected(node, Self::WHAT);
            return None;
        };
        let bare = match resolve(&scalar.text) {
            Plain::Integer(seconds) if scalar.style != Style::Quoted => Some(Self(seconds)),
            _ => None,
        };
        let read = if reader.is_wire() { bare } else { bare.or_else(|| Self::parse(&scalar.text)) };
        if read.is_none() {
            let finding = Finding::new(&codes::YM206, node.span, format!("`{}` is not a duration", scalar.text));
            reader.report(match reader.is_wire() {
                true => finding.label("a number of seconds").help("write a whole number of seconds, without quotes"),
                false => finding
                    .label("a number and a unit")
                    .help("write a duration such as 90s, 15m, 1h30m, 2d or 1w, or a number of seconds without quotes"),
            });
        }
        read
    }
}

impl JsonSchema for Delay {
    fn schema_name() -> Cow<'static, str> {
        "Delay".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A duration: 90s, 15m, 1h30m, 2d, 1w, or a number of seconds.",
            "anyOf": [
                { "type": "integer", "x-words": "a number of seconds" },
                { "type": "string", "x-words": "a duration such as `90s`, `10m` or `1d`", "pattern": "^(\\d+w)?(\\d+d)?(\\d+h)?(\\d+m)?(\\d+s)?$", "minLength": 2 },
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_read_and_speak() {
        for (text, seconds, words) in [
            ("90s", 90, "1 minute 30 seconds"),
            ("1h30m", 5_400, "1 hour 30 minutes"),
            ("2d", 172_800, "2 days"),
            ("1w1d", 691_200, "1 week 1 day"),
        ] {
            assert_eq!(Delay::parse(text), Some(Delay(seconds)));
            assert_eq!(Delay(seconds).to_string(), words);
            assert_eq!(Delay::parse(&Delay(seconds).written()), Some(Delay(seconds)));
        }
        for wrong in ["", "h", "1", "1x", "1m1h", "1h1h", "-1h", "99999999999999999999s", "9999999999999999w"] {
            assert_eq!(Delay::parse(wrong), None, "{wrong}");
        }
    }
}
