//! Renamed variables of a template.

use std::collections::BTreeMap;

use pushplan_model::nouns::placeholder::{fill, placeholders};
use serde_json::Value;

/// A variable that has the same positions under another key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenamedVariable {
    pub from: String,
    pub to: String,
}

/// The positions of a key: the path of a text, and the index of the placeholder in it.
type Places = Vec<(String, usize)>;

/// The variables that are renamed between two specs: one is removed and one is added, and both have the same positions
/// in the same texts.
pub fn renamed_variables(old: &Value, new: &Value) -> Vec<RenamedVariable> {
    let (was, is) = (keys(old), keys(new));
    let goes: Vec<&str> = was.iter().copied().filter(|key| !is.contains(key)).collect();
    let comes: Vec<&str> = is.iter().copied().filter(|key| !was.contains(key)).collect();
    if goes.is_empty() || comes.is_empty() {
        return Vec::new();
    }
    let (before, after) = (uses(old), uses(new));
    let renamed = goes.into_iter().filter_map(|from| {
        let places = before.get(from)?;
        let to = comes.iter().find(|to| after.get(**to) == Some(places))?;
        Some(RenamedVariable { from: from.to_owned(), to: (*to).to_owned() })
    });
    renamed.collect()
}

/// Returns the spec with the variables renamed, so that it shows only the other differences.
pub fn with_renamed(spec: &Value, renamed: &[RenamedVariable]) -> Value {
    let key = |key: &str| renamed.iter().find(|one| one.from == key).map(|one| one.to.as_str());
    let braces: BTreeMap<&str, String> =
        renamed.iter().map(|one| (one.from.as_str(), format!("{{{{{}}}}}", one.to))).collect();
    let mut spec = spec.clone();
    each_text(&mut spec, &|text| fill(text, |key| braces.get(key).map(String::as_str)));
    for variable in spec.get_mut("variables").and_then(Value::as_array_mut).into_iter().flatten() {
        // The service names a variable without a name after its key.
        for field in ["key", "name"] {
            let Some(value) = variable.get_mut(field) else { continue };
            if let Some(to) = value.as_str().and_then(key) {
                *value = Value::from(to);
            }
        }
    }
    spec
}

fn keys(spec: &Value) -> Vec<&str> {
    let variables = spec.get("variables").and_then(Value::as_array).into_iter().flatten();
    variables.filter_map(|variable| variable.get("key")?.as_str()).collect()
}

/// The positions of each key.
fn uses(spec: &Value) -> BTreeMap<&str, Places> {
    let mut found: BTreeMap<&str, Places> = BTreeMap::new();
    let mut open: Vec<(String, &Value)> = vec![(String::new(), spec)];
    while let Some((path, value)) = open.pop() {
        match value {
            Value::String(text) => {
                for (place, placeholder) in placeholders(text).enumerate() {
                    found.entry(placeholder.key).or_default().push((path.clone(), place));
                }
            }
            Value::Array(items) => {
                open.extend(items.iter().enumerate().map(|(at, item)| (format!("{path}/{at}"), item)));
            }
            Value::Object(map) => open.extend(map.iter().map(|(key, value)| (format!("{path}/{key}"), value))),
            _ => {}
        }
    }
    found
}

fn each_text(value: &mut Value, change: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| each_text(item, change)),
        Value::Object(map) => map.values_mut().for_each(|value| each_text(value, change)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn template(keys: [&str; 2], alert: &str) -> Value {
        json!({"variables": keys.map(|key| json!({"key": key, "name": key})), "push": {"alert": alert}})
    }

    fn renamed(old: &Value, new: &Value) -> Vec<String> {
        renamed_variables(old, new).into_iter().map(|one| format!("{} {}", one.from, one.to)).collect()
    }

    #[test]
    fn a_variable_with_the_same_places_is_renamed() {
        let old = template(["FIRST_NAME", "SALE"], "Hi {{FIRST_NAME}}, {{SALE}} off");
        let one = template(["NAME", "SALE"], "Hi {{NAME}}, {{SALE}} off");
        assert_eq!(renamed(&old, &one), ["FIRST_NAME NAME"]);
        assert_eq!(with_renamed(&old, &renamed_variables(&old, &one)), one);
        let edited = template(["NAME", "PERCENT"], "Hello {{ NAME }}: {{PERCENT}}");
        assert_eq!(renamed(&old, &edited), ["FIRST_NAME NAME", "SALE PERCENT"]);
    }

    #[test]
    fn other_variables_come_and_go() {
        let old = template(["FIRST_NAME", "SALE"], "Hi {{FIRST_NAME}}, {{SALE}} off");
        for new in [
            template(["CITY", "SALE"], "Hi, {{SALE}} off in {{CITY}}"),
            template(["CITY", "SALE"], "Hi, {{SALE}} off"),
            template(["FIRST_NAME", "SALE"], "Hi {{SALE}}, {{FIRST_NAME}} off"),
            json!({"push": {"alert": "Hi"}}),
        ] {
            assert_eq!(renamed(&old, &new), [""; 0], "{new}");
        }
    }
}
