//! Segments that lead back to themselves.

use std::collections::BTreeMap;

use super::super::{Check, Run, Subject};
use crate::address::Address;
use crate::codes;
use crate::finding::{Finding, Findings};
use crate::kinds::Segment;
use crate::source::Span;

pub const CIRCLES: Check = Check { codes: &[&codes::RF110], run: Run::All(circles) };

/// How many circles are reported. Beyond that, those at hand are work enough.
const CIRCLE_LIMIT: usize = 100;
/// How many segments of a circle are named.
const NAMED_LIMIT: usize = 8;

/// One segment names another.
struct Edge {
    to: usize,
    at: Span,
}

/// A segment while it is being followed: those before it in the list lead to it.
struct Followed {
    segment: usize,
    next_edge: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    /// At this place of the path that is being followed.
    OnPath(usize),
    Done,
}

/// Follows every reference from segment to segment; one that leads back to the path closes a circle. Without recursion: a
/// chain can be as long as the project.
fn circles(subject: &Subject, findings: &mut Findings) {
    let segments: Vec<(&Address, &Segment)> =
        subject.desired.all::<Segment>().map(|(address, _, segment)| (address, segment)).collect();
    let index: BTreeMap<&str, usize> =
        segments.iter().enumerate().map(|(at, (address, _))| (address.key.as_str(), at)).collect();
    let edges: Vec<Vec<Edge>> = segments
        .iter()
        .map(|(_, segment)| {
            let named = segment.criteria.segments().into_iter();
            named.filter_map(|key| Some(Edge { to: *index.get(key.as_str())?, at: key.span })).collect()
        })
        .collect();

    let mut states = vec![State::New; segments.len()];
    let mut found = 0;
    for start in 0..segments.len() {
        if states[start] != State::New {
            continue;
        }
        let mut path = vec![Followed { segment: start, next_edge: 0 }];
        states[start] = State::OnPath(0);
        while let Some(last) = path.last_mut() {
            let Some(edge) = edges[last.segment].get(last.next_edge) else {
                states[last.segment] = State::Done;
                path.pop();
                continue;
            };
            last.next_edge += 1;
            match states[edge.to] {
                State::Done => {}
                State::New => {
                    states[edge.to] = State::OnPath(path.len());
                    path.push(Followed { segment: edge.to, next_edge: 0 });
                }
                State::OnPath(from) => {
                    // The edge that was followed last from each segment is the one before its next.
                    let circle: Vec<(usize, Span)> = path[from..]
                        .iter()
                        .map(|followed| (followed.segment, edges[followed.segment][followed.next_edge - 1].at))
                        .collect();
                    findings.push(circle_finding(circle, &segments));
                    found += 1;
                    if found == CIRCLE_LIMIT {
                        return;
                    }
                }
            }
        }
    }
}

/// A circle is told from its first name on, wherever it was entered.
fn circle_finding(mut circle: Vec<(usize, Span)>, segments: &[(&Address, &Segment)]) -> Finding {
    let first = circle.iter().enumerate().min_by_key(|(_, (segment, _))| *segment).map_or(0, |(at, _)| at);
    circle.rotate_left(first);
    let key = |at: usize| segments[circle[at].0].0.key.as_str();
    let mut names: Vec<&str> = (0..circle.len().min(NAMED_LIMIT)).map(key).collect();
    if circle.len() > NAMED_LIMIT {
        names.push("...");
    }
    names.push(key(0));
    let message = match circle.len() {
        1 => format!("the segment `{}` refers to itself", key(0)),
        _ => format!("segments refer to each other in a circle: {}", names.join(" -> ")),
    };
    let mut finding = Finding::new(&codes::RF110, circle[0].1, message)
        .label("leads back to where it began")
        .note("nobody can say who is in a segment that depends on itself")
        .help("write out the conditions of one of them in place of its name");
    for (at, (_, span)) in circle.iter().enumerate().take(NAMED_LIMIT).skip(1) {
        finding = finding.related(*span, format!("then `{}` refers to `{}`", key(at), key((at + 1) % circle.len())));
    }
    finding.address = Some(segments[circle[0].0].0.clone());
    finding
}
