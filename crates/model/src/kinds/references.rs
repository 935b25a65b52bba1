//! The segments that a spec names, in the places where a kind has audiences.

use serde_json::Value;

use crate::node::Shared;
use crate::nouns::audience::written;

/// What stands at a place of a spec, which is written as its keys with a slash before each.
fn within<'v>(spec: &'v Value, at: &str) -> Option<&'v Value> {
    at.split('/').skip(1).try_fold(spec, |value, key| value.get(key))
}

/// The keys of the segments that a spec names.
pub fn segments<'v>(audiences: &[&str], spec: &'v Value) -> Vec<&'v str> {
    audiences.iter().filter_map(|at| within(spec, at)).flat_map(written::segments).collect()
}

/// The ids of the segments that a spec names by them.
pub fn named_ids<'v>(audiences: &[&str], spec: &'v Value) -> Vec<&'v str> {
    audiences.iter().filter_map(|at| within(spec, at)).flat_map(written::ids).collect()
}

/// Whether a spec may name a segment. Most do not, as their texts show.
pub fn may_name(audiences: &[&str], spec: &Shared) -> bool {
    !audiences.is_empty() && spec.may_have("segment")
}

/// The keys of the segments that a spec names. One that names none is not looked at any closer.
pub fn named<'s>(audiences: &[&str], spec: &'s Shared) -> Vec<&'s str> {
    if may_name(audiences, spec) { segments(audiences, spec) } else { Vec::new() }
}

/// A spec with each reference to a segment replaced. One without any is the same.
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

/// A value with each reference to a segment replaced.
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
