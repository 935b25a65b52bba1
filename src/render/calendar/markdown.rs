//! The calendar as Markdown, for a pull request or a page: one table.

use std::fmt::Write;

use super::{CalendarView, follow, message, name, rules, who};
use crate::nouns::schedule::When;
use crate::render::escape::markdown::text as escaped;
use crate::timing::calendar::CalendarEntry;
use crate::timing::words;

/// The calendar as Markdown.
pub fn markdown(view: &CalendarView) -> String {
    let calendar = view.calendar;
    let mut out = format!("## Calendar of {}\n\n", escaped(view.target));
    if !calendar.sends.is_empty() {
        let _ = writeln!(out, "{}\n", escaped(&view.heading()));
        out.push_str("| When | What | Message | Recipients | Notes |\n|---|---|---|---|---|\n");
        for entry in &calendar.sends {
            line(&mut out, &[when(entry), name(entry), said(entry.message.as_ref()), who(entry), known(view, entry)]);
        }
        out.push('\n');
    }
    if !calendar.standing.is_empty() {
        out.push_str("| Trigger | What | Message |\n|---|---|---|\n");
        for standing in &calendar.standing {
            let message = said(standing.message.as_ref());
            let further = rules(standing).into_iter().chain(view.disturbs(standing).map(|quiet| format!("! {quiet}")));
            let when: Vec<String> = std::iter::once(standing.when.clone()).chain(further).collect();
            line(&mut out, &[when.join(" · "), standing.address.to_string(), message]);
        }
        out.push('\n');
    }
    for told in [Some(view.summary()), view.uncompared()].into_iter().flatten() {
        let _ = writeln!(out, "{}", escaped(&told));
    }
    out
}

fn line(out: &mut String, cells: &[String]) {
    let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
    let _ = writeln!(out, "| {} |", cells.join(" | "));
}

fn when(entry: &CalendarEntry) -> String {
    let own = if matches!(entry.times.when, When::EachZone(_)) { ", recipients' local time" } else { "" };
    let passed = if entry.passed { ", passed" } else { "" };
    format!("{} {}{own}{passed}", words::day(entry.shown), words::clock(entry.shown))
}

fn said(text: Option<&String>) -> String {
    message(text).unwrap_or_default()
}

/// Notes about a message: local times in other places, marks, and messages that follow.
fn known(view: &CalendarView, entry: &CalendarEntry) -> String {
    let marks = view.marks(entry).into_iter().map(|mark| format!("! {mark}"));
    let there = Some(words::elsewhere(&entry.times, words::MOST).join(", ")).filter(|words| !words.is_empty());
    let follows = entry.follows.iter().map(|one| follow(view, one));
    marks.chain(there).chain(follows).collect::<Vec<_>>().join("; ")
}
