//! Makes texts from files, paths and services safe for a terminal and for a line of a log.

use jiff::Timestamp;

use super::{escape, is_plain, is_printable, marked};

/// Returns a text with every character visible, on the same number of lines. Everything that would move the cursor,
/// color the terminal, change the reading direction or hide is escaped: `\x1B`, `\u202E`.
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

/// Writes line breaks as `\n`, so that one in place of a space is visible.
pub fn line_breaks(text: &str) -> String {
    text.replace("\r\n", "\\r\\n").replace('\n', "\\n")
}

/// Returns a time of a service as people read it. Other texts stay unchanged.
pub fn moment(text: &str) -> String {
    match text.parse::<Timestamp>() {
        Ok(at) => at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        Err(_) => text.to_owned(),
    }
}
