//! A device as people write it: in requests to the control API, and in files.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::anyhow;
use jiff::Timestamp;
use jiff::civil::DateTime;
use pushplan_model::codes;
use pushplan_model::finding::Finding;
use pushplan_model::node::{At, Decode, Fields, Node, Reader, Tree};
use pushplan_model::nouns::device::DeviceType;
use pushplan_model::nouns::many::Many;
use pushplan_model::nouns::tagged::group_of;
use pushplan_model::nouns::vocabulary;
use serde_json::{Value, json};

use crate::answer::Refusal;
use crate::state::devices::{Device, NO_GROUP, Properties};

/// The value of one field: missing, `null`, or a value.
type Given<T> = Option<Option<T>>;

type Texts = Many<At<String>>;
type Map<T> = BTreeMap<At<String>, T>;

/// The fields of a device that were given. They create a device, or change an existing one.
#[derive(Debug)]
pub struct Form {
    /// Only in files, where there is no path.
    pub id: Option<At<String>>,
    device_type: Given<DeviceType>,
    opt_in: Given<bool>,
    background: Given<bool>,
    location: Given<bool>,
    push_address: Given<String>,
    named_user: Given<Name>,
    tags: Given<Tags>,
    properties: Given<ChangedProperties>,
    address: Given<String>,
    identifiers: Given<Map<Option<String>>>,
    lists: Given<Texts>,
    subscriptions: Given<Texts>,
    attributes: Given<Map<Option<Value>>>,
    seen_at: Given<Map<Option<Time>>>,
}

const KEYS: &[&str] = &[
    "id",
    "device_type",
    "opt_in",
    "background",
    "location",
    "push_address",
    "named_user",
    "tags",
    "properties",
    "address",
    "identifiers",
    "lists",
    "subscriptions",
    "attributes",
    "seen_at",
];

const PROPERTIES: &[&str] = &["language", "country", "timezone", "app_version", "sdk_version", "os_version", "model"];

/// Returns the fields in the order of [`PROPERTIES`].
fn properties(all: &mut Properties) -> [&mut Option<String>; 7] {
    let Properties { language, country, timezone, app_version, sdk_version, os_version, model } = all;
    [language, country, timezone, app_version, sdk_version, os_version, model]
}

impl Decode for Form {
    const WHAT: &'static str = "a device with device_type, opt_in, tags, properties and so on";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let fields = Fields::of(node, Self::WHAT, reader)?;
        fields.close(KEYS, reader);
        Some(Self {
            id: fields.take("id", reader)?,
            device_type: given(&fields, "device_type", reader)?,
            opt_in: given(&fields, "opt_in", reader)?,
            background: given(&fields, "background", reader)?,
            location: given(&fields, "location", reader)?,
            push_address: given(&fields, "push_address", reader)?,
            named_user: given(&fields, "named_user", reader)?,
            tags: given(&fields, "tags", reader)?,
            properties: given(&fields, "properties", reader)?,
            address: given(&fields, "address", reader)?,
            identifiers: given(&fields, "identifiers", reader)?,
            lists: given(&fields, "lists", reader)?,
            subscriptions: given(&fields, "subscriptions", reader)?,
            attributes: given(&fields, "attributes", reader)?,
            seen_at: given(&fields, "seen_at", reader)?,
        })
    }
}

/// Reads the value of a key. The outer `None` means that a problem was reported.
fn given<T: Decode>(fields: &Fields, name: &str, reader: &mut Reader) -> Option<Given<T>> {
    match fields.entry(name) {
        Some(entry) => reader.value::<Option<T>>(entry).map(Some),
        None => Some(None),
    }
}

/// A moment, such as `2026-11-27T09:00:00Z`.
#[derive(Clone, Copy, Debug)]
pub struct Time(pub Timestamp);

impl Decode for Time {
    const WHAT: &'static str = "a time such as 2026-11-27T09:00:00Z";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let text = reader.text(node)?;
        let read = time(text).map_err(|why| reader.report(wrong(node, why.to_string(), Self::WHAT)));
        read.ok().map(Self)
    }
}

/// Parses a moment. The error says why it is not one.
pub fn time(text: &str) -> anyhow::Result<Timestamp> {
    text.parse().map_err(|_| match text.parse::<DateTime>() {
        Ok(_) => {
            anyhow!("`{text}` does not say in which time zone: write {text}Z for UTC, or an offset such as +01:00")
        }
        Err(_) => anyhow!("`{text}` is not a time such as 2026-11-27T09:00:00Z"),
    })
}

/// The id of a named user.
#[derive(Debug)]
struct Name(String);

impl Decode for Name {
    const WHAT: &'static str = "1 to 128 characters without white space at their ends";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let text = reader.text(node)?;
        let fits = (1..=128).contains(&text.chars().count()) && text.trim() == text;
        if !fits {
            reader.report(wrong(node, format!("`{text}` cannot be the id of a named user"), Self::WHAT));
        }
        fits.then(|| Self(text.to_owned()))
    }
}

/// A tag.
#[derive(Debug)]
struct Label(String);

impl Decode for Label {
    const WHAT: &'static str = "a tag of 1 to 128 characters";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let text = reader.text(node)?;
        let fits = (1..=128).contains(&text.chars().count());
        if !fits {
            reader.report(wrong(node, "a tag has 1 to 128 characters".to_owned(), Self::WHAT));
        }
        fits.then(|| Self(text.to_owned()))
    }
}

/// Tags by group, or a list of tags without a group. `null` removes all tags of a group.
#[derive(Debug)]
struct Tags(BTreeMap<String, BTreeSet<String>>);

impl Decode for Tags {
    const WHAT: &'static str = "a list of tags, or tags by group such as {loyalty: [gold]}";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let texts = |labels: Vec<Label>| labels.into_iter().map(|label| label.0).collect::<BTreeSet<String>>();
        match &node.tree {
            Tree::List(_) => {
                Vec::decode(node, reader).map(|labels| Self([(NO_GROUP.to_owned(), texts(labels))].into()))
            }
            Tree::Map(_) => {
                let groups = Map::<Option<Many<Label>>>::decode(node, reader)?;
                let own = groups.keys().find(|group| group.starts_with("ua_") || vocabulary::group(group).is_some());
                if let Some(group) = own {
                    let finding = Finding::new(
                        &codes::YM206,
                        group.span,
                        format!("the tags of `{group}` are derived from the device's properties"),
                    );
                    reader.report(finding.help("give `properties`, `opt_in`, `background` or `location` instead"));
                    return None;
                }
                let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
                for (group, tags) in groups {
                    let group = group_of(Some(&group)).unwrap_or(NO_GROUP).to_owned();
                    all.entry(group).or_default().extend(texts(tags.unwrap_or_default().0));
                }
                Some(Self(all))
            }
            Tree::Scalar(_) => {
                reader.unexpected(node, Self::WHAT);
                None
            }
        }
    }
}

/// Properties by their index in [`PROPERTIES`].
#[derive(Debug)]
struct ChangedProperties(BTreeMap<usize, Option<String>>);

impl Decode for ChangedProperties {
    const WHAT: &'static str = "properties such as {language: en, country: US}";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let fields = Fields::of(node, Self::WHAT, reader)?;
        fields.close(PROPERTIES, reader);
        let mut read = BTreeMap::new();
        for (place, name) in PROPERTIES.iter().enumerate() {
            if let Some(value) = given(&fields, name, reader)? {
                read.insert(place, value);
            }
        }
        Some(Self(read))
    }
}

fn wrong(node: &Node, message: String, expected: &str) -> Finding {
    Finding::new(&codes::YM206, node.span, message).help(format!("expected {expected}"))
}

impl Form {
    /// Returns a new device. It shows notifications unless the form says otherwise.
    pub fn device(self) -> Result<Device, Refusal> {
        if !matches!(self.device_type, Some(Some(_))) {
            return Err(Refusal::invalid(format!("`device_type` is missing: {}", DeviceType::WHAT)));
        }
        let mut device = Device { installed: true, opt_in: true, background: true, ..Device::default() };
        self.change(&mut device)?;
        Ok(device)
    }

    /// Changes the given fields. In maps, only the given entries change; `null` removes an entry.
    pub fn change(self, device: &mut Device) -> Result<(), Refusal> {
        let missing = |name: &str| Refusal::invalid(format!("`{name}` cannot be null"));
        if let Some(kind) = self.device_type {
            device.device_type = kind.ok_or_else(|| missing("device_type"))?.to_string();
        }
        for (name, given, flag) in [
            ("opt_in", self.opt_in, &mut device.opt_in),
            ("background", self.background, &mut device.background),
            ("location", self.location, &mut device.location),
        ] {
            if let Some(value) = given {
                *flag = value.ok_or_else(|| missing(name))?;
            }
        }
        if let Some(address) = self.push_address {
            device.push_address = address;
        }
        if let Some(user) = self.named_user {
            device.named_user = user.map(|name| name.0);
        }
        match self.tags {
            None => {}
            Some(None) => device.tags.clear(),
            Some(Some(Tags(groups))) => {
                device.tags.extend(groups);
                device.tags.retain(|_, tags| !tags.is_empty());
            }
        }
        match self.properties {
            None => {}
            Some(None) => device.properties = Properties::default().into(),
            Some(Some(given)) => {
                for (place, own) in properties(&mut device.properties).into_iter().enumerate() {
                    if let Some(value) = given.0.get(&place) {
                        own.clone_from(value);
                    }
                }
            }
        }
        if let Some(address) = self.address {
            device.address = address;
        }
        merge(&mut device.identifiers, self.identifiers, |value| value);
        merge(&mut device.attributes, self.attributes, |value| value);
        merge(&mut device.seen_at, self.seen_at, |time| time.map(|time| time.0));
        for (given, list) in [(self.lists, &mut device.lists), (self.subscriptions, &mut device.subscriptions)] {
            if let Some(names) = given {
                *list = names.unwrap_or_default().0.into_iter().map(|name| name.value).collect();
            }
        }
        Ok(())
    }
}

/// Adds the given entries to a map, and removes those without a value.
fn merge<T, V>(into: &mut BTreeMap<String, V>, given: Given<Map<T>>, value: impl Fn(T) -> Option<V>) {
    let Some(entries) = given else { return };
    let Some(entries) = entries else { return into.clear() };
    for (key, one) in entries {
        match value(one) {
            Some(one) => into.insert(key.value, one),
            None => into.remove(&key.value),
        };
    }
}

/// Checks the id of a device. It is used in paths, so it contains nothing that would have to be escaped there.
pub(crate) fn check_id(id: &str) -> Result<(), Refusal> {
    let fits = (1..=128).contains(&id.chars().count())
        && !id.chars().any(|c| c.is_whitespace() || c.is_control() || matches!(c, '/' | '?' | '#' | '%'));
    if fits {
        return Ok(());
    }
    Err(Refusal::invalid("the id of a device has 1 to 128 characters, none of them white space, `/`, `?`, `#` or `%`"))
}

/// Returns a device in the form in which it can be given again.
pub fn write(id: &str, device: &Device) -> Value {
    let mut properties = device.properties.clone();
    let known = PROPERTIES.iter().zip(self::properties(&mut properties));
    let known: serde_json::Map<String, Value> =
        known.filter_map(|(name, value)| Some(((*name).to_owned(), value.take()?.into()))).collect();
    json!({
        "id": id,
        "device_type": device.device_type,
        "opt_in": device.opt_in,
        "background": device.background,
        "location": device.location,
        "push_address": device.push_address,
        "named_user": device.named_user,
        "tags": device.tags,
        "properties": known,
        "address": device.address,
        "identifiers": device.identifiers,
        "lists": device.lists,
        "subscriptions": device.subscriptions,
        "attributes": device.attributes,
        "seen_at": device.seen_at,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::understood;

    fn form(value: &Value) -> Form {
        understood(value).expect("a form")
    }

    #[test]
    fn a_device_that_was_written_is_read_again_as_it_was() {
        let given = json!({
            "id": "a", "device_type": "open::sms", "opt_in": false, "background": false, "location": true,
            "push_address": "x", "named_user": "ada", "tags": {"": ["vip"], "loyalty": ["gold"]},
            "properties": {
                "language": "en", "country": "US", "timezone": "Europe/Paris", "app_version": "1.2",
                "sdk_version": "6.1.0", "os_version": "8.3", "model": "iPhone7,2"
            },
            "address": "+49", "identifiers": {"k": "v"}, "lists": ["l"], "subscriptions": ["s"],
            "attributes": {"points": 5, "name": "x"}, "seen_at": {"berlin": "2026-11-01T00:00:00Z"}
        });
        let device = form(&given).device().unwrap();
        assert_eq!(write("a", &device), given);
        let keys: Vec<&str> = KEYS.to_vec();
        let mut written: Vec<&str> = given.as_object().unwrap().keys().map(String::as_str).collect();
        written.sort_by_key(|key| keys.iter().position(|known| known == key));
        assert_eq!(written, keys);
    }

    #[test]
    fn a_change_leaves_alone_what_it_does_not_name() {
        let given = json!({
            "device_type": "ios", "push_address": "x", "tags": {"a": ["1"], "b": ["2"]},
            "properties": {"language": "en", "country": "US"}, "attributes": {"x": 1, "y": 2}
        });
        let mut device = form(&given).device().unwrap();
        let change = json!({
            "tags": {"a": null, "c": ["3"]}, "properties": {"country": null}, "attributes": {"x": null},
            "push_address": null, "opt_in": false
        });
        form(&change).change(&mut device).unwrap();
        let after = write("a", &device);
        assert_eq!(after["tags"], json!({"b": ["2"], "c": ["3"]}));
        assert_eq!(after["properties"], json!({"language": "en"}));
        assert_eq!(after["attributes"], json!({"y": 2}));
        assert_eq!(after["push_address"], Value::Null);
        assert_eq!((after["device_type"].as_str(), after["opt_in"].as_bool()), (Some("ios"), Some(false)));
    }
}
