use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use super::audience::Selector;
use super::device::DeviceTypes;
use super::localization::Localizations;
use super::many::Set;
use super::message::Message;
use super::notification::Notification;
use crate::codes;
use crate::finding::Finding;
use crate::node::{At, Decode, MapEntry, Name, Node, Reader, Tree, owner_of, shape};

shape! {
    /// A whole push: who gets it, on what, and what it says.
    pub struct Push as "a push" with one of "notification" "template" {
        /// Who gets it.
        audience: At<Selector>,
        /// The device types.
        device_types: At<DeviceTypes>,
        /// The notification. It can come from a template instead.
        notification: Option<At<Notification>>,
        /// A Message Center message that is sent with it: a page that stays in the app's inbox.
        message: Option<At<Message>>,
        /// Other content for devices with a language or a country. Needs `api = "extended"`.
        localizations: Localizations,
        /// The folder of message catalogues with other content by locale, such as `locales`.
        #[manifest(only)]
        locales: Option<At<String>>,
        /// The campaigns of the push.
        campaigns: Option<Campaigns>,
        /// The template of the notification, by its key in `templates`. pushplan fills it in.
        #[manifest(only)]
        template: Option<At<TemplateName>>,
        /// Values for the template's variables [default: the defaults of the template].
        #[manifest(only)]
        substitutions: BTreeMap<At<String>, At<String>>,
    }
}

/// A push to the device that triggered a pipeline. Its audience can be omitted: it is always `triggered`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct TriggeredPush(pub At<Push>);

impl Decode for TriggeredPush {
    const WHAT: &'static str = Push::WHAT;
    const FIELDS: &'static [&'static str] = Push::FIELDS;

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let Some(entries) = node.entries().filter(|_| node.get("audience").is_none()) else {
            return At::decode(node, reader).map(Self);
        };
        let at = owner_of(node);
        let audience = MapEntry { key: At::new("audience".to_owned(), at), value: Node::filled(at, "triggered") };
        let entries = std::iter::once(audience).chain(entries.iter().cloned()).collect();
        At::decode(&Node { span: node.span, tree: Tree::Map(entries) }, reader).map(Self)
    }
}

impl JsonSchema for TriggeredPush {
    fn schema_name() -> Cow<'static, str> {
        "TriggeredPush".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Push::json_schema(generator);
        schema.insert("description".into(), "A push to the device that triggered the pipeline.".into());
        if let Some(required) = schema.get_mut("required").and_then(|required| required.as_array_mut()) {
            required.retain(|key| key != "audience");
        }
        schema
    }
}

shape! {
    /// What a push says, without who gets it.
    pub struct Content as "a push without an audience" {
        /// The notification.
        notification: At<Notification>,
        /// A Message Center message that is sent with it: a page that stays in the app's inbox.
        message: Option<At<Message>>,
        /// Other content for devices with a language or a country. Needs `api = "extended"`.
        localizations: Localizations,
        /// The folder of message catalogues with other content by locale, such as `locales`.
        #[manifest(only)]
        locales: Option<At<String>>,
        ..rest known is_further
    }
}

/// Whether a push without an audience has this further key on the built-in service.
pub fn is_further(key: &str) -> bool {
    key == "campaigns"
}

shape! {
    /// The campaigns that a push belongs to.
    pub struct Campaigns as "campaign categories" or nothing text "categories" {
        /// Their names.
        categories: Set<At<Name>>,
    }
}

/// The key of a template of the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateName(pub String);

impl Decode for TemplateName {
    const WHAT: &'static str = "the key of a template";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        if node.entries().is_some() {
            let finding = Finding::new(&codes::YM205, owner_of(node), "expected the key of a template, found a map")
                .label(format!("expected {}", Self::WHAT))
                .note("pushplan itself fills in the template, so it must be in the project");
            reader.report(
                finding.help("write `template: <key>`, with its key under `templates:`; ids are not used here"),
            );
            return None;
        }
        reader.text(node).map(|text| Self(text.to_owned()))
    }
}

impl JsonSchema for TemplateName {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "TemplateName".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "x-names": "templates" })
    }
}
