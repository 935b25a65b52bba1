//! The texts of a push that a catalogue can replace.

use pushplan_model::node::{MapEntry, Node, Tree};
use pushplan_model::nouns::notification::is_override;

use super::LOCALES;

/// The texts that a notification has for one platform.
const OF_PLATFORM: [&str; 11] = [
    "alert",
    "title",
    "subtitle",
    "summary",
    "style.title",
    "style.summary",
    "style.big_text",
    "media_attachment.content.title",
    "media_attachment.content.subtitle",
    "media_attachment.content.body",
    "actions.share",
];

/// The texts that a notification has for all platforms.
const COMMON: [&str; 2] = ["alert", "actions.share"];

const OF_MESSAGE: [&str; 2] = ["title", "body"];
/// The beginning of the fields of a Message Center message.
pub const MESSAGE: &str = "message.";

/// A text of a push, and its field: `alert`, `ios.title` or `message.body`.
#[derive(Clone, Debug)]
pub struct TextField<'n> {
    pub field: String,
    pub value: &'n Node,
}

/// The texts in the notification and the message of a push, or of a localization, in a fixed order.
pub fn texts_of(content: &Node) -> Vec<TextField<'_>> {
    let mut texts = Vec::new();
    if let Some(notification) = content.get("notification") {
        collect("", notification, &COMMON, &mut texts);
        for MapEntry { key, value } in notification.entries().unwrap_or_default() {
            if is_override(key) {
                collect(&format!("{}.", key.value), value, &OF_PLATFORM, &mut texts);
            }
        }
    }
    if let Some(message) = content.get("message") {
        collect(MESSAGE, message, &OF_MESSAGE, &mut texts);
    }
    texts
}

fn collect<'n>(prefix: &str, node: &'n Node, fields: &[&str], texts: &mut Vec<TextField<'n>>) {
    for field in fields {
        if let Some(value) = find(node, field).filter(|value| is_text(value)) {
            texts.push(TextField { field: format!("{prefix}{field}"), value });
        }
    }
}

/// Whether a node is a text, also one in a file.
fn is_text(node: &Node) -> bool {
    match &node.tree {
        Tree::Scalar(_) => !node.is_null() && !node.is_unread(),
        Tree::Map(_) => node.get("file").is_some(),
        Tree::List(_) => false,
    }
}

/// The value at a path of keys. A key may contain dots.
fn find<'n>(node: &'n Node, path: &str) -> Option<&'n Node> {
    node.entries()?.iter().find_map(|MapEntry { key, value }| match path.strip_prefix(key.as_str())? {
        "" => Some(value),
        rest => find(value, rest.strip_prefix('.')?),
    })
}

/// The text at a field of a push, if it has that text.
pub fn find_mut<'n>(content: &'n mut Node, field: &str) -> Option<&'n mut Node> {
    if !texts_of(content).iter().any(|text| text.field == field) {
        return None;
    }
    let (part, path) = match field.strip_prefix(MESSAGE) {
        Some(path) => ("message", path),
        None => ("notification", field),
    };
    let Tree::Map(entries) = &mut content.tree else { return None };
    let entry = entries.iter_mut().find(|entry| *entry.key == part)?;
    below_mut(&mut entry.value, path)
}

fn below_mut<'n>(node: &'n mut Node, path: &str) -> Option<&'n mut Node> {
    let Tree::Map(entries) = &mut node.tree else { return None };
    entries.iter_mut().find_map(|MapEntry { key, value }| match path.strip_prefix(key.as_str())? {
        "" => Some(value),
        rest => below_mut(value, rest.strip_prefix('.')?),
    })
}

/// The pushes of a resource, in their order.
pub fn pushes(node: &Node) -> Vec<&Node> {
    match &node.tree {
        Tree::Scalar(_) => Vec::new(),
        Tree::List(items) => items.iter().flat_map(pushes).collect(),
        Tree::Map(entries) => {
            let own = |entry: &'_ MapEntry| !entry.is_own();
            entries.iter().filter(|entry| own(entry)).flat_map(|entry| of_entry(entry)).collect()
        }
    }
}

fn of_entry(entry: &MapEntry) -> Vec<&Node> {
    if is_push(entry) { vec![&entry.value] } else { pushes(&entry.value) }
}

fn is_push(entry: &MapEntry) -> bool {
    *entry.key == "push" && entry.value.entries().is_some()
}

/// Changes each push of a resource, in their order.
pub fn each_push(node: &mut Node, change: &mut dyn FnMut(&mut Node)) {
    match &mut node.tree {
        Tree::Scalar(_) => {}
        Tree::List(items) => items.iter_mut().for_each(|item| each_push(item, change)),
        Tree::Map(entries) => {
            for entry in entries.iter_mut().filter(|entry| !entry.is_own()) {
                if is_push(entry) {
                    change(&mut entry.value);
                } else {
                    each_push(&mut entry.value, change);
                }
            }
        }
    }
}

/// Whether a push of a resource reads catalogues.
pub fn has_locales(node: &Node) -> bool {
    pushes(node).into_iter().any(|push| push.get(LOCALES).is_some())
}
