//! Dependencies: the references between resources, for Graphviz and for Mermaid.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::escape::stream::unsigned;
use super::one_line;
use crate::address::Address;
use crate::kinds::remote::segments;
use crate::kinds::{self, Parts, Resource, Segment, TagGroup, Template};
use crate::manifest::Desired;
use crate::nouns::audience::{Selector, Tag};
use crate::plan::{Action, Plan};

/// Resources and the references between them.
#[derive(Debug, Default)]
pub struct Graph {
    nodes: BTreeMap<Address, Action>,
    /// The references, from the referring resource to the other one.
    edges: BTreeSet<(Address, Address)>,
}

impl Graph {
    /// The graph of a plan: each resource with its action, and the segments that it names.
    pub fn of_plan(plan: &Plan) -> Self {
        let mut graph = Self::default();
        for change in &plan.changes {
            let address = change.address.resource();
            // A resource with a changed part is changed.
            let part = change.address.part().is_some() && change.action != Action::Keep;
            let action = if part { Action::Update } else { change.action };
            let known = graph.nodes.entry(address.clone()).or_insert(action);
            if *known == Action::Keep {
                *known = action;
            }
            let Some(spec) = change.desired.as_ref().or(change.live.as_ref()).or(change.ledger.as_ref()) else {
                continue;
            };
            let named = segments(kinds::api(&address).audiences(), spec);
            graph.edges.extend(named.into_iter().map(|key| (address.clone(), Address::new(Segment::KEY, key))));
        }
        graph.close()
    }

    /// The graph of the manifests: the segments, templates, tags and tag groups that each resource names, also in its
    /// trigger.
    pub fn of_desired(desired: &Desired) -> Self {
        let mut graph = Self::default();
        for (address, declared) in &desired.resources {
            graph.nodes.insert(address.clone(), Action::Keep);
            let mut parts = Parts::new(&declared.key);
            declared.spec.parts(&mut parts);
            let mut named = Vec::new();
            for audience in &parts.audiences {
                named.extend(audience.selector.segments().into_iter().map(|key| Address::new(Segment::KEY, key.value)));
                audience.selector.walk(&mut |selector| {
                    if let Selector::Tag(Tag { tag, group }) = &selector.value {
                        named.push(tag_address(tag.as_str(), group.as_ref().map(|group| group.as_str())));
                    }
                });
            }
            let templates = parts.pushes.iter().filter_map(|push| push.template.as_ref());
            named.extend(templates.map(|name| Address::new(Template::KEY, name.0.clone())));
            let triggers = parts.triggers.iter().filter_map(|trigger| trigger.tag());
            named.extend(triggers.map(|one| tag_address(one.tag, one.group)));
            graph.edges.extend(named.into_iter().map(|other| (address.clone(), other)));
        }
        graph.close()
    }

    /// Removes references to missing resources: the service's own tag groups, segments outside git.
    fn close(mut self) -> Self {
        let Self { nodes, edges } = &mut self;
        edges.retain(|(from, to)| nodes.contains_key(from) && nodes.contains_key(to));
        self
    }

    /// All resources, with the action for each.
    pub fn nodes(&self) -> &BTreeMap<Address, Action> {
        &self.nodes
    }

    /// The references, from the referring resource to the other one.
    pub fn edges(&self) -> &BTreeSet<(Address, Address)> {
        &self.edges
    }

    /// The graph for Graphviz. Arrows point to the resource that is named.
    pub fn dot(&self) -> String {
        let mut out = "digraph pushplan {\n  rankdir=LR;\n  node [shape=box];\n".to_owned();
        for (address, action) in &self.nodes {
            let color = color(*action).map(|color| format!(", color=\"{color}\"")).unwrap_or_default();
            let label = in_dot(&label(address, *action));
            let _ = writeln!(out, "  {} [label={label}{color}];", in_dot(&address.to_string()));
        }
        for (from, to) in &self.edges {
            let _ = writeln!(out, "  {} -> {};", in_dot(&from.to_string()), in_dot(&to.to_string()));
        }
        out.push_str("}\n");
        out
    }

    /// The graph for Mermaid. Nodes have numbers, because addresses can only be labels there.
    pub fn mermaid(&self) -> String {
        let mut out = "flowchart LR\n".to_owned();
        let numbers: BTreeMap<&Address, usize> =
            self.nodes.keys().enumerate().map(|(number, it)| (it, number)).collect();
        for (address, action) in &self.nodes {
            let label = in_mermaid(&label(address, *action));
            let _ = writeln!(out, "  n{}[\"{label}\"]", numbers[address]);
        }
        for (from, to) in &self.edges {
            let _ = writeln!(out, "  n{} --> n{}", numbers[from], numbers[to]);
        }
        for action in Action::ALL {
            let all = self.nodes.iter().filter(|(_, own)| **own == action);
            let all: Vec<String> = all.map(|(address, _)| format!("n{}", numbers[address])).collect();
            if let Some(color) = color(action).filter(|_| !all.is_empty()) {
                let _ = writeln!(out, "  style {} stroke:{color}", all.join(","));
            }
        }
        out
    }
}

/// The resource that declares a tag.
fn tag_address(tag: &str, group: Option<&str>) -> Address {
    match group {
        Some(group) => Address::new(TagGroup::KEY, group),
        None => Address::new(kinds::LegacyTag::KEY, tag),
    }
}

fn label(address: &Address, action: Action) -> String {
    match action {
        Action::Keep => address.to_string(),
        action => format!("{} {address}", action.symbol()),
    }
}

fn color(action: Action) -> Option<&'static str> {
    match action {
        Action::Keep | Action::Past => None,
        Action::Create | Action::Adopt => Some("green"),
        Action::Update | Action::Replace => Some("orange"),
        Action::Delete | Action::Forget => Some("red"),
        Action::ByHand => Some("purple"),
    }
}

/// Quotes a text for Graphviz.
fn in_dot(text: &str) -> String {
    format!("\"{}\"", unsigned(&one_line(text)).replace('\\', "\\\\").replace('"', "\\\""))
}

/// Escapes a text for Mermaid, so that it neither ends the label nor is markup. A special character at its beginning
/// would make a list of it.
fn in_mermaid(text: &str) -> String {
    let safe = |at: usize, c: char| c.is_alphanumeric() || (at > 0 && " -_./".contains(c));
    let shown = |(at, c): (usize, char)| if safe(at, c) { c.to_string() } else { format!("#{};", u32::from(c)) };
    one_line(text).char_indices().map(shown).collect()
}
