//! What the manifests say for one target.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::collect::Declaration;
use super::{Lifecycle, Manifests, bodies, merge, variables};
use crate::address::Address;
use crate::codes;
use crate::finding::{Finding, Findings};
use crate::kinds::{Resource, Spec, Template, of_kind};
use crate::model::placeholder;
use crate::model::push::Push;
use crate::node::{At, Entry, Node, Reader, Tree};

/// One declared resource, typed.
#[derive(Debug)]
pub struct Declared {
    pub key: At<String>,
    pub spec: Box<dyn Spec>,
    pub lifecycle: Lifecycle,
}

/// Everything that the manifests declare for a target.
#[derive(Debug)]
pub struct Desired {
    pub resources: BTreeMap<Address, Declared>,
    /// Declared, but not readable: they exist for whoever refers to them.
    pub broken: BTreeSet<Address>,
    /// Codes that a resource's `lifecycle.allow` names, also of one that could not be read.
    pub allowed: BTreeMap<Address, Vec<At<String>>>,
    /// Whether all files could be read. If not, what is missing proves nothing.
    pub complete: bool,
}

impl Desired {
    /// All resources of one kind.
    pub fn all<R: Resource>(&self) -> impl Iterator<Item = (&Address, &Declared, &R)> {
        self.resources
            .iter()
            .filter_map(|(address, declared)| Some((address, declared, of_kind::<R>(&*declared.spec)?)))
    }

    pub fn get<R: Resource>(&self, key: &str) -> Option<&R> {
        self.resources.get(&Address::new(R::KEY, key)).and_then(|declared| of_kind(&*declared.spec))
    }

    /// Whether a reference to this resource leads anywhere.
    pub fn knows<R: Resource>(&self, key: &str) -> bool {
        let address = Address::new(R::KEY, key);
        self.resources.contains_key(&address) || self.broken.contains(&address)
    }

    /// The keys of one kind, for suggestions.
    pub fn keys<R: Resource>(&self) -> impl Iterator<Item = &str> {
        let known = self.resources.keys().chain(&self.broken);
        known.filter(|address| address.kind == R::KEY).map(|address| address.key.as_str())
    }
}

/// What became of one declaration.
struct Typed {
    address: Address,
    key: At<String>,
    spec: Option<Box<dyn Spec>>,
    lifecycle: Option<Lifecycle>,
    findings: Findings,
}

impl Manifests {
    /// What a target gets: defaults under, overlays over, variables filled in, all of it typed. Without a target there are
    /// no overlays and no variables.
    pub fn resolve(&self, target: Option<&str>) -> (Desired, Vec<Finding>) {
        let values = target.and_then(|name| self.project.target(name)).map(super::Target::values).unwrap_or_default();
        let overlay = target.and_then(|name| self.collected.overlays.get(name));
        let only_here = overlay.iter().flat_map(|layer| &layer.resources);
        let only_here = only_here.filter(|it| self.collected.base.get(it.kind.key, &it.key).is_none());
        let declarations: Vec<&Declaration> = self.collected.base.resources.iter().chain(only_here).collect();
        let typed: Vec<Option<Typed>> = declarations
            .into_par_iter()
            .map(|declaration| {
                let over = overlay.and_then(|layer| layer.get(declaration.kind.key, &declaration.key));
                if over.is_some_and(|over| over.node.is_null()) {
                    return None;
                }
                Some(self.typed(declaration, over, &values, target.unwrap_or("local")))
            })
            .collect();

        let mut findings = Findings::default();
        let mut desired = Desired {
            resources: BTreeMap::new(),
            broken: BTreeSet::new(),
            allowed: BTreeMap::new(),
            complete: self.complete,
        };
        for one in typed.into_iter().flatten() {
            one.findings.into_vec().into_iter().for_each(|finding| findings.push(finding));
            if let Some(lifecycle) = &one.lifecycle
                && lifecycle.allow.is_some()
            {
                desired.allowed.insert(one.address.clone(), lifecycle.allowed().cloned().collect());
            }
            match (one.spec, one.lifecycle) {
                (Some(spec), Some(lifecycle)) => {
                    desired.resources.insert(one.address, Declared { key: one.key, spec, lifecycle });
                }
                _ => {
                    desired.broken.insert(one.address);
                }
            }
        }
        fill_templates(&mut desired, &mut findings);
        (desired, findings.into_vec())
    }

    fn typed(
        &self,
        declaration: &Declaration,
        over: Option<&Declaration>,
        values: &variables::Variables,
        target: &str,
    ) -> Typed {
        let Declaration { kind, key, node } = declaration;
        let address = Address::new(kind.key, key.value.clone());
        let mut findings = Findings::about(&address);
        let mut changed: Option<Node> = None;
        if let Some(defaults) = self.collected.defaults.get(kind.key) {
            changed = Some(merge::lay(defaults, node));
        }
        if let Some(over) = over.filter(|over| !std::ptr::eq(*over, declaration)) {
            changed = Some(merge::lay(changed.as_ref().unwrap_or(node), &over.node));
        }
        if variables::has_variables(changed.as_ref().unwrap_or(node)) {
            let node = changed.get_or_insert_with(|| node.clone());
            variables::fill(node, values, target, &self.sources, &mut findings);
        }
        if bodies::has_files(changed.as_ref().unwrap_or(node)) {
            bodies::read(changed.get_or_insert_with(|| node.clone()), &self.project.root, &mut findings);
        }
        let node = changed.as_ref().unwrap_or(node);

        let mut reader = Reader::new(findings);
        let entry = node.entries().and_then(|entries| entries.iter().find(|entry| *entry.key == "lifecycle"));
        let lifecycle = match entry {
            Some(entry) => reader.value::<Option<Lifecycle>>(entry).map(|given| given.unwrap_or(Lifecycle::NONE)),
            None => Some(Lifecycle::NONE),
        };
        let own = without_lifecycle(node, entry);
        let spec = match own.as_ref().unwrap_or(node) {
            node if node.is_null() => {
                // `tag_groups: {loyalty: }` declares a group with nothing to say of it.
                let empty = Node { span: key.span, tree: Tree::Map(Vec::new()) };
                reader.owned_by(key.span, |reader| (kind.decode)(key, &empty, reader))
            }
            node => reader.owned_by(key.span, |reader| (kind.decode)(key, node, reader)),
        };
        let (spec, findings) = self.said_of_unread(own.as_ref().unwrap_or(node), spec, reader.findings);
        Typed { address, key: key.clone(), spec, lifecycle, findings }
    }
}

impl Manifests {
    /// Where a part of a resource could not be read, that was reported: what follows from it is not, and nobody checks it.
    fn said_of_unread(
        &self,
        node: &Node,
        spec: Option<Box<dyn Spec>>,
        findings: Findings,
    ) -> (Option<Box<dyn Spec>>, Findings) {
        let unread = if self.complete { Vec::new() } else { node.unread_places() };
        if unread.is_empty() {
            return (spec, findings);
        }
        let mut left = Findings::default();
        left.extend(findings.into_vec().into_iter().filter(|finding| !unread.contains(&finding.at)));
        (None, left)
    }
}

fn without_lifecycle(node: &Node, entry: Option<&Entry>) -> Option<Node> {
    entry?;
    let rest = node.entries()?.iter().filter(|entry| *entry.key != "lifecycle").cloned().collect();
    Some(Node { span: node.span, tree: Tree::Map(rest) })
}

/// Pushes that name a template get what it says, with its variables filled in. The schedule of the contract takes whole
/// pushes only.
fn fill_templates(desired: &mut Desired, findings: &mut Findings) {
    let templates: BTreeMap<String, Template> =
        desired.all::<Template>().map(|(address, _, template)| (address.key.clone(), template.clone())).collect();
    for (address, declared) in &mut desired.resources {
        let mut found = Findings::about(address);
        for push in declared.spec.pushes() {
            fill_template(push, &templates, &mut found);
        }
        found.into_vec().into_iter().for_each(|finding| findings.push(finding));
    }
}

fn fill_template(push: &mut At<Push>, templates: &BTreeMap<String, Template>, findings: &mut Findings) {
    let Some(name) = push.template.clone() else {
        if push.notification.is_none() {
            findings.push(
                Finding::new(&codes::YM203, push.audience.span, "`notification` is missing")
                    .label("a push to them says nothing")
                    .help("add `notification: {alert: ...}`, or `template:` with the key of one"),
            );
        }
        return;
    };
    if push.notification.is_some() {
        findings.push(
            Finding::new(&codes::YM201, name.span, "`template` cannot stand beside `notification`")
                .label("which of the two?"),
        );
        return;
    }
    let Some(template) = templates.get(&name.0) else { return };
    let Push { notification, message, substitutions, .. } = &mut push.value;
    let value = |key: &str| {
        let given = substitutions.iter().find(|(name, _)| name.as_str() == key).map(|(_, value)| value.as_str());
        let declared = template.variables.iter().flatten().find(|variable| variable.key.as_str() == key);
        given.or_else(|| declared.and_then(|variable| variable.default_value.as_ref().map(|text| text.as_str())))
    };
    let mut said = template.push.notification.clone();
    said.map_texts(&|text| placeholder::fill(text, value));
    *notification = Some(said);
    if message.is_none() {
        *message = template.push.message.clone().map(|mut message| {
            message.title.value = placeholder::fill(&message.title, value);
            message.body.value = placeholder::fill(&message.body, value);
            message
        });
    }
}
