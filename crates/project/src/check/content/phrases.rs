//! Claims of a text about the day and the time at which it is read. A day that is only mentioned, such as in
//! `on Sunday` or `Black Friday`, is no claim.

use std::ops::Range;

use jiff::civil::Weekday;

use super::dates::{NamedDate, date};
use super::reading::{Gap, Word, words};
use super::words::{is_before_day, is_listing, is_only, is_until, near_day, part_of_day, weekday};

/// A part of a text with a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Phrase {
    pub range: Range<usize>,
    pub claim: Claim,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// The day at this distance is this day of the week: `tomorrow, Sunday`.
    Weekday { away: i64, weekday: Weekday },
    /// The day at this distance is this date: `today, 22 November`.
    Date { away: i64, date: NamedDate },
    /// A date alone: `until Sunday 22 November`.
    Named(NamedDate),
    /// The day of the week is in the future: `until Sunday`.
    Until(Weekday),
    /// Something happens only on this day of the week: `only on Friday`.
    Only(Weekday),
    /// A day that must be the same for all recipients: `today`.
    Near,
    /// It is read between these hours: from, and before. `Good morning`.
    Hours { from: i8, before: i8 },
}

/// The claims of a text, in order.
pub(super) fn phrases(text: &str) -> Vec<Phrase> {
    if !can_claim(text) {
        return Vec::new();
    }
    let words = words(text);
    let dates: Vec<(Range<usize>, NamedDate)> = (0..words.len()).filter_map(|at| date(&words, at)).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let dated = dates.iter().find(|(range, _)| range.start == at);
        let claim = near(&words, &dates, at)
            .or_else(|| hours(&words, at))
            .or_else(|| dated.map(|(range, date)| (range.len(), Claim::Named(date.clone()))))
            .or_else(|| greeting(&words, at))
            .or_else(|| until(&words, &dates, at))
            .or_else(|| only(&words, &dates, at));
        let Some((length, claim)) = claim else {
            at += 1;
            continue;
        };
        found.push(Phrase { range: words[at].range.start..words[at + length - 1].range.end, claim });
        at += length;
    }
    found
}

/// Whether a text has a digit or a word part that every claim has. Most texts have none.
fn can_claim(text: &str) -> bool {
    const PARTS: [&str; 16] = [
        "day", "night", "morrow", "morning", "noon", "evening", "tgif", "tag", "woch", "abend", "heute", "morgen",
        "hui", "di", "matin", "demain",
    ];
    let lower = text.to_ascii_lowercase();
    lower.bytes().any(|byte| byte.is_ascii_digit()) || PARTS.iter().any(|part| lower.contains(part))
}

/// The number of words of a claim, and the claim.
type Found = Option<(usize, Claim)>;

fn is(words: &[Word], at: usize, known: &[&str]) -> bool {
    words.get(at).is_some_and(|word| known.contains(&word.lower.as_str()))
}

/// The day of the week in the word `at`, directly after the previous word.
fn day_at(words: &[Word], at: usize) -> Option<Weekday> {
    words.get(at).filter(|word| word.gap == Gap::Blank).and_then(|word| weekday(&word.lower))
}

/// `Good morning`, `this morning`. A text about the past (`this morning we opened`) claims nothing about the hour.
fn hours(words: &[Word], at: usize) -> Found {
    let next = words.get(at + 1).filter(|next| next.gap == Gap::Blank)?;
    let (from, before) = part_of_day(&words[at].lower, &next.lower)?;
    let is_past = at > 0 && is(words, at - 1, &["since", "from", "earlier", "missed", "seit", "depuis"]);
    (!is_past).then_some((2, Claim::Hours { from, before }))
}

/// `today`, `tomorrow, Sunday`, `heute ist Freitag`, `today, 22 November`.
fn near(words: &[Word], dates: &[(Range<usize>, NamedDate)], at: usize) -> Found {
    let word = &words[at];
    let away = near_day(&word.lower)?;
    // A capitalized `Morgen` within a sentence is the morning, and `heute morgen` is this morning.
    let is_morning = word.written == "Morgen" && word.gap != Gap::Stop;
    if is_morning || hours(words, at).is_some() {
        return None;
    }
    let links: &[&str] = match word.lower.as_str() {
        "aujourd'hui" | "demain" => &["c'est", "est", "le"],
        "heute" | "morgen" | "gestern" => &["ist", "war", "am", "den"],
        _ => &["is", "was"],
    };
    let linked = is(words, at + 1, links) && matches!(words[at + 1].gap, Gap::Blank | Gap::Pause);
    let next = at + 1 + usize::from(linked);
    let follows = words.get(next).filter(|next| matches!(next.gap, Gap::Blank | Gap::Pause));
    let dated = dates.iter().find(|(range, _)| range.start == next).filter(|_| follows.is_some());
    if let Some((range, date)) = dated {
        return Some((range.end - at, Claim::Date { away, date: date.clone() }));
    }
    match follows.and_then(|next| weekday(&next.lower)) {
        Some(weekday) if !is_listed(words, next) => Some((next + 1 - at, Claim::Weekday { away, weekday })),
        Some(_) => None,
        None => (away >= 0).then_some((1, Claim::Near)),
    }
}

/// Whether a day is in a list of several: `today, Friday and Sunday`.
fn is_listed(words: &[Word], at: usize) -> bool {
    let Some(next) = words.get(at + 1) else { return false };
    match next.gap {
        Gap::Pause => weekday(&next.lower).is_some(),
        Gap::Blank => is_listing(&next.lower),
        Gap::Joined => true,
        Gap::Stop | Gap::Dot => false,
    }
}

/// `Happy Friday`, `It's Friday`, `Endlich Freitag`, `Friday deals are here`.
fn greeting(words: &[Word], at: usize) -> Found {
    let begins = words[at].gap == Gap::Stop || is(words, at.wrapping_sub(1), &["god", "goodness", "because", "weil"]);
    let verb = match words[at].lower.as_str() {
        "tgif" => return Some((1, Claim::Weekday { away: 0, weekday: Weekday::Friday })),
        "happy" | "finally" | "endlich" | "enfin" => 1,
        "it's" if begins => 1,
        "it" if begins && is(words, at + 1, &["is"]) => 2,
        "es" if begins && is(words, at + 1, &["ist"]) => 2,
        "nous" if is(words, at + 1, &["sommes"]) => 2,
        "on" if is(words, at + 1, &["est"]) => 2,
        _ => return of_this_day(words, at),
    };
    let weekday = day_at(words, at + verb)?;
    let after = at + verb + 1;
    // `Happy Friday eve` belongs to a Thursday, and `It's Friday at nine` announces a later day.
    let other = is(words, after, &["eve", "at", "from", "when", "that", "um", "ab"]) || is_listed(words, after - 1);
    (!other).then_some((verb + 1, Claim::Weekday { away: 0, weekday }))
}

/// `Friday is here`, `Friday deals are here`, at the beginning of a sentence.
fn of_this_day(words: &[Word], at: usize) -> Found {
    let weekday = weekday(&words[at].lower).filter(|_| words[at].gap == Gap::Stop)?;
    let here = (at + 1..at + 4).find(|verb| is(words, *verb, &["is", "are"]) && is(words, verb + 1, &["here"]))?;
    let together = words[at + 1..=here + 1].iter().all(|word| word.gap == Gap::Blank);
    together.then_some((here + 2 - at, Claim::Weekday { away: 0, weekday }))
}

/// The day of the week after the word `at` and after words such as `on` and `this`: the number of these words, and the
/// day.
fn day_behind(words: &[Word], at: usize) -> Option<(usize, Weekday)> {
    let between = |word: &&Word| word.gap == Gap::Blank && is_before_day(&word.lower);
    let linked = words.iter().skip(at + 1).take(2).take_while(between).count();
    Some((linked + 1, day_at(words, at + 1 + linked)?))
}

/// Whether an hour follows the word before `at`: then the text is clear on the day itself.
fn is_hour(words: &[Word], at: usize) -> bool {
    let clock = ["at", "um", "à", "noon", "mittag", "midnight", "night", "nacht", "evening", "abend", "soir"];
    let is_number = |next: &Word| next.gap != Gap::Stop && next.lower.starts_with(|c: char| c.is_ascii_digit());
    is(words, at, &clock) || words.get(at).is_some_and(is_number)
}

/// `until Sunday`. `Monday until Sunday` is every week, and with an hour the text is clear on the day itself.
fn until(words: &[Word], dates: &[(Range<usize>, NamedDate)], at: usize) -> Found {
    if !is_until(&words[at].lower) {
        return None;
    }
    let (behind, weekday) = day_behind(words, at)?;
    let is_dated = dates.iter().any(|(range, _)| range.contains(&(at + behind)));
    let is_span = words[at.saturating_sub(3)..at].iter().any(|word| super::words::weekday(&word.lower).is_some());
    (!is_dated && !is_span && !is_hour(words, at + behind + 1)).then_some((behind + 1, Claim::Until(weekday)))
}

/// `Only on Friday`, `Friday only`. A list of days, a date and an hour are more precise than the day.
fn only(words: &[Word], dates: &[(Range<usize>, NamedDate)], at: usize) -> Found {
    let (behind, weekday) = match is_only(&words[at].lower) {
        true if is(words, at.wrapping_sub(1), &["not", "nicht", "pas"]) => return None,
        true => day_behind(words, at)?,
        false => {
            // `Black Friday only` names one day of the year.
            let is_plain = words[at].gap != Gap::Blank || is_before_day(&words[at.checked_sub(1)?].lower);
            let day = weekday(&words[at].lower).filter(|_| is_plain)?;
            let is_next = words.get(at + 1).is_some_and(|next| next.gap == Gap::Blank && is_only(&next.lower));
            is_next.then_some((1, day))?
        }
    };
    let end = at + behind;
    let is_dated = dates.iter().any(|(range, _)| range.start <= end && at < range.end);
    let is_several = is_listed(words, end) || is(words, at.wrapping_sub(1), &["and", "or", "und", "oder", "et", "ou"]);
    (!is_dated && !is_several && !is_hour(words, end + 1)).then_some((behind + 1, Claim::Only(weekday)))
}
