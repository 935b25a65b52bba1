//! The readable part of a resource with malformed fields: it is checked, so that one error does not hide the others.

use pushplan_model::codes;
use pushplan_model::codes::Severity;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::kinds::{Kind, Spec};
use pushplan_model::node::{At, MapEntry, Node, Tree, missing_key, owner_of};
use pushplan_model::source::Span;
use serde_json::json;

use super::super::Lifecycle;
use super::decoded;

/// How often malformed fields are dropped and the rest is read again.
const ROUNDS: usize = 16;

/// The keys of conditions with a list of conditions. Each condition in such a list can be dropped alone.
const COMPOUNDS: [&str; 4] = ["and", "or", "AND", "OR"];

/// A resource without its malformed fields.
#[derive(Debug)]
pub struct Readable {
    pub spec: Box<dyn Spec>,
    pub lifecycle: Lifecycle,
    /// The beginnings of the codes that a dropped or added field may cause.
    pub uncertain: Vec<&'static str>,
}

impl Readable {
    /// Drops the malformed fields of a resource that could not be read, and adds missing ones that say nothing. Returns
    /// `None` if it still cannot be read.
    pub fn of(kind: &Kind, key: &At<String>, node: &Node, findings: &[Finding]) -> Option<Self> {
        let (mut node, mut uncertain) = (node.clone(), Vec::new());
        let mut errors = errors(findings);
        for _ in 0..ROUNDS {
            let mut is_changed = false;
            for (at, missing) in errors {
                let mut path = Vec::new();
                is_changed |= match missing {
                    Some(field) => with(&mut node, at == key.span, at, &field, &mut path),
                    None => without(&mut node, at, &mut path),
                };
                for field in path {
                    match field.as_str() {
                        // The allowed codes are unknown.
                        "lifecycle" => return None,
                        "audience" | "criteria" => uncertain.extend(["AU", "PL101"]),
                        "device_types" => uncertain.push("AU"),
                        "schedule" => uncertain.extend(["SC", "EX102"]),
                        "variables" | "template" => uncertain.push("MS101"),
                        "localizations" => uncertain.extend(["MS122", "MS123", "MS124"]),
                        _ => {}
                    }
                }
            }
            if !is_changed {
                return None;
            }
            let (spec, lifecycle, findings) = decoded(kind, key, &node, Findings::default());
            if let (Some(spec), Some(lifecycle)) = (spec, lifecycle) {
                return Some(Self { spec, lifecycle, uncertain });
            }
            errors = self::errors(&findings.into_vec());
        }
        None
    }
}

/// The positions of errors, with the key that is missing there.
fn errors(findings: &[Finding]) -> Vec<(Span, Option<String>)> {
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
    let missing = |finding: &Finding| {
        let is_missing = finding.code == &codes::YM203;
        missing_key(&finding.message).filter(|_| is_missing).map(str::to_owned)
    };
    errors.map(|finding| (finding.at, missing(finding))).collect()
}

/// Drops the innermost field or item with an error, and adds its path. An audience without any readable condition
/// becomes everyone, because many resources need one.
fn without(node: &mut Node, at: Span, path: &mut Vec<String>) -> bool {
    let entries = match &mut node.tree {
        Tree::Map(entries) => entries,
        Tree::List(items) => {
            let Some(place) = items.iter().position(|item| item.span.contains(at)) else { return false };
            if !without(&mut items[place], at, path) {
                items.remove(place);
            }
            return true;
        }
        Tree::Scalar(_) => return false,
    };
    let Some(place) = place_of(entries, at) else { return false };
    let entry = &mut entries[place];
    path.push(entry.key.value.clone());
    if ["audience", "criteria"].contains(&entry.key.as_str()) {
        if entry.key.span.contains(at) || !without_condition(&mut entry.value, at) {
            entry.value = Node { span: entry.value.span, ..Node::from_json_value(&"all".into()) };
        }
        return true;
    }
    if entry.key.span.contains(at) || !without(&mut entry.value, at, path) {
        entries.remove(place);
    }
    true
}

/// Drops the innermost part of an audience that can be left out. Returns whether any condition is left.
fn without_condition(node: &mut Node, at: Span) -> bool {
    match &mut node.tree {
        Tree::Scalar(_) => false,
        Tree::List(items) => {
            let Some(place) = items.iter().position(|item| item.span.contains(at)) else { return false };
            if !without_condition(&mut items[place], at) {
                items.remove(place);
            }
            !items.is_empty()
        }
        Tree::Map(entries) => {
            let Some(place) = place_of(entries, at) else { return false };
            let MapEntry { key, value } = &mut entries[place];
            if key.span.contains(at) {
                // A key too many next to a condition.
                entries.remove(place);
                return !entries.is_empty();
            }
            let has_items = matches!(value.tree, Tree::List(_));
            // Two conditions in one map, or a condition that is negated, cannot be read in part.
            let is_list = has_items && (COMPOUNDS.contains(&key.as_str()) || entries.len() == 1);
            is_list && without_condition(&mut entries[place].value, at)
        }
    }
}

fn place_of(entries: &[MapEntry], at: Span) -> Option<usize> {
    entries.iter().position(|entry| entry.key.span.contains(at) || entry.value.span.contains(at))
}

/// Adds a missing field to the innermost map that lacks it, and adds its path. `is_owner` means that the key of this
/// node has the error.
fn with(node: &mut Node, is_owner: bool, at: Span, field: &str, path: &mut Vec<String>) -> bool {
    let is_here = is_owner || owner_of(node) == at;
    match &mut node.tree {
        Tree::Scalar(_) => false,
        Tree::List(items) => items.iter_mut().any(|item| with(item, false, at, field, path)),
        Tree::Map(entries) => {
            for MapEntry { key, value } in entries.iter_mut() {
                let is_owner = key.span == at;
                if (is_owner || value.span.contains(at)) && with(value, is_owner, at, field, path) {
                    path.push(key.value.clone());
                    return true;
                }
            }
            let is_here = is_here && entries.iter().all(|entry| *entry.key != field);
            if is_here {
                path.push(field.to_owned());
                // Another missing field in it is reported at this position, too.
                entries.push(MapEntry { key: At::new(field.to_owned(), at), value: placeholder(field) });
            }
            is_here
        }
    }
}

/// A value that replaces a missing one. It has no position, so that a finding about it can be recognized.
fn placeholder(field: &str) -> Node {
    Node::from_json_value(&match field {
        "audience" | "criteria" | "device_types" => json!("all"),
        "enabled" | "opt_in" => json!(true),
        "immediate_trigger" => json!("first_open"),
        "device_type" => json!("ios"),
        "schedule" => json!({"scheduled_time": FAR}),
        "scheduled_time" => json!(FAR),
        "push" | "outcome" | "notification" | "open" => json!({}),
        "variants" | "variables" | "channels" | "tags" => json!([]),
        _ => json!("X"),
    })
}

/// A time that is never past.
const FAR: &str = "9000-01-01T00:00";
