use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use crate::node::{At, Decode, Node, Reader, shape};

shape! {
    /// A Message Center message: a page that stays in the app's inbox.
    pub struct Message as "a Message Center message" {
        /// The title in the inbox.
        title: At<String>,
        /// The content, in the type of `content_type`. Long content can be in a file: `body: {file: bodies/sale.html}`.
        body: At<String>,
        /// The MIME type of the body [default: text/html].
        content_type: Option<At<ContentType>>,
        ..rest
    }
}

impl Message {
    /// Replaces every text that can hold a placeholder.
    pub fn map_texts(&mut self, change: &dyn Fn(&str) -> String) {
        self.title.value = change(&self.title);
        self.body.value = change(&self.body);
        self.rest.map_texts(change);
    }
}

/// A MIME type. The default one is the same as none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ContentType(pub String);

impl Decode for ContentType {
    const WHAT: &'static str = "a MIME type such as text/html";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        reader.text(node).map(|text| Self(text.to_owned()))
    }
    fn is_absent(&self) -> bool {
        self.0.eq_ignore_ascii_case("text/html")
    }
}

impl JsonSchema for ContentType {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "ContentType".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}
