//! Fields that are left to the dashboard.

use serde_json::Value;

/// What is declared, with the fields at these paths as the service has them, and the paths where that makes a difference.
pub fn ignoring(desired: &Value, live: &Value, paths: &[String]) -> (Value, Vec<String>) {
    let mut out = desired.clone();
    let mut differ = Vec::new();
    for path in paths {
        let pointer = format!("/{}", path.replace('.', "/"));
        if desired.pointer(&pointer) == live.pointer(&pointer) {
            continue;
        }
        let Some((parent, key)) = pointer.rsplit_once('/') else { continue };
        let Some(Value::Object(map)) = out.pointer_mut(parent) else { continue };
        match live.pointer(&pointer) {
            Some(value) => drop(map.insert(key.to_owned(), value.clone())),
            None => drop(map.remove(key)),
        }
        differ.push(path.clone());
    }
    (out, differ)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_ignored_field_is_as_the_service_has_it() {
        let desired = json!({"name": "a", "push": {"notification": {"alert": "x"}}});
        let live = json!({"name": "b", "push": {"notification": {"alert": "y"}}});
        let paths = ["push.notification.alert".to_owned(), "missing.path".to_owned()];
        let (out, differ) = ignoring(&desired, &live, &paths);
        assert_eq!(out, json!({"name": "a", "push": {"notification": {"alert": "y"}}}));
        assert_eq!(differ, ["push.notification.alert"]);
    }
}
