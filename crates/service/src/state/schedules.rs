//! Pushes that wait for their time.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use pushplan_model::nouns::schedule::{Schedule, When};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::App;
use super::due::Due;
use super::local::Local;

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
