//! Whether a device of some type can be in an audience at all.

use std::collections::HashSet;

use pushplan_model::kinds::Segment;
use pushplan_model::nouns::audience::{ChannelKey, SegmentRef, Selector, Tag};
use pushplan_model::nouns::device::DeviceType;
use pushplan_model::nouns::vocabulary::{self, Platform};

use super::conditions::named;
use crate::manifest::{Desired, PossibleKinds};

/// One device for each type that conditions distinguish.
const KINDS: [DeviceType; 5] =
    [DeviceType::Ios, DeviceType::Android, DeviceType::Amazon, DeviceType::Web, DeviceType::Open(String::new())];

/// The index of a device's type in [`KINDS`].
fn kind(device: &DeviceType) -> usize {
    match device {
        DeviceType::Ios => 0,
        DeviceType::Android => 1,
        DeviceType::Amazon => 2,
        DeviceType::Web | DeviceType::Wns => 3,
        DeviceType::Open(_) => 4,
    }
}

/// Whether a device of this type can match the selector. Conditions are checked separately, so the answer may be yes
/// for an impossible combination.
pub(crate) fn can_match(desired: &Desired, device: &DeviceType, selector: &Selector) -> bool {
    let segments = desired.possible.get_or_init(|| of_segments(desired));
    can(selector, false, kind(device), segments)
}

/// For every segment and device type, whether such a device can be in it and whether it can be outside. Computed once,
/// and without recursion, because a chain of segments can be longer than the stack allows. In a circle, everything is
/// possible.
fn of_segments(desired: &Desired) -> PossibleKinds {
    let mut done = PossibleKinds::new();
    let (mut begun, mut order) = (HashSet::new(), Vec::new());
    for (address, _, first) in desired.all::<Segment>() {
        let mut open = vec![(address.key.as_str(), first)];
        while let Some((key, segment)) = open.last().copied() {
            if done.contains_key(key) {
                open.pop();
            } else if begun.insert(key) {
                let unknown = named(segment).into_iter().filter(|key| !begun.contains(key));
                open.extend(unknown.filter_map(|key| Some((key, desired.get::<Segment>(key)?))));
            } else {
                done.insert(key.to_owned(), answers(segment, &done));
                order.push((key, segment));
                open.pop();
            }
        }
    }
    // Segments that lead into a circle were visited before its first segment was complete.
    for (key, segment) in order {
        done.insert(key.to_owned(), answers(segment, &done));
    }
    done
}

/// The answers for one segment, if those for its nested segments are known.
fn answers(segment: &Segment, known: &PossibleKinds) -> [[bool; 5]; 2] {
    [false, true].map(|negated| std::array::from_fn(|kind| can(&segment.criteria, negated, kind, known)))
}

/// Whether a device can match, or with `negated`, fail to match.
fn can(selector: &Selector, negated: bool, kind: usize, segments: &PossibleKinds) -> bool {
    let each = |member: &Selector, negated: bool| can(member, negated, kind, segments);
    let device = &KINDS[kind];
    match selector {
        Selector::And(members) if !negated => members.iter().all(|member| each(member, negated)),
        Selector::And(members) => members.iter().any(|member| each(member, negated)),
        // An empty list has a separate code.
        Selector::Or(members) if members.is_empty() => true,
        Selector::Or(members) if negated => members.iter().all(|member| each(member, negated)),
        Selector::Or(members) => members.iter().any(|member| each(member, negated)),
        Selector::Not(member) => each(member, !negated),
        Selector::Tag(Tag { group: Some(id), .. }) if !negated => {
            match vocabulary::group(id).and_then(|group| group.platform) {
                Some(Platform::Ios) => *device == DeviceType::Ios,
                Some(Platform::Android) => *device == DeviceType::Android,
                None => true,
            }
        }
        Selector::Channel(key, _) if !negated => match key {
            ChannelKey::Any => true,
            ChannelKey::Open => matches!(device, DeviceType::Open(_)),
            ChannelKey::Ios | ChannelKey::Android | ChannelKey::Amazon => key.device().as_ref() == Some(device),
        },
        Selector::Segment(reference) => match &reference.value {
            SegmentRef::Key(key) => segments.get(key).is_none_or(|answers| answers[usize::from(negated)][kind]),
            SegmentRef::Id(_) => true,
        },
        _ => true,
    }
}
