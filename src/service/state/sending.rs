//! Sending: who gets it, what is remembered of it, what it sets off.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::App;
use super::devices::Members;
use crate::model::audience::Selector;
use crate::model::device::DeviceTypes;
use crate::service::answer::new_id;

/// A push that went out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sent {
    pub time: Timestamp,
    pub push_type: PushType,
    /// What sent it, where that was not a request: a schedule, an experiment, a pipeline.
    pub group_id: Option<String>,
    /// The push as it was sent, audience and all.
    pub push: Value,
    /// Devices by platform.
    pub sends: BTreeMap<String, u64>,
    /// Taps by platform.
    pub direct_responses: BTreeMap<String, u64>,
}

/// Kinds of push in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PushType {
    BroadcastPush,
    ScheduledPush,
    TagPush,
    UnicastPush,
}

impl PushType {
    /// The kind that an audience makes of a push that is sent at once.
    pub fn of(audience: &Selector) -> Self {
        match audience {
            Selector::All => Self::BroadcastPush,
            Selector::Channel(..) | Selector::NamedUser(_) | Selector::Triggered => Self::UnicastPush,
            _ => Self::TagPush,
        }
    }
}

/// What a device got.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Receipt {
    pub push_id: String,
    pub device: String,
    pub time: Timestamp,
    /// The notification as it arrived; nothing for a message alone.
    pub notification: Option<Value>,
    /// The Message Center message that came with it.
    pub message: Option<Value>,
    pub tapped: Option<Timestamp>,
    pub read: Option<Timestamp>,
    pub deleted: bool,
}

/// A push that is about to go out.
#[derive(Debug)]
pub struct Outgoing<'p> {
    pub push_type: PushType,
    pub group_id: Option<&'p str>,
    pub device_types: &'p DeviceTypes,
    /// The push as it was given, for the record.
    pub push: &'p Value,
}

impl App {
    /// The devices of an audience, by number.
    pub fn members(&self, audience: &Selector, now: Timestamp) -> super::devices::Numbers {
        Members { devices: &self.devices, segments: &self.segments.criteria, now }.of(audience)
    }

    /// Sends to those of the given devices that can get it, and remembers who did. A notification needs a device that has
    /// opted in; a message reaches every installed one.
    pub fn send(&mut self, out: &Outgoing, to: impl IntoIterator<Item = u32>, now: Timestamp) -> String {
        let push_id = new_id();
        let notification = out.push.get("notification");
        let message = out.push.get("message");
        let mut sends = BTreeMap::new();
        let mut about = json!({ "push_id": push_id });
        if let Some(group) = out.group_id {
            about["group_id"] = group.into();
        }
        let mut body = about.clone();
        body["payload"] = out.push.clone();
        self.announce("PUSH_BODY", body, now);
        for number in to {
            let Some(device) = self.devices.device(number) else { continue };
            let shown = notification.filter(|_| device.is_reachable());
            let kept = message.filter(|_| device.installed);
            let wanted = match crate::model::device::DeviceType::parse(&device.device_type) {
                Some(kind) => out.device_types.includes(&kind),
                None => false,
            };
            if !wanted || (shown.is_none() && kept.is_none()) {
                continue;
            }
            let id = self.devices.id(number).to_owned();
            let platform = device.device_type.clone();
            let receipt = Receipt {
                push_id: push_id.clone(),
                device: id.clone(),
                time: now,
                notification: shown.cloned(),
                message: kept.cloned(),
                tapped: None,
                read: None,
                deleted: false,
            };
            *sends.entry(platform.clone()).or_insert(0) += 1;
            let has_message = receipt.message.is_some();
            self.receipts.put(&mut self.journal, &format!("{id}/{push_id}"), receipt);
            self.activity.count(&mut self.journal, "sends", &platform, now, 1);
            self.emit("SEND", number, about.clone(), now);
            if has_message {
                self.emit("RICH_DELIVERY", number, about.clone(), now);
            }
        }
        let sent = Sent {
            time: now,
            push_type: out.push_type,
            group_id: out.group_id.map(str::to_owned),
            push: out.push.clone(),
            sends,
            direct_responses: BTreeMap::new(),
        };
        self.sent.put(&mut self.journal, &push_id, sent);
        push_id
    }
}
