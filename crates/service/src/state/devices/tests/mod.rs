//! Compares the index and the audiences with a plain look at every device.

mod random;
mod stories;

use std::collections::BTreeMap;

use jiff::Timestamp;
use pushplan_model::node::{At, Name};
use pushplan_model::nouns::audience::{
    Attribute, ChannelKey, Location, Months, Period, Recent, SegmentRef, Selector, Tag,
};
use pushplan_model::source::Span;
use serde_json::json;

use super::*;
use crate::request::understood;
use crate::state::table::Journal;

pub use super::Criteria as Segments;

fn at<T>(value: T) -> At<T> {
    At::new(value, Span::NONE)
}

fn moment(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

fn now() -> Timestamp {
    moment("2026-11-27T09:00:00Z")
}

fn journal() -> Journal {
    Journal::new("app", false)
}

fn selector(value: &serde_json::Value) -> Selector {
    understood(value).unwrap_or_else(|| panic!("not a selector: {value}"))
}

fn tags(groups: &[(&str, &[&str])]) -> Tags {
    let owned = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect();
    groups.iter().map(|(group, tags)| ((*group).to_owned(), owned(tags))).collect()
}

/// An installed device without any properties.
fn device(device_type: &str, own: &[(&str, &[&str])]) -> Device {
    Device { device_type: device_type.into(), installed: true, tags: tags(own).into(), ..Device::default() }
}

fn index(devices: Vec<(&str, Device)>) -> Index {
    let mut index = Index::new();
    for (id, device) in devices {
        index.put(&mut journal(), id, device);
    }
    index
}

/// The ids of an audience, sorted.
fn ids(index: &Index, segments: &Segments, audience: &Selector) -> Vec<String> {
    let members = Members { devices: index, segments, now: now() };
    let mut ids: Vec<String> = members.of(audience).iter().map(|number| index.id(*number).to_owned()).collect();
    ids.sort();
    ids
}

fn found(index: &Index, audience: &serde_json::Value) -> Vec<String> {
    ids(index, &Segments::new(), &selector(audience))
}

/// Evaluates a selector for one device, literally and without any index.
fn holds(
    audience: &Selector,
    id: &str,
    device: &Device,
    user_tags: &BTreeMap<String, Tags>,
    segments: &Segments,
) -> bool {
    let by = |selector: &Selector| holds(selector, id, device, user_tags, segments);
    match audience {
        Selector::All => true,
        Selector::Triggered => false,
        Selector::Tag(Tag { tag, group }) => {
            let group = group.as_ref().map_or("", |group| group.as_str());
            let of_user = device.named_user.as_ref().and_then(|user| user_tags.get(user));
            device.all_tags().any(|(own, carried)| own == group && carried == tag.value)
                || of_user.is_some_and(|tags| has(tags, group, tag))
        }
        Selector::Channel(ChannelKey::Open, address) => device.address.as_deref() == Some(address.as_str()),
        Selector::Channel(ChannelKey::Any, wanted) => wanted.as_str() == id,
        Selector::Channel(key, wanted) => {
            wanted.as_str() == id && key.key() == format!("{}_channel", device.device_type)
        }
        Selector::NamedUser(user) => device.named_user.as_deref() == Some(user.as_str()),
        Selector::Segment(reference) => {
            let (SegmentRef::Key(segment) | SegmentRef::Id(segment)) = &reference.value;
            !leads_into_a_circle(segment, segments, &mut Vec::new())
                && segments.get(segment).is_some_and(|criteria| by(criteria))
        }
        Selector::StaticList(list) => device.lists.contains(list.as_str()),
        Selector::SubscriptionList(list) => device.subscriptions.contains(list.as_str()),
        Selector::Location(Location { id, .. }) => {
            device.seen_at.get(id.as_str()).is_some_and(|seen| *seen >= moment("2026-10-27T09:00:00Z"))
        }
        Selector::Attribute(Attribute { attribute, value, .. }) => {
            value.is_some() && device.attributes.get(attribute.as_str()) == value.as_ref()
        }
        Selector::And(all) => !all.is_empty() && all.iter().all(|member| by(member)),
        Selector::Or(any) => any.iter().any(|member| by(member)),
        Selector::Not(member) => !by(member),
    }
}

fn leads_into_a_circle<'s>(id: &'s str, segments: &'s Segments, path: &mut Vec<&'s str>) -> bool {
    if path.contains(&id) {
        return true;
    }
    let Some(criteria) = segments.get(id) else { return false };
    path.push(id);
    let mut inner = Vec::new();
    criteria.walk(&mut |selector| {
        if let Selector::Segment(reference) = &selector.value {
            let (SegmentRef::Key(id) | SegmentRef::Id(id)) = &reference.value;
            inner.push(id.as_str());
        }
    });
    let circular = inner.into_iter().any(|id| leads_into_a_circle(id, segments, path));
    path.pop();
    circular
}
