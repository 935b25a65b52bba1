//! Fields of one target that another target gets although git has changed since.
//!
//! A field is carried over if git has the same value for both targets, because it is then specific to neither. If git
//! has different values, the other target keeps its own, unless the first target's field has changed since: then the
//! corresponding value is unknown.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::PromotionSide;

/// The first field of which it cannot be said what the other target gets.
#[derive(Debug, PartialEq)]
pub(super) struct Undecided(pub String);

/// The values of variables that only the first target has. A text with one of them was filled in for that target.
pub(super) fn own_values(from: PromotionSide, to: PromotionSide) -> Vec<String> {
    let is_own = |(name, value): &(&String, &String)| !value.is_empty() && to.variables.get(*name) != Some(*value);
    from.variables.iter().filter(is_own).map(|(_, value)| value.clone()).collect()
}

/// Four versions of one value.
#[derive(Clone, Copy)]
pub(super) struct FourViews<'v> {
    /// The desired value of the first target.
    pub said: Option<&'v Value>,
    /// The applied value of the first target.
    pub there: Option<&'v Value>,
    /// The desired value of the other target.
    pub other: Option<&'v Value>,
    /// The applied value of the other target.
    pub has: Option<&'v Value>,
}

impl<'v> FourViews<'v> {
    fn map(self, of: impl Fn(&'v Value) -> Option<&'v Value>) -> Self {
        let Self { said, there, other, has } = self;
        Self {
            said: said.and_then(&of),
            there: there.and_then(&of),
            other: other.and_then(&of),
            has: has.and_then(&of),
        }
    }
}

/// Computes the new state of the other target.
pub(super) fn carried(seen: FourViews, own: &[String]) -> Result<Value, Undecided> {
    Ok(field("", seen, own)?.unwrap_or_default())
}

fn field(path: &str, seen: FourViews, own: &[String]) -> Result<Option<Value>, Undecided> {
    let FourViews { said, there, other, has } = seen;
    if said == there || there == other {
        return Ok(other.cloned());
    }
    match (said, there, other) {
        (Some(Value::Object(a)), Some(Value::Object(b)), Some(Value::Object(c))) => {
            let mut all = Map::new();
            let names: BTreeSet<&String> = a.keys().chain(b.keys()).chain(c.keys()).collect();
            for name in names {
                let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                if let Some(value) = field(&below, seen.map(|value| value.get(name)), own)? {
                    all.insert(name.clone(), value);
                }
            }
            Ok(Some(Value::Object(all)))
        }
        (Some(Value::Array(a)), Some(Value::Array(b)), Some(Value::Array(c)))
            if a.len() == b.len() && b.len() == c.len() =>
        {
            let item = |at: usize| field(&format!("{path}[{at}]"), seen.map(|value| value.get(at)), own);
            let items = (0..c.len()).map(|at| Ok(item(at)?.unwrap_or_default()));
            Ok(Some(Value::Array(items.collect::<Result<_, Undecided>>()?)))
        }
        // If the other target already has git's value, a different value may always have been specific to the first
        // target.
        _ if said == other && (has.is_none() || has != other) => match there {
            Some(there) if holds_own(there, other, own) => Err(Undecided(path.to_owned())),
            there => Ok(there.cloned()),
        },
        _ => Err(Undecided(path.to_owned())),
    }
}

/// Whether a value has a text that was filled in only for the first target. A text that the other's value has as well
/// was not.
fn holds_own(there: &Value, other: Option<&Value>, own: &[String]) -> bool {
    own.iter().any(|value| holds(there, value) && !other.is_some_and(|other| holds(other, value)))
}

fn holds(spec: &Value, value: &str) -> bool {
    match spec {
        Value::String(text) => text.contains(value),
        Value::Array(items) => items.iter().any(|item| holds(item, value)),
        Value::Object(fields) => fields.values().any(|field| holds(field, value)),
        Value::Number(_) | Value::Bool(_) => {
            let written = spec.to_string();
            written == value
        }
        Value::Null => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn gets(said: &Value, there: &Value, other: &Value, has: Option<&Value>, own: &str) -> Result<Value, Undecided> {
        carried(FourViews { said: Some(said), there: Some(there), other: Some(other), has }, &[own.to_owned()])
    }

    #[test]
    fn what_is_nobodys_own_is_carried_over_and_what_is_stays() {
        let said = json!({"name": "Test", "who": {"tag": "v3"}, "all": [{"x": 1}, {"y": "Test"}]});
        let there = json!({"name": "Test", "who": {"tag": "v2"}, "all": [{"x": 0}, {"y": "Test"}], "more": true});
        let other = json!({"name": "Live", "who": {"tag": "v3"}, "all": [{"x": 1}, {"y": "Live"}]});
        let expected = json!({"name": "Live", "who": {"tag": "v2"}, "all": [{"x": 0}, {"y": "Live"}], "more": true});
        assert_eq!(gets(&said, &there, &other, None, "Test"), Ok(expected));
    }

    #[test]
    fn what_was_filled_in_for_one_target_is_never_carried_over() {
        let (said, other) = (json!({"who": {"tag": "a-test2"}}), json!({"who": {"tag": "a-live2"}}));
        let there = json!({"who": {"tag": "a-test"}});
        assert_eq!(gets(&said, &there, &other, None, "none"), Err(Undecided("who.tag".to_owned())));
        // Git now has the same value for both, but not at the time of the apply.
        let (now, there) = (json!({"tag": "b", "number": 1}), json!({"tag": "a-test", "number": 5}));
        assert_eq!(gets(&now, &there, &now, None, "test"), Err(Undecided("tag".to_owned())));
        assert_eq!(gets(&now, &there, &now, None, "5"), Err(Undecided("number".to_owned())));
        assert_eq!(gets(&now, &there, &now, None, "b-test"), Ok(there.clone()));
        // The other target never had the value: it may come from an overlay that no longer exists.
        assert_eq!(gets(&now, &there, &now, Some(&now), "none"), Err(Undecided("number".to_owned())));
        let has = json!({"tag": "c", "number": 0});
        assert_eq!(gets(&now, &there, &now, Some(&has), "none"), Ok(there));
    }
}
