//! Dates and times as people write them, and explanations of invalid ones.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use crate::codes;
use crate::finding::Finding;
use crate::node::{At, Decode, Node, Reader, Tree};
use crate::text;

/// A date and time as written. A number is accepted as well, so that it is reported as an invalid time and not as a
/// text without quotes.
#[derive(Clone, Debug)]
pub struct Written(pub String);

impl Decode for Written {
    const WHAT: &'static str = "a time such as 2026-11-27T09:00";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        match &node.tree {
            Tree::Scalar(scalar) if node.what() == "a number" => Some(Self(scalar.text.clone())),
            _ => reader.text(node).map(|text| Self(text.to_owned())),
        }
    }
}

/// Why something is not a time, and the time that was meant, if that can be determined.
#[derive(Debug, PartialEq, Eq)]
struct Wrong {
    why: String,
    meant: Option<String>,
    /// The time that was meant is only another spelling of the same.
    sure: bool,
}

impl Wrong {
    fn new(why: impl Into<String>) -> Self {
        Self { why: why.into(), meant: None, sure: false }
    }

    fn meant(self, meant: String) -> Self {
        Self { meant: Some(meant), ..self }
    }
}

/// Reads `2026-11-27T09:00`, `2026-11-27T0900`, or the first one with seconds. Also returns the text after it: `Z`, or
/// an offset.
pub(crate) fn clock_time<'t>(text: &'t At<Written>, reader: &mut Reader) -> Option<(DateTime, &'t str)> {
    let (time, seconds, suffix) = match parse(&text.0) {
        Ok(read) => read,
        Err(Wrong { why, meant, sure }) => {
            let message = format!("`{}` is not a time: {why}", text::short(&text.0, 40));
            let finding = Finding::new(&codes::SC106, text.span, message).label("expected YYYY-MM-DDTHH:MM");
            reader.report(match meant {
                Some(meant) if sure => finding.help(format!("write {meant}")).fix(text.span, meant),
                Some(meant) => finding.help(format!("write {meant}")).suggest(text.span, meant),
                None => finding.help("write it like 2026-11-27T09:00"),
            });
            return None;
        }
    };
    let (whole, part) = seconds.split_once('.').unwrap_or((seconds, ""));
    let whole = if whole.is_empty() { Some(0) } else { whole.parse::<i64>().ok().filter(|whole| *whole < 60) };
    let Some(time) = whole.and_then(|whole| time.checked_add(whole.seconds()).ok()) else {
        let message = format!("`{}` is not a time: seconds go from 00 to 59", text::short(&text.0, 40));
        reader.report(Finding::new(&codes::SC106, text.span, message).label("expected YYYY-MM-DDTHH:MM:SS"));
        return None;
    };
    if !reader.is_wire() && part.chars().any(|c| c != '0') {
        reader.report(
            Finding::new(&codes::SC105, text.span, "a send time has no fractions of a second")
                .label("the service's times end with the second")
                .help(format!("write {}", authored(time)))
                .suggest(text.span, authored(time)),
        );
        return None;
    }
    Some((time, suffix))
}

/// Parses a time in a field that the contract does not describe: UTC, with or without a `Z`.
pub fn utc(text: &str) -> Option<Timestamp> {
    let in_utc = || text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok().map(|at| at.timestamp());
    text.parse().ok().or_else(in_utc)
}

/// Returns a time as people write it, with seconds if it has any.
pub fn authored(time: DateTime) -> String {
    let form = if time.second() == 0 { "%Y-%m-%dT%H:%M" } else { "%Y-%m-%dT%H:%M:%S" };
    time.strftime(form).to_string()
}

/// Returns the time, its seconds and the text after it.
fn parse(text: &str) -> Result<(DateTime, &str, &str), Wrong> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return Err(Wrong::new("a number has neither day nor hour"));
    }
    let Some((day, clock)) = text.split_once(['T', 't', ' ']) else {
        let date = date(text)?;
        return Err(Wrong::new("the hour is missing").meant(format!("{date}T09:00")));
    };
    let has_zeros = day.len() == "2026-11-27".len();
    let date = date(day)?;
    let clock = clock.trim_start();
    let end = clock.find(|c: char| !c.is_ascii_digit() && c != ':' && c != '.').unwrap_or(clock.len());
    let (clock, suffix) = clock.split_at(end);
    let suffix = if suffix.eq_ignore_ascii_case("z") { "Z" } else { suffix };
    let (hour, minutes, seconds) = match clock.split(':').collect::<Vec<_>>()[..] {
        [hhmm] if hhmm.len() == 4 => (&hhmm[..2], &hhmm[2..], ""),
        [hour] => (hour, "", ""),
        [hour, minutes] => (hour, minutes, ""),
        [hour, minutes, seconds] => (hour, minutes, seconds),
        _ => return Err(Wrong::new("after the date write hour and minute, such as 09:00")),
    };
    let half = half_of_day(suffix);
    let minutes = if minutes.is_empty() && half.is_some() { "00" } else { minutes };
    let two_digits = hour.len() == 2 && minutes.len() == 2;
    let (Some(hour), Some(minutes)) = (number(hour), number(minutes)) else {
        return Err(Wrong::new("after the date write hour and minute, such as 09:00"));
    };
    if clock.matches(':').count() == 2 && !is_seconds(seconds) {
        return Err(Wrong::new("write seconds with two digits, or remove them"));
    }
    if minutes > 59 {
        return Err(Wrong::new("minutes go from 00 to 59"));
    }
    if let Some(afternoon) = half.filter(|_| (1..=12).contains(&hour)) {
        let hour = hour % 12 + if afternoon { 12 } else { 0 };
        return Err(Wrong::new("hours go from 00 to 23").meant(format!("{date}T{hour:02}:{minutes:02}")));
    }
    if (hour, minutes) == (24, 0)
        && let Ok(next) = date.tomorrow()
    {
        return Err(Wrong::new("hours go from 00 to 23").meant(format!("{next}T00:00")));
    }
    if !(0..=23).contains(&hour) {
        return Err(Wrong::new("hours go from 00 to 23"));
    }
    let time = date.at(hour, minutes, 0, 0);
    if !two_digits && half.is_none() {
        let meant = format!("{}{}", authored(time), suffix.trim_start());
        let wrong = Wrong::new("write hour and minute with two digits each").meant(meant);
        return Err(Wrong { sure: suffix.is_empty() && seconds.is_empty(), ..wrong });
    }
    if !has_zeros {
        let meant = format!("{}{}", authored(time), suffix.trim_start());
        let wrong = Wrong::new("write month and day with two digits each").meant(meant);
        return Err(Wrong { sure: suffix.is_empty() && seconds.is_empty(), ..wrong });
    }
    if text.contains(' ') {
        let meant = format!("{}{}", authored(time), suffix.trim_start());
        let wrong = Wrong::new("write a T between date and time, not a space").meant(meant);
        return Err(Wrong { sure: suffix.is_empty() && seconds.is_empty(), ..wrong });
    }
    Ok((time, seconds, suffix))
}

/// Parses a number of one or two digits.
fn number(text: &str) -> Option<i8> {
    let digits = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

/// Whether a text is seconds: `30`, or `30.5`.
fn is_seconds(text: &str) -> bool {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    whole.len() == 2 && !part.is_empty() && whole.bytes().chain(part.bytes()).all(|byte| byte.is_ascii_digit())
}

/// Whether a 12-hour time is in the afternoon: `am`, `p.m.`
fn half_of_day(suffix: &str) -> Option<bool> {
    match suffix.to_ascii_lowercase().replace(['.', ' '], "").as_str() {
        "am" => Some(false),
        "pm" => Some(true),
        _ => None,
    }
}

fn date(text: &str) -> Result<Date, Wrong> {
    if let [year, month, day] = text.split('-').collect::<Vec<_>>()[..]
        && let (4, Ok(year), Some(month), Some(day)) = (year.len(), year.parse::<i16>(), number(month), number(day))
    {
        let Ok(first) = Date::new(year, month, 1) else {
            return Err(Wrong::new("months go from 01 to 12"));
        };
        return Date::new(year, month, day)
            .map_err(|_| Wrong::new(format!("{} has {} days", first.strftime("%B %Y"), first.days_in_month())));
    }
    // In most handwritten dates the year is last, with day and month in either order.
    if text
        .split(['.', '/', '-'])
        .filter(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
        .count()
        == 3
    {
        return Err(Wrong::new("write a date as year-month-day, such as 2026-11-27"));
    }
    Err(Wrong::new("begin with a date, such as 2026-11-27"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_time_is_said() {
        let hours = "hours go from 00 to 23";
        let order = "write a date as year-month-day, such as 2026-11-27";
        let behind = "after the date write hour and minute, such as 09:00";
        for (text, why, meant) in [
            ("2026-11-27T24:00", hours, Some("2026-11-28T00:00")),
            ("2026-11-27T25:00", hours, None),
            ("2026-11-27T10:00 pm", hours, Some("2026-11-27T22:00")),
            ("2026-11-27 12:30 a.m.", hours, Some("2026-11-27T00:30")),
            ("2026-11-27T9am", hours, Some("2026-11-27T09:00")),
            ("2026-11-27T10:60", "minutes go from 00 to 59", None),
            ("2026-02-30T10:00", "February 2026 has 28 days", None),
            ("2026-13-01T10:00", "months go from 01 to 12", None),
            ("2026-11-27 10:00", "write a T between date and time, not a space", Some("2026-11-27T10:00")),
            ("2026-11-27", "the hour is missing", Some("2026-11-27T09:00")),
            ("2026-11-27T", behind, None),
            ("2026-11-27T10", behind, None),
            ("2026-11-27T10:00:00:00", behind, None),
            ("2026-11-27T9:5", "write hour and minute with two digits each", Some("2026-11-27T09:05")),
            ("2026-6-1T14:00", "write month and day with two digits each", Some("2026-06-01T14:00")),
            ("2026-06-1T14:00Z", "write month and day with two digits each", Some("2026-06-01T14:00Z")),
            ("2026-6-01 14:00", "write month and day with two digits each", Some("2026-06-01T14:00")),
            ("2026-6-1T9:00", "write hour and minute with two digits each", Some("2026-06-01T09:00")),
            ("2026-11-27T09:00:", "write seconds with two digits, or remove them", None),
            ("2026-11-27T09:00:..0", "write seconds with two digits, or remove them", None),
            ("2026-11-27T09:00:0", "write seconds with two digits, or remove them", None),
            ("2026-+1-27T09:00", "begin with a date, such as 2026-11-27", None),
            ("27.11.2026 10:00", order, None),
            ("11/27/2026T10:00", order, None),
            ("20261127", "a number has neither day nor hour", None),
            ("1.5", "a number has neither day nor hour", None),
            ("tomorrow", "begin with a date, such as 2026-11-27", None),
            ("", "begin with a date, such as 2026-11-27", None),
        ] {
            let wrong = parse(text).expect_err(text);
            assert_eq!((wrong.why.as_str(), wrong.meant.as_deref()), (why, meant), "{text}");
        }
    }

    #[test]
    fn times_are_read_in_all_their_forms() {
        for (text, seconds, suffix) in [
            ("2026-11-27T09:05", "", ""),
            ("2026-11-27t0905", "", ""),
            ("2026-11-27T09:05:00", "00", ""),
            ("2026-11-27T09:05:30.5z", "30.5", "Z"),
            ("2026-11-27T09:05+01:00", "", "+01:00"),
        ] {
            assert_eq!(
                parse(text).expect(text),
                ("2026-11-27T09:05".parse().expect("a time"), seconds, suffix),
                "{text}"
            );
        }
    }
}
