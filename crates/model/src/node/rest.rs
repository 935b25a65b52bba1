//! Fields that are passed through: the contract does not describe them, or their values are free.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;

use super::{At, Decode, Fields, Node, Reader};

/// Fields that are passed through unread.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Rest(pub BTreeMap<At<String>, Value>);

impl Rest {
    /// Returns every text in it, with the key of its field.
    pub fn texts(&self) -> impl Iterator<Item = (&At<String>, &str)> {
        self.0.iter().flat_map(|(key, value)| {
            let mut found = Vec::new();
            gather(value, &mut found);
            found.into_iter().map(move |text| (key, text))
        })
    }

    /// Replaces every text in it.
    pub fn map_texts(&mut self, change: &dyn Fn(&str) -> String) {
        self.0.values_mut().for_each(|value| replace(value, change));
    }
}

/// A map with free keys and values.
impl Decode for Rest {
    const WHAT: &'static str = "a map";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let fields = Fields::of(node, Self::WHAT, reader)?;
        let read: BTreeMap<At<String>, Value> =
            fields.entries.iter().filter_map(|entry| Some((entry.key.clone(), reader.json(&entry.value)?))).collect();
        (read.len() == fields.entries.len()).then_some(Self(read))
    }
    fn absent() -> Option<Self> {
        Some(Self::default())
    }
    fn is_absent(&self) -> bool {
        self.0.is_empty()
    }
}

impl JsonSchema for Rest {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Rest".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}

fn gather<'v>(value: &'v Value, into: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => into.push(text),
        Value::Array(items) => items.iter().for_each(|item| gather(item, into)),
        Value::Object(fields) => fields.values().for_each(|field| gather(field, into)),
        _ => {}
    }
}

fn replace(value: &mut Value, change: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, change)),
        Value::Object(fields) => fields.values_mut().for_each(|field| replace(field, change)),
        _ => {}
    }
}
