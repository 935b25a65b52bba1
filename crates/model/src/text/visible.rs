//! Texts from files, paths and services, made fit for a terminal and for a line of a log.

use jiff::Timestamp;

use super::{escape, is_plain, is_printable, marked};

/// A text whose every character can be seen, on as many lines as it has. What would move the cursor, colour the terminal,
/// turn the direction of reading or hide is escaped: `\x1B`, `\u202E`.
pub fn visible(text: &str) -> String {
    // Nearly always there is nothing to change.
    if is_plain(text) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for (_, c, hidden) in marked(text) {
        if hidden && c != '\n' { out.push_str(&escape(c)) } else { out.push(c) }
    }
    out
}

/// Returns a text as one line on which every character is visible. A line break becomes a space, so no part of the text looks
/// like a separate line.
pub fn one_line(text: &str) -> String {
    if is_printable(text) {
        return text.to_owned();
    }
    let mut out = visible(text);
    if out.contains('\n') {
        out = out.replace('\n', " ");
    }
    out
}

/// What goes or comes, with its line breaks as `\n`: one that takes the place of a blank can be seen.
pub fn line_breaks(text: &str) -> String {
    text.replace("\r\n", "\\r\\n").replace('\n', "\\n")
}

/// A time that a service tells, as people read it. What is no time is left as it is.
pub fn moment(text: &str) -> String {
    match text.parse::<Timestamp>() {
        Ok(at) => at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        Err(_) => text.to_owned(),
    }
}
