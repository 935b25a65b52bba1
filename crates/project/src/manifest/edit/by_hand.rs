//! Manual edits for resources that cannot be edited: each different field, with every place that affects it.

use pushplan_model::address::Address;
use pushplan_model::kinds;
use pushplan_model::node::Node;
use pushplan_model::source::Span;
use serde_json::Value;

use super::super::author;
use super::super::layers::Stack;
use super::leaves::fields;
use super::walk::entry_of;
use super::{Editor, Unplaced};

impl Editor<'_> {
    /// The fields of a resource that differ on the service. `why` describes the position in the resource itself.
    pub fn by_hand(&self, address: &Address, desired: &Value, live: &Value, why: &'static str) -> Vec<Unplaced> {
        let kind = kinds::of(address);
        let audiences: Vec<String> = kind.api.audiences().iter().map(|path| path[1..].replace('/', ".")).collect();
        let mut all = Vec::new();
        fields("", desired, live, &mut all);
        let mut told: Vec<(String, Option<Value>)> = Vec::new();
        for (path, value) in all {
            // An audience is one field.
            let within = |whole: &&String| path == **whole || path.starts_with(&format!("{whole}."));
            let (path, value) = match audiences.iter().find(within) {
                Some(whole) => (whole.clone(), live.pointer(&format!("/{}", whole.replace('.', "/"))).cloned()),
                None => (path, value),
            };
            if !told.iter().any(|(other, _)| *other == path) {
                told.push((path, value));
            }
        }
        if told.is_empty() {
            // An unknown difference still needs a manual edit.
            told.push((String::new(), Some(live.clone())));
        }
        let authored = author::authored(kind, &address.key, live);
        let unplaced = |(path, live): (String, Option<Value>)| Unplaced {
            words: self.words_at(address, &authored, &path),
            places: self.sayers(address, &path, why),
            path,
            live,
            ..Unplaced::default()
        };
        told.into_iter().map(unplaced).collect()
    }

    /// The places that affect a field: the resource itself, overlays of the target, the defaults of its kind.
    fn sayers(&self, address: &Address, path: &str, why: &'static str) -> Vec<(Span, &'static str)> {
        let kind = kinds::of(address);
        let Some(Stack { own, over, .. }) = self.manifests.stack(self.target, kind, &address.key) else {
            return Vec::new();
        };
        let mut places = vec![(nearest(&own.node, path).unwrap_or(own.key.span), why)];
        let over = over.iter().filter_map(|over| nearest(&over.node, path));
        places.extend(over.map(|span| (span, "the overlay for this target")));
        let defaults = self.manifests.collected.defaults.get(kind.key).and_then(|node| nearest(node, path));
        places.extend(defaults.map(|span| (span, "the defaults of its kind")));
        places
    }
}

/// The key of a field, or of its nearest existing parent; `None` if none of these exists.
fn nearest(node: &Node, path: &str) -> Option<Span> {
    let mut found = None;
    let mut node = node;
    for key in path.split(['.', '[']) {
        let Some(entry) = entry_of(node, key) else { break };
        (node, found) = (&entry.value, Some(entry.key.span));
    }
    found
}
