use pushplan_model::node::{At, shape};
use pushplan_model::nouns::many::Many;

shape! {
    /// How pushplan treats a resource. It is never sent to the service.
    pub struct Lifecycle as "lifecycle settings" {
        /// Whether deletion is refused.
        protect: Option<bool>,
        /// Fields left to the dashboard, as paths such as `push.notification.alert`.
        ignore: Option<Many<At<String>>>,
        /// The key it had before.
        renamed_from: Option<At<String>>,
        /// Whether it may address everybody.
        broadcast: Option<bool>,
        /// Codes of checks that do not apply to it.
        allow: Option<Many<At<String>>>,
        /// Codes of checks whose errors are warnings for it: the service has it so.
        warn: Option<Many<At<String>>>,
    }
}

impl Lifecycle {
    /// What holds where nothing is said.
    pub const NONE: Self =
        Self { protect: None, ignore: None, renamed_from: None, broadcast: None, allow: None, warn: None };

    /// The codes that are allowed here.
    pub fn allowed(&self) -> impl Iterator<Item = &At<String>> {
        self.allow.iter().flatten()
    }
}
