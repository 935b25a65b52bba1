//! Every fact in the text of a plan is in the JSON document.

use serde_json::Value;

/// Rows whose words are in the document unchanged.
const TOLD_ALIKE: &[&str] = &[
    "effect",
    "shown as",
    "undo",
    "replace",
    "held",
    "refers to",
    "recovered",
    "moved",
    "taken",
    "drift",
    "to keep",
    "forget",
    "unprotected",
    "gone",
    "waits",
    "blocked",
    "manual",
    "too late",
    "devices",
];

/// Words without facts of their own: labels, and words for a number or a list that the document has.
const LEADS: &[&str] = &[
    "zones",
    "request",
    "order",
    "when",
    "who",
    "undo",
    "taken",
    "held",
    "gone",
    "drift",
    "keep",
    "to",
    "shows",
    "refers",
    "edited",
    "was",
    "the",
    "audience",
    "of",
    "too",
    "close",
    "changed",
    "unchanged",
    "before",
    "devices",
    "all",
    "more",
    "clocks",
    "hour",
    "day",
    "through",
    "that",
    "names",
    "nothing",
    "your",
    "files",
    "links",
    "images",
    "placeholders",
    "from",
    "place",
    "hours",
    "after",
    "can",
    "reach",
    "both",
    "near",
    "because",
    "joins",
    "leaves",
    "for",
    "example",
    "excluded",
    "until",
    "same",
    "people",
    "now",
    "kinds",
    "also",
];

/// Checks that every fact of a text without wrapped lines is in the document.
pub fn all_are_in(name: &str, text: &str, document: &Value) {
    let mut known = String::new();
    gather(document, &mut known);
    // A reader sees in the two bodies that only the markup or style of a page differs. That a message waits for a
    // person has its own field.
    let is_said =
        |line: &&str| line.contains("its markup or style changes") || line.contains("unchanged until the manual");
    let told = |line: &&str| line.starts_with("    ") && !is_said(line);
    for line in text.lines().filter(told) {
        if let Some(told) = TOLD_ALIKE.iter().find_map(|label| line[4..].strip_prefix(label)?.strip_prefix("  ")) {
            let told = told.trim().trim_end_matches(" (through a segment in the audience)");
            assert!(known.contains(told), "{name}: not in the document: {told:?}\n{text}");
        }
        // Removed and added words are marked in the text, and are two fields of the document.
        let marked = ["[-", "-]", "{+", "+}"].iter().fold(line.to_owned(), |line, mark| line.replace(mark, " "));
        for word in marked.split_whitespace() {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            // A file and a line are two fields.
            let bare = bare.split_once(".yaml:").or(bare.split_once(".toml:")).map_or(bare, |(file, _)| file);
            let is_day = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "Dec"].contains(&bare);
            let is_there = known.contains(bare) || LEADS.contains(&bare) || is_day;
            assert!(is_there, "{name}: not in the document: {bare:?} of {line:?}");
        }
    }
}

/// All texts and numbers of a document, a line each.
fn gather(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            out.push_str(key);
            out.push('\n');
            gather(value, out);
        }),
        Value::Array(items) => items.iter().for_each(|item| gather(item, out)),
        Value::String(text) => out.push_str(text),
        plain => out.push_str(&plain.to_string()),
    }
    out.push('\n');
}
