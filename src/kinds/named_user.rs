use super::{Identity, Parts, Resource};
use crate::model::device::DeviceType;
use crate::node::{At, shape};

shape! {
    /// A person with several channels. A push to the named user reaches each of them.
    pub struct NamedUser as "a named user" {
        /// The id, 1 to 128 characters. The key where it is left out.
        named_user_id: Option<At<String>>,
        /// The channels that belong to it.
        channels: At<Vec<UserChannel>>,
    }
}

shape! {
    /// A channel of a named user.
    pub struct UserChannel as "a channel with channel_id and device_type" {
        /// The id of the channel.
        channel_id: At<String>,
        /// The kind of device.
        device_type: At<DeviceType>,
    }
}

impl Resource for NamedUser {
    const KEY: &'static str = "named_users";
    const NOUN: &'static str = "named user";
    const PURPOSE: &'static str = "A person with several channels, addressed as one.";

    fn settle(&mut self, key: &At<String>) {
        self.named_user_id.get_or_insert_with(|| key.clone());
        // Channels are a set: their order says nothing.
        self.channels.value.sort_by(|a, b| a.channel_id.cmp(&b.channel_id));
    }

    fn identity(&self) -> Option<Identity> {
        self.named_user_id.as_ref().map(|id| Identity { name: id.value.clone(), at: id.span })
    }

    fn parts<'r>(&'r self, _: &mut Parts<'r>) {}
}
