//! Devices that register, change and are removed.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::form::{self, Form};
use crate::answer::{Answer, Answered, Refusal};
use crate::api::{StateChange, paging};
use crate::request::{Call, Request, RequestBody};
use crate::state::App;
use crate::state::devices::{Device, property_tags};

/// The largest page of a list.
const PAGE: usize = 1000;

/// Reads the id in the path and the form in the body. A form may repeat the id, as files do.
fn read(request: &Request, sent: &RequestBody) -> Result<(String, Form), Refusal> {
    let id = request.param(0);
    form::check_id(id)?;
    let form: Form = sent.read()?;
    match &form.id {
        Some(other) if other.as_str() != id => {
            Err(Refusal::invalid(format!("the body is of the device `{other}`, the path of `{id}`")))
        }
        _ => Ok((id.to_owned(), form)),
    }
}

/// Adds a device, or replaces the one with this id.
pub fn put(request: &Request, sent: &RequestBody) -> Result<StateChange, Refusal> {
    let (id, form) = read(request, sent)?;
    let mut device = form.device()?;
    Ok(Box::new(move |app, call| {
        let old = app.devices.get(&id);
        let known = old.is_some();
        // The app is the same installation as before, so its usage is kept.
        if let Some(old) = old.filter(|old| old.installed) {
            device.first_opened = old.first_opened;
            device.last_opened = old.last_opened;
            device.opened_opted_in = old.opened_opted_in;
            device.opened_opted_out = old.opened_opted_out;
        }
        app.register(&id, device, call.now);
        Ok(Answer::bare(if known { 200 } else { 201 }, record(app, &id)))
    }))
}

pub fn patch(request: &Request, sent: &RequestBody) -> Result<StateChange, Refusal> {
    let (id, form) = read(request, sent)?;
    Ok(Box::new(move |app, call| {
        let mut device = find(app, &id)?.clone();
        form.change(&mut device)?;
        app.register(&id, device, call.now);
        Ok(Answer::bare(200, record(app, &id)))
    }))
}

/// Uninstalls the app. The device remains known, and can register again.
pub fn delete(app: &mut App, call: &Call) -> Answered {
    let id = call.request.param(0);
    let number = app.devices.by_id(id).filter(|number| app.devices.installed().contains(number));
    let number = number.ok_or_else(|| Refusal::not_found("Device"))?;
    app.uninstall(number, call.now);
    Ok(Answer::empty(204))
}

pub fn get(app: &App, call: &Call) -> Answered {
    let id = call.request.param(0);
    find(app, id)?;
    Ok(Answer::bare(200, record(app, id)))
}

pub fn list(app: &App, call: &Call) -> Answered {
    let limit = paging::limit(call.request, PAGE)?;
    let mut rest = app.devices.from(call.request.query("start").unwrap_or(""));
    let devices: Vec<Value> = rest.by_ref().take(limit).map(|(id, device)| form::write(id, device)).collect();
    let mut body = json!({ "count": app.devices.len(), "devices": devices });
    if let Some((next, _)) = rest.next() {
        body["next_page"] = paging::next_page(call.request, limit, next).into();
    }
    Ok(Answer::bare(200, body))
}

/// Lists what a device received, newest first.
pub fn received(app: &App, call: &Call) -> Answered {
    let id = call.request.param(0);
    find(app, id)?;
    let prefix = format!("{id}/");
    let own = app.receipts.from(&prefix).take_while(|(key, _)| key.starts_with(&prefix));
    let mut receipts: Vec<_> = own.map(|(_, receipt)| receipt).filter(|receipt| receipt.device == id).collect();
    let number = |push_id: &str| app.sent.get(push_id).map(|sent| sent.number);
    receipts.sort_by_cached_key(|receipt| Reverse((receipt.time, number(&receipt.push_id))));
    Ok(Answer::bare(200, json!({ "count": receipts.len(), "received": receipts })))
}

/// Returns the device with an id, whether or not its app is installed.
pub fn find<'a>(app: &'a App, id: &str) -> Result<&'a Device, Refusal> {
    app.devices.get(id).ok_or_else(|| Refusal::not_found("Device"))
}

/// Returns a device, with what the service knows in addition.
fn record(app: &App, id: &str) -> Value {
    let Some(device) = app.devices.get(id) else { return Value::Null };
    let derived: BTreeMap<&str, String> = property_tags(device).collect();
    let user = device.named_user.as_ref().and_then(|user| app.named_users.get(user));
    json!({
        "device": form::write(id, device),
        "installed": device.installed,
        "property_tags": derived,
        "named_user_tags": user.map(|user| &user.tags),
        "created": device.created,
        "modified": device.modified,
        "first_opened": device.first_opened,
        "last_opened": device.last_opened,
    })
}
