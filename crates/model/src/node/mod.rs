//! The tree that every text is parsed to before it gets its type: scalars, lists and maps, each with its position.
//!
//! YAML and TOML are parsed to the same [`Node`]s, and types are decoded from nodes with [`Decode`]. Serde is not used,
//! because it stops at the first problem: a reader of manifests must report all of them, each at the exact value.

mod at;
mod basics;
mod decode;
mod json;
mod key_names;
mod levels;
mod name;
mod reserialized;
mod rest;
mod scalar;
mod shape;
mod shared;
mod sorted;
mod words;

pub use at::At;
pub use decode::{Decode, Fields, Reader, is_absent, missing, missing_key, owner_of};
pub use json::{NotJson, from_json};
pub use levels::Below;
pub use name::{ByName, Name};
pub use rest::Rest;
pub use scalar::{Plain, Scalar, Style, resolve, yaml_text};
pub use shape::{ObjectSchema, field_name};
pub use shared::Shared;
pub use sorted::sorted;

pub use shape::shape;
pub use words::words;

use crate::source::Span;

/// A value and its position.
#[derive(Clone, Debug)]
pub struct Node {
    pub span: Span,
    pub tree: Tree,
}

#[derive(Clone, Debug)]
pub enum Tree {
    Scalar(Scalar),
    List(Vec<Node>),
    Map(Vec<MapEntry>),
}

/// A key and its value. Keys are unique in their map and are in the author's order.
#[derive(Clone, Debug)]
pub struct MapEntry {
    pub key: At<String>,
    pub value: Node,
}

impl MapEntry {
    /// Whether the key is the author's own, which pushplan does not read.
    pub fn is_own(&self) -> bool {
        self.key.starts_with("x-")
    }
}

impl Node {
    /// Creates a scalar that was not written: filled in by a variable, or read from a file.
    pub fn filled(span: Span, text: impl Into<String>) -> Self {
        Self { span, tree: Tree::Scalar(Scalar { text: text.into(), style: Style::Filled }) }
    }

    /// Converts a JSON value, which has no positions.
    pub fn from_json_value(value: &serde_json::Value) -> Self {
        use serde_json::Value;
        let plain = |text: String| Tree::Scalar(Scalar { text, style: Style::Plain });
        let tree = match value {
            Value::Null => plain("null".to_owned()),
            Value::Bool(value) => plain(value.to_string()),
            Value::Number(value) => plain(value.to_string()),
            Value::String(text) => Tree::Scalar(Scalar { text: text.clone(), style: Style::Quoted }),
            Value::Array(items) => Tree::List(items.iter().map(Self::from_json_value).collect()),
            Value::Object(map) => Tree::Map(
                map.iter()
                    .map(|(key, value)| MapEntry {
                        key: At::new(key.clone(), Span::NONE),
                        value: Self::from_json_value(value),
                    })
                    .collect(),
            ),
        };
        Self { span: Span::NONE, tree }
    }

    /// Removes the positions of the node and of everything in it.
    pub fn nowhere(self) -> Self {
        let tree = match self.tree {
            Tree::Scalar(scalar) => Tree::Scalar(scalar),
            Tree::List(items) => Tree::List(items.into_iter().map(Self::nowhere).collect()),
            Tree::Map(entries) => {
                let nowhere =
                    |MapEntry { key, value }| MapEntry { key: At::new(key.value, Span::NONE), value: value.nowhere() };
                Tree::Map(entries.into_iter().map(nowhere).collect())
            }
        };
        Self { span: Span::NONE, tree }
    }

    /// Takes the place of something that could not be read. That was reported, so nothing more is reported about it.
    pub fn unread(span: Span) -> Self {
        Self { span, tree: Tree::Scalar(Scalar { text: String::new(), style: Style::Unread }) }
    }

    pub fn is_unread(&self) -> bool {
        matches!(&self.tree, Tree::Scalar(scalar) if scalar.style == Style::Unread)
    }

    /// Returns the positions of everything in it that could not be read.
    pub fn unread_places(&self) -> Vec<Span> {
        match &self.tree {
            Tree::Scalar(_) if self.is_unread() => vec![self.span],
            Tree::Scalar(_) => Vec::new(),
            Tree::List(items) => items.iter().flat_map(Node::unread_places).collect(),
            Tree::Map(entries) => entries.iter().flat_map(|entry| entry.value.unread_places()).collect(),
        }
    }

    pub fn entries(&self) -> Option<&[MapEntry]> {
        match &self.tree {
            Tree::Map(entries) => Some(entries),
            _ => None,
        }
    }

    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries()?.iter().find(|entry| *entry.key == key).map(|entry| &entry.value)
    }

    pub fn is_null(&self) -> bool {
        matches!(&self.tree, Tree::Scalar(scalar) if scalar.plain() == Some(Plain::Null))
    }

    /// Returns every scalar in it, with its position.
    fn scalars(&self) -> Box<dyn Iterator<Item = (Span, &Scalar)> + '_> {
        match &self.tree {
            Tree::Map(entries) => Box::new(entries.iter().flat_map(|entry| entry.value.scalars())),
            Tree::List(items) => Box::new(items.iter().flat_map(Node::scalars)),
            Tree::Scalar(scalar) => Box::new(std::iter::once((self.span, scalar))),
        }
    }

    /// Returns the noun for the node in a message: "found a list".
    pub fn what(&self) -> &'static str {
        match &self.tree {
            Tree::Map(_) => "a map",
            Tree::List(_) => "a list",
            Tree::Scalar(scalar) => match scalar.plain() {
                None | Some(Plain::Text) => "text",
                Some(Plain::Null) => "nothing",
                Some(Plain::Bool(_) | Plain::Word) => "true or false",
                Some(Plain::Integer(_) | Plain::Float) => "a number",
            },
        }
    }

    /// Returns the path from this node to a position, such as `outcome.push.audience` or `variants[1].schedule`.
    pub fn path_to(&self, at: Span) -> String {
        let within = |span: Span| span.range().start <= at.range().start && at.range().end <= span.range().end;
        let (step, next) = match &self.tree {
            Tree::Scalar(_) => return String::new(),
            Tree::Map(entries) => match entries.iter().find(|entry| within(entry.key.span) || within(entry.value.span))
            {
                Some(entry) => (entry.key.value.clone(), &entry.value),
                None => return String::new(),
            },
            Tree::List(items) => match items.iter().position(|item| within(item.span)) {
                Some(at) => (format!("[{at}]"), &items[at]),
                None => return String::new(),
            },
        };
        match next.path_to(at) {
            rest if rest.is_empty() || rest.starts_with('[') => step + &rest,
            rest => format!("{step}.{rest}"),
        }
    }

    /// Converts the value to JSON, for fields that are passed through: scalars have their YAML 1.2 types.
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value;
        match &self.tree {
            Tree::Map(entries) => entries.iter().map(|entry| (entry.key.to_string(), entry.value.to_json())).collect(),
            Tree::List(items) => items.iter().map(Node::to_json).collect(),
            Tree::Scalar(scalar) => match scalar.plain() {
                None | Some(Plain::Text | Plain::Word) => Value::from(scalar.text.as_str()),
                Some(Plain::Null) => Value::Null,
                Some(Plain::Bool(value)) => Value::Bool(value),
                Some(Plain::Integer(value)) => Value::from(value),
                Some(Plain::Float) => match (scalar.text.parse::<u64>(), scalar.text.parse::<f64>()) {
                    (Ok(whole), _) => Value::from(whole),
                    (_, Ok(number)) => serde_json::Number::from_f64(number)
                        .map_or_else(|| Value::from(scalar.text.as_str()), Value::Number),
                    _ => Value::from(scalar.text.as_str()),
                },
            },
        }
    }
}
