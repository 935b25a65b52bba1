use serde::{Deserialize, Serialize};

/// Something that two similar messages have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Likeness {
    /// They are sent within a day of each other.
    Time,
    /// One tag change triggers both.
    Trigger,
    /// They go to the same people.
    Audience,
    /// Their texts are much the same.
    Text,
}

impl Likeness {
    /// In a word, as in "same audience".
    pub fn word(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Trigger => "trigger",
            Self::Audience => "audience",
            Self::Text => "text",
        }
    }
}
