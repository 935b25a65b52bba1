//! The possible places of an audience's members, as far as its conditions show them.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use pushplan_model::nouns::audience::{SegmentRef, Selector, Tag};
use pushplan_model::nouns::vocabulary::{COUNTRIES, Values, group, iana, zones_of};
use pushplan_model::nouns::zone::Spread;
use pushplan_model::source::Span;

/// The maximal depth of nested segments. Deeper ones count as unknown.
const DEPTH: usize = 32;

/// Zones by IANA name, each with its first mention.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named(Vec<(Cow<'static, str>, ZoneName)>);

impl Named {
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Cow<'static, str>, ZoneName)> {
        self.0.iter().map(|(name, seen)| (name, *seen))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn contains(&self, name: &str) -> bool {
        self.0.binary_search_by(|(known, _)| (**known).cmp(name)).is_ok()
    }
}

/// Of several mentions of one zone, the first one counts.
impl FromIterator<(Cow<'static, str>, ZoneName)> for Named {
    fn from_iter<I: IntoIterator<Item = (Cow<'static, str>, ZoneName)>>(all: I) -> Self {
        let mut all: Vec<_> = all.into_iter().collect();
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        all.dedup_by(|(later, _), (first, _)| later == first);
        Self(all)
    }
}

/// Excluded zones, each with its first mention.
type Left = BTreeMap<Cow<'static, str>, ZoneName>;

/// A mention of a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneName {
    /// The tag with the zone, or with its country.
    pub at: Span,
    /// The rank of the zone by population in its country; `None` if a tag names the zone. A country is a setting of the
    /// user, so a tag of the time zone group is more reliable.
    pub of_country: Option<usize>,
}

/// The zones of a country that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Country {
    /// The zone with most of its inhabitants.
    Main,
    All,
}

/// Zones with their ranks by population in their country.
type Ranked = Vec<(&'static str, usize)>;

/// The zones of each country, sorted by name.
static BY_NAME: LazyLock<HashMap<&str, Ranked, Spread>> = LazyLock::new(|| {
    let zones = |code| {
        let mut all: Ranked = zones_of(code).enumerate().map(|(rank, zone)| (zone, rank)).collect();
        all.sort_unstable();
        all.dedup_by_key(|(zone, _)| *zone);
        all
    };
    COUNTRIES.iter().map(|(code, _)| (*code, zones(code))).collect()
});

/// The places of an audience.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Where {
    /// The zones that its conditions name.
    pub named: Named,
    /// Whether its members may be in other zones.
    pub elsewhere: bool,
    /// The excluded ones of the other zones.
    pub without: Left,
}

impl Where {
    fn anywhere() -> Self {
        Self { elsewhere: true, ..Self::default() }
    }

    /// Whether its conditions do not restrict the place.
    fn is_anywhere(&self) -> bool {
        self.elsewhere && self.named.is_empty() && self.without.is_empty()
    }

    /// Drops the excluded zones if all members are in named zones, because they only matter for other zones.
    fn settled(mut self) -> Self {
        if !self.elsewhere {
            self.without.clear();
        }
        self
    }

    /// The places of a union of audiences, of which there may be thousands.
    fn any(all: Vec<Self>) -> Self {
        let mut open = all.iter().filter(|one| one.elsewhere);
        let (elsewhere, mut without) = match open.next() {
            Some(first) => (true, first.without.clone()),
            None => (false, Left::new()),
        };
        open.for_each(|other| without.retain(|tag, _| other.without.contains_key(tag)));
        let named: Named = all.into_iter().flat_map(|one| one.named.0).collect();
        without.retain(|tag, _| !named.contains(tag));
        Self { named, elsewhere, without }
    }

    /// The places of an intersection. A zone that one of them names and the other leaves open is possible, and a time
    /// zone tag applies to members of any country.
    pub(super) fn and(mut self, other: Self) -> Self {
        match (self.is_anywhere(), other.is_anywhere()) {
            (_, true) => return self.settled(),
            (true, _) => return other.settled(),
            _ => {}
        }
        let by_country = |seen: &ZoneName| seen.of_country.is_some();
        let allows = |whole: &Self, tag: &str, seen: ZoneName| {
            whole.named.contains(tag)
                || whole.elsewhere && !whole.without.contains_key(tag)
                || !by_country(&seen) && whole.named.0.iter().any(|(_, seen)| by_country(seen))
        };
        let allowed = |of: &Self, whole: &Self| -> Vec<(Cow<'static, str>, ZoneName)> {
            of.named.0.iter().filter(|(tag, seen)| allows(whole, tag, *seen)).cloned().collect()
        };
        // Mentions by tags come first.
        let (mut named, others) = (allowed(&self, &other), allowed(&other, &self));
        named.extend(others);
        named.sort_by(|(tag, seen), (other, at)| (tag, by_country(seen)).cmp(&(other, by_country(at))));
        self.without.extend(other.without);
        let elsewhere = self.elsewhere && other.elsewhere;
        let without = if elsewhere { self.without } else { Left::new() };
        Self { named: named.into_iter().collect(), elsewhere, without }
    }
}

/// The possible places of an audience's members. Segments are resolved through the lookup.
pub fn places<'s>(
    audience: &'s Selector,
    segments: impl Fn(&SegmentRef) -> Option<&'s Selector>,
    country: Country,
) -> Where {
    search(audience, segments, country, false)
}

/// The possible places of an audience's members, if excluding a country also excludes its zones. Members of other
/// countries can be in the same zones, so this only shows which exclusions were removed.
pub fn places_by_exclusions<'s>(
    audience: &'s Selector,
    segments: impl Fn(&SegmentRef) -> Option<&'s Selector>,
) -> Where {
    search(audience, segments, Country::All, true)
}

fn search<'s>(
    audience: &'s Selector,
    segments: impl Fn(&SegmentRef) -> Option<&'s Selector>,
    country: Country,
    excludes: bool,
) -> Where {
    let alone = matches!(audience, Selector::Segment(_));
    Search { segments, country, excludes, alone, known: HashMap::new() }.of(audience, false, 0)
}

struct Search<'s, F> {
    segments: F,
    country: Country,
    /// Whether an excluded country excludes its zones.
    excludes: bool,
    /// Whether the audience is one segment.
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
            return match all.len() {
                2.. if any => Where::any(all),
                _ => all.into_iter().reduce(Where::and).unwrap_or_else(Where::anywhere),
            };
        }
        match selector {
            Selector::Not(member) => self.of(member, !negated, depth),
            Selector::Tag(Tag { tag, group: Some(id) }) => match group(id).map(|group| group.values) {
                Some(Values::TimeZone) => {
                    let seen = ZoneName { at: tag.span, of_country: None };
                    let zone = [(Cow::Owned(iana(tag).to_owned()), seen)];
                    match negated {
                        true => Where { without: zone.into(), ..Where::anywhere() },
                        false => Where { named: zone.into_iter().collect(), ..Where::default() },
                    }
                }
                // Members of another country can be in the same zone.
                Some(Values::Country) if !negated => self.country(tag, tag.span),
                Some(Values::Country) if self.excludes => {
                    Where { without: self.country(tag, tag.span).named.0.into_iter().collect(), ..Where::anywhere() }
                }
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
        let seen = |rank| ZoneName { at, of_country: Some(rank) };
        let named = match self.country {
            Country::Main => zones_of(code).take(1).map(|zone| (zone.into(), seen(0))).collect(),
            Country::All => {
                let zones = BY_NAME.get(code).into_iter().flatten();
                Named(zones.map(|(zone, rank)| (Cow::Borrowed(*zone), seen(*rank))).collect())
            }
        };
        if named.is_empty() { Where::anywhere() } else { Where { named, ..Where::default() } }
    }

    fn segment(&mut self, key: &'s str, reference: &SegmentRef, negated: bool, depth: usize) -> Where {
        if let Some(known) = self.known.get(&(key, negated)) {
            return known.clone();
        }
        let Some(criteria) = (self.segments)(reference).filter(|_| depth < DEPTH) else {
            return Where::anywhere();
        };
        // A circle of segments reaches this answer again.
        self.known.insert((key, negated), Where::anywhere());
        let found = self.of(criteria, negated, depth + 1);
        if self.alone && depth == 0 {
            // It is not needed again.
            return found;
        }
        self.known.insert((key, negated), found.clone());
        found
    }
}

#[cfg(test)]
mod tests {
    use pushplan_model::node::{Decode, Node, Reader};

    use super::*;

    const TAG: ZoneName = ZoneName { at: Span::NONE, of_country: None };

    fn names(selector: &serde_json::Value, country: Country) -> (Vec<String>, bool) {
        let read = Selector::decode(&Node::from_json_value(selector), &mut Reader::default()).expect("a selector");
        let found = places(&read, |_| None, country);
        (found.named.iter().map(|(name, _)| name.to_string()).collect(), found.elsewhere)
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
        // The service assigns Berlin to Paris.
        assert_eq!(names(&both("DE", "Europe/Paris"), Country::All), (vec!["Europe/Paris".to_owned()], false));
        assert_eq!(names(&both("US", "Asia/Tokyo"), Country::All), (vec!["Asia/Tokyo".to_owned()], false));
        let brazil = names(&serde_json::json!({"timezone": "America/Sao_Paolo"}), Country::All);
        assert_eq!(brazil, (vec!["America/Sao_Paulo".to_owned()], false));
    }

    fn place(named: &[&str], elsewhere: bool, without: &[&str]) -> Where {
        let zone = |tag: &&str| (Cow::Owned((*tag).to_owned()), TAG);
        Where { named: named.iter().map(zone).collect(), elsewhere, without: without.iter().map(zone).collect() }
    }

    fn either(one: &Where, other: &Where) -> Where {
        Where::any(vec![one.clone(), other.clone()])
    }

    #[test]
    fn zones_are_joined_as_people_are() {
        let (a, b) = (place(&["A"], false, &[]), place(&["B"], false, &[]));
        let (open, not_a) = (Where::anywhere(), place(&[], true, &["A"]));
        assert_eq!(either(&a, &b), place(&["A", "B"], false, &[]));
        assert_eq!(either(&a, &open), place(&["A"], true, &[]));
        assert_eq!(either(&a, &not_a), place(&["A"], true, &[]));
        assert_eq!(a.clone().and(open.clone()), a);
        assert_eq!(a.clone().and(b.clone()), place(&[], false, &[]));
        assert_eq!(either(&a, &open).and(open.clone()), place(&["A"], true, &[]));
        assert_eq!(a.and(not_a.clone()), place(&[], false, &[]));
        assert_eq!(not_a.clone().and(open.clone()), not_a);
        assert_eq!(either(&not_a, &open), place(&[], true, &[]));
        assert_eq!(b.clone().and(place(&[], true, &["A"])), b);
    }
}
