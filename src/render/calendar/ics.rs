//! The calendar as iCalendar, RFC 5545. Moments are in UTC; a local time floats, so it is shown in the reader's own
//! zone. The result does not depend on the current time.

use super::{CalendarView, follow, message, name, who};
use crate::digest::Digest;
use crate::nouns::schedule::When;
use crate::render::one_line;
use crate::timing::calendar::CalendarEntry;
use crate::timing::words;

/// The longest line in bytes.
const LINE: usize = 75;

/// The calendar as iCalendar. Messages that follow an event have no time and are left out.
pub fn ics(view: &CalendarView) -> String {
    let mut out = String::new();
    let mut property = |name: &str, value: &str| fold(&mut out, &format!("{name}:{value}"));
    property("BEGIN", "VCALENDAR");
    property("VERSION", "2.0");
    property("PRODID", "-//pushplan//calendar//EN");
    property("CALSCALE", "GREGORIAN");
    property("X-WR-CALNAME", &escaped(&format!("pushplan {}", one_line(view.target))));
    for entry in &view.calendar.sends {
        let start = match entry.times.when {
            When::At(instant) => jiff::tz::TimeZone::UTC.to_datetime(instant).strftime("%Y%m%dT%H%M%SZ").to_string(),
            When::EachZone(time) => time.strftime("%Y%m%dT%H%M%S").to_string(),
        };
        property("BEGIN", "VEVENT");
        property("UID", &uid(view, entry));
        // The current time would make the result differ each time.
        property("DTSTAMP", &format!("{}Z", start.trim_end_matches('Z')));
        property("DTSTART", &start);
        property("SUMMARY", &escaped(&summary(entry)));
        property("DESCRIPTION", &escaped(&description(view, entry)));
        property("CATEGORIES", &escaped(&entry.address.kind));
        property("TRANSP", "TRANSPARENT");
        property("END", "VEVENT");
    }
    property("END", "VCALENDAR");
    out
}

/// Returns the id of an event. It stays the same while the message has its address, so that a new time moves the event.
fn uid(view: &CalendarView, entry: &CalendarEntry) -> String {
    let digest = Digest::of_data(&(view.target, &entry.address, entry.variant, entry.number));
    format!("{digest}@pushplan")
}

fn summary(entry: &CalendarEntry) -> String {
    let text = message(entry.message.as_ref()).map(|text| one_line(&text));
    text.map_or_else(|| name(entry), |text| format!("{text} {}", name(entry)))
}

fn description(view: &CalendarView, entry: &CalendarEntry) -> String {
    let mut lines = vec![name(entry), format!("to {}", who(entry))];
    lines.extend(Some(words::elsewhere(&entry.times, words::MOST).join(", ")).filter(|words| !words.is_empty()));
    lines.extend(view.marks(entry).into_iter().map(|mark| format!("! {mark}")));
    lines.extend(entry.follows.iter().map(|one| follow(view, one)));
    lines.extend(view.place(entry.at).map(|(file, line)| format!("{file}:{line}")));
    lines.iter().map(|line| one_line(line)).collect::<Vec<_>>().join("\n")
}

/// A text value.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | ';' | ',' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
    out
}

/// Adds a line, in parts of at most 75 bytes that begin with a space. Characters are not split.
fn fold(out: &mut String, line: &str) {
    let mut length = 0;
    for c in line.chars() {
        if length + c.len_utf8() > LINE {
            out.push_str("\r\n ");
            length = 1;
        }
        out.push(c);
        length += c.len_utf8();
    }
    out.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lines_are_folded_between_characters(text in "[a-z日😀é;,\\\\\n ]{0,300}") {
            let written = format!("X:{}", escaped(&text));
            let mut out = String::new();
            fold(&mut out, &written);
            prop_assert!(out.ends_with("\r\n"));
            for line in out.trim_end_matches("\r\n").split("\r\n") {
                prop_assert!(line.len() <= LINE, "{line:?}");
            }
            prop_assert_eq!(out.replace("\r\n ", ""), written + "\r\n");
        }
    }
}
