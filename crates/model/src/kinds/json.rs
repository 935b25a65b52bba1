//! Reads values in answers of the service.

use serde_json::Value;

/// Returns a text; empty if the value is not a text.
pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Returns the texts in a list; none if the value is not a list.
pub fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}
