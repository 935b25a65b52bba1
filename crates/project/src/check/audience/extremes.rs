//! Audiences that match nobody, and those that accidentally match everybody.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use pushplan_model::address::Address;
use pushplan_model::audience::{Answer, Audience, Conflict, everyone, nobody};
use pushplan_model::codes::{self, Code};
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::kinds::{self, Resource, Segment};
use pushplan_model::node::At;
use pushplan_model::nouns::audience::{SegmentRef, Selector, Tag};
use pushplan_model::nouns::vocabulary::{self, Values};

use super::super::{Dissected, Subject};
use crate::manifest::Desired;

/// The number of segments that are followed for one audience. The content of others counts as unknown.
const FOLLOWED: usize = 16;

/// The number of values of a property that are obviously not all of its values.
const ALTERNATIVES: usize = 20;

/// Codes that already explain why nobody or everybody matches, or that a condition has no effect.
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
    &codes::AU121,
];

pub fn extremes(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    for audience in &one.parts.audiences {
        let selector = audience.selector;
        let told = |finding: &Finding| TOLD.contains(&finding.code) && selector.span.contains(finding.at);
        if is_ordinary(subject.desired, selector) || findings.since(0).iter().any(told) {
            continue;
        }
        if let Answer::Yes(conflict) = nobody(&followed(subject.desired, audience, &HashSet::new())) {
            let mut spoiled = spoiled(subject.desired, selector, |one| matches!(nobody(one), Answer::Yes(_)));
            // A segment without members is reported at its declaration, unless that is allowed there.
            spoiled.retain(|key| !is_allowed(subject.desired, key));
            if matches!(nobody(&followed(subject.desired, audience, &spoiled)), Answer::Yes(_)) {
                findings.push(excluded(selector, &conflict));
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

/// Whether an audience is obviously neither empty nor universal, like nearly all: no condition is both required and
/// excluded, no property with one value has two, and at most one condition concerns a property that implies others.
fn is_ordinary(desired: &Desired, audience: &Selector) -> bool {
    // A single condition is checked elsewhere.
    if audience.members().is_empty() {
        return true;
    }
    let (mut asked, mut followed, mut bound) = (HashMap::new(), HashSet::new(), 0);
    let mut single: HashMap<&str, &str> = HashMap::new();
    let mut open = vec![(audience, false)];
    while let Some((selector, negated)) = open.pop() {
        let name = match selector {
            Selector::Not(member) => {
                open.push((member, !negated));
                continue;
            }
            // Some values of one property: `country: [US, CA]`.
            Selector::Or(members) if let Some(Tag { tag, group: Some(group) }) = alternatives(members) => {
                if single.insert(group.as_str(), tag.as_str()).is_some() {
                    return false;
                }
                ("property", group.as_str(), "")
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
            // For a place, a longer period includes the shorter ones.
            Selector::Location(place) => ("place", "", place.id.as_str()),
            Selector::Tag(Tag { tag, group: Some(group) }) if stands_alone(group, tag) => {
                if *single.entry(group.as_str()).or_insert(tag.as_str()) != tag.as_str() {
                    return false;
                }
                ("property", group.as_str(), "")
            }
            Selector::NamedUser(id) => {
                if *single.entry("").or_insert(id.as_str()) != id.as_str() {
                    return false;
                }
                ("named user", "", "")
            }
            Selector::Tag(_) if bound == 0 => {
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

/// The first of several values of one property that stands alone. A property has far more values than these.
fn alternatives(members: &[At<Selector>]) -> Option<&Tag> {
    let tags = members.iter().map(|member| match &member.value {
        Selector::Tag(tag) => Some(tag),
        _ => None,
    });
    let tags = tags.collect::<Option<Vec<&Tag>>>().filter(|tags| (2..=ALTERNATIVES).contains(&tags.len()))?;
    let group = tags[0].group.as_ref()?;
    let is_one = |tag: &&Tag| {
        tag.group.as_ref().is_some_and(|own| own.as_str() == group.as_str()) && stands_alone(group, &tag.tag)
    };
    tags.iter().all(is_one).then_some(tags[0])
}

/// Whether a tag is one of many values in a group that every device type has and that implies nothing else.
fn stands_alone(group: &str, tag: &str) -> bool {
    vocabulary::group(group).is_some_and(|group| {
        let is_free = matches!(group.values, Values::TimeZone | Values::Language | Values::Country);
        group.platform.is_none() && is_free && group.accepts(tag)
    })
}

/// An audience with its segments resolved, except for some.
fn followed(desired: &Desired, audience: &kinds::Audience, except: &HashSet<String>) -> Audience {
    let left = Cell::new(FOLLOWED);
    let whole = Audience::of(audience.selector, |reference| {
        let SegmentRef::Key(key) = reference else { return None };
        left.set(left.get().checked_sub(1).filter(|_| !except.contains(key))?);
        desired.get::<Segment>(key).map(|segment| &segment.criteria.value)
    });
    whole.reached(audience.devices.map(|devices| &devices.value), false)
}

/// The segments in an audience that match a predicate by themselves.
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

/// Whether a segment may have no members.
fn is_allowed(desired: &Desired, segment: &str) -> bool {
    let address = Address::new(Segment::KEY, segment);
    let named = [&desired.allowed, &desired.warned].into_iter().filter_map(|codes| codes.get(&address)).flatten();
    named.into_iter().any(|code| code.eq_ignore_ascii_case(codes::AU119.name))
}

fn excluded(selector: &At<Selector>, conflict: &Conflict) -> Finding {
    let help = match conflict.conditions.len() {
        1 => "remove it, or write an audience that a device can meet",
        _ => "remove one of the conditions, or join them with `or`",
    };
    Finding::new(&codes::AU119, selector.span, conflict.to_string())
        .label("nobody matches")
        .note("the service accepts this silently")
        .help(help)
}

/// Adapts a finding in an impossible part of an audience: it is only a warning if other parts match.
pub fn in_part(subject: &Subject, audience: &kinds::Audience, finding: Finding) -> Finding {
    match nobody(&followed(subject.desired, audience, &HashSet::new())) {
        Answer::Yes(_) => finding.note("nobody is in this audience"),
        Answer::No(_) | Answer::TooComplex => finding.mild(),
    }
}

fn nobody_left_out(selector: &At<Selector>) -> Finding {
    Finding::new(&codes::AU120, selector.span, "these conditions exclude nobody")
        .label("matches every device")
        .note("every device meets one of the conditions")
        .help("to reach everybody, write `all`; otherwise check each `or` and `not`")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;
    use pushplan_model::finding::Findings;
    use pushplan_model::source::Sources;

    use super::*;
    use crate::manifest::{self, Input, InputSource, Project};

    /// The desired state of a manifest with one segment.
    fn declared(criteria: &str) -> Desired {
        let text = format!("segments:\n  one:\n    display_name: One\n    criteria: {criteria}\n");
        let input = Input { name: "one.yaml".into(), from: InputSource::Bytes(text.into_bytes()) };
        let read = manifest::read(Project::bare(Path::new(".")), vec![input], Sources::default(), Findings::default());
        read.resolve(None).0
    }

    fn condition() -> impl Strategy<Value = String> {
        let single = prop::sample::select(vec![
            "{tag: a}",
            "{tag: b, group: g}",
            "{tag: US, group: ua_locale_country}",
            "{tag: CA, group: ua_locale_country}",
            "{tag: fr, group: ua_locale_language}",
            "{tag: Europe/Paris, group: timezone}",
            "{tag: \"true\", group: ua_opt_in}",
            "{tag: \"false\", group: ua_opt_in}",
            "{tag: 8.3.X, group: ua_ios_version}",
            "{tag: \"true\", group: ua_location_enabled}",
            "{named_user: u}",
            "{named_user: v}",
            "{static_list: l}",
        ]);
        single.prop_map(str::to_owned).prop_recursive(3, 12, 4, |inner| {
            let joined = (prop::sample::select(vec!["and", "or"]), prop::collection::vec(inner.clone(), 1..4));
            prop_oneof![
                joined.prop_map(|(join, members)| format!("{{{join}: [{}]}}", members.join(", "))),
                inner.prop_map(|member| format!("{{not: {member}}}")),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_ordinary_has_some_in_it_and_some_outside(criteria in condition()) {
            let desired = declared(&criteria);
            let segment = desired.get::<Segment>("one").expect("it can be read");
            if is_ordinary(&desired, &segment.criteria) {
                let whole = kinds::Audience { selector: &segment.criteria, devices: None, role: kinds::Role::Criteria };
                let audience = followed(&desired, &whole, &HashSet::new());
                prop_assert!(matches!(nobody(&audience), Answer::No(_)), "nobody: {}", criteria);
                prop_assert!(matches!(everyone(&audience), Answer::No(_)), "everyone: {}", criteria);
            }
        }
    }

    #[test]
    fn conditions_of_different_sorts_are_ordinary() {
        let is_ordinary = |criteria: &str| {
            let desired = declared(criteria);
            let segment = desired.get::<Segment>("one").expect("it can be read");
            is_ordinary(&desired, &segment.criteria)
        };
        let (us, fr) = ("{tag: US, group: ua_locale_country}", "{tag: fr, group: ua_locale_language}");
        assert!(is_ordinary(&format!("{{and: [{us}, {{named_user: u}}, {{not: {fr}}}]}}")));
        assert!(!is_ordinary(&format!("{{and: [{us}, {{tag: CA, group: ua_locale_country}}]}}")));
        let ca = "{tag: CA, group: ua_locale_country}";
        assert!(is_ordinary(&format!("{{and: [{{tag: vip}}, {{or: [{us}, {ca}]}}, {{not: {{tag: gone}}}}]}}")));
        assert!(!is_ordinary(&format!("{{and: [{{or: [{us}, {ca}]}}, {{or: [{us}, {ca}]}}]}}")));
        assert!(!is_ordinary(&format!("{{and: [{{or: [{us}, {ca}]}}, {{not: {us}}}]}}")));
        assert!(!is_ordinary(&format!("{{or: [{us}, {{not: {us}}}]}}")));
    }
}
