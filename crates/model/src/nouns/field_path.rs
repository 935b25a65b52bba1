//! Paths to fields, as in manifests and plans: `outcome.push.notification.alert`.

use serde_json::{Map, Value};

/// Returns the JSON pointer for a path. If a list has one item, its number may be left out of the path; otherwise,
/// `[1]` is the second item.
pub fn pointer(value: &Value, path: &str) -> Option<String> {
    if path.is_empty() {
        return Some(String::new());
    }
    match value {
        Value::Object(map) => {
            let begins = |key: &&String| {
                let after = path.strip_prefix(key.as_str());
                after.is_some_and(|after| after.is_empty() || after.starts_with(['.', '[']))
            };
            // The author's own keys may contain a dot: the longest match counts.
            let mut keys: Vec<&String> = map.keys().filter(begins).collect();
            keys.sort_by_key(|key| std::cmp::Reverse(key.len()));
            keys.into_iter().find_map(|key| {
                let after = &path[key.len()..];
                let below = pointer(&map[key], after.strip_prefix('.').unwrap_or(after))?;
                Some(format!("/{}{below}", escaped(key)))
            })
        }
        Value::Array(items) => {
            let (number, after) = place(path).or((items.len() == 1).then_some((0, path)))?;
            Some(format!("/{number}{}", pointer(items.get(number)?, after)?))
        }
        _ => None,
    }
}

/// Returns the list position at the beginning of a path, and the rest of the path.
fn place(path: &str) -> Option<(usize, &str)> {
    let (number, after) = match path.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => path.split_once('.').unwrap_or((path, "")),
    };
    Some((number.parse().ok()?, after.strip_prefix('.').unwrap_or(after)))
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn plain(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}

/// Sets the value at a pointer, and creates the maps on its way.
pub fn put(into: &mut Value, pointer: &str, value: Value) {
    let mut at = into;
    for token in pointer.split('/').skip(1).map(plain) {
        if at.is_null() {
            *at = Value::Object(Map::new());
        }
        at = match at {
            Value::Object(map) => map.entry(token).or_insert(Value::Null),
            Value::Array(items) => match token.parse().ok().and_then(|number: usize| items.get_mut(number)) {
                Some(item) => item,
                None => return,
            },
            _ => return,
        };
    }
    *at = value;
}

/// Removes the value at a pointer, and the maps above it that become empty, unless `other` has a value there.
pub fn take(from: &mut Value, pointer: &str, other: &Value) {
    let Some((parent, key)) = pointer.rsplit_once('/') else { return };
    let Some(Value::Object(map)) = from.pointer_mut(parent) else { return };
    map.remove(&plain(key));
    if map.is_empty() && !parent.is_empty() && other.pointer(parent).is_none() {
        take(from, parent, other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_path_leads_through_what_is_one_of_many() {
        let spec = json!({
            "outcome": [{"push": {"alert": "x"}}],
            "variants": [{"a": 1}, {"a": 2}],
            "extra": {"com.shop.id": {"x": 1}, "com": 1, "a/b": 2},
        });
        for (path, found) in [
            ("outcome", Some("/outcome")),
            ("outcome.push.alert", Some("/outcome/0/push/alert")),
            ("outcome[0].push", Some("/outcome/0/push")),
            ("variants[1].a", Some("/variants/1/a")),
            ("variants.1.a", Some("/variants/1/a")),
            ("variants.a", None),
            ("variants[2].a", None),
            ("extra.com.shop.id.x", Some("/extra/com.shop.id/x")),
            ("extra.com", Some("/extra/com")),
            ("extra.a/b", Some("/extra/a~1b")),
            ("outcome.pus", None),
            ("outcome.push.alert.x", None),
        ] {
            assert_eq!(pointer(&spec, path).as_deref(), found, "{path}");
        }
    }

    #[test]
    fn what_lies_on_the_way_comes_and_goes() {
        let mut spec = json!({"push": {}});
        put(&mut spec, "/push/ios/alert", json!("x"));
        assert_eq!(spec, json!({"push": {"ios": {"alert": "x"}}}));
        take(&mut spec, "/push/ios/alert", &json!({"push": {}}));
        assert_eq!(spec, json!({"push": {}}));
    }
}
