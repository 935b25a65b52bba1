//! Words for days and times of day in English, German and French.

use jiff::civil::Weekday;

use Weekday::{Friday, Monday, Saturday, Sunday, Thursday, Tuesday, Wednesday};

/// Names of the days of the week, in lower case.
const WEEKDAYS: &[(&str, Weekday)] = &[
    ("monday", Monday),
    ("tuesday", Tuesday),
    ("wednesday", Wednesday),
    ("thursday", Thursday),
    ("friday", Friday),
    ("saturday", Saturday),
    ("sunday", Sunday),
    ("montag", Monday),
    ("dienstag", Tuesday),
    ("mittwoch", Wednesday),
    ("donnerstag", Thursday),
    ("freitag", Friday),
    ("samstag", Saturday),
    ("sonnabend", Saturday),
    ("sonntag", Sunday),
    ("lundi", Monday),
    ("mardi", Tuesday),
    ("mercredi", Wednesday),
    ("jeudi", Thursday),
    ("vendredi", Friday),
    ("samedi", Saturday),
    ("dimanche", Sunday),
];

/// Short names, which count only next to a date.
const SHORT_WEEKDAYS: &[(&str, Weekday)] = &[
    ("mon", Monday),
    ("tue", Tuesday),
    ("tues", Tuesday),
    ("wed", Wednesday),
    ("thu", Thursday),
    ("thur", Thursday),
    ("thurs", Thursday),
    ("fri", Friday),
    ("sat", Saturday),
    ("sun", Sunday),
];

/// German short names, which count only before a number with a dot. English has some of them as words.
const GERMAN_SHORT_WEEKDAYS: &[(&str, Weekday)] = &[
    ("mo", Monday),
    ("di", Tuesday),
    ("mi", Wednesday),
    ("do", Thursday),
    ("fr", Friday),
    ("sa", Saturday),
    ("so", Sunday),
];

/// Names of the months, in lower case, and their numbers.
const MONTHS: &[(&str, i8)] = &[
    ("january", 1),
    ("february", 2),
    ("march", 3),
    ("april", 4),
    ("may", 5),
    ("june", 6),
    ("july", 7),
    ("august", 8),
    ("september", 9),
    ("october", 10),
    ("november", 11),
    ("december", 12),
    ("jan", 1),
    ("feb", 2),
    ("mar", 3),
    ("apr", 4),
    ("jun", 6),
    ("jul", 7),
    ("aug", 8),
    ("sep", 9),
    ("sept", 9),
    ("oct", 10),
    ("nov", 11),
    ("dec", 12),
    ("januar", 1),
    ("februar", 2),
    ("märz", 3),
    ("mai", 5),
    ("juni", 6),
    ("juli", 7),
    ("oktober", 10),
    ("dezember", 12),
    ("okt", 10),
    ("dez", 12),
    ("janvier", 1),
    ("février", 2),
    ("mars", 3),
    ("avril", 4),
    ("juin", 6),
    ("juillet", 7),
    ("août", 8),
    ("septembre", 9),
    ("octobre", 10),
    ("novembre", 11),
    ("décembre", 12),
];

/// Days that are named by their distance from today.
const NEAR_DAYS: &[(&str, i64)] = &[
    ("today", 0),
    ("tonight", 0),
    ("tomorrow", 1),
    ("yesterday", -1),
    ("heute", 0),
    ("morgen", 1),
    ("gestern", -1),
    ("aujourd'hui", 0),
    ("demain", 1),
];

/// Two words that name a part of the day, with the hours that they fit: from, and before.
const PARTS_OF_DAY: &[(&str, &str, i8, i8)] = &[
    ("good", "morning", 3, 14),
    ("this", "morning", 0, 14),
    ("good", "afternoon", 11, 20),
    ("this", "afternoon", 0, 19),
    ("good", "evening", 14, 24),
    ("guten", "morgen", 3, 14),
    ("heute", "morgen", 0, 14),
    ("heute", "früh", 0, 14),
    ("heute", "vormittag", 0, 14),
    ("heute", "nachmittag", 0, 19),
    ("guten", "abend", 14, 24),
    ("ce", "matin", 0, 14),
    ("cet", "après-midi", 0, 19),
];

/// Words before a date or a day that is still to come: an end, or a beginning in the present tense.
const AHEAD: &[&str] = &[
    "until", "till", "til", "through", "by", "before", "end", "ends", "ending", "closes", "expires", "starts",
    "begins", "opens", "launches", "bis", "vor", "endet", "enden", "beginnt", "startet", "jusqu'au", "avant", "finit",
    "termine", "commence", "débute",
];

/// Words allowed between those and the date.
const BETWEEN: &[&str] =
    &["on", "the", "of", "am", "zum", "den", "dem", "der", "le", "du", "einschließlich", "including"];

/// Words before a day on which something ends.
const UNTIL: &[&str] = &["until", "till", "til", "bis", "jusqu'à"];

/// Words allowed between those and the day.
const BEFORE_DAY: &[&str] = &["on", "this", "am", "an", "diesen", "diesem", "zum", "le", "ce", "noch"];

/// Words that limit something to a day, before or after it.
const ONLY: &[&str] = &["only", "nur", "seulement", "uniquement"];

/// Words that join days into a list.
const LISTING: &[&str] = &["and", "or", "to", "through", "until", "und", "oder", "bis", "et", "ou", "à"];

fn find<T: Copy>(table: &[(&str, T)], word: &str) -> Option<T> {
    table.iter().find(|(known, _)| *known == word).map(|(_, value)| *value)
}

/// The day of the week that a word names.
pub(super) fn weekday(word: &str) -> Option<Weekday> {
    find(WEEKDAYS, word)
}

/// The day of the week in a word next to a date. `dotted`: the date begins with a number and a dot.
pub(super) fn weekday_of_date(word: &str, dotted: bool) -> Option<Weekday> {
    let german = || find(GERMAN_SHORT_WEEKDAYS, word).filter(|_| dotted);
    weekday(word).or_else(|| find(SHORT_WEEKDAYS, word)).or_else(german)
}

pub(super) fn month(word: &str) -> Option<i8> {
    find(MONTHS, word)
}

/// The distance from today in days that a word names.
pub(super) fn near_day(word: &str) -> Option<i64> {
    find(NEAR_DAYS, word)
}

/// The hours that two words fit: from, and before.
pub(super) fn part_of_day(one: &str, other: &str) -> Option<(i8, i8)> {
    let row = PARTS_OF_DAY.iter().find(|(first, second, ..)| (*first, *second) == (one, other));
    row.map(|(_, _, from, to)| (*from, *to))
}

pub(super) fn is_ahead(word: &str) -> bool {
    AHEAD.contains(&word)
}

pub(super) fn is_between(word: &str) -> bool {
    BETWEEN.contains(&word)
}

pub(super) fn is_until(word: &str) -> bool {
    UNTIL.contains(&word)
}

pub(super) fn is_before_day(word: &str) -> bool {
    BEFORE_DAY.contains(&word)
}

pub(super) fn is_only(word: &str) -> bool {
    ONLY.contains(&word)
}

pub(super) fn is_listing(word: &str) -> bool {
    LISTING.contains(&word)
}
