//! The time zones that the people of an audience are in.

use std::collections::{BTreeMap, HashMap};

use crate::kinds::Segment;
use crate::manifest::Desired;
use crate::model::audience::{SegmentRef, Selector, Tag};
use crate::model::vocabulary::{Values, group};
use crate::source::Span;

/// How deep segments are followed. Beyond that, nothing is claimed.
const DEPTH: usize = 32;

/// Zones by their tags, each with the first place that names it.
pub type Named = BTreeMap<String, Span>;

/// Where an audience is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Where {
    /// Zones that it names.
    pub named: Named,
    /// Whether it may be in zones that it does not name.
    pub elsewhere: bool,
    /// Zones that it is not in, of those elsewhere.
    pub without: Named,
}

impl Where {
    fn anywhere() -> Self {
        Self { elsewhere: true, ..Self::default() }
    }

    /// The people of both.
    fn or(mut self, other: Self) -> Self {
        self.without = match (self.elsewhere, other.elsewhere) {
            (true, true) => kept(self.without, |tag| other.without.contains_key(tag)),
            (true, false) => self.without,
            (false, _) => other.without,
        };
        self.elsewhere |= other.elsewhere;
        for (tag, at) in other.named {
            self.named.entry(tag).or_insert(at);
        }
        let named = &self.named;
        self.without = kept(self.without, |tag| !named.contains_key(tag));
        self
    }

    /// The people who are in both. A zone that one of them names and the other leaves open is one that they may be in.
    fn and(mut self, other: Self) -> Self {
        let allows = |whole: &Self, tag: &str| {
            whole.named.contains_key(tag) || whole.elsewhere && !whole.without.contains_key(tag)
        };
        let mut named = kept(self.named.clone(), |tag| allows(&other, tag));
        for (tag, at) in kept(other.named.clone(), |tag| allows(&self, tag)) {
            named.entry(tag).or_insert(at);
        }
        self.without.extend(other.without);
        let elsewhere = self.elsewhere && other.elsewhere;
        Self { named, elsewhere, without: if elsewhere { self.without } else { Named::new() } }
    }
}

fn kept(mut zones: Named, keep: impl Fn(&str) -> bool) -> Named {
    zones.retain(|tag, _| keep(tag));
    zones
}

/// Where the people of an audience are, as far as it says so.
pub fn zones<'d>(desired: &'d Desired, audience: &'d Selector) -> Where {
    Search { desired, known: HashMap::new() }.of(audience, false, 0)
}

struct Search<'d> {
    desired: &'d Desired,
    known: HashMap<(&'d str, bool), Where>,
}

impl<'d> Search<'d> {
    fn of(&mut self, selector: &'d Selector, negated: bool, depth: usize) -> Where {
        let compound = match selector {
            Selector::And(members) => Some((members, negated)),
            Selector::Or(members) => Some((members, !negated)),
            _ => None,
        };
        if let Some((members, any)) = compound {
            let all: Vec<Where> = members.iter().map(|member| self.of(member, negated, depth)).collect();
            let join = if any { Where::or } else { Where::and };
            return all.into_iter().reduce(join).unwrap_or_else(Where::anywhere);
        }
        match selector {
            Selector::Not(member) => self.of(member, !negated, depth),
            Selector::Tag(Tag { tag, group: Some(id) })
                if group(id).is_some_and(|group| group.values == Values::TimeZone) =>
            {
                let zones = Named::from([(tag.value.clone(), tag.span)]);
                match negated {
                    true => Where { without: zones, ..Where::anywhere() },
                    false => Where { named: zones, ..Where::default() },
                }
            }
            Selector::Segment(reference) => match &reference.value {
                SegmentRef::Key(key) => self.segment(key, negated, depth),
                SegmentRef::Id(_) => Where::anywhere(),
            },
            _ => Where::anywhere(),
        }
    }

    fn segment(&mut self, key: &'d str, negated: bool, depth: usize) -> Where {
        if let Some(known) = self.known.get(&(key, negated)) {
            return known.clone();
        }
        let Some(segment) = self.desired.get::<Segment>(key).filter(|_| depth < DEPTH) else {
            return Where::anywhere();
        };
        // A circle of segments comes back to this answer.
        self.known.insert((key, negated), Where::anywhere());
        let found = self.of(&segment.criteria, negated, depth + 1);
        self.known.insert((key, negated), found.clone());
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(named: &[&str], elsewhere: bool, without: &[&str]) -> Where {
        let zones = |tags: &[&str]| tags.iter().map(|tag| ((*tag).to_owned(), Span::NONE)).collect();
        Where { named: zones(named), elsewhere, without: zones(without) }
    }

    #[test]
    fn zones_are_joined_as_people_are() {
        let (a, b) = (place(&["A"], false, &[]), place(&["B"], false, &[]));
        let (open, not_a) = (Where::anywhere(), place(&[], true, &["A"]));
        assert_eq!(a.clone().or(b.clone()), place(&["A", "B"], false, &[]));
        assert_eq!(a.clone().or(open.clone()), place(&["A"], true, &[]));
        assert_eq!(a.clone().or(not_a.clone()), place(&["A"], true, &[]));
        assert_eq!(a.clone().and(open.clone()), a);
        assert_eq!(a.clone().and(b.clone()), place(&[], false, &[]));
        assert_eq!(a.clone().or(open.clone()).and(open.clone()), place(&["A"], true, &[]));
        assert_eq!(a.and(not_a.clone()), place(&[], false, &[]));
        assert_eq!(not_a.clone().and(open.clone()), not_a);
        assert_eq!(not_a.or(open), place(&[], true, &[]));
        assert_eq!(b.clone().and(place(&[], true, &["A"])), b);
    }
}
