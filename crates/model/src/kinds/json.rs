//! Values in what the service answers.

use serde_json::Value;

/// A text, or nothing.
pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Texts in a list; none where it is no list.
pub fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}
