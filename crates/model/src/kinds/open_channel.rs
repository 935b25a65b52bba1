use serde_json::{Value, json};

use super::census::{derived, device_type, installed};
use super::remote::{Found, Lifecycle, Read, Tagging, Whose, canonical, id_in, moved, text};
use super::{Census, Counted, Create, Delete, Identity, Parts, Remote, Resource, TagUse, Update};
use crate::exchange::{Answer, BadAnswer, Request};
use crate::node::{At, ByName, Name, Shared, shape};
use crate::nouns::audience::{ChannelKey, Selector};
use crate::nouns::device::DeviceType;
use crate::nouns::level::Level;
use crate::nouns::many::Set;
use crate::nouns::vocabulary;
use crate::nouns::zone::Zone;
use crate::source::Span;

shape! {
    /// A recipient on a messaging platform of your own, such as SMS. Pushes to `open::<platform>` reach it.
    pub struct OpenChannel as "an open channel" {
        /// The unique address of the channel [default: the key].
        address: Option<At<Name>>,
        /// Whether it accepts messages.
        opt_in: bool,
        /// Its tags.
        tags: Option<Set<At<String>>>,
        /// Its time zone, an IANA name.
        timezone: Option<At<Zone>>,
        /// Its country, an ISO 3166-1 code.
        locale_country: Option<At<String>>,
        /// Its language, an ISO 639-1 code.
        locale_language: Option<At<String>>,
        /// The platform of the channel.
        open: OpenPlatform,
    }
}

shape! {
    /// The platform of an open channel.
    pub struct OpenPlatform as "a platform with open_platform_name" text "open_platform_name" {
        /// The platform's name. The device type of its channels is `open::<name>`.
        open_platform_name: At<Name>,
        /// The platform's own identifiers for the channel.
        identifiers: ByName<At<String>>,
    }
}

impl Resource for OpenChannel {
    const KEY: &'static str = "open_channels";
    const NOUN: &'static str = "open channel";
    const PURPOSE: &'static str = "A recipient on a messaging platform of your own, such as SMS.";

    fn settle(&mut self, key: &At<String>) {
        self.address.get_or_insert_with(|| key.into());
    }

    fn identity(&self) -> Option<Identity> {
        let platform = &self.open.open_platform_name;
        self.address.as_ref().map(|address| Identity { name: format!("{address} of {platform}"), at: address.span })
    }

    fn parts<'r>(&'r self, parts: &mut Parts<'r>) {
        let said = [("ua_locale_country", &self.locale_country), ("ua_locale_language", &self.locale_language)];
        parts.properties.extend(said.iter().filter_map(|(id, value)| Some((vocabulary::group(id)?, value.as_ref()?))));
        parts.tags.extend(self.tags.iter().flatten().map(|tag| TagUse { tag, group: None }));
    }
}

impl Remote for OpenChannel {
    const NAME: &'static str = "address";

    fn lifecycle(_: Level) -> Lifecycle {
        Lifecycle { read: Read::LookedUp, create: Create::Upsert, update: Update::InPlace, delete: Delete::Anytime }
    }

    fn census() -> Vec<Census> {
        vec![Census::CHANNELS]
    }

    /// A record contains time zone and locale only as the tags that the service derives from them.
    fn counted(item: &Value) -> Vec<Counted> {
        let (Some(id), Some(DeviceType::Open(_))) = (installed(item), device_type(item)) else { return Vec::new() };
        let address = text(&item["address"]);
        let mut known = json!({});
        let zone = derived(item, "timezone").map(vocabulary::iana);
        known["timezone"] = zone.filter(|zone| Zone::is_name(zone)).into();
        known["locale_country"] = derived(item, "ua_locale_country").into();
        known["locale_language"] = derived(item, "ua_locale_language").into();
        if let Some(known) = known.as_object_mut() {
            known.retain(|_, value| !value.is_null());
        }
        let found = Self::got(id, &known, item).ok().flatten().and_then(|found| found.spec);
        vec![match found {
            Some(spec) if !address.is_empty() => Counted::new(&address, None, id, spec.into_value()),
            _ => Counted::left(&address, id, "its record cannot be read"),
        }]
    }

    /// An open channel can be looked up once its id is known; the contract has no way to find one by its address.
    fn get(id: &str, _: &Value, _: Level) -> Option<Request> {
        (!id.is_empty()).then(|| Census::CHANNELS.one(id))
    }

    /// Fields that a lookup does not return keep their last known value.
    fn got(id: &str, known: &Value, body: &Value) -> Result<Option<Found>, BadAnswer> {
        let channel = body.get("channel").unwrap_or(body);
        if !channel["channel_id"].is_string() {
            return Err("the answer has no channel".into());
        }
        if channel["installed"] == false {
            return Ok(None);
        }
        let mut spec = known.clone();
        for key in ["opt_in", "address", "timezone", "locale_country", "locale_language", "open"] {
            if !channel[key].is_null() {
                spec[key] = channel[key].clone();
            }
        }
        match channel["tags"].as_array() {
            Some(tags) if !tags.is_empty() => spec["tags"] = channel["tags"].clone(),
            Some(_) => drop(spec.as_object_mut().and_then(|spec| spec.remove("tags"))),
            None => {}
        }
        let name = text(&spec["address"]);
        let spec = canonical::<Self>(&spec, &name).ok_or("the open channel cannot be read")?;
        Ok(Some(Found { id: id.to_owned(), name, stamp: None, spec: Some(spec), ..Found::default() }))
    }

    fn identity(spec: &Value) -> Option<String> {
        Some(format!("{} of {}", text(&spec["address"]), text(&spec["open"]["open_platform_name"])))
    }

    fn create(spec: &Value) -> Request {
        let mut channel = spec.clone();
        channel["type"] = "open".into();
        Request::post("/api/channels/open", &json!({ "channel": channel }))
    }

    /// The contract answers with the channel; the live service answers with its id.
    fn created(_: &Shared, answer: &Answer) -> Option<String> {
        let channel =
            answer.body.as_ref().and_then(|body| body.get("channel")).map(|channel| text(&channel["channel_id"]));
        id_in(answer, &["channel_id"]).or(channel.filter(|id| !id.is_empty()))
    }

    fn update(_: &str, old: &Value, new: &Value, _: Level) -> Option<Request> {
        let same =
            old["address"] == new["address"] && old["open"]["open_platform_name"] == new["open"]["open_platform_name"];
        same.then(|| Self::create(new))
    }

    fn delete(_: &str, old: &Value, _: Level) -> Option<Request> {
        let body = json!({ "address": old["address"], "open_platform_name": old["open"]["open_platform_name"] });
        Some(Request::post("/api/channels/open/uninstall", &body))
    }

    /// An uninstalled channel gets no more messages, whatever tags it had.
    fn taggings(old: Option<&Shared>, new: Option<&Shared>) -> Vec<Tagging> {
        let Some(spec) = new else { return Vec::new() };
        moved(old.map(|old| &old["tags"]), Some(&spec["tags"]), None, &whose(spec))
    }

    fn departing(old: Option<&Shared>, new: Option<&Shared>) -> Option<Whose> {
        let is_other =
            |old: &&Shared| new.is_none_or(|new| <Self as Remote>::identity(old) != <Self as Remote>::identity(new));
        old.filter(is_other).map(|old| whose(old))
    }
}

/// The channel of a spec.
fn whose(spec: &Value) -> Whose {
    let address = text(&spec["address"]);
    let device = Some(DeviceType::Open(text(&spec["open"]["open_platform_name"])));
    let selector = Selector::Channel(ChannelKey::Open, At::new(address.clone(), Span::NONE));
    Whose { who: format!("the open channel {address}"), device, user: None, selector }
}
