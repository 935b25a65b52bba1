//! Values for readers: on one line; long ones are cut, with a note about it.

use serde_json::Value;

use crate::node::yaml_text;
use crate::text::{count, quoted};

/// The number of characters of a value that are shown.
const MOST: usize = 240;
/// The number of characters before the first difference that are shown.
const BEFORE: usize = 40;

/// A value as in a manifest, on one line.
pub fn shown(value: &Value) -> String {
    excerpt(value, 0)
}

/// Two different values. Excerpts of long ones begin shortly before the difference.
pub fn pair(old: &Value, new: &Value) -> (String, String) {
    let from = match (old.as_str(), new.as_str()) {
        (Some(old), Some(new)) => old.chars().zip(new.chars()).take_while(|(old, new)| old == new).count(),
        _ => 0,
    };
    (excerpt(old, from), excerpt(new, from))
}

fn excerpt(value: &Value, from: usize) -> String {
    let Value::String(text) = value else {
        let whole = flow(value);
        return match whole.char_indices().nth(MOST) {
            None => whole,
            Some((end, _)) => format!("{}… ({})", &whole[..end], length(&whole)),
        };
    };
    if text.chars().nth(MOST).is_none() {
        return yaml_text(text);
    }
    let start = if from + BEFORE < MOST { 0 } else { from - BEFORE };
    let part: String = text.chars().skip(start).take(MOST).collect();
    let before = if start > 0 { "…" } else { "" };
    let after = if text.chars().nth(start + MOST).is_some() { "…" } else { "" };
    format!("{before}{}{after} ({})", quoted(&part), length(text))
}

fn length(text: &str) -> String {
    count(text.chars().count(), "character")
}

fn flow(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let entries: Vec<String> =
                map.iter().map(|(key, value)| format!("{}: {}", yaml_text(key), flow(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::String(text) => yaml_text(text),
        plain => plain.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_shown_as_they_are_written() {
        for (value, words) in [
            (json!("gold"), "gold"),
            (json!("Hi there"), "\"Hi there\""),
            (json!(["gold", "vip"]), "[gold, vip]"),
            (json!({"segment": "lapsed-buyers"}), "{segment: lapsed-buyers}"),
            (json!(null), "null"),
            (json!(true), "true"),
            (json!("true"), "\"true\""),
            (json!("a\u{1b}[2J\nb"), "\"a\\x1B[2J\\nb\""),
        ] {
            assert_eq!(shown(&value), words);
        }
    }

    #[test]
    fn long_texts_are_shown_around_what_differs() {
        let text = |middle: &str| Value::from(format!("{}{middle}{}", "a".repeat(1000), "z".repeat(1000)));
        let (old, new) = pair(&text("OLD"), &text("NEW!"));
        assert!(old.starts_with(&format!("…\"{}OLDzzz", "a".repeat(BEFORE))), "{old}");
        assert!(new.contains("aNEW!z") && new.ends_with("\"… (2004 characters)"), "{new}");
    }

    #[test]
    fn what_is_left_out_of_a_long_value_is_said() {
        let list = json!((0..500).collect::<Vec<_>>());
        assert!(shown(&list).ends_with("… (2390 characters)"), "{}", shown(&list));
    }
}
