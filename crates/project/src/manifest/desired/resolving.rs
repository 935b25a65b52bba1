//! The desired state of a target while it is being read.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::OnceLock;

use pushplan_model::address::Address;
use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::kinds::Spec;
use pushplan_model::node::{At, Node, missing};
use pushplan_model::source::Span;

use super::super::growth::weight;
use super::super::layers::Stack;
use super::super::variables::Filling;
use super::super::{Lifecycle, Manifests, Project, Provenance};
use super::readable::Readable;
use super::{Declared, Desired, fill_templates};

/// The maximal number of problems that are reported for a target.
pub(crate) const PROBLEM_LIMIT: usize = 100_000;

/// The result of one declaration.
#[derive(Debug)]
pub struct Typed {
    pub address: Address,
    pub key: At<String>,
    pub spec: Option<Box<dyn Spec>>,
    pub lifecycle: Option<Lifecycle>,
    /// Its readable part, if it cannot be read as a whole.
    pub readable: Option<Readable>,
    /// Keys that a layer removes.
    pub taken: Vec<At<String>>,
    pub provenance: Vec<Provenance>,
    pub findings: Findings,
}

/// The desired state of a target, as far as it was read.
pub struct Resolving<'m> {
    manifests: &'m Manifests,
    defaults: HashMap<&'static str, (&'m Node, usize)>,
    with: Filling<'m>,
    desired: Desired,
    resources: Vec<(Address, Declared)>,
    /// Keys that layers remove.
    taken: BTreeMap<Address, Vec<At<String>>>,
    pub findings: Findings,
}

impl<'m> Resolving<'m> {
    pub fn new(manifests: &'m Manifests, with: Filling<'m>) -> Self {
        let defaults = &manifests.collected.defaults;
        Self {
            manifests,
            defaults: defaults.iter().map(|(kind, node)| (*kind, (node, weight(node)))).collect(),
            desired: Desired {
                resources: BTreeMap::new(),
                broken: BTreeSet::new(),
                readable: Vec::new(),
                allowed: BTreeMap::new(),
                warned: BTreeMap::new(),
                complete: manifests.complete,
                target: with.target.map(str::to_owned),
                deep_links: deep_links(&manifests.project),
                conditions: OnceLock::new(),
                possible: OnceLock::new(),
            },
            resources: Vec::with_capacity(manifests.resource_count),
            taken: BTreeMap::new(),
            findings: Findings::default(),
            with,
        }
    }

    pub fn typed(&self, stack: &Stack) -> Typed {
        self.manifests.typed(stack, &self.defaults, &self.with)
    }

    pub fn take(&mut self, typed: Vec<Typed>) {
        let Self { desired, findings, taken, resources, .. } = self;
        for one in typed {
            let own = one.findings.into_vec();
            let has_unknown_keys = own.iter().any(|finding| finding.code == &codes::YM201);
            own.into_iter().for_each(|finding| findings.push(finding));
            if let Some(Lifecycle { allow, warn, .. }) = &one.lifecycle {
                for (codes, into) in [(allow, &mut desired.allowed), (warn, &mut desired.warned)] {
                    if let Some(codes) = codes {
                        into.insert(one.address.clone(), codes.0.clone());
                    }
                }
            }
            if !one.taken.is_empty() {
                taken.insert(one.address.clone(), one.taken);
            }
            match (one.spec, one.lifecycle) {
                (Some(spec), Some(lifecycle)) => {
                    let (key, provenance) = (one.key, one.provenance);
                    resources.push((one.address, Declared { key, spec, lifecycle, provenance, has_unknown_keys }));
                }
                _ => {
                    if let Some(Readable { spec, lifecycle, uncertain }) = one.readable {
                        let (key, provenance) = (one.key, one.provenance);
                        let declared = Declared { key, spec, lifecycle, provenance, has_unknown_keys };
                        desired.readable.push((one.address.clone(), declared, uncertain));
                    }
                    desired.broken.insert(one.address);
                }
            }
        }
    }

    /// Whether there are so many problems that the rest is not read.
    pub(crate) fn stops_at(&mut self, mut rest: impl Iterator<Item = (&'static str, At<String>)>) -> bool {
        if self.findings.len() <= PROBLEM_LIMIT {
            return false;
        }
        let Some(first) = rest.next() else { return false };
        self.findings.push(too_many(first.1.span));
        self.desired.complete = false;
        let address = |(kind, key): (&'static str, At<String>)| Address::new(kind, key.value);
        self.desired.broken.extend(std::iter::once(first).chain(rest).map(address));
        true
    }

    pub fn end(self, outgrown: impl FnOnce() -> Finding) -> (Desired, Vec<Finding>) {
        let Self { manifests, mut desired, resources, taken, mut findings, with, .. } = self;
        desired.resources = resources.into_iter().collect();
        fill_templates(&mut desired, with.growth, &mut findings);
        if with.growth.is_exceeded() {
            findings = Findings::default();
            findings.push(outgrown());
            desired.complete = false;
            desired.broken.extend(std::mem::take(&mut desired.resources).into_keys());
        }
        // A missing resource may be in the files that could not be read.
        if !desired.complete {
            desired.readable.clear();
        }
        let mut findings = findings.into_vec();
        if desired.complete {
            findings.extend(manifests.unread_texts(&desired, &findings));
        }
        findings.iter_mut().for_each(|finding| at_the_null(finding, &taken));
        (desired, findings)
    }
}

fn too_many(first: Span) -> Finding {
    Finding::new(&codes::YM106, first, format!("more than {PROBLEM_LIMIT} problems: the rest is not checked"))
        .label("the first target that is not checked")
}

/// Moves the finding for a field that a layer removed to the position in that layer.
fn at_the_null(finding: &mut Finding, taken: &BTreeMap<Address, Vec<At<String>>>) {
    let Some(taken) = finding.address.as_ref().and_then(|address| taken.get(address)) else { return };
    let missing = |key: &&At<String>| finding.code == &codes::YM203 && finding.message == missing(key);
    if let Some(key) = taken.iter().rev().find(missing) {
        finding.at = key.span;
        finding.label = "removed here".to_owned();
        finding.help = Some(format!("set another `{key}`, or remove this line"));
    }
}

/// The schemes of the app's deep links, in lower case and without `://`.
fn deep_links(project: &Project) -> Vec<String> {
    let given = project.file.project.iter().filter_map(|about| about.deep_links.as_ref()).flatten();
    given.map(|scheme| scheme.trim_end_matches('/').trim_end_matches(':').to_ascii_lowercase()).collect()
}
