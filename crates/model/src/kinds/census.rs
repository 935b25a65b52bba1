//! Counting what there is one of for each person: named users, members of tag groups, open channels, carriers of tags.
//!
//! Such things have no list of their own. They are found in lists of people and of devices, which are long: nobody reads
//! them unasked.

use serde_json::{Value, json};

use super::Found;
use crate::exchange::{Request, part};
use crate::nouns::device::DeviceType;
use crate::nouns::vocabulary;

/// A list of people or of devices, of which each can also be asked for alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Census {
    path: &'static str,
    /// The key of its items.
    pub listed: &'static str,
    /// The key of an item's own id.
    id: &'static str,
    /// What stands before the id in the path that asks for one alone.
    one: &'static str,
    /// The key under which the answer to that has it.
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

    /// Asks for the list.
    pub fn request(&self) -> Request {
        Request::get(self.path)
    }

    /// Asks for one alone.
    pub fn one(&self, id: &str) -> Request {
        Request::get(format!("{}{}", self.one, part(id)))
    }

    /// Asks for an item of the list alone.
    pub fn same(&self, item: &Value) -> Option<Request> {
        item[self.id].as_str().map(|id| self.one(id))
    }

    /// The answer to that, by what the list shows.
    pub fn answer(&self, item: &Value) -> Value {
        json!({ self.alone: item })
    }

    /// The list that shows what is asked for alone.
    pub fn showing(request: &Request) -> Option<Self> {
        [Self::NAMED_USERS, Self::CHANNELS].into_iter().find(|list| request.path.starts_with(list.one))
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
        let found = Found { id: id.into(), name: resource.to_owned(), spec: Some(spec.into()), ..Found::default() };
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
