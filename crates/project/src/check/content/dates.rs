//! Dates in a text: `Sunday 22 November`, `Nov 22`, `22.11.`, `2026-11-22`.

use std::ops::Range;

use jiff::civil::{Date, Weekday};

use super::reading::{Gap, Word};
use super::words::{is_ahead, is_between, month, weekday, weekday_of_date};

/// A date with the words around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedDate {
    pub day: i8,
    pub month: i8,
    pub year: Option<i16>,
    /// The day of the week before it.
    pub weekday: Option<Weekday>,
    /// Whether a word before it shows that it is in the future.
    pub ahead: bool,
}

impl NamedDate {
    /// The possible dates if the text is read on `today`, the most likely first.
    pub fn meant(&self, today: Date) -> Vec<Date> {
        let years = match self.year {
            Some(year) => vec![year],
            None => vec![today.year() - 1, today.year(), today.year() + 1],
        };
        let mut dates: Vec<Date> =
            years.into_iter().filter_map(|year| Date::new(year, self.month, self.day).ok()).collect();
        dates.sort_by_key(|date| days_between(today, *date).abs());
        dates
    }
}

/// How many days later `other` is.
pub(super) fn days_between(one: Date, other: Date) -> i64 {
    one.duration_until(other).as_hours() / 24
}

/// The date that begins with the word `at`, and the words of it and its additions.
pub(super) fn date(words: &[Word], at: usize) -> Option<(Range<usize>, NamedDate)> {
    let (length, day, month, year, numeric) =
        iso(words, at).or_else(|| dotted(words, at)).or_else(|| spelled(words, at))?;
    let near = |at: usize| at.checked_sub(1).filter(|_| joins(words[at].gap));
    let article = near(at).filter(|before| is_article(&words[*before].lower)).unwrap_or(at);
    let dotted = words[at].dot;
    let weekday = near(article).and_then(|before| {
        // A full name before a dot ends a sentence.
        let is_short = words[article].gap != Gap::Dot || weekday(&words[before].lower).is_none();
        weekday_of_date(&words[before].lower, dotted).filter(|_| is_short)
    });
    let (begin, lead) = if weekday.is_some() { (article - 1, article - 1) } else { (at, article) };
    let mut before = words[..lead].iter().rev().filter(|_| words[lead].gap != Gap::Stop);
    let ahead = before.find(|word| !is_between(&word.lower)).is_some_and(|word| is_ahead(&word.lower));
    // A number with a dot can be a price or a version.
    if numeric && year.is_none() && weekday.is_none() && !ahead && !is_introduced(words, article) {
        return None;
    }
    Some((begin..at + length, NamedDate { day, month, year, weekday, ahead }))
}

fn is_article(word: &str) -> bool {
    matches!(word, "the" | "le" | "den" | "dem" | "der")
}

fn joins(gap: Gap) -> bool {
    matches!(gap, Gap::Blank | Gap::Pause | Gap::Dot)
}

/// Whether a word before a number with dots introduces a date.
fn is_introduced(words: &[Word], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| words[before].lower.as_str());
    at > 0
        && joins(words[at].gap)
        && matches!(before, Some("am" | "zum" | "vom" | "ab" | "heute" | "morgen" | "today" | "tomorrow"))
}

/// The number of words in a date, its day, month and year, and whether it has only digits.
type DateWords = (usize, i8, i8, Option<i16>, bool);

/// `2026-11-22`.
fn iso(words: &[Word], at: usize) -> Option<DateWords> {
    let [year, month, day] = words.get(at..at + 3)? else { return None };
    let joined = month.gap == Gap::Joined && day.gap == Gap::Joined && year.written.len() == 4;
    let year = year.written.parse().ok().filter(|_| joined)?;
    checked(3, day.written.parse().ok()?, month.written.parse().ok()?, Some(year), true)
}

/// `22.11.` and `22.11.2026`. It must end with a dot, because `22.11` can be an amount.
fn dotted(words: &[Word], at: usize) -> Option<DateWords> {
    let [day, month] = words.get(at..at + 2)? else { return None };
    if month.gap != Gap::Joined || day.written.len() > 2 || month.written.len() > 2 {
        return None;
    }
    let (day, number) = (day.written.parse().ok()?, month.written.parse().ok()?);
    let next = words.get(at + 2);
    let year = next.filter(|next| next.gap == Gap::Joined).and_then(|next| year(next.written));
    if year.is_some() {
        return checked(3, day, number, year, true);
    }
    checked(2, day, number, None, true).filter(|_| words[at + 1].dot)
}

/// `22 November`, `22nd of November 2026`, `22. November`, `November 22, 2026`, `1er mai`.
fn spelled(words: &[Word], at: usize) -> Option<DateWords> {
    let blank = |word: &&Word| word.gap == Gap::Blank;
    let year_at = |at: usize| words.get(at).filter(|word| joins(word.gap)).and_then(|word| year(word.written));
    if let Some(day) = day(&words[at].lower) {
        let of = usize::from(words.get(at + 1).filter(blank).is_some_and(|word| word.lower == "of"));
        let name = words.get(at + 1 + of).filter(|word| matches!(word.gap, Gap::Blank | Gap::Dot))?;
        let year = year_at(at + 2 + of);
        return checked(2 + of + usize::from(year.is_some()), day, named_month(name)?, year, false);
    }
    let number = named_month(&words[at])?;
    let next = words.get(at + 1).filter(blank)?;
    // `May 2026` is a month.
    let day = day(&next.lower)?;
    let year = year_at(at + 2);
    // In `Nov 22 2026` the number is a year, in `Nov 22, 2000 seats` it is not: a year must be near.
    checked(2 + usize::from(year.is_some()), day, number, year, false)
}

/// The month that a word names. Words such as `may` and `march` are only months if capitalized.
fn named_month(word: &Word) -> Option<i8> {
    let capital = word.written.starts_with(char::is_uppercase);
    let plain = matches!(word.lower.as_str(), "may" | "march" | "mar" | "dec" | "jan" | "jun" | "sep" | "august");
    month(&word.lower).filter(|_| capital || !plain)
}

fn day(word: &str) -> Option<i8> {
    let digits = word.trim_end_matches(|c: char| c.is_alphabetic());
    let suffix = &word[digits.len()..];
    let known = matches!(suffix, "" | "st" | "nd" | "rd" | "th" | "er");
    digits.parse().ok().filter(|day| known && (1..=31).contains(day))
}

fn year(word: &str) -> Option<i16> {
    word.parse().ok().filter(|year| (2020..2100).contains(year))
}

fn checked(length: usize, day: i8, month: i8, year: Option<i16>, numeric: bool) -> Option<DateWords> {
    // 2028 has a 29 February.
    Date::new(year.unwrap_or(2028), month, day).ok().map(|_| (length, day, month, year, numeric))
}
