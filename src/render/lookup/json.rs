//! Lookup results as one JSON object.

use schemars::JsonSchema;
use serde::Serialize;

use super::LookedUpThing;
use crate::query::people::{Channel, NamedUser};
use crate::query::place::GeoPlace;

/// The version of this format. It increases when a field is removed or changes its meaning.
const VERSION: u32 = 1;

/// The result of a lookup.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LookupDocument {
    /// The version of this format.
    format_version: u32,
    /// The target.
    target: String,
    #[serde(flatten)]
    found: LookedUp,
}

/// The result, by the type of the lookup.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LookedUp {
    Places(Vec<GeoPlace>),
    Channel(Channel),
    NamedUser(NamedUser),
    /// All resources with the name.
    Things(Vec<LookedUpThing>),
}

/// The results as a JSON document.
pub fn json(target: &str, found: LookedUp) -> String {
    let document = LookupDocument { format_version: VERSION, target: target.to_owned(), found };
    let mut text = serde_json::to_string_pretty(&document).expect("what was looked up has text keys only");
    text.push('\n');
    text
}
