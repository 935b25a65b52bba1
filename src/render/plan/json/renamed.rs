//! Renamed variables of a template, in the JSON form.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::review::{RenamedVariable, renamed_variables};

/// A variable that gets another key and keeps its places in the texts.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Renamed {
    pub from: String,
    pub to: String,
}

impl Renamed {
    /// Returns the renamed variables between two specs, if there are any.
    pub(super) fn all(old: Option<&Value>, new: Option<&Value>) -> Option<Vec<Self>> {
        let found = renamed_variables(old?, new?);
        let all = found.into_iter().map(|RenamedVariable { from, to }| Self { from, to });
        Some(all.collect()).filter(|all: &Vec<Self>| !all.is_empty())
    }
}
