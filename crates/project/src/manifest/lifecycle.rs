use pushplan_model::node::{At, shape};
use pushplan_model::nouns::many::Many;

shape! {
    /// Checks and protections of one resource.
    pub struct Lifecycle as "lifecycle settings" {
        /// Whether plans that delete or replace it are refused [default: false].
        protect: Option<bool>,
        /// Fields that may be changed in the dashboard, as paths such as `push.notification.alert`. pushplan does not
        /// change them.
        ignore: Option<Many<At<String>>>,
        /// Its earlier key, after a rename.
        renamed_from: Option<At<String>>,
        /// Whether it may be sent to all devices [default: false].
        broadcast: Option<bool>,
        /// Codes of checks to turn off for this resource.
        allow: Option<Many<At<String>>>,
        /// Codes of checks whose errors are only warnings for this resource.
        warn: Option<Many<At<String>>>,
    }
}

impl Lifecycle {
    /// The defaults.
    pub const NONE: Self =
        Self { protect: None, ignore: None, renamed_from: None, broadcast: None, allow: None, warn: None };

    /// The allowed codes.
    pub fn allowed(&self) -> impl Iterator<Item = &At<String>> {
        self.allow.iter().flatten()
    }
}
