//! Pushes that wait for their time.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::App;
use super::due::Due;
use crate::model::schedule::{Schedule, When};
use crate::model::vocabulary::{self, NO_TIME_ZONE, ZONES};

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

/// A moment at which something is sent; with a zone, to the devices in that zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub at: Timestamp,
    pub zone: Option<&'static str>,
}

/// The moments of a schedule: its instant, or one for each zone that devices can have. Devices without a zone count as UTC.
pub fn moments(schedule: &Schedule) -> Vec<Moment> {
    let time = match schedule.when {
        When::At(at) => return vec![Moment { at, zone: None }],
        When::EachZone(time) => time,
    };
    let zones = ZONES.iter().map(|zone| (zone.tag, TimeZone::get(vocabulary::iana(zone.tag)).unwrap_or(TimeZone::UTC)));
    let all = zones.chain([(NO_TIME_ZONE, TimeZone::UTC)]);
    all.filter_map(|(tag, zone)| {
        // A time that the clocks skip is sent as much later as they skip, one that happens twice at its first.
        let at = zone.to_ambiguous_timestamp(time).compatible().ok()?;
        Some(Moment { at, zone: Some(tag) })
    })
    .collect()
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
            let what = Due::Schedule { id: id.to_owned(), time: *time, zone: moment.zone.map(str::to_owned) };
            self.due.put(&mut self.journal, moment.at, what);
        }
        let scheduled = Scheduled { left: upcoming.len(), ..scheduled };
        self.schedules.put(&mut self.journal, id, scheduled);
    }

    /// Takes a scheduled push away; what of it was not sent is never sent.
    pub fn unschedule(&mut self, id: &str) -> Option<Scheduled> {
        let removed = self.schedules.remove(&mut self.journal, id)?;
        self.due.drop_if(&mut self.journal, |due| matches!(due, Due::Schedule { id: other, .. } if other == id));
        Some(removed)
    }
}
