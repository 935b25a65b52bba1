//! The content of a file of device tests.

use std::borrow::Cow;
use std::collections::BTreeMap;

use pushplan_model::node::{At, Decode, Fields, Node, Plain, Reader, Tree, resolve, shape};
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
        /// The cases, by name.
        cases: BTreeMap<At<String>, At<Case>>,
    }
}

shape! {
    /// One device, what happens to it, and what is expected.
    pub struct Case as "a case with device, steps and expect" {
        /// The start time, such as 2026-11-27T09:00 [default: 2026-01-01T09:00].
        at: Option<At<Time>>,
        /// The IANA name of the time zone of all times in the case [default: UTC].
        time_zone: Option<At<Zone>>,
        /// The device at the start of the case. Fields that you leave out are unknown, except that the app is installed and
        /// opted in to notifications.
        device: At<WrittenDevice>,
        /// The variant that it gets of an experiment: the number, from 1, or none for the control group, by the address
        /// of the experiment [default: any variant].
        variants: Option<BTreeMap<At<String>, At<WrittenGroup>>>,
        /// Events, in order.
        steps: Option<Vec<At<WrittenStep>>>,
        /// The expected result after all steps.
        expect: Option<At<Expect>>,
    }
}

shape! {
    /// A device, or changes of it.
    pub struct WrittenDevice as "a device such as {device_type: ios, country: US, tags: {loyalty: [gold]}}" {
        /// The device type. Required at the start of the case.
        device_type: Option<At<DeviceType>>,
        /// Its channel id [default: a generated id].
        channel: Option<At<String>>,
        /// The address of an open channel.
        open_channel: Option<At<String>>,
        /// Its named user. The device also has that user's tags.
        named_user: Option<At<String>>,
        /// Its tags: a list, or lists by group.
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
        /// The version of its operating system.
        os_version: Option<At<String>>,
        /// Its model, such as iPhone17,1.
        model: Option<At<String>>,
        /// Whether it is opted in to notifications [default: true, at the start of the case].
        opt_in: Option<bool>,
        /// Whether the app may run in the background [default: true, at the start of the case].
        background: Option<bool>,
        /// Whether it shares its location.
        location: Option<bool>,
        /// Whether the app was opened before the case begins. If not, the first opening is a first open.
        opened: Option<At<bool>>,
        /// Its lists: uploaded ones, and lifecycle lists, which the service creates itself.
        static_lists: Option<Many<At<String>>>,
        /// Its subscription lists.
        subscription_lists: Option<Many<At<String>>>,
        /// Attributes, by name.
        attributes: Option<BTreeMap<At<String>, serde_json::Value>>,
    }
}

shape! {
    /// A step. First time passes, then the event happens, then `expect` is checked; each can be left out.
    pub struct WrittenStep as "a step such as {after: 1h, add_tags: vip} or {expect: {in: buyers}}" {
        /// The time since the previous step.
        after: Option<At<Delay>>,
        /// The time in the case's `time_zone`, such as 2026-11-27T09:00.
        at: Option<At<Time>>,
        /// The user opens the app.
        open: Option<At<bool>>,
        /// Tags to add to the device.
        add_tags: Option<At<Tags>>,
        /// Tags to remove from the device.
        remove_tags: Option<At<Tags>>,
        /// Changes of the device. Fields that you leave out stay as they are.
        change: Option<At<WrittenDevice>>,
        /// The user taps the newest notification from this address, or one of its buttons.
        tap: Option<At<Tap>>,
        /// The device is at a location; the value is the id of the location.
        seen_at: Option<At<String>>,
        /// The user uninstalls the app.
        uninstall: Option<At<bool>>,
        /// The expected result at this step.
        expect: Option<At<Expect>>,
    }
}

shape! {
    /// What is expected of the device.
    pub struct Expect as "{in: <segments>, not_in: <segments>, receives: <messages>}" {
        /// Segments that contain the device.
        r#in: Option<Many<At<String>>>,
        /// Segments that do not contain the device.
        not_in: Option<Many<At<String>>>,
        /// All messages since the last `receives`, or since the start; `[]` for none.
        receives: Option<Many<At<WrittenMessage>>>,
    }
}

shape! {
    /// A message that is received. What is left out can be anything.
    pub struct WrittenMessage as "a message such as {from: pipelines/welcome, after: 1h, alert: Hello}" {
        /// The resource that sends it, such as pipelines/welcome.
        from: Option<At<String>>,
        /// The time in the case's `time_zone`, such as 2026-11-27T09:00. The clock moves forward to it.
        at: Option<At<Time>>,
        /// The time since the last event, or since the start of the case.
        after: Option<At<Delay>>,
        /// The text of the notification on this device, or a list of possible texts.
        alert: Option<Many<At<Wording>, 1>>,
        /// The title of the notification on this device, or a list of possible titles.
        title: Option<Many<At<Wording>, 1>>,
        /// The title of the Message Center message, or a list of possible titles.
        message: Option<Many<At<Wording>, 1>>,
    }
}

/// The number of a variant, from 1; `None` for the control group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct WrittenGroup(pub Option<usize>);

impl Decode for WrittenGroup {
    const WHAT: &'static str = "the number of a variant, from 1, or none for the control group";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        if let Tree::Scalar(scalar) = &node.tree {
            match resolve(&scalar.text) {
                Plain::Text if scalar.text == "none" => return Some(Self(None)),
                Plain::Integer(number @ 1..) => return usize::try_from(number).ok().map(|number| Self(Some(number))),
                _ => {}
            }
        }
        reader.unexpected(node, Self::WHAT);
        None
    }
}

impl JsonSchema for WrittenGroup {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "WrittenGroup".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "type": "integer", "minimum": 1, "x-words": "the number of a variant, from 1" },
            { "enum": ["none"] },
        ] })
    }
}

/// A date and time as written; the moment depends on the time zone of its case.
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
        json_schema!({ "type": "string", "x-words": "a time such as `2026-11-27T09:00`", "pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:?\\d{2}(:00)?Z?$" })
    }
}

/// Tags by group; those without a group have an empty name.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Tags(pub Vec<OfGroup>);

/// A group, if there is one, and its tags.
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

/// The target of a tap: the notification of a sender, or one of its buttons.
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
            "description": "The newest notification from an address, or one of its buttons.",
            "anyOf": [
                { "type": "string" },
                {
                    "type": "object",
                    "properties": {
                        "from": { "type": "string", "description": "Its sender, such as pipelines/welcome." },
                        "button": { "type": "string", "description": "The id of the button." },
                    },
                    "required": ["from"],
                    "additionalProperties": false,
                },
            ],
        })
    }
}

/// The expected text, or a part of it.
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
    const WHAT: &'static str = "the whole text, or {contains: <part of the text>}";
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
