//! What manifests and lists say, as plain structs. One type serves both sides wherever they use the same words.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

/// A word such as `triggered`, or conditions.
#[derive(Debug, PartialEq, Eq)]
pub enum Audience {
    Word(String),
    Conditions(Box<Conditions>),
}

#[derive(Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub struct Conditions {
    pub and: Option<Vec<Conditions>>,
    pub or: Option<Vec<Conditions>>,
    pub not: Option<Box<Conditions>>,
    pub tag: Option<String>,
    pub group: Option<String>,
    pub segment: Option<String>,
    pub named_user: Option<String>,
}

impl<'de> Deserialize<'de> for Audience {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Audience;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a word or conditions")
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<Audience, E> {
                Ok(Audience::Word(word.to_owned()))
            }

            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Audience, M::Error> {
                Conditions::deserialize(MapAccessDeserializer::new(map)).map(|it| Audience::Conditions(Box::new(it)))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
pub struct Link {
    pub r#type: String,
    pub content: String,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
pub struct Actions {
    pub open: Option<Link>,
    pub share: Option<String>,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
pub struct Notification {
    pub alert: String,
    pub actions: Option<Actions>,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
pub struct Push {
    pub audience: Option<Audience>,
    pub device_types: Option<Vec<String>>,
    pub notification: Notification,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
pub struct Schedule {
    #[serde(deserialize_with = "time")]
    pub scheduled_time: u64,
}

/// Year to minute: the service writes the seconds as well, and manifests colons.
fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let text = String::deserialize(deserializer)?;
    let digits = text.bytes().filter(u8::is_ascii_digit).take(12);
    Ok(digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0')))
}

#[derive(Debug, Deserialize)]
pub struct TagGroup {
    pub description: Option<String>,
    pub tags: Vec<String>,
    pub members: Members,
}

#[derive(Debug, Deserialize)]
pub struct Members {
    pub named_users: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Deserialize)]
pub struct Segment {
    pub display_name: String,
    pub criteria: Conditions,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
pub struct Variable {
    pub key: String,
    pub name: Option<String>,
    pub default_value: Option<String>,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
pub struct Template {
    /// The key in a manifest, where it is left out.
    pub name: Option<String>,
    pub description: Option<String>,
    pub variables: Vec<Variable>,
    pub push: Push,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
pub struct TagName {
    pub tag: String,
    pub group: Option<String>,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
pub struct Trigger {
    pub tag_added: TagName,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
pub struct Outcome {
    pub delay: u64,
    pub push: Push,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
pub struct Pipeline {
    /// The key in a manifest, where it is left out.
    pub name: Option<String>,
    pub enabled: bool,
    pub immediate_trigger: Trigger,
    pub outcome: Outcome,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
pub struct ScheduledPush {
    pub name: String,
    pub schedule: Schedule,
    pub push: Push,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
pub struct VariantPush {
    pub notification: Notification,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
pub struct Variant {
    pub push: VariantPush,
    pub schedule: Schedule,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
pub struct Experiment {
    /// The key in a manifest, where it is left out.
    pub name: Option<String>,
    pub description: Option<String>,
    pub audience: Audience,
    pub device_types: Vec<String>,
    pub variants: Vec<Variant>,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
pub struct UserChannel {
    pub channel_id: String,
    pub device_type: String,
}

#[derive(Debug, Deserialize)]
pub struct NamedUser {
    pub channels: Vec<UserChannel>,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
pub struct Platform {
    pub open_platform_name: String,
    pub identifiers: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
pub struct OpenChannel {
    pub address: String,
    pub opt_in: bool,
    pub tags: Vec<String>,
    pub timezone: Option<String>,
    pub locale_country: Option<String>,
    pub locale_language: Option<String>,
    pub open: Platform,
}

#[derive(Debug, Deserialize)]
pub struct Tag {
    pub tag: String,
}

#[derive(Debug, Deserialize)]
pub struct ListedSegment {
    pub id: String,
    pub display_name: String,
}

#[derive(Debug, Deserialize)]
pub struct ListedUser {
    pub named_user_id: String,
    pub tags: BTreeMap<String, Vec<String>>,
    pub channels: Vec<UserChannel>,
}

#[derive(Debug, Deserialize)]
pub struct ListedChannel {
    pub address: Option<String>,
    pub opt_in: bool,
    pub tags: Vec<String>,
    pub open: Option<Platform>,
}
