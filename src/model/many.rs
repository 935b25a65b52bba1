use std::borrow::Cow;
use std::ops::{Deref, DerefMut};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use crate::node::{Decode, Node, Reader, Tree};

/// A list that may be written as its only item: `x` and `[x]` are the same.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Many<T>(pub Vec<T>);

impl<T> Default for Many<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Deref for Many<T> {
    type Target = Vec<T>;
    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T> DerefMut for Many<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<'a, T> IntoIterator for &'a Many<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T: Decode> Decode for Many<T> {
    const WHAT: &'static str = T::WHAT;
    const FIELDS: &'static [&'static str] = T::FIELDS;

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        match node.tree {
            Tree::List(_) => Vec::decode(node, reader).map(Self),
            _ => T::decode(node, reader).map(|item| Self(vec![item])),
        }
    }
}

impl<T: JsonSchema> JsonSchema for Many<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("OneOrMany{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let item = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [item, { "type": "array", "items": item }] })
    }
}
