use std::collections::BTreeMap;

use super::{Parts, Resource, TagUse};
use crate::model::many::{Many, Set};
use crate::node::{At, shape};

shape! {
    /// A group of tags: its vocabulary, and members whose tags are kept in git. The group itself is made in the dashboard.
    pub struct TagGroup as "a tag group" {
        /// What the group is about.
        description: Option<At<String>>,
        /// The vocabulary. Any other tag in this group is an error. Without it, every tag is taken.
        tags: Option<Many<At<String>>>,
        /// Who has which of its tags.
        members: Option<Members>,
    }
}

shape! {
    /// Members of a tag group, and the tags of the group that each has.
    pub struct Members as "members by named_users, ios_channels and android_channels" or nothing {
        /// Tags by named user id.
        named_users: BTreeMap<At<String>, Set<At<String>>>,
        /// Tags by iOS channel id.
        ios_channels: BTreeMap<At<String>, Set<At<String>>>,
        /// Tags by Android channel id.
        android_channels: BTreeMap<At<String>, Set<At<String>>>,
    }
}

impl Members {
    /// Every member with its tags, whatever it is.
    pub fn all(&self) -> impl Iterator<Item = (&At<String>, &Set<At<String>>)> {
        self.named_users.iter().chain(&self.ios_channels).chain(&self.android_channels)
    }
}

impl Resource for TagGroup {
    const KEY: &'static str = "tag_groups";
    const NOUN: &'static str = "tag group";
    const PURPOSE: &'static str = "A group of tags: its vocabulary, and members whose tags are kept in git.";

    fn settle(&mut self, _: &At<String>) {
        // A vocabulary is a set. An empty one is not the same as none: it has room for no tag.
        if let Some(tags) = &mut self.tags {
            tags.sort_unstable();
            tags.dedup();
        }
    }

    fn parts<'r>(&'r self, parts: &mut Parts<'r>) {
        let group = Some(parts.key);
        let members = self.members.iter().flat_map(Members::all);
        parts.tags.extend(members.flat_map(|(_, tags)| tags).map(|tag| TagUse { tag, group }));
    }
}
