//! Localizations with texts from message catalogues.

use pushplan_model::node::{Node, Tree};
use serde_json::{Map, Value};

use super::A_CATALOGUE;
use super::special::scalar_of;
use super::walk::{Holder, Refusal, Spot, Walk, entry_of};

impl Walk<'_> {
    /// Whether any localization of a list is from a catalogue.
    pub fn has_catalogue(&self, nodes: &[Node]) -> bool {
        nodes.iter().any(|node| self.editor.manifests.catalogues.hold(node.span))
    }

    /// Edits texts in catalogues. Any other change is refused.
    pub fn localizations(&mut self, at: Spot, nodes: &[Node], olds: &[Value], news: &[Value]) -> Result<(), Refusal> {
        let refusal =
            |node: &Node| vec![(at.used.unwrap_or(self.subject.own.key.span), "used here"), (node.span, A_CATALOGUE)];
        let is_same = |(old, new): (&Value, &Value)| locale(old) == locale(new);
        if olds.len() != news.len() || !olds.iter().zip(news).all(is_same) {
            return Err(nodes.first().map(refusal).unwrap_or_default());
        }
        for (old, new) in olds.iter().zip(news).filter(|(old, new)| old != new) {
            let own = |node: &&Node| locale(old) == [node.get("language"), node.get("country")].map(text_of);
            let Some(node) = nodes.iter().find(own) else { return Err(nodes.first().map(refusal).unwrap_or_default()) };
            self.texts(node, old, new).map_err(|places| if places.is_empty() { refusal(node) } else { places })?;
        }
        Ok(())
    }

    /// Edits the texts below a node that differ.
    fn texts(&mut self, node: &Node, old: &Value, new: &Value) -> Result<(), Refusal> {
        match (&node.tree, old, new) {
            _ if old == new => Ok(()),
            (Tree::Map(_), Value::Object(old), Value::Object(new)) if has_same_keys(old, new) => {
                for (key, old) in old {
                    let entry = entry_of(node, key).ok_or_else(Vec::new);
                    match (entry, &new[key]) {
                        (_, new) if new == old => {}
                        (entry, new) => self.texts(&entry?.value, old, new)?,
                    }
                }
                Ok(())
            }
            (Tree::Scalar(_), _, Value::String(_)) => {
                let found = self.editor.manifests.catalogues.text_at(node.span);
                let Some((own, map)) = found else { return Err(Vec::new()) };
                let flow = self.page(map).is_flow(map);
                let spot = Spot { node, own: Some(own), holder: Holder::Item, flow, used: None };
                self.scalar(spot, &scalar_of(own, new))
            }
            _ => Err(Vec::new()),
        }
    }
}

fn has_same_keys(old: &Map<String, Value>, new: &Map<String, Value>) -> bool {
    old.len() == new.len() && old.keys().all(|key| new.contains_key(key))
}

fn locale(localization: &Value) -> [Option<&str>; 2] {
    ["language", "country"].map(|key| localization[key].as_str())
}

fn text_of(node: Option<&Node>) -> Option<&str> {
    match &node?.tree {
        Tree::Scalar(scalar) => Some(&scalar.text),
        _ => None,
    }
}
