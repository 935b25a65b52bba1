//! Tags without groups: the older API, which the contract still contains.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use pushplan_model::node::{At, shape};
use serde_json::json;

use super::{StateChange, channels, limits};
use crate::answer::{Answer, Answered, Refusal};
use crate::request::{Call, Request, RequestBody};
use crate::state::App;
use crate::state::devices::{NO_GROUP, Numbers};

/// The number of tags in a list. There is no second page.
const LISTED: usize = 100;

shape! {
    /// The channels that get a tag or lose it.
    pub struct SentCarriers as "an object with ios_channels, android_channels or amazon_channels" {
        /// On iOS.
        ios_channels: Option<SentMoves>,
        /// On Android.
        android_channels: Option<SentMoves>,
        /// On Amazon.
        amazon_channels: Option<SentMoves>,
    }
}

shape! {
    /// Channels that get a tag, and channels that lose it.
    pub struct SentMoves as "an object with add or remove" {
        /// The channels that get it.
        add: Option<Vec<At<String>>>,
        /// The channels that lose it.
        remove: Option<Vec<At<String>>>,
    }
}

shape! {
    /// All tags of one device.
    pub struct SentTagList as "an object with one channel and tags" {
        /// On iOS.
        ios_channel: Option<At<String>>,
        /// On Android.
        android_channel: Option<At<String>>,
        /// On Amazon.
        amazon_channel: Option<At<String>>,
        /// Its tags.
        tags: Vec<At<String>>,
    }
}

fn exists(app: &App, tag: &str) -> bool {
    app.legacy_tags.get(tag).is_some() || app.devices.with_tag(NO_GROUP, tag).is_some()
}

pub fn list(app: &App, _: &Call) -> Answered {
    let made = app.legacy_tags.iter().map(|(tag, _)| tag).take(LISTED);
    let both: BTreeSet<&str> = made.chain(app.devices.tags_of(NO_GROUP).take(LISTED)).collect();
    let tags: Vec<&str> = both.into_iter().take(LISTED).collect();
    Ok(Answer::bare(200, json!({ "tags": tags })))
}

pub fn create(app: &mut App, call: &Call) -> Answered {
    let tag = call.request.param(0);
    limits::tag(tag)?;
    let status = if exists(app, tag) { 200 } else { 201 };
    if app.legacy_tags.get(tag).is_none() {
        app.legacy_tags.put(&mut app.journal, tag, call.now);
    }
    Ok(Answer::done(status, json!({})))
}

pub fn change(request: &Request, sent: &RequestBody) -> Result<StateChange, Refusal> {
    limits::tag(request.param(0))?;
    let SentCarriers { ios_channels, android_channels, amazon_channels } = sent.read()?;
    let platforms = [(ios_channels, "ios"), (android_channels, "android"), (amazon_channels, "amazon")];
    if platforms.iter().all(|(moves, _)| moves.is_none()) {
        return Err(Refusal::invalid("no channels are named"));
    }
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    for (moves, device_type) in platforms {
        let Some(SentMoves { add, remove }) = moves else { continue };
        if add.is_none() && remove.is_none() {
            return Err(Refusal::invalid(format!("`{device_type}_channels` needs `add` or `remove`")));
        }
        for (ids, all) in [(add, &mut added), (remove, &mut removed)] {
            all.extend(ids.into_iter().flatten().map(|id| (id, device_type)));
        }
    }
    limits::at_most(limits::ITEMS, added.len() + removed.len(), "channels")?;
    Ok(Box::new(move |app, call| {
        let numbers = |app: &App, ids: &[(At<String>, &str)]| {
            let known = ids.iter().map(|(id, device_type)| channels::known(app, id, Some(device_type)));
            known.collect::<Result<Numbers, Refusal>>()
        };
        let tag = call.request.param(0);
        let (add, remove) = (numbers(app, &added)?, numbers(app, &removed)?);
        for number in &add {
            let mut tags = app.devices.device(*number).map(|device| device.tags.clone()).unwrap_or_default();
            tags.entry(NO_GROUP.to_owned()).or_default().insert(tag.to_owned());
            limits::tags_per_channel(app.devices.id(*number), &tags)?;
        }
        // A device that is in both lists loses the tag, and never had it.
        for number in add.difference(&remove) {
            app.change_tags(*number, call.now, |tags| {
                tags.entry(NO_GROUP.to_owned()).or_default().insert(tag.to_owned());
            });
        }
        for number in remove {
            app.change_tags(number, call.now, |tags| {
                if let Some(tags) = tags.get_mut(NO_GROUP) {
                    tags.remove(tag);
                }
            });
        }
        Ok(Answer::done(200, json!({})))
    }))
}

/// Deletes a tag from some of its devices, from the device `first` on.
pub fn delete(app: &mut App, call: &Call, first: u32) -> Result<ControlFlow<Answer, u32>, Refusal> {
    match app.delete_tag(call.request.param(0), first, call.now) {
        ControlFlow::Continue(next) => Ok(ControlFlow::Continue(next)),
        ControlFlow::Break(existed) if existed || first > 0 => Ok(ControlFlow::Break(Answer::empty(204))),
        ControlFlow::Break(_) => Err(Refusal::not_found("Tag")),
    }
}

/// Gives each device exactly the tags that are listed for it. The whole request is checked before anything is changed.
pub fn batch(_: &Request, sent: &RequestBody) -> Result<StateChange, Refusal> {
    let sent: Vec<SentTagList> = sent.read()?;
    limits::at_most(limits::ITEMS, sent.len(), "channels")?;
    let mut lists = Vec::new();
    for SentTagList { ios_channel, android_channel, amazon_channel, tags } in sent {
        let keys = [(ios_channel, "ios"), (android_channel, "android"), (amazon_channel, "amazon")];
        let mut named = keys.into_iter().filter_map(|(id, device_type)| Some((id?, device_type)));
        let (Some((id, device_type)), None) = (named.next(), named.next()) else {
            return Err(Refusal::invalid("each entry names exactly one channel"));
        };
        tags.iter().try_for_each(|tag| limits::tag(tag))?;
        let tags: BTreeSet<String> = tags.into_iter().map(|tag| tag.value).collect();
        lists.push((id, device_type, tags));
    }
    Ok(Box::new(move |app, call| {
        let mut changes = Vec::new();
        for (id, device_type, tags) in lists {
            let number = channels::known(app, &id, Some(device_type))?;
            let mut all = app.devices.device(number).map(|device| device.tags.clone()).unwrap_or_default();
            all.insert(NO_GROUP.to_owned(), tags.clone());
            limits::tags_per_channel(&id, &all)?;
            changes.push((number, tags));
        }
        for (number, list) in changes {
            app.change_tags(number, call.now, |tags| {
                tags.insert(NO_GROUP.to_owned(), list);
            });
        }
        Ok(Answer::done(200, json!({})))
    }))
}
