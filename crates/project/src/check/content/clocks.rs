//! Local times at which a message is received.

use jiff::civil::DateTime;
use jiff::tz::{TimeZone, offset};
use pushplan_model::kinds::Sending;
use pushplan_model::nouns::schedule::When;

use super::Subject;
use super::schedules::{audience_zones, segment};
use crate::timing::{Country, city, places, words};

/// The largest offsets from UTC with many inhabitants, in hours.
const WORLD: std::ops::RangeInclusive<i8> = -11..=13;

/// The local times of a message's recipients.
#[derive(Debug)]
pub(super) struct Clocks {
    /// The time in the author's zone.
    own: Clock,
    /// Whether it is sent in local time.
    is_local: bool,
    /// The local times of recipients.
    pub there: Vec<Clock>,
    /// Whether the recipients' places are unknown, so each has one of these times.
    pub unknown: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Clock {
    place: String,
    pub at: DateTime,
}

impl Clocks {
    pub fn of(subject: &Subject, sending: &Sending) -> Self {
        let Sending { schedule, audience, .. } = sending;
        let zone = words::zone(&schedule.zone).to_owned();
        let own = Clock { place: city(&zone), at: schedule.clock_in(&schedule.zone) };
        let instant = match schedule.when {
            When::EachZone(_) => return Self { there: vec![own.clone()], own, is_local: true, unknown: false },
            When::At(instant) => instant,
        };
        let reached = places(audience, |reference| segment(subject, reference), Country::Main);
        let unknown = reached.named.is_empty() && zone == "UTC";
        let clock = |(name, zone): (String, TimeZone)| Clock { place: city(&name), at: zone.to_datetime(instant) };
        let there = match unknown {
            true => WORLD.map(|hours| Clock { at: offset(hours).to_datetime(instant), ..own.clone() }).collect(),
            false => audience_zones(schedule, reached).map(clock).collect(),
        };
        Self { own, is_local: false, there, unknown }
    }

    /// The first local time for which `is_wrong`. If the places are unknown, it has to be wrong for all.
    pub fn wrong(&self, is_wrong: impl Fn(DateTime) -> bool) -> Option<&Clock> {
        match self.unknown {
            true => self.there.iter().all(|clock| is_wrong(clock.at)).then_some(&self.own),
            // The author's own zone is named first.
            false => {
                let own = self.there.iter().find(|clock| clock.place == self.own.place && is_wrong(clock.at));
                own.or_else(|| self.there.iter().find(|clock| is_wrong(clock.at)))
            }
        }
    }

    /// The send time, with a local time: `Fri 27 Nov 09:00 in New York, which is Sat 28 Nov 01:00 in Sydney`.
    pub fn words(&self, clock: &Clock) -> String {
        match () {
            () if self.is_local => format!("{} in recipients' local time", moment(clock.at)),
            () if clock.place == self.own.place => self.own.words(),
            () => format!("{}, which is {}", self.own.words(), clock.words()),
        }
    }
}

impl Clock {
    fn words(&self) -> String {
        match self.place.as_str() {
            "UTC" => format!("{} UTC", moment(self.at)),
            place => format!("{} in {place}", moment(self.at)),
        }
    }

    /// The local date and its place: `Sat 28 Nov in Sydney`.
    pub fn day(&self) -> String {
        format!("{} in {}", self.at.strftime("%a %-d %b"), self.place)
    }
}

fn moment(at: DateTime) -> String {
    format!("{} {}", at.strftime("%a %-d %b"), words::clock(at))
}
