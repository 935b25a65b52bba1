//! Times of the simulation: milliseconds since its start.

use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};

/// The start: 2031-01-01T00:00Z.
const START: i64 = 1_924_992_000_000;

pub const SECOND: i64 = 1000;
pub const MINUTE: i64 = 60 * SECOND;

pub fn stamp(at: i64) -> Timestamp {
    Timestamp::from_millisecond(START + at).expect("a time of this century")
}

/// The milliseconds of a time.
pub fn of(at: Timestamp) -> i64 {
    at.as_millisecond() - START
}

pub fn duration(time: i64) -> SignedDuration {
    SignedDuration::from_millis(time)
}

/// A time in the API's format.
pub fn written(at: i64) -> String {
    let at = Offset::UTC.to_datetime(stamp(at));
    format!("{}T{:02}{:02}", at.date(), at.hour(), at.minute())
}
