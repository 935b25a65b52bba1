//! Texts that identify something: an id, an address, a name. A blank one cannot refer to anything.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use super::{At, Decode, Node, Reader};
use crate::codes;
use crate::finding::Finding;
use crate::source::Span;

/// A text that is not blank. Over the wire, every text is accepted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Name(pub String);

impl Deref for Name {
    type Target = String;
    fn deref(&self) -> &String {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&At<String>> for At<Name> {
    fn from(text: &At<String>) -> Self {
        Self::new(Name(text.value.clone()), text.span)
    }
}

impl From<At<Name>> for At<String> {
    fn from(name: At<Name>) -> Self {
        Self::new(name.value.0, name.span)
    }
}

impl Decode for Name {
    const WHAT: &'static str = "text";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let text = reader.text(node)?;
        is_name(text, node.span, reader).then(|| Self(text.to_owned()))
    }
}

/// Whether a text can be a name. If not, that is reported.
fn is_name(text: &str, at: Span, reader: &mut Reader) -> bool {
    if reader.is_wire() || !text.trim().is_empty() {
        return true;
    }
    let (found, label) =
        if text.is_empty() { ("an empty text", "no characters") } else { ("only spaces", "blanks alone") };
    reader.report(
        Finding::new(&codes::YM207, at, format!("expected a name or an id, found {found}"))
            .label(label)
            .note("without a name it would reach nobody, or the service would refuse it")
            .help("write a name or an id, or remove it"),
    );
    false
}

impl JsonSchema for Name {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Name".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "minLength": 1 })
    }
}

/// A map whose keys are names.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct ByName<T>(pub BTreeMap<At<String>, T>);

impl<T> Deref for ByName<T> {
    type Target = BTreeMap<At<String>, T>;
    fn deref(&self) -> &BTreeMap<At<String>, T> {
        &self.0
    }
}

impl<T: Decode> Decode for ByName<T> {
    const WHAT: &'static str = BTreeMap::<At<String>, T>::WHAT;

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let wrong: Vec<_> = node
            .entries()
            .unwrap_or_default()
            .iter()
            .filter(|entry| !is_name(&entry.key, entry.key.span, reader))
            .collect();
        let map = BTreeMap::decode(node, reader)?;
        wrong.is_empty().then_some(Self(map))
    }
    fn absent() -> Option<Self> {
        BTreeMap::absent().map(Self)
    }
    fn is_absent(&self) -> bool {
        self.0.is_absent()
    }
}

impl<T: JsonSchema> JsonSchema for ByName<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("ByName{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = BTreeMap::<At<String>, T>::json_schema(generator);
        schema.insert("propertyNames".into(), serde_json::json!({ "minLength": 1 }));
        schema
    }
}
