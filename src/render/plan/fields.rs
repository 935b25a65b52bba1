//! What differs between two specs, field by field.

use serde_json::{Map, Value};

/// A field that differs, by its path in the manifest: `push.notification.alert`.
#[derive(Clone, Debug, PartialEq)]
pub struct Field<'v> {
    pub path: String,
    /// `None`: it was not there.
    pub old: Option<&'v Value>,
    /// `None`: it will not be there.
    pub new: Option<&'v Value>,
}

/// All that differs, and how many fields do not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Difference<'v> {
    pub fields: Vec<Field<'v>>,
    pub same: usize,
}

impl<'v> Difference<'v> {
    /// What it takes to turn one spec into another. A side that is not there has no fields.
    pub fn between(old: Option<&'v Value>, new: Option<&'v Value>) -> Self {
        let mut found = Self::default();
        found.compare(String::new(), old, new);
        found
    }

    fn compare(&mut self, path: String, old: Option<&'v Value>, new: Option<&'v Value>) {
        match (old, new) {
            (None, None) => {}
            (Some(old), Some(new)) if old == new => self.same += leaves(old),
            (Some(Value::Object(old)), Some(Value::Object(new))) => self.maps(&path, Some(old), Some(new)),
            (Some(Value::Object(map)), None) if !map.is_empty() => self.maps(&path, Some(map), None),
            (None, Some(Value::Object(map))) if !map.is_empty() => self.maps(&path, None, Some(map)),
            (Some(Value::Array(old)), Some(Value::Array(new))) if has_maps(old) && has_maps(new) => {
                self.lists(&path, old, new);
            }
            // What may be one or many and is one: its author wrote no list.
            (Some(Value::Array(items)), None) if is_one_map(items) => self.compare(path, items.first(), None),
            (None, Some(Value::Array(items))) if is_one_map(items) => self.compare(path, None, items.first()),
            (old, new) => self.fields.push(Field { path, old, new }),
        }
    }

    fn maps(&mut self, path: &str, old: Option<&'v Map<String, Value>>, new: Option<&'v Map<String, Value>>) {
        let empty = Map::new();
        let mut keys: Vec<&String> = old.unwrap_or(&empty).keys().chain(new.unwrap_or(&empty).keys()).collect();
        keys.sort();
        keys.dedup();
        for key in keys {
            let below = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            self.compare(below, old.and_then(|old| old.get(key)), new.and_then(|new| new.get(key)));
        }
    }

    /// Items at the beginning and at the end that are alike belong together. As many between them are compared one by one;
    /// otherwise the old ones go and the new ones come.
    fn lists(&mut self, path: &str, old: &'v [Value], new: &'v [Value]) {
        if old.len() == 1 && new.len() == 1 {
            return self.compare(path.to_owned(), old.first(), new.first());
        }
        let alike = |pair: &(&Value, &Value)| pair.0 == pair.1;
        let before = old.iter().zip(new).take_while(alike).count();
        let (old_rest, new_rest) = (&old[before..], &new[before..]);
        let after = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(alike).count();
        let old_rest = &old_rest[..old_rest.len() - after];
        let new_rest = &new_rest[..new_rest.len() - after];
        self.same += old.iter().take(before).chain(old.iter().rev().take(after)).map(leaves).sum::<usize>();
        let at = |number: usize| format!("{path}[{}]", before + number);
        if old_rest.len() == new_rest.len() {
            for (number, (old, new)) in old_rest.iter().zip(new_rest).enumerate() {
                self.compare(at(number), Some(old), Some(new));
            }
            return;
        }
        for (number, item) in old_rest.iter().enumerate() {
            self.fields.push(Field { path: at(number), old: Some(item), new: None });
        }
        for (number, item) in new_rest.iter().enumerate() {
            self.fields.push(Field { path: at(number), old: None, new: Some(item) });
        }
    }
}

/// A spec as single fields. What stands at one of the pointers in `whole` stays in one piece.
pub fn fields<'v>(spec: &'v Value, whole: &[&str]) -> Vec<(String, &'v Value)> {
    let mut found = Vec::new();
    let mut all: Vec<(String, String, &Value)> = vec![(String::new(), String::new(), spec)];
    while let Some((path, pointer, value)) = all.pop() {
        match value {
            Value::Object(map) if !map.is_empty() && !whole.contains(&pointer.as_str()) => {
                let below = |(key, value)| {
                    let path = if path.is_empty() { String::clone(key) } else { format!("{path}.{key}") };
                    (path, format!("{pointer}/{key}"), value)
                };
                all.extend(map.iter().rev().map(below));
            }
            Value::Array(items) if is_one_map(items) => all.push((path, format!("{pointer}/0"), &items[0])),
            Value::Array(items) if has_maps(items) => {
                let below = |(number, value)| (format!("{path}[{number}]"), format!("{pointer}/{number}"), value);
                all.extend(items.iter().enumerate().rev().map(below));
            }
            value => found.push((path, value)),
        }
    }
    found
}

fn has_maps(items: &[Value]) -> bool {
    items.iter().any(Value::is_object)
}

fn is_one_map(items: &[Value]) -> bool {
    items.len() == 1 && has_maps(items)
}

/// How many fields a value has: a list of plain values is one.
fn leaves(value: &Value) -> usize {
    match value {
        Value::Object(map) => map.values().map(leaves).sum(),
        Value::Array(items) if has_maps(items) => items.iter().map(leaves).sum(),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn told(old: &Value, new: &Value) -> (Vec<String>, usize) {
        let Difference { fields, same } = Difference::between(Some(old), Some(new));
        let side = |value: Option<&Value>| value.map_or("-".to_owned(), Value::to_string);
        (fields.iter().map(|field| format!("{} {} {}", field.path, side(field.old), side(field.new))).collect(), same)
    }

    #[test]
    fn only_what_differs_is_told() {
        for (old, new, fields, same) in [
            (
                json!({"a": 1, "b": {"c": "x", "d": 2}}),
                json!({"a": 1, "b": {"c": "y", "d": 2}}),
                vec![r#"b.c "x" "y""#],
                2,
            ),
            (json!({"a": 1}), json!({"a": 1, "b": {"c": 2}}), vec!["b.c - 2"], 1),
            (json!({"tags": ["a"]}), json!({"tags": ["a", "b"]}), vec![r#"tags ["a"] ["a","b"]"#], 0),
            (json!({"o": [{"d": 1, "e": 0}]}), json!({"o": [{"d": 2, "e": 0}]}), vec!["o.d 1 2"], 1),
            (json!({"o": [{"d": 1}, {"d": 2}]}), json!({"o": [{"d": 1}, {"d": 3}]}), vec!["o[1].d 2 3"], 1),
            (
                json!({"and": [{"t": 1}, {"t": 2}]}),
                json!({"and": [{"t": 1}, {"t": 9}, {"t": 2}]}),
                vec![r#"and[1] - {"t":9}"#],
                2,
            ),
            (json!({"who": "all"}), json!({"who": {"segment": "x"}}), vec![r#"who "all" {"segment":"x"}"#], 0),
        ] {
            assert_eq!(told(&old, &new), (fields.into_iter().map(str::to_owned).collect(), same), "{old} {new}");
        }
    }

    #[test]
    fn a_spec_is_told_field_by_field_and_its_audience_in_one_piece() {
        let spec = json!({"push": {"audience": {"AND": [{"tag": "a"}]}, "n": {"alert": "x"}}, "schedule": [{"at": 1}]});
        let told = fields(&spec, &["/push/audience"]);
        let paths: Vec<&str> = told.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["push.audience", "push.n.alert", "schedule.at"]);
    }

    fn any_spec() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![(0..3).prop_map(Value::from), "[ab]{0,2}".prop_map(Value::from), Just(Value::Null)];
        leaf.prop_recursive(3, 16, 3, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                proptest::collection::btree_map("[xyz]", inner, 0..3).prop_map(|map| json!(map)),
            ]
        })
    }

    proptest! {
        #[test]
        fn equal_specs_and_they_alone_have_no_difference(old in any_spec(), new in any_spec()) {
            let found = Difference::between(Some(&old), Some(&new));
            prop_assert_eq!(found.fields.is_empty(), old == new);
            prop_assert!(found.fields.iter().all(|field| field.old != field.new));
        }
    }
}
