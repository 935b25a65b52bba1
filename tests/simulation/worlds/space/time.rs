//! Times of the worlds: milliseconds since they began.

use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};

/// When every world begins: 2031-01-01T00:00Z.
const START: i64 = 1_924_992_000_000;

pub const SECOND: i64 = 1000;
pub const MINUTE: i64 = 60 * SECOND;

/// How long a record takes to be written.
pub const APPEND: i64 = 10;
/// How long after its departure a request can still take effect.
pub const LATE: i64 = 130 * SECOND;
/// How far behind an answer to a reader can be.
pub const LAG: i64 = 120 * SECOND;
/// When everybody sees a change: longer than both of these together.
pub const SETTLE: i64 = 5 * MINUTE;
/// How near the time of a new push may be.
pub const LEAD: i64 = 5 * MINUTE;
/// How long a lease lasts. A real one is longer than the time in which requests leave; this one makes both matter.
pub const LEASE: i64 = 20 * SECOND;
/// When the push is sent.
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

/// A time as the contract writes it.
pub fn written(at: i64) -> String {
    let at = Offset::UTC.to_datetime(stamp(at));
    format!("{}T{:02}{:02}", at.date(), at.hour(), at.minute())
}
