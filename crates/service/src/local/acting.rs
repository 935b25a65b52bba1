//! Actions of people on a device: open the app, tap, read, move.

use std::collections::BTreeMap;

use pushplan_model::node::{At, shape};
use pushplan_model::text;
use serde_json::{Map, Value, json};

use super::devices::find;
use super::form;
use crate::answer::{Answer, Answered, Refusal, new_id};
use crate::api::StateChange;
use crate::request::{Call, Request, RequestBody};
use crate::state::{App, CannotRespond};

/// The longest stay in the app, in seconds: a day.
const LONGEST_STAY: i64 = 86_400;

shape! {
    /// An opening of the app.
    pub struct Opening as "{seconds: ...}" {
        /// The length of the session.
        seconds: Option<i64>,
    }
}

shape! {
    /// A tap on a notification.
    pub struct Tap as "{push_id: ...}" {
        /// The push of the notification.
        push_id: At<String>,
        /// The button, if one was tapped.
        button: Option<At<String>>,
    }
}

shape! {
    /// An action on a message.
    pub struct OfMessage as "{push_id: ...}" {
        /// The push of the message.
        push_id: At<String>,
    }
}

shape! {
    /// A device was seen in a place.
    pub struct Sighting as "{location: ...}" {
        /// The id of the location.
        location: At<String>,
        /// The time; by default, now.
        at: Option<At<String>>,
    }
}

shape! {
    /// An event in the app.
    pub struct Happened as "{name: ...}" {
        /// The type of the event; by default, a custom one.
        r#type: Option<At<String>>,
        /// The name of a custom event, a region or a screen.
        name: Option<At<String>>,
        /// Further properties.
        properties: BTreeMap<At<String>, Value>,
    }
}

/// Types of events that only happen in the app, and whether each needs a name. The others follow from actions here or
/// from the API.
const IN_APP: &[(&str, bool)] = &[
    ("CUSTOM", true),
    ("REGION", true),
    ("SCREEN_VIEWED", true),
    ("IN_APP_MESSAGE_DISPLAY", false),
    ("IN_APP_MESSAGE_RESOLUTION", false),
    ("IN_APP_MESSAGE_EXPIRATION", false),
];

/// Returns the number of a device that has the app.
fn installed(app: &App, call: &Call) -> Result<u32, Refusal> {
    let id = call.request.param(0);
    let is_installed = find(app, id)?.installed;
    let number = app.devices.by_id(id).filter(|_| is_installed);
    number.ok_or_else(|| Refusal::conflict(format!("the app is not installed on `{id}`")))
}

fn done() -> Answered {
    Ok(Answer::bare(200, json!({ "ok": true })))
}

fn responded(result: Result<(), CannotRespond>) -> Answered {
    match result {
        Ok(()) => done(),
        Err(why) => Err(Refusal::conflict(why.to_string())),
    }
}

pub fn open(_: &Request, sent: &RequestBody) -> Result<StateChange, Refusal> {
    let opening = (!sent.is_empty()).then(|| sent.read::<Opening>()).transpose()?;
    let seconds = opening.and_then(|opening| opening.seconds).unwrap_or(0);
    Ok(Box::new(move |app, call| {
        let number = installed(app, call)?;
        if !(0..=LONGEST_STAY).contains(&seconds) {
            return Err(Refusal::invalid(format!("`seconds` is from 0 to {LONGEST_STAY}")));
        }
        app.opened(number, call.now, seconds.unsigned_abs());
        done()
    }))
}

pub fn tap(_: &Request, sent: &RequestBody) -> Result<StateChange, Refusal> {
    let tap: Tap = sent.read()?;
    Ok(Box::new(move |app, call| {
        installed(app, call)?;
        let button = tap.button.as_ref().map(|button| button.as_str());
        responded(app.tapped(call.request.param(0), &tap.push_id, button, call.now))
    }))
}

pub fn read(_: &Request, sent: &RequestBody) -> Result<StateChange, Refusal> {
    let message: OfMessage = sent.read()?;
    Ok(Box::new(move |app, call| {
        installed(app, call)?;
        responded(app.read_message(call.request.param(0), &message.push_id, call.now))
    }))
}

pub fn delete(_: &Request, sent: &RequestBody) -> Result<StateChange, Refusal> {
    let message: OfMessage = sent.read()?;
    Ok(Box::new(move |app, call| {
        installed(app, call)?;
        responded(app.delete_message(call.request.param(0), &message.push_id, call.now))
    }))
}

/// Records that the device was at a place. The latest time counts, whatever order the times are sent in.
pub fn seen(_: &Request, sent: &RequestBody) -> Result<StateChange, Refusal> {
    let seen: Sighting = sent.read()?;
    let given =
        seen.at.as_ref().map(|text| form::time(text).map_err(|why| Refusal::invalid(why.to_string()))).transpose()?;
    Ok(Box::new(move |app, call| {
        let number = installed(app, call)?;
        let at = given.unwrap_or(call.now);
        if at > call.now {
            return Err(Refusal::invalid(format!("{at} has not come yet: it is {}", call.now)));
        }
        let id = call.request.param(0);
        let location = seen.location.value;
        app.devices.change(&mut app.journal, id, |device| {
            let last = device.seen_at.entry(location.clone()).or_insert(at);
            *last = at.max(*last);
        });
        app.emit("LOCATION", number, json!({ "location": location }), at);
        done()
    }))
}

pub fn event(_: &Request, sent: &RequestBody) -> Result<StateChange, Refusal> {
    let happened: Happened = sent.read()?;
    let wanted = happened.r#type.as_ref().map_or("CUSTOM", |kind| kind.as_str());
    let Some((kind, named)) = IN_APP.iter().find(|(kind, _)| *kind == wanted) else {
        let known: Vec<&str> = IN_APP.iter().map(|(kind, _)| *kind).collect();
        return Err(Refusal::invalid(format!("`type` is {}, not `{wanted}`", text::any_of(&known))));
    };
    if *named && happened.name.as_ref().is_none_or(|name| name.is_empty()) {
        return Err(Refusal::invalid(format!("an event of the type {kind} needs a `name`")));
    }
    let nested = happened.properties.iter().find(|(_, value)| value.is_object() || value.is_array() || value.is_null());
    if let Some((name, _)) = nested {
        return Err(Refusal::invalid(format!("the property `{name}` is no text and no number")));
    }
    let properties: Map<String, Value> =
        happened.properties.into_iter().map(|(name, value)| (name.value, value)).collect();
    let mut body = json!({ "session_id": new_id(), "properties": properties });
    if let Some(name) = happened.name {
        body["name"] = name.value.into();
    }
    Ok(Box::new(move |app, call| {
        let number = installed(app, call)?;
        app.emit(kind, number, body, call.now);
        done()
    }))
}
