//! Destinations of a push: device types, and the platforms of channels.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use super::many::{Many, Set};
use super::spelling::{ANOTHER_SPELLING, any_case};
use crate::codes;
use crate::finding::Finding;
use crate::node::{At, Decode, Node, Reader, Tree};
use crate::source::Span;
use crate::text;

/// One kind of device.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeviceType {
    Ios,
    Android,
    Amazon,
    Web,
    /// Mentioned by the contract without an identifier.
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

/// Everyday names of devices, and their device type.
const EVERYDAY: &[(&str, &str)] = &[
    ("iphone", "ios"),
    ("ipad", "ios"),
    ("ipod", "ios"),
    ("apple", "ios"),
    ("browser", "web"),
    ("chrome", "web"),
    ("firefox", "web"),
    ("safari", "web"),
    ("kindle", "amazon"),
    ("fire", "amazon"),
    ("windows", "wns"),
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
            reader.report(unknown(word, node.span, Self::WHAT));
        }
        read
    }
}

fn unknown(word: &str, at: Span, expected: &str) -> Finding {
    let finding = Finding::new(&codes::YM206, at, format!("`{}` is not a device type", text::short(word, 40)))
        .label(format!("expected {expected}"));
    let lower = word.to_lowercase();
    let everyday = EVERYDAY.iter().find(|(name, _)| lower == *name || lower.strip_suffix('s') == Some(*name));
    let near = everyday.map(|(_, device)| *device);
    match near.or_else(|| text::nearest(word, NAMES.iter().map(|(name, _)| *name))) {
        Some(near) => finding.help(format!("did you mean `{near}`?")).suggest(at, near),
        None => finding,
    }
}

impl JsonSchema for DeviceType {
    fn schema_name() -> Cow<'static, str> {
        "DeviceType".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A device type; open::<platform> for an open channel platform.",
            "anyOf": [
                { "enum": ["ios", "android", "amazon", "web", "wns"] },
                { "type": "string", "x-words": "`open::PLATFORM`", "pattern": "^open::.+$" },
            ],
        })
    }
}

/// The device types that a push is sent to: `all`, or a list.
#[derive(Clone, Debug, PartialEq)]
pub enum DeviceTypes {
    All,
    Some(Set<At<DeviceType>>),
}

impl DeviceTypes {
    /// Whether devices of this kind get the push.
    pub fn includes(&self, device: &DeviceType) -> bool {
        match self {
            Self::All => true,
            Self::Some(list) => list.iter().any(|one| one.value == *device),
        }
    }

    /// Returns the listed device types; none for `all`.
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
        if is_all(node) {
            return Some(Self::All);
        }
        let list = match &node.tree {
            Tree::List(items) => {
                let read: Vec<_> = items.iter().filter_map(|item| listed(item, reader)).collect();
                (read.len() == items.len()).then_some(read)?
            }
            _ => vec![listed(node, reader)?],
        };
        if list.is_empty() {
            reader.report(
                Finding::new(&codes::YM206, node.span, "a push without device types reaches nobody")
                    .label(format!("expected {}", Self::WHAT)),
            );
            return None;
        }
        Some(Self::Some(Set(Many(list))))
    }
}

fn is_all(node: &Node) -> bool {
    matches!(&node.tree, Tree::Scalar(scalar) if scalar.text.eq_ignore_ascii_case("all"))
}

/// Reads one of the device types of a push.
fn listed(node: &Node, reader: &mut Reader) -> Option<At<DeviceType>> {
    if is_all(node) {
        let finding = Finding::new(&codes::YM206, node.span, "`all` is not allowed in a list of device types")
            .label("all device types, or some");
        reader.report(finding.help("write `device_types: all`, or list device types"));
        return None;
    }
    let word = reader.text(node)?;
    let read = DeviceType::parse(word);
    if read.is_none() {
        reader.report(unknown(word, node.span, DeviceTypes::WHAT));
    }
    Some(At::new(read?, node.span))
}

impl JsonSchema for DeviceTypes {
    fn schema_name() -> Cow<'static, str> {
        "DeviceTypes".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<DeviceType>();
        let all = format!("^{}$", any_case("all"));
        json_schema!({
            "description": "The device types that get it: `all`, one, or a list.",
            "anyOf": [{ "const": "all" }, { "$comment": ANOTHER_SPELLING, "type": "string", "pattern": all }, one, { "type": "array", "minItems": 1, "items": one }],
        })
    }
}
