//! The fields that decide whether and when a triggered message is sent, in words.

/// Such a field of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendRule {
    /// Its key: `constraint`.
    pub field: &'static str,
    /// The label of its row in a plan.
    pub label: &'static str,
    /// Its effect: `at most 1 push in 24 hours to one device`.
    pub words: String,
}
