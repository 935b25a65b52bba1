//! The common parts of resources of different kinds, so that a check treats all audiences and all messages alike.

use jiff::Timestamp;

use crate::node::{At, Rest};
use crate::nouns::audience::Selector;
use crate::nouns::delay::Delay;
use crate::nouns::device::DeviceTypes;
use crate::nouns::localization::Localization;
use crate::nouns::message::Message;
use crate::nouns::notification::Notification;
use crate::nouns::push::{Campaigns, Push};
use crate::nouns::rate::Rate;
use crate::nouns::schedule::{Schedule, When};
use crate::nouns::send_hours::SendHours;
use crate::nouns::split::Split;
use crate::nouns::trigger::Trigger;
use crate::nouns::vocabulary::Group;
use crate::text::one_line;

use super::template::Sample;
use super::{Resource, Segment, Template, Variable};

/// The parts of one resource.
#[derive(Debug)]
pub struct Parts<'r> {
    /// The resource's own key, with its position.
    pub key: &'r At<String>,
    pub audiences: Vec<Audience<'r>>,
    pub said: Vec<ReadableText<'r>>,
    /// The noun for each of several messages: `variant`.
    pub each: &'static str,
    /// The division of the audience among several messages, if a device gets at most one of them.
    pub split: Option<Split>,
    /// The names of several messages, in their order.
    pub names: Vec<Option<&'r At<String>>>,
    /// Sample values for the variables, by the name of the sample.
    pub previews: Vec<(&'r At<String>, &'r Sample)>,
    pub pushes: Vec<&'r At<Push>>,
    pub sendings: Vec<Sending<'r>>,
    /// The triggers, if there are any.
    pub triggers: Vec<&'r Trigger>,
    /// The time between the trigger and each message.
    pub delays: Vec<Delay>,
    /// When it becomes active, and when it becomes inactive.
    pub active: (Option<Timestamp>, Option<Timestamp>),
    /// The hours at which it may send.
    pub hours: Option<&'r At<SendHours>>,
    /// How many messages a device gets at most.
    pub rates: Vec<Rate>,
    /// The events that cancel messages which wait for their delay.
    pub cancelled_by: Vec<&'r Trigger>,
    /// Further conditions of the trigger, which are passed through unchanged.
    pub conditions: Option<&'r Rest>,
    pub tags: Vec<TagUse<'r>>,
    /// Statements about a device, by the group of tags that the service derives from it.
    pub properties: Vec<(&'static Group, &'r At<String>)>,
}

/// A field that decides whether and when a triggered message is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendRule {
    /// Its key: `constraint`.
    pub field: &'static str,
    /// The label of its row in a plan.
    pub label: &'static str,
    /// Its effect: `at most 1 push in 24 hours to one device`.
    pub words: String,
}

/// An audience, with its device types.
#[derive(Clone, Copy, Debug)]
pub struct Audience<'r> {
    pub selector: &'r At<Selector>,
    /// The device types, if they are specified.
    pub devices: Option<&'r At<DeviceTypes>>,
    pub role: Role,
}

/// The purpose of an audience.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The criteria of a segment.
    Criteria,
    /// The recipients of a push.
    Push,
    /// The recipients of a pipeline's messages.
    Pipeline,
    /// A condition on the recipients of a pipeline's messages.
    Condition,
}

/// A text that people read.
#[derive(Clone, Copy, Debug)]
pub struct ReadableText<'r> {
    pub notification: Option<&'r At<Notification>>,
    pub message: Option<&'r At<Message>>,
    /// The content for single languages and countries.
    pub localizations: &'r [At<Localization>],
    pub devices: Option<&'r At<DeviceTypes>>,
    /// The variables that its placeholders may name; `None` if there are none.
    pub variables: Option<&'r [Variable]>,
    /// It was filled in from a template, which is checked separately.
    pub borrowed: bool,
    /// The campaigns that it belongs to, if it can have any.
    pub campaigns: Option<&'r Campaigns>,
    /// Further fields of its push, which are passed through unchanged.
    pub rest: Option<&'r Rest>,
}

impl<'r> ReadableText<'r> {
    /// Returns the own content of each localization.
    pub fn localized(&self) -> impl Iterator<Item = (&'r At<Localization>, Self)> + use<'r> {
        let common = *self;
        common.localizations.iter().map(move |own| {
            let (notification, message) = (own.notification.as_ref(), own.message.as_ref());
            (own, Self { notification, message, localizations: &[], campaigns: None, rest: None, ..common })
        })
    }

    /// Returns the content with its localizations as devices get it: what a localization leaves out is the common
    /// content. The common content comes first, without a locale.
    pub fn on_devices(&self) -> impl Iterator<Item = (Option<&'r At<Localization>>, Self)> + use<'r> {
        let common = *self;
        let localized = common.localized().map(move |(own, said)| {
            let notification = said.notification.or(common.notification);
            let message = said.message.or(common.message);
            (Some(own), Self { notification, message, ..said })
        });
        std::iter::once((None, common)).chain(localized)
    }

    /// Returns every notification of it: the common one, and those of localizations.
    pub fn notifications(&self) -> impl Iterator<Item = &'r At<Notification>> + use<'r> {
        let localized = self.localizations.iter().filter_map(|own| own.notification.as_ref());
        self.notification.into_iter().chain(localized)
    }
}

/// A send time and its audience.
#[derive(Clone, Copy, Debug)]
pub struct Sending<'r> {
    pub schedule: &'r At<Schedule>,
    pub audience: &'r At<Selector>,
    /// The variant of an experiment, counted from 1. Each person gets one of them.
    pub variant: Option<usize>,
    /// The text and its device types.
    pub said: ReadableText<'r>,
}

/// A tag that a resource sets, outside of selectors and actions.
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
            split: None,
            names: vec![],
            previews: vec![],
            pushes: vec![],
            sendings: vec![],
            triggers: vec![],
            delays: vec![],
            active: (None, None),
            hours: None,
            rates: vec![],
            cancelled_by: vec![],
            conditions: None,
            tags: vec![],
            properties: vec![],
        }
    }

    /// The short label of one of several messages, counted from 0: `variant 1`.
    pub fn numbered(&self, at: usize) -> String {
        format!("{} {}", self.each, at + 1)
    }

    /// The label of one of several messages, counted from 0, with its name and share: `variant 1 “short”, to 40 % of the audience`.
    pub fn label(&self, at: usize) -> String {
        let name =
            self.names.get(at).copied().flatten().map(|name| format!(" “{}”", one_line(name))).unwrap_or_default();
        let share = self.split.as_ref().filter(|split| !split.is_even()).and_then(|split| split.share(at));
        let share = share.map(|share| format!(", to {} of the audience", share.percent())).unwrap_or_default();
        format!("{}{name}{share}", self.numbered(at))
    }

    /// Whether all of its messages are sent in recipients' local time. A device without a time zone gets none of them.
    pub fn is_local(&self) -> bool {
        let is_local = |sending: &Sending| matches!(sending.schedule.when, When::EachZone(_));
        !self.sendings.is_empty() && self.sendings.iter().all(is_local)
    }

    /// Returns the project's resources that it names: the kind of each, and its key with its position.
    pub fn named(&self) -> Vec<(&'static str, At<String>)> {
        let segments = self.audiences.iter().flat_map(|audience| audience.selector.segments());
        let templates = self.pushes.iter().filter_map(|push| push.template.as_ref());
        let templates = templates.map(|name| (Template::KEY, At::new(name.0.clone(), name.span)));
        segments.map(|key| (Segment::KEY, key)).chain(templates).collect()
    }

    /// Adds the parts of a whole push, and returns its text.
    pub fn push(&mut self, push: &'r At<Push>, role: Role) -> ReadableText<'r> {
        let Push { audience, device_types, notification, message, localizations, campaigns, .. } = &push.value;
        self.pushes.push(push);
        self.audiences.push(Audience { selector: audience, devices: Some(device_types), role });
        let said = ReadableText {
            notification: notification.as_ref(),
            message: message.as_ref(),
            localizations,
            devices: Some(device_types),
            variables: None,
            borrowed: push.template.is_some(),
            campaigns: campaigns.as_ref(),
            rest: None,
        };
        self.said.push(said);
        said
    }
}
