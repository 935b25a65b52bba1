//! The calendar for a pull request or a page: one table.

use std::fmt::Write;

use super::{View, follow, message, name, who};
use crate::model::schedule::When;
use crate::render::one_line;
use crate::timing::calendar::Entry;
use crate::timing::words;

/// The calendar as Markdown.
pub fn markdown(view: &View) -> String {
    let calendar = view.calendar;
    let mut out = format!("## Calendar of {}\n\n", escaped(view.target));
    if !calendar.sends.is_empty() {
        let _ = writeln!(out, "{}\n", escaped(&view.heading()));
        out.push_str("| When | What | Message | Who | To know |\n|---|---|---|---|---|\n");
        for entry in &calendar.sends {
            line(&mut out, &[when(entry), name(entry), said(entry.message.as_ref()), who(entry), known(view, entry)]);
        }
        out.push('\n');
    }
    if !calendar.standing.is_empty() {
        out.push_str("| Whenever it happens | What | Message |\n|---|---|---|\n");
        for standing in &calendar.standing {
            let message = said(standing.message.as_ref());
            line(&mut out, &[standing.when.clone(), standing.address.to_string(), message]);
        }
        out.push('\n');
    }
    for text in [Some(view.summary()), view.uncompared()].into_iter().flatten() {
        let _ = writeln!(out, "{}", escaped(&text));
    }
    out
}

fn line(out: &mut String, cells: &[String]) {
    let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
    let _ = writeln!(out, "| {} |", cells.join(" | "));
}

fn when(entry: &Entry) -> String {
    let own = if matches!(entry.times.when, When::EachZone(_)) { ", each device's own clock" } else { "" };
    let passed = if entry.passed { ", passed" } else { "" };
    format!("{} {}{own}{passed}", words::day(entry.shown), words::clock(entry.shown))
}

fn said(text: Option<&String>) -> String {
    message(text).unwrap_or_default()
}

/// What a reader should know of it: clocks elsewhere, what it is marked for, what follows.
fn known(view: &View, entry: &Entry) -> String {
    let marks = view.marks(entry).into_iter().map(|mark| format!("! {mark}"));
    let there = Some(words::elsewhere(&entry.times, words::MOST).join(", ")).filter(|words| !words.is_empty());
    let follows = entry.follows.iter().map(|one| follow(view, one));
    marks.chain(there).chain(follows).collect::<Vec<_>>().join("; ")
}

/// A text that is read as exactly this text: no markup, no link, no mention, no second cell.
fn escaped(text: &str) -> String {
    let line = one_line(text);
    let mut out = String::with_capacity(line.len());
    for (at, c) in line.char_indices() {
        let plain = c.is_alphanumeric() || !c.is_ascii() || " ,;.:/()-+=%?!'".contains(c);
        match plain {
            true => out.push(c),
            false => {
                let _ = write!(out, "&#{};", u32::from(c));
            }
        }
        let rest = &line[at + c.len_utf8()..];
        // What a host makes of plain words is kept from it by a space of no width.
        if matches!(c, '@' | '#')
            || c == ':' && rest.starts_with("//")
            || c.eq_ignore_ascii_case(&'w') && rest.starts_with('.')
        {
            out.push_str("&#8203;");
        }
    }
    out
}
