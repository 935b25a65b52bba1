//! Tags that are added or removed, and what that triggers.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::json::text;
use crate::nouns::audience::{ChannelKey, Selector};
use crate::nouns::delay::Delay;
use crate::nouns::device::DeviceType;

/// A tag that someone gets or loses.
#[derive(Clone, Debug, PartialEq)]
pub struct Tagging {
    pub removed: bool,
    pub tag: String,
    pub group: Option<String>,
    /// Who gets or loses it.
    pub whose: Whose,
}

/// The devices whose tags change.
#[derive(Clone, Debug, PartialEq)]
pub struct Whose {
    /// A description: `named user u-1001`.
    pub who: String,
    /// The kind of device, if there is only one.
    pub device: Option<DeviceType>,
    /// The named user that the devices belong to, if there is one.
    pub user: Option<String>,
    /// The audience of these devices.
    pub selector: Selector,
}

/// A channel that a named user gets or loses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Belonging {
    pub user: String,
    pub channel: ChannelId,
    pub gains: bool,
}

/// A channel, as named in an audience.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelId {
    pub key: ChannelKey,
    pub id: String,
}

/// The tags that trigger messages, and these messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Firing {
    pub triggers: Vec<TagTrigger>,
    pub outcomes: Vec<FollowUp>,
    /// When it becomes active, if that is specified.
    pub from: Option<Timestamp>,
    /// When it becomes inactive, if that is specified.
    pub until: Option<Timestamp>,
}

/// A tag whose addition or removal triggers something, in one group or among the tags of the device itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagTrigger {
    pub removed: bool,
    pub tag: String,
    pub group: Option<String>,
}

/// A message that follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowUp {
    /// The time between the trigger and the message.
    pub delay: Delay,
    /// The kinds of device that it is sent to; empty for every kind.
    pub devices: Vec<DeviceType>,
}

impl Firing {
    /// Whether it may be triggered at a time, by clocks that differ by no more than a margin. Events before it becomes
    /// active do not trigger it later.
    pub fn is_on(&self, now: Timestamp, margin: SignedDuration) -> bool {
        let begins = |from: Timestamp| from.checked_sub(margin).is_ok_and(|from| from > now);
        let ends = |until: Timestamp| until.checked_add(margin).is_ok_and(|until| until <= now);
        !self.from.is_some_and(begins) && !self.until.is_some_and(ends)
    }

    /// Returns the delay of each message that a change of tags triggers.
    pub fn delays(&self, tagging: &Tagging) -> Vec<Delay> {
        let Tagging { removed, tag, group, whose } = tagging;
        let is_it = |trigger: &TagTrigger| (trigger.removed, &trigger.tag, &trigger.group) == (*removed, tag, group);
        let reached = |outcome: &&FollowUp| match &whose.device {
            Some(device) => outcome.devices.is_empty() || outcome.devices.contains(device),
            None => true,
        };
        let outcomes = self.outcomes.iter().filter(|_| self.triggers.iter().any(is_it));
        outcomes.filter(reached).map(|outcome| outcome.delay).collect()
    }
}

/// Returns the tags that are in only one of two lists: first the added ones, then the removed ones.
pub fn moved(old: Option<&Value>, new: Option<&Value>, group: Option<&str>, whose: &Whose) -> Vec<Tagging> {
    let list = |tags: Option<&Value>| tags.and_then(Value::as_array).cloned().unwrap_or_default();
    let (had, has) = (list(old), list(new));
    let made = |removed: bool, tag: &Value| Tagging {
        removed,
        tag: text(tag),
        group: group.map(str::to_owned),
        whose: whose.clone(),
    };
    let given = has.iter().filter(|tag| !had.contains(tag)).map(|tag| made(false, tag));
    given.chain(had.iter().filter(|tag| !has.contains(tag)).map(|tag| made(true, tag))).collect()
}
