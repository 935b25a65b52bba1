//! Times of the worlds: milliseconds since their start.

use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};

/// The start of every world: 2031-01-01T00:00Z.
const START: i64 = 1_924_992_000_000;

pub const SECOND: i64 = 1000;
pub const MINUTE: i64 = 60 * SECOND;

/// The time in which a record is written.
pub const APPEND: i64 = 10;
/// The maximal time between the departure of a request and its effect.
pub const LATE: i64 = 130 * SECOND;
/// The maximal age of an answer to a reader.
pub const LAG: i64 = 120 * SECOND;
/// The time after which a change is visible everywhere: longer than both of these together.
pub const SETTLE: i64 = 5 * MINUTE;
/// The smallest distance of a new push's time.
pub const LEAD: i64 = 5 * MINUTE;
/// The length of a lease. A real one is longer than the time in which requests leave; this one makes both matter.
pub const LEASE: i64 = 20 * SECOND;
/// The time of the push.
pub const DUE: i64 = 6 * 60 * MINUTE;

pub fn stamp(at: i64) -> Timestamp {
    Timestamp::from_millisecond(START + at).expect("a time of this century")
}

/// The milliseconds of a time, rounded up.
pub fn of(at: Timestamp) -> i64 {
    let whole = at.as_millisecond() - START;
    whole + i64::from(stamp(whole) < at)
}

pub fn duration(time: i64) -> SignedDuration {
    SignedDuration::from_millis(time)
}

/// A time in the API's format.
pub fn written(at: i64) -> String {
    let at = Offset::UTC.to_datetime(stamp(at));
    format!("{}T{:02}{:02}", at.date(), at.hour(), at.minute())
}
