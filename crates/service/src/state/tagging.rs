//! Changes of tags. All of them come through here, so that everything that depends on a tag is notified.

use std::ops::ControlFlow;

use jiff::Timestamp;

use super::App;
use super::devices::{Carriers, NO_GROUP, Tags, has, pairs};
use super::sending::PART;

/// A group and a tag.
type Pair = (String, String);

impl App {
    /// Changes a device's own tags. A tag that it also has through its named user is neither added nor removed.
    pub fn change_tags(&mut self, number: u32, now: Timestamp, change: impl FnOnce(&mut Tags)) {
        let Some(device) = self.devices.device(number) else { return };
        let (before, mut after) = (device.tags.clone(), device.tags.clone());
        change(&mut after);
        after.retain(|_, tags| !tags.is_empty());
        if after == before {
            return;
        }
        let user = device.named_user.clone();
        let id = self.devices.id(number).to_owned();
        self.devices.change(&mut self.journal, &id, |device| device.tags.clone_from(&after));
        let elsewhere =
            |group: &str, tag: &str| user.as_ref().is_some_and(|user| self.devices.user_has_tag(user, group, tag));
        let (added, removed) = (beyond(&after, &before, elsewhere), beyond(&before, &after, elsewhere));
        self.tags_changed(number, &added, &removed, now);
    }

    /// Changes the tags of a named user, which all of its devices have. A user that gets its first tag exists from then
    /// on.
    pub fn change_user_tags(&mut self, user: &str, now: Timestamp, change: impl FnOnce(&mut Tags)) {
        let before = self.named_users.get(user).map(|user| user.tags.clone()).unwrap_or_default();
        let mut after = before.clone();
        change(&mut after);
        after.retain(|_, tags| !tags.is_empty());
        if after == before {
            return;
        }
        self.touch_user(user, now);
        self.named_users.change(&mut self.journal, user, |user| user.tags.clone_from(&after));
        self.devices.set_user_tags(user, &after);
        for number in self.devices.of_user(user).cloned().unwrap_or_default() {
            let Some(device) = self.devices.device(number) else { continue };
            let own = |group: &str, tag: &str| device.has_tag(group, tag);
            let (added, removed) = (beyond(&after, &before, own), beyond(&before, &after, own));
            self.tags_changed(number, &added, &removed, now);
        }
    }

    /// Deletes a tag without a group from the application and from its devices, at most [`PART`] of them from `first`
    /// on. Returns the device to go on with, or at the end whether the tag existed.
    pub(crate) fn delete_tag(&mut self, tag: &str, first: u32, now: Timestamp) -> ControlFlow<bool, u32> {
        let made = self.legacy_tags.get(tag).is_some();
        let carriers: Vec<u32> = {
            let all = self.devices.with_tag(NO_GROUP, tag).into_iter().flat_map(Carriers::iter);
            all.filter(|number| *number >= first).take(PART + 1).collect()
        };
        for number in carriers.iter().take(PART) {
            self.change_tags(*number, now, |tags| {
                if let Some(tags) = tags.get_mut(NO_GROUP) {
                    tags.remove(tag);
                }
            });
        }
        if let Some(next) = carriers.get(PART) {
            return ControlFlow::Continue(*next);
        }
        self.legacy_tags.remove(&mut self.journal, tag);
        ControlFlow::Break(made || !carriers.is_empty())
    }

    /// Handles every tag that a device got and lost.
    pub(super) fn tags_changed(&mut self, number: u32, added: &[Pair], removed: &[Pair], now: Timestamp) {
        for (group, tag) in removed {
            self.tag_removed(number, group, tag, now);
        }
        self.tags_added(number, added, now);
    }
}

/// Returns the tags that are in one, but neither in the other nor `elsewhere`.
pub(super) fn beyond(one: &Tags, other: &Tags, elsewhere: impl Fn(&str, &str) -> bool) -> Vec<Pair> {
    let found = pairs(one).filter(|(group, tag)| !has(other, group, tag) && !elsewhere(group, tag));
    found.map(|(group, tag)| (group.to_owned(), tag.to_owned())).collect()
}
