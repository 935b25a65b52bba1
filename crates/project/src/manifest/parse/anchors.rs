//! Anchors and aliases within limits: values that are written once and used several times.

use pushplan_model::codes;
use pushplan_model::finding::Finding;
use pushplan_model::node::Node;
use pushplan_model::source::Span;

use super::Builder;

/// How many bytes aliases may add to one file, at [`NODE_WEIGHT`] and its text for each value.
const ALIAS_LIMIT: usize = 8 * 1024 * 1024;
/// How many bytes of anchored values are stored for aliases. Larger values count as beyond [`ALIAS_LIMIT`].
const KEPT_LIMIT: usize = 8 * ALIAS_LIMIT;

/// The value of an alias.
pub(super) enum Anchored {
    /// The node is still open: an alias in it would be part of its own value.
    Open,
    Kept(Node, usize),
    TooLarge,
}

impl Builder<'_> {
    pub(super) fn alias(&mut self, id: usize, span: Span) {
        let weight = match self.anchors.get(&id) {
            Some(Anchored::Kept(_, weight)) => *weight,
            Some(Anchored::TooLarge) => ALIAS_LIMIT + 1,
            Some(Anchored::Open) | None => {
                self.broken = true;
                self.findings.push(
                    Finding::new(&codes::YM104, span, "inside its own value")
                        .label("never ends")
                        .help("write out the value"),
                );
                return self.nothing(span);
            }
        };
        if self.copied + weight > ALIAS_LIMIT {
            if self.copied <= ALIAS_LIMIT {
                self.findings.push(
                    Finding::new(&codes::YM104, span, "the aliases of this file copy too much")
                        .label(format!("more than {} MiB", ALIAS_LIMIT / (1024 * 1024)))
                        .help("write out the values, or put shared values under `defaults:`"),
                );
            }
            self.copied = ALIAS_LIMIT + 1;
            self.broken = true;
            return self.nothing(span);
        }
        self.copied += weight;
        if let Some(Anchored::Kept(node, _)) = self.anchors.get(&id) {
            let node = node.clone();
            self.node(node, weight, 0);
        }
    }

    pub(super) fn keep(&mut self, node: &Node, weight: usize, anchor: usize) {
        let fits = weight <= ALIAS_LIMIT && self.kept + weight <= KEPT_LIMIT;
        self.anchored = true;
        self.kept += if fits { weight } else { 0 };
        self.anchors.insert(anchor, if fits { Anchored::Kept(node.clone(), weight) } else { Anchored::TooLarge });
    }

    /// Drops the anchors, which are valid until the end of their document.
    pub(super) fn forget(&mut self) {
        self.anchors.clear();
        self.kept = 0;
    }
}
