//! The triggers of a pipeline's messages, before and after.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pushplan_model::audience::{self, Audience, Relation};
use pushplan_model::kinds::{self, Parts, Role, Spec};
use pushplan_model::node::At;
use pushplan_model::nouns::audience::{SegmentRef, Selector};
use pushplan_model::nouns::device::DeviceTypes;
use pushplan_model::nouns::rate::Rate;
use pushplan_model::nouns::send_hours::{MissBehavior, SendHours};
use pushplan_model::nouns::trigger::Trigger;
use pushplan_model::source::Span;
use pushplan_project::timing::{Country, can_disturb, places, words};
use serde_json::Value;

use super::sides::as_text;
use super::{FieldChange, MessageClass};
use crate::plan::Change;
use crate::review::fields::{Difference, Field};
use crate::review::{Review, Side, after, before};

/// The change of the triggers of a resource's messages.
#[derive(Debug, Default)]
pub(super) struct Triggered {
    /// The events, with the active period if that changes.
    pub words: (Option<String>, Option<String>),
    /// The effect on the number of triggering events: more, fewer or different.
    pub reach: Option<MessageClass>,
    /// The effect of its hours, limits and cancellations on the number of messages: more, fewer or different.
    pub held: Option<MessageClass>,
    /// Whether its hours move messages to other times.
    pub is_moved: bool,
    /// Whether it can be sent in quiet hours, before and after.
    pub disturbs: (bool, bool),
    /// Changed hours, limits and cancellations.
    pub rules: Vec<FieldChange>,
    /// Changed conditions other than these.
    pub conditions: Vec<FieldChange>,
}

/// The triggers of the messages on one side.
struct TriggeredSide {
    triggers: Vec<Trigger>,
    active: (Option<Timestamp>, Option<Timestamp>),
    hours: Option<SendHours>,
    rates: Vec<Rate>,
    cancelled_by: Vec<Trigger>,
    conditions: Value,
}

impl TriggeredSide {
    /// Whether every event that triggers the messages of another side also triggers those of this one.
    fn covers(&self, other: &Self, now: Timestamp) -> bool {
        let is_covered = |trigger: &Trigger| self.triggers.iter().any(|own| own.covers(trigger));
        let from = |side: &Self| side.active.0.filter(|from| *from > now);
        let is_open = self.active.1.is_none_or(|until| other.active.1.is_some_and(|other| other <= until));
        other.triggers.iter().all(is_covered) && from(self) <= from(other) && is_open
    }

    /// Whether its hours, limits and cancellations let through every message that those of another side let through.
    fn allows(&self, other: &Self) -> bool {
        let is_implied = |rate: &Rate| other.rates.iter().any(|other| rate.covers(*other));
        let is_cancelled = |trigger: &Trigger| other.cancelled_by.iter().any(|other| other.covers(trigger));
        let is_in_time = self.hours.as_ref().is_none_or(|hours| hours.lets_through(other.hours.as_ref()));
        is_in_time && self.rates.iter().all(is_implied) && self.cancelled_by.iter().all(is_cancelled)
    }

    /// Whether each message of it is sent, if only later.
    fn waits(&self) -> bool {
        self.hours.as_ref().is_none_or(|hours| hours.miss == MissBehavior::Wait)
    }

    /// `, from Tue 1 Jan 2030 00:00 UTC until Wed 1 Jan 2031 00:00 UTC`
    fn while_active(&self) -> String {
        match self.active {
            (Some(from), Some(until)) => format!(", from {} until {}", words::moment(from), words::moment(until)),
            (Some(from), None) => format!(", from {} on", words::moment(from)),
            (None, Some(until)) => format!(", until {}", words::moment(until)),
            (None, None) => String::new(),
        }
    }
}

impl Review<'_> {
    pub(super) fn triggered(&self, change: &Change) -> Triggered {
        let words = self.both_set_off(change);
        let new = words.1.as_ref().and_then(|_| self.triggered_side(change, Side::After));
        let old = words.0.as_ref().and_then(|_| self.triggered_side(change, Side::Before));
        let disturbs = |side: Side, own: &Option<TriggeredSide>| {
            own.as_ref().is_some_and(|own| self.can_disturb(change, side, own.hours.as_ref()))
        };
        let disturbs = (disturbs(Side::Before, &old), disturbs(Side::After, &new));
        let Some((old, new)) = old.zip(new) else { return Triggered { words, disturbs, ..Triggered::default() } };
        let now = self.plan.made;
        let reach = effect(new.covers(&old, now), old.covers(&new, now));
        let held = effect(new.allows(&old), old.allows(&new));
        let words = match old.active == new.active {
            true => words,
            false => {
                let with =
                    |words: Option<String>, side: &TriggeredSide| words.map(|words| words + &side.while_active());
                (with(words.0, &old), with(words.1, &new))
            }
        };
        let mut conditions = changed_fields(&old.conditions, &new.conditions);
        // The active period is described in words.
        conditions.retain(|field| !(ACTIVE.contains(&field.path.as_str()) && old.active != new.active));
        let changed = self.rules(change).into_iter().filter(|rule| rule.old != rule.new);
        let rules = changed.map(|rule| FieldChange { path: rule.field.to_owned(), old: rule.old, new: rule.new });
        let is_moved = old.hours != new.hours && old.waits() && new.waits();
        Triggered { words, reach, held, is_moved, disturbs, rules: rules.collect(), conditions }
    }

    /// Whether a triggered message with these hours can be sent in the quiet hours of the target.
    fn can_disturb(&self, change: &Change, side: Side, hours: Option<&SendHours>) -> bool {
        let there = self.of_audience(change, side, |selector| {
            places(selector, |reference: &SegmentRef| self.segment(side, reference), Country::Main)
        });
        self.plan.told.quiet.is_some_and(|quiet| can_disturb(hours, quiet, there.as_ref(), self.plan.made))
    }

    fn triggered_side(&self, change: &Change, side: Side) -> Option<TriggeredSide> {
        let key = At::new(change.address.key.clone(), Span::NONE);
        self.of_resource(change, side, |spec: &dyn Spec| {
            let mut parts = Parts::new(&key);
            spec.parts(&mut parts);
            TriggeredSide {
                triggers: parts.triggers.iter().map(|trigger| (*trigger).clone()).collect(),
                active: parts.active,
                hours: parts.hours.map(|hours| hours.value.clone()),
                rates: parts.rates.clone(),
                cancelled_by: parts.cancelled_by.iter().map(|trigger| (*trigger).clone()).collect(),
                conditions: serde_json::to_value(parts.conditions).unwrap_or_default(),
            }
        })
    }
}

impl Review<'_> {
    /// The effect of changed device types on those who meet the condition; `None` if they reach the same devices.
    pub(super) fn between_devices(
        &self,
        change: &Change,
        (old, new): (Option<&DeviceTypes>, Option<&DeviceTypes>),
    ) -> Option<Relation> {
        let reached = |side: Side, devices: Option<&DeviceTypes>| {
            let all = self.audience_with(change, side, |role| role == Role::Condition);
            let all = all.unwrap_or_else(|| Audience::of(&Selector::All, |_| None));
            all.reached(devices, false)
        };
        let relation = (old != new).then(|| audience::compare(&reached(Side::Before, old), &reached(Side::After, new)));
        relation.filter(|relation| *relation != Relation::Same)
    }
}

/// The effect of a change on the number of messages, by whether each side has all messages of the other.
fn effect(new_has_old: bool, old_has_new: bool) -> Option<MessageClass> {
    match (new_has_old, old_has_new) {
        (true, true) => None,
        (true, false) => Some(MessageClass::More),
        (false, true) => Some(MessageClass::Fewer),
        (false, false) => Some(MessageClass::Different),
    }
}

/// The fields with the active period of a pipeline.
const ACTIVE: [&str; 2] = ["activation_time", "deactivation_time"];

fn changed_fields(old: &Value, new: &Value) -> Vec<FieldChange> {
    let one = |field: Field| FieldChange { old: as_text(field.old), new: as_text(field.new), path: field.path };
    Difference::between(Some(old), Some(new)).fields.into_iter().map(one).collect()
}

/// The changed fields of a resource, without its name, its description, and those that are compared in another way:
/// audiences, device types, times and triggers.
pub(super) fn unread_fields(change: &Change) -> Vec<FieldChange> {
    let api = kinds::api(&change.address);
    let simple = |spec: &Value| {
        let mut simple = spec.clone();
        for audience in api.audiences() {
            if let Some(audience) = simple.pointer_mut(audience) {
                *audience = Value::Null;
            }
        }
        // The effect on the shares of variants is described in words, and nobody reads their names.
        simple["control"] = Value::Null;
        for variant in simple["variants"].as_array_mut().into_iter().flatten() {
            for key in ["name", "description", "weight"] {
                variant[key] = Value::Null;
            }
        }
        let fields = simple.as_object_mut();
        for (name, value) in fields.into_iter().flatten() {
            if *name == "description" || api.name_field() == Some(name) {
                *value = Value::Null;
            }
            unordered(value);
        }
        simple
    };
    let Some((old, new)) = before(change).zip(after(change)) else { return Vec::new() };
    let mut fields = changed_fields(&simple(old), &simple(new));
    let is_read = |path: &str| {
        let name = path.rsplit_once('.').map_or(path, |(_, name)| name);
        name == "device_types" || name.ends_with("scheduled_time") || name.ends_with("schedule")
    };
    fields.retain(|field| !is_read(&field.path));
    fields
}

/// Sorts the items of a list whose order has no meaning.
fn unordered(value: &mut Value) {
    if let Value::Array(items) = value {
        let sorted: BTreeMap<String, Value> = items
            .drain(..)
            .map(|mut item| {
                item.as_object_mut().into_iter().flatten().for_each(|(_, value)| unordered(value));
                (item.to_string(), item)
            })
            .collect();
        items.extend(sorted.into_values());
    }
}
