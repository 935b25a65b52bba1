//! Triggers on something that did not happen for some time.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

use super::trigger::Trigger;
use crate::codes;
use crate::finding::Finding;
use crate::node::{At, Decode, Node, Reader, shape, words};

words! {
    /// An event that a historical trigger counts.
    HistoricalEvent, "\"open\"" {
        /// The app is opened.
        Open = "open",
    }
}

shape! {
    /// Inactivity: the app is not opened for so many days.
    pub struct HistoricalTrigger as "{event: open, equals: 0, days: 30}" {
        /// The event that is counted: `open`.
        event: HistoricalEvent,
        /// The number of these events: 0.
        equals: At<i64>,
        /// The time in days, 1 to 90.
        days: At<i64>,
    }
}

/// The largest number of days.
const MOST_DAYS: i64 = 90;

/// The inactivity that triggers a pipeline: [`Trigger::Inactive`], as it is written in `historical_trigger`.
#[derive(Clone, Debug, PartialEq)]
pub struct Inactivity(pub Trigger);

impl Inactivity {
    /// The number of days.
    pub fn days(&self) -> i64 {
        match self.0 {
            Trigger::Inactive { days } => days,
            _ => MOST_DAYS,
        }
    }
}

impl Decode for Inactivity {
    const WHAT: &'static str = HistoricalTrigger::WHAT;
    const FIELDS: &'static [&'static str] = HistoricalTrigger::FIELDS;

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let HistoricalTrigger { event: HistoricalEvent::Open, equals, days } = HistoricalTrigger::decode(node, reader)?;
        if equals.value != 0 {
            let message = format!("`equals` of a historical trigger is 0, not {}", equals.value);
            let finding = Finding::new(&codes::PL113, equals.span, message).label("expected 0");
            reader.report(finding.note("it triggers when the app is not opened").suggest(equals.span, "0"));
        }
        let is_in_range = (1..=MOST_DAYS).contains(&days.value);
        if !is_in_range {
            let message = format!("`days` of a historical trigger is 1 to {MOST_DAYS}, not {}", days.value);
            let finding = Finding::new(&codes::PL113, days.span, message);
            reader.report(finding.label(format!("expected 1 to {MOST_DAYS}")));
        }
        (equals.value == 0 && is_in_range).then_some(Self(Trigger::Inactive { days: days.value }))
    }
}

impl Serialize for Inactivity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl JsonSchema for Inactivity {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "HistoricalTrigger".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = HistoricalTrigger::json_schema(generator);
        if let Some(fields) = schema.get_mut("properties") {
            fields["equals"]["const"] = 0.into();
            fields["days"]["minimum"] = 1.into();
            fields["days"]["maximum"] = MOST_DAYS.into();
        }
        schema
    }
}
