//! What the manifests say for one target.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::bodies::{self, Bodies};
use super::collect::Declaration;
use super::variables::{self, Filling};
use super::{Lifecycle, Manifests, merge};
use crate::address::Address;
use crate::codes;
use crate::finding::{Finding, Findings};
use crate::kinds::{Resource, Spec, Template, of_kind};
use crate::model::placeholder;
use crate::model::push::Push;
use crate::node::{At, Entry, Node, Reader, Tree, missing};
use crate::text;

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
    /// The target that it is for, where there is one.
    pub target: Option<String>,
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
    /// Keys that a layer takes away.
    taken: Vec<At<String>>,
    findings: Findings,
}

/// How many keys are compared in search of what an overlay was meant for.
const COMPARISON_LIMIT: usize = 200_000;

impl Manifests {
    /// What a target gets: defaults under, overlays over, variables filled in, all of it typed. Without a target there are
    /// no overlays and no variables.
    pub fn resolve(&self, target: Option<&str>) -> (Desired, Vec<Finding>) {
        let values = target.and_then(|name| self.project.target(name)).map(super::Target::values).unwrap_or_default();
        let overlay = target.and_then(|name| self.collected.overlays.get(name));
        let base = &self.collected.base;
        let only_here = overlay.iter().flat_map(|layer| &layer.resources);
        let (nothing, only_here): (Vec<&Declaration>, Vec<&Declaration>) =
            only_here.filter(|it| base.get(it.kind.key, &it.key).is_none()).partition(|it| it.node.is_null());
        let search = (nothing.len() + only_here.len()).saturating_mul(base.resources.len()) <= COMPARISON_LIMIT;
        let declarations: Vec<&Declaration> = base.resources.iter().chain(only_here).collect();
        let typed: Vec<Option<Typed>> = declarations
            .into_par_iter()
            .map(|declaration| {
                let over = overlay.and_then(|layer| layer.get(declaration.kind.key, &declaration.key));
                if over.is_some_and(|over| over.node.is_null()) {
                    return None;
                }
                let filling = Filling { variables: &values, target: target.unwrap_or("local"), sources: &self.sources };
                let mut typed = self.typed(declaration, over, filling);
                if over.is_some_and(|over| std::ptr::eq(over, declaration)) {
                    self.only_in_overlay(declaration, search, &mut typed);
                }
                Some(typed)
            })
            .collect();

        let mut findings = Findings::default();
        findings.extend(nothing.into_iter().map(|it| self.nothing_to_take(it, search)));
        let mut desired = Desired {
            resources: BTreeMap::new(),
            broken: BTreeSet::new(),
            allowed: BTreeMap::new(),
            complete: self.complete,
            target: target.map(str::to_owned),
        };
        let mut taken = BTreeMap::new();
        for one in typed.into_iter().flatten() {
            one.findings.into_vec().into_iter().for_each(|finding| findings.push(finding));
            if let Some(lifecycle) = &one.lifecycle
                && lifecycle.allow.is_some()
            {
                desired.allowed.insert(one.address.clone(), lifecycle.allowed().cloned().collect());
            }
            if !one.taken.is_empty() {
                taken.insert(one.address.clone(), one.taken);
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
        let mut findings = findings.into_vec();
        findings.iter_mut().for_each(|finding| at_the_null(finding, &taken));
        (desired, findings)
    }

    /// `key: null` in an overlay, where nothing has the key.
    fn nothing_to_take(&self, Declaration { kind, key, .. }: &Declaration, search: bool) -> Finding {
        let message = format!("no {} `{key}` is declared for this overlay to take away", kind.noun);
        let finding = Finding::new(&codes::RF113, key.span, message).label("not declared");
        let keys = self.collected.base.resources.iter().filter(|it| it.kind.key == kind.key);
        match text::nearest(key, keys.filter(|_| search).map(|it| it.key.as_str())) {
            Some(near) => finding.help(format!("did you mean `{near}`?")).suggest(key.span, near),
            None => finding.help("remove the line"),
        }
    }

    /// A resource that stands in an overlay alone. A slip of the pen in its key would make a new one of it.
    fn only_in_overlay(&self, declaration: &Declaration, search: bool, typed: &mut Typed) {
        let Declaration { kind, key, .. } = declaration;
        let keys = self.collected.base.resources.iter().filter(|it| it.kind.key == kind.key);
        let near = text::nearest(key, keys.filter(|_| search).map(|it| it.key.as_str()));
        let meant =
            typed.lifecycle.iter().flat_map(Lifecycle::allowed).any(|code| codes::code(code) == Some(&codes::RF113));
        let Some(near) = near.filter(|_| !meant) else {
            let found = std::mem::take(&mut typed.findings).into_vec().into_iter();
            typed.findings.extend(found.map(|finding| {
                let incomplete = finding.code == &codes::YM203;
                let note = format!(
                    "the {} `{key}` is declared in this overlay alone, so that it must be complete here",
                    kind.noun
                );
                if incomplete { finding.note(note) } else { finding }
            }));
            return;
        };
        // What is missing in it stands in the one that is meant.
        typed.findings = Findings::about(&typed.address);
        typed.findings.push(
            Finding::new(
                &codes::RF113,
                key.span,
                format!("no {} `{key}` is declared for this overlay to change", kind.noun),
            )
            .label("not declared")
            .note("a resource may stand in an overlay alone, but the key of this one is nearly that of another")
            .help(format!("did you mean `{near}`? If not, add `lifecycle: {{allow: [RF113]}}`"))
            .suggest(key.span, near),
        );
        typed.spec = None;
    }

    fn typed(&self, declaration: &Declaration, over: Option<&Declaration>, filling: Filling) -> Typed {
        let Declaration { kind, key, node } = declaration;
        let address = Address::new(kind.key, key.value.clone());
        let mut findings = Findings::about(&address);
        let (mut changed, mut taken, mut whole) = (None::<Node>, Vec::new(), true);
        if let Some(defaults) = self.collected.defaults.get(kind.key) {
            changed = Some(merge::lay_and_tell(defaults, node, &mut taken));
        }
        if let Some(over) = over.filter(|over| !std::ptr::eq(*over, declaration)) {
            changed = Some(merge::lay_and_tell(changed.as_ref().unwrap_or(node), &over.node, &mut taken));
        }
        if variables::has_variables(changed.as_ref().unwrap_or(node)) {
            filling.tree(changed.get_or_insert_with(|| node.clone()), &mut findings);
        }
        if bodies::has_files(changed.as_ref().unwrap_or(node)) {
            let mut bodies = Bodies { root: &self.project.root, filling, findings: &mut findings };
            whole = bodies.read(changed.get_or_insert_with(|| node.clone()));
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
        // Nobody checks a message whose body is not there.
        Typed { address, key: key.clone(), spec: spec.filter(|_| whole), lifecycle, taken, findings }
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

/// What is missing because a layer took it away is reported where that happens.
fn at_the_null(finding: &mut Finding, taken: &BTreeMap<Address, Vec<At<String>>>) {
    let Some(taken) = finding.address.as_ref().and_then(|address| taken.get(address)) else { return };
    let missing = |key: &&At<String>| finding.code == &codes::YM203 && finding.message == missing(key);
    if let Some(key) = taken.iter().rev().find(missing) {
        finding.at = key.span;
        finding.label = "taken away here".to_owned();
        finding.help = Some(format!("give another `{key}` in its place, or leave this line out"));
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
                Finding::new(&codes::YM203, push.audience.span, missing("notification"))
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
