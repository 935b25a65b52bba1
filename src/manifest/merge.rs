//! Laying one tree over another: defaults under a resource, a target's overlay over it.

use crate::node::{Entry, Node, Tree};

/// The tree `over` laid on `under`: maps are joined key by key, everything else is replaced. A key whose value is null in
/// `over` is taken away.
pub fn lay(under: &Node, over: &Node) -> Node {
    let (Tree::Map(below), Tree::Map(above)) = (&under.tree, &over.tree) else {
        return over.clone();
    };
    let mut entries = Vec::with_capacity(below.len() + above.len());
    for entry in below {
        match over.entries().and_then(|above| above.iter().find(|other| other.key == entry.key)) {
            None => entries.push(entry.clone()),
            Some(other) if other.value.is_null() => {}
            Some(other) => entries.push(Entry { key: other.key.clone(), value: lay(&entry.value, &other.value) }),
        }
    }
    let new = above.iter().filter(|entry| !below.iter().any(|other| other.key == entry.key));
    entries.extend(new.filter(|entry| !entry.value.is_null()).cloned());
    // A reader is told of the nearer place: the resource over its defaults, the overlay over the resource.
    Node { span: over.span, tree: Tree::Map(entries) }
}
