use serde_json::{Value, json};

use super::census::{device_type, installed, texts};
use super::remote::{Found, Lifecycle, Read, Tagging, Whose, text};
use super::{Census, Counted, Create, Delete, Identity, Parts, Remote, Resource, TagUse, Update};
use crate::exchange::{Answer, BadAnswer, Request, part};
use crate::nouns::audience::{ChannelKey, Selector};
use crate::nouns::device::DeviceType;
use crate::nouns::level::Level;
use crate::nouns::many::Set;
use crate::node::{At, Name, Shared, shape};
use crate::source::Span;

shape! {
    /// A tag of the legacy API. Its removal takes it from every device.
    pub struct LegacyTag as "a legacy tag" {
        /// The tag, 1 to 128 characters [default: the key].
        tag: Option<At<String>>,
        /// iOS channels with this tag.
        ios_channels: Option<Set<At<Name>>>,
        /// Android channels with this tag.
        android_channels: Option<Set<At<Name>>>,
    }
}

impl Resource for LegacyTag {
    const KEY: &'static str = "tags";
    const NOUN: &'static str = "legacy tag";
    const PURPOSE: &'static str = "A tag of the legacy API. Tag groups are recommended instead.";

    fn settle(&mut self, key: &At<String>) {
        self.tag.get_or_insert_with(|| key.clone());
    }

    fn identity(&self) -> Option<Identity> {
        self.tag.as_ref().map(|tag| Identity { name: tag.value.clone(), at: tag.span })
    }

    fn parts<'r>(&'r self, parts: &mut Parts<'r>) {
        parts.tags.extend(self.tag.iter().map(|tag| TagUse { tag, group: None }));
    }
}

/// The keys of channels in a part's spec, and in the request that adds or removes the tag.
const CHANNELS: [(&str, &str); 2] = [("ios_channel", "ios_channels"), ("android_channel", "android_channels")];

/// The tag, and each channel that has it, are applied separately.
impl Remote for LegacyTag {
    const NAME: &'static str = "tag";
    const LISTED: &'static str = "tags";

    fn lifecycle(_: Level) -> Lifecycle {
        Lifecycle { read: Read::Listed, create: Create::Upsert, update: Update::InPlace, delete: Delete::Anytime }
    }

    fn units(&self, key: &str) -> Vec<(String, Shared)> {
        let Self { tag, ios_channels, android_channels } = self;
        let mut units = vec![(key.to_owned(), Shared::of(&json!({ "tag": tag })))];
        for ((own, many), ids) in CHANNELS.iter().zip([ios_channels, android_channels]) {
            let spec = |id: &At<Name>| Shared::of(&json!({ "tag": tag, *own: id }));
            let unit = |id: &At<Name>| (format!("{key}/{many}/{id}"), spec(id));
            units.extend(ids.iter().flatten().map(unit));
        }
        units
    }

    fn whole(units: &[&Value]) -> Value {
        let Some(tag) = units.first().map(|unit| &unit["tag"]) else { return Value::Null };
        let mut whole = json!({ "tag": tag });
        for (own, many) in CHANNELS {
            let ids: Vec<&str> = units.iter().filter_map(|unit| unit[own].as_str()).collect();
            if !ids.is_empty() {
                whole[many] = json!(ids);
            }
        }
        whole
    }

    fn census() -> Vec<Census> {
        vec![Census::CHANNELS]
    }

    /// A tag of a device exists, even if the list of tags ends before it.
    fn counted(item: &Value) -> Vec<Counted> {
        let Some(id) = installed(item) else { return Vec::new() };
        let own = match device_type(item) {
            Some(DeviceType::Ios) => Some(&CHANNELS[0]),
            Some(DeviceType::Android) => Some(&CHANNELS[1]),
            // An open channel declares its tags itself.
            Some(DeviceType::Open(_)) => return Vec::new(),
            _ => None,
        };
        let mut units = Vec::new();
        for tag in texts(&item["tags"]) {
            units.push(Counted::new(tag, None, tag, json!({ "tag": tag })));
            units.push(match own {
                Some((own, many)) => {
                    let spec = json!({ "tag": tag, *own: id });
                    Counted::new(tag, Some(format!("{many}/{id}")), format!("{tag}/{id}"), spec)
                }
                None => Counted::left(tag, id, "in git, only iOS and Android channels can have it"),
            });
        }
        units
    }

    fn list(_: Level) -> Vec<Request> {
        vec![Request::get("/api/tags/")]
    }

    /// The service lists the first hundred, and does not say whether there are more.
    fn is_whole(items: usize) -> bool {
        items < 100
    }

    fn found(object: &Value) -> Option<Found> {
        let tag = object.as_str()?.to_owned();
        let spec = Some(json!({ "tag": tag }).into());
        Some(Found { id: tag.clone(), name: tag, stamp: None, spec, ..Found::default() })
    }

    fn get(_: &str, spec: &Value, _: Level) -> Option<Request> {
        let (_, id, _) = carrier(spec)?;
        Some(Census::CHANNELS.one(&id))
    }

    fn got(id: &str, known: &Value, body: &Value) -> Result<Option<Found>, BadAnswer> {
        let channel = body.get("channel").unwrap_or(body);
        let tags = channel["tags"].as_array().ok_or("the answer has no tags of the channel")?;
        let found = Found { id: id.to_owned(), name: text(&known["tag"]), stamp: None, spec: Some(known.into()), ..Found::default() };
        Ok(tags.contains(&known["tag"]).then_some(found))
    }

    fn own_id(spec: &Value) -> Option<String> {
        let tag = text(&spec["tag"]);
        Some(carrier(spec).map_or(tag.clone(), |(_, id, _)| format!("{tag}/{id}")))
    }

    fn create(spec: &Value) -> Request {
        match carrier(spec) {
            None => Request::put_bare(path(spec)),
            Some((_, id, many)) => Request::post(path(spec), &json!({ many: { "add": [id] } })),
        }
    }

    fn created(spec: &Shared, _: &Answer) -> Option<String> {
        Self::own_id(spec)
    }

    fn delete(_: &str, old: &Value, _: Level) -> Option<Request> {
        Some(match carrier(old) {
            None => Request::delete(path(old)),
            Some((_, id, many)) => Request::post(path(old), &json!({ many: { "remove": [id] } })),
        })
    }

    fn leaves_devices(spec: &Value) -> bool {
        carrier(spec).is_none()
    }

    /// Creating the tag itself affects nobody; deleting it affects everyone who has it.
    fn taggings(old: Option<&Shared>, new: Option<&Shared>) -> Vec<Tagging> {
        let (removed, spec) = match (old, new) {
            (None, Some(new)) => (false, new),
            (Some(old), None) => (true, old),
            _ => return Vec::new(),
        };
        let whose = |who, device, selector| Whose { who, device, user: None, selector };
        let channel = |key, id: &String| Selector::Channel(key, At::new(id.clone(), Span::NONE));
        let whose = match carrier(spec) {
            Some(("ios_channel", id, _)) => {
                whose(format!("iOS channel {id}"), Some(DeviceType::Ios), channel(ChannelKey::Ios, &id))
            }
            Some((_, id, _)) => {
                whose(format!("Android channel {id}"), Some(DeviceType::Android), channel(ChannelKey::Android, &id))
            }
            None if removed => whose("every device that has it".to_owned(), None, Selector::All),
            None => return Vec::new(),
        };
        vec![Tagging { removed, tag: text(&spec["tag"]), group: None, whose }]
    }
}

fn path(spec: &Value) -> String {
    format!("/api/tags/{}", part(&text(&spec["tag"])))
}

/// Returns the channel of a part that adds the tag to one.
fn carrier(spec: &Value) -> Option<(&'static str, String, &'static str)> {
    CHANNELS.iter().find_map(|(own, many)| Some((*own, spec[*own].as_str()?.to_owned(), *many)))
}
