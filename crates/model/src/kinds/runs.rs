//! The times at which something messages people by itself.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::nouns::schedule;

/// The period in which something messages people by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runs {
    /// `None`: as soon as it exists.
    pub first: Option<Timestamp>,
    pub last: Option<Timestamp>,
}

impl Runs {
    /// Whether the time of its first message has passed.
    pub fn has_begun(&self, now: Timestamp) -> bool {
        self.first.is_none_or(|first| first <= now)
    }

    /// Whether it has no more messages: it is over, or the time of its next message is unknown.
    pub fn is_done(&self, now: Timestamp, margin: SignedDuration) -> bool {
        self.last.is_none() || self.is_over(now, margin)
    }

    /// Whether its last message was so long ago that it is over by every clock: near its time, it may still wait.
    pub fn is_over(&self, now: Timestamp, margin: SignedDuration) -> bool {
        self.last.is_some_and(|last| last.checked_add(margin).is_ok_and(|over| over <= now))
    }
}

/// A time at which something that has begun will message people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Coming {
    /// The first moment at which people are messaged. `None`: it has passed already in some time zones.
    pub from: Option<Timestamp>,
    /// The last moment at which people are messaged. It equals `from` if everyone is messaged at once.
    pub to: Timestamp,
}

/// Returns the times that are still to come, earliest first.
pub fn to_come(times: &[Runs], now: Timestamp) -> Vec<Coming> {
    let ahead = times.iter().filter_map(|runs| {
        let to = runs.last.filter(|last| *last > now)?;
        Some(Coming { from: runs.first.filter(|first| *first > now), to })
    });
    let mut ahead: Vec<Coming> = ahead.collect();
    ahead.sort();
    ahead.dedup();
    ahead
}

/// Returns the period of one or several schedules in a spec. A time in each device's own zone begins in the zone where
/// the day begins first, and ends in the zone where it ends last.
pub fn moments(schedules: &[&Value]) -> Runs {
    let mut runs = Runs { first: None, last: None };
    let mut at_once = false;
    for schedule in schedules {
        let (first, last) = match (&schedule["scheduled_time"], &schedule["local_scheduled_time"]) {
            (Value::String(time), _) => (instant(time, 0), instant(time, 0)),
            (_, Value::String(time)) => (instant(time, 14), instant(time, -12)),
            _ => {
                at_once = true;
                continue;
            }
        };
        runs.first = [runs.first, first].into_iter().flatten().min();
        runs.last = [runs.last, last].into_iter().flatten().max();
    }
    Runs { first: runs.first.filter(|_| !at_once), last: runs.last }
}

/// Returns a written time in UTC, moved earlier by a number of hours.
fn instant(written: &str, hours: i64) -> Option<Timestamp> {
    let time = schedule::of_spec(written)?;
    let at = time.to_zoned(TimeZone::UTC).ok()?.timestamp();
    at.checked_sub(SignedDuration::from_hours(hours)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_sent_at_once_ends_with_the_last_of_its_other_times() {
        let later = json!({ "scheduled_time": "2035-01-20T1400" });
        let last: Option<Timestamp> = Some("2035-01-20T14:00Z".parse().expect("a moment"));
        for all in [[&Value::Null, &later], [&later, &Value::Null]] {
            assert_eq!(moments(&all), Runs { first: None, last });
        }
        assert_eq!(moments(&[&Value::Null]), Runs { first: None, last: None });
    }

    #[test]
    fn times_are_to_come_until_they_have_for_everybody() {
        let at = |time: &str| -> Timestamp { time.parse().expect("a moment") };
        let one = |schedule: Value| moments(&[&schedule]);
        let times = [
            one(json!({ "scheduled_time": "2035-01-22T1400" })),
            one(json!({ "scheduled_time": "2035-01-18T1400" })),
            one(json!({ "local_scheduled_time": "2035-01-19T1400" })),
        ];
        let now = at("2035-01-19T14:00Z");
        let later = at("2035-01-22T14:00Z");
        let local = Coming { from: None, to: at("2035-01-20T02:00Z") };
        assert_eq!(to_come(&times, now), [local, Coming { from: Some(later), to: later }]);
        assert_eq!(to_come(&times, later), []);
    }
}
