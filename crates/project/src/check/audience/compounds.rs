//! Conditions that cannot be combined.

use std::collections::HashMap;

use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::kinds::{Role, Segment};
use pushplan_model::node::{At, yaml_text};
use pushplan_model::nouns::audience::{SegmentRef, Selector, Tag};
use pushplan_model::nouns::vocabulary::{self, Group, Values};
use pushplan_model::source::Span;
use pushplan_model::text;

use super::super::{Dissected, Subject};
use super::extremes::in_part;
use crate::manifest::Desired;

/// The number of conditions that the service accepts in one audience.
const MOST: usize = 1_000;

pub fn compounds(_: &Subject, one: &Dissected, findings: &mut Findings) {
    for audience in &one.parts.audiences {
        let mut conditions = 0;
        audience.selector.walk(&mut |selector| {
            match &selector.value {
                Selector::Triggered if audience.role != Role::Pipeline => findings.push(not_triggered(selector)),
                Selector::And(members) if members.is_empty() => findings.push(empty(selector, "an `and`")),
                Selector::Or(members) if members.is_empty() => findings.push(empty(selector, "a list")),
                _ => {}
            }
            for member in selector.members() {
                match &member.value {
                    Selector::All => findings.push(joined_all(selector, member)),
                    Selector::Triggered if audience.role == Role::Pipeline => findings.push(joined_triggered(member)),
                    _ => {}
                }
            }
            if !matches!(selector.value, Selector::And(_) | Selector::Or(_) | Selector::Not(_)) {
                conditions += 1;
                if conditions == MOST + 1 {
                    findings.push(too_many(selector));
                }
            }
        });
    }
}

fn not_triggered(selector: &At<Selector>) -> Finding {
    Finding::new(
        &codes::AU118,
        selector.span,
        "`triggered` is the device that triggered a pipeline, but this is not \
        a pipeline",
    )
    .label("no trigger here")
    .note("only the outcome of a pipeline has a triggering device")
    .help("write an audience: `all`, a segment, or a condition such as {tag: vip}")
}

fn joined_all(compound: &Selector, member: &At<Selector>) -> Finding {
    let finding = Finding::new(&codes::AU113, member.span, "`all` cannot be combined with other conditions")
        .label("must be alone")
        .note("the service accepts `all` as a whole audience only");
    finding.help(match compound {
        Selector::And(_) => "remove `all`: with `and` it has no effect",
        Selector::Or(_) => "write `all` alone: with `or` the other conditions have no effect",
        _ => "write an audience: `not` with `all` matches nobody",
    })
}

fn joined_triggered(member: &At<Selector>) -> Finding {
    Finding::new(&codes::AU113, member.span, "`triggered` cannot be combined with other conditions")
        .label("stands alone")
        .help("write `audience: triggered`; to restrict it, change the pipeline's trigger")
}

fn empty(selector: &At<Selector>, what: &str) -> Finding {
    Finding::new(&codes::AU115, selector.span, format!("{what} without conditions"))
        .label("empty")
        .note("the contract does not say whether this means nobody or everybody")
        .help("add conditions, or write `all` for everybody")
}

fn too_many(selector: &At<Selector>) -> Finding {
    Finding::new(&codes::AU117, selector.span, "more than 1,000 conditions in one audience")
        .label("the first one over the limit")
        .note("each value of a list counts; the service refuses the whole audience")
        .help("upload the values as a list and use `static_list`, or give these devices a tag")
}

/// An `and` that requires two values of a property with one value. Only direct members are compared.
pub fn exclusive(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    for audience in &one.parts.audiences {
        audience.selector.walk(&mut |selector| {
            let Selector::And(members) = &selector.value else { return };
            let mut firsts: HashMap<&str, &At<String>> = HashMap::new();
            for member in members {
                let Selector::Tag(Tag { tag, group: Some(id) }) = &member.value else { continue };
                let Some(group) = vocabulary::group(id) else { continue };
                let first = *firsts.entry(group.id).or_insert(tag);
                if first != tag {
                    findings.push(in_part(subject, audience, two_values(group, first, tag)));
                    return;
                }
            }
        });
    }
}

fn two_values(group: &Group, first: &At<String>, second: &At<String>) -> Finding {
    let (a, b) = (text::short(first, 40), text::short(second, 40));
    let message = format!("no device has both `{a}` and `{b}` for `{}`", group.shorthand);
    let finding = Finding::new(&codes::AU119, second.span, message)
        .label("excludes the first")
        .related(first.span, "the first")
        .note("a device has one tag of this group");
    finding.help(match group.values {
        Values::Flag => "remove one of the two".to_owned(),
        _ => {
            let (a, b) = (yaml_text(&a), yaml_text(&b));
            format!("for devices with either value write {{{}: [{a}, {b}]}}", group.shorthand)
        }
    })
}

/// Location tags together with an SDK that does not report them.
pub fn location(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    for audience in &one.parts.audiences {
        audience.selector.walk(&mut |selector| {
            let Selector::And(members) = &selector.value else { return };
            let both = |test: fn(&Tag) -> bool| {
                members.iter().find_map(|member| Always { desired: subject.desired, followed: vec![] }.of(member, test))
            };
            let (Some(location), Some(sdk)) = (both(is_location), both(is_old_sdk)) else { return };
            let (location, through) = location;
            // If both are in one segment, it is reported there.
            if through.is_some() && through == sdk.1 {
                return;
            }
            let (sdk, said) = (sdk.0, sdk.1.unwrap_or(sdk.0.tag.span));
            let at = through.or(location.group.as_ref().map(|group| group.span)).unwrap_or(location.tag.span);
            let message = format!("devices with SDK {} have no tag of the group `ua_location_enabled`", sdk.tag);
            let finding = Finding::new(&codes::AU114, at, message)
                .label("exists from SDK 6.0 on")
                .related(said, "an SDK below 6.0")
                .note("no device meets both conditions")
                .help("remove one of the two, or choose SDK 6.0.X or later");
            findings.push(in_part(subject, audience, finding));
        });
    }
}

/// The number of segments that are followed for one condition.
const FOLLOWED: usize = 64;

/// A search for a tag that every device of a selector must have, or one of several such tags.
struct Always<'d> {
    desired: &'d Desired,
    /// The segments that were searched. Each is followed once, so the search also ends in a circle.
    followed: Vec<&'d str>,
}

impl<'d> Always<'d> {
    /// Finds the tag, and the segment in the selector through which it was found.
    fn of(&mut self, selector: &'d Selector, test: fn(&Tag) -> bool) -> Option<(&'d Tag, Option<Span>)> {
        match selector {
            Selector::Tag(tag) => test(tag).then_some((tag, None)),
            Selector::And(members) => members.iter().find_map(|member| self.of(member, test)),
            Selector::Or(members) => {
                let all: Option<Vec<_>> = members.iter().map(|member| self.of(member, test)).collect();
                all?.first().copied()
            }
            Selector::Segment(reference) => {
                let SegmentRef::Key(key) = &reference.value else { return None };
                if self.followed.len() >= FOLLOWED || self.followed.contains(&key.as_str()) {
                    return None;
                }
                self.followed.push(key);
                let (tag, _) = self.of(&self.desired.get::<Segment>(key)?.criteria, test)?;
                Some((tag, Some(reference.span)))
            }
            _ => None,
        }
    }
}

fn in_group(tag: &Tag, ids: &[&str]) -> bool {
    tag.group.as_ref().is_some_and(|group| ids.contains(&group.as_str()))
}

fn is_location(tag: &Tag) -> bool {
    in_group(tag, &["ua_location_enabled"])
}

fn is_old_sdk(tag: &Tag) -> bool {
    let major = tag.tag.split('.').next().and_then(|major| major.parse::<u32>().ok());
    in_group(tag, &["ua_ios_sdk_version", "ua_android_sdk_version"]) && major.is_some_and(|major| major < 6)
}
