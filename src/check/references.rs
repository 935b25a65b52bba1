//! What names something that must exist elsewhere: segments, templates, tag groups.

use std::collections::BTreeMap;

use super::{Check, One, Run, Subject};
use crate::address::Address;
use crate::codes;
use crate::finding::{Finding, Findings};
use crate::kinds::{Pipeline, Resource, Segment, TagGroup, Template, Trigger, of_kind};
use crate::manifest::Desired;
use crate::model::audience::Selector;
use crate::model::vocabulary::{self, GROUPS};
use crate::node::At;
use crate::source::Span;
use crate::text;

pub const SEGMENTS: Check = Check { codes: &[&codes::RF101], run: Run::Each(segments) };
pub const TEMPLATES: Check = Check { codes: &[&codes::RF102], run: Run::Each(templates) };
pub const TAG_GROUPS: Check = Check { codes: &[&codes::RF103], run: Run::Each(tag_groups) };
pub const CIRCLES: Check = Check { codes: &[&codes::RF110], run: Run::All(circles) };

fn segments(subject: &Subject, one: &One, findings: &mut Findings) {
    for key in one.parts.audiences.iter().flat_map(|audience| audience.selector.segments()) {
        if !leads_nowhere::<Segment>(subject.desired, &key) {
            continue;
        }
        let finding =
            Finding::new(&codes::RF101, key.span, format!("no segment has the key `{key}`")).label("not declared");
        findings.push(match nearest::<Segment>(subject.desired, &key) {
            Some(near) => finding.help(format!("did you mean `{near}`?")).suggest(key.span, near),
            None => finding.help(format!(
                "declare `{key}` under `segments:`; for a segment outside git write `segment: {{id: ...}}`"
            )),
        });
    }
}

fn templates(subject: &Subject, one: &One, findings: &mut Findings) {
    for name in one.parts.pushes.iter().filter_map(|push| push.template.as_ref()) {
        let key = &name.0;
        if !leads_nowhere::<Template>(subject.desired, key) {
            continue;
        }
        let finding =
            Finding::new(&codes::RF102, name.span, format!("no template has the key `{key}`")).label("not declared");
        findings.push(match nearest::<Template>(subject.desired, key) {
            Some(near) => finding.help(format!("did you mean `{near}`?")).suggest(name.span, near),
            None => finding
                .note("pushplan fills the template in by itself, so that it must stand in the project")
                .help(format!("declare `{key}` under `templates:`, or write `notification:` in its place")),
        });
    }
}

/// Where all files could be read, a name that nothing declares is wrong. Otherwise it may stand in what was not read.
fn leads_nowhere<R: Resource>(desired: &Desired, key: &str) -> bool {
    desired.complete && !desired.knows::<R>(key)
}

fn nearest<'d, R: Resource>(desired: &'d Desired, key: &str) -> Option<&'d str> {
    text::nearest(key, desired.keys::<R>())
}

fn tag_groups(subject: &Subject, one: &One, findings: &mut Findings) {
    let mut groups: Vec<&At<String>> = Vec::new();
    for audience in &one.parts.audiences {
        audience.selector.walk(&mut |selector| {
            if let Selector::Tag(tag) = &selector.value {
                groups.extend(&tag.group);
            }
        });
    }
    if let Some(pipeline) = of_kind::<Pipeline>(&*one.declared.spec) {
        for trigger in &pipeline.immediate_trigger {
            if let Trigger::TagAdded { group: Some(group), .. } = &trigger.value {
                groups.push(group);
            }
        }
    }
    for group in groups {
        let of_service = vocabulary::group(group).is_some();
        if !of_service && leads_nowhere::<TagGroup>(subject.desired, group) {
            findings.push(unknown_group(subject.desired, group));
        }
    }
}

fn unknown_group(desired: &Desired, group: &At<String>) -> Finding {
    let finding = Finding::new(&codes::RF103, group.span, format!("no tag group has the name `{group}`"))
        .label("not declared")
        .note("the service takes any name without a word, and a group that does not exist holds nobody");
    let of_service = GROUPS.iter().map(|group| group.id);
    if let Some(property) = vocabulary::by_shorthand(group) {
        return finding
            .help(format!(
                "the service's own group is `{}`; `{}: <tag>` stands for tag and group",
                property.id, property.shorthand
            ))
            .suggest(group.span, property.id);
    }
    let own = group.starts_with("ua_");
    let near = match own {
        true => text::nearest(group, of_service),
        false => text::nearest(group, desired.keys::<TagGroup>().chain(of_service)),
    };
    match near {
        Some(near) => finding.help(format!("did you mean `{near}`?")).suggest(group.span, near),
        None if own => {
            let known: Vec<String> = GROUPS.iter().map(|group| format!("`{}`", group.id)).collect();
            finding.help(format!("names with ua_ belong to the service, which has {}", text::all_of(&known)))
        }
        None => finding
            .note("a tag group is made in the dashboard; manifests only name it")
            .help(format!("make `{group}` in the dashboard, then declare it: `tag_groups: {{{group}: {{}}}}`")),
    }
}

/// How many circles are reported. Beyond that, those at hand are work enough.
const CIRCLE_LIMIT: usize = 100;
/// How many segments of a circle are named.
const NAMED_LIMIT: usize = 8;

/// One segment names another.
struct Edge {
    to: usize,
    at: Span,
}

/// A segment while it is being followed: those before it in the list lead to it.
struct Followed {
    segment: usize,
    next_edge: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    /// At this place of the path that is being followed.
    OnPath(usize),
    Done,
}

/// Follows every reference from segment to segment; one that leads back to the path closes a circle. Without recursion: a
/// chain can be as long as the project.
fn circles(subject: &Subject, findings: &mut Findings) {
    let segments: Vec<(&Address, &Segment)> =
        subject.desired.all::<Segment>().map(|(address, _, segment)| (address, segment)).collect();
    let index: BTreeMap<&str, usize> =
        segments.iter().enumerate().map(|(at, (address, _))| (address.key.as_str(), at)).collect();
    let edges: Vec<Vec<Edge>> = segments
        .iter()
        .map(|(_, segment)| {
            let named = segment.criteria.segments().into_iter();
            named.filter_map(|key| Some(Edge { to: *index.get(key.as_str())?, at: key.span })).collect()
        })
        .collect();

    let mut states = vec![State::New; segments.len()];
    let mut found = 0;
    for start in 0..segments.len() {
        if states[start] != State::New {
            continue;
        }
        let mut path = vec![Followed { segment: start, next_edge: 0 }];
        states[start] = State::OnPath(0);
        while let Some(last) = path.last_mut() {
            let Some(edge) = edges[last.segment].get(last.next_edge) else {
                states[last.segment] = State::Done;
                path.pop();
                continue;
            };
            last.next_edge += 1;
            match states[edge.to] {
                State::Done => {}
                State::New => {
                    states[edge.to] = State::OnPath(path.len());
                    path.push(Followed { segment: edge.to, next_edge: 0 });
                }
                State::OnPath(from) => {
                    // The edge that was followed last from each segment is the one before its next.
                    let circle: Vec<(usize, Span)> = path[from..]
                        .iter()
                        .map(|followed| (followed.segment, edges[followed.segment][followed.next_edge - 1].at))
                        .collect();
                    findings.push(circle_finding(circle, &segments));
                    found += 1;
                    if found == CIRCLE_LIMIT {
                        return;
                    }
                }
            }
        }
    }
}

/// A circle is told from its first name on, wherever it was entered.
fn circle_finding(mut circle: Vec<(usize, Span)>, segments: &[(&Address, &Segment)]) -> Finding {
    let first = circle.iter().enumerate().min_by_key(|(_, (segment, _))| *segment).map_or(0, |(at, _)| at);
    circle.rotate_left(first);
    let key = |at: usize| segments[circle[at].0].0.key.as_str();
    let mut names: Vec<&str> = (0..circle.len().min(NAMED_LIMIT)).map(key).collect();
    if circle.len() > NAMED_LIMIT {
        names.push("...");
    }
    names.push(key(0));
    let message = match circle.len() {
        1 => format!("the segment `{}` refers to itself", key(0)),
        _ => format!("segments refer to each other in a circle: {}", names.join(" -> ")),
    };
    let mut finding = Finding::new(&codes::RF110, circle[0].1, message)
        .label("leads back to where it began")
        .note("nobody can say who is in a segment that depends on itself")
        .help("write out the conditions of one of them in place of its name");
    for (at, (_, span)) in circle.iter().enumerate().take(NAMED_LIMIT).skip(1) {
        finding = finding.related(*span, format!("then `{}` refers to `{}`", key(at), key((at + 1) % circle.len())));
    }
    finding.address = Some(segments[circle[0].0].0.clone());
    finding
}
