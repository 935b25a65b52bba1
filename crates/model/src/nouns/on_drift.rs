//! The setting for changes that someone made on the service.

use crate::node::words;

words! {
    /// What a plan does with what someone changed on the service since the last apply, where git says something else.
    OnDrift, "\"overwrite\" or \"stop\"" {
        /// Git's version is put back.
        Overwrite = "overwrite",
        /// The plan is refused.
        Stop = "stop",
    }
}

impl OnDrift {
    /// Returns the default.
    pub fn usual() -> Self {
        Self::Overwrite
    }

    /// Whether it is the default.
    pub fn is_usual(&self) -> bool {
        *self == Self::usual()
    }
}
