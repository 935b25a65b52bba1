//! Counts what exists once for each person: named users, members of tag groups, open channels, devices with tags.
//!
//! Such resources have no list of their own. They are found in lists of people and of devices, which are long, so these
//! are read only on request.

use serde_json::{Value, json};

use super::Found;
use crate::exchange::{Request, part};
use crate::nouns::device::DeviceType;
use crate::nouns::vocabulary;

/// A list of people or of devices. Each item can also be requested alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Census {
    path: &'static str,
    /// The key of its items.
    pub listed: &'static str,
    /// The key of an item's own id.
    id: &'static str,
    /// The part before the id in the path that requests one item.
    one: &'static str,
    /// The key of the item in the answer to that request.
    alone: &'static str,
}

impl Census {
    pub(crate) const NAMED_USERS: Self = Self {
        path: "/api/named_users",
        listed: "named_users",
        id: "named_user_id",
        one: "/api/named_users/?id=",
        alone: "named_user",
    };
    pub const CHANNELS: Self =
        Self { path: "/api/channels", listed: "channels", id: "channel_id", one: "/api/channels/", alone: "channel" };

    /// Requests the list.
    pub fn request(&self) -> Request {
        Request::get(self.path)
    }

    /// Requests one item by its id.
    pub fn one(&self, id: &str) -> Request {
        Request::get(format!("{}{}", self.one, part(id)))
    }

    /// Requests an item of the list alone.
    pub fn same(&self, item: &Value) -> Option<Request> {
        item[self.id].as_str().map(|id| self.one(id))
    }

    /// Returns the answer to that request, based on the item of the list.
    pub fn answer(&self, item: &Value) -> Value {
        json!({ self.alone: item })
    }

    /// Returns the list whose items a request asks for one by one.
    pub fn showing(request: &Request) -> Option<Self> {
        [Self::NAMED_USERS, Self::CHANNELS].into_iter().find(|list| request.path.starts_with(list.one))
    }
}

/// Something of a kind in a list of people or devices.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    /// The name of the resource that it belongs to, on the service.
    pub resource: String,
    /// The part of that resource; `None` for the whole resource.
    pub part: Option<String>,
    /// The thing itself.
    pub found: Found,
    /// Why it cannot be managed in git, if so.
    pub left: Option<&'static str>,
}

impl Counted {
    pub fn new(resource: &str, part: Option<String>, id: impl Into<String>, spec: Value) -> Self {
        let found = Found { id: id.into(), name: resource.to_owned(), spec: Some(spec.into()), ..Found::default() };
        Self { resource: resource.to_owned(), part, found, left: None }
    }

    /// Returns something that a manifest cannot declare.
    pub fn left(resource: &str, id: impl Into<String>, why: &'static str) -> Self {
        let found = Found { id: id.into(), name: resource.to_owned(), ..Found::default() };
        Self { resource: resource.to_owned(), part: None, found, left: Some(why) }
    }
}

/// Returns the id of a channel whose app is installed; `None` for anything else.
pub fn installed(item: &Value) -> Option<&str> {
    item["channel_id"].as_str().filter(|_| item["installed"] != false)
}

/// Returns the kind of device of a channel. Records call every open channel `open` and contain its platform separately.
pub fn device_type(channel: &Value) -> Option<DeviceType> {
    let word = channel["device_type"].as_str()?;
    match channel["open"]["open_platform_name"].as_str() {
        Some(platform) if word == "open" => DeviceType::parse(&format!("open::{platform}")),
        _ => DeviceType::parse(word),
    }
}

/// Returns the value that the service derived for a device: the tag of one of its own groups, unless the value is
/// unknown.
pub fn derived<'v>(channel: &'v Value, group: &str) -> Option<&'v str> {
    let tag = channel["tag_groups"][group][0].as_str()?;
    let known = vocabulary::group(group).is_some_and(|group| group.sentinel() != Some(tag));
    known.then_some(tag)
}

/// The texts of a list.
pub fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}
