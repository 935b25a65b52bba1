//! Maps that may be written as a list of maps: a layer below applies to each item.

use std::borrow::Cow;

use pushplan_model::kinds::Kind;
use pushplan_model::node::{At, MapEntry, Node, Tree};

use super::growth::{Growth, weight};
use super::merge;

/// Merges a layer of a resource into the one below. A single schedule in the lower layer applies to every schedule of a
/// list: `{..}` and `[{..}]` are equal.
pub(crate) fn lay(kind: &Kind, under: &Node, over: &Node, growth: &Growth, taken: &mut Vec<At<String>>) -> Node {
    let mut over = Cow::Borrowed(over);
    for key in kind.one_or_many {
        if let (Some(below), Some(above)) = (under.get(key), over.get(key))
            && let Some(laid) = each(below, above, growth, taken)
        {
            let Tree::Map(entries) = &mut over.to_mut().tree else { continue };
            entries
                .iter_mut()
                .filter(|entry| *entry.key == **key)
                .for_each(|MapEntry { value, .. }| *value = laid.clone());
        }
    }
    merge::lay_and_tell(under, &over, taken)
}

/// The upper value with the lower one merged into each item; `None` if they are merged like all others.
fn each(below: &Node, above: &Node, growth: &Growth, taken: &mut Vec<At<String>>) -> Option<Node> {
    let (single, is_list) = match &below.tree {
        Tree::Map(_) => (below, false),
        Tree::List(items) => match &items[..] {
            [only] if only.entries().is_some() => (only, true),
            _ => return None,
        },
        Tree::Scalar(_) => return None,
    };
    match &above.tree {
        Tree::List(items) if growth.allows(weight(single).saturating_mul(items.len())) => {
            let items = items.iter().map(|item| merge::lay_and_tell(single, item, taken)).collect();
            Some(Node { span: above.span, tree: Tree::List(items) })
        }
        Tree::Map(_) if is_list => Some(merge::lay_and_tell(single, above, taken)),
        _ => None,
    }
}
