//! The invariants: checked by the messages that devices received and by the content of the service.

use std::collections::BTreeMap;

use pushplan::service::state::devices::NO_GROUP;
use serde_json::Value;

use super::declared::{Audience, Kind, Thing};
use super::service::{Device, Object, planted_mark};
use super::story::World;
use super::yaml::time_of;

/// Every unmanaged object that was changed.
pub fn untouched(world: &World) -> Vec<String> {
    let mut wrong = Vec::new();
    for (then, now) in world.service.planted() {
        match now {
            None => wrong.push(format!("someone else's {} is gone", then.shown())),
            Some(now) if now != then => {
                wrong.push(format!("someone else's {} was changed to {}", then.shown(), now.shown()));
            }
            Some(_) => {}
        }
    }
    let devices = world.service.devices();
    let other = &devices["other-1"];
    let has = |group: &str, tag: &str| other.tags.get(group).is_some_and(|tags| tags.contains(tag));
    let all = [("crm", "vip"), ("g-1", "theirs"), ("g-2", "theirs"), (NO_GROUP, "legacy-other")];
    if !all.iter().all(|(group, tag)| has(group, tag)) || other.named_user.as_deref() != Some("other") {
        wrong.push(format!("the device of others was changed: {other:?}"));
    }
    let is_other = |device: &&Device| device.address.as_deref() == Some("other-address");
    let has_theirs = |device: &Device| device.tags.values().any(|tags| tags.contains("theirs"));
    match devices.values().find(is_other) {
        Some(channel) if channel.is_installed && has_theirs(channel) => {}
        channel => wrong.push(format!("the open channel of others was changed: {channel:?}")),
    }
    if !world.service.has_legacy_tag("legacy-other") {
        wrong.push("the legacy tag of others is gone".to_owned());
    }
    wrong
}

/// Every difference between the service and the declarations, except those that the program itself reports as remaining
/// work.
pub fn holds(world: &World, code: i32, left: &[(String, String)]) -> Vec<String> {
    let mut wrong = Vec::new();
    if code == 0 && !left.is_empty() {
        wrong.push(format!("the last apply ended with 0, and this is left to do: {left:?}"));
    }
    let is_left = |thing: &Thing| thing.addresses().iter().any(|address| left.iter().any(|(one, _)| one == address));
    let objects: Vec<Object> =
        world.service.objects().into_iter().filter(|object| !world.service.is_planted(&object.id)).collect();
    let (devices, sent) = (world.service.devices(), world.service.sent());
    for thing in &world.declared.things {
        let is_over =
            thing.kind.is_timed() && (thing.day <= world.today || sent.iter().any(|push| push.contains(&thing.mark())));
        if is_over || is_left(thing) {
            continue;
        }
        if let Err(why) = held(world, thing, &objects, &devices) {
            wrong.push(format!("{} {why}; exit {code}", thing.address()));
        }
    }
    for thing in world.declared.removed.iter().filter(|thing| !is_left(thing)) {
        let mark = thing.mark();
        for object in objects.iter().filter(|object| object.carries(&mark)) {
            wrong.push(format!("{} was removed, and is there: {}; exit {code}", thing.address(), object.shown()));
        }
        let shows_it = |device: &Device| {
            let is_tagged = device.tags.values().flatten().any(|tag| tag.starts_with(&mark));
            is_tagged && device.is_installed || device.named_user.as_ref() == Some(&thing.key)
        };
        for (id, device) in devices.iter().filter(|(_, device)| shows_it(device)) {
            wrong.push(format!("{} was removed, and {id} shows it: {device:?}; exit {code}", thing.address()));
        }
    }
    let known: Vec<String> = world.declared.all_ever().map(Thing::mark).collect();
    for object in
        objects.iter().filter(|object| object.name != "always" && !known.iter().any(|mark| object.carries(mark)))
    {
        wrong.push(format!("nobody declared {}", object.shown()));
    }
    wrong
}

/// Whether a thing is on the service exactly once, as declared.
fn held(world: &World, thing: &Thing, objects: &[Object], devices: &BTreeMap<String, Device>) -> Result<(), String> {
    let has = |id: &str, group: &str, tag: &str| {
        devices.get(id).is_some_and(|device| device.tags.get(group).is_some_and(|tags| tags.contains(tag)))
    };
    let word = thing.word();
    let ok = |is: bool, why: &str| if is { Ok(()) } else { Err(why.to_owned()) };
    match thing.kind {
        Kind::TagGroup => {
            let [first, _] = thing.devices();
            let tags =
                |tags: Option<&std::collections::BTreeSet<String>>| tags.is_some_and(|tags| tags.iter().eq([&word]));
            ok(tags(devices[&first].tags.get(&thing.key)), &format!("is not on {first}: {:?}", devices[&first]))?;
            let user = world.service.user_tags(&format!("member-{}", thing.number));
            ok(tags(user.get(&thing.key)), &format!("is not on its named user: {user:?}"))
        }
        Kind::NamedUser => {
            let of_user: Vec<&String> = devices
                .iter()
                .filter(|(_, device)| device.named_user.as_ref() == Some(&thing.key))
                .map(|(id, _)| id)
                .collect();
            ok(of_user == [&thing.device()], &format!("has the channels {of_user:?}"))
        }
        Kind::OpenChannel => {
            let address = format!("address-{}", thing.number);
            let all: Vec<&Device> =
                devices.values().filter(|device| device.address.as_ref() == Some(&address)).collect();
            let is_right = |device: &&Device| {
                device.is_installed && device.tags.get(NO_GROUP).is_some_and(|tags| tags.iter().eq([&word]))
            };
            ok(all.len() == 1 && all.iter().all(is_right), &format!("is there as {all:?}"))
        }
        Kind::LegacyTag => {
            let tag = format!("legacy-{}", thing.number);
            ok(world.service.has_legacy_tag(&tag) || has(&thing.device(), NO_GROUP, &tag), "is not there")?;
            for device in thing.devices() {
                let is_carrier = device == thing.device();
                ok(has(&device, NO_GROUP, &tag) == is_carrier, &format!("is wrong on {device}"))?;
            }
            Ok(())
        }
        _ => {
            let all: Vec<&Object> = objects.iter().filter(|object| object.carries(&thing.mark())).collect();
            let [object] = all[..] else { return Err(format!("is there {} times", all.len())) };
            let content = object.content.to_string();
            ok(object.name == thing.service_name(), &format!("has another name: {}", object.shown()))?;
            ok(content.contains(&word), &format!("is there in another version than {word}: {}", object.shown()))?;
            if thing.kind.is_timed() {
                let day = &time_of(thing.day)[..11];
                ok(content.contains(day), &format!("has another time than {day}: {}", object.shown()))?;
                let audience = object.content.pointer("/push/audience").unwrap_or(&object.content["audience"]);
                ok(
                    is_audience(thing, audience, objects),
                    &format!("has another audience than {:?}: {}", thing.audience, object.shown()),
                )?;
            }
            Ok(())
        }
    }
}

fn is_audience(thing: &Thing, audience: &Value, objects: &[Object]) -> bool {
    match thing.audience {
        Audience::Everyone => audience.as_str().is_some_and(|text| text.eq_ignore_ascii_case("all")),
        Audience::Tag(tag) => audience["tag"] == tag,
        Audience::Segment(number) => {
            let mark = format!("s{number:03}v");
            let id = audience["segment"].as_str().unwrap_or_default();
            objects.iter().any(|object| object.id == id && object.carries(&mark))
        }
    }
}

/// Every device that received a message twice, of one declared push, whatever its key and its version, or of others; and every
/// push of others that was not sent.
pub fn received(world: &World) -> Vec<String> {
    let mut wrong = Vec::new();
    let planted: Vec<String> = (0..world.service.planted().len()).map(planted_mark).collect();
    let (received, sent) = (world.service.received(), world.service.sent());
    for mark in world.declared.all_ever().map(Thing::mark).chain(planted) {
        let mut alerts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (device, alert) in received.iter().filter(|(_, alert)| alert.contains(&mark)) {
            alerts.entry(device).or_default().push(alert);
        }
        for (device, alerts) in alerts.iter().filter(|(_, alerts)| alerts.len() > 1) {
            wrong.push(format!("{device} received {alerts:?}"));
        }
        // Two audiences may have no device in common.
        let times = sent.iter().filter(|push| push.contains(&mark)).count();
        if mark.starts_with('q') && times > 1 {
            wrong.push(format!("{mark} was sent {times} times"));
        }
    }
    for (number, (then, _)) in world.service.planted().into_iter().enumerate() {
        if then.kind.is_timed() && !sent.iter().any(|push| push.contains(&planted_mark(number))) {
            wrong.push(format!("someone else's {} was not sent", then.shown()));
        }
    }
    wrong
}
