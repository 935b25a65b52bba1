//! References to other resources that must exist: segments, templates, tag groups.

mod circles;

use std::collections::HashMap;

pub use circles::CIRCLES;

use pushplan_model::address::Address;
use pushplan_model::codes;
use pushplan_model::cores;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::kinds::{Parts, Pipeline, Resource, Segment, TagGroup, Template, Trigger, of_kind};
use pushplan_model::node::At;
use pushplan_model::nouns::audience::Selector;
use pushplan_model::nouns::vocabulary::{self, GROUPS};
use pushplan_model::text;

use super::{Check, CheckScope, Subject};
use crate::manifest::{Declared, Desired};

pub const NAMES: Check = Check { codes: &[&codes::RF101, &codes::RF102, &codes::RF103], run: CheckScope::All(names) };

/// A reference to a resource that does not exist.
enum Unknown {
    Segment(At<String>),
    Template(At<String>),
    TagGroup(At<String>),
}

/// Checks all resources together, because suggestions are searched among all of them.
fn names(subject: &Subject, findings: &mut Findings) {
    let desired = subject.desired;
    if !desired.complete {
        // A missing resource may be in a file that could not be read.
        return;
    }
    let readable = desired.readable.iter().map(|(address, declared, _)| (address, declared));
    let resources: Vec<(&Address, &Declared)> = desired.resources.iter().chain(readable).collect();
    let unknown = cores::each_of(resources, |(address, declared)| (address, unknown(desired, declared)));
    let unknown = unknown.into_iter().flat_map(|(address, all)| all.into_iter().map(move |unknown| (address, unknown)));
    let mut suggestions = Suggestions { desired, left: COMPARISON_LIMIT, keys: HashMap::new(), found: HashMap::new() };
    for (address, unknown) in unknown {
        let mut finding = match unknown {
            Unknown::Segment(key) => no_segment(&key, suggestions.near::<Segment>(&key)),
            Unknown::Template(key) => no_template(&key, suggestions.near::<Template>(&key)),
            Unknown::TagGroup(name) => no_group(&name, suggestions.near::<TagGroup>(&name)),
        };
        finding.address = Some(address.clone());
        findings.push(finding);
    }
}

/// The unknown references of one resource.
fn unknown(desired: &Desired, declared: &Declared) -> Vec<Unknown> {
    let mut parts = Parts::new(&declared.key);
    declared.spec.parts(&mut parts);
    let mut unknown = Vec::new();
    let group = |group: &At<String>| {
        let known = vocabulary::group(group).is_some() || desired.knows::<TagGroup>(group);
        (!known).then(|| Unknown::TagGroup(group.clone()))
    };
    for audience in &parts.audiences {
        let segments = audience.selector.segments().into_iter();
        unknown.extend(segments.filter(|key| !desired.knows::<Segment>(key)).map(Unknown::Segment));
        audience.selector.walk(&mut |selector| {
            if let Selector::Tag(tag) = &selector.value {
                unknown.extend(tag.group.as_ref().and_then(group));
            }
        });
    }
    for name in parts.pushes.iter().filter_map(|push| push.template.as_ref()) {
        if !desired.knows::<Template>(&name.0) {
            unknown.push(Unknown::Template(At::new(name.0.clone(), name.span)));
        }
    }
    for trigger in of_kind::<Pipeline>(&*declared.spec).iter().flat_map(|pipeline| &pipeline.immediate_trigger) {
        if let Trigger::TagAdded { group: Some(name), .. } = &trigger.value {
            unknown.extend(group(name));
        }
    }
    unknown
}

fn no_segment(key: &At<String>, near: Option<&str>) -> Finding {
    let finding =
        Finding::new(&codes::RF101, key.span, format!("no segment has the key `{key}`")).label("not declared");
    match near {
        Some(near) => finding.help(format!("did you mean `{near}`?")).suggest(key.span, near),
        None => finding
            .help(format!("declare `{key}` under `segments:`; for a segment outside git write `segment: {{id: ...}}`")),
    }
}

fn no_template(key: &At<String>, near: Option<&str>) -> Finding {
    let finding =
        Finding::new(&codes::RF102, key.span, format!("no template has the key `{key}`")).label("not declared");
    match near {
        Some(near) => finding.help(format!("did you mean `{near}`?")).suggest(key.span, near),
        None => finding
            .note("pushplan itself fills in the template, so it must be in the project")
            .help(format!("declare `{key}` under `templates:`, or write `notification:` instead")),
    }
}

fn no_group(name: &At<String>, declared: Option<&str>) -> Finding {
    let finding = Finding::new(&codes::RF103, name.span, format!("no tag group has the name `{name}`"))
        .label("not declared")
        .note("the service accepts any name silently, and a group that does not exist has no members");
    if let Some(property) = vocabulary::by_shorthand(name) {
        return finding
            .help(format!(
                "the service's own group is `{}`; `{}: <tag>` stands for tag and group",
                property.id, property.shorthand
            ))
            .suggest(name.span, property.id);
    }
    let own = name.starts_with("ua_");
    let of_service = || text::nearest(name, GROUPS.iter().map(|group| group.id));
    match declared.filter(|_| !own).or_else(of_service) {
        Some(near) => finding.help(format!("did you mean `{near}`?")).suggest(name.span, near),
        None if own => {
            let known: Vec<String> = GROUPS.iter().map(|group| format!("`{}`", group.id)).collect();
            finding.help(format!("names that begin with ua_ belong to the service, which has {}", text::all_of(&known)))
        }
        None => finding
            .note("a tag group is created in the dashboard; manifests only refer to it")
            .help(format!("create `{name}` in the dashboard, then declare it: `tag_groups: {{{name}: {{}}}}`")),
    }
}

/// The number of comparisons in search of suggestions. Every unknown name is reported, but in a large project with half
/// of it missing, the search would take longer than everything else.
const COMPARISON_LIMIT: usize = 200_000;

/// The suggestions for unknown names, each searched once.
struct Suggestions<'d> {
    desired: &'d Desired,
    /// The remaining comparisons.
    left: usize,
    keys: HashMap<&'static str, Vec<&'d str>>,
    found: HashMap<(&'static str, String), Option<&'d str>>,
}

impl<'d> Suggestions<'d> {
    fn near<R: Resource>(&mut self, name: &str) -> Option<&'d str> {
        let Self { desired, left, keys, found } = self;
        *found.entry((R::KEY, name.to_owned())).or_insert_with(|| {
            let keys = keys.entry(R::KEY).or_insert_with(|| desired.keys::<R>().collect());
            *left = left.checked_sub(keys.len())?;
            text::nearest(name, keys.iter().copied())
        })
    }
}
