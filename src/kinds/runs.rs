//! When something messages people by itself.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::model::schedule;

/// When something messages people by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runs {
    /// `None`: as soon as it exists.
    pub first: Option<Timestamp>,
    pub last: Option<Timestamp>,
}

impl Runs {
    /// Whether its first message has had its time.
    pub fn has_begun(&self, now: Timestamp) -> bool {
        self.first.is_none_or(|first| first <= now)
    }

    /// Whether no message of it is still to come: it is over, or nobody can say when it would message people again.
    pub fn is_done(&self, now: Timestamp, margin: SignedDuration) -> bool {
        self.last.is_none() || self.is_over(now, margin)
    }

    /// Whether it has messaged people for the last time, so long ago that it has by every clock: near its time, it may still wait.
    pub fn is_over(&self, now: Timestamp, margin: SignedDuration) -> bool {
        self.last.is_some_and(|last| last.checked_add(margin).is_ok_and(|over| over <= now))
    }
}

/// The moments of a schedule, or of several, as they are written in a spec. A time in each device's own zone begins where the
/// day begins first and ends where it ends last.
pub fn moments(schedules: &[&Value]) -> Runs {
    let mut runs = Runs { first: None, last: None };
    for schedule in schedules {
        let (first, last) = match (&schedule["scheduled_time"], &schedule["local_scheduled_time"]) {
            (Value::String(time), _) => (instant(time, 0), instant(time, 0)),
            (_, Value::String(time)) => (instant(time, 14), instant(time, -12)),
            _ => return Runs { first: None, last: runs.last },
        };
        runs.first = [runs.first, first].into_iter().flatten().min();
        runs.last = [runs.last, last].into_iter().flatten().max();
    }
    runs
}

/// A written time in UTC, so many hours earlier.
fn instant(written: &str, hours: i64) -> Option<Timestamp> {
    let time = schedule::of_spec(written)?;
    let at = time.to_zoned(TimeZone::UTC).ok()?.timestamp();
    at.checked_sub(SignedDuration::from_hours(hours)).ok()
}
