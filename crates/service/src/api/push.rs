//! Sending immediately, and the rules for everything that is sent.

use pushplan_model::node::At;
use pushplan_model::nouns::audience::{ChannelKey, Selector};
use pushplan_model::nouns::device::{DeviceType, DeviceTypes};
use pushplan_model::nouns::level::Level;
use pushplan_model::nouns::localization::Localizations;
use pushplan_model::nouns::notification::{Notification, is_override};
use pushplan_model::nouns::push::{Content, Push, is_further};
use serde_json::{Value, json};

use super::{Question, StateChange, limits};
use crate::answer::{Answer, Refusal};
use crate::request::{Call, Request, RequestBody};
use crate::state::{App, Outgoing, PushType};

/// The maximum number of pushes in one request.
pub(super) const MOST: usize = 100;

/// The maximum number of selectors in one audience. Operators do not count; each value of a list does.
const SELECTORS: usize = 1_000;

/// Returns the answer for pushes that were sent. Clients of the contract treat every status except 200 as a failure,
/// and read `push_id`.
pub(super) fn answer(level: Level, push_ids: &[String], message_ids: &[String]) -> Answer {
    let mut fields = json!({ "push_ids": push_ids });
    if !message_ids.is_empty() {
        fields["message_ids"] = message_ids.into();
    }
    match (level, push_ids) {
        (Level::Extended, _) => return Answer::done(202, fields),
        (Level::Documented, [only]) => fields["push_id"] = only.as_str().into(),
        (Level::Documented, _) => {}
    }
    Answer::done(200, fields)
}

pub fn create(_: &Request, sent: &RequestBody) -> Result<StateChange, Refusal> {
    let pushes = read(sent)?;
    Ok(Box::new(move |app, call| {
        let mut push_ids = Vec::new();
        let mut message_ids = Vec::new();
        for (push, raw) in &pushes {
            let push_id = send(app, call, &push.audience, &push.device_types, raw);
            if push.message.is_some() {
                // A push has at most one message, so its id serves both.
                message_ids.push(push_id.clone());
            }
            push_ids.push(push_id);
        }
        Ok(answer(call.level, &push_ids, &message_ids))
    }))
}

pub fn validate(_: &Request, sent: &RequestBody) -> Result<Question, Refusal> {
    read(sent)?;
    Ok(valid())
}

/// Returns the answer for a body that was found valid while it was decoded.
pub(super) fn valid() -> Question {
    Box::new(|_, _| Ok(Answer::done(200, json!({}))))
}

/// Sends a valid push to the current members of its audience.
pub(super) fn send(
    app: &mut App,
    call: &Call,
    audience: &Selector,
    device_types: &DeviceTypes,
    push: &Value,
) -> String {
    let to = app.members(audience, call.now);
    let out = Outgoing { push_type: PushType::of(audience), group_id: None, variant: None, device_types, push };
    app.send(&out, to, call.now)
}

/// Reads every push of a request, as parsed and as sent. One invalid push refuses all of them.
fn read(sent: &RequestBody) -> Result<Vec<(Push, Value)>, Refusal> {
    let body = sent.json()?;
    let nodes = body.each();
    at_least_one(nodes.len(), "push")?;
    limits::at_most(MOST, nodes.len(), "pushes")?;
    let read = nodes.into_iter().map(|(path, node)| {
        let push: Push = body.read(node)?;
        sendable(&push, &path)?;
        Ok((push, node.to_json()))
    });
    read.collect()
}

pub(super) fn at_least_one(number: usize, noun: &str) -> Result<(), Refusal> {
    if number == 0 {
        return Err(Refusal::invalid(format!("at least one {noun} is needed")));
    }
    Ok(())
}

/// Checks that a push can be sent by anything but a pipeline. `path` is its place in the body.
pub(super) fn sendable(push: &Push, path: &str) -> Result<(), Refusal> {
    addressed(&push.audience, &push.device_types, path)?;
    complete(push, path)
}

/// Checks that a push has content that its devices can receive, for any audience.
pub(super) fn complete(push: &Push, path: &str) -> Result<(), Refusal> {
    let notification = push.notification.as_ref();
    let missing = || Refusal::invalid_at(&format!("{path}notification"), "`notification` is missing");
    known_notification(notification.ok_or_else(missing)?, path)?;
    localized(&push.localizations, path)?;
    let has_message = push.message.is_some() || push.localizations.iter().any(|own| own.message.is_some());
    deliverable(has_message, &push.device_types, path)
}

/// Message Center does not exist on every platform, and WNS refuses its messages.
pub(super) fn deliverable(has_message: bool, device_types: &DeviceTypes, path: &str) -> Result<(), Refusal> {
    let named_wns = device_types.named().iter().any(|device| device.value == DeviceType::Wns);
    if has_message && named_wns {
        return Err(Refusal::invalid_at(
            &format!("{path}message"),
            "a Message Center message cannot be pushed to WNS; it reaches ios, android and amazon",
        ));
    }
    Ok(())
}

/// Checks an audience for these devices that is not in a pipeline.
pub(super) fn addressed(audience: &At<Selector>, device_types: &DeviceTypes, path: &str) -> Result<(), Refusal> {
    possible(audience, &format!("{path}audience"))?;
    let mut open = false;
    audience.walk(&mut |selector| open |= matches!(selector.value, Selector::Channel(ChannelKey::Open, _)));
    let reaches_open = match device_types {
        DeviceTypes::All => true,
        DeviceTypes::Some(list) => list.iter().any(|device| matches!(device.value, DeviceType::Open(_))),
    };
    if open && !reaches_open {
        return Err(Refusal::invalid_at(
            &format!("{path}device_types"),
            "an `open_channel` is reached as `open::<platform>`, which is not among the device types",
        ));
    }
    Ok(())
}

/// Checks that a push without an audience has only keys of a push.
pub(super) fn known_content(content: &Content, path: &str) -> Result<(), Refusal> {
    match content.rest.0.keys().find(|key| !is_further(key)) {
        Some(key) => Err(Refusal::unknown_key(&format!("{path}{key}"))),
        None => known_notification(&content.notification, path),
    }?;
    localized(&content.localizations, path)
}

/// Checks that each localization has a locale, and a known notification.
fn localized(localizations: &Localizations, path: &str) -> Result<(), Refusal> {
    for (number, own) in localizations.iter().enumerate() {
        let path = format!("{path}localizations[{number}].");
        if let Some(key) = own.rest.0.keys().next() {
            return Err(Refusal::unknown_key(&format!("{path}{key}")));
        }
        if own.locale().is_empty() {
            return Err(Refusal::invalid_at(&format!("{path}language"), "`language` or `country` is needed"));
        }
        own.notification.iter().try_for_each(|notification| known_notification(notification, &path))?;
    }
    Ok(())
}

/// In addition to the contract's fields, a notification has overrides by device type.
fn known_notification(notification: &Notification, path: &str) -> Result<(), Refusal> {
    match notification.rest.0.keys().find(|key| !is_override(key)) {
        Some(key) => Err(Refusal::unknown_key(&format!("{path}notification.{key}"))),
        None => Ok(()),
    }
}

/// Checks a selector that is not in a pipeline. Tags and segments that nobody has are allowed: they match nobody.
pub(super) fn possible(selector: &At<Selector>, path: &str) -> Result<(), Refusal> {
    let mut wrong: Option<String> = None;
    let mut number = 0;
    selector.walk(&mut |one| {
        number += usize::from(!matches!(one.value, Selector::And(_) | Selector::Or(_) | Selector::Not(_)));
        let inside = !std::ptr::eq(one, selector);
        let why = match &one.value {
            Selector::Triggered if !inside => "`triggered` is possible in a pipeline only",
            Selector::All | Selector::Triggered if inside => {
                "`all` and `triggered` stand alone, never inside another selector"
            }
            Selector::And(members) | Selector::Or(members) if members.is_empty() => "an empty list of selectors",
            _ => return,
        };
        wrong.get_or_insert_with(|| why.to_owned());
    });
    if number > SELECTORS {
        wrong = Some(format!("{number} selectors in one audience; {SELECTORS} are possible"));
    }
    wrong.map_or(Ok(()), |why| Err(Refusal::invalid_at(path, &why)))
}
