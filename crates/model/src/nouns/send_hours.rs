//! The hours of a week at which a pipeline may send.

mod daypart;

use std::fmt;

use daypart::DayOfWeek;
pub use daypart::{HoursClock, MissBehavior};
use jiff::civil::{DateTime, Time};
use jiff::tz::{Offset, TimeZone};
use jiff::{Span, Timestamp};

use super::quiet::Quiet;
use super::schedule::When;
use super::time_of_day::{LAST, TimeOfDay};
use crate::text;

/// A time on a day at which a message may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AllowedTime {
    /// From a time until another one, without its end.
    Window { start: Time, end: Time },
    /// At one time. A message that is due earlier on the day waits for it.
    Preferred(Time),
}

impl AllowedTime {
    pub(super) fn start(self) -> Time {
        match self {
            Self::Window { start, .. } => start,
            Self::Preferred(at) => at,
        }
    }

    fn contains(self, time: Time) -> bool {
        match self {
            Self::Window { start, end } => start <= time && time < end,
            Self::Preferred(at) => at == time,
        }
    }

    /// Returns the first and the last time of a day at which a message may be due to be sent at it on that day: a message
    /// that is due earlier waits for a preferred time.
    fn due(self) -> (Time, Time) {
        match self {
            Self::Window { start, end } => (start, end.wrapping_sub(Span::new().nanoseconds(1))),
            Self::Preferred(at) => (Time::midnight(), at),
        }
    }

    /// Whether it shares a moment with another one.
    pub(super) fn overlaps(self, other: Self) -> bool {
        self.contains(other.start()) || other.contains(self.start())
    }
}

/// `09:00–21:00`, `at 18:00`
impl fmt::Display for AllowedTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Window { start, end: LAST } if start == Time::midnight() => f.write_str("all day"),
            Self::Window { start, end } => write!(f, "{}–{}", TimeOfDay(start), TimeOfDay(end)),
            Self::Preferred(at) => write!(f, "at {}", TimeOfDay(at)),
        }
    }
}

/// The allowed times of each day, from Monday on, sorted and without overlaps.
pub type Week = [Vec<AllowedTime>; DAYS];

pub(super) const DAYS: usize = 7;

/// The hours at which a pipeline may send. Other spellings of the same hours are equal.
#[derive(Clone, Debug, PartialEq)]
pub struct SendHours {
    pub clock: HoursClock,
    pub miss: MissBehavior,
    week: Week,
}

/// The offsets of all time zones, in seconds.
fn offsets() -> impl Iterator<Item = i32> {
    (-12 * 3_600..=14 * 3_600).step_by(15 * 60)
}

fn on(at: DateTime) -> usize {
    usize::from(at.weekday().to_monday_zero_offset().unsigned_abs())
}

impl SendHours {
    pub fn new(clock: HoursClock, miss: MissBehavior, mut week: Week) -> Self {
        for times in &mut week {
            times.sort_unstable_by_key(|time| time.start());
            let mut joined: Vec<AllowedTime> = Vec::new();
            for time in times.drain(..) {
                if let Some(AllowedTime::Window { end, .. }) = joined.last_mut()
                    && let AllowedTime::Window { start: next, end: last } = time
                    && *end == next
                {
                    *end = last;
                } else {
                    joined.push(time);
                }
            }
            *times = joined;
        }
        Self { clock, miss, week }
    }

    /// Returns the hours outside of quiet hours, in recipients' local time.
    pub fn outside(quiet: Quiet) -> Option<Self> {
        let whole = || vec![AllowedTime::Window { start: Time::midnight(), end: LAST }];
        Self::new(HoursClock::Local, MissBehavior::Wait, std::array::from_fn(|_| whole())).without(quiet)
    }

    /// Returns the part of the hours outside of quiet hours; `None` if nothing is left.
    pub fn without(&self, quiet: Quiet) -> Option<Self> {
        let cut = |time: AllowedTime| -> Vec<AllowedTime> {
            let AllowedTime::Window { start, end } = time else {
                return if quiet.contains(time.start()) { vec![] } else { vec![time] };
            };
            let free = match quiet.from <= quiet.to {
                true => vec![(start, end.min(quiet.from)), (start.max(quiet.to), end)],
                false => vec![(start.max(quiet.to), end.min(quiet.from))],
            };
            let free = free.into_iter().filter(|(start, end)| start < end);
            free.map(|(start, end)| AllowedTime::Window { start, end }).collect()
        };
        let week = self.week.each_ref().map(|times| times.iter().copied().flat_map(cut).collect());
        let left = Self::new(self.clock, self.miss, week);
        left.week.iter().any(|times| !times.is_empty()).then_some(left)
    }

    /// Whether no allowed time is in quiet hours of the same clock.
    pub fn avoids(&self, quiet: Quiet) -> bool {
        self.without(quiet).is_some_and(|left| left == *self)
    }

    /// Whether no allowed time is in quiet hours of a place with this offset from UTC.
    pub fn avoids_in(&self, quiet: Quiet, offset: Offset) -> bool {
        let moved = |time: Time| time.wrapping_sub(Span::new().seconds(offset.seconds()));
        match self.clock {
            HoursClock::Local => self.avoids(quiet),
            HoursClock::Utc => self.avoids(Quiet { from: moved(quiet.from), to: moved(quiet.to) }),
        }
    }

    /// Whether every message that other hours let through is let through by these as well, perhaps at another time. Hours
    /// in local time let none through to a device without a time zone.
    pub fn lets_through(&self, other: Option<&Self>) -> bool {
        let is_stricter = |other: &Self| other.miss == MissBehavior::Cancel && other.clock == self.clock;
        match self.miss {
            MissBehavior::Wait => {
                self.clock == HoursClock::Utc || other.is_some_and(|other| other.clock == HoursClock::Local)
            }
            MissBehavior::Cancel => other.is_some_and(|other| is_stricter(other) && self.covers(other)),
        }
    }

    /// Whether every message that other hours send on the day on which it is due is sent on that day by these.
    fn covers(&self, other: &Self) -> bool {
        let is_covered = |own: &[AllowedTime], time: &AllowedTime| {
            let (from, to) = time.due();
            let preferred = own.iter().filter(|time| matches!(time, AllowedTime::Preferred(_)));
            let waits_until = preferred.map(|time| time.start()).max();
            let rest = waits_until.filter(|until| *until >= from).unwrap_or(from);
            rest >= to || own.iter().map(|own| own.due()).any(|(first, last)| first <= rest && to <= last)
        };
        self.week.iter().zip(&other.week).all(|(own, other)| other.iter().all(|time| is_covered(own, time)))
    }

    /// Whether a message may be sent at this time of the hours' clock.
    fn allows(&self, at: DateTime) -> bool {
        self.week[on(at)].iter().any(|time| time.contains(at.time()))
    }

    /// Returns when a message is sent that is due at a time of the hours' clock. `None`: it is cancelled.
    fn next(&self, due: DateTime, miss: MissBehavior) -> Option<DateTime> {
        if self.allows(due) {
            return Some(due);
        }
        let later = |time: &&AllowedTime| {
            let waits = miss == MissBehavior::Wait || matches!(time, AllowedTime::Preferred(_));
            waits && time.start() > due.time()
        };
        if let Some(time) = self.week[on(due)].iter().find(later) {
            return Some(due.date().to_datetime(time.start()));
        }
        let mut day = due.date();
        for _ in 0..DAYS {
            day = day.tomorrow().ok().filter(|_| miss == MissBehavior::Wait)?;
            if let Some(first) = self.week[on(day.into())].first() {
                return Some(day.to_datetime(first.start()));
            }
        }
        None
    }

    /// Returns when a message is sent that is due at a moment in a time zone. `None`: it is cancelled. A preferred time
    /// that clocks skip is later by the length of the skip. A window that they skip is no allowed time.
    pub fn next_in(&self, zone: &TimeZone, due: Timestamp) -> Option<Timestamp> {
        self.moment(zone, due, self.miss)
    }

    fn moment(&self, zone: &TimeZone, due: Timestamp, miss: MissBehavior) -> Option<Timestamp> {
        let zone = match self.clock {
            HoursClock::Local => zone,
            HoursClock::Utc => &TimeZone::UTC,
        };
        let mut from = zone.to_datetime(due);
        if self.allows(from) {
            return Some(due);
        }
        for _ in 0..=2 * DAYS {
            let next = self.next(from, miss)?;
            let ambiguous = zone.to_ambiguous_timestamp(next);
            let first = ambiguous.compatible().ok()?;
            // Of a time that clocks show twice, the first one may have passed.
            let at = if first < due { ambiguous.later().ok()? } else { first };
            let shown = zone.to_datetime(at);
            let is_preferred = self.week[on(next)].contains(&AllowedTime::Preferred(next.time()));
            if shown == next || is_preferred || self.allows(shown) {
                return Some(at);
            }
            from = shown;
        }
        None
    }

    /// Returns the first time at or after another one at which a message can be sent anywhere. For a moment and local
    /// hours, that is in the zone where it comes first.
    pub fn soonest(&self, due: When) -> When {
        let anywhere = || offsets().filter_map(|offset| Offset::from_seconds(offset).ok()).map(TimeZone::fixed);
        match due {
            When::EachZone(time) => match self.clock {
                HoursClock::Local => When::EachZone(self.next(time, MissBehavior::Wait).unwrap_or(time)),
                HoursClock::Utc => {
                    let first = anywhere().filter_map(|zone| zone.to_timestamp(time).ok()).min();
                    first.map_or(due, |first| self.soonest(When::At(first)))
                }
            },
            When::At(at) => {
                let moments = anywhere().filter_map(|zone| self.moment(&zone, at, MissBehavior::Wait));
                When::At(moments.min().unwrap_or(at))
            }
        }
    }

    /// Whether a message can be sent between two moments, in any time zone.
    pub fn has_time_between(&self, from: Timestamp, until: Timestamp) -> bool {
        matches!(self.soonest(When::At(from)), When::At(at) if at < until)
    }

    /// Returns the days with allowed times, grouped by these.
    pub(super) fn days(&self) -> impl Iterator<Item = (Vec<usize>, &[AllowedTime])> {
        let is_first = |day: &usize| !self.week[*day].is_empty() && !self.week[..*day].contains(&self.week[*day]);
        let alike = move |day: usize| (day..DAYS).filter(move |other| self.week[*other] == self.week[day]);
        (0..DAYS).filter(is_first).map(move |day| (alike(day).collect(), self.week[day].as_slice()))
    }

    /// Returns them as a manifest has them: `{type: local, …}`.
    pub fn written(&self) -> String {
        let time = |time: &AllowedTime| match *time {
            AllowedTime::Window { start, end } => {
                format!("{{start: \"{}\", end: \"{}\"}}", TimeOfDay(start), TimeOfDay(end))
            }
            AllowedTime::Preferred(at) => format!("{{preferred: \"{}\"}}", TimeOfDay(at)),
        };
        let one = |(days, times): (Vec<usize>, &[AllowedTime])| {
            let days: Vec<&str> = days.into_iter().map(|day| DayOfWeek::at(day).name()).collect();
            let times: Vec<String> = times.iter().map(time).collect();
            format!("{{days_of_week: [{}], allowed_times: [{}]}}", days.join(", "), times.join(", "))
        };
        let dayparts: Vec<String> = self.days().map(one).collect();
        let (clock, miss) = (self.clock.word(), self.miss.word());
        format!("{{type: {clock}, miss_behavior: {miss}, dayparts: [{}]}}", dayparts.join(", "))
    }
}

/// `only Mon–Fri 09:00–21:00, recipients' local time; otherwise waits`
impl fmt::Display for SendHours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = |(days, times): (Vec<usize>, &[AllowedTime])| {
            let times: Vec<String> = times.iter().map(ToString::to_string).collect();
            format!("{} {}", days_in_words(&days), text::all_of(&times))
        };
        let parts: Vec<String> = self.days().map(one).collect();
        let clock = match self.clock {
            HoursClock::Local => "recipients' local time",
            HoursClock::Utc => "UTC",
        };
        let otherwise = match self.miss {
            MissBehavior::Wait => "waits",
            MissBehavior::Cancel => "not sent",
        };
        write!(f, "only {}, {clock}; otherwise {otherwise}", parts.join(", "))
    }
}

/// `daily`, `Mon–Fri`, `Mon, Wed and Fri`
fn days_in_words(days: &[usize]) -> String {
    const SHORT: [&str; DAYS] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    if days.len() == DAYS {
        return "daily".to_owned();
    }
    let mut words = Vec::new();
    for run in days.chunk_by(|day, next| day + 1 == *next) {
        match run {
            [first, _, .., last] => words.push(format!("{}–{}", SHORT[*first], SHORT[*last])),
            few => words.extend(few.iter().map(|day| SHORT[*day].to_owned())),
        }
    }
    text::all_of(&words)
}

#[cfg(test)]
mod tests;
