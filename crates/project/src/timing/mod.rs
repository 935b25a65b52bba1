//! The send times of messages: in the author's zone, in recipients' local time, and the distance between them. Pure,
//! and the same for all output forms.

pub mod calendar;
mod cities;
mod collisions;
pub mod follows;
mod hours;
mod places;
pub mod words;

use std::borrow::Cow;

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone, offset};
use jiff::{SignedDuration, Timestamp};

pub(crate) use cities::city;
pub use collisions::{Collision, Collisions, Party, Upcoming, collisions};
pub use hours::can_disturb;
pub use places::{Country, Named, Where, ZoneName, places, places_by_exclusions};

use pushplan_model::nouns::quiet::Quiet;
use pushplan_model::nouns::schedule::When;
use pushplan_model::nouns::zone;

/// The default of the minimal time between two messages to one person.
pub const APART: SignedDuration = SignedDuration::from_hours(4);

/// The largest and the smallest offset from UTC in the world, in hours.
const FIRST: i8 = 14;
const LAST: i8 = -12;

/// A send time of one message, with the local times of its recipients.
#[derive(Clone, Debug)]
pub struct Times {
    /// The variant that is sent at this time, from 1, if there are several.
    pub variant: Option<usize>,
    pub when: When,
    /// The zone in the manifest; UTC if there is none.
    pub zone: TimeZone,
    /// Whether it is in quiet hours: in the manifest's time zone, if recipients can be there, or in recipients' local
    /// time.
    pub quiet: bool,
    /// The other possible local times, from west to east. Empty for a message in recipients' local time.
    pub there: Vec<There>,
    /// Whether recipients can be in any time zone: then these are large cities.
    pub anywhere: bool,
}

/// A local time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct There {
    /// The zone of the best-known city with that local time, by its IANA name.
    pub zone: Cow<'static, str>,
    /// The local time.
    pub at: DateTime,
    pub quiet: bool,
}

impl There {
    /// The city.
    pub fn city(&self) -> String {
        cities::city(&self.zone)
    }
}

impl Times {
    /// Creates a time in the author's zone only.
    pub fn by_author(when: When, zone: &TimeZone) -> Self {
        Self { variant: None, when, zone: zone.clone(), quiet: false, there: vec![], anywhere: false }
    }

    /// Creates a time with the possible local times of an audience. Zones with the same local time are listed once.
    pub fn new(when: When, zone: &TimeZone, audience: &Where, quiet: Option<Quiet>) -> Self {
        let is_quiet = |at: DateTime| quiet.is_some_and(|quiet| quiet.contains(at.time()));
        let bare = Self::by_author(when, zone);
        let instant = match when {
            When::EachZone(time) => return Self { quiet: is_quiet(time), ..bare },
            When::At(instant) => instant,
        };
        let named = audience.named.iter().map(|(name, seen)| (name, seen.of_country.unwrap_or_default()));
        let mut clocks = Clocks { instant, best: Vec::new() };
        zone::each(named, |name, rank, zone| clocks.see((cities::fame(name), rank, name), zone));
        // Members in an unknown zone can be anywhere.
        let anywhere = audience.elsewhere || clocks.best.is_empty();
        if anywhere {
            let others = cities::WORLD.iter().filter(|name| !audience.without.contains_key(*name));
            let others = others.map(|name| (name, 0));
            zone::each(others, |name, rank, zone| clocks.see((cities::fame(name), rank, name), zone));
        }
        let mut best = clocks.best;
        let own = zone.to_offset(instant);
        // The default zone does not mean that recipients are there: its local time is listed with the others.
        let written = zone.iana_name().is_some_and(|name| name != "UTC");
        let here = written && (anywhere || best.iter().any(|(clock, _)| *clock == own));
        best.retain(|(clock, _)| !written || *clock != own);
        best.sort_unstable_by_key(|(clock, _)| *clock);
        let there = best.into_iter().map(|(clock, (_, _, zone))| {
            let at = clock.to_datetime(instant);
            There { zone: zone.clone(), at, quiet: is_quiet(at) }
        });
        Self { quiet: here && is_quiet(own.to_datetime(instant)), there: there.collect(), anywhere, ..bare }
    }

    /// Sets the variant that is sent at this time.
    pub fn of_variant(self, variant: Option<usize>) -> Self {
        Self { variant, ..self }
    }

    /// The label of the variant that is sent, if there are several: `variant 2`.
    pub fn label(&self) -> Option<String> {
        self.variant.map(|number| format!("variant {number}"))
    }

    /// Whether any possible recipient is in quiet hours then.
    pub fn disturbs(&self) -> bool {
        self.quiet || self.there.iter().any(|there| there.quiet)
    }
}

/// The local times of some zones at a moment. Zones with the same local time have the same offset, and there are few
/// offsets.
struct Clocks<'n> {
    instant: Timestamp,
    /// The best-known city for each offset.
    best: Vec<(Offset, City<'n>)>,
}

/// The rank of a city, the rank of its zone by population in its country, and its zone.
type City<'n> = (usize, usize, &'n Cow<'static, str>);

impl<'n> Clocks<'n> {
    fn see(&mut self, this: City<'n>, zone: &TimeZone) {
        let clock = zone.to_offset(self.instant);
        match self.best.iter_mut().find(|(known, _)| *known == clock) {
            Some((_, known)) => *known = this.min(*known),
            None => self.best.push((clock, this)),
        }
    }
}

/// The first and the last moment of a send. For a local time, from the first zone that reaches it to the last.
pub fn range(when: When) -> (Timestamp, Timestamp) {
    match when {
        When::At(instant) => (instant, instant),
        When::EachZone(time) => (
            offset(FIRST).to_timestamp(time).unwrap_or(Timestamp::MIN),
            offset(LAST).to_timestamp(time).unwrap_or(Timestamp::MAX),
        ),
    }
}

/// Whether the time has passed in all zones.
pub fn has_passed(when: When, now: Timestamp) -> bool {
    range(when).1 <= now
}

#[cfg(test)]
mod tests {
    use pushplan_model::source::Span;

    use super::*;

    fn at(text: &str) -> When {
        When::At(text.parse().expect("a moment"))
    }

    fn zone(name: &str) -> TimeZone {
        TimeZone::get(name).expect("a zone")
    }

    fn within(names: &[&str]) -> Where {
        let seen = ZoneName { at: Span::NONE, of_country: None };
        Where { named: names.iter().map(|name| ((*name).to_owned().into(), seen)).collect(), ..Where::default() }
    }

    fn night() -> Option<Quiet> {
        Some(Quiet { from: "21:00".parse().unwrap(), to: "08:00".parse().unwrap() })
    }

    fn told(times: &Times) -> Vec<String> {
        times.there.iter().map(words::there).collect()
    }

    #[test]
    fn each_clock_is_told_once_by_its_best_known_city() {
        let audience =
            within(&["America/New_York", "America/Los_Angeles", "Europe/London", "Africa/Abidjan", "Europe/Paris"]);
        let times = Times::new(at("2026-11-27T14:00Z"), &zone("America/New_York"), &audience, night());
        assert_eq!(told(&times), ["Los Angeles 06:00 Fri (quiet)", "London 14:00 Fri", "Paris 15:00 Fri"]);
        assert!(!times.quiet && !times.anywhere);
    }

    #[test]
    fn quiet_hours_pass_midnight_where_people_are() {
        let audience = within(&["Asia/Kathmandu", "Australia/Sydney"]);
        let times = Times::new(at("2026-11-27T14:00Z"), &zone("America/New_York"), &audience, night());
        assert_eq!(told(&times), ["Kathmandu 19:45 Fri", "Sydney 01:00 Sat (quiet)"]);
        // The author's zone only matters if recipients are in it.
        let early = Times::new(at("2026-11-27T11:00Z"), &zone("America/New_York"), &audience, night());
        assert!(!early.quiet);
        let home =
            Times::new(at("2026-11-27T11:00Z"), &zone("America/New_York"), &within(&["America/New_York"]), night());
        assert!(home.quiet && home.there.is_empty());
    }

    #[test]
    fn clocks_that_change_on_other_days_are_right() {
        let audience = within(&["America/New_York", "Europe/London"]);
        // For three weeks in March, New York is one hour closer to London than usual.
        for (moment, london) in [
            ("2026-03-01T14:00Z", "London 14:00 Sun"),
            ("2026-03-20T13:00Z", "London 13:00 Fri"),
            ("2026-04-10T13:00Z", "London 14:00 Fri"),
        ] {
            let times = Times::new(at(moment), &zone("America/New_York"), &audience, None);
            assert_eq!(told(&times), [london], "{moment}");
        }
        // An hour that occurs twice in its zone.
        let first = Times::new(at("2026-11-01T05:30Z"), &TimeZone::UTC, &within(&["America/New_York"]), None);
        let second = Times::new(at("2026-11-01T06:30Z"), &TimeZone::UTC, &within(&["America/New_York"]), None);
        assert_eq!([told(&first), told(&second)].concat(), ["New York 01:30 Sun", "New York 01:30 Sun"]);
    }

    #[test]
    fn who_can_be_anywhere_is_told_by_big_cities() {
        let anywhere = Where { elsewhere: true, ..Where::default() };
        let times = Times::new(at("2026-11-27T14:00Z"), &zone("Europe/London"), &anywhere, None);
        assert!(times.anywhere);
        let cities: Vec<String> = times.there.iter().map(There::city).collect();
        assert_eq!(cities.first().map(String::as_str), Some("Los Angeles"));
        assert_eq!(cities.last().map(String::as_str), Some("Sydney"));
        assert!(!cities.iter().any(|city| city == "London"), "{cities:?}");
        assert!(times.there.is_sorted_by_key(|there| there.at));
    }

    #[test]
    fn a_time_by_each_own_clock_lasts_for_more_than_a_day() {
        let (first, last) = range(When::EachZone("2026-11-27T09:00".parse().unwrap()));
        assert_eq!([first, last].map(|at| at.to_string()), ["2026-11-26T19:00:00Z", "2026-11-27T21:00:00Z"]);
        assert!(!has_passed(When::EachZone("2026-11-27T09:00".parse().unwrap()), "2026-11-27T20:59Z".parse().unwrap()));
    }
}
