//! What resources of different kinds have in common, so that a check sees all audiences and all messages alike.

use jiff::Timestamp;

use crate::node::{At, Rest};
use crate::nouns::audience::Selector;
use crate::nouns::delay::Delay;
use crate::nouns::device::DeviceTypes;
use crate::nouns::message::Message;
use crate::nouns::notification::Notification;
use crate::nouns::push::{Campaigns, Push};
use crate::nouns::schedule::Schedule;
use crate::nouns::trigger::Trigger;
use crate::nouns::vocabulary::Group;

use super::template::Sample;
use super::{Resource, Segment, Template, Variable};

/// The parts of one resource.
#[derive(Debug)]
pub struct Parts<'r> {
    /// The resource's own key, and where it stands.
    pub key: &'r At<String>,
    pub audiences: Vec<Audience<'r>>,
    pub said: Vec<ReadableText<'r>>,
    /// What people call each of several messages: `variant`.
    pub each: &'static str,
    /// Sample values for the variables, by the name of the sample.
    pub previews: Vec<(&'r At<String>, &'r Sample)>,
    pub pushes: Vec<&'r At<Push>>,
    pub sendings: Vec<Sending<'r>>,
    /// What sets it off, where something does.
    pub triggers: Vec<&'r Trigger>,
    /// How long after that each of its messages is sent.
    pub delays: Vec<Delay>,
    /// From when on something sets it off, and from when on nothing does any more.
    pub active: (Option<Timestamp>, Option<Timestamp>),
    /// What else decides whether something sets it off, which is passed on as it is.
    pub conditions: Option<&'r Rest>,
    pub tags: Vec<TagUse<'r>>,
    /// What is said of a device, by the group of tags that the service derives from it.
    pub properties: Vec<(&'static Group, &'r At<String>)>,
}

/// Someone who is addressed.
#[derive(Clone, Copy, Debug)]
pub struct Audience<'r> {
    pub selector: &'r At<Selector>,
    /// What they are reached on, where that is said.
    pub devices: Option<&'r At<DeviceTypes>>,
    pub role: Role,
}

/// What an audience is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The criteria of a segment.
    Criteria,
    /// Those who get a push.
    Push,
    /// Those who get what a pipeline sends.
    Pipeline,
}

/// Something that people read.
#[derive(Clone, Copy, Debug)]
pub struct ReadableText<'r> {
    pub notification: Option<&'r At<Notification>>,
    pub message: Option<&'r At<Message>>,
    pub devices: Option<&'r At<DeviceTypes>>,
    /// The variables that its placeholders may name; `None` where there are none.
    pub variables: Option<&'r [Variable]>,
    /// It was filled in from a template, which is looked at by itself.
    pub borrowed: bool,
    /// The campaigns that it belongs to, where it can say so.
    pub campaigns: Option<&'r Campaigns>,
    /// What else its push says, which is passed on as it is.
    pub rest: Option<&'r Rest>,
}

/// A time at which something is sent, and to whom.
#[derive(Clone, Copy, Debug)]
pub struct Sending<'r> {
    pub schedule: &'r At<Schedule>,
    pub audience: &'r At<Selector>,
    /// Which variant of an experiment it is, from 1. Each person gets one of them.
    pub variant: Option<usize>,
    /// What they read, and on what.
    pub said: ReadableText<'r>,
}

/// A tag that a resource gives to someone, outside selectors and actions.
#[derive(Clone, Copy, Debug)]
pub struct TagUse<'r> {
    pub tag: &'r At<String>,
    pub group: Option<&'r At<String>>,
}

impl<'r> Parts<'r> {
    pub fn new(key: &'r At<String>) -> Self {
        Self {
            key,
            audiences: vec![],
            said: vec![],
            each: "message",
            previews: vec![],
            pushes: vec![],
            sendings: vec![],
            triggers: vec![],
            delays: vec![],
            active: (None, None),
            conditions: None,
            tags: vec![],
            properties: vec![],
        }
    }

    /// The resources of the project that it names: the kind of each, and its key where it is named.
    pub fn named(&self) -> Vec<(&'static str, At<String>)> {
        let segments = self.audiences.iter().flat_map(|audience| audience.selector.segments());
        let templates = self.pushes.iter().filter_map(|push| push.template.as_ref());
        let templates = templates.map(|name| (Template::KEY, At::new(name.0.clone(), name.span)));
        segments.map(|key| (Segment::KEY, key)).chain(templates).collect()
    }

    /// The parts of a whole push, and what it says.
    pub fn push(&mut self, push: &'r At<Push>, role: Role) -> ReadableText<'r> {
        let Push { audience, device_types, notification, message, campaigns, template, substitutions: _ } = &push.value;
        self.pushes.push(push);
        self.audiences.push(Audience { selector: audience, devices: Some(device_types), role });
        let said = ReadableText {
            notification: notification.as_ref(),
            message: message.as_ref(),
            devices: Some(device_types),
            variables: None,
            borrowed: template.is_some(),
            campaigns: campaigns.as_ref(),
            rest: None,
        };
        self.said.push(said);
        said
    }
}
