//! Differences between two specs, field by field: maps by their keys, lists by the identity of their items.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::{Map, Value};
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// A different field, by its path in the manifest: `push.notification.alert`.
#[derive(Clone, Debug, PartialEq)]
pub struct Field<'v> {
    pub path: String,
    /// `None`: it did not exist.
    pub old: Option<&'v Value>,
    /// `None`: it will not exist.
    pub new: Option<&'v Value>,
    /// The old and new positions from 0, if only its position in a list differs.
    pub moved: Option<(usize, usize)>,
}

/// All different fields, and the number of equal ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Difference<'v> {
    pub fields: Vec<Field<'v>>,
    pub same: usize,
}

impl<'v> Difference<'v> {
    /// Compares two specs. A missing side has no fields.
    pub fn between(old: Option<&'v Value>, new: Option<&'v Value>) -> Self {
        let mut found = Self::default();
        found.compare(String::new(), old, new);
        found
    }

    fn compare(&mut self, path: String, old: Option<&'v Value>, new: Option<&'v Value>) {
        match old.zip(new).filter(|(old, new)| old == new) {
            Some((same, _)) => self.same += leaves(same),
            None => self.differ(path, old, new),
        }
    }

    /// Adds the differences between two values that are known to differ.
    fn differ(&mut self, path: String, old: Option<&'v Value>, new: Option<&'v Value>) {
        match (old, new) {
            (None, None) => {}
            (Some(Value::Object(old)), Some(Value::Object(new))) => self.maps(&path, Some(old), Some(new)),
            (Some(Value::Object(map)), None) if !map.is_empty() => self.maps(&path, Some(map), None),
            (None, Some(Value::Object(map))) if !map.is_empty() => self.maps(&path, None, Some(map)),
            (Some(Value::Array(old)), Some(Value::Array(new))) if has_maps(old) && has_maps(new) => {
                self.lists(&path, old, new);
            }
            // A field with one or many values that has one: its author wrote no list.
            (Some(Value::Array(items)), None) if is_one_map(items) => self.compare(path, items.first(), None),
            (None, Some(Value::Array(items))) if is_one_map(items) => self.compare(path, None, items.first()),
            (old, new) => self.fields.push(Field { path, old, new, moved: None }),
        }
    }

    fn maps(&mut self, path: &str, old: Option<&'v Map<String, Value>>, new: Option<&'v Map<String, Value>>) {
        for (key, old, new) in side_by_side(old, new) {
            match old.zip(new).filter(|(old, new)| old == new) {
                Some((same, _)) => self.same += leaves(same),
                None => {
                    let below = if path.is_empty() { key.clone() } else { [path, ".", key].concat() };
                    self.differ(below, old, new);
                }
            }
        }
    }

    fn lists(&mut self, path: &str, old: &'v [Value], new: &'v [Value]) {
        if old.len() == 1 && new.len() == 1 {
            return self.compare(path.to_owned(), old.first(), new.first());
        }
        match keys(old).zip(keys(new)) {
            Some((was, is)) => {
                let [old_keys, new_keys] = [&was, &is].map(|keys| keys.iter().map(|key| &**key).collect::<Vec<&str>>());
                self.by_key(path, (old, &old_keys), (new, &new_keys));
            }
            None => self.by_place(path, old, new),
        }
    }

    /// Compares items with unique keys by key, whatever their positions.
    fn by_key(&mut self, path: &str, old: (&'v [Value], &[&str]), new: (&'v [Value], &[&str])) {
        let ((old, old_keys), (new, new_keys)) = (old, new);
        let (was, is) = (places(old_keys), places(new_keys));
        let common: Vec<&str> = old_keys.iter().copied().filter(|key| is.contains_key(key)).collect();
        let now: Vec<&str> = new_keys.iter().copied().filter(|key| was.contains_key(key)).collect();
        let mut moved: Vec<&str> = Vec::new();
        for op in capture_diff_slices(Algorithm::Myers, &common, &now) {
            if !matches!(op, DiffOp::Equal { .. }) {
                moved.extend(&now[op.new_range()]);
            }
        }
        for (place, key) in old_keys.iter().enumerate().filter(|(_, key)| !is.contains_key(*key)) {
            self.compare(format!("{path}[{key}]"), Some(&old[place]), None);
        }
        for (place, key) in new_keys.iter().enumerate() {
            let at = format!("{path}[{key}]");
            match was.get(key) {
                Some(from) => {
                    self.compare(at.clone(), Some(&old[*from]), Some(&new[place]));
                    if moved.contains(key) {
                        self.fields.push(Field { path: at, old: None, new: None, moved: Some((*from, place)) });
                    }
                }
                None => self.compare(at, None, Some(&new[place])),
            }
        }
    }

    /// Compares other lists: equal items in the same order are paired. Between them, items are compared one by one if
    /// their numbers are equal; otherwise the old ones are removed and the new ones added, and an item that is both
    /// removed and added has moved.
    fn by_place(&mut self, path: &str, old: &'v [Value], new: &'v [Value]) {
        let Matched { beside, goes, comes } = Matched::of(old, new);
        for (from, to) in beside {
            match old[from] == new[to] {
                true => self.same += leaves(&new[to]),
                false => self.differ(format!("{path}[{to}]"), Some(&old[from]), Some(&new[to])),
            }
        }
        for (from, to) in goes {
            match to {
                Some(to) => {
                    let path = format!("{path}[{to}]");
                    self.fields.push(Field { path, old: None, new: None, moved: Some((from, to)) });
                }
                None => self.fields.push(Field {
                    path: format!("{path}[{from}]"),
                    old: Some(&old[from]),
                    new: None,
                    moved: None,
                }),
            }
        }
        for to in comes {
            self.fields.push(Field { path: format!("{path}[{to}]"), old: None, new: Some(&new[to]), moved: None });
        }
    }
}

/// A key, with its value in each of two maps.
type KeyPair<'v> = (&'v String, Option<&'v Value>, Option<&'v Value>);

/// All keys of two maps, sorted.
fn side_by_side<'v>(old: Option<&'v Map<String, Value>>, new: Option<&'v Map<String, Value>>) -> Vec<KeyPair<'v>> {
    let sorted = |map: Option<&'v Map<String, Value>>| {
        let mut all: Vec<(&'v String, &'v Value)> = map.into_iter().flatten().collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        all.into_iter().peekable()
    };
    let (mut old, mut new) = (sorted(old), sorted(new));
    let mut found = Vec::with_capacity(old.len().max(new.len()));
    while let Some(key) = old.peek().into_iter().chain(new.peek()).map(|(key, _)| *key).min() {
        let was = old.next_if(|(own, _)| *own == key).map(|(_, value)| value);
        let is = new.next_if(|(own, _)| *own == key).map(|(_, value)| value);
        found.push((key, was, is));
    }
    found
}

/// The pairing of items of two lists, by their positions.
#[derive(Default)]
struct Matched {
    /// Items in the same order.
    beside: Vec<(usize, usize)>,
    /// Removed items, with the new position if they have moved.
    goes: Vec<(usize, Option<usize>)>,
    /// Added items.
    comes: Vec<usize>,
}

impl Matched {
    fn of(old: &[Value], new: &[Value]) -> Self {
        let mut found = Self::default();
        for (before, after) in aligned(old, new) {
            if before.len() == after.len() {
                found.beside.extend(before.zip(after));
            } else {
                found.goes.extend(before.map(|from| (from, None)));
                found.comes.extend(after);
            }
        }
        for (from, to) in &mut found.goes {
            let same = found.comes.iter().position(|to| new[*to] == old[*from]);
            *to = same.map(|place| found.comes.remove(place));
        }
        found
    }
}

/// For each item of a new list, the item of the old one that it is compared with.
pub(crate) fn partners(old: &[Value], new: &[Value]) -> Vec<Option<usize>> {
    let mut found = vec![None; new.len()];
    if old.len() == 1 && new.len() == 1 {
        return vec![Some(0)];
    }
    if let Some((old, new)) = keys(old).zip(keys(new)) {
        let old: Vec<&str> = old.iter().map(|key| &**key).collect();
        let was = places(&old);
        return new.iter().map(|key| was.get(&**key).copied()).collect();
    }
    let Matched { beside, goes, .. } = Matched::of(old, new);
    let moved = goes.into_iter().filter_map(|(from, to)| Some((from, to?)));
    for (from, to) in beside.into_iter().chain(moved) {
        found[to] = Some(from);
    }
    found
}

/// Pairs two lists range by range: equal items, and the ranges between them.
fn aligned(old: &[Value], new: &[Value]) -> Vec<(Range<usize>, Range<usize>)> {
    if let Some((was, is)) = one_edit(old, new) {
        let begin = (0..was.start, 0..is.start);
        let end = (was.end..old.len(), is.end..new.len());
        return vec![begin, (was, is), end];
    }
    let texts = |items: &[Value]| -> Vec<String> { items.iter().map(Value::to_string).collect() };
    let found = capture_diff_slices(Algorithm::Myers, &texts(old), &texts(new));
    found.iter().map(|op| (op.old_range(), op.new_range())).collect()
}

/// The only item that was added, removed or changed, if it differs from its neighbours: then the pairing is
/// unambiguous.
fn one_edit(old: &[Value], new: &[Value]) -> Option<(Range<usize>, Range<usize>)> {
    let alike = |(one, other): &(&Value, &Value)| one == other;
    let begin = old.iter().zip(new).take_while(alike).count();
    let end = old[begin..].iter().rev().zip(new[begin..].iter().rev()).take_while(alike).count();
    let (was, is) = (begin..old.len() - end, begin..new.len() - end);
    let beside = [begin.checked_sub(1).map(|before| &old[before]), old.get(was.end)];
    let mut edited = old[was.clone()].iter().chain(&new[is.clone()]);
    let one = was.len() <= 1 && is.len() <= 1 && edited.all(|item| !beside.contains(&Some(item)));
    one.then_some((was, is))
}

fn places<'k>(keys: &[&'k str]) -> BTreeMap<&'k str, usize> {
    keys.iter().enumerate().map(|(place, key)| (*key, place)).collect()
}

/// The fields that can identify the items of a list, if their values are unique.
const KEYS: [&str; 3] = ["key", "name", "id"];

/// The keys of the items, if each has one and all differ.
fn keys(items: &[Value]) -> Option<Vec<Cow<'_, str>>> {
    type Keys<'k> = Option<Vec<Cow<'k, str>>>;
    let by_field =
        |field: &&str| -> Keys { items.iter().map(|item| item.get(field)?.as_str().map(Cow::Borrowed)).collect() };
    let by_locale = || -> Keys { items.iter().map(|item| locale(item).map(Cow::Owned)).collect() };
    let found = KEYS.iter().map(by_field).chain(std::iter::once_with(by_locale));
    found.flatten().find(|found| {
        let mut sorted: Vec<&str> = found.iter().map(|key| &**key).collect();
        sorted.sort_unstable();
        sorted.dedup();
        sorted.len() == found.len()
    })
}

/// The locale of a localization: `de-AT`.
fn locale(item: &Value) -> Option<String> {
    let codes = ["language", "country"].into_iter().filter_map(|field| item.get(field)?.as_str());
    codes.map(str::to_owned).reduce(|locale, code| format!("{locale}-{code}"))
}

/// The single fields of a spec. The value at a pointer in `whole` is one field.
pub fn fields<'v>(spec: &'v Value, whole: &[&str]) -> Vec<(String, &'v Value)> {
    let mut found = Vec::new();
    // A pointer is tracked while it is a prefix of one of these.
    let leads = |pointer: &String| whole.iter().any(|at| at.starts_with(pointer.as_str()));
    let mut all: Vec<(String, Option<String>, &Value)> = vec![(String::new(), Some(String::new()), spec)];
    while let Some((path, pointer, value)) = all.pop() {
        match value {
            Value::Object(map) if !map.is_empty() && !pointer.as_deref().is_some_and(|at| whole.contains(&at)) => {
                let below = |(key, value): (&String, &'v Value)| {
                    let path = if path.is_empty() { key.clone() } else { [&*path, ".", key].concat() };
                    let pointer = pointer.as_ref().map(|at| [at, "/", key].concat());
                    (path, pointer.filter(leads), value)
                };
                all.extend(map.iter().rev().map(below));
            }
            Value::Array(items) if is_one_map(items) => {
                let pointer = pointer.map(|at| at + "/0").filter(leads);
                all.push((path, pointer, &items[0]));
            }
            Value::Array(items) if has_maps(items) => {
                let below = |(number, value)| {
                    let pointer = pointer.as_ref().map(|at| format!("{at}/{number}")).filter(leads);
                    (format!("{path}[{number}]"), pointer, value)
                };
                all.extend(items.iter().enumerate().rev().map(below));
            }
            value => found.push((path, value)),
        }
    }
    found
}

/// The nested fields of a spec that have one of these names, or whose names end with a suffix.
pub fn ending_in<'v>(spec: &'v Value, names: &[&str], end: &str) -> Vec<&'v Value> {
    let mut found = Vec::new();
    let mut all: Vec<(Option<&str>, bool, &Value)> = vec![(None, false, spec)];
    while let Some((name, beneath, value)) = all.pop() {
        match value {
            Value::Object(map) if !map.is_empty() => {
                let beneath = name.is_some() || beneath;
                all.extend(map.iter().rev().map(|(key, value)| (Some(key.as_str()), beneath, value)));
            }
            Value::Array(items) if is_one_map(items) => all.push((name, beneath, &items[0])),
            Value::Array(items) if has_maps(items) => {
                all.extend(items.iter().rev().map(|value| (None, true, value)));
            }
            value => {
                let is_it = |name: &str| beneath && names.contains(&name) || name.ends_with(end);
                found.extend(name.is_some_and(is_it).then_some(value));
            }
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

/// The number of fields of a value: a list of scalars is one.
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
        let told = |field: &Field| match field.moved {
            Some((from, to)) => format!("{} moved {from} {to}", field.path),
            None => format!("{} {} {}", field.path, side(field.old), side(field.new)),
        };
        (fields.iter().map(told).collect(), same)
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
            (
                json!({"v": [{"key": "A", "d": 1}, {"key": "B", "d": 2}, {"key": "C", "d": 3}]}),
                json!({"v": [{"key": "C", "d": 3}, {"key": "A", "d": 1}, {"key": "B", "d": 9}]}),
                vec!["v[C] moved 2 0", "v[B].d 2 9"],
                5,
            ),
            (
                json!({"v": [{"key": "A", "d": 1}, {"key": "B", "d": 2}]}),
                json!({"v": [{"key": "B", "d": 2}]}),
                vec![r#"v[A].d 1 -"#, r#"v[A].key "A" -"#],
                2,
            ),
            (
                json!({"o": [{"t": 1}, {"t": 2}, {"t": 3}]}),
                json!({"o": [{"t": 3}, {"t": 1}, {"t": 2}]}),
                vec!["o[0] moved 2 0"],
                2,
            ),
            (json!({"who": "all"}), json!({"who": {"segment": "x"}}), vec![r#"who "all" {"segment":"x"}"#], 0),
        ] {
            assert_eq!(told(&old, &new), (fields.into_iter().map(str::to_owned).collect(), same), "{old} {new}");
        }
    }

    #[test]
    fn fields_are_found_by_their_names() {
        let spec = json!({
            "title": "not beneath anything",
            "push": {"alert": "a", "body": {}, "tags": ["b"]},
            "variants": [{"title": "c"}, {"alert": ["d", {"body": "e"}]}],
            "v": [{"x_default_value": 1, "alert": null}],
            "default_value": "f",
        });
        let found = ending_in(&spec, &["alert", "title", "body"], "default_value");
        let expected = [json!("f"), json!("a"), json!({}), json!(null), json!(1), json!("c"), json!("e")];
        assert_eq!(found, expected.iter().collect::<Vec<_>>());
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
            prop_assert!(found.fields.iter().all(|field| (field.old != field.new) != field.moved.is_some()));
        }
    }
}
