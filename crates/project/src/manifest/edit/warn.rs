//! Findings about the actual content of the service become warnings, with a setting on the resource.

use std::collections::BTreeSet;

use pushplan_model::address::Address;
use pushplan_model::kinds;
use pushplan_model::node::{At, MapEntry, Node, Scalar, Style, Tree};
use pushplan_model::source::Span;

use super::page::EditedPage;
use super::walk::entry_of;
use super::{Edit, Editor};

impl Editor<'_> {
    /// Makes the edits that turn errors of these checks into warnings for a resource. `None` if its form cannot be
    /// edited.
    pub fn warn(&self, address: &Address, codes: &BTreeSet<&str>) -> Option<Vec<Edit>> {
        let kind = kinds::of(address);
        let node = &self.manifests.stack(self.target, kind, &address.key)?.own.node;
        let file = node.span.file()?;
        let page = EditedPage { text: self.text(file) };
        let last = |node: &Node| node.entries().and_then(|entries| entries.len().checked_sub(1));
        let is_shared = |node: &Node| self.shared.contains(&node.span);
        let lifecycle = entry_of(node, "lifecycle").map(|entry| &entry.value);
        let warn = lifecycle.and_then(|it| entry_of(it, "warn")).map(|entry| &entry.value);
        let changes = match (lifecycle, warn) {
            (Some(map), _) if is_shared(map) => return None,
            (_, Some(list)) if is_shared(list) => return None,
            (_, Some(list)) => {
                let Tree::List(items) = &list.tree else { return None };
                let is_said = |code: &&&str| items.iter().any(|it| it.to_json() == ***code);
                let after = items.len().checked_sub(1);
                let new =
                    codes.iter().filter(|code| !is_said(code)).map(|code| page.new_item(list, after, &plain(code)));
                new.collect::<Option<Vec<_>>>()?
            }
            (Some(map), None) => vec![page.new_entry(map, last(map), &entry("warn", list(codes)))?],
            (None, None) if is_shared(node) => return None,
            (None, None) => {
                let warn = Node { span: Span::NONE, tree: Tree::Map(vec![entry("warn", list(codes))]) };
                vec![page.new_entry(node, last(node), &entry("lifecycle", warn))?]
            }
        };
        Some(changes.into_iter().map(|(range, text)| Edit { file, range, text }).collect())
    }
}

fn plain(code: &str) -> Node {
    Node { span: Span::NONE, tree: Tree::Scalar(Scalar { text: code.to_owned(), style: Style::Plain }) }
}

fn list(codes: &BTreeSet<&str>) -> Node {
    Node { span: Span::NONE, tree: Tree::List(codes.iter().map(|code| plain(code)).collect()) }
}

fn entry(key: &str, value: Node) -> MapEntry {
    MapEntry { key: At::new(key.to_owned(), Span::NONE), value }
}
