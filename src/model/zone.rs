use std::borrow::Cow;
use std::sync::LazyLock;

use jiff::tz::TimeZone;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use super::vocabulary;
use crate::codes;
use crate::finding::Finding;
use crate::node::{At, Decode, Node, Reader};
use crate::text;

/// The names of all zones.
static NAMES: LazyLock<Vec<String>> =
    LazyLock::new(|| jiff::tz::db().available().map(|name| name.to_string()).collect());

/// A time zone, by its IANA name.
#[derive(Clone, Debug, PartialEq)]
pub struct Zone(pub TimeZone);

impl Serialize for Zone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.iana_name().unwrap_or("UTC"))
    }
}

impl Decode for Zone {
    const WHAT: &'static str = "the IANA name of a time zone, such as Europe/Paris";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let name = At::<String>::decode(node, reader)?;
        if let Ok(zone) = TimeZone::get(&name)
            && zone.iana_name().is_some_and(|iana| iana == name.value)
        {
            return Some(Self(zone));
        }
        let finding = Finding::new(&codes::SC106, name.span, format!("`{name}` is not a time zone"))
            .label("expected an IANA name");
        let meant = vocabulary::iana(&name);
        if meant != name.as_str() {
            reader.report(
                finding
                    .note("the service's list of time zone tags spells it so; everywhere else the name is the IANA one")
                    .help(format!("write `{meant}`"))
                    .fix(name.span, meant),
            );
            return None;
        }
        reader.report(match text::nearest(&name, NAMES.iter().map(String::as_str)) {
            Some(near) if near.eq_ignore_ascii_case(&name) => {
                finding.note("upper and lower case count").help(format!("write `{near}`")).fix(name.span, near)
            }
            Some(near) => finding.help(format!("did you mean `{near}`?")).suggest(name.span, near),
            None => finding.help("use a name such as Europe/Paris, America/New_York or UTC"),
        });
        None
    }
}

impl JsonSchema for Zone {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Zone".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}
