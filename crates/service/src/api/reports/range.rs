//! The range of a report and the length of its periods.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use crate::answer::Refusal;
use crate::request::Request;
use crate::state::Precision;

/// A range between two moments, both included.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    start: DateTime,
    end: DateTime,
}

impl Range {
    /// Reads `start` and `end`. A date without a time begins with its first moment and ends with its last.
    pub fn read(request: &Request) -> Result<Self, Refusal> {
        let start = given(request, "start")?.first();
        let end = given(request, "end")?.last();
        match start <= end {
            true => Ok(Self { start, end }),
            false => Err(Refusal::invalid("`end` is before `start`")),
        }
    }

    /// Returns the first and the last moment.
    pub fn moments(&self) -> (Timestamp, Timestamp) {
        let at = |time: DateTime, beyond| TimeZone::UTC.to_timestamp(time).unwrap_or(beyond);
        (at(self.start, Timestamp::MIN), at(self.end, Timestamp::MAX))
    }

    /// Returns the starts of all periods that overlap the range.
    pub fn periods(&self, precision: Precision) -> impl Iterator<Item = DateTime> + use<> {
        let (first, end) = (floor(self.start, precision), self.end);
        std::iter::successors(Some(first), move |start| {
            let length = match precision {
                Precision::Hourly => 1.hour(),
                Precision::Daily => 1.day(),
                Precision::Monthly => 1.month(),
            };
            start.checked_add(length).ok().filter(|next| *next <= end)
        })
    }
}

fn floor(at: DateTime, precision: Precision) -> DateTime {
    match precision {
        Precision::Hourly => at.date().at(at.hour(), 0, 0, 0),
        Precision::Daily => at.date().at(0, 0, 0, 0),
        Precision::Monthly => at.date().first_of_month().at(0, 0, 0, 0),
    }
}

/// Returns the length of the periods; days by default.
pub fn precision(request: &Request) -> Result<Precision, Refusal> {
    let Some(word) = request.query("precision") else { return Ok(Precision::Daily) };
    let known = Precision::ALL.into_iter().find(|precision| precision.word().eq_ignore_ascii_case(word.trim()));
    known.ok_or_else(|| Refusal::invalid("`precision` is HOURLY, DAILY or MONTHLY"))
}

/// Returns the last moment of the day or time in a parameter.
pub(crate) fn last_moment(request: &Request, name: &str) -> Result<Timestamp, Refusal> {
    let last = given(request, name)?.last();
    TimeZone::UTC.to_timestamp(last).map_err(|_| wrong(name))
}

/// Returns the URL of the next page: that of this one with one parameter changed.
pub fn next_page(request: &Request, name: &str, value: &str) -> String {
    let mut query = request.query.clone();
    query.insert(name.to_owned(), value.to_owned());
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
    format!("{}{}?{query}", request.origin, request.path)
}

/// A day, or a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Given {
    Day(Date),
    Moment(DateTime),
}

impl Given {
    fn first(self) -> DateTime {
        match self {
            Self::Day(day) => day.to_datetime(Time::midnight()),
            Self::Moment(moment) => moment,
        }
    }

    fn last(self) -> DateTime {
        match self {
            Self::Day(day) => day.to_datetime(Time::MAX),
            Self::Moment(moment) => moment,
        }
    }

    /// Parses `2026-11-01`, also without leading zeros, alone or followed by a time: `09:00`, `09:00:00` or
    /// `09:00:00.000`, after a space or a `T`. Times are in UTC and may end with a `Z`.
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (date, time) = match text.split_once([' ', 'T', 't']) {
            Some((date, time)) => (date, Some(time)),
            None => (text, None),
        };
        let mut parts = date.split('-');
        let year = digits(parts.next()?, 4, 4)?;
        let (month, day) = (digits(parts.next()?, 1, 2)?, digits(parts.next()?, 1, 2)?);
        let day = parts.next().is_none().then(|| Date::new(year, month as i8, day as i8).ok())??;
        let Some(time) = time else { return Some(Self::Day(day)) };
        let mut parts = time.strip_suffix(['Z', 'z']).unwrap_or(time).split(':');
        let (hour, minute) = (digits(parts.next()?, 1, 2)?, digits(parts.next()?, 1, 2)?);
        let second = match parts.next() {
            None => 0,
            Some(second) => {
                let (whole, fraction) = second.split_once('.').unwrap_or((second, "0"));
                fraction.bytes().all(|byte| byte.is_ascii_digit()).then_some(())?;
                digits(whole, 1, 2)?
            }
        };
        let time = Time::new(hour as i8, minute as i8, second as i8, 0).ok().filter(|_| parts.next().is_none())?;
        Some(Self::Moment(day.to_datetime(time)))
    }
}

fn digits(text: &str, least: usize, most: usize) -> Option<i16> {
    let fits = (least..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    fits.then(|| text.parse().ok())?
}

fn given(request: &Request, name: &str) -> Result<Given, Refusal> {
    let text = request.query(name).ok_or_else(|| Refusal::invalid(format!("`{name}` is missing")))?;
    Given::parse(text).ok_or_else(|| wrong(name))
}

fn wrong(name: &str) -> Refusal {
    Refusal::invalid(format!("`{name}` is not a date like 2026-11-01 or 2026-11-01 09:00"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(pairs: &[(&str, &str)]) -> Request {
        let query = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Request { query: query.collect(), path: "/api/reports/sends/".to_owned(), ..Request::default() }
    }

    fn periods(start: &str, end: &str, precision: Precision) -> Vec<String> {
        let range = Range::read(&request(&[("start", start), ("end", end)])).expect("a range");
        range.periods(precision).map(|start| start.to_string()).collect()
    }

    #[test]
    fn every_form_of_a_date_is_understood() {
        let day = jiff::civil::date(2026, 11, 1);
        for text in ["2026-11-01", "2026-11-1", " 2026-11-01 "] {
            assert_eq!(Given::parse(text), Some(Given::Day(day)), "{text}");
        }
        let moment = Given::Moment(day.at(9, 5, 0, 0));
        for text in [
            "2026-11-01 09:05",
            "2026-11-1 9:05",
            "2026-11-01 09:05:00",
            "2026-11-01T09:05:00",
            "2026-11-01T09:05:00Z",
            "2026-11-01T09:05:00.000Z",
        ] {
            assert_eq!(Given::parse(text), Some(moment), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_refused_by_the_name_of_its_parameter() {
        let wrong = [
            "",
            "x",
            "2026",
            "2026-11",
            "2026-13-01",
            "2026-02-30",
            "26-11-01",
            "2026-11-01-01",
            "2026-11-01 24:00",
            "2026-11-01 09",
            "2026-11-01 09:00:61",
            "2026-11-01 09:00:00.x",
            "2026-11-01 09:00:00:00",
            "2026-11-01T09:00+02:00",
            "+026-11-01",
            "2026-+1-01",
            "١٢٣٤-11-01",
        ];
        for text in wrong {
            let refusal = last_moment(&request(&[("date", text)]), "date").expect_err(text);
            assert_eq!(refusal.status, 400, "{text}");
            assert!(refusal.error.contains("`date`"), "{}", refusal.error);
        }
    }

    #[test]
    fn a_range_has_every_period_that_it_touches() {
        assert_eq!(
            periods("2026-10-31", "2026-11-01", Precision::Daily),
            ["2026-10-31T00:00:00", "2026-11-01T00:00:00"]
        );
        assert_eq!(periods("2026-11-01", "2026-11-01", Precision::Hourly).len(), 24);
        assert_eq!(
            periods("2026-11-01 09:30", "2026-11-01 10:00", Precision::Hourly),
            ["2026-11-01T09:00:00", "2026-11-01T10:00:00"]
        );
        assert_eq!(
            periods("2026-12-31", "2027-1-1", Precision::Monthly),
            ["2026-12-01T00:00:00", "2027-01-01T00:00:00"]
        );
        assert_eq!(periods("9999-12-31", "9999-12-31", Precision::Daily).len(), 1);
    }

    #[test]
    fn an_end_before_the_start_is_refused() {
        let turned = request(&[("start", "2026-11-02"), ("end", "2026-11-01")]);
        assert!(Range::read(&turned).expect_err("refused").error.contains("`end`"));
    }

    #[test]
    fn the_next_page_keeps_every_parameter() {
        let request = request(&[("start", "2026-11-01"), ("end", "2026-11-03 00:00"), ("precision", "HOURLY")]);
        let next = next_page(&request, "start", "2026-11-02 00:00:00");
        assert_eq!(next, "/api/reports/sends/?end=2026-11-03+00%3A00&precision=HOURLY&start=2026-11-02+00%3A00%3A00");
    }
}
