//! Other spellings of a word, in schemas.

/// Marks a form that says nothing new: whoever explains the forms passes over it.
pub const ANOTHER_SPELLING: &str = "another spelling";

/// A pattern for a word in any letter case.
pub(crate) fn any_case(word: &str) -> String {
    word.chars().map(|c| format!("[{}{c}]", c.to_ascii_uppercase())).collect()
}
