//! The limit for the growth of a project beyond its files: a few bytes can request a default, a variable, a body or a
//! template a million times.

use std::sync::atomic::{AtomicUsize, Ordering};

use pushplan_model::node::{Node, Tree};

/// The bytes that a target may have beyond its files.
const LIMIT: usize = 192 * 1024 * 1024;
/// The limit as shown in a message.
pub(crate) const LIMIT_WORDS: &str = "192 MiB";

/// The bytes added so far, shared because resources are read in parallel.
#[derive(Debug, Default)]
pub struct Growth(AtomicUsize);

impl Growth {
    /// Requests this number of bytes. `false`: the limit is exceeded, also for all later requests.
    pub fn allows(&self, bytes: usize) -> bool {
        self.0.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) <= LIMIT
    }

    pub(crate) fn is_exceeded(&self) -> bool {
        self.0.load(Ordering::Relaxed) > LIMIT
    }
}

/// The approximate size of a tree in bytes.
pub fn weight(node: &Node) -> usize {
    const NODE: usize = 64;
    NODE + match &node.tree {
        Tree::Scalar(scalar) => scalar.text.len(),
        Tree::List(items) => items.iter().map(weight).sum(),
        Tree::Map(entries) => entries.iter().map(|entry| entry.key.len() + weight(&entry.value)).sum(),
    }
}
