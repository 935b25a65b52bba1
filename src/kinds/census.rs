//! Counting what there is one of for each person: named users, members of tag groups, open channels, carriers of tags.
//!
//! Such things have no list of their own. They are found in lists of people and of devices, which are long: nobody reads
//! them unasked.

use serde_json::Value;

use super::Found;
use crate::exchange::Request;
use crate::model::device::DeviceType;
use crate::model::vocabulary;

/// A list of people or of devices, and the key of its items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Census {
    pub request: Request,
    pub listed: &'static str,
}

impl Census {
    pub fn named_users() -> Self {
        Self { request: Request::get("/api/named_users"), listed: "named_users" }
    }

    pub fn channels() -> Self {
        Self { request: Request::get("/api/channels"), listed: "channels" }
    }
}

/// Something that a list of people or devices shows of a kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    /// The name of the resource that it belongs to, as the service has it.
    pub resource: String,
    /// What it is of that resource; `None` where it is all of it.
    pub part: Option<String>,
    /// The thing itself.
    pub found: Found,
    /// Why it cannot be kept in git, where that is so.
    pub left: Option<&'static str>,
}

impl Counted {
    pub fn new(resource: &str, part: Option<String>, id: impl Into<String>, spec: Value) -> Self {
        let found = Found { id: id.into(), name: resource.to_owned(), spec: Some(spec), ..Found::default() };
        Self { resource: resource.to_owned(), part, found, left: None }
    }

    /// Something that a manifest has no words for.
    pub fn left(resource: &str, id: impl Into<String>, why: &'static str) -> Self {
        let found = Found { id: id.into(), name: resource.to_owned(), ..Found::default() };
        Self { resource: resource.to_owned(), part: None, found, left: Some(why) }
    }
}

/// The id of a channel whose app is installed; `None` for what is no channel, or no longer one.
pub fn installed(item: &Value) -> Option<&str> {
    item["channel_id"].as_str().filter(|_| item["installed"] != false)
}

/// The kind of device of a channel. Records call every open channel `open` and name its platform beside.
pub fn device_type(channel: &Value) -> Option<DeviceType> {
    let word = channel["device_type"].as_str()?;
    match channel["open"]["open_platform_name"].as_str() {
        Some(platform) if word == "open" => DeviceType::parse(&format!("open::{platform}")),
        _ => DeviceType::parse(word),
    }
}

/// What the service derived for a device: the tag of one of its own groups, where it stands for something known.
pub fn derived<'v>(channel: &'v Value, group: &str) -> Option<&'v str> {
    let tag = channel["tag_groups"][group][0].as_str()?;
    let known = vocabulary::group(group).is_some_and(|group| group.sentinel() != Some(tag));
    known.then_some(tag)
}

/// The texts of a list.
pub fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}
