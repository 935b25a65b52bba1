//! Times as plain text, for all output forms.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use pushplan_model::nouns::delay::Delay;
use pushplan_model::nouns::schedule::When;
use pushplan_model::text::{all_of, count};

use super::{Collision, Party, There, Times, cities, range};

/// The number of local times in a text.
pub const MOST: usize = 6;

/// A moment as text: `Fri 27 Nov 2026 14:00 UTC`.
pub fn moment(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC).strftime("%a %-d %b %Y %H:%M UTC").to_string()
}

/// The distance between two moments in words: `in 11 days`, `2 hours ago`.
pub fn distance(from: Timestamp, to: Timestamp) -> String {
    let seconds = to.duration_since(from).as_secs();
    if seconds.abs() < 60 {
        return "now".to_owned();
    }
    let words = length(seconds.abs());
    if seconds < 0 { format!("{words} ago") } else { format!("in {words}") }
}

/// A duration in one unit: `11 days`, `90 minutes`.
pub fn length(seconds: i64) -> String {
    let away = seconds.unsigned_abs();
    let (number, unit) = match away {
        0..=59 => (away, "second"),
        60..=7_199 => (away / 60, "minute"),
        7_200..=172_799 => (away / 3_600, "hour"),
        _ => (away / 86_400, "day"),
    };
    count(usize::try_from(number).unwrap_or(usize::MAX), unit)
}

/// The shift of a time: `30 minutes later`.
pub fn shift(seconds: i64) -> String {
    format!("{} {}", Delay(seconds.abs()), if seconds < 0 { "earlier" } else { "later" })
}

/// `Fri 27 Nov 2026`
pub fn day(at: DateTime) -> String {
    at.strftime("%a %-d %b %Y").to_string()
}

/// `09:00`, with seconds if they are not zero.
pub fn clock(at: DateTime) -> String {
    let (hour, minute) = (at.hour(), at.minute());
    match at.second() {
        0 => format!("{hour:02}:{minute:02}"),
        second => format!("{hour:02}:{minute:02}:{second:02}"),
    }
}

fn two_digits(out: &mut String, number: i8) {
    let number = number.unsigned_abs();
    out.push(char::from(b'0' + number / 10));
    out.push(char::from(b'0' + number % 10));
}

/// `Fri`
fn weekday(at: DateTime) -> &'static str {
    const NAMES: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    NAMES[usize::from(at.weekday().to_monday_zero_offset().unsigned_abs())]
}

/// The name of a zone.
pub fn zone(zone: &TimeZone) -> &str {
    zone.iana_name().unwrap_or("UTC")
}

/// The send time: `Fri 27 Nov 2026 09:00 America/New_York = 14:00 UTC, in 11 days`.
pub fn when(times: &Times, now: Timestamp) -> String {
    format!("{} {}", written(times), rest(times, now))
}

/// The send time only: `Fri 27 Nov 2026 09:00 America/New_York`.
pub fn brief(times: &Times) -> String {
    written_in(times)
}

/// The change of a send time only: `Fri 27 Nov 2026 06:00 -> 09:00 America/New_York`.
pub fn brief_change(old: &Times, new: &Times) -> String {
    let alike = zone(&old.zone) == zone(&new.zone) && by_own_clock(old) == by_own_clock(new);
    let offset = other_offset(old, new);
    match alike && !by_own_clock(new) {
        true if local(old).date() == local(new).date() => {
            format!("{} → {} {}{offset}", written(old), clock(local(new)), zone(&new.zone))
        }
        true => format!("{} → {} {}{offset}", written(old), written(new), zone(&new.zone)),
        false => format!("{} → {}{offset}", written_in(old), written_in(new)),
    }
}

/// The change of a send time: `Fri 27 Nov 2026 06:00 -> 09:00 America/New_York = 14:00 UTC, in 11 days`.
pub fn changed(old: &Times, new: &Times, now: Timestamp) -> String {
    let (was, is) = (local(old), local(new));
    let alike = zone(&old.zone) == zone(&new.zone) && by_own_clock(old) == by_own_clock(new);
    let (was, is) = match () {
        () if !alike => (written_in(old), written(new)),
        () if was.date() == is.date() => (written(old), clock(is)),
        () => (written(old), written(new)),
    };
    format!("{was} → {is} {}{}", rest(new, now), other_offset(old, new))
}

/// The change of a zone's offset between two times: `; UTC+2 by then, not UTC+1`.
fn other_offset(old: &Times, new: &Times) -> String {
    let (When::At(was), When::At(is)) = (old.when, new.when) else { return String::new() };
    let offset = |at: Timestamp| new.zone.to_offset(at);
    match zone(&old.zone) == zone(&new.zone) && offset(was) != offset(is) {
        true => format!("; UTC{} by then, not UTC{} (daylight saving)", offset(is), offset(was)),
        false => String::new(),
    }
}

/// A local time in another place: `Sydney 01:00 Sat (quiet)`.
pub fn there(there: &There) -> String {
    let (mut told, at) = (there.city(), there.at);
    told.push(' ');
    two_digits(&mut told, at.hour());
    told.push(':');
    two_digits(&mut told, at.minute());
    told.push(' ');
    told.push_str(weekday(at));
    told.push_str(if there.quiet { " (quiet)" } else { "" });
    told
}

/// The local times in other places: those of the best-known cities, and the number of others.
pub fn elsewhere(times: &Times, most: usize) -> Vec<String> {
    let mut fame: Vec<usize> = (0..times.there.len()).collect();
    fame.sort_by_cached_key(|at| cities::fame(&times.there[*at].zone));
    // One more time is as short as the text that there is one more.
    let most = if fame.len().checked_sub(1) == Some(most) { fame.len() } else { most };
    let (told, left) = fame.split_at(most.min(fame.len()));
    let mut told = told.to_vec();
    told.sort_unstable();
    let mut words: Vec<String> = told.iter().map(|at| there(&times.there[*at])).collect();
    if !left.is_empty() {
        let quiet = left.iter().filter(|at| times.there[**at].quiet).count();
        let quiet = if quiet > 0 { format!(" ({quiet} quiet)") } else { String::new() };
        words.push(format!("and {}{quiet}", count(left.len(), "more time zone")));
    }
    words
}

/// The distance to another message: `2 hours before experiments/test variant 1: both can reach an iOS device in US`.
/// From the view of the earlier of the two, or of the later.
pub fn collision(collision: &Collision, of_earlier: bool) -> String {
    let Collision { one, other, apart_seconds, who, .. } = collision;
    let (another, side) = if of_earlier { (other, "before") } else { (one, "after") };
    let near = match apart_seconds {
        0 if one.when == other.when => format!("at the same time as {another}"),
        0 => format!("at overlapping times with {another}"),
        // In local time, it is before for some recipients and after for others.
        seconds if is_moment(one) != is_moment(other) => format!("within {} of {another}", length(*seconds)),
        seconds => format!("{} {side} {another}", length(*seconds)),
    };
    match who {
        // Who gets both so close together depends on the local time.
        _ if is_moment(one) != is_moment(other) => format!("{near}, for some people who get both"),
        Some(who) => format!("{near}: both can reach {who}"),
        None => format!("{near}: too complex to check whether both reach the same recipients"),
    }
}

fn is_moment(party: &Party) -> bool {
    matches!(party.when, When::At(_))
}

/// The places in quiet hours: `Los Angeles and Sydney`. `None` if no known recipient is in quiet hours.
pub fn quiet_places(times: &Times) -> Option<String> {
    let own = match times.when {
        When::EachZone(_) => "in recipients' local time".to_owned(),
        When::At(_) => format!("in {}", cities::city(zone(&times.zone))),
    };
    let mut quiet: Vec<&There> = times.there.iter().filter(|there| there.quiet && !times.anywhere).collect();
    quiet.sort_by_key(|there| cities::fame(&there.zone));
    let places: Vec<String> = quiet.iter().map(|there| there.city()).collect();
    match (times.quiet, places.is_empty()) {
        (false, true) => None,
        (true, true) => Some(own),
        (false, false) => Some(format!("in {}", few(&places))),
        (true, false) => Some(format!("{own}, {}", few(&places))),
    }
}

/// The local times in quiet hours, the best-known city first: `Sydney 01:00 Sat`. If recipients can be anywhere, large
/// cities only count with `anywhere`.
pub fn quiet_clocks(times: &Times, anywhere: bool) -> Vec<QuietClock> {
    let own = times.quiet.then(|| match times.when {
        When::EachZone(at) => {
            QuietClock { place: String::new(), words: format!("{} in recipients' local time", clock(at)) }
        }
        When::At(_) => {
            let (at, place) = (local(times), cities::city(zone(&times.zone)));
            QuietClock { words: format!("{place} {} {}", clock(at), weekday(at)), place }
        }
    });
    let is_known = anywhere || !times.anywhere;
    let mut quiet: Vec<&There> = times.there.iter().filter(|there| there.quiet && is_known).collect();
    quiet.sort_by_key(|there| cities::fame(&there.zone));
    let clock =
        |one: &There| QuietClock { place: one.city(), words: there(one).trim_end_matches(" (quiet)").to_owned() };
    own.into_iter().chain(quiet.into_iter().map(clock)).collect()
}

/// A local time in quiet hours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuietClock {
    /// The city; empty for a message in recipients' local time.
    pub place: String,
    /// `Sydney 01:00 Sat`
    pub words: String,
}

fn few(places: &[String]) -> String {
    let mut told: Vec<String> = places.iter().take(MOST).cloned().collect();
    if places.len() > MOST {
        told.push(format!("{} more", places.len() - MOST));
    }
    all_of(&told)
}

/// The date and time as the author wrote them.
fn written(times: &Times) -> String {
    let at = local(times);
    format!("{} {}", day(at), clock(at))
}

fn written_in(times: &Times) -> String {
    match times.when {
        When::At(_) => format!("{} {}", written(times), zone(&times.zone)),
        When::EachZone(_) => format!("{} in recipients' local time", written(times)),
    }
}

fn local(times: &Times) -> DateTime {
    match times.when {
        When::At(instant) => times.zone.to_datetime(instant),
        When::EachZone(time) => time,
    }
}

fn by_own_clock(times: &Times) -> bool {
    matches!(times.when, When::EachZone(_))
}

/// The text after the time: its zone, the time in UTC, and its distance.
fn rest(times: &Times, now: Timestamp) -> String {
    let quiet = if times.quiet { " (quiet)" } else { "" };
    let (first, last) = range(times.when);
    let utc = |at: Timestamp| TimeZone::UTC.to_datetime(at);
    if by_own_clock(times) {
        let short = |at: Timestamp| format!("{} {} UTC", utc(at).strftime("%a %-d %b"), clock(utc(at)));
        return format!("in recipients' local time{quiet}, from {} to {}", short(first), short(last));
    }
    let (here, there) = (local(times), utc(first));
    let same = match (zone(&times.zone), here.date() == there.date()) {
        ("UTC", _) => String::new(),
        (_, true) => format!(" = {} UTC", clock(there)),
        (_, false) => format!(" = {} UTC", format_args!("{} {}", there.strftime("%a %-d %b"), clock(there))),
    };
    format!("{}{quiet}{same}, {}", zone(&times.zone), distance(now, first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timing::Where;

    const NOW: &str = "2026-11-16T09:00:00Z";

    fn at(moment: &str, zone: &str) -> Times {
        let zone = TimeZone::get(zone).unwrap();
        let anywhere = Where { elsewhere: true, ..Where::default() };
        Times::new(When::At(moment.parse().unwrap()), &zone, &anywhere, None)
    }

    fn by_own_clock(time: &str) -> Times {
        Times::new(When::EachZone(time.parse().unwrap()), &TimeZone::UTC, &Where::default(), None)
    }

    #[test]
    fn a_time_is_told_by_the_authors_clock_and_in_utc() {
        let now = NOW.parse().unwrap();
        for (times, words) in [
            (
                at("2026-11-27T14:00Z", "America/New_York"),
                "Fri 27 Nov 2026 09:00 America/New_York = 14:00 UTC, in 11 days",
            ),
            (at("2026-11-27T14:00Z", "UTC"), "Fri 27 Nov 2026 14:00 UTC, in 11 days"),
            (
                at("2026-11-27T14:00Z", "Australia/Sydney"),
                "Sat 28 Nov 2026 01:00 Australia/Sydney = Fri 27 Nov 14:00 UTC, in 11 days",
            ),
            (at("2026-11-27T04:15Z", "Asia/Kathmandu"), "Fri 27 Nov 2026 10:00 Asia/Kathmandu = 04:15 UTC, in 10 days"),
            (
                by_own_clock("2026-11-27T09:00"),
                "Fri 27 Nov 2026 09:00 in recipients' local time, from Thu 26 Nov 19:00 UTC to Fri 27 Nov 21:00 UTC",
            ),
        ] {
            assert_eq!(when(&times, now), words);
        }
    }

    #[test]
    fn only_what_changes_of_a_time_is_told_twice() {
        let now = NOW.parse().unwrap();
        let old = at("2026-11-27T11:00Z", "America/New_York");
        for (new, words) in [
            (
                at("2027-03-29T13:00Z", "America/New_York"),
                "Fri 27 Nov 2026 06:00 → Mon 29 Mar 2027 09:00 America/New_York = 13:00 UTC, in 133 days; \
                 UTC-04 by then, not UTC-05 (daylight saving)",
            ),
            (
                at("2026-11-27T14:00Z", "America/New_York"),
                "Fri 27 Nov 2026 06:00 → 09:00 America/New_York = 14:00 UTC, in 11 days",
            ),
            (
                at("2026-11-28T14:00Z", "America/New_York"),
                "Fri 27 Nov 2026 06:00 → Sat 28 Nov 2026 09:00 America/New_York = 14:00 UTC, in 12 days",
            ),
            (
                by_own_clock("2026-11-27T09:00"),
                "Fri 27 Nov 2026 06:00 America/New_York → Fri 27 Nov 2026 09:00 in recipients' local time, \
                 from Thu 26 Nov 19:00 UTC to Fri 27 Nov 21:00 UTC",
            ),
        ] {
            assert_eq!(changed(&old, &new, now), words);
        }
    }

    #[test]
    fn few_clocks_are_told_and_the_rest_is_counted() {
        let times = at("2026-11-27T14:00Z", "Europe/London");
        let words = elsewhere(&times, MOST).join("   ");
        assert!(words.starts_with("Los Angeles 06:00 Fri   New York 09:00 Fri   Paris 15:00 Fri"), "{words}");
        assert!(words.ends_with("Sydney 01:00 Sat   and 3 more time zones"), "{words}");
        assert_eq!(elsewhere(&times, usize::MAX).len(), times.there.len());
    }

    #[test]
    fn clocks_and_days_are_written_as_everywhere() {
        let noon: DateTime = "2026-11-16T12:00".parse().unwrap();
        for hours in 0..7 * 25 {
            let at = noon.checked_add(jiff::SignedDuration::from_secs(hours * 3599)).unwrap();
            assert_eq!(weekday(at), at.strftime("%a").to_string());
            let form = if at.second() == 0 { "%H:%M" } else { "%H:%M:%S" };
            assert_eq!(clock(at), at.strftime(form).to_string());
        }
    }

    #[test]
    fn distances_are_told_in_one_unit() {
        let now: Timestamp = NOW.parse().unwrap();
        for (to, words) in [
            ("2026-11-27T14:00:00Z", "in 11 days"),
            ("2026-11-16T09:10:00Z", "in 10 minutes"),
            ("2026-11-16T05:00:00Z", "4 hours ago"),
            ("2026-11-16T09:00:30Z", "now"),
        ] {
            assert_eq!(distance(now, to.parse().unwrap()), words);
        }
    }
}
