//! Where in the world the people of an audience can be, as far as it says so.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use crate::model::audience::{SegmentRef, Selector, Tag};
use crate::model::vocabulary::{Values, group, iana, zones_of};
use crate::source::Span;

/// How deep segments are followed. Beyond that, nothing is claimed.
const DEPTH: usize = 32;

/// Zones by their IANA names, each with the first place that names it.
pub type Named = BTreeMap<Cow<'static, str>, Seen>;

/// How a zone is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The tag that names it, or its country.
    pub at: Span,
    /// How many zones of its country more people live in; `None` for one that a tag names. A country is what people have set,
    /// so a tag of the time zone group says more.
    pub of_country: Option<usize>,
}

/// Which zones of a country count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Country {
    /// The one that most of its people live in.
    Main,
    All,
}

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

    /// Whether it says nothing.
    fn is_anywhere(&self) -> bool {
        self.elsewhere && self.named.is_empty() && self.without.is_empty()
    }

    /// The same, with zones that it is not in only where it may be elsewhere.
    fn settled(mut self) -> Self {
        if !self.elsewhere {
            self.without.clear();
        }
        self
    }

    /// The people of both.
    fn or(mut self, other: Self) -> Self {
        self.without = match (self.elsewhere, other.elsewhere) {
            (true, true) => kept(self.without, |tag| other.without.contains_key(tag)),
            (true, false) => self.without,
            (false, _) => other.without,
        };
        self.elsewhere |= other.elsewhere;
        // The few are put among the many: there may be thousands, one after the other.
        let (few, many) = (other.named, &mut self.named);
        if few.len() <= many.len() {
            for (tag, at) in few {
                many.entry(tag).or_insert(at);
            }
        } else {
            let first = std::mem::replace(many, few);
            many.extend(first);
        }
        let named = &self.named;
        self.without = kept(self.without, |tag| !named.contains_key(tag));
        self
    }

    /// The people who are in both. A zone that one of them names and the other leaves open is one that they may be in, and
    /// what a tag says of the zone holds for people of any country.
    fn and(mut self, other: Self) -> Self {
        match (self.is_anywhere(), other.is_anywhere()) {
            (_, true) => return self.settled(),
            (true, _) => return other.settled(),
            _ => {}
        }
        let allows = |whole: &Self, tag: &str, seen: Seen| {
            let by_country = |seen: &Seen| seen.of_country.is_some();
            whole.named.contains_key(tag)
                || whole.elsewhere && !whole.without.contains_key(tag)
                || !by_country(&seen) && whole.named.values().any(by_country)
        };
        let allowed = |zones: &Named, whole: &Self| -> Named {
            zones
                .iter()
                .filter(|(tag, seen)| allows(whole, tag, **seen))
                .map(|(tag, seen)| (tag.clone(), *seen))
                .collect()
        };
        let mut named = allowed(&self.named, &other);
        for (tag, seen) in allowed(&other.named, &self) {
            let known = named.entry(tag).or_insert(seen);
            if seen.of_country.is_none() && known.of_country.is_some() {
                *known = seen;
            }
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

/// Where the people of an audience can be. Segments are followed through the lookup.
pub fn places<'s>(
    audience: &'s Selector,
    segments: impl Fn(&SegmentRef) -> Option<&'s Selector>,
    country: Country,
) -> Where {
    let alone = matches!(audience, Selector::Segment(_));
    Search { segments, country, alone, known: HashMap::new() }.of(audience, false, 0)
}

struct Search<'s, F> {
    segments: F,
    country: Country,
    /// The audience is one segment.
    alone: bool,
    known: HashMap<(&'s str, bool), Where>,
}

impl<'s, F: Fn(&SegmentRef) -> Option<&'s Selector>> Search<'s, F> {
    fn of(&mut self, selector: &'s Selector, negated: bool, depth: usize) -> Where {
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
            Selector::Tag(Tag { tag, group: Some(id) }) => match group(id).map(|group| group.values) {
                Some(Values::TimeZone) => {
                    let seen = Seen { at: tag.span, of_country: None };
                    let zones = Named::from([(Cow::Owned(iana(tag).to_owned()), seen)]);
                    match negated {
                        true => Where { without: zones, ..Where::anywhere() },
                        false => Where { named: zones, ..Where::default() },
                    }
                }
                // Who is of another country can be in the same zone.
                Some(Values::Country) if !negated => self.country(tag, tag.span),
                _ => Where::anywhere(),
            },
            Selector::Segment(reference) => match &reference.value {
                SegmentRef::Key(key) => self.segment(key, &reference.value, negated, depth),
                SegmentRef::Id(_) => Where::anywhere(),
            },
            _ => Where::anywhere(),
        }
    }

    fn country(&self, code: &str, at: Span) -> Where {
        let most = if self.country == Country::Main { 1 } else { usize::MAX };
        let seen = |rank| Seen { at, of_country: Some(rank) };
        let named: Named =
            zones_of(code).take(most).enumerate().map(|(rank, zone)| (zone.into(), seen(rank))).collect();
        if named.is_empty() { Where::anywhere() } else { Where { named, ..Where::default() } }
    }

    fn segment(&mut self, key: &'s str, reference: &SegmentRef, negated: bool, depth: usize) -> Where {
        if let Some(known) = self.known.get(&(key, negated)) {
            return known.clone();
        }
        let Some(criteria) = (self.segments)(reference).filter(|_| depth < DEPTH) else {
            return Where::anywhere();
        };
        // A circle of segments comes back to this answer.
        self.known.insert((key, negated), Where::anywhere());
        let found = self.of(criteria, negated, depth + 1);
        if self.alone && depth == 0 {
            // Nobody asks for it again.
            return found;
        }
        self.known.insert((key, negated), found.clone());
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::{Decode, Node, Reader};

    const TAG: Seen = Seen { at: Span::NONE, of_country: None };

    fn names(selector: &serde_json::Value, country: Country) -> (Vec<String>, bool) {
        let read = Selector::decode(&Node::from_json_value(selector), &mut Reader::default()).expect("a selector");
        let found = places(&read, |_| None, country);
        (found.named.into_keys().map(Cow::into_owned).collect(), found.elsewhere)
    }

    #[test]
    fn people_of_a_country_are_in_its_zones() {
        let spain = serde_json::json!({"country": "ES"});
        let all = ["Africa/Ceuta", "Atlantic/Canary", "Europe/Madrid"];
        assert_eq!(names(&spain, Country::All), (all.map(str::to_owned).to_vec(), false));
        assert_eq!(names(&spain, Country::Main), (vec!["Europe/Madrid".to_owned()], false));
        assert_eq!(names(&serde_json::json!({"not": {"country": "ES"}}), Country::All), (vec![], true));
        assert_eq!(names(&serde_json::json!({"country": "Unknown"}), Country::All), (vec![], true));
    }

    #[test]
    fn a_time_zone_says_more_than_a_country() {
        let both = |one: &str, other: &str| serde_json::json!({"and": [{"country": one}, {"timezone": other}]});
        // The service counts Berlin to Paris.
        assert_eq!(names(&both("DE", "Europe/Paris"), Country::All), (vec!["Europe/Paris".to_owned()], false));
        assert_eq!(names(&both("US", "Asia/Tokyo"), Country::All), (vec!["Asia/Tokyo".to_owned()], false));
        let brazil = names(&serde_json::json!({"timezone": "America/Sao_Paolo"}), Country::All);
        assert_eq!(brazil, (vec!["America/Sao_Paulo".to_owned()], false));
    }

    fn place(named: &[&str], elsewhere: bool, without: &[&str]) -> Where {
        let zones = |tags: &[&str]| tags.iter().map(|tag| ((*tag).to_owned().into(), TAG)).collect();
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
