//! The stream of events for webhooks.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::App;
use crate::answer::new_id;

/// An event as a webhook receives it. `processed` is the time when it was written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Event {
    pub id: String,
    pub offset: String,
    pub occurred: String,
    pub processed: String,
    pub device: Value,
    pub body: Value,
    pub r#type: String,
}

/// Returns the key of an event: its offset, written so that keys sort like offsets.
pub fn key(offset: u64) -> String {
    format!("{offset:020}")
}

/// Returns the offset of a key.
pub fn number(key: &str) -> u64 {
    key.parse().unwrap_or(0)
}

/// Formats a time as ISO 8601 in UTC with milliseconds.
pub fn iso(at: Timestamp) -> String {
    jiff::tz::TimeZone::UTC.to_datetime(at).strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

impl App {
    /// Writes an event about a device. Offsets count up and sort as texts.
    pub fn emit(&mut self, kind: &str, number: u32, body: Value, now: Timestamp) {
        if !self.streams {
            return;
        }
        let Some(device) = self.devices.device(number) else { return };
        let id = self.devices.id(number);
        let key_of_id = format!("{}_channel", device.device_type.split("::").next().unwrap_or_default());
        let properties = &device.properties;
        let zone = properties.timezone.as_deref().and_then(|name| jiff::tz::TimeZone::get(name).ok());
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        let attributes = json!({
            "locale_variant": "",
            "app_version": text(&properties.app_version),
            "device_model": text(&properties.model),
            "connection_type": "WIFI",
            "app_package_name": self.key,
            "iana_timezone": text(&properties.timezone),
            "push_opt_in": device.opt_in.to_string(),
            "locale_country_code": text(&properties.country),
            "device_os": text(&properties.os_version),
            "locale_timezone": zone.map_or(0, |zone| zone.to_offset(now).seconds()).to_string(),
            "locale_language_code": text(&properties.language),
            "location_enabled": device.location.to_string(),
            "background_push_enabled": device.background.to_string(),
            "ua_sdk_version": text(&properties.sdk_version),
            "location_permission": if device.location { "ALWAYS_ALLOWED" } else { "NOT_ALLOWED" },
        });
        let device = json!({ key_of_id: id, "attributes": attributes });
        self.write_event(kind, device, body, now);
    }

    /// Writes an event that is not about a device.
    pub fn announce(&mut self, kind: &str, body: Value, now: Timestamp) {
        if self.streams {
            self.write_event(kind, json!({}), body, now);
        }
    }

    fn write_event(&mut self, kind: &str, device: Value, body: Value, now: Timestamp) {
        let offset = key(self.next_offset);
        self.next_offset += 1;
        let event = Event {
            id: new_id(),
            offset: offset.clone(),
            occurred: iso(now),
            processed: iso(now),
            device,
            body,
            r#type: kind.to_owned(),
        };
        self.events.put(&mut self.journal, &offset, event);
        self.drop_events();
    }
}
