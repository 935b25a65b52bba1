//! What a push is sent to: device types, and the platforms that channels belong to.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use super::many::Many;
use crate::codes;
use crate::finding::Finding;
use crate::node::{At, Decode, Node, Reader, Tree};
use crate::text;

/// One kind of device.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeviceType {
    Ios,
    Android,
    Amazon,
    Web,
    /// Referred to by the contract without an identifier.
    Wns,
    /// An open channel platform: `open::<name>`.
    Open(String),
}

const NAMES: [(&str, DeviceType); 5] = [
    ("ios", DeviceType::Ios),
    ("android", DeviceType::Android),
    ("amazon", DeviceType::Amazon),
    ("web", DeviceType::Web),
    ("wns", DeviceType::Wns),
];

impl DeviceType {
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(platform) = text.strip_prefix("open::") {
            return (!platform.is_empty()).then(|| Self::Open(platform.to_owned()));
        }
        NAMES.iter().find(|(name, _)| *name == text).map(|(_, device)| device.clone())
    }
}

impl fmt::Display for DeviceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(platform) => write!(f, "open::{platform}"),
            named => f.write_str(NAMES.iter().find(|(_, device)| device == named).map_or("", |(name, _)| name)),
        }
    }
}

impl Serialize for DeviceType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Decode for DeviceType {
    const WHAT: &'static str = "ios, android, amazon, web or open::<platform>";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let word = reader.text(node)?;
        let read = Self::parse(word);
        if read.is_none() {
            let finding = Finding::new(&codes::YM206, node.span, format!("`{word}` is not a device type"))
                .label(format!("expected {}", Self::WHAT));
            let names = NAMES.iter().map(|(name, _)| *name);
            reader.report(match text::nearest(word, names) {
                Some(near) => finding.help(format!("did you mean `{near}`?")).suggest(node.span, near),
                None => finding,
            });
        }
        read
    }
}

impl JsonSchema for DeviceType {
    fn schema_name() -> Cow<'static, str> {
        "DeviceType".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A kind of device; open::<platform> for an open channel platform.",
            "anyOf": [
                { "enum": ["ios", "android", "amazon", "web", "wns"] },
                { "type": "string", "pattern": "^open::.+$" },
            ],
        })
    }
}

/// Which kinds of device a push goes to: `all`, or a list.
#[derive(Clone, Debug, PartialEq)]
pub enum DeviceTypes {
    All,
    Some(Vec<At<DeviceType>>),
}

impl DeviceTypes {
    /// Whether devices of this kind get the push.
    pub fn includes(&self, device: &DeviceType) -> bool {
        match self {
            Self::All => true,
            Self::Some(list) => list.iter().any(|one| one.value == *device),
        }
    }

    /// The kinds that are named; none for `all`.
    pub fn named(&self) -> &[At<DeviceType>] {
        match self {
            Self::All => &[],
            Self::Some(list) => list,
        }
    }
}

impl Serialize for DeviceTypes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::All => serializer.serialize_str("all"),
            Self::Some(list) => list.serialize(serializer),
        }
    }
}

impl Decode for DeviceTypes {
    const WHAT: &'static str = "`all`, or a list of ios, android, amazon, web and open::<platform>";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        if matches!(&node.tree, Tree::Scalar(scalar) if scalar.text.eq_ignore_ascii_case("all")) {
            return Some(Self::All);
        }
        let list = Many::<At<DeviceType>>::decode(node, reader)?.0;
        if list.is_empty() {
            reader.report(
                Finding::new(&codes::YM206, node.span, "a push to no kind of device reaches nobody")
                    .label(format!("expected {}", Self::WHAT)),
            );
            return None;
        }
        Some(Self::Some(list))
    }
}

impl JsonSchema for DeviceTypes {
    fn schema_name() -> Cow<'static, str> {
        "DeviceTypes".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<DeviceType>();
        json_schema!({
            "description": "Which kinds of device get it: `all`, one, or a list.",
            "anyOf": [{ "const": "all" }, one, { "type": "array", "minItems": 1, "items": one }],
        })
    }
}
