//! Days and hours in a text that contradict the time at which it is read.

use jiff::ToSpan;
use jiff::civil::{Date, DateTime, Weekday};
use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};

use super::clocks::Clocks;
use super::dates::{NamedDate, days_between};
use super::phrases::{Claim, Phrase, phrases};
use super::{Check, CheckScope, Dissected, Subject, contents, place};
use crate::timing::has_passed;

pub const DAYS: Check = Check { codes: &[&codes::SC110, &codes::SC111], run: CheckScope::Each(days) };

/// A date that is further away belongs to another year.
const NEAR: i64 = 183;

fn days(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    for sending in one.parts.sendings.iter().filter(|sending| !has_passed(sending.schedule.when, subject.now)) {
        let mut clocks = None;
        let localized = sending.said.localized().map(|(_, said)| said);
        let said = std::iter::once(sending.said).chain(localized);
        for content in said.flat_map(|said| contents(&said)) {
            for Phrase { range, claim } in phrases(&content.text) {
                let clocks = clocks.get_or_insert_with(|| Clocks::of(subject, sending));
                let words = &content.text[range.clone()];
                let Some(finding) = contradicted(words, &claim, clocks) else { continue };
                let at = place(one, sending, &content);
                let nth = content.text[..range.start].matches(words).count();
                let finding = finding.related(sending.schedule.span(), "the send time");
                let finding = match at == content.at {
                    true => Finding { at, ..finding }.within(words, nth),
                    false => Finding { at, ..finding }.related(content.at, "the text"),
                };
                let code = finding.code.name;
                findings.push(finding.note(format!("to keep the text, add `lifecycle: {{allow: [{code}]}}`")));
            }
        }
    }
}

/// The contradiction of a claim, if there is one.
fn contradicted(words: &str, claim: &Claim, clocks: &Clocks) -> Option<Finding> {
    match claim {
        Claim::Weekday { away, weekday } => other_weekday(words, *away, *weekday, clocks),
        Claim::Date { away, date } => {
            other_weekday_of_date(words, date, clocks).or_else(|| other_date(words, *away, date, clocks))
        }
        Claim::Named(date) => other_weekday_of_date(words, date, clocks).or_else(|| past(words, date, clocks)),
        Claim::Until(weekday) => until(words, *weekday, clocks),
        Claim::Only(weekday) => only(words, *weekday, clocks),
        Claim::Near => several_days(words, clocks),
        Claim::Hours { from, before } => other_hour(words, *from..*before, clocks),
    }
}

fn day_after(at: DateTime, away: i64) -> Option<Date> {
    at.date().checked_add(away.days()).ok()
}

/// A finding without a position, which the caller adds.
fn finding(code: &'static codes::Code, message: String) -> Finding {
    Finding::new(code, pushplan_model::source::Span::NONE, message)
}

fn other_weekday(words: &str, away: i64, weekday: Weekday, clocks: &Clocks) -> Option<Finding> {
    let day = |at| day_after(at, away).map(Date::weekday);
    let clock = clocks.wrong(|at| day(at) != Some(weekday))?;
    let is = day(clock.at)?;
    let message = format!("the text says \"{words}\", but it is sent {}", clocks.words(clock));
    let finding = finding(&codes::SC110, message).label(sentence(away, is));
    let on = weekday_before(weekday, away);
    Some(match clocks.wrong(|at| day(at) == Some(weekday)).is_some() && !clocks.unknown {
        true => finding.help("use `local_scheduled_time`, or write one push for each region"),
        false => finding.help(format!("write {}, or send it on a {}", name(is), name(on))),
    })
}

/// The current day of the week if the one this number of days away is `weekday`.
fn weekday_before(weekday: Weekday, away: i64) -> Weekday {
    let back = i8::try_from(away).unwrap_or_default();
    Weekday::from_monday_zero_offset((weekday.to_monday_zero_offset() - back).rem_euclid(7)).unwrap_or(weekday)
}

/// `it is a Saturday then`, `the next day is a Sunday`.
fn sentence(away: i64, weekday: Weekday) -> String {
    let weekday = name(weekday);
    match away {
        1 => format!("the next day is a {weekday}"),
        -1 => format!("the day before is a {weekday}"),
        _ => format!("it is a {weekday} then"),
    }
}

fn other_date(words: &str, away: i64, date: &NamedDate, clocks: &Clocks) -> Option<Finding> {
    let is_wrong = |at: DateTime| day_after(at, away).is_some_and(|day| !date.meant(at.date()).contains(&day));
    let clock = clocks.wrong(is_wrong)?;
    let day = day_after(clock.at, away)?.strftime("%-d %B");
    let message = format!("the text says \"{words}\", but it is sent {}", clocks.words(clock));
    Some(finding(&codes::SC110, message).label("another day").help(format!("write {day}, or change the send time")))
}

/// A date with a wrong day of the week.
fn other_weekday_of_date(words: &str, date: &NamedDate, clocks: &Clocks) -> Option<Finding> {
    let weekday = date.weekday?;
    let today = clocks.there.first()?.at.date();
    let meant = date.meant(today);
    // Without a year, the nearest date and the next one are possible.
    let next = meant.iter().filter(|date| **date >= today).min();
    if meant.first().into_iter().chain(next).any(|date| date.weekday() == weekday) {
        return None;
    }
    let meant = *meant.first()?;
    let day = meant.strftime("%-d %B %Y");
    let message = format!("the text says \"{words}\", but {day} is a {}", name(meant.weekday()));
    let near = [meant.nth_weekday(1, weekday), meant.nth_weekday(-1, weekday)];
    let near = near.into_iter().flatten().min_by_key(|near| days_between(meant, *near).abs())?;
    let help = format!("write {}, or {}, which is a {}", name(meant.weekday()), near.strftime("%-d %B"), name(weekday));
    Some(finding(&codes::SC111, message).label("the day of the week is wrong").help(help))
}

/// A date that the text treats as future, and that is past.
fn past(words: &str, date: &NamedDate, clocks: &Clocks) -> Option<Finding> {
    if !date.ahead {
        return None;
    }
    let over = |at: DateTime| {
        let meant = *date.meant(at.date()).first()?;
        let days = days_between(meant, at.date());
        (days > 0 && (date.year.is_some() || days < NEAR)).then_some(meant)
    };
    let clock = clocks.wrong(|at| over(at).is_some())?;
    let meant = over(clock.at)?;
    let message = format!("the text says \"{words}\", but it is sent {}", clocks.words(clock));
    let label = format!("{} will have passed by then", meant.strftime("%-d %B %Y"));
    Some(finding(&codes::SC111, message).label(label).help("write a later date, or send it earlier"))
}

/// Whether a day of the week was yesterday.
fn is_over(weekday: Weekday) -> impl Fn(DateTime) -> bool {
    move |at| day_after(at, -1).is_some_and(|yesterday| yesterday.weekday() == weekday)
}

/// `until Sunday` on a Sunday. It may be right if it is still Saturday for some recipients; it is wrong if it is Monday
/// for some.
fn until(words: &str, weekday: Weekday, clocks: &Clocks) -> Option<Finding> {
    let date = format!("write \"today\", or the date of the intended {}", name(weekday));
    let is_then = |at: DateTime| at.weekday() == weekday;
    if clocks.there.iter().all(|clock| is_then(clock.at)) {
        let message = format!("the text says \"{words}\", and it is sent {}", clocks.words(clocks.there.first()?));
        return Some(finding(&codes::SC110, message).label("today, or in a week?").help(date));
    }
    let then = clocks.there.iter().find(|clock| is_then(clock.at)).filter(|_| !clocks.unknown)?;
    let over = clocks.there.iter().find(|clock| is_over(weekday)(clock.at))?;
    let message = format!("recipients read \"{words}\" on {} and on {}", then.day(), over.day());
    let finding = finding(&codes::SC110, message).label("different days");
    Some(finding.help("write the date, or use `local_scheduled_time`"))
}

/// `Only on Friday` on a Saturday: the day is over.
fn only(words: &str, weekday: Weekday, clocks: &Clocks) -> Option<Finding> {
    let clock = clocks.wrong(is_over(weekday))?;
    let message = format!("the text says \"{words}\", but it is sent {}", clocks.words(clock));
    let finding = finding(&codes::SC110, message).label(format!("{} will have passed by then", name(weekday)));
    Some(match clocks.unknown || clocks.there.iter().all(|clock| is_over(weekday)(clock.at)) {
        true => finding.help(format!("send it earlier, or write the date of the intended {}", name(weekday))),
        false => finding.help("use `local_scheduled_time`, or write one push for each region"),
    })
}

/// `today` for recipients with different local dates.
fn several_days(words: &str, clocks: &Clocks) -> Option<Finding> {
    let first = clocks.there.iter().filter(|_| !clocks.unknown).min_by_key(|clock| clock.at)?;
    let last = clocks.there.iter().max_by_key(|clock| clock.at)?;
    if first.at.date() == last.at.date() {
        return None;
    }
    let message = format!("recipients read \"{words}\" on {} and on {}", first.day(), last.day());
    let finding = finding(&codes::SC110, message).label("different days");
    Some(finding.help("write the date, or use `local_scheduled_time`"))
}

fn other_hour(words: &str, hours: std::ops::Range<i8>, clocks: &Clocks) -> Option<Finding> {
    let clock = clocks.wrong(|at| !hours.contains(&at.hour()))?;
    let message = format!("the text says \"{words}\", but it is sent {}", clocks.words(clock));
    Some(
        finding(&codes::SC110, message)
            .label(format!("it is {} for recipients", time_of_day(clock.at.hour())))
            .help("change the words, or use `local_scheduled_time`"),
    )
}

fn time_of_day(hour: i8) -> &'static str {
    match hour {
        5..=11 => "morning",
        12..=17 => "afternoon",
        18..=21 => "evening",
        _ => "night",
    }
}

fn name(weekday: Weekday) -> &'static str {
    match weekday {
        Weekday::Monday => "Monday",
        Weekday::Tuesday => "Tuesday",
        Weekday::Wednesday => "Wednesday",
        Weekday::Thursday => "Thursday",
        Weekday::Friday => "Friday",
        Weekday::Saturday => "Saturday",
        Weekday::Sunday => "Sunday",
    }
}
