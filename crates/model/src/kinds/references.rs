//! The segments that a spec names, at the places where its kind has audiences.

use serde_json::Value;

use crate::node::Shared;
use crate::nouns::audience::written;

/// Returns the value at a place of a spec. The place is written as its keys with a slash before each.
fn within<'v>(spec: &'v Value, at: &str) -> Option<&'v Value> {
    at.split('/').skip(1).try_fold(spec, |value, key| value.get(key))
}

/// Returns the keys of the segments that a spec names.
pub fn segments<'v>(audiences: &[&str], spec: &'v Value) -> Vec<&'v str> {
    audiences.iter().filter_map(|at| within(spec, at)).flat_map(written::segments).collect()
}

/// Returns the ids of the segments that a spec names by id.
pub fn named_ids<'v>(audiences: &[&str], spec: &'v Value) -> Vec<&'v str> {
    audiences.iter().filter_map(|at| within(spec, at)).flat_map(written::ids).collect()
}

/// Whether a spec may name a segment. The texts of most specs show that they do not.
pub fn may_name(audiences: &[&str], spec: &Shared) -> bool {
    !audiences.is_empty() && spec.may_have("segment")
}

/// Returns the keys of the segments that a spec names. A spec that cannot name any is not parsed.
pub fn named<'s>(audiences: &[&str], spec: &'s Shared) -> Vec<&'s str> {
    if may_name(audiences, spec) { segments(audiences, spec) } else { Vec::new() }
}

/// Replaces each reference to a segment in a spec. A spec without references stays the same.
pub fn pointed(audiences: &[&str], spec: &Shared, to: &mut dyn FnMut(&Value) -> Value) -> Shared {
    if !may_name(audiences, spec) {
        return spec.clone();
    }
    let tree = spec.tree();
    if names_any(audiences, &tree) { Shared::of(&point(audiences, &tree, to)) } else { spec.clone() }
}

/// Whether a spec names a segment.
pub fn names_any(audiences: &[&str], spec: &Value) -> bool {
    audiences.iter().filter_map(|at| within(spec, at)).any(written::names_any)
}

/// Replaces each reference to a segment in a value.
pub fn point(audiences: &[&str], spec: &Value, to: &mut dyn FnMut(&Value) -> Value) -> Value {
    let mut spec = spec.clone();
    for at in audiences {
        let selector = at.split('/').skip(1).try_fold(&mut spec, |value, key| value.get_mut(key));
        if let Some(selector) = selector {
            written::point(selector, to);
        }
    }
    spec
}
