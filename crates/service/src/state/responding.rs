//! Responses of people to messages and their use of the app, and the counts of these.

use std::fmt;

use jiff::{SignedDuration, Timestamp};
use pushplan_model::nouns::device::DeviceType;
use pushplan_model::nouns::notification::{Actions, Effective, INTERACTIVE_TYPES, Interactive, Notification};
use serde_json::{Value, json};

use super::devices::NO_GROUP;
use super::{App, Happening, Receipt};
use crate::answer::new_id;
use crate::request::understood;

/// The time after a notification in which opening the app counts as a response.
const INFLUENCE: SignedDuration = SignedDuration::from_hours(12);

/// Why a device cannot respond to a push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CannotRespond(pub String);

impl fmt::Display for CannotRespond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl App {
    /// Records that the app was opened, for this number of seconds. Does nothing if the app is not installed.
    ///
    /// The first opening within twelve hours after a notification is an influenced response. It counts for all
    /// notifications before it, so that one opening is one response.
    pub fn opened(&mut self, number: u32, now: Timestamp, seconds_in_app: u64) {
        let Some(platform) = self.installed_platform(number) else { return };
        if self.answer_receipts(number, now) {
            self.activity.count(&mut self.journal, "influenced", &platform, now, 1);
        }
        self.answer_spared(number, INFLUENCE, now);
        self.session(number, &platform, now, seconds_in_app, json!({}));
    }

    /// Records a tap on a notification, or on one of its buttons.
    ///
    /// The first tap is a direct response. Each tap performs its actions and opens the app; the service does not see
    /// where `share` and `open` lead.
    pub fn tapped(
        &mut self,
        device: &str,
        push_id: &str,
        button: Option<&str>,
        now: Timestamp,
    ) -> Result<(), CannotRespond> {
        let (number, key) = self.receipt(device, push_id)?;
        let (platform, receipt) = match (self.installed_platform(number), self.receipts.get(&key)) {
            (Some(platform), Some(receipt)) => (platform, receipt),
            _ => return Err(CannotRespond(format!("the app is not installed on `{device}`"))),
        };
        let shown = receipt.notification.as_ref();
        let shown =
            shown.ok_or_else(|| CannotRespond(format!("`{device}` was shown no notification of `{push_id}`")))?;
        let actions = actions(shown, &platform, button)?;
        let first = receipt.tapped.is_none();

        if first {
            self.receipts.change(&mut self.journal, &key, |receipt| receipt.tapped = Some(now));
            self.sent.change(&mut self.journal, push_id, |sent| {
                *sent.direct_responses.entry(platform.clone()).or_insert(0) += 1;
            });
            self.activity.count(&mut self.journal, "direct", &platform, now, 1);
        }
        // A user who comes through one notification has seen the others as well.
        self.answer_receipts(number, now);
        self.answer_spared(number, INFLUENCE, now);
        self.session(number, &platform, now, 0, json!({ "triggering_push": { "push_id": push_id } }));
        let Some(Actions { add_tag, remove_tag, share: _, open: _, app_defined: _ }) = actions else { return Ok(()) };
        self.change_tags(number, now, |tags| {
            let tags = tags.entry(NO_GROUP.to_owned()).or_default();
            tags.extend(add_tag.iter().flatten().map(|tag| tag.value.clone()));
            for tag in remove_tag.iter().flatten() {
                tags.remove(&tag.value);
            }
        });
        Ok(())
    }

    /// Records that a message was read. Reading it again changes nothing.
    pub(crate) fn read_message(&mut self, device: &str, push_id: &str, now: Timestamp) -> Result<(), CannotRespond> {
        let (number, key) = self.message(device, push_id)?;
        let first = self.receipts.get(&key).is_some_and(|receipt| receipt.read.is_none());
        if first {
            self.receipts.change(&mut self.journal, &key, |receipt| receipt.read = Some(now));
            self.emit("RICH_READ", number, json!({ "push_id": push_id }), now);
        }
        Ok(())
    }

    /// Records that a message was deleted. After that, it cannot be read or deleted again.
    pub(crate) fn delete_message(&mut self, device: &str, push_id: &str, now: Timestamp) -> Result<(), CannotRespond> {
        let (number, key) = self.message(device, push_id)?;
        self.receipts.change(&mut self.journal, &key, |receipt| receipt.deleted = true);
        self.emit("RICH_DELETE", number, json!({ "push_id": push_id }), now);
        Ok(())
    }

    /// Records one session in the app.
    fn session(&mut self, number: u32, platform: &str, now: Timestamp, seconds: u64, mut opening: Value) {
        let id = self.devices.id(number).to_owned();
        let Some(device) = self.devices.get(&id) else { return };
        let is_first = device.first_opened.is_none();
        // A user who has changed the opt-in counts for both.
        let (users, last) = match device.opt_in {
            true => ("optins", device.opened_opted_in),
            false => ("optouts", device.opened_opted_out),
        };
        // A file of an earlier version does not contain the opt-in at that time.
        let is_known = device.opened_opted_in.is_some() || device.opened_opted_out.is_some();
        let last = if is_known { last } else { device.last_opened };
        self.activity.count(&mut self.journal, "opens", platform, now, 1);
        self.activity.count_user(&mut self.journal, users, platform, last, now);
        if seconds > 0 {
            self.activity.count(&mut self.journal, "timeinapp", platform, now, seconds);
        }
        self.devices.change(&mut self.journal, &id, |device| {
            device.first_opened.get_or_insert(now);
            device.last_opened = Some(now);
            match device.opt_in {
                true => device.opened_opted_in = Some(now),
                false => device.opened_opted_out = Some(now),
            }
        });
        let session = new_id();
        opening["session_id"] = session.as_str().into();
        self.emit("OPEN", number, opening, now);
        self.set_off(number, Happening::Open, now);
        self.watch_device(number, now);
        if is_first {
            self.first_opened(number, now);
        }
        self.emit("CLOSE", number, json!({ "session_id": session, "seconds_in_app": seconds }), now);
    }

    /// Marks every notification that still waits for a response as opened. Returns whether there was one.
    fn answer_receipts(&mut self, number: u32, now: Timestamp) -> bool {
        let device = self.devices.id(number);
        let prefix = format!("{device}/");
        let own = self.receipts.from(&prefix).take_while(|(key, _)| key.starts_with(&prefix));
        let waiting = own.filter(|(_, receipt)| receipt.device == device && waits(receipt, now));
        let keys: Vec<String> = waiting.map(|(key, _)| key.to_owned()).collect();
        for key in &keys {
            self.receipts.change(&mut self.journal, key, |receipt| receipt.opened = Some(now));
        }
        !keys.is_empty()
    }

    /// Returns the platform of a device that has the app.
    fn installed_platform(&self, number: u32) -> Option<String> {
        let device = self.devices.device(number).filter(|device| device.installed)?;
        Some(device.device_type.clone())
    }

    /// Returns the device's number and the key of its receipt.
    fn receipt(&self, device: &str, push_id: &str) -> Result<(u32, String), CannotRespond> {
        let key = format!("{device}/{push_id}");
        let got = self.receipts.get(&key).filter(|receipt| receipt.device == device && receipt.push_id == push_id);
        match (self.devices.by_id(device), got) {
            (Some(number), Some(_)) => Ok((number, key)),
            _ => Err(CannotRespond(format!("`{device}` did not get the push `{push_id}`"))),
        }
    }

    /// Returns the device's number and the key of its receipt, if the push has a message that is still there.
    fn message(&self, device: &str, push_id: &str) -> Result<(u32, String), CannotRespond> {
        let (number, key) = self.receipt(device, push_id)?;
        match self.receipts.get(&key).is_some_and(|receipt| receipt.message.is_some() && !receipt.deleted) {
            true => Ok((number, key)),
            false => Err(CannotRespond(format!("`{device}` has no message of the push `{push_id}`"))),
        }
    }
}

/// Whether opening the app at this time would be a response to this receipt.
fn waits(receipt: &Receipt, now: Timestamp) -> bool {
    let age = now.duration_since(receipt.time);
    let recent = age >= SignedDuration::ZERO && age <= INFLUENCE;
    recent && receipt.notification.is_some() && receipt.tapped.is_none() && receipt.opened.is_none()
}

/// Returns the actions of a tap on the notification as one platform shows it, or on a button. A built-in button without
/// actions does nothing.
fn actions(notification: &Value, platform: &str, button: Option<&str>) -> Result<Option<Actions>, CannotRespond> {
    let notification: Notification = understood(notification)
        .ok_or_else(|| CannotRespond("the notification is not one that a device understands".to_owned()))?;
    let device = DeviceType::parse(platform);
    let (actions, interactive) = match &device {
        Some(device) => {
            let Effective { actions, interactive, .. } = notification.on(device);
            (actions, interactive)
        }
        None => (notification.actions.as_ref(), notification.interactive.as_ref()),
    };
    let Some(button) = button else { return Ok(actions.cloned()) };
    let web = notification.web.iter().filter(|_| device == Some(DeviceType::Web));
    if let Some(own) = web.flat_map(|web| web.buttons.iter().flatten()).find(|own| *own.id == button) {
        return Ok(own.actions.clone());
    }
    let no_button = || CannotRespond(format!("the notification has no button `{button}`"));
    let Interactive { r#type, button_actions } = interactive.ok_or_else(no_button)?;
    match button_actions.iter().find(|(name, _)| ***name == *button) {
        Some((_, actions)) => Ok(Some(actions.clone())),
        None if INTERACTIVE_TYPES.iter().any(|kind| *kind.name == **r#type && kind.button == button) => Ok(None),
        None => Err(no_button()),
    }
}

#[cfg(test)]
mod tests;
