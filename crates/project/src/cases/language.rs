//! What can stand in a file of device tests.

use std::borrow::Cow;
use std::collections::BTreeMap;

use pushplan_model::node::{At, Decode, Fields, Node, Reader, Tree, shape};
use pushplan_model::nouns::clock;
use pushplan_model::nouns::delay::Delay;
use pushplan_model::nouns::device::DeviceType;
use pushplan_model::nouns::many::Many;
use pushplan_model::nouns::zone::Zone;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

shape! {
    /// Device tests: what devices do, which segments they are in then, and what they receive. `pushplan test` runs them.
    pub struct CaseFile as "a file of device tests: `cases`, by their names" {
        /// What is tried, by its name.
        cases: BTreeMap<At<String>, At<Case>>,
    }
}

shape! {
    /// One device, what happens to it, and what is expected.
    pub struct Case as "a case with device, steps and expect" {
        /// When it begins, as 2026-11-27T09:00. Where it is left out: 2026-01-01T09:00.
        at: Option<At<Time>>,
        /// The IANA name of the zone of all times in the case. UTC where it is left out.
        time_zone: Option<At<Zone>>,
        /// The device as it is when the case begins.
        device: At<WrittenDevice>,
        /// What happens, in order.
        steps: Option<Vec<At<WrittenStep>>>,
        /// What is expected after all steps.
        expect: Option<At<Expect>>,
    }
}

shape! {
    /// A device. What is left out is not known, or is as with most devices: the app is there, and shows notifications.
    pub struct WrittenDevice as "a device such as {device_type: ios, country: US, tags: {loyalty: [gold]}}" {
        /// What kind of device it is. It is needed.
        device_type: Option<At<DeviceType>>,
        /// Its channel id. Any, where it is left out.
        channel: Option<At<String>>,
        /// The address of an open channel.
        open_channel: Option<At<String>>,
        /// The named user that it belongs to. It has their tags.
        named_user: Option<At<String>>,
        /// Its tags: a list, or lists by their groups.
        tags: Option<At<Tags>>,
        /// ISO 3166-1 code of its country.
        country: Option<At<String>>,
        /// ISO 639-1 code of its language.
        language: Option<At<String>>,
        /// IANA name of its time zone.
        timezone: Option<At<Zone>>,
        /// The version of the app.
        app_version: Option<At<String>>,
        /// The version of the SDK in the app.
        sdk_version: Option<At<String>>,
        /// The version of its system.
        os_version: Option<At<String>>,
        /// Its model, such as iPhone17,1.
        model: Option<At<String>>,
        /// Whether it shows notifications. It does where this is left out.
        opt_in: Option<bool>,
        /// Whether the app may work in the background. It may where this is left out.
        background: Option<bool>,
        /// Whether it tells where it is.
        location: Option<bool>,
        /// Whether the app has been opened before the case begins. Where it has not, the first opening is a first open.
        opened: Option<At<bool>>,
        /// Uploaded and lifecycle lists that it is on.
        static_lists: Option<Many<At<String>>>,
        /// Lists that it is subscribed to.
        subscription_lists: Option<Many<At<String>>>,
        /// Attributes by their names.
        attributes: Option<BTreeMap<At<String>, serde_json::Value>>,
    }
}

shape! {
    /// A step. First time passes, then something happens, then something is expected; each can be left out.
    pub struct WrittenStep as "a step such as {after: 1h, add_tags: vip} or {expect: {in: buyers}}" {
        /// How long after the step before.
        after: Option<At<Delay>>,
        /// When, as 2026-11-27T09:00 in the case's `time_zone`.
        at: Option<At<Time>>,
        /// The app is opened.
        open: Option<At<bool>>,
        /// The device gets tags.
        add_tags: Option<At<Tags>>,
        /// The device loses tags.
        remove_tags: Option<At<Tags>>,
        /// The device changes: what is given here is so from now on.
        change: Option<At<WrittenDevice>>,
        /// A notification is tapped: the newest from this address.
        tap: Option<At<Tap>>,
        /// The device is seen at a location, by its id.
        seen_at: Option<At<String>>,
        /// The app is removed.
        uninstall: Option<At<bool>>,
        /// What is expected then.
        expect: Option<At<Expect>>,
    }
}

shape! {
    /// What is expected of the device.
    pub struct Expect as "{in: <segments>, not_in: <segments>, receives: <messages>}" {
        /// Segments that it is in.
        r#in: Option<Many<At<String>>>,
        /// Segments that it is not in.
        not_in: Option<Many<At<String>>>,
        /// All that it has received since messages were last looked at; `[]` for nothing.
        receives: Option<Many<At<WrittenMessage>>>,
    }
}

shape! {
    /// A message that is received. What is left out can be anything.
    pub struct WrittenMessage as "a message such as {from: pipelines/welcome, after: 1h, alert: Hello}" {
        /// The address of what sends it, such as pipelines/welcome.
        from: Option<At<String>>,
        /// When, as 2026-11-27T09:00 in the case's `time_zone`. If that is later, the clock moves on to it.
        at: Option<At<Time>>,
        /// How long after the last thing that happened, or after the case began.
        after: Option<At<Delay>>,
        /// The text of the notification, as this device shows it; of several, one of them.
        alert: Option<Many<At<Wording>, 1>>,
        /// The title of the Message Center message; of several, one of them.
        message: Option<Many<At<Wording>, 1>>,
    }
}

/// A date and time as it is written; what it means depends on the zone of its case.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Time(pub String);

impl Decode for Time {
    const WHAT: &'static str = clock::Written::WHAT;

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        clock::Written::decode(node, reader).map(|written| Self(written.0))
    }
}

impl JsonSchema for Time {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:?\\d{2}(:00)?Z?$" })
    }
}

/// Tags by their groups; those without one under an empty name.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Tags(pub Vec<OfGroup>);

/// A group, where there is one, and tags in it.
pub type OfGroup = (Option<At<String>>, Vec<At<String>>);

impl Decode for Tags {
    const WHAT: &'static str = "a list of tags, or tags by group such as {loyalty: [gold]}";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let Tree::Map(entries) = &node.tree else {
            return Many::decode(node, reader).map(|tags: Many<At<String>>| Self(vec![(None, tags.0)]));
        };
        let read = entries.iter().filter_map(|entry| {
            let tags: Many<At<String>> = reader.value(entry)?;
            Some((Some(entry.key.clone()), tags.0))
        });
        let read: Vec<_> = read.collect();
        (read.len() == entries.len()).then_some(Self(read))
    }
}

impl JsonSchema for Tags {
    fn schema_name() -> Cow<'static, str> {
        "Tags".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let tags = generator.subschema_for::<Many<String>>();
        json_schema!({
            "description": "A tag, a list of tags, or these by group: {loyalty: [gold]}.",
            "anyOf": [
                { "type": "string" },
                { "type": "array", "items": { "type": "string" } },
                { "type": "object", "additionalProperties": tags },
            ],
        })
    }
}

/// What is tapped: a notification by where it came from, or one of its buttons.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tap {
    pub from: At<String>,
    pub button: Option<At<String>>,
}

const TAP: &[&str] = &["from", "button"];

impl Decode for Tap {
    const WHAT: &'static str = "an address such as pipelines/welcome, or {from: pipelines/welcome, button: yes}";
    const FIELDS: &'static [&'static str] = TAP;

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        if !matches!(node.tree, Tree::Map(_)) {
            return At::decode(node, reader).map(|from| Self { from, button: None });
        }
        let fields = Fields::of(node, Self::WHAT, reader)?;
        fields.close(TAP, reader);
        let (from, button) = (fields.take("from", reader), fields.take("button", reader));
        Some(Self { from: from?, button: button? })
    }
}

impl JsonSchema for Tap {
    fn schema_name() -> Cow<'static, str> {
        "Tap".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The newest notification from an address, or a button of it.",
            "anyOf": [
                { "type": "string" },
                {
                    "type": "object",
                    "properties": {
                        "from": { "type": "string", "description": "What sent it, such as pipelines/welcome." },
                        "button": { "type": "string", "description": "The id of the button." },
                    },
                    "required": ["from"],
                    "additionalProperties": false,
                },
            ],
        })
    }
}

/// What a text is to be, or to contain.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Wording {
    Is(String),
    Contains(String),
}

impl Wording {
    pub fn fits(&self, text: &str) -> bool {
        match self {
            Self::Is(wanted) => text == wanted,
            Self::Contains(part) => text.contains(part),
        }
    }
}

const CONTAINS: &[&str] = &["contains"];

impl Decode for Wording {
    const WHAT: &'static str = "the whole text, or {contains: <a part of it>}";
    const FIELDS: &'static [&'static str] = CONTAINS;

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        if !matches!(node.tree, Tree::Map(_)) {
            return String::decode(node, reader).map(Self::Is);
        }
        let fields = Fields::of(node, Self::WHAT, reader)?;
        fields.close(CONTAINS, reader);
        fields.take("contains", reader).map(Self::Contains)
    }
}

impl JsonSchema for Wording {
    fn schema_name() -> Cow<'static, str> {
        "Wording".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The whole text, or a part that it contains.",
            "anyOf": [
                { "type": "string" },
                {
                    "type": "object",
                    "properties": { "contains": { "type": "string", "description": "A part of the text." } },
                    "required": ["contains"],
                    "additionalProperties": false,
                },
            ],
        })
    }
}
