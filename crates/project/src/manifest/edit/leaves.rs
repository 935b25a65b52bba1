//! The fields in which two values differ, as shown to users.

use serde_json::Value;

/// Collects the differences of two lists of maps with the same length: each field by its path. Any other difference is
/// one field.
pub fn differing(path: String, old: Option<&Value>, new: Option<&Value>, out: &mut Vec<(String, Option<Value>)>) {
    match (old, new) {
        _ if old == new => {}
        (Some(Value::Array(olds)), Some(Value::Array(news)))
            if olds.len() == news.len() && olds.iter().chain(news).all(Value::is_object) =>
        {
            // A field with one or many values that has one: its author wrote no list.
            if let ([old], [new]) = (olds.as_slice(), news.as_slice()) {
                return fields(&path, old, new, out);
            }
            for (n, (old, new)) in olds.iter().zip(news).enumerate() {
                fields(&format!("{path}[{n}]"), old, new, out);
            }
        }
        _ => out.push((path, new.cloned())),
    }
}

/// Collects the different fields of two maps, each with its path and its new value.
pub fn fields(path: &str, old: &Value, new: &Value, out: &mut Vec<(String, Option<Value>)>) {
    let (Value::Object(was), Value::Object(is)) = (old, new) else {
        return differing(path.to_owned(), Some(old), Some(new), out);
    };
    // A condition counts as one value.
    if was.keys().chain(is.keys()).any(|key| key.starts_with(|c: char| c.is_ascii_uppercase())) {
        return differing(path.to_owned(), Some(old), Some(new), out);
    }
    for key in was.keys().chain(is.keys().filter(|key| !was.contains_key(*key))) {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match (was.get(key), is.get(key)) {
            (Some(old), Some(new)) => fields(&path, old, new, out),
            (old, new) => differing(path, old, new, out),
        }
    }
}
