//! The calendar for a terminal: day by day.

use super::{CalendarView, follow, is_marked, message, name, rules, who};
use crate::nouns::schedule::When;
use crate::render::layout::{self, Paint, Row, Style, Words};
use crate::timing::calendar::CalendarEntry;
use crate::timing::words;

/// The calendar as lines.
pub fn text(view: &CalendarView, style: Style) -> String {
    let calendar = view.calendar;
    let mut out = String::new();
    if !calendar.sends.is_empty() {
        layout::paragraph(&mut out, &Words::new(&view.heading()), 0, style);
    }
    for day in calendar.sends.chunk_by(|one, next| one.shown.date() == next.shown.date()) {
        out.push('\n');
        layout::paragraph(&mut out, &Words::default().paint(&words::day(day[0].shown), Paint::Strong), 0, style);
        let rows: Vec<Row> = day.iter().map(|entry| row(view, entry)).collect();
        layout::rows(&mut out, &rows, 2, style);
    }
    if !calendar.standing.is_empty() {
        if !out.is_empty() {
            out.push('\n');
        }
        layout::paragraph(&mut out, &Words::default().paint("When triggered", Paint::Strong), 0, style);
        for standing in &calendar.standing {
            let words = Words::default().paint(&standing.address.to_string(), Paint::Strong);
            let words = words.and(&format!("  {}", standing.when));
            let row = Row::new("", words);
            let row = message(standing.message.as_ref()).into_iter().fold(row, |row, text| row.line(Words::new(&text)));
            let row = rules(standing).into_iter().fold(row, |row, rule| row.line(Words::new(&rule)));
            let row = view
                .disturbs(standing)
                .into_iter()
                .fold(row, |row, quiet| row.line(Words::after("! ", Paint::Asks).and(&quiet)));
            layout::rows(&mut out, &[row], 2, style);
        }
    }
    if !out.is_empty() {
        out.push('\n');
    }
    for line in [Some(view.summary()), view.uncompared()].into_iter().flatten() {
        layout::paragraph(&mut out, &Words::new(&line), 0, style);
    }
    out
}

fn row(view: &CalendarView, entry: &CalendarEntry) -> Row {
    let mark = if is_marked(entry) { " !" } else { "" };
    let mut head = Words::default().paint(&name(entry), Paint::Strong);
    if let Some(message) = message(entry.message.as_ref()) {
        head = head.and(&format!("  {message}"));
    }
    let label = format!("{}{mark}", words::clock(entry.shown));
    let row = Row::new(&label, head).paint(if mark.is_empty() { Paint::Plain } else { Paint::Asks });
    let mut row = row.line(Words::new(&format!("to {}", who(entry))));
    let written = match entry.times.when {
        When::EachZone(_) => Some(words::when(&entry.times, view.calendar.now)),
        // The author can recognize the time in the zone of the manifest.
        When::At(_) if entry.times.zone != view.calendar.zone => Some(words::when(&entry.times, view.calendar.now)),
        When::At(_) => None,
    };
    if let Some(line) = written {
        row = row.line(Words::new(&line));
    }
    let there = words::elsewhere(&entry.times, words::MOST);
    if let Some((first, others)) = there.split_first() {
        // A local time stays on one line with its city.
        let first = Words::default().together(first, Paint::Plain);
        row = row.line(others.iter().fold(first, |line, other| line.and("   ").together(other, Paint::Plain)));
    }
    if entry.passed {
        row = row.line(Words::default().paint("its time has passed", Paint::Faint));
    }
    for mark in view.marks(entry) {
        row = row.line(Words::after("! ", Paint::Asks).and(&mark));
    }
    for one in &entry.follows {
        row = row.line(Words::new(&follow(view, one)));
    }
    row
}
