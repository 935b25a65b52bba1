//! The messages of single devices before and after, in the JSON form.

use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::Serialize;

use crate::plan::{LockScreen, MessagePeople, Plan, ReplayedDevice};

/// What single devices receive before and after, replayed through the built-in service.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanPeople {
    /// The start of the replayed time.
    pub from: String,
    /// The end of the replayed time, 30 days later.
    pub until: String,
    /// The number of further messages with changed recipients, which were not replayed.
    pub left_out: usize,
}

/// The devices of one message.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PeopleOfMessage {
    /// Up to three: one that joins, one that leaves, one that stays excluded.
    pub devices: Vec<PersonOfMessage>,
    /// Why there is no device, or why a side has no messages of this sender. Null otherwise.
    pub note: Option<String>,
}

/// A device and its messages.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PersonOfMessage {
    /// joins, leaves or excluded.
    pub part: &'static str,
    /// The device in words.
    pub words: String,
    /// The device type, such as ios.
    pub device_type: String,
    /// Its time zone.
    pub zone: String,
    /// Its messages before the plan, the oldest first.
    pub before: Vec<ReceivedMessage>,
    /// Its messages after the plan, the oldest first.
    pub after: Vec<ReceivedMessage>,
}

/// A message as it is shown on a device.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReceivedMessage {
    /// When it arrives.
    pub at: String,
    /// The local time of the device.
    pub local_time: String,
    /// The address of its sender.
    pub from: String,
    /// The title, if the device shows one.
    pub title: Option<String>,
    /// The visible part of the text. Null for a message that is only in the Message Center.
    pub alert: Option<String>,
    /// The title of the Message Center message that comes with it.
    pub message: Option<String>,
}

impl PlanPeople {
    pub fn of(plan: &Plan) -> Option<Self> {
        let people = plan.told.people.as_ref()?;
        Some(Self { from: people.from.to_string(), until: people.until.to_string(), left_out: people.left_out })
    }
}

impl PeopleOfMessage {
    /// The devices of the message that an address sends; `None` if none were replayed.
    pub fn of(plan: &Plan, sender: &str) -> Option<Self> {
        let people = plan.told.people.as_ref()?;
        let MessagePeople { devices, note, .. } = people.of.iter().find(|one| one.address.to_string() == sender)?;
        Some(Self { devices: devices.iter().map(PersonOfMessage::new).collect(), note: note.clone() })
    }
}

impl PersonOfMessage {
    fn new(device: &ReplayedDevice) -> Self {
        let ReplayedDevice { part, words, device_type, zone, before, after } = device;
        let clock = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
        let screens = |all: &[LockScreen]| all.iter().map(|one| ReceivedMessage::new(one, &clock)).collect();
        Self {
            part: part.word(),
            words: words.clone(),
            device_type: device_type.clone(),
            zone: zone.clone(),
            before: screens(before),
            after: screens(after),
        }
    }
}

impl ReceivedMessage {
    fn new(screen: &LockScreen, clock: &TimeZone) -> Self {
        let LockScreen { at, from, title, alert, message } = screen;
        Self {
            at: at.to_string(),
            local_time: clock.to_datetime(*at).strftime("%Y-%m-%dT%H:%M:%S").to_string(),
            from: from.clone(),
            title: title.clone(),
            alert: alert.clone(),
            message: message.clone(),
        }
    }
}
