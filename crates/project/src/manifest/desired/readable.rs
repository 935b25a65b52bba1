//! The readable part of a resource with malformed fields: it is checked, so that one error does not hide the others.

use pushplan_model::codes::Severity;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::kinds::{Kind, Spec};
use pushplan_model::node::{At, MapEntry, Node, Tree};
use pushplan_model::source::Span;

use super::super::Lifecycle;
use super::decoded;

/// The number of malformed fields that are dropped.
const DROPPED: usize = 16;

/// A resource without its malformed fields.
#[derive(Debug)]
pub struct Readable {
    pub spec: Box<dyn Spec>,
    pub lifecycle: Lifecycle,
    /// The families of codes that a dropped field may cause.
    pub uncertain: Vec<&'static str>,
}

impl Readable {
    /// Drops the malformed fields of a resource that could not be read. Returns `None` if too little is left.
    pub fn of(kind: &Kind, key: &At<String>, node: &Node, findings: &[Finding]) -> Option<Self> {
        let (mut node, mut uncertain) = (node.clone(), Vec::new());
        let mut errors = errors(findings);
        for _ in 0..DROPPED {
            let mut dropped = false;
            for at in errors {
                let mut path = Vec::new();
                dropped |= without(&mut node, at, &mut path);
                for field in path {
                    match field.as_str() {
                        // The allowed codes are unknown.
                        "lifecycle" => return None,
                        "audience" | "criteria" | "device_types" => uncertain.push("AU"),
                        "schedule" => uncertain.push("SC"),
                        _ => {}
                    }
                }
            }
            if !dropped {
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

fn errors(findings: &[Finding]) -> Vec<Span> {
    findings.iter().filter(|finding| finding.severity == Severity::Error).map(|finding| finding.at).collect()
}

/// Drops the innermost field with an error, and adds its path. A list is dropped as a whole, because its items belong
/// together. An audience becomes everyone, because many resources need one.
fn without(node: &mut Node, at: Span, path: &mut Vec<String>) -> bool {
    let Tree::Map(entries) = &mut node.tree else { return false };
    let is_there = |entry: &MapEntry| entry.key.span.contains(at) || entry.value.span.contains(at);
    let Some(place) = entries.iter().position(is_there) else { return false };
    let entry = &mut entries[place];
    path.push(entry.key.value.clone());
    if ["audience", "criteria"].contains(&entry.key.as_str()) {
        entry.value = Node { span: entry.value.span, ..Node::from_json_value(&"all".into()) };
        return true;
    }
    if entry.key.span.contains(at) || !without(&mut entry.value, at, path) {
        entries.remove(place);
    }
    true
}
