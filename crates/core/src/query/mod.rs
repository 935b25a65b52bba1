//! Lookups on a service for authors: places, channels, named users, and the content of its reports.
//!
//! Pure: each part returns the path of a request, and interprets the answer. The caller sends the requests.

pub mod people;
pub mod place;
pub mod statistics;

use serde_json::Value;

/// A text, if it is not empty.
fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned).filter(|text| !text.is_empty())
}

/// The texts of a list.
fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(text).collect()
}

/// A number of items. A service may write whole numbers with a decimal point.
fn count(value: &Value) -> Option<u64> {
    let whole = |number: f64| (number.is_finite() && number >= 0.0).then(|| number.round() as u64);
    value.as_u64().or_else(|| value.as_f64().and_then(whole))
}
