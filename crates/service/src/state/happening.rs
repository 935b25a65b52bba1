//! Events that can trigger a pipeline, or cancel its messages.

use pushplan_model::nouns::trigger::Trigger;
use serde_json::Value;

/// An event of a device.
#[derive(Clone, Copy, Debug)]
pub enum Happening<'h> {
    FirstOpen,
    Open,
    FirstOptIn,
    /// A tag that it did not have, with the groups in which it was added.
    TagAdded(&'h [&'h str], &'h str),
    /// A tag that it had, with its group.
    TagRemoved(&'h str, &'h str),
}

impl Happening<'_> {
    /// Whether this event matches a trigger. Triggers that the contract does not describe have the same form as those
    /// that it does.
    pub fn is(self, trigger: &Trigger) -> bool {
        match (self, trigger) {
            (Self::FirstOpen, Trigger::FirstOpen) => true,
            (Self::TagAdded(groups, tag), Trigger::TagAdded { tag: wanted, group: within }) => {
                wanted.as_str() == tag && within.as_ref().is_none_or(|within| groups.contains(&within.as_str()))
            }
            (Self::TagRemoved(group, tag), Trigger::Other(trigger)) => match &trigger["tag_removed"] {
                Value::String(wanted) => wanted == tag,
                wanted => wanted["tag"] == tag && (wanted["group"].is_null() || wanted["group"] == group),
            },
            (Self::Open, Trigger::Other(trigger)) => is_named(trigger, "open"),
            (Self::FirstOptIn, Trigger::Other(trigger)) => is_named(trigger, "first_opt_in"),
            _ => false,
        }
    }
}

/// Whether a trigger is `open`, or `{"open": ...}`.
fn is_named(trigger: &Value, name: &str) -> bool {
    trigger == name || trigger.get(name).is_some()
}
