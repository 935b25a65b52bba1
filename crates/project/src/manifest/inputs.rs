//! Targets with the same inputs, which are checked once.

use std::collections::BTreeSet;

use pushplan_model::node::{Node, Tree};

use super::{Manifests, Target};

/// The inputs of a target's resolution and checks.
#[derive(Debug)]
pub struct TargetInputs<'m> {
    manifests: &'m Manifests,
    /// The variables in the manifests; `None` if any may be used.
    used: Option<BTreeSet<String>>,
}

impl<'m> TargetInputs<'m> {
    pub fn new(manifests: &'m Manifests) -> Self {
        // A body in a file and a catalogue may use any variable, and are only read for a target.
        let used = (!manifests.has_files).then(|| {
            let mut used = BTreeSet::new();
            let collected = &manifests.collected;
            let layers = std::iter::once(&collected.base).chain(collected.overlays.values());
            let nodes = layers.flat_map(|layer| &layer.resources).map(|declaration| &declaration.node);
            if manifests.has_variables {
                nodes.chain(collected.defaults.values()).for_each(|node| gather(node, &mut used));
            }
            used
        });
        Self { manifests, used }
    }

    /// Two targets with the same key have the same findings. Their addresses and credentials make no difference.
    pub fn key(&self, target: Option<&str>) -> String {
        let Some(name) = target else { return String::new() };
        let project = &self.manifests.project;
        let has_overlay = |name: &&String| self.manifests.collected.overlays.contains_key(name.as_str());
        let own = name.to_owned();
        let layers: Vec<&String> = project.groups_of(name).iter().chain([&own]).filter(has_overlay).collect();
        let settings = project.target(name).cloned().map(|target| {
            let Target { mut variables, .. } = target.clone();
            variables.retain(|name, _| self.used.as_ref().is_none_or(|used| used.contains(&name.value)));
            Target { base_url: None, built_in: None, app_key_fingerprint: None, variables, ..target }
        });
        serde_json::to_string(&(layers, settings)).unwrap_or_else(|_| name.to_owned())
    }
}

fn gather(node: &Node, into: &mut BTreeSet<String>) {
    match &node.tree {
        Tree::Scalar(scalar) => {
            for rest in scalar.text.split("${var.").skip(1) {
                into.insert(rest.split(['}', ':']).next().unwrap_or_default().to_owned());
            }
        }
        Tree::List(items) => items.iter().for_each(|item| gather(item, into)),
        Tree::Map(entries) => entries.iter().for_each(|entry| gather(&entry.value, into)),
    }
}
