//! Merging two trees: defaults below a resource, a target's overlay over it.

use std::collections::HashMap;

use pushplan_model::node::{At, MapEntry, Node, Tree};

/// Merges the tree `over` into `under`: maps are merged key by key, everything else is replaced. A key whose value is
/// null in `over` is removed.
pub(crate) fn lay(under: &Node, over: &Node) -> Node {
    lay_and_tell(under, over, &mut Vec::new())
}

/// Merges the trees like [`lay`], and adds each removed key to `taken`, with the position of its null.
pub(crate) fn lay_and_tell(under: &Node, over: &Node, taken: &mut Vec<At<String>>) -> Node {
    let (Tree::Map(below), Tree::Map(above)) = (&under.tree, &over.tree) else {
        return over.clone();
    };
    let (at_below, at_above) = (Index::of(below), Index::of(above));
    let mut entries = Vec::with_capacity(below.len() + above.len());
    for entry in below {
        match at_above.get(&entry.key) {
            None => entries.push(entry.clone()),
            Some(other) if other.value.is_null() => {
                // In `key:` without a value, only the key has a position.
                let null = other.value.span;
                let at = if null.range().is_empty() { other.key.span } else { null };
                taken.push(At::new(entry.key.value.clone(), at));
            }
            Some(other) => {
                let value = lay_and_tell(&entry.value, &other.value, taken);
                entries.push(MapEntry { key: other.key.clone(), value });
            }
        }
    }
    let new = above.iter().filter(|entry| at_below.get(&entry.key).is_none());
    entries.extend(new.filter(|entry| !entry.value.is_null()).cloned());
    // Findings refer to the nearer position: the resource rather than its defaults, the overlay rather than the
    // resource.
    Node { span: over.span, tree: Tree::Map(entries) }
}

/// Entries by key. Small maps are searched, large ones get an index.
pub enum Index<'n> {
    Few(&'n [MapEntry]),
    Many(HashMap<&'n str, &'n MapEntry>),
}

impl<'n> Index<'n> {
    pub fn of(entries: &'n [MapEntry]) -> Self {
        match entries.len() {
            ..32 => Self::Few(entries),
            _ => Self::Many(entries.iter().map(|entry| (entry.key.as_str(), entry)).collect()),
        }
    }

    pub fn get(&self, key: &str) -> Option<&'n MapEntry> {
        match self {
            Self::Few(entries) => entries.iter().find(|entry| *entry.key == key),
            Self::Many(index) => index.get(key).copied(),
        }
    }
}
