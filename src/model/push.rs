use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::audience::Selector;
use super::device::DeviceTypes;
use super::many::Many;
use super::message::Message;
use super::notification::Notification;
use crate::node::{At, Decode, Node, Reader, shape};

shape! {
    /// A whole push: who gets it, on what, and what it says.
    pub struct Push as "a push" {
        /// Who gets it.
        audience: At<Selector>,
        /// On which kinds of device.
        device_types: At<DeviceTypes>,
        /// What the device shows. It may come from a template instead.
        notification: Option<Notification>,
        /// A Message Center message that comes with it.
        message: Option<At<Message>>,
        /// The campaigns that it belongs to.
        campaigns: Option<Campaigns>,
        /// The template that gives the notification, by its key in `templates`. pushplan fills it in.
        #[manifest(only)]
        template: Option<At<TemplateName>>,
        /// Values for the template's variables. One that is left out takes its default.
        #[manifest(only)]
        substitutions: BTreeMap<At<String>, At<String>>,
    }
}

shape! {
    /// What a push says, without who gets it.
    pub struct Content as "a push without an audience" {
        /// What the device shows.
        notification: Notification,
        /// A Message Center message that comes with it.
        message: Option<At<Message>>,
        ..rest
    }
}

shape! {
    /// The campaigns that a push belongs to.
    pub struct Campaigns as "campaign categories" {
        /// Their names.
        categories: Many<At<String>>,
    }
}

/// The key of a template of the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateName(pub String);

impl Decode for TemplateName {
    const WHAT: &'static str = "the key of a template";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
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
