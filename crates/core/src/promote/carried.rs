//! What one target has, where git has gone on since, as another target gets it.
//!
//! A field is carried over where git says the same of it for both targets: it is then nobody's own. Where git says something
//! different for each, the other target keeps its own, unless that field has changed since: nobody knows what it would have
//! been there.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::PromotionSide;

/// What is taken over from the one target, or the first field of which it cannot be said.
pub(super) type Carried = Result<Value, String>;

/// The values of variables that only the one target has. What holds one of them was filled in for that target.
pub(super) fn own_values(from: PromotionSide, to: PromotionSide) -> Vec<String> {
    let is_own = |(name, value): &(&String, &String)| !value.is_empty() && to.variables.get(*name) != Some(*value);
    from.variables.iter().filter(is_own).map(|(_, value)| value.clone()).collect()
}

/// One thing, as four see it.
#[derive(Clone, Copy)]
pub(super) struct FourViews<'v> {
    /// What git says for the one target.
    pub said: Option<&'v Value>,
    /// What the one target has.
    pub there: Option<&'v Value>,
    /// What git says for the other.
    pub other: Option<&'v Value>,
    /// What the other has.
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

/// What the other target gets.
pub(super) fn carried(seen: FourViews, own: &[String]) -> Carried {
    Ok(field("", seen, own)?.unwrap_or_default())
}

fn field(path: &str, seen: FourViews, own: &[String]) -> Result<Option<Value>, String> {
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
            Ok(Some(Value::Array(items.collect::<Result<_, String>>()?)))
        }
        // Where the other target has what git says for both, it was perhaps the one alone that ever had anything else.
        _ if said == other && (has.is_none() || has != other) => match there {
            Some(there) if holds_own(there, other, own) => Err(path.to_owned()),
            there => Ok(there.cloned()),
        },
        _ => Err(path.to_owned()),
    }
}

/// Whether a value holds something that was filled in for the one target alone. What the other's own text holds too was not.
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

    fn gets(said: &Value, there: &Value, other: &Value, has: Option<&Value>, own: &str) -> Carried {
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
        assert_eq!(gets(&said, &there, &other, None, "none"), Err("who.tag".to_owned()));
        // Git says the same for both by now, and did not when it was applied.
        let (now, there) = (json!({"tag": "b", "number": 1}), json!({"tag": "a-test", "number": 5}));
        assert_eq!(gets(&now, &there, &now, None, "test"), Err("tag".to_owned()));
        assert_eq!(gets(&now, &there, &now, None, "5"), Err("number".to_owned()));
        assert_eq!(gets(&now, &there, &now, None, "b-test"), Ok(there.clone()));
        // The other target never had what the one has: an overlay may have said it that is no longer there.
        assert_eq!(gets(&now, &there, &now, Some(&now), "none"), Err("number".to_owned()));
        let has = json!({"tag": "c", "number": 0});
        assert_eq!(gets(&now, &there, &now, Some(&has), "none"), Ok(there));
    }
}
