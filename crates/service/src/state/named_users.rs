//! Named users: several devices under one id.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::App;
use super::devices::Tags;
use crate::store::Kept;

/// A named user. Which devices it has, its devices tell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedUser {
    pub tags: Tags,
    pub created: Timestamp,
    pub last_modified: Timestamp,
}

impl App {
    /// Puts a device under a named user, and takes it away from the one that it had.
    ///
    /// The device carries the user's tags from now on, and no longer those of the user before. That adds and removes no tag,
    /// and so sets nothing off: the tags were the users' all along.
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

    /// Says that a named user was changed just now. From the first time on it exists.
    pub(super) fn touch_user(&mut self, user: &str, now: Timestamp) {
        if self.named_users.change(&mut self.journal, user, |user| user.last_modified = now).is_none() {
            let new = NamedUser { tags: Tags::new(), created: now, last_modified: now };
            self.named_users.put(&mut self.journal, user, new);
        }
    }

    pub(super) fn load_named_user(&mut self, row: &Kept) -> Result<(), String> {
        self.named_users.load(row)?;
        if let Some(user) = self.named_users.get(&row.key) {
            self.devices.set_user_tags(&row.key, &user.tags);
        }
        Ok(())
    }
}
