//! The error of a service that does not start.

use std::fmt;

/// Why a service does not start, for people.
#[derive(Debug)]
pub enum CannotStart {
    /// Another service uses its file.
    InUse(String),
    Other(String),
}

impl From<String> for CannotStart {
    fn from(why: String) -> Self {
        Self::Other(why)
    }
}

impl fmt::Display for CannotStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::InUse(why) | Self::Other(why)) = self;
        f.write_str(why)
    }
}
