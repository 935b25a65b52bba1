//! Tags that someone gets or loses, and what that sets off.

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

/// Whose tags change.
#[derive(Clone, Debug, PartialEq)]
pub struct Whose {
    /// In words: `named user u-1001`.
    pub who: String,
    /// The kind of device, where there is but one.
    pub device: Option<DeviceType>,
    /// The named user whose devices they are, where that is so.
    pub user: Option<String>,
    /// The audience that they are.
    pub selector: Selector,
}

/// A channel that comes to a named user, or that they lose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Belonging {
    pub user: String,
    pub channel: ChannelId,
    pub gains: bool,
}

/// A channel, as an audience names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelId {
    pub key: ChannelKey,
    pub id: String,
}

/// What messages whoever gets or loses a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Firing {
    pub triggers: Vec<TagTrigger>,
    pub outcomes: Vec<FollowUp>,
    /// From when on it is set off, where that is said.
    pub from: Option<Timestamp>,
    /// From when on it no longer is.
    pub until: Option<Timestamp>,
}

/// A tag whose coming or going sets something off, in one group or in any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagTrigger {
    pub removed: bool,
    pub tag: String,
    pub group: Option<String>,
}

/// One message that follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowUp {
    /// How long after.
    pub delay: Delay,
    /// The kinds of device that it goes to; none: to every kind.
    pub devices: Vec<DeviceType>,
}

impl Firing {
    /// Whether it may be set off at a time, by clocks that differ by no more than a margin. What happens before it begins does
    /// not set it off later.
    pub fn is_on(&self, now: Timestamp, margin: SignedDuration) -> bool {
        let begins = |from: Timestamp| from.checked_sub(margin).is_ok_and(|from| from > now);
        let ends = |until: Timestamp| until.checked_add(margin).is_ok_and(|until| until <= now);
        !self.from.is_some_and(begins) && !self.until.is_some_and(ends)
    }

    /// How long after a change of tags someone gets a message because of it, for each message.
    pub fn delays(&self, tagging: &Tagging) -> Vec<Delay> {
        let Tagging { removed, tag, group, whose } = tagging;
        let is_it = |trigger: &TagTrigger| {
            let within = trigger.group.is_none() || trigger.group == *group;
            trigger.removed == *removed && trigger.tag == *tag && within
        };
        let reached = |outcome: &&FollowUp| match &whose.device {
            Some(device) => outcome.devices.is_empty() || outcome.devices.contains(device),
            None => true,
        };
        let outcomes = self.outcomes.iter().filter(|_| self.triggers.iter().any(is_it));
        outcomes.filter(reached).map(|outcome| outcome.delay).collect()
    }
}

/// The tags that are in one list and not in the other: those that someone gets, then those that are lost.
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
