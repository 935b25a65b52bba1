use std::borrow::Cow;
use std::ops::{Deref, DerefMut};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use crate::codes;
use crate::finding::Finding;
use crate::node::{Decode, Node, Reader, Tree};

/// A list that may be written as its only item: `x` and `[x]` are the same. It has at least `LEAST` items.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Many<T, const LEAST: usize = 0>(pub Vec<T>);

impl<T> Default for Many<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T, const LEAST: usize> Deref for Many<T, LEAST> {
    type Target = Vec<T>;
    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T, const LEAST: usize> DerefMut for Many<T, LEAST> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<'a, T, const LEAST: usize> IntoIterator for &'a Many<T, LEAST> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T: Decode, const LEAST: usize> Decode for Many<T, LEAST> {
    const WHAT: &'static str = T::WHAT;
    const FIELDS: &'static [&'static str] = T::FIELDS;

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        match &node.tree {
            Tree::List(items) if items.len() < LEAST => {
                reader.report(
                    Finding::new(&codes::YM207, node.span, format!("the list is empty; expected {}", T::WHAT))
                        .label("no value")
                        .help(format!("write {} instead", T::WHAT)),
                );
                None
            }
            Tree::List(_) => Vec::decode(node, reader).map(Self),
            _ => T::decode(node, reader).map(|item| Self(vec![item])),
        }
    }
}

impl<T: JsonSchema, const LEAST: usize> JsonSchema for Many<T, LEAST> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("OneOrMany{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let item = generator.subschema_for::<T>();
        let mut schema = json_schema!({ "anyOf": [item, { "type": "array", "items": item }] });
        if LEAST > 0
            && let Some(list) = schema.get_mut("anyOf").and_then(|forms| forms.get_mut(1))
        {
            list["minItems"] = LEAST.into();
        }
        schema
    }
}

/// A list whose order and repetitions have no meaning, and that may be written as its only item. An empty one is the
/// same as none.
///
/// Its items keep the author's order, for messages. It is compared and serialized in sorted order.
#[derive(Clone, Debug)]
pub struct Set<T>(pub Many<T>);

impl<T: Ord> Set<T> {
    fn in_order(&self) -> Vec<&T> {
        let mut items: Vec<&T> = self.0.iter().collect();
        items.sort_unstable();
        items.dedup();
        items
    }
}

impl<T> Deref for Set<T> {
    type Target = Vec<T>;
    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T> DerefMut for Set<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<'a, T> IntoIterator for &'a Set<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut Set<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}

impl<T: Ord> PartialEq for Set<T> {
    fn eq(&self, other: &Self) -> bool {
        self.in_order() == other.in_order()
    }
}

impl<T: Ord + Serialize> Serialize for Set<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.in_order().serialize(serializer)
    }
}

impl<T: Decode> Decode for Set<T> {
    const WHAT: &'static str = T::WHAT;
    const FIELDS: &'static [&'static str] = T::FIELDS;

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        Many::decode(node, reader).map(Self)
    }
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl<T: JsonSchema> JsonSchema for Set<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        Many::<T>::schema_name()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Many::<T>::json_schema(generator)
    }
}
