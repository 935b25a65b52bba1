//! What was looked up, for programs: one JSON object.

use schemars::JsonSchema;
use serde::Serialize;

use super::Thing;
use crate::query::people::{Channel, NamedUser};
use crate::query::place::Place;

/// The version of this form. It grows when a field changes its meaning or goes away.
const VERSION: u32 = 1;

/// What was looked up.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Document {
    /// The version of this form.
    format_version: u32,
    /// The target that was asked.
    target: String,
    #[serde(flatten)]
    found: Found,
}

/// One of these, by what was looked for.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    Places(Vec<Place>),
    Channel(Channel),
    NamedUser(NamedUser),
    /// All that have the name.
    Things(Vec<Thing>),
}

/// What was found as a document.
pub fn json(target: &str, found: Found) -> String {
    let document = Document { format_version: VERSION, target: target.to_owned(), found };
    let mut text = serde_json::to_string_pretty(&document).expect("what was looked up has text keys only");
    text.push('\n');
    text
}
