//! Times that the live service has in UTC only.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use super::clock::{Written, clock_time, utc};
use crate::codes;
use crate::finding::Finding;
use crate::node::{At, Decode, Node, Reader};

/// A time in UTC: `2026-12-01T09:00:00`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UtcTime(pub Timestamp);

impl Decode for UtcTime {
    const WHAT: &'static str = "a time in UTC such as 2026-12-01T09:00:00";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let written = At::<Written>::decode(node, reader)?;
        if let Some(time) = utc(&written.value.0) {
            return Some(Self(time));
        }
        let (time, suffix) = clock_time(&written, reader)?;
        let at = TimeZone::UTC.to_ambiguous_timestamp(time).compatible().ok().filter(|_| ["", "Z"].contains(&suffix));
        if at.is_none() {
            let message = format!("`{}` is not a time in UTC", written.value.0);
            let finding = Finding::new(&codes::SC106, written.span, message).label("expected YYYY-MM-DDTHH:MM:SS");
            reader.report(finding.help("write it like 2026-12-01T09:00:00"));
        }
        at.map(Self)
    }
}

impl Serialize for UtcTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.strftime("%Y-%m-%dT%H:%M:%S").to_string().serialize(serializer)
    }
}

impl JsonSchema for UtcTime {
    fn schema_name() -> Cow<'static, str> {
        "UtcTime".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A time in UTC, such as 2026-12-01T09:00:00.",
            "type": "string",
        })
    }
}
