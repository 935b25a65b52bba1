//! Why a service does not start, where a user can do something about it.

use std::fmt;

/// Another service uses the file.
#[derive(Debug)]
pub struct InUse(pub String);

impl fmt::Display for InUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InUse {}
