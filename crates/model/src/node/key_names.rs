//! Finds the known key that an unknown one was probably meant to be.

use crate::text;

/// Returns the known key of which an unknown one is a part. If there are several, a required one that is missing is
/// meant: `trigger` is `immediate_trigger`, not `cancellation_trigger`.
pub(super) fn near_or_missing<'k>(key: &str, known: &[&'k str], missing: &[&'k str]) -> Option<&'k str> {
    near_name(key, known).or_else(|| text::with_part(key, missing.iter().copied()))
}

/// Returns the known key that an unknown one was probably meant to be: a similar one, one without a space after its
/// colon, or one that shares a part with it.
pub(super) fn meant<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    near_name(key, known).or_else(|| text::part_of(key, known.iter().copied()))
}

/// Returns the known key that an unknown one misspells or is a part of. Unlike `meant`, it does not return a known key that is
/// only a part of the unknown one, because a further field can be called `message_type`.
pub(super) fn near_name<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    let names = || known.iter().copied();
    let glued = names().find(|name| key.strip_prefix(name).is_some_and(|rest| rest.starts_with(':')));
    glued.or_else(|| text::nearest(key, names())).or_else(|| text::with_part(key, names()))
}
