//! Lookup results as one JSON object.

use schemars::JsonSchema;
use serde::Serialize;

use super::LookedUpThing;
use crate::query::people::{Channel, NamedUser};
use crate::query::place::GeoPlace;

/// The version of this form. It grows when a field changes its meaning or is removed.
const VERSION: u32 = 1;

/// What was looked up.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LookupDocument {
    /// The version of this form.
    format_version: u32,
    /// The target that was asked.
    target: String,
    #[serde(flatten)]
    found: LookedUp,
}

/// One of these, by what was looked for.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LookedUp {
    Places(Vec<GeoPlace>),
    Channel(Channel),
    NamedUser(NamedUser),
    /// All that have the name.
    Things(Vec<LookedUpThing>),
}

/// The results as a JSON document.
pub fn json(target: &str, found: LookedUp) -> String {
    let document = LookupDocument { format_version: VERSION, target: target.to_owned(), found };
    let mut text = serde_json::to_string_pretty(&document).expect("what was looked up has text keys only");
    text.push('\n');
    text
}
