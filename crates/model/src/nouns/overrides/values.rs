//! The values of overrides that are neither plain texts nor maps.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use crate::codes;
use crate::finding::Finding;
use crate::node::{At, Decode, Node, Plain, Reader, Style, Tree, resolve, words};
use crate::nouns::clock;
use crate::text;

words! {
    /// How much an iPhone interrupts its user.
    InterruptionLevel, "passive, active, time-sensitive or critical" {
        /// Added to the list, without sound or light.
        Passive = "passive",
        /// Shown at once.
        Active = "active",
        /// Shown at once, also during a focus.
        TimeSensitive = "time-sensitive",
        /// Shown at once with sound, also if the device is muted.
        Critical = "critical",
    }
}

words! {
    /// How soon a sleeping Android device gets the notification.
    DeliveryPriority, "high or normal" {
        /// At once.
        High = "high",
        /// When the device wakes up.
        Normal = "normal",
    }
}

words! {
    /// What an expanded notification shows.
    StyleType, "big_text, big_picture or inbox" {
        /// A long text.
        BigText = "big_text",
        /// An image.
        BigPicture = "big_picture",
        /// Several lines.
        Inbox = "inbox",
    }
}

/// Declares a whole number of which only some values are allowed.
macro_rules! whole {
    ($(#[doc = $doc:literal])* $name:ident, $what:literal, $allowed:pat, $schema:tt) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl Decode for $name {
            const WHAT: &'static str = $what;

            fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
                let number = i64::decode(node, reader)?;
                if matches!(number, $allowed) {
                    return Some(Self(number));
                }
                reader.report(not_allowed(node, Self::WHAT));
                None
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let mut schema = json_schema!($schema);
                schema.insert("type".into(), "integer".into());
                schema.insert("x-words".into(), Self::WHAT.into());
                schema
            }
        }
    };
}

whole! {
    /// The priority of a push to iOS: at once, or when it saves power.
    IosPriority, "5 or 10", 5 | 10, { "enum": [5, 10] }
}

whole! {
    /// The priority of a notification among those of an Android device.
    AndroidPriority, "a whole number from -2 to 2", -2..=2, { "minimum": -2, "maximum": 2 }
}

whole! {
    /// What a locked Android device shows: nothing, only the app, or everything.
    Visibility, "a whole number from -1 to 1", -1..=1, { "minimum": -1, "maximum": 1 }
}

whole! {
    /// How long the service tries to deliver a notification.
    TimeToLive, "a whole number of seconds", 0.., { "minimum": 0 }
}

fn not_allowed(node: &Node, expected: &str) -> Finding {
    let written = match &node.tree {
        Tree::Scalar(scalar) => text::short(&scalar.text, 40),
        _ => node.what().to_owned(),
    };
    Finding::new(&codes::YM206, node.span, format!("`{written}` is not allowed here"))
        .label(format!("expected {expected}"))
}

/// The number on an app's icon: a number, `auto`, or a step such as `+1`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Badge {
    Number(At<i64>),
    /// `auto`, a step, or a text with a placeholder.
    Text(At<String>),
}

impl Badge {
    /// Replaces the placeholder in it. Digits become a number.
    pub(super) fn fill(&mut self, change: &dyn Fn(&str) -> String) {
        let Self::Text(text) = self else { return };
        text.value = change(text);
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        if let Some(number) = text.parse().ok().filter(|_| digits) {
            *self = Self::Number(At::new(number, text.span));
        }
    }

    /// Whether a text is a badge, or can become one.
    fn is_text(text: &str) -> bool {
        let step = text.strip_prefix(['+', '-']).filter(|digits| !digits.is_empty() && digits.len() <= 9);
        text == "auto" || text.contains("{{") || step.is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
    }
}

impl Decode for Badge {
    const WHAT: &'static str = "a whole number, `auto`, or a step such as \"+1\"";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let Tree::Scalar(scalar) = &node.tree else {
            reader.unexpected(node, Self::WHAT);
            return None;
        };
        let signed = scalar.text.starts_with(['+', '-']);
        match (scalar.style, resolve(&scalar.text)) {
            (Style::Plain | Style::Filled, Plain::Integer(number)) if !signed => {
                return Some(Self::Number(At::new(number, node.span)));
            }
            // Without quotes, other readers of the file see the number 1.
            (Style::Plain, Plain::Integer(_)) => drop(reader.text(node)),
            (Style::Plain, Plain::Text) | (Style::Quoted | Style::Filled, _) if Self::is_text(&scalar.text) => {
                return Some(Self::Text(At::new(scalar.text.clone(), node.span)));
            }
            _ => reader.report(not_allowed(node, Self::WHAT)),
        }
        None
    }
}

impl JsonSchema for Badge {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Badge".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "type": "integer", "minimum": 0 },
            { "const": "auto" },
            { "type": "string", "x-words": "a step such as `\"+1\"`", "pattern": "^[+-][0-9]{1,9}$|\\{\\{" },
        ] })
    }
}

/// When a notification expires that was not delivered: after a number of seconds, or at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    Seconds(i64),
    At(Timestamp),
}

impl Decode for Expiry {
    const WHAT: &'static str = "a number of seconds, or a time in UTC such as 2026-11-27T09:00:00";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let Tree::Scalar(scalar) = &node.tree else {
            reader.unexpected(node, Self::WHAT);
            return None;
        };
        if let Plain::Integer(number) = resolve(&scalar.text) {
            let seconds = i64::decode(node, reader)?;
            if number < 0 {
                reader.report(not_allowed(node, Self::WHAT));
                return None;
            }
            return Some(Self::Seconds(seconds));
        }
        let time = clock::utc(reader.text(node)?);
        if time.is_none() {
            reader.report(not_allowed(node, Self::WHAT));
        }
        time.map(Self::At)
    }
}

impl Serialize for Expiry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Seconds(seconds) => serializer.serialize_i64(*seconds),
            Self::At(time) => serializer.collect_str(&TimeZone::UTC.to_datetime(*time).strftime("%Y-%m-%dT%H:%M:%S")),
        }
    }
}

impl JsonSchema for Expiry {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Expiry".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "type": "integer", "minimum": 0, "x-words": "a number of seconds" },
            { "type": "string", "x-words": "a time in UTC such as `2026-11-27T09:00:00`", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}" },
        ] })
    }
}

/// The place of a notification in the summary of an iPhone: from 0 to 1, the most relevant first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relevance(pub f64);

impl Decode for Relevance {
    const WHAT: &'static str = "a number from 0 to 1";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let number = match &node.tree {
            Tree::Scalar(scalar) if scalar.style != Style::Quoted => match resolve(&scalar.text) {
                Plain::Integer(_) | Plain::Float => scalar.text.parse::<f64>().ok(),
                _ => None,
            },
            _ => None,
        };
        let Some(number) = number else {
            reader.unexpected(node, Self::WHAT);
            return None;
        };
        if !(0.0..=1.0).contains(&number) {
            reader.report(not_allowed(node, Self::WHAT));
            return None;
        }
        Some(Self(number))
    }
}

impl Serialize for Relevance {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // JSON has one spelling of 1: services do not keep the point of 1.0.
        if self.0 == 0.0 || self.0 == 1.0 {
            return serializer.serialize_u8(u8::from(self.0 == 1.0));
        }
        serializer.serialize_f64(self.0)
    }
}

impl JsonSchema for Relevance {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Relevance".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "maximum": 1, "x-words": "a number from 0 to 1" })
    }
}

/// A colour, `#rrggbb`. Upper and lower case mean the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Color(pub String);

impl Decode for Color {
    const WHAT: &'static str = "a colour such as \"#ff8800\", in quotes";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let word = reader.text(node)?;
        let digits = word.strip_prefix('#').filter(|digits| digits.len() == 6);
        if digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit())) {
            return Some(Self(word.to_ascii_lowercase()));
        }
        reader.report(not_allowed(node, Self::WHAT));
        None
    }
}

impl JsonSchema for Color {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Color".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "x-words": "a colour such as `\"#ff8800\"`", "pattern": "^#[0-9A-Fa-f]{6}$" })
    }
}
