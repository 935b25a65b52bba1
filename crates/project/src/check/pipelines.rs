//! Pipelines: their recipients, times and triggers.

use std::collections::{BTreeMap, HashMap, HashSet};

use pushplan_model::address::Address;
use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::kinds::{Parts, Pipeline, ReadableText, Resource, TagGroup, Trigger, of_kind};
use pushplan_model::node::{At, yaml_text};
use pushplan_model::nouns::audience::Selector;
use pushplan_model::nouns::delay::Delay;
use pushplan_model::nouns::vocabulary;
use pushplan_model::source::Span;
use pushplan_model::text;

use super::circles::circles;
use super::{Check, CheckScope, Dissected, Subject};
use crate::manifest::Declared;

/// A pipeline sends to one device. Any other audience is a mistake.
pub(crate) const AUDIENCE: Check = Check { codes: &[&codes::PL101], run: CheckScope::Each(audience) };

fn audience(_: &Subject, one: &Dissected, findings: &mut Findings) {
    let Some(pipeline) = of_kind::<Pipeline>(&*one.declared.spec) else { return };
    for outcome in &pipeline.outcome {
        let audience = &outcome.push.0.audience;
        let mut mentions = false;
        audience.walk(&mut |selector| mentions |= selector.value == Selector::Triggered);
        // `triggered` in a compound has a separate code.
        if mentions {
            continue;
        }
        let finding =
            Finding::new(&codes::PL101, audience.span, "a pipeline sends only to the device that triggered it")
                .label("not `triggered`")
                .note("each device gets the push when it triggers the pipeline");
        findings.push(match audience.value {
            Selector::All => finding
                .help("write `audience: triggered`; to reach everybody, use a scheduled push")
                .suggest(audience.span, "triggered"),
            _ => finding.help("write `audience: triggered`; to reach a segment or a tag, use a scheduled push"),
        });
    }
}

/// A delay counts forward from the trigger.
pub(crate) const DELAY: Check = Check { codes: &[&codes::PL102], run: CheckScope::Each(delay) };

fn delay(_: &Subject, one: &Dissected, findings: &mut Findings) {
    let Some(pipeline) = of_kind::<Pipeline>(&*one.declared.spec) else { return };
    for delay in pipeline.outcome.iter().filter_map(|outcome| outcome.delay.as_ref()).filter(|delay| delay.0 <= 0) {
        findings.push(if delay.0 == 0 {
            Finding::new(&codes::PL102, delay.span, "a delay of 0 seconds is no delay")
                .label("no time at all")
                .note("without `delay`, the push is sent at once when the trigger fires")
                .help("remove `delay`, or write a duration such as 15m or 1h")
        } else {
            let finding = Finding::new(&codes::PL102, delay.span, "a push cannot be sent before its trigger")
                .label("a time before the trigger");
            match delay.0.checked_neg().map(Delay) {
                Some(after) => finding
                    .help(format!("for {after} after the trigger write {}", after.0))
                    .suggest(delay.span, after.0.to_string()),
                None => finding,
            }
        });
    }
}

/// Two fields with different delays.
pub(crate) const TIMING: Check = Check { codes: &[&codes::YM201], run: CheckScope::Each(timing) };

fn timing(_: &Subject, one: &Dissected, findings: &mut Findings) {
    let Some(pipeline) = of_kind::<Pipeline>(&*one.declared.spec) else { return };
    let Some(other) = &pipeline.timing.delay else { return };
    let delays = pipeline.outcome.iter().filter_map(|outcome| outcome.delay.as_ref());
    for delay in delays.filter(|delay| *delay != other) {
        findings.push(
            Finding::new(
                &codes::YM201,
                delay.span,
                format!("`delay` says {}, but `timing` says {}", delay.value, other.value),
            )
            .label("which of the two?")
            .related(other.span, "the other")
            .help("remove `timing.delay`: the API documents only `delay` in the outcome"),
        );
    }
}

/// Fields that the contract lacks.
pub(crate) const LEVEL: Check = Check { codes: &[&codes::PL107], run: CheckScope::Each(level) };

fn level(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    let Some(pipeline) = of_kind::<Pipeline>(&*one.declared.spec).filter(|_| subject.is_documented()) else { return };
    for (key, span) in pipeline.further() {
        findings.push(
            Finding::new(&codes::PL107, span, format!("`{key}` cannot be sent to this target"))
                .label("the contract does not have it")
                .help(format!("remove `{key}`, or set `api = \"extended\"` if the service supports it")),
        );
    }
}

/// A pipeline that becomes inactive before it becomes active.
pub(crate) const WINDOW: Check = Check { codes: &[&codes::PL109], run: CheckScope::Each(window) };

fn window(_: &Subject, one: &Dissected, findings: &mut Findings) {
    let Some(pipeline) = of_kind::<Pipeline>(&*one.declared.spec) else { return };
    let Some((from, until)) = pipeline.activation_time.as_ref().zip(pipeline.deactivation_time.as_ref()) else {
        return;
    };
    if until.value <= from.value {
        findings.push(
            Finding::new(&codes::PL109, until.span, "the pipeline becomes inactive before it becomes active")
                .label("not after `activation_time`")
                .related(from.span, "active from here on")
                .note("it would never send anything")
                .help("write a later `deactivation_time`, or turn the pipeline off with `enabled: false`"),
        );
    }
}

/// A trigger on a tag that nothing adds, so it never fires.
pub(crate) const TRIGGER_TAG: Check = Check { codes: &[&codes::PL103], run: CheckScope::All(trigger_tag) };

fn trigger_tag(subject: &Subject, findings: &mut Findings) {
    let desired = subject.desired;
    // A resource that could not be read may add the tag.
    if !desired.complete || !desired.broken.is_empty() {
        return;
    }
    let mut triggers = triggers(subject).peekable();
    if triggers.peek().is_none() {
        return;
    }
    let (on_devices, in_groups) = added(subject);
    let mut suggestions = SUGGESTIONS;
    // An empty tag has a separate code.
    for (address, tag, group) in triggers.filter(|(_, tag, _)| !tag.is_empty()) {
        let known = match group {
            None => on_devices.contains(tag.as_str()),
            Some(group) => {
                is_settled(subject, group) || {
                    in_groups.get(group.as_str()).is_some_and(|tags| tags.contains(tag.as_str()))
                }
            }
        };
        if known {
            continue;
        }
        let within = group.map_or(String::new(), |group| format!(" of the group `{group}`"));
        let mut finding = Finding::new(
            &codes::PL103,
            tag.span,
            format!("nothing in the project adds the tag `{}`{within}", text::short(tag, 40)),
        )
        .label("never added here")
        .note("if no app and no other system adds it, this pipeline never sends")
        .help(format!(
            "add it with `add_tag` in a push or in a tag group's `tags`; if the app adds it, set `lifecycle: \
                {{allow: [{}]}}`",
            codes::PL103.name
        ));
        let elsewhere = || in_groups.iter().find(|(_, tags)| group.is_none() && tags.contains(tag.as_str()));
        if let Some((holder, _)) = elsewhere() {
            finding = finding
                .note(format!("without `group`, the trigger means a tag of the device itself, not one of `{holder}`"))
                .help(format!("write {{tag: {}, group: {}}}", yaml_text(tag), yaml_text(holder)));
        } else if let Some(left) = usize::checked_sub(suggestions, 1) {
            suggestions = left;
            let near = match group {
                None => nearest(tag, &on_devices),
                Some(group) => in_groups.get(group.as_str()).and_then(|tags| nearest(tag, tags)),
            };
            if let Some(near) = near {
                finding = finding
                    .help(format!(
                        "did you mean `{near}`? If not, and the app adds the tag, set `lifecycle: {{allow: [{}]}}`",
                        codes::PL103.name
                    ))
                    .suggest(tag.span, yaml_text(near));
            }
        }
        finding.address = Some(address.clone());
        findings.push(finding);
    }
}

/// The number of findings for which a similar tag is searched. Each search compares all tags of the project.
const SUGGESTIONS: usize = 50;

/// The nearest of unordered tags: of several equally near ones, the first by name.
fn nearest<'t>(tag: &str, candidates: &HashSet<&'t str>) -> Option<&'t str> {
    let mut candidates: Vec<&str> = candidates.iter().copied().collect();
    candidates.sort_unstable();
    text::nearest(tag, candidates)
}

/// Whether another check covers a tag of this group: the group is the service's own, is not declared, or has a
/// vocabulary.
fn is_settled(subject: &Subject, group: &str) -> bool {
    let declared = subject.desired.get::<TagGroup>(group);
    vocabulary::group(group).is_some() || declared.is_none_or(|group| group.tags.is_some())
}

/// Every `tag_added` trigger: its resource, tag and group.
fn triggers<'d>(
    subject: &Subject<'d>,
) -> impl Iterator<Item = (&'d Address, &'d At<String>, Option<&'d At<String>>)> + use<'d> {
    subject.desired.all::<Pipeline>().flat_map(|(address, _, pipeline)| {
        pipeline.immediate_trigger.iter().filter_map(move |trigger| match &trigger.value {
            Trigger::TagAdded { tag, group } => Some((address, tag, group.as_ref())),
            Trigger::FirstOpen | Trigger::Inactive { .. } | Trigger::Other(_) => None,
        })
    })
}

/// Every tag that the project adds or declares: for devices, and for each group.
fn added<'d>(subject: &Subject<'d>) -> (HashSet<&'d str>, BTreeMap<&'d str, HashSet<&'d str>>) {
    let mut on_devices = HashSet::new();
    let mut in_groups: BTreeMap<&str, HashSet<&str>> = BTreeMap::new();
    for declared in subject.desired.resources.values() {
        let mut parts = Parts::new(&declared.key);
        declared.spec.parts(&mut parts);
        on_devices.extend(added_by(&parts).map(|tag| tag.as_str()));
        for used in parts.tags {
            match used.group {
                None => drop(on_devices.insert(used.tag.as_str())),
                Some(group) => drop(in_groups.entry(group).or_default().insert(used.tag)),
            }
        }
    }
    for (address, _, group) in subject.desired.all::<TagGroup>() {
        let tags = group.tags.iter().flatten().map(|tag| tag.as_str());
        in_groups.entry(address.key.as_str()).or_default().extend(tags);
    }
    (on_devices, in_groups)
}

/// The tags that a tap on a push adds to the device.
fn added_by<'r>(parts: &Parts<'r>) -> impl Iterator<Item = &'r At<String>> + use<'r> {
    let notifications: Vec<_> = parts.said.iter().flat_map(ReadableText::notifications).collect();
    notifications
        .into_iter()
        .flat_map(|notification| notification.all_actions().flat_map(|actions| actions.add_tag.iter().flatten()))
}

/// A pipeline whose push adds the tag that starts it, in one step or in several.
pub(crate) const CIRCLE: Check = Check { codes: &[&codes::PL104], run: CheckScope::All(circle) };

/// One pipeline in the search for circles.
struct Link<'d> {
    address: &'d Address,
    /// The tags that trigger it, with their positions.
    starts: Vec<&'d At<String>>,
    /// The tags that its pushes add, with their positions.
    adds: Vec<&'d At<String>>,
}

fn circle(subject: &Subject, findings: &mut Findings) {
    let mut links: Vec<(Span, Link)> =
        subject.desired.all::<Pipeline>().filter(|(.., pipeline)| pipeline.enabled).map(link).collect();
    links.sort_by_key(|(place, _)| *place);
    let links: Vec<Link> = links.into_iter().map(|(_, link)| link).collect();

    // Pipelines come first, then tags: an edge leads from a pipeline to a tag that it adds, and from a tag to each
    // pipeline that it triggers. Without tags as nodes, a thousand pipelines on one tag would be a million edges.
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut edges: Vec<Vec<usize>> = vec![Vec::new(); links.len()];
    for (number, link) in links.iter().enumerate() {
        for tag in &link.starts {
            let tag = *numbers.entry(tag.as_str()).or_insert_with(|| {
                edges.push(Vec::new());
                edges.len() - 1
            });
            edges[tag].push(number);
        }
    }
    for (number, link) in links.iter().enumerate() {
        edges[number] = link.adds.iter().filter_map(|tag| numbers.get(tag.as_str()).copied()).collect();
    }
    for circle in circles(&edges, links.len()) {
        findings.push(describe(&links, &circle.path, circle.others));
    }
}

fn link<'d>((address, declared, pipeline): (&'d Address, &'d Declared, &'d Pipeline)) -> (Span, Link<'d>) {
    let mut parts = Parts::new(&declared.key);
    Resource::parts(pipeline, &mut parts);
    // A tap adds tags to the device, never in a group.
    let starts = pipeline.immediate_trigger.iter().filter_map(|trigger| match &trigger.value {
        Trigger::TagAdded { tag, group: None } => Some(tag),
        _ => None,
    });
    let link = Link { address, starts: starts.collect(), adds: added_by(&parts).collect() };
    (declared.key.span, link)
}

/// The longest circle that is shown completely. The middle of a longer one is left out.
const SHOWN: usize = 12;

/// `path` has the pipelines of one circle in order; the last one triggers the first.
fn describe(links: &[Link], path: &[usize], others: usize) -> Finding {
    let mut words = String::new();
    let mut related = Vec::new();
    let mut at = Span::NONE;
    let left_out = path.len().saturating_sub(SHOWN);
    for (step, number) in path.iter().enumerate() {
        let (from, to) = (&links[*number], &links[path[(step + 1) % path.len()]]);
        let started = |tag: &At<String>| to.starts.iter().find(|start| **start == tag);
        let Some((tag, start)) = from.adds.iter().find_map(|tag| Some((*tag, *started(tag)?))) else { continue };
        if step + 1 == path.len() {
            at = start.span;
        } else if left_out > 0 && step == SHOWN - 1 {
            words.push_str(&format!("... {left_out} more ... -> "));
        }
        if left_out > 0 && step >= SHOWN - 1 && step + 1 < path.len() {
            continue;
        }
        words.push_str(&format!("{} -> tag {} -> ", from.address, text::short(tag, 40)));
        related.push((tag.span, format!("{} adds this tag", from.address)));
    }
    let first = &links[path[0]];
    words.push_str(&first.address.to_string());
    let message = match path {
        [_] => format!("a pipeline triggers itself: {words}"),
        _ => format!("pipelines trigger each other in a circle: {words}"),
    };
    let mut finding = Finding::new(&codes::PL104, at, message)
        .label("the circle closes here")
        .note("a user who taps each message gets the next one, in an endless loop");
    if others > 0 {
        finding = finding.note(format!("{} in circles with these", text::count(others, "more pipeline")));
    }
    finding.related = related;
    finding.address = Some(first.address.clone());
    finding.help(format!(
        "change the tag that one of the pushes adds; if the circle is intended, set `lifecycle: {{allow: [{}]}}` on {}",
        codes::PL104.name,
        first.address
    ))
}

/// Several pipelines that message one person for the same event.
pub(crate) const SAME_TRIGGER: Check = Check { codes: &[&codes::PL105], run: CheckScope::All(same_trigger) };

fn same_trigger(subject: &Subject, findings: &mut Findings) {
    let mut pipelines: Vec<_> = subject.desired.all::<Pipeline>().filter(|(.., pipeline)| pipeline.enabled).collect();
    pipelines.sort_by_key(|(_, declared, _)| declared.key.span);
    let mut firsts: HashMap<(Option<&str>, &str), (&Address, Span)> = HashMap::new();
    for (address, _, pipeline) in pipelines {
        for trigger in &pipeline.immediate_trigger {
            let (name, at, words) = match &trigger.value {
                Trigger::FirstOpen => ((None, ""), trigger.span, "when the app is first opened".to_owned()),
                Trigger::TagAdded { tag, group } => {
                    let group = group.as_ref().map(|group| group.as_str());
                    (
                        (Some(group.unwrap_or("")), tag.as_str()),
                        tag.span,
                        format!("when the tag `{}` is added", text::short(tag, 40)),
                    )
                }
                Trigger::Inactive { .. } | Trigger::Other(_) => continue,
            };
            let (first, place) = *firsts.entry(name).or_insert((address, at));
            if first == address {
                continue;
            }
            let mut finding =
                Finding::new(&codes::PL105, at, format!("{address} and {first} both send a push {words}"))
                    .label("the same trigger again")
                    .related(place, format!("{first} starts here"))
                    .note("a device that triggers them gets all of these messages")
                    .help(format!(
                        "disable one with `enabled: false`; if both are intended, set `lifecycle: {{allow: [{}]}}` \
                            on {address}",
                        codes::PL105.name
                    ));
            finding.address = Some(address.clone());
            findings.push(finding);
        }
    }
}
