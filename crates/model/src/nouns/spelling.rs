//! Alternative spellings of a word, in schemas.

/// Marks a form that is only another spelling. Explanations of the forms leave it out.
pub const ANOTHER_SPELLING: &str = "another spelling";

/// Returns a pattern for a word in any case.
pub(crate) fn any_case(word: &str) -> String {
    word.chars().map(|c| format!("[{}{c}]", c.to_ascii_uppercase())).collect()
}
