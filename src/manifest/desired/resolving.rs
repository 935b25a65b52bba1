//! What a target gets, gathered as it is read.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::OnceLock;

use super::super::collect::Declaration;
use super::super::growth::weight;
use super::super::layers::Stack;
use super::super::variables::Filling;
use super::super::{Lifecycle, Manifests};
use super::{Declared, Desired, fill_templates};
use crate::address::Address;
use crate::codes;
use crate::finding::{Finding, Findings};
use crate::kinds::Spec;
use crate::node::{At, Node, missing};

/// How many problems are reported for a target; nobody reads more of them.
const PROBLEM_LIMIT: usize = 100_000;

/// What became of one declaration.
pub struct Typed {
    pub address: Address,
    pub key: At<String>,
    pub spec: Option<Box<dyn Spec>>,
    pub lifecycle: Option<Lifecycle>,
    /// Keys that a layer takes away.
    pub taken: Vec<At<String>>,
    pub findings: Findings,
}

/// What a target gets, as far as it was read.
pub struct Resolving<'m> {
    manifests: &'m Manifests,
    defaults: HashMap<&'static str, (&'m Node, usize)>,
    with: Filling<'m>,
    desired: Desired,
    resources: Vec<(Address, Declared)>,
    /// Keys that layers take away.
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
                allowed: BTreeMap::new(),
                warned: BTreeMap::new(),
                complete: manifests.complete,
                target: with.target.map(str::to_owned),
                conditions: OnceLock::new(),
                reach: OnceLock::new(),
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
            one.findings.into_vec().into_iter().for_each(|finding| findings.push(finding));
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
                    resources.push((one.address, Declared { key: one.key, spec, lifecycle }));
                }
                _ => {
                    desired.broken.insert(one.address);
                }
            }
        }
    }

    /// Whether there are so many problems that the rest is not read.
    pub fn stops_at<'d>(&mut self, mut rest: impl Iterator<Item = &'d Declaration>) -> bool {
        if self.findings.len() <= PROBLEM_LIMIT {
            return false;
        }
        let Some(first) = rest.next() else { return false };
        self.findings.push(too_many(first));
        self.desired.complete = false;
        let address = |it: &Declaration| Address::new(it.kind.key, it.key.value.clone());
        self.desired.broken.extend(std::iter::once(first).chain(rest).map(address));
        true
    }

    pub fn end(self, outgrown: impl FnOnce() -> Finding) -> (Desired, Vec<Finding>) {
        let Self { mut desired, resources, taken, mut findings, with, .. } = self;
        desired.resources = resources.into_iter().collect();
        fill_templates(&mut desired, with.growth, &mut findings);
        if with.growth.is_exceeded() {
            findings = Findings::default();
            findings.push(outgrown());
            desired.complete = false;
            desired.broken.extend(std::mem::take(&mut desired.resources).into_keys());
        }
        let mut findings = findings.into_vec();
        findings.iter_mut().for_each(|finding| at_the_null(finding, &taken));
        (desired, findings)
    }
}

fn too_many(first: &Declaration) -> Finding {
    Finding::new(
        &codes::YM106,
        first.key.span,
        format!("more than {PROBLEM_LIMIT} problems: from here on nothing is checked"),
    )
    .label("the first that is not checked")
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{self, From, Input, Project};
    use crate::source::Sources;
    use std::path::Path;

    fn read(text: &str) -> Manifests {
        let input = Input { name: "all.yaml".into(), from: From::Bytes(text.as_bytes().to_vec()) };
        manifest::read(Project::bare(Path::new(".")), vec![input], Sources::default(), Findings::default())
    }

    /// What is found once, the other time and again, in words.
    fn both(text: &str) -> [String; 2] {
        let (mut once, usual) = (read(text), read(text));
        let words = |(desired, findings): (Desired, Vec<Finding>)| format!("{desired:?} {findings:?}");
        let found = [words(once.resolve_once(None)), words(usual.resolve(None))];
        assert_eq!(once.resource_count(), usual.resource_count());
        found
    }

    #[test]
    fn who_asks_once_learns_the_same() {
        let template = "templates:\n  t:\n    variables: [{key: A, name: A, default_value: b}]\n    push: {notification: {alert: \"{{A}}\"}}\n";
        let push = "scheduled_pushes:\n  p:\n    name: P\n    schedule: {scheduled_time: 2036-01-01T08:00}\n    push: {audience: all, device_types: all, template: t}\n";
        let wrong = "segments:\n  good: {display_name: G, criteria: {tag: a}}\n  bad: {criteria: {tagg: a}, lifecycle: {allow: [AU101]}}\n";
        let all = format!("{template}{push}{wrong}");
        for text in
            [template, &all, "", "defaults:\n  segments: {display_name: x}\nsegments:\n  a: {criteria: {tag: a}}\n"]
        {
            let [once, usual] = both(text);
            assert_eq!(once, usual, "{text}");
        }
        assert!(both(&all)[0].contains("tagg"));
    }

    #[test]
    fn many_problems_end_it_at_the_same_place() {
        let mut text = String::from("segments:\n");
        (0..17_000)
            .for_each(|n| text += &format!("  s{n}: {{{}}}\n", "a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1, i: 1"));
        let [once, usual] = both(&text);
        assert_eq!(once, usual);
        assert!(once.contains("more than 100000 problems"));
    }
}
