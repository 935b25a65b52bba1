//! Limits of tags and named users, wherever they are sent.

use crate::answer::Refusal;
use crate::state::devices::Tags;

/// The maximum length of a tag, a tag group and the id of a named user, in characters.
const LONGEST: usize = 128;
const TAGS_PER_GROUP: usize = 100;
const TAGS_PER_CHANNEL: usize = 1_000;
const CHANNELS_PER_USER: usize = 100;

/// The maximum number of items in one request, if there is no other limit.
pub(crate) const ITEMS: usize = 1_000;

/// The maximum number of single tags that one request changes, each of one channel or named user.
pub(crate) const TAG_CHANGES: usize = 100_000;

/// Checks the number of items in one request.
pub(crate) fn at_most(most: usize, count: usize, things: &str) -> Result<(), Refusal> {
    if count <= most {
        return Ok(());
    }
    Err(Refusal::too_many(format!("{count} {things} in one request; {most} are possible")))
}

fn length(what: &str, text: &str) -> Result<(), Refusal> {
    match text.chars().count() {
        1..=LONGEST => Ok(()),
        count => Err(Refusal::invalid(format!("{what} has 1 to {LONGEST} characters, not {count}"))),
    }
}

pub fn tag(tag: &str) -> Result<(), Refusal> {
    length("a tag", tag)
}

/// Checks a tag group that a request changes. Any name is accepted, because groups are created in the dashboard.
pub fn group(group: &str) -> Result<(), Refusal> {
    length("the name of a tag group", group)?;
    if group.starts_with("ua_") || group == "timezone" {
        let why = format!("the service itself keeps the tags of `{group}`: they cannot be changed");
        return Err(Refusal::invalid(why));
    }
    Ok(())
}

pub fn named_user(id: &str) -> Result<(), Refusal> {
    length("the id of a named user", id)?;
    if id.trim() != id {
        return Err(Refusal::invalid("the id of a named user neither begins nor ends with white space"));
    }
    Ok(())
}

/// Checks how many tags of one group a request names.
pub(crate) fn tags_per_group(group: &str, count: usize) -> Result<(), Refusal> {
    if count <= TAGS_PER_GROUP {
        return Ok(());
    }
    Err(Refusal::too_many(format!("{count} tags of `{group}` in one request; at most {TAGS_PER_GROUP} are possible")))
}

/// Checks how many tags a channel would have.
pub(crate) fn tags_per_channel(id: &str, tags: &Tags) -> Result<(), Refusal> {
    match tags.values().map(std::collections::BTreeSet::len).sum::<usize>() {
        0..=TAGS_PER_CHANNEL => Ok(()),
        count => Err(Refusal::too_many(format!(
            "the channel {id} would have {count} tags; at most {TAGS_PER_CHANNEL} are possible"
        ))),
    }
}

/// Checks how many channels a named user would have.
pub(crate) fn channels_per_user(user: &str, count: usize) -> Result<(), Refusal> {
    if count <= CHANNELS_PER_USER {
        return Ok(());
    }
    let why = format!("`{user}` would have {count} channels; at most {CHANNELS_PER_USER} are possible");
    Err(Refusal::too_many(why))
}
