//! Stored pushes with variables, and filling them in.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pushplan_model::nouns::placeholder::{fill, placeholders};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A stored template.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Template {
    pub name: String,
    pub description: Option<String>,
    /// As sent.
    pub variables: Vec<Value>,
    /// The push without its audience, as sent.
    pub push: Value,
    pub created: Timestamp,
    pub modified: Timestamp,
    pub last_used: Option<Timestamp>,
}

/// A key without a value and without a default.
#[derive(Debug, PartialEq, Eq)]
pub struct Missing(pub String);

impl Template {
    /// Returns the push with every placeholder replaced, in all of its texts. A missing value is replaced by the
    /// default; a variable without a default must have a value, even if it is not used.
    pub fn filled(&self, given: &BTreeMap<String, String>) -> Result<Value, Missing> {
        let mut values: BTreeMap<&str, &str> = BTreeMap::new();
        for variable in &self.variables {
            let Some(key) = variable["key"].as_str() else { continue };
            let value = given.get(key).map(String::as_str).or_else(|| variable["default_value"].as_str());
            values.insert(key, value.ok_or_else(|| Missing(key.to_owned()))?);
        }
        values.extend(given.iter().map(|(key, value)| (key.as_str(), value.as_str())));
        replace(&self.push, &values)
    }
}

fn replace(value: &Value, values: &BTreeMap<&str, &str>) -> Result<Value, Missing> {
    Ok(match value {
        Value::String(text) => {
            if let Some(missing) = placeholders(text).find(|placeholder| !values.contains_key(placeholder.key)) {
                return Err(Missing(missing.key.to_owned()));
            }
            fill(text, |key| values.get(key).copied()).into()
        }
        Value::Array(items) => items.iter().map(|item| replace(item, values)).collect::<Result<_, _>>()?,
        Value::Object(fields) => {
            let filled = fields.iter().map(|(key, field)| Ok((key.clone(), replace(field, values)?)));
            Value::Object(filled.collect::<Result<_, Missing>>()?)
        }
        other => other.clone(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn template(variables: &Value, push: Value) -> Template {
        Template {
            name: "t".into(),
            description: None,
            variables: variables.as_array().expect("a list").clone(),
            push,
            created: Timestamp::UNIX_EPOCH,
            modified: Timestamp::UNIX_EPOCH,
            last_used: None,
        }
    }

    #[test]
    fn given_values_win_over_defaults_in_every_text() {
        let template = template(
            &json!([{ "key": "NAME", "default_value": "you" }, { "key": "CITY" }]),
            json!({
                "notification": { "alert": "Hi {{ NAME }}", "ios": { "badge": 1, "title": "{{CITY}}" } },
                "message": { "title": "{{NAME}}", "body": "<p>{{CITY}}, {{CITY}}</p>" },
            }),
        );
        let given = BTreeMap::from([("CITY".to_owned(), "{{NAME}}".to_owned())]);
        let expected = json!({
            "notification": { "alert": "Hi you", "ios": { "badge": 1, "title": "{{NAME}}" } },
            "message": { "title": "you", "body": "<p>{{NAME}}, {{NAME}}</p>" },
        });
        assert_eq!(template.filled(&given), Ok(expected));
    }

    #[test]
    fn a_value_that_nobody_gives_is_named() {
        let missing = |key: &str| Err(Missing(key.to_owned()));
        let nothing = BTreeMap::new();
        let push = json!({ "notification": { "alert": "Hi {{NAME}}" } });
        let undeclared = template(&json!([]), push.clone());
        assert_eq!(undeclared.filled(&nothing), missing("NAME"));
        let without_default = template(&json!([{ "key": "NAME", "default_value": null }]), push);
        assert_eq!(without_default.filled(&nothing), missing("NAME"));
        let unused = template(&json!([{ "key": "CITY" }]), json!({ "notification": { "alert": "Hi" } }));
        assert_eq!(unused.filled(&nothing), missing("CITY"));
    }
}
