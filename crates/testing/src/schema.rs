//! What the binary prints for programs, held against the schemas that it publishes.

use std::fs;

use serde_json::Value;

use crate::{Ran, root};

/// What a command prints for programs, as its schema has it.
pub fn checked(ran: &Ran, schema: &str) -> Value {
    let path = root().join("schema").join(schema);
    let schema: Value = serde_json::from_str(&fs::read_to_string(path).expect("a schema")).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let document: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran}"));
    let problems: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(problems.is_empty(), "{problems:?} in {document:#}");
    document
}
