//! Texts from files and paths, made fit for a terminal and for a line of a log.

use crate::text::is_hidden;

/// A text whose every character can be seen, on as many lines as it has. What would move the cursor, colour the terminal
/// or turn the direction of reading is shown as one replacement character each.
pub fn visible(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { c } else { shown(c) }).collect()
}

/// The same on one line: nothing in it can be taken for a line of its own.
pub fn one_line(text: &str) -> String {
    visible(text).replace('\n', " ")
}

/// A character, or what stands for it.
pub fn shown(c: char) -> char {
    let breaks_lines = matches!(c, '\u{2028}' | '\u{2029}');
    if c.is_control() || is_hidden(c) || breaks_lines { char::REPLACEMENT_CHARACTER } else { c }
}
