//! Who a selector matches.

use std::collections::BTreeMap;

use jiff::{Timestamp, ToSpan};

use super::index::{Index, Numbers};
use super::{Device, NO_GROUP};
use crate::model::audience::{Attribute, Location, SegmentRef, Selector, Tag};
use crate::node::At;

/// Finds the members of audiences. Segments are looked up by their ids.
#[derive(Debug)]
pub struct Members<'a> {
    pub devices: &'a Index,
    pub segments: &'a BTreeMap<String, At<Selector>>,
    pub now: Timestamp,
}

/// How many segments may stand inside each other; a circle of them ends here.
const DEPTH: usize = 32;

impl Members<'_> {
    /// The devices that a selector matches, installed ones only.
    ///
    /// Candidates come from the cheapest place: of an intersection, from its rarest member. Each is then held against the
    /// whole selector.
    pub fn of(&self, selector: &Selector) -> Numbers {
        let mut found = Numbers::new();
        self.candidates(selector, DEPTH, &mut |number| {
            if self.devices.installed().contains(&number) && self.matches(selector, number) {
                found.insert(number);
            }
        });
        found
    }

    /// Whether one device is in the audience.
    pub fn matches(&self, selector: &Selector, number: u32) -> bool {
        self.devices.device(number).is_some_and(|device| self.holds(selector, number, device, DEPTH))
    }

    fn holds(&self, selector: &Selector, number: u32, device: &Device, depth: usize) -> bool {
        let id = self.devices.id(number);
        match selector {
            Selector::All => true,
            Selector::Triggered => false,
            Selector::Tag(tag) => self.tagged(tag).is_some_and(|devices| devices.contains(&number)),
            Selector::Channel(key, channel) => match key.device() {
                Some(kind) => channel.as_str() == id && device.device_type == kind.to_string(),
                None if key.key() == "open_channel" => device.address.as_ref() == Some(&channel.value),
                None => channel.as_str() == id,
            },
            Selector::NamedUser(user) => device.named_user.as_ref() == Some(&user.value),
            Selector::Segment(reference) => {
                depth > 0 && self.segment(reference).is_some_and(|inner| self.holds(inner, number, device, depth - 1))
            }
            Selector::StaticList(list) => device.lists.contains(&list.value),
            Selector::SubscriptionList(list) => device.subscriptions.contains(&list.value),
            Selector::Location(location) => self.was_at(location, device),
            Selector::Attribute(attribute) => has_attribute(attribute, device),
            Selector::And(members) => members.iter().all(|member| self.holds(member, number, device, depth)),
            Selector::Or(members) => members.iter().any(|member| self.holds(member, number, device, depth)),
            Selector::Not(member) => !self.holds(member, number, device, depth),
        }
    }

    /// Calls back with every device that can match, and perhaps some that do not.
    fn candidates(&self, selector: &Selector, depth: usize, each: &mut dyn FnMut(u32)) {
        match selector {
            Selector::Triggered => {}
            Selector::Tag(tag) => self.tagged(tag).into_iter().flatten().for_each(|number| each(*number)),
            Selector::Channel(key, id) => {
                let by_address = key.key() == "open_channel";
                let found = if by_address { self.devices.by_address(id) } else { self.devices.by_id(id) };
                found.into_iter().for_each(each);
            }
            Selector::NamedUser(user) => {
                self.devices.of_user(user).into_iter().flatten().for_each(|number| each(*number));
            }
            Selector::Segment(reference) if depth > 0 => {
                if let Some(inner) = self.segment(reference) {
                    self.candidates(inner, depth - 1, each);
                }
            }
            Selector::Segment(_) => {}
            Selector::And(members) => {
                if let Some(rarest) = members.iter().min_by_key(|member| self.bound(member, depth)) {
                    self.candidates(rarest, depth, each);
                }
            }
            Selector::Or(members) => members.iter().for_each(|member| self.candidates(member, depth, each)),
            _ => self.devices.installed().iter().for_each(|number| each(*number)),
        }
    }

    /// At most how many devices a selector can match.
    fn bound(&self, selector: &Selector, depth: usize) -> usize {
        match selector {
            Selector::Triggered => 0,
            Selector::Tag(tag) => self.tagged(tag).map_or(0, Numbers::len),
            Selector::Channel(..) => 1,
            Selector::NamedUser(user) => self.devices.of_user(user).map_or(0, Numbers::len),
            Selector::Segment(_) if depth == 0 => 0,
            Selector::Segment(reference) => self.segment(reference).map_or(0, |inner| self.bound(inner, depth - 1)),
            Selector::And(members) => members.iter().map(|member| self.bound(member, depth)).min().unwrap_or(0),
            Selector::Or(members) => {
                let sum = members.iter().map(|member| self.bound(member, depth)).sum::<usize>();
                sum.min(self.devices.len())
            }
            _ => self.devices.len(),
        }
    }

    fn tagged(&self, Tag { tag, group }: &Tag) -> Option<&Numbers> {
        self.devices.with_tag(group.as_ref().map_or(NO_GROUP, |group| group), tag)
    }

    fn segment(&self, reference: &SegmentRef) -> Option<&Selector> {
        let (SegmentRef::Key(id) | SegmentRef::Id(id)) = reference;
        self.segments.get(id).map(|selector| &selector.value)
    }

    fn was_at(&self, Location { id, date }: &Location, device: &Device) -> bool {
        let Some(seen) = device.seen_at.get(&id.value) else { return false };
        let Some(period) = date else { return true };
        let since = self.now.to_zoned(jiff::tz::TimeZone::UTC).checked_sub(period.recent.months.value.months());
        since.is_ok_and(|since| *seen >= since.timestamp() && *seen <= self.now)
    }
}

fn has_attribute(Attribute { attribute, operator, value }: &Attribute, device: &Device) -> bool {
    let own = device.attributes.get(&attribute.value);
    match operator.as_ref().map(|operator| operator.as_str()) {
        None | Some("equals") => own.is_some() && own == value.as_ref(),
        Some("is_empty") => own.is_none(),
        Some("not_equals") => own != value.as_ref(),
        _ => false,
    }
}
