//! Digests: whether something is still what it was.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The SHA-256 of something, in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The digest of a JSON value. Keys are sorted, so that equal values have equal digests.
    pub fn of_value(value: &Value) -> Self {
        Self::of(value.to_string().as_bytes())
    }

    /// The digest of anything that can be written as JSON.
    pub fn of_data(data: &impl Serialize) -> Self {
        Self::of_value(&serde_json::to_value(data).expect("what is kept has text keys only"))
    }

    /// Enough of it for people to tell two apart: `7c1e-03fa`.
    pub fn short(&self) -> String {
        let at = |range| self.0.get(range).unwrap_or_default();
        format!("{}-{}", at(0..4), at(4..8))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn equal_values_have_equal_digests() {
        let one = Digest::of_value(&json!({"a": 1, "b": [2]}));
        assert_eq!(one, Digest::of_value(&json!({"b": [2], "a": 1})));
        assert_ne!(one, Digest::of_value(&json!({"a": 1, "b": [3]})));
        assert_eq!(Digest::of(b"").short(), "e3b0-c442");
    }
}
