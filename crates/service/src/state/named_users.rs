//! Named users: several devices under one id.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::App;
use super::devices::Tags;
use crate::store::Kept;

/// A named user. Its devices refer to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedUser {
    pub tags: Tags,
    pub created: Timestamp,
    pub last_modified: Timestamp,
}

impl App {
    /// Assigns a device to a named user, and removes it from its previous one.
    ///
    /// From now on, the device has the tags of this user instead of those of the previous one. That is not an addition
    /// or a removal of tags, and so triggers nothing: the tags belong to the users.
    pub fn associate(&mut self, number: u32, user: Option<&str>, now: Timestamp) {
        let Some(device) = self.devices.device(number) else { return };
        let before = device.named_user.clone();
        if before.as_deref() == user {
            return;
        }
        for changed in [before.as_deref(), user].into_iter().flatten() {
            self.touch_user(changed, now);
        }
        let id = self.devices.id(number).to_owned();
        self.devices.change(&mut self.journal, &id, |device| device.named_user = user.map(str::to_owned));
    }

    /// Updates the modification time of a named user, and creates the user if necessary.
    pub(super) fn touch_user(&mut self, user: &str, now: Timestamp) {
        if self.named_users.change(&mut self.journal, user, |user| user.last_modified = now).is_none() {
            let new = NamedUser { tags: Tags::new(), created: now, last_modified: now };
            self.named_users.put(&mut self.journal, user, new);
        }
    }

    pub(super) fn load_named_user(&mut self, row: &Kept) -> anyhow::Result<()> {
        self.named_users.load(row)?;
        if let Some(user) = self.named_users.get(&row.key) {
            self.devices.set_user_tags(&row.key, &user.tags);
        }
        Ok(())
    }
}
