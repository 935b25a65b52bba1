//! Values that are not written as the service has them: times in a zone, lengths of time, bodies in files, variables.

use jiff::tz::TimeZone;
use serde_json::Value;

use super::super::{files, variables};
use super::walk::{Refusal, Spot, Walk, entry_of, written};
use crate::model::delay::Delay;
use crate::model::schedule;
use crate::node::{Entry, Node, Plain, Scalar, Style, Tree};

impl Walk<'_> {
    /// A time in the zone that its author wrote it in.
    pub fn schedule(&mut self, at: Spot, new: &Value, authored: Option<&Node>) -> Result<(), Refusal> {
        let made = authored.cloned().unwrap_or_else(|| written(new));
        let time = new["scheduled_time"].as_str().and_then(schedule::of_spec);
        let (Some(time), Some(entry)) = (time, entry_of(at.node, "scheduled_time")) else {
            return self.replace(at, &made);
        };
        let zone = match at.node.get("time_zone").map(|node| &node.tree) {
            Some(Tree::Scalar(name)) => TimeZone::get(&name.text).unwrap_or(TimeZone::UTC),
            _ => TimeZone::UTC,
        };
        let spot = self.below(at, entry);
        let old = match &spot.node.tree {
            Tree::Scalar(scalar) => scalar.text.as_str(),
            _ => "",
        };
        let Ok(instant) = TimeZone::UTC.to_timestamp(time) else { return self.replace(at, &made) };
        let local = zone.to_datetime(instant);
        if zone.to_ambiguous_timestamp(local).is_ambiguous() {
            return self.replace(at, &made);
        }
        let form = match (local.second() != 0, old.contains(':')) {
            (true, _) => "%Y-%m-%dT%H:%M:%S",
            (false, true) => "%Y-%m-%dT%H:%M",
            (false, false) => "%Y-%m-%dT%H%M",
        };
        let suffix = if old.ends_with(['Z', 'z']) { "Z" } else { "" };
        let text = format!("{}{suffix}", local.strftime(form));
        self.scalar(spot, &Scalar { text, style: Style::Quoted })
    }

    /// A body that stands in a file of its own.
    pub fn body(&mut self, at: Spot, name: &Node, old: &Value, new: &str) {
        let Tree::Scalar(file) = &name.tree else { return };
        let root = &self.editor.manifests.project.root;
        let path = files::plain(&file.text);
        let alone = self.editor.named.get(&path).is_some_and(|times| *times == 1);
        let is_there = old.as_str().is_some_and(|old| {
            let bytes = files::beneath(root, &file.text).ok().and_then(|path| std::fs::read(path).ok());
            let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
            text.and_then(|text| variables::read_bare(&text)).is_some_and(|text| text == old)
        });
        if self.own(at).is_ok() && alone && is_there {
            self.placed.bodies.insert(path, variables::escaped(new));
            return;
        }
        let why = if alone { "a file with variables in it" } else { "a file that several resources use" };
        let span = name.span;
        self.unit(Some(old), Some(&new.into()), |_| Err(vec![(span, why)]));
    }
}

/// The scalar for a value that takes the place of another.
pub(super) fn scalar_of(old: &Node, new: &Value) -> Scalar {
    let is_length =
        |scalar: &Scalar| !matches!(scalar.plain(), Some(Plain::Integer(_))) && Delay::parse(&scalar.text).is_some();
    let was_length = matches!(&old.tree, Tree::Scalar(scalar) if is_length(scalar));
    match (new, new.as_i64()) {
        (_, Some(seconds)) if was_length => Scalar { text: Delay(seconds).written(), style: Style::Quoted },
        _ => match written(new).tree {
            Tree::Scalar(scalar) => scalar,
            _ => Scalar { text: String::new(), style: Style::Quoted },
        },
    }
}

/// The only entry of a map, if it is this text.
pub(super) fn only_text<'n>(entries: &'n [Entry], text: &str) -> Option<&'n Entry> {
    let mut own = entries.iter().filter(|entry| !entry.is_own());
    let only = own.next().filter(|_| own.next().is_none())?;
    matches!(&only.value.tree, Tree::Scalar(scalar) if scalar.text == text).then_some(only)
}

pub(super) fn names_file(entries: &[Entry]) -> bool {
    matches!(entries, [file] if *file.key == "file")
}

/// Whether a text as it is written has a variable in it.
pub(super) fn holds_variable(text: &str) -> bool {
    text.replace("$${", "").contains("${")
}

pub(super) fn has_variable(node: &Node) -> bool {
    match &node.tree {
        Tree::Scalar(scalar) => holds_variable(&scalar.text),
        Tree::List(items) => items.iter().any(has_variable),
        Tree::Map(entries) => entries.iter().any(|entry| has_variable(&entry.value)),
    }
}
