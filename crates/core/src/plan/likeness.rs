use serde::{Deserialize, Serialize};

/// A feature that two similar messages share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Likeness {
    /// Their send times are within a day.
    Time,
    /// One tag change triggers both.
    Trigger,
    /// They have the same audience.
    Audience,
    /// Their texts are similar.
    Text,
}

impl Likeness {
    /// The feature as a word, as in "same audience".
    pub fn word(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Trigger => "trigger",
            Self::Audience => "audience",
            Self::Text => "text",
        }
    }
}
