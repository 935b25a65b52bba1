//! What people ask a service while they write: places, channels, named users, and what its reports say.
//!
//! Pure: each part says which path to ask for and makes of an answer what it means. Whoever drives it carries the requests.

pub mod people;
pub mod place;
pub mod statistics;

use serde_json::Value;

/// A text, where there is one.
fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned).filter(|text| !text.is_empty())
}

/// The texts of a list.
fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(text).collect()
}

/// How many of something there are. A service may write whole numbers with a point.
fn count(value: &Value) -> Option<u64> {
    let whole = |number: f64| (number.is_finite() && number >= 0.0).then(|| number.round() as u64);
    value.as_u64().or_else(|| value.as_f64().and_then(whole))
}
