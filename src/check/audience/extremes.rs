//! Audiences that nobody can be in, and those that leave nobody out by accident.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use super::super::{One, Subject};
use crate::audience::{Answer, Audience, everyone, nobody};
use crate::codes::{self, Code};
use crate::finding::{Finding, Findings};
use crate::kinds::{self, Segment};
use crate::manifest::Desired;
use crate::model::audience::{SegmentRef, Selector, Tag};
use crate::model::vocabulary;
use crate::node::At;

/// How many segments are followed for one audience. What is in others is taken for anything.
const FOLLOWED: usize = 16;

/// Codes that say why nobody or everybody matches, or that a condition does not say what it should.
const TOLD: &[&Code] = &[
    &codes::AU101,
    &codes::AU104,
    &codes::AU106,
    &codes::AU107,
    &codes::AU108,
    &codes::AU110,
    &codes::AU111,
    &codes::AU112,
    &codes::AU113,
    &codes::AU114,
    &codes::AU115,
    &codes::AU117,
    &codes::AU118,
    &codes::AU119,
];

pub fn extremes(subject: &Subject, one: &One, findings: &mut Findings) {
    for audience in &one.parts.audiences {
        let selector = audience.selector;
        let told = |finding: &Finding| TOLD.contains(&finding.code) && selector.span.contains(finding.at);
        if is_ordinary(subject.desired, selector) || findings.since(0).iter().any(told) {
            continue;
        }
        if let Answer::Yes(conflict) = nobody(&followed(subject.desired, audience, &HashSet::new())) {
            let spoiled = spoiled(subject.desired, selector, |one| matches!(nobody(one), Answer::Yes(_)));
            // A segment that nobody is in is told where it stands.
            if matches!(nobody(&followed(subject.desired, audience, &spoiled)), Answer::Yes(_)) {
                findings.push(excluded(selector, &conflict.to_string()));
            }
        }
        let whole = kinds::Audience { devices: None, ..*audience };
        if matches!(everyone(&followed(subject.desired, &whole, &HashSet::new())), Answer::Yes(())) {
            let spoiled = spoiled(subject.desired, selector, |one| matches!(everyone(one), Answer::Yes(())));
            if matches!(everyone(&followed(subject.desired, &whole, &spoiled)), Answer::Yes(())) {
                findings.push(nobody_left_out(selector));
            }
        }
    }
}

/// Whether some can be in an audience and some outside, as is nearly always seen at once: nothing is both asked for and
/// refused, and at most one condition is about a thing of which each device has one.
fn is_ordinary(desired: &Desired, audience: &Selector) -> bool {
    // What can be wrong with a single condition is found where it is looked at.
    if audience.members().is_empty() {
        return true;
    }
    let (mut asked, mut followed, mut bound) = (HashMap::new(), HashSet::new(), 0);
    let mut open = vec![(audience, false)];
    while let Some((selector, negated)) = open.pop() {
        let name = match selector {
            Selector::Not(member) => {
                open.push((member, !negated));
                continue;
            }
            Selector::And(members) | Selector::Or(members) if !members.is_empty() => {
                open.extend(members.iter().map(|member| (&member.value, negated)));
                continue;
            }
            Selector::Segment(reference) => {
                let SegmentRef::Key(key) = &reference.value else { return false };
                let criteria = desired.get::<Segment>(key).filter(|_| followed.len() < FOLLOWED);
                if let Some(segment) = criteria
                    && followed.insert((key.as_str(), negated))
                {
                    open.push((&segment.criteria, negated));
                }
                ("segment", key.as_str(), "")
            }
            Selector::Tag(Tag { tag, group: None }) => ("tag", "", tag.as_str()),
            Selector::Tag(Tag { tag, group: Some(group) }) if vocabulary::group(group).is_none() => {
                ("tag", group.as_str(), tag.as_str())
            }
            Selector::StaticList(name) => ("list", "", name.as_str()),
            Selector::SubscriptionList(name) => ("subscription", "", name.as_str()),
            // Of a place, a longer period holds the shorter ones.
            Selector::Location(place) => ("place", "", place.id.as_str()),
            Selector::Tag(_) | Selector::NamedUser(_) if bound == 0 => {
                bound += 1;
                continue;
            }
            _ => return false,
        };
        if *asked.entry(name).or_insert(negated) != negated {
            return false;
        }
    }
    true
}

/// An audience with the segments that it names, except for some.
fn followed(desired: &Desired, audience: &kinds::Audience, except: &HashSet<String>) -> Audience {
    let left = Cell::new(FOLLOWED);
    let whole = Audience::of(audience.selector, |reference| {
        let SegmentRef::Key(key) = reference else { return None };
        left.set(left.get().checked_sub(1).filter(|_| !except.contains(key))?);
        desired.get::<Segment>(key).map(|segment| &segment.criteria.value)
    });
    match audience.devices {
        Some(devices) => whole.on(devices),
        None => whole,
    }
}

/// The segments in an audience of which a thing is true by themselves.
fn spoiled(desired: &Desired, selector: &Selector, is_so: impl Fn(&Audience) -> bool) -> HashSet<String> {
    let seen = RefCell::new(HashSet::new());
    let lookup = |reference: &SegmentRef| {
        let SegmentRef::Key(key) = reference else { return None };
        if seen.borrow().len() >= FOLLOWED {
            return None;
        }
        seen.borrow_mut().insert(key.clone());
        desired.get::<Segment>(key).map(|segment| &segment.criteria.value)
    };
    Audience::of(selector, lookup);
    let of_itself = |key: &String| {
        let criteria = desired.get::<Segment>(key).map(|segment| &segment.criteria);
        criteria.is_some_and(|criteria| {
            let alone = kinds::Audience { selector: criteria, devices: None, role: kinds::Role::Criteria };
            is_so(&followed(desired, &alone, &HashSet::new()))
        })
    };
    seen.borrow().iter().filter(|key| of_itself(key)).cloned().collect()
}

fn excluded(selector: &At<Selector>, conflict: &str) -> Finding {
    Finding::new(&codes::AU119, selector.span, conflict.to_owned())
        .label("nobody gets it")
        .note("the service accepts this and says nothing")
        .help("take out one of the conditions, or join them with `or`")
}

fn nobody_left_out(selector: &At<Selector>) -> Finding {
    Finding::new(&codes::AU120, selector.span, "these conditions leave nobody out")
        .label("matches every device there can be")
        .note("whatever a device is, one of the conditions holds for it")
        .help("write `all` if everybody is meant; otherwise look for an `or` or a `not` that should be another")
}
