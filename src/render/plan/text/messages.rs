//! The changed messages, for a terminal.

use super::people::people;
use crate::render::layout::{self, Paint, Row, Style, Words};
use crate::render::plan::loosened::{self, GuardRow};
use crate::render::plan::messages::{self, MessageRow, WhoMark};
use crate::render::plan::{NextSteps, PlanView, Risk, content, reach};
use crate::text::count;

/// The verdict, and the changed messages.
pub fn at_stake(out: &mut String, view: &PlanView, ahead: Option<&NextSteps>, style: Style) {
    let mut line = Words::default();
    for (number, (words, paint)) in messages::verdict(view, ahead).iter().enumerate() {
        line = line.and(if number > 0 { " " } else { "" }).paint(words, *paint);
    }
    layout::paragraph(out, &line, 0, style);
    let (rows, more) = messages::rows(view);
    if !rows.is_empty() {
        out.push_str("\nMessages\n");
        let rows: Vec<Row> = (1..).zip(&rows).map(|(next, row)| message_row(row, rows.get(next))).collect();
        layout::rows(out, &rows, 2, style);
        if more > 0 {
            let words = format!("and {}, below", count(more, "more message"));
            layout::paragraph(out, &Words::default().paint(&words, Paint::Faint), 2, style);
        }
    }
    if let Some(words) = reach::population(view) {
        layout::paragraph(out, &Words::default().paint(&words, Paint::Faint), 2, style);
    }
    people(out, view, style);
    guards(out, view, style);
    if let Some(words) = messages::others(view) {
        out.push_str(if rows.is_empty() && !loosened::is_any(view) { "" } else { "\n" });
        layout::paragraph(out, &Words::new(&words), 0, style);
    }
    out.push('\n');
}

/// The loosened guards.
fn guards(out: &mut String, view: &PlanView, style: Style) {
    let (rows, left) = loosened::rows(view);
    if rows.is_empty() {
        return;
    }
    out.push_str("\nGuards\n");
    let row = |row: &GuardRow| {
        let place = row.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
        let head = Words::default().paint(&row.name, Paint::Strong);
        Row::new(row.label, head).paint(Paint::Danger).line(Words::new(&row.sentence()).paint(&place, Paint::Faint))
    };
    layout::rows(out, &rows.iter().map(row).collect::<Vec<_>>(), 2, style);
    if let Some(words) = loosened::more(left) {
        layout::paragraph(out, &Words::default().paint(&words, Paint::Faint), 2, style);
    }
}

/// Every message separately, with its risk.
pub fn message_blocks(view: &PlanView, style: Style) -> Vec<(Risk, String)> {
    let (rows, _) = messages::rows(view);
    let shown = |row: &MessageRow| {
        let mut out = String::new();
        layout::rows(&mut out, &[message_row(row, None)], 2, style);
        (row.risk(), out)
    };
    rows.iter().map(shown).collect()
}

/// A message. If the next one has the same cause, only that one shows it.
fn message_row(row: &MessageRow, next: Option<&MessageRow>) -> Row {
    let mut head = Words::default().paint(&row.name, Paint::Strong);
    if let Some(part) = &row.part {
        head = head.and(&format!(" ({part})"));
    }
    if let Some(when) = &row.when {
        head = head.and("  ").and(when);
    }
    let mut out = Row::new(row.class.label(), head).paint(row.paint());
    if !row.text.is_empty() {
        out = out.line(content::edited(row.text.clone()));
    }
    for words in &row.hosts {
        out = out.line(Words::default().paint(words, Paint::Asks));
    }
    for (mark, words) in &row.who {
        let paint = match mark {
            WhoMark::Joins => Paint::New,
            WhoMark::Leaves => Paint::Old,
            WhoMark::Gets => Paint::Plain,
        };
        out = out.line(Words::default().paint(words, paint));
    }
    if let Some(words) = &row.reach {
        out = out.line(Words::new(words));
    }
    if let Some(words) = &row.quiet {
        out = out.line(Words::default().paint(words, Paint::Asks));
    }
    if row.is_by_hand {
        out = out.line(Words::default().paint(messages::BY_HAND, Paint::Asks));
    }
    let is_said = next.is_some_and(|next| next.because == row.because);
    for because in row.because.iter().filter(|_| !is_said) {
        let place = because.place().map(|place| format!(" ({place})")).unwrap_or_default();
        let words = format!("because {}{} {}", because.part, because.name, because.words);
        out = out.line(Words::new(&words).paint(&place, Paint::Faint));
    }
    out
}
