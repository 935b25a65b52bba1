//! Segments that refer to themselves, directly or through others.

use std::collections::HashMap;

use pushplan_model::address::Address;
use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::kinds::Segment;
use pushplan_model::source::Span;
use pushplan_model::text;

use super::super::circles::Circle;
use super::super::{Check, CheckScope, Subject};

pub const CIRCLES: Check = Check { codes: &[&codes::RF110], run: CheckScope::All(circles) };

/// The number of segments of a circle in a message.
const NAMED_LIMIT: usize = 8;

/// Follows every reference between segments, and reports each group of segments that form a circle.
fn circles(subject: &Subject, findings: &mut Findings) {
    let segments: Vec<(&Address, &Segment)> =
        subject.desired.all::<Segment>().map(|(address, _, segment)| (address, segment)).collect();
    let index: HashMap<&str, usize> =
        segments.iter().enumerate().map(|(at, (address, _))| (address.key.as_str(), at)).collect();
    let named: Vec<Vec<(usize, Span)>> = segments
        .iter()
        .map(|(_, segment)| {
            let names = segment.criteria.segments().into_iter();
            names.filter_map(|key| Some((*index.get(key.as_str())?, key.span))).collect()
        })
        .collect();
    let edges: Vec<Vec<usize>> = named.iter().map(|names| names.iter().map(|(to, _)| *to).collect()).collect();
    for Circle { path, others } in super::super::circles::circles(&edges, edges.len()) {
        let key = |at: usize| segments[path[at % path.len()]].0.key.as_str();
        let place = |at: usize| {
            let next = path[(at + 1) % path.len()];
            named[path[at]].iter().find(|(to, _)| *to == next).map_or(Span::NONE, |(_, span)| *span)
        };
        let mut names: Vec<&str> = (0..path.len().min(NAMED_LIMIT)).map(key).collect();
        if path.len() > NAMED_LIMIT {
            names.push("...");
        }
        names.push(key(0));
        let message = match path.len() {
            1 => format!("the segment `{}` refers to itself", key(0)),
            _ => format!("segments refer to each other in a circle: {}", names.join(" -> ")),
        };
        let mut finding = Finding::new(&codes::RF110, place(0), message)
            .label("the circle begins here")
            .note("the members of a segment that depends on itself are undefined")
            .help("in one of the segments, replace the reference with conditions");
        for at in 1..path.len().min(NAMED_LIMIT) {
            finding = finding.related(place(at), format!("then `{}` refers to `{}`", key(at), key(at + 1)));
        }
        if others > 0 {
            finding = finding.note(format!("{} in circles with these", text::count(others, "more segment")));
        }
        finding.address = Some(segments[path[0]].0.clone());
        findings.push(finding);
    }
}
