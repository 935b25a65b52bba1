//! Events that can trigger a pipeline, or cancel its messages.

use pushplan_model::nouns::trigger::Trigger;
use serde_json::Value;

use super::devices::NO_GROUP;

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
        let is_move = |removed: bool, tag: &str, within: &dyn Fn(&str) -> bool| {
            trigger.tag().is_some_and(|wanted| {
                (wanted.removed, wanted.tag) == (removed, tag) && within(wanted.group.unwrap_or(NO_GROUP))
            })
        };
        match (self, trigger) {
            (Self::FirstOpen, Trigger::FirstOpen) => true,
            (Self::TagAdded(groups, tag), _) => is_move(false, tag, &|group| groups.contains(&group)),
            (Self::TagRemoved(within, tag), _) => is_move(true, tag, &|group| within == group),
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
