//! Named users: associating channels with an id, and looking them up.

use std::collections::BTreeMap;

use pushplan_model::node::{At, shape};
use pushplan_model::nouns::tagged::DEVICE;
use serde_json::{Value, json};

use super::{StateChange, channels, limits, paging};
use crate::answer::{Answer, Answered, Refusal};
use crate::request::{Call, Request, RequestBody};
use crate::state::devices::{NO_GROUP, Numbers};
use crate::state::{App, NamedUser, iso};

/// The largest page of a list.
const PAGE: usize = 1_000;

shape! {
    /// A channel and the named user that it belongs to.
    pub struct SentAssociation as "an object with channel_id, device_type and named_user_id" {
        /// The channel.
        channel_id: At<String>,
        /// Its device type. The id is sufficient to find it.
        device_type: Option<At<String>>,
        /// The named user.
        named_user_id: At<String>,
    }
}

/// Returns the channel that a request names.
fn channel(app: &App, sent: &SentAssociation) -> Result<u32, Refusal> {
    let device_type = sent.device_type.as_ref().map(|device_type| device_type.as_str());
    channels::known(app, &sent.channel_id, device_type)
}

pub fn associate(_: &Request, sent: &RequestBody) -> Result<StateChange, Refusal> {
    let sent: SentAssociation = sent.read()?;
    limits::named_user(&sent.named_user_id)?;
    Ok(Box::new(move |app, call| {
        let (number, user) = (channel(app, &sent)?, &sent.named_user_id);
        let channels = app.devices.of_user(user);
        if !channels.is_some_and(|channels| channels.contains(&number)) {
            limits::channels_per_user(user, channels.map_or(0, Numbers::len) + 1)?;
        }
        app.associate(number, Some(user), call.now);
        Ok(Answer::ok(200, json!({})))
    }))
}

pub fn disassociate(_: &Request, sent: &RequestBody) -> Result<StateChange, Refusal> {
    let sent: SentAssociation = sent.read()?;
    limits::named_user(&sent.named_user_id)?;
    Ok(Box::new(move |app, call| {
        let (number, user) = (channel(app, &sent)?, &sent.named_user_id.value);
        if app.devices.device(number).and_then(|device| device.named_user.as_ref()) != Some(user) {
            let id = app.devices.id(number);
            return Err(Refusal::invalid(format!("the channel {id} does not belong to the named user `{user}`")));
        }
        app.associate(number, None, call.now);
        Ok(Answer::ok(200, json!({})))
    }))
}

/// Returns one named user if `id` is given, otherwise all of them.
pub fn get(app: &App, call: &Call) -> Answered {
    let Some(id) = call.request.query("id") else { return list(app, call) };
    let user = app.named_users.get(id).ok_or_else(|| Refusal::not_found("Named user"))?;
    Ok(Answer::ok(200, json!({ "named_user": record(app, id, user) })))
}

fn list(app: &App, call: &Call) -> Answered {
    let limit = paging::limit(call.request, PAGE)?;
    let mut rest = app.named_users.lines(call.request.query("start").unwrap_or(""), own_line);
    let lines: Vec<String> = rest.by_ref().take(limit).map(|(id, own)| line(app, id, &own)).collect();
    let mut fields = json!({ "ok": true });
    if let Some((next, _)) = rest.next() {
        fields["next_page"] = paging::next_page(call.request, limit, next).into();
    }
    Ok(paging::page("named_users", &lines, "", &fields))
}

/// Returns a named user as a line of a list, with its channels as lines.
fn line(app: &App, id: &str, own: &str) -> String {
    let numbers = app.devices.of_user(id).into_iter().flatten();
    let channels: Vec<_> = numbers.map(|number| app.devices.line(*number, channels::line)).collect();
    let mut line = String::with_capacity(own.len() + 16 + channels.iter().map(|line| line.len() + 1).sum::<usize>());
    line.push_str("{\"channels\":[");
    for (n, channel) in channels.iter().enumerate() {
        line.push_str(if n == 0 { "" } else { "," });
        line.push_str(channel);
    }
    line.push_str("],");
    line.push_str(own.strip_prefix('{').unwrap_or("}"));
    line
}

/// Returns a named user without its channels, which change independently.
fn own_line(id: &str, user: &NamedUser) -> String {
    own_record(id, user).to_string()
}

fn own_record(id: &str, user: &NamedUser) -> Value {
    let named = |group: &'_ str| if group == NO_GROUP { DEVICE.to_owned() } else { group.to_owned() };
    let tags: BTreeMap<_, _> = user.tags.iter().map(|(group, tags)| (named(group), tags)).collect();
    json!({
        "named_user_id": id,
        "tags": tags,
        "created": iso(user.created),
        "last_modified": iso(user.last_modified),
    })
}

fn record(app: &App, id: &str, user: &NamedUser) -> Value {
    let numbers = app.devices.of_user(id).into_iter().flatten();
    let devices = numbers.filter_map(|number| Some((app.devices.id(*number), app.devices.device(*number)?)));
    let mut record = own_record(id, user);
    record["channels"] = devices.map(|(id, device)| channels::record(id, device)).collect();
    record
}
