use serde_json::{Value, json};

use super::census::{device_type, installed};
use super::remote::{Belonging, ChannelId, Found, Lifecycle, Read, text};
use super::{Census, Counted, Create, Delete, Identity, Parts, Remote, Resource, Update};
use crate::exchange::{Answer, BadAnswer, Request};
use crate::nouns::audience::ChannelKey;
use crate::nouns::device::DeviceType;
use crate::nouns::level::Level;
use crate::node::{At, Name, Shared, shape};

shape! {
    /// A person with several channels. A push to the named user reaches each of them.
    pub struct NamedUser as "a named user" {
        /// The id, 1 to 128 characters [default: the key].
        named_user_id: Option<At<String>>,
        /// Its channels.
        channels: At<Vec<UserChannel>>,
    }
}

shape! {
    /// A channel of a named user.
    pub struct UserChannel as "a channel with channel_id and device_type" {
        /// The id of the channel.
        channel_id: At<Name>,
        /// The device type.
        device_type: At<DeviceType>,
    }
}

impl Resource for NamedUser {
    const KEY: &'static str = "named_users";
    const NOUN: &'static str = "named user";
    const PURPOSE: &'static str = "A person with several channels, addressed as one.";

    fn settle(&mut self, key: &At<String>) {
        self.named_user_id.get_or_insert_with(|| key.clone());
        // Channels are a set: their order has no meaning.
        self.channels.value.sort_by(|a, b| a.channel_id.cmp(&b.channel_id));
    }

    fn identity(&self) -> Option<Identity> {
        self.named_user_id.as_ref().map(|id| Identity { name: id.value.clone(), at: id.span })
    }

    /// A channel that is assigned to a user is removed from its previous one.
    fn held(&self) -> Vec<(&'static str, &At<Name>)> {
        self.channels.iter().map(|channel| ("channel", &channel.channel_id)).collect()
    }

    fn parts<'r>(&'r self, _: &mut Parts<'r>) {}
}

/// Each channel is applied separately: associating one does not affect the others.
impl Remote for NamedUser {
    const NAME: &'static str = "named_user_id";

    fn lifecycle(_: Level) -> Lifecycle {
        Lifecycle { read: Read::LookedUp, create: Create::Upsert, update: Update::InPlace, delete: Delete::Anytime }
    }

    fn units(&self, key: &str) -> Vec<(String, Shared)> {
        let unit = |channel: &UserChannel| {
            let spec = json!({
                "named_user_id": self.named_user_id,
                "channel_id": channel.channel_id,
                "device_type": channel.device_type,
            });
            (format!("{key}/{}", channel.channel_id), Shared::of(&spec))
        };
        self.channels.iter().map(unit).collect()
    }

    fn whole(units: &[&Value]) -> Value {
        let Some(user) = units.first().map(|unit| text(&unit["named_user_id"])) else { return Value::Null };
        let channel =
            |unit: &&Value| json!({ "channel_id": unit["channel_id"], "device_type": unit["device_type"] });
        json!({ "named_user_id": user, "channels": units.iter().map(channel).collect::<Vec<_>>() })
    }

    fn census() -> Vec<Census> {
        vec![Census::NAMED_USERS]
    }

    /// A named user without channels exists only for its tags, which belong to tag groups.
    fn counted(item: &Value) -> Vec<Counted> {
        let Some(user) = item["named_user_id"].as_str() else { return Vec::new() };
        let Some(channels) = item["channels"].as_array() else {
            return vec![Counted::left(user, user, "the service lists it without its channels")];
        };
        let unit = |(channel, id): (&Value, &str)| match device_type(channel) {
            Some(device_type) => {
                let spec = json!({ "named_user_id": user, "channel_id": id, "device_type": device_type });
                Counted::new(user, Some(id.to_owned()), id, spec)
            }
            None => Counted::left(user, id, "one of its channels has an unknown device type"),
        };
        let there = channels.iter().filter_map(|channel| Some((channel, installed(channel)?)));
        there.map(unit).collect()
    }

    fn get(_: &str, spec: &Value, _: Level) -> Option<Request> {
        spec["named_user_id"].as_str().map(|id| Census::NAMED_USERS.one(id))
    }

    fn got(id: &str, known: &Value, body: &Value) -> Result<Option<Found>, BadAnswer> {
        let user = body.get("named_user").unwrap_or(body);
        let channels = user["channels"].as_array().ok_or("the answer has no channels of the named user")?;
        let Some(channel) = channels.iter().find(|channel| channel["channel_id"] == known["channel_id"]) else {
            return Ok(None);
        };
        let mut spec = known.clone();
        // Not every record of an open channel contains the platform.
        if let Some(device_type) = device_type(channel) {
            spec["device_type"] = device_type.to_string().into();
        }
        Ok(Some(Found { id: id.to_owned(), name: text(&known["named_user_id"]), stamp: None, spec: Some(spec.into()), ..Found::default() }))
    }

    fn own_id(spec: &Value) -> Option<String> {
        Some(text(&spec["channel_id"]))
    }

    const POSTED_TO: Option<&'static str> = Some("/api/named_users/associate");

    fn created(spec: &Shared, _: &Answer) -> Option<String> {
        Self::own_id(spec)
    }

    fn update(_: &str, _: &Value, new: &Value, _: Level) -> Option<Request> {
        Some(Self::create(new))
    }

    fn delete(_: &str, old: &Value, _: Level) -> Option<Request> {
        Some(Request::post("/api/named_users/disassociate", old))
    }

    fn belonging(old: Option<&Shared>, new: Option<&Shared>) -> Option<Belonging> {
        let (gains, spec) = match (old, new) {
            (None, Some(new)) => (true, new),
            (Some(old), None) => (false, old),
            _ => return None,
        };
        let device = device_type(spec);
        let key = ChannelKey::ALL.into_iter().find(|key| key.device().is_some() && key.device() == device);
        let key = key.unwrap_or(ChannelKey::Any);
        let channel = ChannelId { key, id: text(&spec["channel_id"]) };
        Some(Belonging { user: text(&spec["named_user_id"]), channel, gains })
    }

    fn devices_of(spec: &Shared) -> Option<String> {
        spec.field("named_user_id")
    }
}
