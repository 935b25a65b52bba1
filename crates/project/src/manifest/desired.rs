//! The desired state of one target.

mod early;
mod readable;
mod resolving;
mod unread;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::OnceLock;

use pushplan_model::address::Address;
use pushplan_model::codes;
use pushplan_model::cores;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::kinds::{Kind, Resource, Spec, Template, of_kind};
use pushplan_model::node::{At, Node, Reader, Tree, missing};
use pushplan_model::nouns::audience::Selector;
use pushplan_model::nouns::placeholder;
use pushplan_model::nouns::push::{Content, Push};
use pushplan_model::source::Span;

use super::bodies::{self, Bodies};
use super::catalogues::{self, Expansion};
use super::collect::Declaration;
use super::growth::{self, Growth};
use super::layers::{Stack, Stacks};
use super::meant::Meant;
use super::provenance::{BodyVariables, Tracing};
use super::variables::{self, Filling, Variables};
use super::{Lifecycle, Manifests, Provenance};
use resolving::Resolving;

pub(super) use early::EarlyResource;
pub(super) use readable::Readable;
pub(super) use resolving::{PROBLEM_LIMIT, Typed};

/// The number of resources that are typed in parallel before their problems are counted.
const TOGETHER: usize = 8_192;

/// One declared resource, typed.
#[derive(Debug)]
pub struct Declared {
    pub key: At<String>,
    pub spec: Box<dyn Spec>,
    pub lifecycle: Lifecycle,
    /// Its values that are written in other places.
    pub provenance: Vec<Provenance>,
    /// Whether it has unknown keys. One of them may be meant for a missing one.
    pub has_unknown_keys: bool,
}

/// The desired state of a target.
#[derive(Debug)]
pub struct Desired {
    pub resources: BTreeMap<Address, Declared>,
    /// Declared but unreadable resources: references to them are valid.
    pub broken: BTreeSet<Address>,
    /// The readable parts of resources with malformed fields, for checks, with the beginnings of the codes that a
    /// dropped or added field may cause.
    pub readable: Vec<(Address, Declared, Vec<&'static str>)>,
    /// The codes in a resource's `lifecycle.allow`, also for one that could not be read.
    pub allowed: BTreeMap<Address, Vec<At<String>>>,
    /// The codes in a resource's `lifecycle.warn`: their errors are warnings.
    pub warned: BTreeMap<Address, Vec<At<String>>>,
    /// Whether all files could be read. If not, a missing resource proves nothing.
    pub complete: bool,
    /// The target, if there is one.
    pub target: Option<String>,
    /// The schemes of the app's deep links, from the project file.
    pub deep_links: Vec<String>,
    /// The conditions of each segment, computed on demand.
    pub conditions: OnceLock<Conditions>,
    /// The possible device types of each segment, computed on demand.
    pub possible: OnceLock<PossibleKinds>,
}

/// By the keys of segments: for each device type, whether one can be in the segment, and whether one can be outside.
pub type PossibleKinds = HashMap<String, [[bool; 5]; 2]>;

/// Conditions by the keys of their segments, each with whether it is negated.
pub type Conditions = HashMap<String, Vec<(At<Selector>, bool)>>;

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

    /// Whether a reference to this resource is valid.
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

impl Manifests {
    /// The number of resources without overlays.
    pub fn resource_count(&self) -> usize {
        self.resource_count
    }

    /// Resolves the desired state of a target: with defaults, overlays and variables, all of it typed. Without a target
    /// there are no overlays and no variables.
    pub fn resolve(&self, target: Option<&str>) -> (Desired, Vec<Finding>) {
        let Stacks { stacks, idle } = self.stacks(target);
        let meant = Meant::new(&self.collected.base, idle.len() + stacks.iter().filter(|it| it.is_only_there).count());
        let (growth, values) = (Growth::default(), self.values(target));
        let mut resolving = Resolving::new(self, self.filling(target, &values, &growth));
        resolving.findings.extend(idle.into_iter().map(|it| meant.nothing_to_take(it)));
        for (number, some) in stacks.chunks(TOGETHER).enumerate() {
            let typed = |stack: &Stack| {
                let mut typed = resolving.typed(stack);
                if stack.is_only_there {
                    only_in_overlay(stack.own, &meant, &mut typed);
                }
                typed
            };
            let typed: Vec<Typed> = cores::each(some, typed);
            resolving.take(typed);
            let rest = &stacks[(number * TOGETHER + some.len())..];
            if resolving.stops_at(rest.iter().map(|it| (it.own.kind.key, it.own.key.clone()))) {
                break;
            }
        }
        resolving.end(|| {
            let declarations = || stacks.iter().map(|stack| stack.own);
            let asks = declarations().find(|it| self.asks(it)).or(declarations().next());
            outgrown(asks.map_or(Span::NONE, |it| it.key.span))
        })
    }

    /// Resolves the resources of a target that were typed, if possible, while their files were read. There are no overlays.
    pub(super) fn resolve_early(
        &self,
        declared: Vec<Vec<EarlyResource>>,
        target: Option<&str>,
    ) -> (Desired, Vec<Finding>) {
        let (growth, values) = (Growth::default(), self.values(target));
        let mut resolving = Resolving::new(self, self.filling(target, &values, &growth));
        let all = || declared.iter().flatten();
        let asks = all().find(|it| matches!(it, EarlyResource::Tree(own) if self.asks(own))).or(all().next());
        let asks = asks.map_or(Span::NONE, |it| it.key().span);
        let mut rest = declared.into_iter().flatten();
        loop {
            let some: Vec<EarlyResource> = rest.by_ref().take(TOGETHER).collect();
            if some.is_empty() {
                break;
            }
            let has_trees = some.iter().any(|it| matches!(it, EarlyResource::Tree(_)));
            let typed: Vec<Typed> = cores::each_if(has_trees, some, |it| match it {
                EarlyResource::Typed(_, typed) => *typed,
                EarlyResource::Tree(own) => {
                    resolving.typed(&Stack { own: &own, over: Vec::new(), is_only_there: false })
                }
            });
            resolving.take(typed);
            if resolving.stops_at(rest.by_ref().map(|it| (it.kind().key, it.key().clone()))) {
                break;
            }
        }
        resolving.end(|| outgrown(asks))
    }

    /// The variables of a target.
    pub(super) fn values(&self, target: Option<&str>) -> Variables {
        target.and_then(|name| self.project.target(name)).map(super::Target::values).unwrap_or_default()
    }

    pub(super) fn filling<'f>(
        &'f self,
        target: Option<&'f str>,
        variables: &'f Variables,
        growth: &'f Growth,
    ) -> Filling<'f> {
        Filling { variables, target, sources: &self.sources, growth }
    }

    /// Whether defaults, variables, bodies or catalogues apply to a resource.
    fn asks(&self, it: &Declaration) -> bool {
        let default = self.collected.defaults.contains_key(it.kind.key);
        default
            || variables::has_variables(&it.node)
            || bodies::has_files(&it.node)
            || catalogues::has_locales(&it.node)
    }

    fn typed(&self, stack: &Stack, defaults: &HashMap<&str, (&Node, usize)>, with: &Filling) -> Typed {
        let Declaration { kind, key, node } = stack.own;
        let address = Address::new(kind.key, key.value.clone());
        let mut findings = Findings::about(&address);
        if with.growth.is_exceeded() {
            // Nothing else will be reported, so the rest need not be read.
            let (taken, provenance) = (Vec::new(), Vec::new());
            return Typed {
                address,
                key: key.clone(),
                spec: None,
                lifecycle: None,
                readable: None,
                taken,
                provenance,
                findings,
            };
        }
        let (mut taken, mut whole) = (Vec::new(), true);
        let defaults = defaults.get(kind.key).filter(|(_, weight)| with.growth.allows(*weight)).map(|(node, _)| *node);
        let mut changed = self.laid(stack, defaults, with, &mut taken, &mut findings);
        let has_files = self.has_files && bodies::has_files(changed.as_ref().unwrap_or(node));
        let mut tracing = (has_files || changed.is_some()).then(|| Tracing::new(self, with));
        if let Some(tracing) = &mut tracing {
            tracing.trace(changed.as_ref().unwrap_or(node), stack, defaults);
        }
        let mut body_variables = BodyVariables::new();
        if has_files {
            let (project, given) = (&self.project, &self.given_bodies);
            let mut bodies = Bodies { project, given, with, findings: &mut findings, variables: &mut body_variables };
            whole = bodies.read(changed.get_or_insert_with(|| node.clone()));
        }
        let provenance = tracing.map(|tracing| tracing.ended(&body_variables)).unwrap_or_default();
        let node = changed.as_ref().unwrap_or(node);

        let before = findings.len();
        let (spec, lifecycle, findings) = decoded(kind, key, node, findings);
        let is_unread = spec.is_none() || lifecycle.is_none();
        let readable = (is_unread && whole && self.complete)
            .then(|| Readable::of(kind, key, node, findings.since(before)))
            .flatten();
        let (spec, findings) = self.said_of_unread(node, spec, findings);
        // A message with an unreadable body is not checked.
        let spec = spec.filter(|_| whole);
        Typed { address, key: key.clone(), spec, lifecycle, readable, taken, provenance, findings }
    }
}

impl Manifests {
    /// A resource with its defaults, the target's overlays, texts of catalogues and variables; `None` if none of them changes it. Keys that
    /// a layer removes are added to `taken`.
    pub(super) fn laid(
        &self,
        stack: &Stack,
        defaults: Option<&Node>,
        with: &Filling,
        taken: &mut Vec<At<String>>,
        findings: &mut Findings,
    ) -> Option<Node> {
        let Declaration { kind, node, .. } = stack.own;
        let mut changed = stack.layered(defaults, with.growth, taken);
        if self.has_files && catalogues::has_locales(changed.as_ref().unwrap_or(node)) {
            let address = Address::new(kind.key, stack.own.key.value.clone()).to_string();
            let mut expansion = Expansion { manifests: self, with, address, findings };
            expansion.resource(changed.get_or_insert_with(|| node.clone()));
        }
        if self.has_variables && variables::has_variables(changed.as_ref().unwrap_or(node)) {
            variables::fill(changed.get_or_insert_with(|| node.clone()), with, findings);
        }
        changed
    }

    /// Drops the findings that follow from a part of a resource that could not be read and was reported, and its spec,
    /// so that it is not checked.
    fn said_of_unread(
        &self,
        node: &Node,
        spec: Option<Box<dyn Spec>>,
        findings: Findings,
    ) -> (Option<Box<dyn Spec>>, Findings) {
        let unread = match self.complete {
            true => Vec::new(),
            false => without_lifecycle(node).as_ref().unwrap_or(node).unread_places(),
        };
        if unread.is_empty() {
            return (spec, findings);
        }
        let mut left = Findings::default();
        left.extend(findings.into_vec().into_iter().filter(|finding| !unread.contains(&finding.at)));
        (None, left)
    }
}

/// The content of a declaration, and its lifecycle settings.
pub(super) fn decoded(
    kind: &Kind,
    key: &At<String>,
    node: &Node,
    findings: Findings,
) -> (Option<Box<dyn Spec>>, Option<Lifecycle>, Findings) {
    let mut reader = Reader::new(findings);
    let entry = node.entries().and_then(|entries| entries.iter().find(|entry| *entry.key == "lifecycle"));
    let lifecycle = match entry {
        Some(entry) => reader.value::<Option<Lifecycle>>(entry).map(|given| given.unwrap_or(Lifecycle::NONE)),
        None => Some(Lifecycle::NONE),
    };
    let own = without_lifecycle(node);
    let spec = match own.as_ref().unwrap_or(node) {
        node if node.is_null() => {
            // `tag_groups: {loyalty: }` declares a group without any field.
            let empty = Node { span: key.span, tree: Tree::Map(Vec::new()) };
            reader.owned_by(key.span, |reader| (kind.decode)(key, &empty, reader))
        }
        node => reader.owned_by(key.span, |reader| (kind.decode)(key, node, reader)),
    };
    (spec, lifecycle, reader.findings)
}

/// The finding for a project whose content grows too much. It is the only one, and at the first resource that grows,
/// because the culprit depends on the order of reading.
fn outgrown(at: Span) -> Finding {
    Finding::new(
        &codes::YM106,
        at,
        format!("defaults, variables, bodies and templates add more than {} to this project", growth::LIMIT_WORDS),
    )
    .label("the first resource with them")
    .help("check for a large text in many resources")
}

/// Reports a resource that is only in an overlay and whose key may be a typo of another one.
fn only_in_overlay(declaration: &Declaration, meant: &Meant, typed: &mut Typed) {
    let Declaration { kind, key, .. } = declaration;
    let allowed = typed.lifecycle.iter().flat_map(Lifecycle::allowed);
    let is_allowed = allowed.into_iter().any(|code| codes::code(code) == Some(&codes::RF113));
    if let Some(finding) = meant.another(declaration).filter(|_| !is_allowed) {
        // Fields that are missing here are in the intended resource.
        typed.findings = Findings::about(&typed.address);
        typed.findings.push(finding);
        typed.spec = None;
        typed.readable = None;
        return;
    }
    let whole = format!("the {} `{key}` is declared only in this overlay, so it must be complete here", kind.noun);
    let found = std::mem::take(&mut typed.findings).into_vec().into_iter();
    typed.findings.extend(found.map(|finding| match finding.code == &codes::YM203 {
        true => finding.note(whole.clone()),
        false => finding,
    }));
}

fn without_lifecycle(node: &Node) -> Option<Node> {
    let entries = node.entries()?;
    entries.iter().find(|entry| *entry.key == "lifecycle")?;
    let rest = entries.iter().filter(|entry| *entry.key != "lifecycle").cloned().collect();
    Some(Node { span: node.span, tree: Tree::Map(rest) })
}

/// Fills pushes that name a template with its content and variables, because the schedules of the contract only accept
/// whole pushes.
fn fill_templates(desired: &mut Desired, growth: &Growth, findings: &mut Findings) {
    let mut named = HashSet::new();
    for declared in desired.resources.values_mut() {
        named.extend(
            declared.spec.pushes().into_iter().filter_map(|push| push.template.as_ref().map(|it| it.0.clone())),
        );
    }
    let templates = desired.all::<Template>().filter(|(address, ..)| named.contains(&address.key));
    let templates: HashMap<String, Template> =
        templates.map(|(address, _, template)| (address.key.clone(), template.clone())).collect();
    let templates: HashMap<&str, Filled> =
        templates.iter().map(|(key, template)| (key.as_str(), Filled::of(template))).collect();
    for (address, declared) in &mut desired.resources {
        for push in declared.spec.pushes() {
            fill_template(push, &templates, growth, address, findings);
        }
    }
}

fn fill_template(
    push: &mut At<Push>,
    templates: &HashMap<&str, Filled>,
    growth: &Growth,
    address: &Address,
    findings: &mut Findings,
) {
    let mut report = |finding: Finding| findings.push(Finding { address: Some(address.clone()), ..finding });
    let Some(name) = push.template.clone() else {
        if push.notification.is_none() {
            report(
                Finding::new(&codes::YM203, push.audience.span, missing("notification"))
                    .label("a push without content")
                    .help("add `notification: {alert: ...}`, or `template:` with the key of a template"),
            );
        }
        return;
    };
    if push.notification.is_some() {
        report(
            Finding::new(&codes::YM201, name.span, "`template` cannot be combined with `notification`")
                .label("which of the two?"),
        );
        return;
    }
    let Some(filled) = templates.get(name.0.as_str()) else { return };
    let Push { notification, message, localizations, substitutions, .. } = &mut push.value;
    if growth.is_exceeded() || !growth.allows(filled.size(substitutions)) {
        return;
    }
    let given: HashMap<&str, &str> =
        substitutions.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let value = |key: &str| given.get(key).or_else(|| filled.defaults.get(key)).copied();
    let mut said = filled.content.notification.clone();
    said.map_texts(&|text| placeholder::fill(text, value));
    *notification = Some(said);
    if message.is_none() {
        *message = filled.content.message.clone().map(|mut message| {
            message.map_texts(&|text| placeholder::fill(text, value));
            message
        });
    }
    if localizations.is_empty() {
        *localizations = filled.content.localizations.clone();
        localizations.iter_mut().for_each(|own| own.map_texts(&|text| placeholder::fill(text, value)));
    }
}

/// The content of a template and its facts for filling it in, computed once for all of its pushes.
struct Filled<'t> {
    content: &'t Content,
    defaults: HashMap<&'t str, &'t str>,
    /// The bytes of its texts, and the approximate cost of its variables for each push.
    size: usize,
    placeholders: usize,
    /// The longest default.
    longest: usize,
}

impl<'t> Filled<'t> {
    fn of(template: &'t Template) -> Self {
        /// The approximate cost of a push for each variable.
        const VARIABLE: usize = 16;
        let Content { notification, message, localizations, locales: _, rest: _ } = &template.push;
        let messages = || message.iter().chain(localizations.iter().filter_map(|own| own.message.as_ref()));
        let notifications =
            || std::iter::once(notification).chain(localizations.iter().filter_map(|own| own.notification.as_ref()));
        let said = messages().flat_map(|message| [&message.title, &message.body]);
        let said = notifications().flat_map(|shown| shown.fillable()).chain(said).map(|text| text.as_str());
        let passed = messages().map(|message| &message.rest).chain(notifications().flat_map(|shown| shown.free()));
        let passed = passed.chain(localizations.iter().map(|own| &own.rest));
        let texts: Vec<&str> = said.chain(passed.flat_map(|rest| rest.texts().map(|(_, text)| text))).collect();
        let variables = template.variables.as_deref().unwrap_or(&[]);
        let mut defaults = HashMap::new();
        for variable in variables {
            if let Some(default) = &variable.default_value {
                // If a variable is declared twice, the first one counts.
                defaults.entry(variable.key.as_str()).or_insert(default.as_str());
            }
        }
        Self {
            content: &template.push,
            size: texts.iter().map(|text| text.len()).sum::<usize>() + variables.len() * VARIABLE,
            placeholders: texts.iter().map(|text| text.matches("{{").count()).sum(),
            longest: defaults.values().map(|default| default.len()).max().unwrap_or(0),
            defaults,
        }
    }

    /// The largest possible size of the template with these values.
    fn size(&self, substitutions: &BTreeMap<At<String>, At<String>>) -> usize {
        let longest = substitutions.values().map(|value| value.len()).max().unwrap_or(0).max(self.longest);
        // A placeholder costs time even if it is not replaced.
        self.size.saturating_add(self.placeholders.saturating_mul(longest.max(64)))
    }
}
