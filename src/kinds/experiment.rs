use std::borrow::Cow;
use std::ops::{Deref, RangeInclusive};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use super::{Audience, Parts, Resource, Role, Said, Sending};
use crate::model::audience::Selector;
use crate::model::device::DeviceTypes;
use crate::model::push::Content;
use crate::model::schedule::Schedule;
use crate::node::{At, Decode, Node, Reader, shape};

shape! {
    /// An A/B test: several variants of a scheduled push, each to a part of the audience.
    pub struct Experiment as "an experiment" {
        /// The name in the dashboard. The key where it is left out.
        name: Option<At<String>>,
        /// What it is to find out.
        description: Option<At<String>>,
        /// Who takes part.
        audience: At<Selector>,
        /// On which kinds of device.
        device_types: At<DeviceTypes>,
        /// The variants, 2 to 26 of them.
        variants: At<Variants>,
    }
}

shape! {
    /// One of the variants.
    pub struct Variant as "a variant with push and schedule" {
        /// What it says.
        push: Content,
        /// When it is sent. A variant without a schedule would be sent at once.
        schedule: Option<At<Schedule>>,
    }
}

/// As many variants as an experiment needs, and as the service takes.
pub const VARIANT_COUNT: RangeInclusive<usize> = 2..=26;

/// The variants of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Variants(pub Vec<At<Variant>>);

impl Deref for Variants {
    type Target = Vec<At<Variant>>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Decode for Variants {
    const WHAT: &'static str = Vec::<At<Variant>>::WHAT;
    const FIELDS: &'static [&'static str] = Variant::FIELDS;

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        Vec::decode(node, reader).map(Self)
    }
}

impl JsonSchema for Variants {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Variants".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Vec::<Variant>::json_schema(generator);
        schema.insert("minItems".into(), (*VARIANT_COUNT.start()).into());
        schema.insert("maxItems".into(), (*VARIANT_COUNT.end()).into());
        schema
    }
}

impl Resource for Experiment {
    const KEY: &'static str = "experiments";
    const NOUN: &'static str = "experiment";
    const PURPOSE: &'static str = "An A/B test: variants of a scheduled push, each to a part of the audience.";

    fn settle(&mut self, key: &At<String>) {
        self.name.get_or_insert_with(|| key.clone());
    }

    fn parts<'r>(&'r self, parts: &mut Parts<'r>) {
        let Self { name: _, description: _, audience, device_types, variants } = self;
        parts.audiences.push(Audience { selector: audience, devices: Some(device_types), role: Role::Push });
        for variant in variants.iter() {
            let Variant { push: Content { notification, message, rest: _ }, schedule } = &variant.value;
            parts.said.push(Said {
                notification: Some(notification),
                message: message.as_ref(),
                devices: Some(device_types),
                variables: None,
                borrowed: false,
            });
            parts.sendings.extend(schedule.iter().map(|schedule| Sending { schedule, audience }));
        }
    }
}
