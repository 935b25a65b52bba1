use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::census::{self, installed, texts};
use super::remote::{Found, Lifecycle, Read, Tagging, Whose, moved, text};
use super::{Census, Counted, Create, Delete, Parts, Remote, Resource, TagUse, Update};
use crate::exchange::{Answer, BadAnswer, Request};
use crate::node::{At, ByName, Shared, shape};
use crate::nouns::audience::{ChannelKey, Selector};
use crate::nouns::device::DeviceType;
use crate::nouns::level::Level;
use crate::nouns::many::{Many, Set};
use crate::nouns::vocabulary::is_reserved;
use crate::source::Span;

shape! {
    /// A group of tags. You can list the allowed tags (its vocabulary), and the users and channels whose tags in this group
    /// pushplan manages. Create the group itself in the dashboard.
    pub struct TagGroup as "a tag group" {
        /// A note about the group.
        description: Option<At<String>>,
        /// The allowed tags. Any other tag in this group is an error [default: every tag is allowed].
        tags: Option<Many<At<String>>>,
        /// Users and channels with their tags in this group.
        members: Option<Members>,
    }
}

shape! {
    /// Members of a tag group, and the tags of the group that each has.
    pub struct Members as "members by named_users, ios_channels and android_channels" or nothing {
        /// Tags by named user id.
        named_users: BTreeMap<At<String>, Set<At<String>>>,
        /// Tags by iOS channel id.
        ios_channels: ByName<Set<At<String>>>,
        /// Tags by Android channel id.
        android_channels: ByName<Set<At<String>>>,
    }
}

impl Members {
    /// Returns every member with its tags.
    pub fn all(&self) -> impl Iterator<Item = (&At<String>, &Set<At<String>>)> {
        self.named_users.iter().chain(self.ios_channels.iter()).chain(self.android_channels.iter())
    }
}

impl Resource for TagGroup {
    const KEY: &'static str = "tag_groups";
    const NOUN: &'static str = "tag group";
    const PURPOSE: &'static str =
        "A group of tags: the allowed tags, and members whose tags pushplan manages.";

    fn settle(&mut self, _: &At<String>) {
        // A vocabulary is a set. An empty one differs from none, because it allows no tag.
        if let Some(tags) = &mut self.tags {
            tags.sort_unstable();
            tags.dedup();
        }
    }

    fn parts<'r>(&'r self, parts: &mut Parts<'r>) {
        let group = Some(parts.key);
        let members = self.members.iter().flat_map(Members::all);
        parts.tags.extend(members.flat_map(|(_, tags)| tags).map(|tag| TagUse { tag, group }));
    }
}

/// The types of members: the key in a part's spec, the key in the manifest, and the noun.
const MEMBERS: [(&str, &str, &str); 3] = [
    ("named_user_id", "named_users", "named user"),
    ("ios_channel", "ios_channels", "iOS channel"),
    ("android_channel", "android_channels", "Android channel"),
];

/// The group itself is created in the dashboard. Only each member's tags in it are applied.
impl Remote for TagGroup {
    const NAME: &'static str = "group";
    const NAMED_BY_KEY: bool = true;
    const SINGLES: Option<&'static str> = Some("members of tag groups");

    fn lifecycle(_: Level) -> Lifecycle {
        Lifecycle { read: Read::LookedUp, create: Create::Upsert, update: Update::InPlace, delete: Delete::Anytime }
    }

    /// A member without tags has no unit: the tags that it had are removed, and nothing else is declared.
    fn units(&self, key: &str) -> Vec<(String, Shared)> {
        let Some(Members { named_users, ios_channels, android_channels }) = &self.members else { return Vec::new() };
        let mut units = Vec::new();
        for ((own, many, _), members) in MEMBERS.iter().zip([named_users, ios_channels, android_channels]) {
            for (id, tags) in members.iter().filter(|(_, tags)| tags.into_iter().next().is_some()) {
                let spec = Shared::of(&json!({ "group": key, *own: id, "tags": tags }));
                units.push((format!("{key}/{many}/{id}"), spec));
            }
        }
        units
    }

    fn whole(units: &[&Value]) -> Value {
        let mut members = json!({});
        for unit in units {
            let found = MEMBERS.iter().find_map(|(own, many, _)| Some((*many, unit[*own].as_str()?)));
            if let Some((many, id)) = found {
                members[many][id] = unit["tags"].clone();
            }
        }
        if units.is_empty() { json!({}) } else { json!({ "members": members }) }
    }

    fn census() -> Vec<Census> {
        vec![Census::NAMED_USERS, Census::CHANNELS]
    }

    fn counted(item: &Value) -> Vec<Counted> {
        let (member, groups) = if item["channel_id"].is_string() {
            let Some(id) = installed(item) else { return Vec::new() };
            let own = match census::device_type(item) {
                Some(DeviceType::Ios) => Some("ios_channel"),
                Some(DeviceType::Android) => Some("android_channel"),
                _ => None,
            };
            ((id, own), &item["tag_groups"])
        } else {
            let Some(id) = item["named_user_id"].as_str() else { return Vec::new() };
            ((id, Some("named_user_id")), &item["tags"])
        };
        let ((id, own), groups) = (member, groups.as_object().into_iter().flatten());
        let mut units = Vec::new();
        for (group, tags) in groups.filter(|(group, _)| !is_reserved(group)) {
            let mut tags: Vec<&str> = texts(tags).collect();
            tags.sort_unstable();
            tags.dedup();
            match own {
                _ if tags.is_empty() => {}
                Some(own) => {
                    let many = MEMBERS.iter().find(|(key, ..)| *key == own).map_or("", |(_, many, _)| *many);
                    let spec = json!({ "group": group, own: id, "tags": tags });
                    units.push(Counted::new(group, Some(format!("{many}/{id}")), id, spec));
                }
                None => {
                    let why = "in git, only named users, iOS and Android channels can be members";
                    units.push(Counted::left(group, id, why));
                }
            }
        }
        units
    }

    fn get(_: &str, spec: &Value, _: Level) -> Option<Request> {
        let (own, id, _) = member(spec)?;
        let list = if own == "named_user_id" { Census::NAMED_USERS } else { Census::CHANNELS };
        Some(list.one(&id))
    }

    fn got(id: &str, known: &Value, body: &Value) -> Result<Option<Found>, BadAnswer> {
        let group = text(&known["group"]);
        let tags = match (body.get("named_user"), body.get("channel")) {
            (Some(user), _) => &user["tags"][&group],
            (_, Some(channel)) => &channel["tag_groups"][&group],
            _ => return Err("the answer has neither a named user nor a channel".into()),
        };
        let mut tags: Vec<&str> = tags.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        if tags.is_empty() {
            return Ok(None);
        }
        tags.sort_unstable();
        let mut spec = known.clone();
        spec["tags"] = json!(tags);
        Ok(Some(Found { id: id.to_owned(), name: group, stamp: None, spec: Some(spec.into()), ..Found::default() }))
    }

    fn own_id(spec: &Value) -> Option<String> {
        member(spec).map(|(_, id, _)| id)
    }

    fn identity(spec: &Value) -> Option<String> {
        member(spec).map(|(own, id, _)| format!("{own} {id} in {}", text(&spec["group"])))
    }

    fn create(spec: &Value) -> Request {
        operation(spec, "set")
    }

    fn created(spec: &Shared, _: &Answer) -> Option<String> {
        Self::own_id(spec)
    }

    fn update(_: &str, _: &Value, new: &Value, _: Level) -> Option<Request> {
        Some(operation(new, "set"))
    }

    /// The service answers 200 and leaves out the tags of a group that it does not know.
    fn left_out(answer: &Value) -> Option<String> {
        let text = |warning: &Value| warning.as_str().filter(|warning| !warning.is_empty()).map(str::to_owned);
        if let Some(groups) = text(&answer["tag_warnings"]) {
            return Some(format!(
                "the service left the tags out (unknown tag group: {groups}). Tag groups are created only in its dashboard: \
                 create the group there, then apply again"
            ));
        }
        let warnings: Vec<String> = answer["warnings"].as_array().into_iter().flatten().filter_map(text).collect();
        (!warnings.is_empty()).then(|| format!("the service left tags out: {}", warnings.join("; ")))
    }

    /// Removes only the tags that this declaration added.
    fn delete(_: &str, old: &Value, _: Level) -> Option<Request> {
        Some(operation(old, "remove"))
    }

    fn taggings(old: Option<&Shared>, new: Option<&Shared>) -> Vec<Tagging> {
        let Some(spec) = new.or(old) else { return Vec::new() };
        let Some((own, id, noun)) = member(spec) else { return Vec::new() };
        let device = match own {
            "ios_channel" => Some(DeviceType::Ios),
            "android_channel" => Some(DeviceType::Android),
            _ => None,
        };
        let user = (own == "named_user_id").then(|| id.clone());
        let key = ChannelKey::ALL.into_iter().find(|key| key.key() == own);
        let at = At::new(id.clone(), Span::NONE);
        let selector = key.map_or(Selector::NamedUser(at.clone()), |key| Selector::Channel(key, at));
        let whose = Whose { who: format!("{noun} {id}"), device, user, selector };
        moved(old.map(|old| &old["tags"]), new.map(|new| &new["tags"]), spec["group"].as_str(), &whose)
    }
}

/// Returns the member that a part is about.
fn member(spec: &Value) -> Option<(&'static str, String, &'static str)> {
    MEMBERS.iter().find_map(|(own, _, noun)| Some((*own, spec[*own].as_str()?.to_owned(), *noun)))
}

fn operation(spec: &Value, verb: &str) -> Request {
    let (own, id, _) = member(spec).unwrap_or_default();
    let path = if own == "named_user_id" { "/api/named_users/tags" } else { "/api/channels/tags" };
    Request::post(path, &json!({ "audience": { own: id }, verb: { text(&spec["group"]): spec["tags"] } }))
}
