//! Finds the devices that a selector matches.

use std::cmp::Ordering;

use jiff::{Span, Timestamp};
use pushplan_model::node::At;
use pushplan_model::nouns::audience::{Attribute, ChannelKey, Location, Selector, Tag};
use serde_json::Value;

use super::carriers::Carriers;
use super::index::{Index, Numbers};
use super::nesting::{Criteria, Nested};
use super::properties::listed_zone;
use super::{Device, NO_GROUP};

/// Finds the members of audiences. Segments are looked up by id.
#[derive(Debug)]
pub struct Members<'a> {
    pub devices: &'a Index,
    pub segments: &'a Criteria,
    pub now: Timestamp,
}

impl<'a> Members<'a> {
    /// Returns the devices that a selector matches, only installed ones.
    ///
    /// Candidates come from the cheapest source: for an intersection, from its rarest member. Each one is then tested
    /// against the whole selector.
    pub fn of(&self, selector: &Selector) -> Numbers {
        let nested = Nested::of(selector, self.segments);
        let mut found = Numbers::new();
        self.candidates(selector, &nested, &mut |number| {
            if !found.contains(&number) && self.is_member(selector, &nested, number) {
                found.insert(number);
            }
        });
        found
    }

    /// Whether one device is in the audience: whether [`Members::of`] finds it.
    pub fn matches(&self, selector: &Selector, number: u32) -> bool {
        self.is_member(selector, &Nested::of(selector, self.segments), number)
    }

    fn is_member(&self, selector: &Selector, nested: &Nested, number: u32) -> bool {
        let Some(device) = self.devices.device(number) else { return false };
        // Each segment is evaluated once, inner ones first: however they nest, the work is proportional to their sizes.
        let mut within = Vec::with_capacity(nested.criteria.len());
        for criteria in &nested.criteria {
            let holds = DeviceMatch { members: self, nested, within: &within, number, device }.by(criteria);
            within.push(holds);
        }
        // In most cases, a tag decides, and the device itself is not needed.
        DeviceMatch { members: self, nested, within: &within, number, device }.by(selector) && device.installed
    }

    /// Calls `each` with every device that can match, and perhaps with some that do not. A device can occur more than
    /// once.
    pub(super) fn candidates(&self, selector: &Selector, nested: &Nested<'a>, each: &mut dyn FnMut(u32)) {
        let bounds = self.bounds(nested);
        let mut entered = vec![false; nested.criteria.len()];
        let mut waiting = vec![selector];
        while let Some(selector) = waiting.pop() {
            match selector {
                Selector::Triggered => {}
                Selector::Tag(tag) => self.tagged(tag).into_iter().flat_map(Carriers::iter).for_each(&mut *each),
                Selector::Channel(ChannelKey::Open, address) => {
                    self.devices.at_address(address).into_iter().flatten().copied().for_each(&mut *each);
                }
                Selector::Channel(_, id) => self.devices.by_id(id).into_iter().for_each(&mut *each),
                Selector::NamedUser(user) => {
                    self.devices.of_user(user).into_iter().flatten().copied().for_each(&mut *each);
                }
                Selector::Segment(reference) => {
                    if let Some(place) = nested.place(reference).filter(|place| !entered[*place]) {
                        entered[place] = true;
                        waiting.push(nested.criteria[place]);
                    }
                }
                Selector::And(members) => {
                    let rarest = members.iter().min_by_key(|member| self.bound(member, nested, &bounds));
                    waiting.extend(rarest.map(|member| &member.value));
                }
                Selector::Or(members) => waiting.extend(members.iter().map(|member| &member.value)),
                _ => self.devices.installed().iter().for_each(&mut *each),
            }
        }
    }

    /// Returns an upper bound of the number of devices for each nested segment.
    fn bounds(&self, nested: &Nested) -> Vec<usize> {
        let mut bounds = Vec::with_capacity(nested.criteria.len());
        for criteria in &nested.criteria {
            bounds.push(self.bound(criteria, nested, &bounds));
        }
        bounds
    }

    /// Returns an upper bound of the number of devices that a selector matches.
    fn bound(&self, selector: &Selector, nested: &Nested, bounds: &[usize]) -> usize {
        let bound = |member: &At<Selector>| self.bound(member, nested, bounds);
        match selector {
            Selector::Triggered => 0,
            Selector::Tag(tag) => self.tagged(tag).map_or(0, Carriers::len),
            Selector::Channel(ChannelKey::Open, address) => self.devices.at_address(address).map_or(0, Numbers::len),
            Selector::Channel(..) => 1,
            Selector::NamedUser(user) => self.devices.of_user(user).map_or(0, Numbers::len),
            Selector::Segment(reference) => nested.place(reference).map_or(0, |place| bounds[place]),
            Selector::And(members) => members.iter().map(bound).min().unwrap_or(0),
            Selector::Or(members) => {
                let sum = members.iter().map(bound).fold(0, usize::saturating_add);
                sum.min(self.devices.len())
            }
            _ => self.devices.len(),
        }
    }

    fn tagged(&self, Tag { tag, group }: &Tag) -> Option<&Carriers> {
        match group.as_ref().map_or(NO_GROUP, |group| group) {
            "timezone" => self.devices.with_tag("timezone", listed_zone(tag).unwrap_or(tag)),
            group => self.devices.with_tag(group, tag),
        }
    }

    fn was_at(&self, Location { id, date }: &Location, device: &Device) -> bool {
        let Some(seen) = device.seen_at.get(id.as_str()) else { return false };
        let Some(period) = date else { return true };
        // A period longer than the calendar begins with the calendar.
        let months = Span::new().try_months(period.recent.months.0).ok();
        let now = self.now.to_zoned(jiff::tz::TimeZone::UTC);
        let since = months.and_then(|months| now.checked_sub(months).ok()).map_or(Timestamp::MIN, |at| at.timestamp());
        *seen >= since && *seen <= self.now
    }
}

/// Tests one device against selectors.
struct DeviceMatch<'h, 'a> {
    members: &'h Members<'a>,
    nested: &'h Nested<'a>,
    /// Whether the device is in each of the nested segments that have been evaluated.
    within: &'h [bool],
    number: u32,
    device: &'h Device,
}

impl DeviceMatch<'_, '_> {
    fn by(&self, selector: &Selector) -> bool {
        let Self { members, nested, within, number, device } = self;
        match selector {
            Selector::All => true,
            Selector::Triggered => false,
            Selector::Tag(tag) => members.tagged(tag).is_some_and(|devices| devices.contains(number)),
            Selector::Channel(ChannelKey::Open, address) => device.address.as_ref() == Some(&address.value),
            Selector::Channel(key, id) => {
                let of_its_type = key.device().is_none_or(|kind| device.device_type == kind.to_string());
                of_its_type && members.devices.id(*number) == id.as_str()
            }
            Selector::NamedUser(user) => device.named_user.as_ref() == Some(&user.value),
            Selector::Segment(reference) => nested.place(reference).is_some_and(|place| within[place]),
            Selector::StaticList(list) => device.lists.contains(&list.value),
            Selector::SubscriptionList(list) => device.subscriptions.contains(&list.value),
            Selector::Location(location) => members.was_at(location, device),
            Selector::Attribute(attribute) => has_attribute(attribute, device),
            // An empty intersection matches nobody, because it names no recipients.
            Selector::And(all) => !all.is_empty() && all.iter().all(|member| self.by(member)),
            Selector::Or(any) => any.iter().any(|member| self.by(member)),
            Selector::Not(member) => !self.by(member),
        }
    }
}

/// The contract does not describe attributes: operators are interpreted by their names, and an unknown one matches
/// nobody.
pub fn has_attribute(Attribute { attribute, operator, value }: &Attribute, device: &Device) -> bool {
    let own = device.attributes.get(&attribute.value).filter(|own| !own.is_null());
    let wanted = value.as_ref();
    let order = || own.zip(wanted).and_then(|(own, wanted)| compare(own, wanted));
    match operator.as_ref().map_or("equals", |operator| operator.as_str()) {
        "equals" => order() == Some(Ordering::Equal),
        "not_equals" => order() != Some(Ordering::Equal),
        "less" | "less_than" | "before" => order() == Some(Ordering::Less),
        "greater" | "greater_than" | "after" => order() == Some(Ordering::Greater),
        "contains" => own.zip(wanted).is_some_and(|(own, wanted)| contains(own, wanted)),
        "not_contains" => !own.zip(wanted).is_some_and(|(own, wanted)| contains(own, wanted)),
        "is_empty" => own.is_none(),
        "is_not_empty" => own.is_some(),
        _ => false,
    }
}

/// Compares numbers by size and texts by their letters. Values of two types cannot be compared; values of other types
/// are equal or not.
fn compare(own: &Value, wanted: &Value) -> Option<Ordering> {
    match (own, wanted) {
        (Value::Number(own), Value::Number(wanted)) => own.as_f64()?.partial_cmp(&wanted.as_f64()?),
        (Value::String(own), Value::String(wanted)) => Some(own.cmp(wanted)),
        _ => (own == wanted).then_some(Ordering::Equal),
    }
}

fn contains(own: &Value, wanted: &Value) -> bool {
    match (own, wanted) {
        (Value::String(own), Value::String(wanted)) => own.contains(wanted.as_str()),
        (Value::Array(own), wanted) => own.contains(wanted),
        _ => false,
    }
}
