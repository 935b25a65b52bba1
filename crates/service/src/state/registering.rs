//! Registers, changes and removes devices.

use jiff::Timestamp;
use serde_json::json;

use super::devices::{Device, NO_GROUP};
use super::tagging::beyond;
use super::{App, Happening};
use crate::answer::new_id;

/// A registering open channel. Omitted values stay unchanged.
#[derive(Clone, Debug, Default)]
pub struct OpenChannel {
    pub platform: String,
    pub address: String,
    pub opt_in: bool,
    pub tags: Option<Vec<String>>,
    pub identifiers: Option<Vec<(String, String)>>,
    pub timezone: Option<String>,
    pub country: Option<String>,
    pub language: Option<String>,
}

impl App {
    /// Adds a device, or replaces the one with this id, and emits events for the changes: tags, opt-in, removal. The
    /// device keeps the time of its first registration.
    pub fn register(&mut self, id: &str, mut device: Device, now: Timestamp) -> u32 {
        let old = self.devices.get(id).cloned();
        device.tags.retain(|_, tags| !tags.is_empty());
        device.modified = now;
        match &old {
            Some(old) => {
                device.created = old.created;
                device.comes_after(old, now);
            }
            None if device.created == Timestamp::default() => device.created = now,
            None => {}
        }
        let before = old.clone().unwrap_or_default();
        if before.named_user != device.named_user {
            for changed in [&before.named_user, &device.named_user].into_iter().flatten() {
                self.touch_user(changed, now);
            }
        }
        let of_user = |device: &Device, group: &str, tag: &str| {
            device.named_user.as_ref().is_some_and(|user| self.devices.user_has_tag(user, group, tag))
        };
        let added = beyond(&device.tags, &before.tags, |group, tag| of_user(&before, group, tag));
        let removed = beyond(&before.tags, &device.tags, |group, tag| of_user(&device, group, tag));
        let opted_in_before = before.has_opted_in || before.opt_in;
        let is_first = device.opt_in && !opted_in_before;
        device.has_opted_in = device.opt_in || opted_in_before;
        let change = match (before.opt_in, device.opt_in) {
            (false, true) => Some("optins"),
            (true, false) => Some("optouts"),
            _ => None,
        };
        let gone = before.installed && !device.installed;
        if let Some(change) = change {
            self.activity.count(&mut self.journal, change, &device.device_type, now, 1);
        }
        self.devices.put(&mut self.journal, id, device);
        let number = self.devices.by_id(id).expect("just put there");
        self.tags_changed(number, &added, &removed, now);
        if is_first {
            self.set_off(number, Happening::FirstOptIn, now);
        }
        // An app that is installed again has not been opened yet.
        if !before.installed {
            self.watch_device(number, now);
        }
        if gone {
            self.emit("UNINSTALL", number, json!({}), now);
        }
        number
    }

    /// Removes a device from every audience. It remains known. Does nothing if it is uninstalled already.
    pub fn uninstall(&mut self, number: u32, now: Timestamp) {
        if !self.devices.installed().contains(&number) {
            return;
        }
        let id = self.devices.id(number).to_owned();
        self.devices.change(&mut self.journal, &id, |device| {
            let old = device.clone();
            device.installed = false;
            device.comes_after(&old, now);
        });
        self.emit("UNINSTALL", number, json!({}), now);
    }

    /// Returns the open channel with an address on a platform.
    pub fn open_channel(&self, platform: &str, address: &str) -> Option<u32> {
        let of_platform = |number: &&u32| {
            let kind = self.devices.device(**number).and_then(|device| device.device_type.strip_prefix("open::"));
            kind == Some(platform)
        };
        self.devices.at_address(address)?.iter().find(of_platform).copied()
    }

    /// Adds an open channel, or changes the one with this address on this platform.
    pub(crate) fn register_open(&mut self, sent: OpenChannel, now: Timestamp) -> String {
        let known = self.open_channel(&sent.platform, &sent.address);
        let id = known.map_or_else(new_id, |number| self.devices.id(number).to_owned());
        let mut device = known.and_then(|number| self.devices.device(number)).cloned().unwrap_or_default();
        device.device_type = format!("open::{}", sent.platform);
        device.installed = true;
        device.opt_in = sent.opt_in;
        device.push_address = Some(sent.address.clone());
        device.address = Some(sent.address);
        if let Some(tags) = sent.tags {
            device.tags.insert(NO_GROUP.to_owned(), tags.into_iter().collect());
        }
        if let Some(identifiers) = sent.identifiers {
            device.identifiers = identifiers.into_iter().collect();
        }
        let properties = &mut device.properties;
        properties.timezone = sent.timezone.or(properties.timezone.take());
        properties.country = sent.country.or(properties.country.take());
        properties.language = sent.language.or(properties.language.take());
        self.register(&id, device, now);
        id
    }
}
