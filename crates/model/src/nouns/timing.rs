//! When a pipeline sends after an event.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::delay::Delay;
use super::send_hours::SendHours;
use crate::node::{At, Decode, Node, Reader, shape};

/// The delay and the hours of a pipeline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timing {
    /// A delay that is not in the outcome. It is never sent.
    pub delay: Option<At<Delay>>,
    /// The hours at which it may send.
    pub schedule: Option<At<SendHours>>,
}

shape! {
    /// The hours at which a pipeline may send. Its delay is in `outcome`.
    pub struct WrittenTiming as "{schedule: ...}" {
        /// The time from the trigger to the push, which the published API has in `outcome.delay`.
        delay: Option<TimingDelay>,
        /// The hours at which it may send [default: at any time].
        schedule: Option<At<SendHours>>,
    }
}

shape! {
    /// A delay in seconds.
    pub struct TimingDelay as "a number of seconds" {
        /// The length of the delay.
        seconds: At<Delay>,
    }
}

impl Decode for Timing {
    const WHAT: &'static str = WrittenTiming::WHAT;
    const FIELDS: &'static [&'static str] = WrittenTiming::FIELDS;

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        if node.is_null() {
            return Self::absent();
        }
        let WrittenTiming { delay, schedule } = WrittenTiming::decode(node, reader)?;
        Some(Self { delay: delay.map(|delay| delay.seconds), schedule })
    }

    fn absent() -> Option<Self> {
        Some(Self::default())
    }

    fn is_absent(&self) -> bool {
        self.schedule.is_none()
    }
}

impl Serialize for Timing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(schedule) = &self.schedule {
            map.serialize_entry("schedule", schedule)?;
        }
        map.end()
    }
}

impl JsonSchema for Timing {
    fn schema_name() -> Cow<'static, str> {
        "Timing".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        WrittenTiming::json_schema(generator)
    }
}
