//! Pushes that wait for their time.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use pushplan_model::nouns::schedule::{Schedule, When};
use pushplan_model::nouns::vocabulary::{self, NO_TIME_ZONE};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::App;
use super::devices::{Device, nearest_zone};
use super::due::Due;

/// A scheduled push as it is kept. It is gone once all of it has been sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Scheduled {
    pub name: Option<String>,
    /// In the newer form: one object or, for several times, an array.
    pub schedule: Value,
    /// As it was sent.
    pub push: Value,
    /// One for each time.
    pub push_ids: Vec<String>,
    /// How many moments wait in the queue.
    pub left: usize,
    pub started: bool,
    pub paused: bool,
}

/// A moment at which something is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub at: Timestamp,
    /// Where it is a time of each device's own zone: to the devices whose clocks show it then.
    pub local: Option<Local>,
}

/// A clock time, and the moment at which it is shown in some zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Local {
    pub time: DateTime,
    pub at: Timestamp,
}

impl Local {
    /// Whether the clocks of a zone show the time at this moment. A time that they skip is as much later as they skip, one
    /// that they show twice is the first of the two.
    fn is_shown_in(&self, zone: &TimeZone) -> bool {
        zone.to_ambiguous_timestamp(self.time).compatible().is_ok_and(|at| at == self.at)
    }

    /// Whether the clock of a device shows it. One without a zone, or with one that nobody knows, counts as UTC.
    pub(crate) fn is_shown_on(&self, device: &Device) -> bool {
        let name = device.properties.timezone.as_deref().map(str::trim).unwrap_or_default();
        let zone = TimeZone::get(vocabulary::iana(name)).unwrap_or(TimeZone::UTC);
        self.is_shown_in(&zone)
    }

    /// The tags of the devices that may show it: those of all zones whose clocks do. Most moments have none.
    pub fn zones(&self) -> BTreeSet<&'static str> {
        let shown = every_zone().iter().filter(|(zone, _)| self.is_shown_in(zone));
        shown.map(|(_, tag)| *tag).collect()
    }
}

/// All zones that there are, each with the tag that its devices carry; and what devices without one count as.
fn every_zone() -> &'static [(TimeZone, &'static str)] {
    static ZONES: OnceLock<Vec<(TimeZone, &str)>> = OnceLock::new();
    ZONES.get_or_init(|| {
        let named = jiff::tz::db().available().filter_map(|name| {
            let name = name.as_str();
            Some((TimeZone::get(name).ok()?, nearest_zone(name)))
        });
        named.chain([(TimeZone::UTC, NO_TIME_ZONE)]).collect()
    })
}

/// The clocks of the world are ahead of UTC by at most so many quarters of an hour, and behind it by at most so many.
const AHEAD: i64 = 14 * 4;
const BEHIND: i64 = 12 * 4;

/// The moments of a schedule: its instant, or for a clock time each at which some zone can show it.
pub fn moments(schedule: &Schedule) -> Vec<Moment> {
    let time = match schedule.when {
        When::At(at) => return vec![Moment { at, local: None }],
        When::EachZone(time) => time,
    };
    let in_utc = TimeZone::UTC.to_timestamp(time);
    let quarters = (-AHEAD..=BEHIND).filter_map(|quarter| {
        let at = in_utc.as_ref().ok()?.checked_add(SignedDuration::from_mins(quarter * 15)).ok()?;
        Some(Moment { at, local: Some(Local { time, at }) })
    });
    quarters.collect()
}

/// A schedule in the form of newer servers, which has seconds.
pub fn newer_form(schedule: &Schedule) -> Value {
    let (key, time) = match schedule.when {
        When::At(at) => ("scheduled_time", TimeZone::UTC.to_datetime(at)),
        When::EachZone(time) => ("local_scheduled_time", time),
    };
    json!({ key: time.strftime("%Y-%m-%dT%H:%M:%S").to_string() })
}

impl App {
    /// Puts a scheduled push and its moments, each with the number of its time, where they wait.
    pub fn schedule(&mut self, id: &str, scheduled: Scheduled, upcoming: &[(usize, Moment)]) {
        self.unschedule(id);
        for (time, moment) in upcoming {
            let what = Due::Schedule { id: id.to_owned(), time: *time, local: moment.local };
            self.due.put(&mut self.journal, moment.at, what);
        }
        let scheduled = Scheduled { left: upcoming.len(), ..scheduled };
        self.schedules.put(&mut self.journal, id, scheduled);
    }

    /// Takes a scheduled push away; what of it was not sent is never sent.
    pub(crate) fn unschedule(&mut self, id: &str) -> Option<Scheduled> {
        let removed = self.schedules.remove(&mut self.journal, id)?;
        self.due.drop_if(&mut self.journal, |due| matches!(due, Due::Schedule { id: other, .. } if other == id));
        Some(removed)
    }
}
