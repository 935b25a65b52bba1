//! Reading the channel list of a target, page by page.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;

use pushplan_io::client::refusal;
use pushplan_io::failure::Failure;
use pushplan_model::exchange::{BadAnswer, Loss, Meaning};
use pushplan_model::population::{
    DeviceFacts, MOST_DEVICES, Population, PopulationBuilder, PopulationSource, UserTags,
};
use serde_json::Value;

use crate::engine::Opened;
use crate::live::Pages;

/// The largest page size of the service.
const CHANNELS: &str = "/api/channels?limit=1000";
const USERS: &str = "/api/named_users?limit=1000";

/// The progress of reading the lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReachProgress {
    pub users: usize,
    pub channels: usize,
}

/// A population built from pages of lists. Pure: the pages are arguments.
#[derive(Debug)]
pub struct ChannelList {
    builder: PopulationBuilder,
    users: HashMap<String, Option<UserTags>>,
    /// The hashes of the ids of known channels: each channel is counted once.
    seen: HashSet<u64>,
    channels: usize,
}

impl ChannelList {
    pub fn new(builder: PopulationBuilder) -> Self {
        Self { builder, users: HashMap::new(), seen: HashSet::new(), channels: 0 }
    }

    /// Adds a page of the list of named users. A record may lack the tags of its user.
    pub fn add_users(&mut self, page: &Value) -> Result<(), BadAnswer> {
        let users = page["named_users"].as_array().ok_or("it has no `named_users`")?;
        for user in users {
            let id = user["named_user_id"].as_str().ok_or("a named user has no `named_user_id`")?;
            self.users.insert(id.to_owned(), user_tags(&user["tags"]));
        }
        Ok(())
    }

    /// Adds a page of the channel list.
    pub fn add_channels(&mut self, page: &Value) -> Result<(), BadAnswer> {
        let channels = page["channels"].as_array().ok_or("it has no `channels`")?;
        let Self { builder, users, seen, .. } = self;
        let mut new = 0;
        for channel in channels {
            let id = channel["channel_id"].as_str().ok_or("a channel has no `channel_id`")?;
            // A channel can be on two pages if the list changes while it is read.
            if !seen.insert(hash(id)) {
                continue;
            }
            new += 1;
            let tags_of = |user: &str| users.get(user).cloned().flatten();
            if let Some(facts) = DeviceFacts::of_channel(channel, &tags_of)? {
                builder.add(&facts);
            }
        }
        if new == 0 && !channels.is_empty() {
            return Err("a page of the list has only channels of earlier pages".into());
        }
        self.channels += new;
        if self.builder.len() > MOST_DEVICES {
            return Err(format!("it has more than {MOST_DEVICES} channels").into());
        }
        Ok(())
    }

    pub fn progress(&self) -> ReachProgress {
        ReachProgress { users: self.users.len(), channels: self.channels }
    }

    pub fn done(self) -> Population {
        self.builder.done()
    }
}

/// Tags by group in the record of a named user; `None` if it has none.
fn user_tags(tags: &Value) -> Option<UserTags> {
    let mut found = UserTags::new();
    for (group, tags) in tags.as_object()? {
        for tag in tags.as_array()? {
            found.push((group.clone(), tag.as_str()?.to_owned()));
        }
    }
    Some(found)
}

fn hash(id: &str) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

/// Reads the named users and the channels of a target. Both lists are part of the contract.
pub async fn read(opened: &Opened, progress: &dyn Fn(ReachProgress)) -> Result<Population, Failure> {
    let builder = PopulationBuilder::new(PopulationSource::Channels, Some(opened.now()), &opened.app);
    let mut list = ChannelList::new(builder);
    pages(opened, USERS, |page| {
        let added = list.add_users(page);
        progress(list.progress());
        added
    })
    .await?;
    pages(opened, CHANNELS, |page| {
        let added = list.add_channels(page);
        progress(list.progress());
        added
    })
    .await?;
    Ok(list.done())
}

/// Reads every page of a list. An answer that is no page, and pages in a circle, are errors.
async fn pages(
    opened: &Opened,
    first: &str,
    mut take: impl FnMut(&Value) -> Result<(), BadAnswer>,
) -> Result<(), Failure> {
    let (reading, origin, mut pages) = (opened.reading(), opened.origin().to_string(), Pages::default());
    let mut path = first.to_owned();
    loop {
        let failed = |why: &dyn Display| {
            Failure::new(format!("GET {path} failed: {why}"))
                .help("the list is incomplete, so nothing was counted; the earlier population is kept")
        };
        let answered = reading.get(&path).await;
        let answer = answered.map_err(|(Loss::NotSent(why) | Loss::Unknown(why))| failed(&why))?;
        if let Some(refused) = refusal(reading.origin(), &answer) {
            return Err(refused);
        }
        if answer.meaning() != Meaning::Done {
            return Err(failed(&answer.error()));
        }
        let body = answer.body.unwrap_or_default();
        take(&body).map_err(|why| failed(&why))?;
        match pages.next(&origin, &path, &body).map_err(|why| failed(&why))? {
            Some(next) => path = next,
            None => return Ok(()),
        }
    }
}
