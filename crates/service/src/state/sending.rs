//! Sending: the recipients, the records and the events of a push.

use std::collections::BTreeMap;
use std::ops::Sub;

use jiff::Timestamp;
use pushplan_model::nouns::audience::Selector;
use pushplan_model::nouns::device::{DeviceType, DeviceTypes};
use pushplan_model::nouns::localization::most_specific;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::devices::{Device, Members, Properties};
use super::{App, Due};
use crate::answer::new_id;

/// A push that was sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sent {
    pub time: Timestamp,
    /// Numbers the pushes, so that they have an order even if the clock stands still.
    #[serde(default)]
    pub number: u64,
    pub push_type: PushType,
    /// The schedule, experiment or pipeline that sent it; `None` for a request.
    pub group_id: Option<String>,
    /// The push as sent, including its audience.
    pub push: Value,
    /// Devices by platform.
    pub sends: BTreeMap<String, u64>,
    /// Taps by platform.
    pub direct_responses: BTreeMap<String, u64>,
    /// Devices by variant, counted from 0. Only for an experiment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variants: BTreeMap<usize, u64>,
}

impl Sent {
    /// Returns its place among all pushes, in the order in which they were sent.
    pub fn place(&self) -> (Timestamp, u64) {
        (self.time, self.number)
    }
}

/// Types of push in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PushType {
    BroadcastPush,
    ScheduledPush,
    TagPush,
    UnicastPush,
}

impl PushType {
    /// Returns the type of a push that is sent immediately, by its audience.
    pub fn of(audience: &Selector) -> Self {
        match audience {
            Selector::All => Self::BroadcastPush,
            Selector::Channel(..) | Selector::NamedUser(_) | Selector::Triggered => Self::UnicastPush,
            _ => Self::TagPush,
        }
    }
}

/// A message that a device received.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Receipt {
    pub push_id: String,
    pub device: String,
    pub time: Timestamp,
    /// The experiment and its variant, counted from 0, if it belongs to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<usize>,
    /// The notification as received; `None` if there was only a message.
    pub notification: Option<Value>,
    /// The Message Center message that came with it.
    pub message: Option<Value>,
    pub tapped: Option<Timestamp>,
    /// When the app was next opened, within the time that counts as a response.
    pub opened: Option<Timestamp>,
    pub read: Option<Timestamp>,
    pub deleted: bool,
}

/// The number of sent messages. A push that is sent in parts counts with the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Traffic {
    pub pushes: usize,
    /// Each of them to one device.
    pub sends: usize,
}

impl Sub for Traffic {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self { pushes: self.pushes - before.pushes, sends: self.sends - before.sends }
    }
}

/// A push that is about to be sent.
#[derive(Debug)]
pub struct Outgoing<'p> {
    pub push_type: PushType,
    pub group_id: Option<&'p str>,
    /// The number of the variant, if `group_id` is an experiment.
    pub variant: Option<usize>,
    pub device_types: &'p DeviceTypes,
    /// The push as given, for its record.
    pub push: &'p Value,
}

/// The number of devices that a push is sent to without a pause, and of entries of the queue that are carried out.
pub(super) const PART: usize = 500;

/// The device types that have a Message Center.
const INBOXES: [DeviceType; 3] = [DeviceType::Ios, DeviceType::Android, DeviceType::Amazon];

impl Outgoing<'_> {
    /// Returns the parts that a device receives: the notification and the message. A notification needs a device that
    /// has opted in; a message reaches every installed device that has an inbox.
    fn arriving(&self, device: &Device) -> (Option<&Value>, Option<&Value>) {
        let kind = DeviceType::parse(&device.device_type);
        let Some(kind) = kind.filter(|kind| self.device_types.includes(kind)) else { return (None, None) };
        let localized = self.localized(device);
        let own = |part: &str| localized.and_then(|own| own.get(part)).or_else(|| self.push.get(part));
        let part = |name: &str| own(name).filter(|part| !part.is_null());
        let shown = part("notification").filter(|_| device.is_reachable());
        let kept = part("message").filter(|_| device.installed && INBOXES.contains(&kind));
        (shown, kept)
    }

    /// Returns the content for the locale of a device, if the push has some.
    fn localized(&self, device: &Device) -> Option<&Value> {
        let all = self.push.get("localizations")?.as_array()?;
        let locales = all.iter().map(|own| ["language", "country"].map(|key| own[key].as_str()));
        let Properties { language, country, .. } = &*device.properties;
        all.get(most_specific(locales, [language.as_deref(), country.as_deref()])?)
    }

    /// Whether a device receives any part of it.
    pub fn reaches(&self, device: &Device) -> bool {
        let (shown, kept) = self.arriving(device);
        shown.is_some() || kept.is_some()
    }
}

impl App {
    /// Returns the devices of an audience, by number.
    pub fn members(&self, audience: &Selector, now: Timestamp) -> super::devices::Numbers {
        Members { devices: &self.devices, segments: &self.segments.criteria, now }.of(audience)
    }

    /// Sends a push to those of the given devices that can receive it, and records who did.
    pub fn send(&mut self, out: &Outgoing, to: impl IntoIterator<Item = u32>, now: Timestamp) -> String {
        let push_id = new_id();
        self.send_as(&push_id, out, to, now);
        push_id
    }

    /// Sends a push with a known id to those of the given devices that can receive it. A push can be sent in parts: the
    /// counts add up, and a device that has received it does not receive it again.
    ///
    /// At most [`PART`] of them get it at once, and the others with the entries of the queue, so that a push to many
    /// devices does not keep all other requests waiting.
    pub(crate) fn send_as(&mut self, push_id: &str, out: &Outgoing, to: impl IntoIterator<Item = u32>, now: Timestamp) {
        let to: Vec<u32> = to.into_iter().collect();
        let (first, rest) = to.split_at(to.len().min(PART));
        self.send_part(push_id, out, first, now);
        for part in rest.chunks(PART) {
            let part = Due::Part {
                push_id: push_id.to_owned(),
                push_type: out.push_type,
                group_id: out.group_id.map(str::to_owned),
                variant: out.variant,
                device_types: json!(out.device_types),
                push: out.push.clone(),
                devices: part.iter().map(|number| self.devices.id(*number).to_owned()).collect(),
            };
            self.due.put(&mut self.journal, now, part);
        }
    }

    /// Sends a push to some of its devices.
    pub(super) fn send_part(&mut self, push_id: &str, out: &Outgoing, to: &[u32], now: Timestamp) {
        let before = self.sent.get(push_id);
        let again = before.is_some();
        // Variants share the push, but not its content.
        let is_known =
            before.is_some_and(|sent| out.variant.is_none_or(|variant| sent.variants.contains_key(&variant)));
        let experiment_id = out.variant.and(out.group_id);
        let mut sends: BTreeMap<String, u64> = BTreeMap::new();
        let mut about = json!({ "push_id": push_id });
        if let Some(group) = out.group_id {
            about["group_id"] = group.into();
        }
        if let Some(variant) = out.variant {
            about["experiment_id"] = experiment_id.into();
            about["variant"] = variant.into();
        }
        if !is_known {
            let mut body = about.clone();
            body["payload"] = out.push.clone();
            self.announce("PUSH_BODY", body, now);
        }
        for number in to.iter().copied() {
            let Some(device) = self.devices.device(number) else { continue };
            let (shown, kept) = out.arriving(device);
            let id = self.devices.id(number);
            let key = format!("{id}/{push_id}");
            if (shown.is_none() && kept.is_none()) || (again && self.receipts.get(&key).is_some()) {
                continue;
            }
            *sends.entry(device.device_type.clone()).or_insert(0) += 1;
            let receipt = Receipt {
                push_id: push_id.to_owned(),
                device: id.to_owned(),
                time: now,
                experiment_id: experiment_id.map(str::to_owned),
                variant: out.variant,
                notification: shown.cloned(),
                message: kept.cloned(),
                tapped: None,
                opened: None,
                read: None,
                deleted: false,
            };
            self.receipts.put(&mut self.journal, &key, receipt);
            self.emit("SEND", number, about.clone(), now);
            if kept.is_some() {
                self.emit("RICH_DELIVERY", number, about.clone(), now);
            }
        }
        for (platform, amount) in &sends {
            self.activity.count(&mut self.journal, "sends", platform, now, *amount);
        }
        let total: u64 = sends.values().sum();
        let added = self.sent.change(&mut self.journal, push_id, |sent| {
            for (platform, amount) in &sends {
                *sent.sends.entry(platform.clone()).or_insert(0) += amount;
            }
            if let Some(variant) = out.variant {
                *sent.variants.entry(variant).or_insert(0) += total;
            }
        });
        if added.is_none() {
            let sent = Sent {
                time: now,
                number: self.sent.len() as u64,
                push_type: out.push_type,
                group_id: out.group_id.map(str::to_owned),
                push: out.push.clone(),
                sends,
                direct_responses: BTreeMap::new(),
                variants: out.variant.map(|variant| (variant, total)).into_iter().collect(),
            };
            self.sent.put(&mut self.journal, push_id, sent);
        }
    }
}
