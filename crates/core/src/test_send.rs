//! Test sends: one message to one named recipient, now. Pure: the requests before it, the recipients, and the request
//! that sends it.

use std::collections::BTreeSet;

use pushplan_ledger::Ledger;
use pushplan_model::exchange::{Request, part};
use pushplan_model::kinds::{OpenChannel, ReadableText, Resource};
use pushplan_model::node::At;
use pushplan_model::nouns::audience::ChannelKey;
use pushplan_model::nouns::device::{DeviceType, DeviceTypes};
use pushplan_model::nouns::level::Level;
use pushplan_model::nouns::localization::Localizations;
use pushplan_model::nouns::many::{Many, Set};
use pushplan_model::nouns::placeholder::placeholders;
use pushplan_model::nouns::recipient::Recipient;
use pushplan_model::source::Span;
use pushplan_project::look::{Values, filled, said_with};
use serde_json::{Map, Value, json};

/// How a recipient is found before anything is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Search {
    /// With one request; a missing resource means that there is no such recipient.
    Lookup(Request),
    /// By reading every page of a list, because the contract has no request for an open channel by its address.
    Listing(Request),
}

/// A device of the recipient, according to the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecipientDevice {
    pub id: String,
    /// `None` if the service shows no type that a push can name.
    pub kind: Option<DeviceType>,
    /// The address of an open channel.
    pub address: Option<String>,
    pub opted_in: bool,
    pub installed: bool,
}

/// Why a device of the recipient does not get the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    OptedOut,
    Uninstalled,
    /// The message does not go to devices of its type.
    OtherKind,
    /// It is not a channel of the given type.
    NotAsNamed,
    /// The service does not show its type.
    Untold,
}

/// The devices that get it, and those that do not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    pub devices: Vec<RecipientDevice>,
    pub left_out: Vec<(RecipientDevice, Why)>,
}

/// How to find a recipient. A managed open channel has a known id.
pub fn search(recipient: &Recipient, ledger: &Ledger) -> Search {
    let channel = |id: &str| Search::Lookup(Request::get(format!("/api/channels/{}", part(id))));
    match recipient.channel {
        None => Search::Lookup(Request::get(format!("/api/named_users/?id={}", part(&recipient.id)))),
        Some(ChannelKey::Open) => {
            let mut open = ledger.owned.iter().filter(|(address, _)| address.kind == OpenChannel::KEY);
            match open.find(|(_, owned)| owned.spec["address"] == recipient.id) {
                Some((_, owned)) => channel(&owned.id),
                None => Search::Listing(Request::get("/api/channels")),
            }
        }
        Some(_) => channel(&recipient.id),
    }
}

/// The devices of the recipient in the answer to a lookup, or on a page of a list.
pub fn devices(recipient: &Recipient, body: &Value) -> Vec<RecipientDevice> {
    let user = body.get("named_user").unwrap_or(body);
    let listed = user["channels"].as_array().cloned();
    let records = listed.unwrap_or_else(|| vec![body.get("channel").unwrap_or(body).clone()]);
    let is_list = body.get("channels").is_some();
    let mut found: Vec<RecipientDevice> = records.iter().filter_map(RecipientDevice::read).collect();
    if recipient.channel == Some(ChannelKey::Open) && is_list {
        found.retain(|device| device.address.as_ref() == Some(&recipient.id));
    }
    found
}

impl RecipientDevice {
    fn read(record: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let platform = text(&record["open"]["open_platform_name"]).filter(|platform| !platform.is_empty());
        let kind = platform.map(DeviceType::Open).or_else(|| DeviceType::parse(record["device_type"].as_str()?));
        Some(Self {
            id: text(&record["channel_id"])?,
            kind,
            address: text(&record["address"]).or_else(|| text(&record["push_address"])),
            // A field that the service does not show must not block a test.
            opted_in: record["opt_in"].as_bool().unwrap_or(true),
            installed: record["installed"].as_bool().unwrap_or(true),
        })
    }

    /// Why it does not get a message for these device types; for all types if there are none.
    fn objection(&self, recipient: &Recipient, goes_to: Option<&DeviceTypes>) -> Option<Why> {
        let Some(kind) = &self.kind else { return Some(Why::Untold) };
        let is_open = matches!(kind, DeviceType::Open(_));
        let as_named = match recipient.channel {
            None | Some(ChannelKey::Any) => true,
            Some(ChannelKey::Open) => is_open,
            Some(key) => key.device().as_ref() == Some(kind),
        };
        match () {
            () if !as_named => Some(Why::NotAsNamed),
            () if !self.installed => Some(Why::Uninstalled),
            () if !self.opted_in => Some(Why::OptedOut),
            () if goes_to.is_some_and(|goes_to| !goes_to.includes(kind)) => Some(Why::OtherKind),
            () => None,
        }
    }
}

impl Reached {
    /// Separates the devices that get a message from those that do not.
    pub fn of(recipient: &Recipient, found: Vec<RecipientDevice>, goes_to: Option<&DeviceTypes>) -> Self {
        let mut reached = Self::default();
        for device in found {
            match device.objection(recipient, goes_to) {
                None => reached.devices.push(device),
                Some(why) => reached.left_out.push((device, why)),
            }
        }
        reached
    }

    /// The device types to which the message is restricted.
    pub fn types(&self) -> DeviceTypes {
        let kinds: BTreeSet<&DeviceType> = self.devices.iter().filter_map(|device| device.kind.as_ref()).collect();
        DeviceTypes::Some(Set(Many(kinds.into_iter().map(|kind| At::new(kind.clone(), Span::NONE)).collect())))
    }
}

/// The content of the request, without the audience.
pub fn content(said: &ReadableText, values: &Values) -> Map<String, Value> {
    let (notification, message) = said_with(said, values);
    let mut content = Map::new();
    let mut put = |key: &str, value: Value| drop(content.insert(key.to_owned(), value));
    let mut rest = said.rest.cloned().unwrap_or_default();
    rest.map_texts(&|text| filled(text, said.variables, values));
    for (key, value) in rest.0 {
        put(&key.value, value);
    }
    if let Some(notification) = &notification {
        put("notification", json!(notification));
    }
    if let Some(message) = &message {
        put("message", json!(message));
    }
    if !said.localizations.is_empty() {
        let mut localizations = Localizations(said.localizations.to_vec());
        localizations.iter_mut().for_each(|own| own.map_texts(&|text| filled(text, said.variables, values)));
        put("localizations", json!(localizations));
    }
    if let Some(campaigns) = said.campaigns {
        put("campaigns", json!(campaigns));
    }
    content
}

/// The placeholders without a value in any field. The service would not fill them, so recipients would see the braces.
pub fn unfilled(content: &Map<String, Value>) -> Vec<String> {
    fn walk(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::String(text) => {
                let new = placeholders(text).map(|placeholder| placeholder.key.to_owned());
                found.extend(new);
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, found)),
            Value::Object(map) => map.values().for_each(|value| walk(value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    content.values().for_each(|value| walk(value, &mut found));
    let mut seen = BTreeSet::new();
    found.retain(|key| seen.insert(key.clone()));
    found
}

/// The request. It has the content instead of a reference to a template: so exactly the shown content is sent, even if
/// the service has an older version of the template or none.
pub fn request(mut content: Map<String, Value>, recipient: &Recipient, types: &DeviceTypes, level: Level) -> Request {
    let key = match recipient.channel {
        // The contract has no separate key for these.
        Some(ChannelKey::Amazon) if level < Level::Extended => Some(ChannelKey::Any),
        key => key,
    };
    let audience = Recipient { channel: key, id: recipient.id.clone() }.audience();
    content.insert("audience".to_owned(), json!(audience));
    content.insert("device_types".to_owned(), json!(types));
    Request::post("/api/push", &Value::Object(content))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipient(written: &str) -> Recipient {
        Recipient::parse(written).expect("a recipient")
    }

    fn user() -> Value {
        json!({ "ok": true, "named_user": { "named_user_id": "qa-1", "channels": [
            { "channel_id": "i", "device_type": "ios", "opt_in": true, "installed": true },
            { "channel_id": "o", "device_type": "android", "opt_in": false },
            { "channel_id": "w", "device_type": "web", "opt_in": true },
            { "channel_id": "e", "device_type": "open", "open": { "open_platform_name": "email" } },
            { "channel_id": "u", "device_type": "ios", "installed": false },
            { "channel_id": "x", "device_type": "fridge" },
        ]}})
    }

    fn some(kinds: &[DeviceType]) -> DeviceTypes {
        DeviceTypes::Some(Set(Many(kinds.iter().map(|kind| At::new(kind.clone(), Span::NONE)).collect())))
    }

    #[test]
    fn a_device_gets_it_where_nothing_stands_against_that() {
        let to = recipient("named_user:qa-1");
        let found = devices(&to, &user());
        let goes_to = some(&[DeviceType::Ios, DeviceType::Android]);
        let reached = Reached::of(&to, found.clone(), Some(&goes_to));
        assert_eq!(reached.devices.iter().map(|device| &*device.id).collect::<Vec<_>>(), ["i"]);
        let why: Vec<Why> = reached.left_out.iter().map(|(_, why)| *why).collect();
        assert_eq!(why, [Why::OptedOut, Why::OtherKind, Why::OtherKind, Why::Uninstalled, Why::Untold]);
        assert_eq!(json!(reached.types()), json!(["ios"]));
        let everywhere = Reached::of(&to, found, None);
        assert_eq!(json!(everywhere.types()), json!(["ios", "web", "open::email"]));
    }

    #[test]
    fn a_channel_of_another_kind_is_not_the_one_that_was_named() {
        let body = json!({ "channel": { "channel_id": "a", "device_type": "android", "opt_in": true } });
        let whys = |written: &str| {
            let to = recipient(written);
            Reached::of(&to, devices(&to, &body), None).left_out.into_iter().map(|(_, why)| why).collect::<Vec<_>>()
        };
        assert_eq!(whys("ios_channel:a"), [Why::NotAsNamed]);
        assert_eq!(whys("android_channel:a"), []);
        assert_eq!(whys("channel:a"), []);
    }

    #[test]
    fn an_open_channel_is_found_by_its_address() {
        let page = json!({ "channels": [
            { "channel_id": "1", "device_type": "open", "address": "a@x", "open": { "open_platform_name": "email" } },
            { "channel_id": "2", "device_type": "open", "address": "b@x", "open": { "open_platform_name": "email" } },
        ]});
        let to = recipient("open_channel:b@x");
        assert_eq!(search(&to, &Ledger::default()), Search::Listing(Request::get("/api/channels")));
        assert_eq!(devices(&to, &page).into_iter().map(|device| device.id).collect::<Vec<_>>(), ["2"]);
    }

    #[test]
    fn the_request_has_that_one_audience_and_names_it_as_the_contract_does() {
        let sent = |written: &str, level| {
            let content = Map::from_iter([("audience".to_owned(), json!("all")), ("x".to_owned(), json!(1))]);
            let request = request(content, &recipient(written), &some(&[DeviceType::Ios]), level);
            serde_json::from_str::<Value>(&request.body.expect("a body")).expect("JSON")
        };
        let whole = json!({ "audience": { "named_user": "qa-1" }, "device_types": ["ios"], "x": 1 });
        assert_eq!(sent("named_user:qa-1", Level::Documented), whole);
        assert_eq!(sent("amazon_channel:a", Level::Documented)["audience"], json!({ "channel": "a" }));
        assert_eq!(sent("amazon_channel:a", Level::Extended)["audience"], json!({ "amazon_channel": "a" }));
    }

    #[test]
    fn placeholders_are_found_wherever_they_stand_and_named_once() {
        let content =
            json!({ "notification": { "alert": "{{A}} {{B}}", "ios": { "title": "{{ C }}" } }, "message": ["{{A}}"] });
        assert_eq!(unfilled(content.as_object().expect("a map")), ["A", "B", "C"]);
    }
}
