//! How much larger than its files a project may become: a few bytes can ask for a default, a variable, a body or a template
//! a million times.

use std::sync::atomic::{AtomicUsize, Ordering};

use pushplan_model::node::{Node, Tree};

/// What a target gets beyond what is written, in bytes.
const LIMIT: usize = 192 * 1024 * 1024;
/// The limit, in the words of a message.
pub(crate) const LIMIT_WORDS: &str = "192 MiB";

/// What was added so far. Resources are read side by side, so that they share it.
#[derive(Debug, Default)]
pub struct Growth(AtomicUsize);

impl Growth {
    /// Asks for so many bytes more. `false`: they are not to be had, and neither is anything after them.
    pub fn allows(&self, bytes: usize) -> bool {
        self.0.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) <= LIMIT
    }

    pub(crate) fn is_exceeded(&self) -> bool {
        self.0.load(Ordering::Relaxed) > LIMIT
    }
}

/// About how many bytes a tree takes.
pub fn weight(node: &Node) -> usize {
    const NODE: usize = 64;
    NODE + match &node.tree {
        Tree::Scalar(scalar) => scalar.text.len(),
        Tree::List(items) => items.iter().map(weight).sum(),
        Tree::Map(entries) => entries.iter().map(|entry| entry.key.len() + weight(&entry.value)).sum(),
    }
}
