//! Channels and named users, as the service reports them.

use std::collections::BTreeMap;

use pushplan_model::exchange::{BadAnswer, part};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{text, texts};

/// A channel. Its push address is left out, because it is a secret of the device.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Channel {
    pub channel_id: String,
    /// Such as `ios`, or `open`.
    pub device_type: String,
    /// The platform of an open channel.
    pub open_platform_name: Option<String>,
    /// The address of an open channel.
    pub address: Option<String>,
    pub installed: Option<bool>,
    /// Whether it gets notifications.
    pub opt_in: Option<bool>,
    pub background: Option<bool>,
    pub named_user_id: Option<String>,
    /// Tags without a group.
    pub tags: Vec<String>,
    /// Tags by group.
    pub tag_groups: BTreeMap<String, Vec<String>>,
    pub created: Option<String>,
    /// When the app last registered.
    pub last_registration: Option<String>,
}

/// A named user.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NamedUser {
    pub named_user_id: String,
    /// Tags of the user, by group. Channels have further tags of their own.
    pub tags: BTreeMap<String, Vec<String>>,
    pub channels: Vec<Channel>,
    pub created: Option<String>,
    pub last_modified: Option<String>,
}

impl Channel {
    pub fn path(id: &str) -> String {
        format!("/api/channels/{}", part(id))
    }

    /// The channel of an answer.
    pub fn read(body: &Value) -> Result<Self, BadAnswer> {
        let record = body.get("channel").unwrap_or(body);
        Self::of(record).ok_or("the answer has no channel".into())
    }

    fn of(record: &Value) -> Option<Self> {
        let open = &record["open"];
        Some(Self {
            channel_id: text(&record["channel_id"])?,
            device_type: text(&record["device_type"]).unwrap_or_default(),
            open_platform_name: text(&open["open_platform_name"]),
            address: text(&record["address"]),
            installed: record["installed"].as_bool(),
            opt_in: record["opt_in"].as_bool(),
            background: record["background"].as_bool(),
            named_user_id: text(&record["named_user_id"]),
            tags: texts(&record["tags"]),
            tag_groups: groups(&record["tag_groups"]),
            created: text(&record["created"]),
            last_registration: text(&record["last_registration"]),
        })
    }
}

impl NamedUser {
    pub fn path(id: &str) -> String {
        format!("/api/named_users/?id={}", part(id))
    }

    /// The named user of an answer.
    pub fn read(body: &Value) -> Result<Self, BadAnswer> {
        let record = body.get("named_user").unwrap_or(body);
        let id = text(&record["named_user_id"]).ok_or("the answer has no named user")?;
        Ok(Self {
            named_user_id: id,
            tags: groups(&record["tags"]),
            channels: record["channels"].as_array().into_iter().flatten().filter_map(Channel::of).collect(),
            created: text(&record["created"]),
            last_modified: text(&record["last_modified"]),
        })
    }
}

fn groups(value: &Value) -> BTreeMap<String, Vec<String>> {
    let groups = value.as_object().into_iter().flatten();
    let named = |tags: &Value| match tags {
        Value::String(tag) => vec![tag.clone()],
        tags => texts(tags),
    };
    groups.map(|(group, tags)| (group.clone(), named(tags))).filter(|(_, tags)| !tags.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_contract_s_channel_is_enough() {
        let record = json!({"channel_id": "c", "device_type": "ios", "tags": ["a"], "push_address": "SECRET",
            "named_user_id": null, "opt_in": true});
        for body in [json!({"ok": true, "channel": record}), record.clone()] {
            let channel = Channel::read(&body).expect("a channel");
            assert_eq!((channel.opt_in, channel.installed), (Some(true), None));
            assert!(!format!("{channel:?}").contains("SECRET"));
        }
        assert!(Channel::read(&json!({"ok": true})).is_err());
    }

    #[test]
    fn a_named_user_has_its_channels_and_tags() {
        let body = json!({"ok": true, "named_user": {"named_user_id": "u", "tags": {"crm": ["a"], "one": "b", "none": []},
            "channels": [{"channel_id": "c"}, {"no": "id"}]}});
        let user = NamedUser::read(&body).expect("a user");
        assert_eq!(user.channels.len(), 1);
        assert_eq!(user.tags.keys().collect::<Vec<_>>(), ["crm", "one"]);
        assert!(NamedUser::read(&json!([])).is_err());
    }

    #[test]
    fn an_id_stays_within_its_part_of_the_path() {
        assert_eq!(Channel::path("a/../b?c"), "/api/channels/a%2F..%2Fb%3Fc");
        assert_eq!(NamedUser::path("a&id=b"), "/api/named_users/?id=a%26id%3Db");
    }
}
