//! Values with another form in manifests than on the service: times in a zone, durations, bodies in files, variables.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use pushplan_io::files;
use pushplan_model::node::{MapEntry, Node, Plain, Scalar, Style, Tree};
use pushplan_model::nouns::delay::Delay;
use pushplan_model::nouns::schedule;
use pushplan_model::source::Span;
use serde_json::Value;

use super::super::variables;
use super::walk::{Refusal, Spot, Walk, entry_of, written};

impl Walk<'_> {
    /// Edits a time in the zone of its author.
    pub fn schedule(&mut self, at: Spot, new: &Value, authored: Option<&Node>) -> Result<(), Refusal> {
        let made = authored.cloned().unwrap_or_else(|| written(new));
        let time = new["scheduled_time"].as_str().filter(|time| schedule::of_spec(time).is_some());
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
        let Some(local) = in_zone(time, &zone) else { return self.replace(at, &made) };
        let form = match (local.second() != 0, old.contains(':')) {
            (true, _) => "%Y-%m-%dT%H:%M:%S",
            (false, true) => "%Y-%m-%dT%H:%M",
            (false, false) => "%Y-%m-%dT%H%M",
        };
        let suffix = if old.ends_with(['Z', 'z']) { "Z" } else { "" };
        let text = format!("{}{suffix}", local.strftime(form));
        self.scalar(spot, &Scalar { text, style: Style::Quoted })
    }

    /// Edits a body in a separate file.
    pub fn body(&mut self, at: Spot, name: &Node, old: &Value, new: &str) {
        let Tree::Scalar(file) = &name.tree else { return };
        let root = &self.editor.manifests.project.root;
        let path = files::plain(&file.text);
        let others = self.editor.named.get(&path).into_iter().flatten().filter(|span| **span != name.span);
        let mut others: Vec<(Span, &str)> = others.map(|span| (*span, "used here as well")).collect();
        others.dedup();
        let is_shared = self.editor.named.get(&path).is_none_or(|times| times.len() != 1);
        let bytes = files::beneath(root, &file.text).ok().and_then(|path| std::fs::read(path).ok());
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
        let is_there = variables::read_bare(&text).is_some_and(|text| old.as_str() == Some(text.as_str()));
        let own = self.own(at).map(drop);
        if own.is_ok() && !is_shared && is_there {
            self.placed.bodies.insert(path, variables::escaped(new));
            return;
        }
        let mut places = own.err().unwrap_or_default();
        if is_shared {
            places.push((name.span, "a file that several resources use"));
            places.extend(others);
            self.notes.push(format!("{path}: the file"));
        } else if places.is_empty() {
            places.push((name.span, "a file with variables in it"));
            self.notes.extend(in_file(&path, &text));
            match self.variable(&text) {
                Some(value) => places.push((value, "its value")),
                None => self.notes.extend(self.settable(&text)),
            }
        }
        self.unit(Some(old), Some(&new.into()), |_| Err(places));
    }
}

/// The positions of variables in a file next to the manifests.
fn in_file(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (n, line) in text.lines().enumerate() {
        for rest in line.replace("$${", "").split("${var.").skip(1) {
            let name = rest.split('}').next().unwrap_or_default();
            found.push(format!("{path}:{}: `${{var.{name}}}` is filled in here", n + 1));
        }
    }
    found
}

/// Converts a time of the service to a zone; `None` if it is no time, or occurs twice there.
pub(super) fn in_zone(time: &str, zone: &TimeZone) -> Option<DateTime> {
    let instant = TimeZone::UTC.to_timestamp(schedule::of_spec(time)?).ok()?;
    let local = zone.to_datetime(instant);
    (!zone.to_ambiguous_timestamp(local).is_ambiguous()).then_some(local)
}

/// The scalar that replaces another value.
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
pub(super) fn only_text<'n>(entries: &'n [MapEntry], text: &str) -> Option<&'n MapEntry> {
    let mut own = entries.iter().filter(|entry| !entry.is_own());
    let only = own.next().filter(|_| own.next().is_none())?;
    matches!(&only.value.tree, Tree::Scalar(scalar) if scalar.text == text).then_some(only)
}

pub(super) fn names_file(entries: &[MapEntry]) -> bool {
    matches!(entries, [file] if *file.key == "file")
}

/// Whether a text as written contains a variable.
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
