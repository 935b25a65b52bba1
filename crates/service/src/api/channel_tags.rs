//! Tags in groups, for channels and named users.

use std::collections::{BTreeMap, BTreeSet};

use pushplan_model::node::{At, shape};
use pushplan_model::nouns::many::Many;
use pushplan_model::nouns::tagged::group_of;
use serde_json::json;

use super::{StateChange, channels, limits};
use crate::answer::{Answer, Refusal};
use crate::request::{Request, RequestBody};
use crate::state::TagGroups;
use crate::state::devices::{NO_GROUP, Tags};

shape! {
    /// A change of channels' tags, as sent.
    pub struct SentChannelTags as "an object with audience and add, remove or set" {
        /// The channels.
        audience: SentChannels,
        /// Tags to add, by group.
        add: Option<BTreeMap<At<String>, Vec<At<String>>>>,
        /// Tags to remove, by group.
        remove: Option<BTreeMap<At<String>, Vec<At<String>>>>,
        /// All tags of each named group.
        set: Option<BTreeMap<At<String>, Vec<At<String>>>>,
    }
}

shape! {
    /// Channels by device type.
    pub struct SentChannels as "an object with ios_channel, android_channel, amazon_channel or channel" {
        /// On iOS.
        ios_channel: Option<Many<At<String>>>,
        /// On Android.
        android_channel: Option<Many<At<String>>>,
        /// On Amazon.
        amazon_channel: Option<Many<At<String>>>,
        /// With any device type.
        channel: Option<Many<At<String>>>,
    }
}

shape! {
    /// A change of named users' tags, as sent.
    pub struct SentUserTags as "an object with audience and add, remove or set" {
        /// The named users.
        audience: SentUsers,
        /// Tags to add, by group.
        add: Option<BTreeMap<At<String>, Many<At<String>>>>,
        /// Tags to remove, by group.
        remove: Option<BTreeMap<At<String>, Many<At<String>>>>,
        /// All tags of each named group.
        set: Option<BTreeMap<At<String>, Many<At<String>>>>,
    }
}

shape! {
    /// Named users.
    pub struct SentUsers as "an object with named_user_id" {
        /// Their ids.
        named_user_id: Many<At<String>>,
    }
}

/// Groups and their tags, as a request lists them.
type Listed = Option<Vec<(String, Vec<String>)>>;

/// A change of tags.
#[derive(Debug)]
enum TagChange {
    /// Each of the two changes only the tags that it names.
    Alter { add: Tags, remove: Tags },
    /// Replaces all tags of the groups that it names, and of no other group.
    Set(Tags),
}

impl TagChange {
    /// From `add`, `remove`, both, or only `set`.
    fn of(add: Listed, remove: Listed, set: Listed) -> Result<Self, Refusal> {
        match (add, remove, set) {
            (None, None, None) => Err(Refusal::invalid("one of `add`, `remove` and `set` is needed")),
            (None, None, Some(set)) => Ok(Self::Set(checked("set", set)?)),
            (_, _, Some(_)) => Err(Refusal::invalid("`set` stands alone, without `add` and `remove`")),
            (add, remove, None) => Ok(Self::Alter {
                add: add.map(|add| checked("add", add)).transpose()?.unwrap_or_default(),
                remove: remove.map(|remove| checked("remove", remove)).transpose()?.unwrap_or_default(),
            }),
        }
    }

    /// Leaves out the groups that do not exist, and returns their names.
    fn take_unknown(&mut self, groups: &TagGroups) -> BTreeSet<String> {
        match self {
            Self::Set(set) => groups.take_unknown(set),
            Self::Alter { add, remove } => {
                let mut unknown = groups.take_unknown(add);
                unknown.append(&mut groups.take_unknown(remove));
                unknown
            }
        }
    }

    /// Returns how many tags it names.
    fn count(&self) -> usize {
        let of = |tags: &Tags| tags.values().map(BTreeSet::len).sum::<usize>();
        match self {
            Self::Alter { add, remove } => of(add) + of(remove),
            Self::Set(set) => of(set),
        }
    }

    /// A tag that is both added and removed is removed.
    fn apply(&self, tags: &mut Tags) {
        match self {
            Self::Set(set) => tags.extend(set.clone()),
            Self::Alter { add, remove } => {
                for (group, added) in add {
                    tags.entry(group.clone()).or_default().extend(added.iter().cloned());
                }
                for (group, removed) in remove {
                    if let Some(tags) = tags.get_mut(group) {
                        tags.retain(|tag| !removed.contains(tag));
                    }
                }
            }
        }
        tags.retain(|_, tags| !tags.is_empty());
    }
}

fn checked(key: &str, listed: Vec<(String, Vec<String>)>) -> Result<Tags, Refusal> {
    if listed.is_empty() {
        return Err(Refusal::invalid(format!("`{key}` names no tag group")));
    }
    limits::at_most(limits::ITEMS, listed.iter().map(|(_, tags)| tags.len()).sum(), "tags")?;
    for (group, tags) in &listed {
        limits::group(group)?;
        limits::tags_per_group(group, tags.len())?;
        tags.iter().try_for_each(|tag| limits::tag(tag))?;
    }
    let named = |group: String| group_of(Some(&group)).map_or(NO_GROUP, |group| group).to_owned();
    Ok(listed.into_iter().map(|(group, tags)| (named(group), tags.into_iter().collect())).collect())
}

/// Removes the positions from groups and tags.
fn plain<L: IntoIterator<Item = At<String>>>(sent: Option<BTreeMap<At<String>, L>>) -> Listed {
    let texts = |tags: L| tags.into_iter().map(|tag| tag.value).collect();
    sent.map(|groups| groups.into_iter().map(|(group, tags)| (group.value, texts(tags))).collect())
}

/// Removes the positions from groups and tags, if a single tag may be sent without a list.
fn plain_many(sent: Option<BTreeMap<At<String>, Many<At<String>>>>) -> Listed {
    plain(sent.map(|groups| groups.into_iter().map(|(group, tags)| (group, tags.0)).collect()))
}

pub fn of_channels(_: &Request, sent: &RequestBody) -> Result<StateChange, Refusal> {
    let sent: SentChannelTags = sent.read()?;
    let mut change = TagChange::of(plain(sent.add), plain(sent.remove), plain(sent.set))?;
    let SentChannels { ios_channel, android_channel, amazon_channel, channel } = sent.audience;
    let lists = [(ios_channel, Some("ios")), (android_channel, Some("android")), (amazon_channel, Some("amazon"))];
    let lists = lists.into_iter().chain([(channel, None)]);
    let each =
        |(ids, kind): (Option<Many<At<String>>>, _)| ids.into_iter().flat_map(|ids| ids.0).map(move |id| (id, kind));
    let ids: Vec<(At<String>, Option<&str>)> = lists.flat_map(each).collect();
    if ids.is_empty() {
        return Err(Refusal::invalid("the audience names no channel"));
    }
    limits::at_most(limits::ITEMS, ids.len(), "channels")?;
    limits::at_most(limits::TAG_CHANGES, ids.len() * change.count(), "changes of tags")?;
    Ok(Box::new(move |app, call| {
        let unknown = change.take_unknown(&app.tag_groups);
        let known = ids.iter().map(|(id, device_type)| channels::known(app, id, *device_type));
        let numbers = known.collect::<Result<Vec<_>, _>>()?;
        for number in &numbers {
            let mut tags = app.devices.device(*number).map(|device| device.tags.clone()).unwrap_or_default();
            change.apply(&mut tags);
            limits::tags_per_channel(app.devices.id(*number), &tags)?;
        }
        for number in numbers {
            app.change_tags(number, call.now, |tags| change.apply(tags));
        }
        let warning = |group| format!("the tag group `{group}` does not exist; its tags were left out");
        let warnings: Vec<String> = unknown.iter().map(warning).collect();
        Ok(Answer::ok(200, if warnings.is_empty() { json!({}) } else { json!({ "warnings": warnings }) }))
    }))
}

pub(crate) fn of_named_users(_: &Request, sent: &RequestBody) -> Result<StateChange, Refusal> {
    let sent: SentUserTags = sent.read()?;
    let mut change = TagChange::of(plain_many(sent.add), plain_many(sent.remove), plain_many(sent.set))?;
    let users = sent.audience.named_user_id;
    if users.is_empty() {
        return Err(Refusal::invalid("the audience names no named user"));
    }
    limits::at_most(limits::ITEMS, users.len(), "named users")?;
    limits::at_most(limits::TAG_CHANGES, users.len() * change.count(), "changes of tags")?;
    users.iter().try_for_each(|user| limits::named_user(user))?;
    Ok(Box::new(move |app, call| {
        let unknown: Vec<String> = change.take_unknown(&app.tag_groups).into_iter().collect();
        for user in &*users {
            app.change_user_tags(user, call.now, |tags| change.apply(tags));
        }
        Ok(Answer::ok(200, if unknown.is_empty() { json!({}) } else { json!({ "tag_warnings": unknown.join(",") }) }))
    }))
}
