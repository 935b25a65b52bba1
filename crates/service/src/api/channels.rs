//! Channels and open channels: their records, registration and removal.

use std::collections::BTreeMap;

use pushplan_model::node::{At, shape};
use pushplan_model::nouns::level::Level;
use serde_json::{Value, json};

use super::{StateChange, limits, paging};
use crate::answer::{Answer, Answered, Refusal};
use crate::request::{Call, Request, RequestBody};
use crate::state::devices::{Device, NO_GROUP};
use crate::state::{App, OpenChannel, iso};

/// The largest page of a list.
const PAGE: usize = 1_000;

shape! {
    /// A channel to uninstall.
    pub struct SentChannel as "a channel with channel_id and device_type" {
        /// Its id.
        channel_id: At<String>,
        /// Its device type.
        device_type: At<String>,
    }
}

shape! {
    /// An open channel that registers.
    pub struct SentRegistration as "an object with channel" {
        /// The channel.
        channel: SentOpenChannel,
    }
}

shape! {
    /// An open channel, as sent.
    pub struct SentOpenChannel as "an open channel with type, opt_in, address and open" {
        /// The word `open`.
        r#type: At<String>,
        /// Whether it accepts notifications.
        opt_in: bool,
        /// Its address.
        address: At<String>,
        /// All of its tags.
        tags: Option<Vec<At<String>>>,
        /// The name of its time zone.
        timezone: Option<String>,
        /// A country code.
        locale_country: Option<String>,
        /// A language code.
        locale_language: Option<String>,
        /// Its platform.
        open: SentPlatform,
    }
}

shape! {
    /// The platform of an open channel.
    pub struct SentPlatform as "an object with open_platform_name" {
        /// Its name, without `open::`.
        open_platform_name: At<String>,
        /// The platform's own identifiers for the channel.
        identifiers: Option<BTreeMap<At<String>, String>>,
    }
}

shape! {
    /// An open channel to uninstall.
    pub struct SentAddress as "an open channel with address and open_platform_name" {
        /// Its address.
        address: At<String>,
        /// The name of its platform.
        open_platform_name: At<String>,
    }
}

/// Returns a channel as answers show it. The groups of derived tags are included; the tags of its named user are not.
pub fn record(id: &str, device: &Device) -> Value {
    let mut groups: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (group, tag) in device.all_tags() {
        groups.entry(group).or_default().push(tag);
    }
    let tags = groups.remove(NO_GROUP).unwrap_or_default();
    let platform = device.device_type.strip_prefix("open::");
    let mut record = json!({
        "channel_id": id,
        "device_type": if platform.is_some() { "open" } else { &device.device_type },
        "installed": device.installed,
        "opt_in": device.opt_in,
        "background": device.background,
        "push_address": device.push_address,
        "named_user_id": device.named_user,
        "tags": tags,
        "tag_groups": groups,
        "created": iso(device.created),
        "last_registration": iso(device.modified),
    });
    if let Some(platform) = platform {
        record["address"] = device.address.clone().into();
        record["open"] = json!({ "open_platform_name": platform, "identifiers": device.identifiers });
    }
    record
}

/// Returns the number of a channel. A channel of another type than requested is refused.
pub fn known(app: &App, id: &str, device_type: Option<&str>) -> Result<u32, Refusal> {
    let number = app.devices.by_id(id).ok_or_else(|| unknown(id))?;
    let own = app.devices.device(number).map_or("", |device| device.device_type.as_str());
    let fits = |wanted: &str| own == wanted || (wanted == "open" && own.starts_with("open::"));
    match device_type {
        Some(wanted) if !fits(wanted) => {
            let why = format!("the channel {id} is of the type {own}, not {wanted}");
            Err(Refusal::no_such_channel().with(json!({ "error": why })))
        }
        _ => Ok(number),
    }
}

fn unknown(id: &str) -> Refusal {
    Refusal::no_such_channel().with(json!({ "error": format!("there is no such channel: {id}") }))
}

/// Returns the line of a channel in a list.
pub(super) fn line(id: &str, device: &Device) -> String {
    record(id, device).to_string()
}

pub fn list(app: &App, call: &Call) -> Answered {
    let limit = paging::limit(call.request, PAGE)?;
    let mut rest = app.devices.lines(call.request.query("start").unwrap_or(""), line);
    let lines: Vec<_> = rest.by_ref().take(limit).map(|(_, line)| line).collect();
    let mut fields = json!({ "ok": true });
    if let Some((next, _)) = rest.next() {
        fields["next_page"] = paging::next_page(call.request, limit, next).into();
    }
    Ok(paging::page("channels", &lines, "", &fields))
}

pub fn get(app: &App, call: &Call) -> Answered {
    let id = call.request.param(0);
    let device = app.devices.get(id).ok_or_else(|| Refusal::not_found("Channel"))?;
    Ok(Answer::ok(200, json!({ "channel": record(id, device) })))
}

pub fn uninstall(_: &Request, sent: &RequestBody) -> Result<StateChange, Refusal> {
    let body = sent.json()?;
    let nodes = body.each();
    limits::at_most(limits::ITEMS, nodes.len(), "channels")?;
    let gone = nodes.into_iter().map(|(_, node)| body.read::<SentChannel>(node)).collect::<Result<Vec<_>, _>>()?;
    if gone.is_empty() {
        return Err(Refusal::invalid("no channel is named"));
    }
    Ok(Box::new(move |app, call| {
        let known = gone.iter().map(|sent| known(app, &sent.channel_id, Some(&sent.device_type)));
        for number in known.collect::<Result<Vec<_>, _>>()? {
            app.uninstall(number, call.now);
        }
        Ok(Answer::ok(202, json!({})))
    }))
}

pub(crate) fn register_open(_: &Request, sent: &RequestBody) -> Result<StateChange, Refusal> {
    let SentRegistration { channel } = sent.read()?;
    if channel.r#type.as_str() != "open" {
        return Err(Refusal::invalid(format!("the type of an open channel is `open`, not `{}`", channel.r#type)));
    }
    let platform = channel.open.open_platform_name.value;
    for (what, text) in [("address", &channel.address.value), ("open_platform_name", &platform)] {
        if text.is_empty() {
            return Err(Refusal::invalid(format!("`{what}` is empty")));
        }
    }
    let tags: Option<Vec<String>> = channel.tags.map(|tags| tags.into_iter().map(|tag| tag.value).collect());
    tags.iter().flatten().try_for_each(|tag| limits::tag(tag))?;
    let named = |identifiers: BTreeMap<At<String>, String>| {
        identifiers.into_iter().map(|(name, value)| (name.value, value)).collect()
    };
    let sent = OpenChannel {
        platform,
        address: channel.address.value,
        opt_in: channel.opt_in,
        tags,
        identifiers: channel.open.identifiers.map(named),
        timezone: channel.timezone,
        country: channel.locale_country,
        language: channel.locale_language,
    };
    Ok(Box::new(move |app, call| {
        let known = app.open_channel(&sent.platform, &sent.address).and_then(|number| app.devices.device(number));
        if let Some(tags) = &sent.tags {
            let mut all = known.map(|device| device.tags.clone()).unwrap_or_default();
            all.insert(NO_GROUP.to_owned(), tags.iter().cloned().collect());
            limits::tags_per_channel(&sent.address, &all)?;
        }
        let id = app.register_open(sent, call.now);
        let url = format!("{}/api/channels/{id}", call.request.origin);
        let mut fields = json!({ "channel_id": id });
        if call.level == Level::Documented {
            fields["channel"] = app.devices.get(&id).map(|device| record(&id, device)).into();
        }
        Ok(Answer::ok(200, fields).at(url))
    }))
}

pub fn uninstall_open(_: &Request, sent: &RequestBody) -> Result<StateChange, Refusal> {
    let sent: SentAddress = sent.read()?;
    Ok(Box::new(move |app, call| {
        let number = app.open_channel(&sent.open_platform_name, &sent.address);
        app.uninstall(number.ok_or_else(|| unknown(&sent.address))?, call.now);
        Ok(Answer::ok(202, json!({})))
    }))
}
