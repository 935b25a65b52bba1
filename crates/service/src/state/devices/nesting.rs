//! Segments inside segments.

use std::collections::{BTreeMap, HashMap, VecDeque};

use pushplan_model::node::At;
use pushplan_model::nouns::audience::{SegmentRef, Selector};

/// The criteria of segments, by segment id.
pub type Criteria = HashMap<String, At<Selector>>;

/// The segments that a selector refers to, directly or indirectly, inner ones first.
///
/// A segment that contains itself, directly or indirectly, has no meaning, and neither does one that contains it: they
/// are not included, and so match nobody. The same applies to a deleted segment.
#[derive(Debug, Default)]
pub struct Nested<'a> {
    places: HashMap<&'a str, usize>,
    pub criteria: Vec<&'a Selector>,
}

impl<'a> Nested<'a> {
    pub fn of(selector: &Selector, segments: &'a Criteria) -> Self {
        let within = reachable(selector, segments);
        let mut waits_for: HashMap<&str, usize> = HashMap::new();
        let mut containers: HashMap<&str, Vec<&str>> = HashMap::new();
        let mut ready = VecDeque::new();
        for (id, inner) in &within {
            if inner.is_empty() {
                ready.push_back(*id);
            }
            waits_for.insert(id, inner.len());
            inner.iter().for_each(|one| containers.entry(one).or_default().push(id));
        }
        let mut nested = Self::default();
        // A segment is ready once all segments within it are. Those in a circle wait for each other and never get here.
        while let Some(id) = ready.pop_front() {
            let Some((id, criteria)) = segments.get_key_value(id) else { continue };
            nested.places.insert(id, nested.criteria.len());
            nested.criteria.push(criteria);
            for container in containers.get(id.as_str()).into_iter().flatten() {
                if let Some(left) = waits_for.get_mut(container) {
                    *left -= 1;
                    if *left == 0 {
                        ready.push_back(container);
                    }
                }
            }
        }
        nested
    }

    /// Returns the index of a segment in [`Nested::criteria`]; `None` if it matches nobody.
    pub fn place(&self, (SegmentRef::Key(id) | SegmentRef::Id(id)): &SegmentRef) -> Option<usize> {
        self.places.get(id.as_str()).copied()
    }
}

/// Returns all segments that a selector leads to, each with the segments that it contains.
fn reachable<'a>(selector: &Selector, segments: &'a Criteria) -> BTreeMap<&'a str, Vec<&'a str>> {
    let mut found = BTreeMap::new();
    let mut waiting = references(selector, segments);
    while let Some(id) = waiting.pop() {
        let Some(criteria) = segments.get(id).filter(|_| !found.contains_key(id)) else { continue };
        let mut inner = references(criteria, segments);
        inner.sort_unstable();
        inner.dedup();
        waiting.extend(&inner);
        found.insert(id, inner);
    }
    found
}

/// Returns the ids of the existing segments that a selector names.
fn references<'a>(selector: &Selector, segments: &'a Criteria) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut waiting = vec![selector];
    while let Some(selector) = waiting.pop() {
        if let Selector::Segment(reference) = selector {
            let (SegmentRef::Key(id) | SegmentRef::Id(id)) = &reference.value;
            found.extend(segments.get_key_value(id).map(|(id, _)| id.as_str()));
        }
        waiting.extend(selector.members().iter().map(|member| &member.value));
    }
    found
}
