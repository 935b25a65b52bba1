//! The layers over the manifests for a target: the overlays of its groups, then its own, which has priority.

use std::collections::HashSet;

use pushplan_model::kinds::Kind;
use pushplan_model::node::{At, Node};

use super::collect::{Declaration, Layer};
use super::growth::Growth;
use super::{Manifests, several};

/// A resource of a target: its lowest layer, and the layers over it, the last with the highest priority.
#[derive(Debug)]
pub struct Stack<'m> {
    pub own: &'m Declaration,
    pub over: Vec<&'m Declaration>,
    /// Whether it is only in overlays.
    pub is_only_there: bool,
}

impl Stack<'_> {
    /// A resource with its defaults and the target's overlays; `None` if there are none.
    pub(super) fn layered(
        &self,
        defaults: Option<&Node>,
        growth: &Growth,
        taken: &mut Vec<At<String>>,
    ) -> Option<Node> {
        let Declaration { kind, node, .. } = self.own;
        let mut changed = defaults.map(|defaults| several::lay(kind, defaults, node, growth, taken));
        for over in &self.over {
            let under = changed.as_ref().unwrap_or(node);
            changed = Some(several::lay(kind, under, &over.node, growth, taken));
        }
        changed
    }
}

/// All resources of a target.
#[derive(Debug, Default)]
pub struct Stacks<'m> {
    pub stacks: Vec<Stack<'m>>,
    /// Overlays that remove an undeclared resource.
    pub idle: Vec<&'m Declaration>,
}

impl Manifests {
    /// The overlays of a target, the lowest first.
    fn layers(&self, target: Option<&str>) -> Vec<&Layer> {
        let Some(target) = target else { return Vec::new() };
        let groups = self.project.groups_of(target).iter().map(String::as_str);
        groups.chain([target]).filter_map(|name| self.collected.overlays.get(name)).collect()
    }

    /// One resource of a target; `None` if it is not declared there.
    pub(super) fn stack(&self, target: Option<&str>, kind: &'static Kind, key: &str) -> Option<Stack<'_>> {
        pile(self.base(kind, key), &self.layers(target), kind, key, &mut Vec::new())
    }

    /// All resources of a target: those in the manifests first, then those only in overlays.
    pub(super) fn stacks(&self, target: Option<&str>) -> Stacks<'_> {
        let layers = self.layers(target);
        let base = &self.collected.base;
        let mut all = Stacks { stacks: Vec::with_capacity(base.resources.len()), idle: Vec::new() };
        for own in &base.resources {
            all.stacks.extend(pile(Some(own), &layers, own.kind, &own.key, &mut all.idle));
        }
        let mut seen = HashSet::new();
        for it in layers.iter().flat_map(|layer| &layer.resources) {
            if base.get(it.kind.key, &it.key).is_none() && seen.insert((it.kind.key, it.key.as_str())) {
                all.stacks.extend(pile(None, &layers, it.kind, &it.key, &mut all.idle));
            }
        }
        all
    }
}

/// Stacks the layers of a resource. One that is removed and declared again starts with that declaration.
fn pile<'m>(
    base: Option<&'m Declaration>,
    layers: &[&'m Layer],
    kind: &'static Kind,
    key: &str,
    idle: &mut Vec<&'m Declaration>,
) -> Option<Stack<'m>> {
    let mut stack = base.map(|own| Stack { own, over: Vec::new(), is_only_there: false });
    for it in layers.iter().filter_map(|layer| layer.get(kind.key, key)) {
        match &mut stack {
            _ if it.node.is_null() => {
                if stack.take().is_none() {
                    idle.push(it);
                }
            }
            Some(stack) => stack.over.push(it),
            None => stack = Some(Stack { own: it, over: Vec::new(), is_only_there: base.is_none() }),
        }
    }
    stack
}
