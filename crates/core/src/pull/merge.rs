//! Merging changes in git and changes on the service, field by field.

use std::collections::BTreeSet;

use pushplan_model::kinds::remote;
use serde_json::{Map, Value};

use crate::compare::Names;

/// A field that was changed differently on both sides since the last apply. `None`: it does not exist.
#[derive(Clone, Debug, PartialEq)]
pub struct Clash {
    /// Its path, such as `push.notification.alert`; empty: the whole resource.
    pub path: String,
    pub git: Option<Value>,
    pub live: Option<Value>,
    pub applied: Option<Value>,
}

/// The applied, desired and live value of one field.
#[derive(Clone, Copy, Debug)]
pub struct Field<'v> {
    applied: Option<&'v Value>,
    git: Option<&'v Value>,
    live: Option<&'v Value>,
}

impl<'v> Field<'v> {
    pub fn of(applied: &'v Value, git: &'v Value, live: &'v Value) -> Self {
        Self { applied: Some(applied), git: Some(git), live: Some(live) }
    }

    fn below(self, key: &str) -> Self {
        let get = |value: Option<&'v Value>| value.and_then(|value| value.get(key));
        Self { applied: get(self.applied), git: get(self.git), live: get(self.live) }
    }
}

/// Returns a spec that names managed segments by their keys instead of their ids.
pub fn by_key(audiences: &[&str], names: &Names, spec: &Value) -> Value {
    remote::point(audiences, spec, &mut |reference| {
        let key = reference["id"].as_str().and_then(|id| names.key(id));
        key.map_or_else(|| reference.clone(), Value::from)
    })
}

/// Returns a spec that names managed segments by their keys. An audience with the same meaning in `other` is written as
/// there.
pub fn like(audiences: &[&str], names: &Names, spec: &Value, other: &Value) -> Value {
    let (mut spec, keyed) = (by_key(audiences, names, spec), by_key(audiences, names, other));
    for at in audiences {
        if let (Some(mine), Some(written)) = (spec.pointer_mut(at), other.pointer(at))
            && Some(&*mine) == keyed.pointer(at)
        {
            *mine = written.clone();
        }
    }
    spec
}

/// Merges the changes of a field since the last apply: changes in git are kept, and changes only on the service are
/// taken over. An audience is one field. Fields that were changed on both sides are added to `clashes`; without it, the
/// service wins.
pub fn merged(audiences: &[&str], path: &str, field: Field, clashes: &mut Option<Vec<Clash>>) -> Option<Value> {
    let Field { applied, git, live } = field;
    if live == applied || live == git {
        return git.cloned();
    }
    if git == applied {
        return live.cloned();
    }
    match (git, live) {
        (Some(Value::Object(ours)), Some(Value::Object(theirs))) if !audiences.contains(&path) => {
            let keys: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
            let mut out = Map::new();
            for key in keys {
                let value = merged(audiences, &format!("{path}/{key}"), field.below(key), clashes);
                out.extend(value.map(|value| (key.clone(), value)));
            }
            Some(out.into())
        }
        _ => match clashes {
            Some(clashes) => {
                let path = path.trim_start_matches('/').replace('/', ".");
                clashes.push(Clash { path, git: git.cloned(), live: live.cloned(), applied: applied.cloned() });
                git.cloned()
            }
            None => live.cloned(),
        },
    }
}

/// One field after an edit: the applied, desired, intended and live value.
#[derive(Clone, Copy, Debug)]
pub struct Edited<'v> {
    pub applied: Option<&'v Value>,
    pub said: Option<&'v Value>,
    pub wanted: Option<&'v Value>,
    pub live: Option<&'v Value>,
}

impl<'v> Edited<'v> {
    fn below(self, key: &str) -> Self {
        let get = |value: Option<&'v Value>| value.and_then(|value| value.get(key));
        Self { applied: get(self.applied), said: get(self.said), wanted: get(self.wanted), live: get(self.live) }
    }
}

/// The state to record as applied when a part of the service's changes is in git: that part as on the service. Fields
/// that could not be edited, and those that were changed on both sides, stay as applied, so that they are reported
/// again.
pub fn rebased(audiences: &[&str], path: &str, field: Edited, clashes: &[Clash]) -> Option<Value> {
    let Edited { applied, said, wanted, live } = field;
    let dotted = path.trim_start_matches('/').replace('/', ".");
    let is_open = |clash: &Clash| clash.path == dotted;
    let is_beneath = |clash: &Clash| path.is_empty() || clash.path.starts_with(&format!("{dotted}."));
    if clashes.iter().any(is_open) {
        return applied.cloned();
    }
    if said == wanted && !clashes.iter().any(is_beneath) {
        return live.cloned();
    }
    match (said, wanted, live) {
        (Some(Value::Object(_)), Some(Value::Object(_)), Some(Value::Object(theirs))) if !audiences.contains(&path) => {
            let before = applied.and_then(Value::as_object).into_iter().flat_map(Map::keys);
            let keys: BTreeSet<&String> = theirs.keys().chain(before).collect();
            let mut out = Map::new();
            for key in keys {
                let value = rebased(audiences, &format!("{path}/{key}"), field.below(key), clashes);
                out.extend(value.map(|value| (key.clone(), value)));
            }
            Some(out.into())
        }
        _ => applied.cloned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn both(applied: &Value, git: &Value, live: &Value) -> (Value, Vec<Clash>) {
        let mut clashes = Some(Vec::new());
        let value = merged(&["/criteria"], "", Field::of(applied, git, live), &mut clashes).expect("a value");
        (value, clashes.unwrap_or_default())
    }

    #[test]
    fn what_was_changed_on_one_side_alone_is_taken_from_there() {
        let applied = json!({ "name": "a", "push": { "alert": "x", "title": "t" } });
        let git = json!({ "name": "b", "push": { "alert": "x", "title": "t" } });
        let live = json!({ "name": "a", "push": { "alert": "y" } });
        assert_eq!(both(&applied, &git, &live), (json!({ "name": "b", "push": { "alert": "y" } }), Vec::new()));
    }

    #[test]
    fn what_was_changed_on_both_sides_stays_what_git_says() {
        let criteria = |value: Value| json!({ "criteria": value, "push": { "alert": value } });
        let (a, b, c) = (json!({ "tag": "a" }), json!({ "tag": "b" }), json!({ "NOT": "c" }));
        let (value, clashes) = both(&criteria(a.clone()), &criteria(b.clone()), &criteria(c.clone()));
        assert_eq!(value["criteria"], b);
        let clash = Clash { path: "criteria".to_owned(), git: Some(b), live: Some(c), applied: Some(a) };
        assert_eq!(clashes[0], clash);
        let (value, clashes) = both(&json!({ "x": 1, "y": 1 }), &json!({ "x": 1 }), &json!({ "x": 1, "y": 2 }));
        assert_eq!((value, clashes.len()), (json!({ "x": 1 }), 1), "what git no longer has does not come back");
        assert_eq!(both(&json!({ "x": 1 }), &json!({ "x": 2 }), &json!({ "x": 2 })), (json!({ "x": 2 }), Vec::new()));
    }

    #[test]
    fn what_is_in_git_by_now_counts_as_applied_and_nothing_else() {
        let spec = |description: &str, alert: &str| json!({ "description": description, "push": { "alert": alert } });
        let (applied, said) = (spec("d0", "hi"), spec("d1", "hi"));
        let live = spec("d1", "ho");
        let of = |wanted: &Value, clashes: &[Clash]| {
            let field = Edited { applied: Some(&applied), said: Some(&said), wanted: Some(wanted), live: Some(&live) };
            rebased(&["/criteria"], "", field, clashes).expect("a value")
        };
        assert_eq!(of(&live, &[]), spec("d1", "hi"), "the alert could not be placed");
        let clash = |path: &str| Clash { path: path.to_owned(), git: None, live: None, applied: None };
        assert_eq!(of(&said, &[clash("push.alert")]), spec("d1", "hi"), "git's alert stays");
        assert_eq!(of(&said, &[clash("push")]), spec("d1", "hi"));
        assert_eq!(of(&said, &[clash("")]), applied);
        assert_eq!(of(&said, &[]), live);
    }
}
