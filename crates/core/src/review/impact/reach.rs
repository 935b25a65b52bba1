//! The audiences of messages whose devices are counted.

use std::collections::BTreeMap;

use pushplan_model::address::Address;
use pushplan_model::audience::Audience;
use pushplan_model::kinds::{Parts, Role, Spec};
use pushplan_model::node::At;
use pushplan_model::nouns::audience::{SegmentRef, Selector};
use pushplan_model::nouns::device::DeviceTypes;
use pushplan_model::nouns::vocabulary::{NO_TIME_ZONE, TIME_ZONE};
use pushplan_model::source::Span;
use serde_json::{Value, json};

use super::{MessageFate, locales};
use crate::plan::{Change, ReachChange};
use crate::review::{Review, Side};

/// The maximal depth of nested segments, and the maximal number of parts of an audience that the service counts.
const DEEPEST: usize = 60;
const LARGEST: usize = 1_000;

/// The audience of a sender, on one side.
#[derive(Clone, Debug)]
pub struct CountedAudience {
    pub address: Address,
    pub side: Side,
    /// The locale, if it is only the part of the audience that gets one localization.
    pub locale: Option<String>,
    /// The members with one of the device types of the message.
    pub audience: Audience,
    /// The audience as a query for the built-in service, with the criteria of its segments; `None` if it is too
    /// complex.
    pub query: Option<Value>,
}

impl Review<'_> {
    /// Returns the audiences of the changed messages, before and after. A triggered message goes to the device that
    /// triggers it, so there is nothing to count.
    pub fn counted_audiences(&self) -> Vec<CountedAudience> {
        let mut sides: BTreeMap<&Address, [bool; 2]> = BTreeMap::new();
        for message in self.impact().iter().filter(|message| message.fate != MessageFate::Sent) {
            let [before, after] = sides.entry(&message.address).or_default();
            *before |= message.fate != MessageFate::New;
            *after |= message.fate != MessageFate::Cancelled;
        }
        let (mut found, mut parts) = (Vec::new(), Vec::new());
        for change in &self.plan.changes {
            let Some([before, after]) = sides.get(&change.address) else { continue };
            found.extend(before.then(|| self.counted(change, Side::Before)).flatten());
            found.extend(after.then(|| self.counted(change, Side::After)).flatten());
            parts.extend(after.then(|| self.counted_locales(change)).into_iter().flatten());
        }
        // Only so many audiences are counted: those of whole messages first.
        found.append(&mut parts);
        found
    }

    /// Returns the audience of a change on one side. `None` after the plan if it removes tags or moves channels between
    /// users, because a device may also have a tag for another reason.
    fn counted(&self, change: &Change, side: Side) -> Option<CountedAudience> {
        self.counted_part(change, side, None)
    }

    /// Returns the parts of an audience that get each localization after the plan. A sender of several messages has none.
    fn counted_locales(&self, change: &Change) -> Vec<CountedAudience> {
        let key = At::new(change.address.key.clone(), Span::NONE);
        let parts = self.of_resource(change, Side::After, |spec: &dyn Spec| {
            let mut parts = Parts::new(&key);
            spec.parts(&mut parts);
            match parts.said.as_slice() {
                [only] => locales::conditions(only.localizations),
                _ => Vec::new(),
            }
        });
        let counted = |(locale, condition)| {
            let part = self.counted_part(change, Side::After, Some(condition))?;
            Some(CountedAudience { locale: Some(locale), ..part })
        };
        parts.unwrap_or_default().into_iter().filter_map(counted).collect()
    }

    /// Returns the members of an audience that match a further condition.
    fn counted_part(&self, change: &Change, side: Side, condition: Option<Selector>) -> Option<CountedAudience> {
        if side == Side::After && self.regroupings_of(change).iter().any(|one| !one.is_exact) {
            return None;
        }
        let key = At::new(change.address.key.clone(), Span::NONE);
        self.of_resource(change, side, |spec: &dyn Spec| {
            let mut parts = Parts::new(&key);
            spec.parts(&mut parts);
            let own = parts.audiences.iter().find(|audience| audience.role == Role::Push)?;
            let part = condition.map(|condition| locales::both(&own.selector.value, condition));
            let selector = part.as_ref().unwrap_or(&own.selector.value);
            let (devices, is_local) = (own.devices.map(|devices| &devices.value), parts.is_local());
            let audience = self.reached(side, change, selector, devices, is_local);
            let outdated = self.with_outdated(change, side, selector);
            let selector = outdated.as_ref().unwrap_or(selector);
            let without = self.without_departed(change, side, selector);
            let selector = without.as_ref().unwrap_or(selector);
            let query =
                self.opened(side, selector, DEEPEST, &mut 0).map(|selector| query(&selector, devices, is_local));
            Some(CountedAudience { address: change.address.clone(), side, locale: None, audience, query })
        })
        .flatten()
    }

    /// Returns the recipients of a change's pushes on one side; `None` if it has no audience of its own.
    pub(super) fn push_audience(&self, change: &Change, side: Side) -> Option<Audience> {
        self.audience_with(change, side, |role| role == Role::Push)
    }

    /// Returns the members of the first audience with one of some roles.
    pub(super) fn audience_with(&self, change: &Change, side: Side, is_own: impl Fn(Role) -> bool) -> Option<Audience> {
        let key = At::new(change.address.key.clone(), Span::NONE);
        self.of_resource(change, side, |spec: &dyn Spec| {
            let mut parts = Parts::new(&key);
            spec.parts(&mut parts);
            let own = parts.audiences.iter().find(|audience| is_own(audience.role))?;
            let devices = own.devices.map(|devices| &devices.value);
            Some(self.reached(side, change, &own.selector.value, devices, parts.is_local()))
        })
        .flatten()
    }

    /// The members of an audience whom a message reaches.
    fn reached(
        &self,
        side: Side,
        change: &Change,
        selector: &Selector,
        devices: Option<&DeviceTypes>,
        is_local: bool,
    ) -> Audience {
        let without = self.without_departed(change, side, selector);
        self.whole(side, change, without.as_ref().unwrap_or(selector)).reached(devices, is_local)
    }

    /// A selector with its segments replaced by their criteria. Segments that are not in the plan are left to the
    /// service.
    fn opened(&self, side: Side, selector: &Selector, depth: usize, size: &mut usize) -> Option<Selector> {
        *size += 1;
        if depth == 0 || *size > LARGEST {
            return None;
        }
        let mut member = |member: &At<Selector>| {
            let opened = self.opened(side, &member.value, depth - 1, size)?;
            Some(At::new(opened, member.span))
        };
        Some(match selector {
            Selector::And(members) => Selector::And(members.iter().map(member).collect::<Option<_>>()?),
            Selector::Or(members) => Selector::Or(members.iter().map(member).collect::<Option<_>>()?),
            Selector::Not(inner) => Selector::Not(Box::new(member(inner)?)),
            Selector::Segment(reference) => match (self.meant_by(side, reference), &reference.value) {
                (Some((side, key)), _) if self.criteria(side, key).is_some() => {
                    self.opened(side, self.criteria(side, key)?, depth - 1, size)?
                }
                // A request has an id where a manifest has a key.
                (None, SegmentRef::Id(id)) => Selector::Segment(At::new(SegmentRef::Key(id.clone()), reference.span)),
                _ => return None,
            },
            single => {
                let rewritten = self.regroupings.rewritten(single).filter(|_| side == Side::After);
                rewritten.unwrap_or_else(|| single.clone())
            }
        })
    }

    /// How many devices the messages of an address reach, if they were counted.
    pub(super) fn reach(&self, address: &Address) -> Option<ReachChange> {
        self.plan.told.reach.as_ref()?.of.get(address).copied()
    }
}

fn query(selector: &Selector, devices: Option<&DeviceTypes>, is_local: bool) -> Value {
    let mut query = json!({ "audience": selector });
    if is_local {
        query["audience"] = json!({ "and": [selector, { "not": { "tag": NO_TIME_ZONE, "group": TIME_ZONE } }] });
    }
    if let Some(devices) = devices {
        query["device_types"] = json!(devices);
    }
    query
}
