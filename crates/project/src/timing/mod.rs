//! When messages are sent: by the author's clock, by the clocks of those who get them, and how near to each other.
//! Pure, and the same for every output form.

pub mod calendar;
mod cities;
mod collisions;
pub mod follows;
mod places;
pub mod words;

use std::borrow::Cow;

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone, offset};
use jiff::{SignedDuration, Timestamp};

pub(crate) use cities::city;
pub use collisions::{Collision, Collisions, Party, Upcoming, collisions};
pub use places::{Country, Named, Where, ZoneName, places, places_by_exclusions};

use pushplan_model::nouns::quiet::Quiet;
use pushplan_model::nouns::schedule::When;
use pushplan_model::nouns::zone;

/// How near to each other two messages to one person may be, where the target does not say.
pub const APART: SignedDuration = SignedDuration::from_hours(4);

/// The first and the last clock of the world, in hours from UTC.
const FIRST: i8 = 14;
const LAST: i8 = -12;

/// A time of one message, and what the clocks show then where people get it.
#[derive(Clone, Debug)]
pub struct Times {
    /// The variant that is sent then, from 1, where there are several.
    pub variant: Option<usize>,
    pub when: When,
    /// The zone that its author wrote; UTC where none was.
    pub zone: TimeZone,
    /// Whether it is in quiet hours: in the manifest's time zone, if recipients can be there, or in recipients' local
    /// time.
    pub quiet: bool,
    /// The other clocks that people can have, from west to east. None where each device goes by its own.
    pub there: Vec<There>,
    /// Whether recipients can be in any time zone: then these are large cities.
    pub anywhere: bool,
}

/// A local time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct There {
    /// The zone of the best-known city with that clock, by its IANA name.
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
    /// What the author's clock shows alone.
    pub fn by_author(when: When, zone: &TimeZone) -> Self {
        Self { variant: None, when, zone: zone.clone(), quiet: false, there: vec![], anywhere: false }
    }

    /// The clocks that an audience can have at that moment. Zones that show the same are told once.
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
        // Who is in a zone that is unknown can be anywhere.
        let anywhere = audience.elsewhere || clocks.best.is_empty();
        if anywhere {
            let others = cities::WORLD.iter().filter(|name| !audience.without.contains_key(*name));
            let others = others.map(|name| (name, 0));
            zone::each(others, |name, rank, zone| clocks.see((cities::fame(name), rank, name), zone));
        }
        let mut best = clocks.best;
        let own = zone.to_offset(instant);
        // A zone that nobody wrote is not where somebody is: who has that clock is told with the others.
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

    /// What is sent then, where there are several: `variant 2`.
    pub fn label(&self) -> Option<String> {
        self.variant.map(|number| format!("variant {number}"))
    }

    /// Whether anybody who can get it is in quiet hours then.
    pub fn disturbs(&self) -> bool {
        self.quiet || self.there.iter().any(|there| there.quiet)
    }
}

/// The clocks of some zones at a moment. Those that show the same are as far from UTC as each other, and there are few of them.
struct Clocks<'n> {
    instant: Timestamp,
    /// Of each the best-known city.
    best: Vec<(Offset, City<'n>)>,
}

/// How well a city is known, how many zones of its country more people live in, and its zone.
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

/// From when to when a message is sent. By each device's own clock, that is from where it is that time first to where
/// it is last.
pub fn range(when: When) -> (Timestamp, Timestamp) {
    match when {
        When::At(instant) => (instant, instant),
        When::EachZone(time) => (
            offset(FIRST).to_timestamp(time).unwrap_or(Timestamp::MIN),
            offset(LAST).to_timestamp(time).unwrap_or(Timestamp::MAX),
        ),
    }
}

/// Whether the time has passed for everybody.
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
        // The author's own clock matters only to those who have it.
        let early = Times::new(at("2026-11-27T11:00Z"), &zone("America/New_York"), &audience, night());
        assert!(!early.quiet);
        let home =
            Times::new(at("2026-11-27T11:00Z"), &zone("America/New_York"), &within(&["America/New_York"]), night());
        assert!(home.quiet && home.there.is_empty());
    }

    #[test]
    fn clocks_that_change_on_other_days_are_right() {
        let audience = within(&["America/New_York", "Europe/London"]);
        // In March, New York is an hour ahead of its usual distance for three weeks.
        for (moment, london) in [
            ("2026-03-01T14:00Z", "London 14:00 Sun"),
            ("2026-03-20T13:00Z", "London 13:00 Fri"),
            ("2026-04-10T13:00Z", "London 14:00 Fri"),
        ] {
            let times = Times::new(at(moment), &zone("America/New_York"), &audience, None);
            assert_eq!(told(&times), [london], "{moment}");
        }
        // The hour that happens twice, in its zone.
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
