//! Fields that are left to the dashboard.

use std::borrow::Cow;

use pushplan_model::nouns::field_path::{pointer, put, take};
use serde_json::Value;

/// Returns the desired state with the live values at these paths, and the paths whose values differ.
pub fn ignoring<'d>(desired: &'d Value, live: &Value, paths: &[String]) -> (Cow<'d, Value>, Vec<String>) {
    let mut out = Cow::Borrowed(desired);
    let mut differ = Vec::new();
    for path in paths {
        let (ours, theirs) = (pointer(&out, path), pointer(live, path));
        let value = theirs.as_ref().and_then(|at| live.pointer(at));
        if ours.as_ref().and_then(|at| out.pointer(at)) == value {
            continue;
        }
        match (value, theirs, ours) {
            (Some(value), Some(at), _) => put(out.to_mut(), &at, value.clone()),
            (_, _, Some(at)) => take(out.to_mut(), &at, live),
            _ => continue,
        }
        differ.push(path.clone());
    }
    (out, differ)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_ignored_field_is_as_the_service_has_it() {
        let desired = json!({"name": "a", "push": {"notification": {"alert": "x"}}});
        let live = json!({"name": "b", "push": {"notification": {"alert": "y"}}});
        let paths = ["push.notification.alert".to_owned(), "missing.path".to_owned()];
        let (out, differ) = ignoring(&desired, &live, &paths);
        assert_eq!(*out, json!({"name": "a", "push": {"notification": {"alert": "y"}}}));
        assert_eq!(differ, ["push.notification.alert"]);
    }

    #[test]
    fn what_one_side_does_not_have_is_ignored_as_well() {
        let paths = ["push.ios.alert".to_owned()];
        let (some, none) = (json!({"push": {"ios": {"alert": "x"}}}), json!({"push": {}}));
        assert_eq!(*ignoring(&none, &some, &paths).0, some);
        assert_eq!(*ignoring(&some, &none, &paths).0, none);
    }
}
