use std::borrow::Cow;
use std::ops::{Deref, RangeInclusive};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use serde_json::Value;

use super::remote::{Found, Lifecycle, Read, Runs, canonical, id_in, moments, text, texts};
use super::{Audience, Create, Delete, Parts, ReadableText, Remote, Resource, Role, Sending, Update};
use crate::codes::{self, Limit};
use crate::exchange::{Answer, BadAnswer, Request, part};
use crate::node::{At, Decode, Node, Reader, Shared, shape};
use crate::nouns::audience::Selector;
use crate::nouns::device::DeviceTypes;
use crate::nouns::level::Level;
use crate::nouns::push::Content;
use crate::nouns::schedule::Schedule;
use crate::nouns::split::{ControlShare, Split, Weight};

shape! {
    /// An A/B test: several variants of a scheduled push, each to a part of the audience.
    pub struct Experiment as "an experiment" {
        /// The name in the dashboard [default: the key].
        name: Option<At<String>>,
        /// A note about the question that it answers.
        description: Option<At<String>>,
        /// The audience that is divided among the variants.
        audience: At<Selector>,
        /// The device types.
        device_types: At<DeviceTypes>,
        /// The share of the audience that gets nothing, from 0 to below 1, to compare the variants with [default: 0].
        /// Needs `api = "extended"`.
        control: Option<At<ControlShare>>,
        /// 2 to 26 variants.
        variants: At<Variants>,
    }
}

shape! {
    /// One of the variants.
    pub struct Variant as "a variant with push and schedule" {
        /// The name in reports. Needs `api = "extended"`.
        name: Option<At<String>>,
        /// A note about what it tries. Needs `api = "extended"`.
        description: Option<At<String>>,
        /// Its part of the audience in proportion to the other variants, at least 1 [default: 1]. Needs
        /// `api = "extended"`.
        weight: Option<At<Weight>>,
        /// The content of the message.
        push: Content,
        /// When it is sent. Without it, the service sends the variant at once, so `validate` reports an error (EX102).
        schedule: Option<At<Schedule>>,
    }
}

/// The number of variants that an experiment needs, and that the service accepts.
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
    const PURPOSE: &'static str = "An A/B test: variants of a scheduled push, each sent to a part of the audience.";

    fn settle(&mut self, key: &At<String>) {
        self.name.get_or_insert_with(|| key.clone());
    }

    fn parts<'r>(&'r self, parts: &mut Parts<'r>) {
        let Self { name: _, description: _, audience, device_types, control: _, variants } = self;
        parts.audiences.push(Audience { selector: audience, devices: Some(device_types), role: Role::Push });
        parts.each = "variant";
        parts.split = Some(self.split());
        parts.names = variants.iter().map(|variant| variant.name.as_ref()).collect();
        for (number, variant) in variants.iter().enumerate() {
            let Variant { push: Content { notification, message, localizations, locales: _, rest }, schedule, .. } = &variant.value;
            let said = ReadableText {
                notification: Some(notification),
                message: message.as_ref(),
                localizations,
                devices: Some(device_types),
                variables: None,
                borrowed: false,
                campaigns: None,
                rest: Some(rest),
            };
            parts.said.push(said);
            let sending = |schedule| Sending { schedule, audience, variant: Some(number + 1), said };
            parts.sendings.extend(schedule.iter().map(sending));
        }
    }
}

impl Experiment {
    /// Returns the division of the audience among the variants.
    pub fn split(&self) -> Split {
        let weight = |variant: &At<Variant>| variant.weight.as_ref().map_or(1, |weight| weight.value.0);
        let control = self.control.as_ref().map_or(0.0, |control| control.value.0);
        Split::new(self.variants.iter().map(weight).collect(), control)
    }
}

impl Remote for Experiment {
    const AUDIENCES: &'static [&'static str] = &["/audience"];

    fn limit(_: Level) -> Option<&'static Limit> {
        Some(&codes::AP104)
    }

    fn lifecycle(level: Level) -> Lifecycle {
        let read = if level >= Level::Extended { Read::Listed } else { Read::LedgerOnly };
        Lifecycle { read, create: Create::Once, update: Update::Replacing, delete: Delete::BeforeStart }
    }

    fn list(level: Level) -> Vec<Request> {
        if level >= Level::Extended { vec![Request::get("/api/experiments")] } else { Vec::new() }
    }

    fn found(object: &Value) -> Option<Found> {
        let id = object["experiment_id"].as_str().or(object["id"].as_str())?;
        let name = text(&object["name"]);
        let push_ids = Self::push_ids(object);
        Some(Found { id: id.to_owned(), spec: canonical::<Self>(object, &name), name, push_ids, ..Found::default() })
    }

    fn get(id: &str, _: &Value, level: Level) -> Option<Request> {
        (level >= Level::Extended).then(|| Request::get(format!("/api/experiments/{}", part(id))))
    }

    fn got(id: &str, _: &Value, body: &Value) -> Result<Option<Found>, BadAnswer> {
        let record = body.get("experiment").unwrap_or(body);
        let found = Self::found(record).ok_or("the answer has no experiment")?;
        Ok(Some(Found { id: id.to_owned(), ..found }))
    }

    const POSTED_TO: Option<&'static str> = Some("/api/experiments");

    fn created(_: &Shared, answer: &Answer) -> Option<String> {
        id_in(answer, &["experiment_id"])
    }

    fn delete(id: &str, _: &Value, _: Level) -> Option<Request> {
        Some(Request::delete(format!("/api/experiments/scheduled/{}", part(id))))
    }

    /// A variant without a schedule is sent as soon as the experiment exists.
    const HAS_RUNS: bool = true;
    const SPEAKS: bool = true;

    fn runs(spec: &Value) -> Option<Runs> {
        Some(moments(&schedules(spec)))
    }

    const TIMED: Option<&'static str> = Some("variants");

    fn times(spec: &Value) -> Vec<Runs> {
        schedules(spec).into_iter().map(|schedule| moments(&[schedule])).collect()
    }

    /// All variants are one push.
    fn push_ids(object: &Value) -> Vec<String> {
        let one = object["push_id"].as_str().map(str::to_owned);
        one.map_or_else(|| texts(&object["push_ids"]), |one| vec![one])
    }
}

/// The schedule of each variant.
fn schedules(spec: &Value) -> Vec<&Value> {
    spec["variants"].as_array().into_iter().flatten().map(|variant| &variant["schedule"]).collect()
}
