//! Scheduled pushes.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use pushplan_model::nouns::schedule::{Schedule, When};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::App;
use super::due::Due;
use super::local::Local;

/// A stored scheduled push. It is deleted once all of it has been sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Scheduled {
    pub name: Option<String>,
    /// In the newer form: one object, or an array if there are several times.
    pub schedule: Value,
    /// As sent.
    pub push: Value,
    /// One for each time.
    pub push_ids: Vec<String>,
    /// The number of moments in the queue.
    pub left: usize,
    pub started: bool,
    pub paused: bool,
}

/// A moment at which a push is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub at: Timestamp,
    /// Set for a time in each device's own zone: the push is sent to the devices whose clocks show that time.
    pub local: Option<Local>,
}

/// The maximum number of quarter hours that clocks are ahead of UTC, and behind it.
const AHEAD: i64 = 14 * 4;
const BEHIND: i64 = 12 * 4;

/// Returns the moments of a schedule: its instant, or for a local time each moment at which some zone can show it.
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

/// Returns a schedule in the form of newer servers, which has seconds.
pub fn newer_form(schedule: &Schedule) -> Value {
    let (key, time) = match schedule.when {
        When::At(at) => ("scheduled_time", TimeZone::UTC.to_datetime(at)),
        When::EachZone(time) => ("local_scheduled_time", time),
    };
    json!({ key: time.strftime("%Y-%m-%dT%H:%M:%S").to_string() })
}

impl App {
    /// Stores a scheduled push, and adds its moments to the queue, each with the number of its time.
    pub fn schedule(&mut self, id: &str, scheduled: Scheduled, upcoming: &[(usize, Moment)]) {
        self.unschedule(id);
        for (time, moment) in upcoming {
            let what = Due::Schedule { id: id.to_owned(), time: *time, local: moment.local };
            self.due.put(&mut self.journal, moment.at, what);
        }
        let scheduled = Scheduled { left: upcoming.len(), ..scheduled };
        self.schedules.put(&mut self.journal, id, scheduled);
    }

    /// Deletes a scheduled push. Parts that have not been sent are never sent.
    pub(crate) fn unschedule(&mut self, id: &str) -> Option<Scheduled> {
        let removed = self.schedules.remove(&mut self.journal, id)?;
        self.due.drop_if(&mut self.journal, |due| matches!(due, Due::Schedule { id: other, .. } if other == id));
        Some(removed)
    }
}
