//! The messages of single devices before and after, for a terminal.

use crate::plan::DevicePart;
use crate::render::layout::{self, Paint, Row, Style, Words};
use crate::render::plan::PlanView;
use crate::render::plan::people::{self, PeopleRow, PersonRow, ScreenRow, Timeline};

/// The devices of each message: two short timelines each.
pub fn people(out: &mut String, view: &PlanView, style: Style) {
    let Some(people) = people::people(view) else { return };
    out.push('\n');
    out.push_str(people::TITLE);
    out.push('\n');
    layout::paragraph(out, &Words::default().paint(&people::about(people), Paint::Faint), 2, style);
    for PeopleRow { of, devices } in people::rows(people) {
        let name = Words::default().paint(&of.address.to_string(), Paint::Strong);
        layout::paragraph(out, &name, 2, style);
        let mut rows: Vec<Row> = Vec::new();
        for person in &devices {
            rows.push(Row::new(person.part(), Words::new(&person.words())).paint(paint(person)));
            rows.extend(person.sides().into_iter().map(|(label, side)| timeline(label, side)));
        }
        rows.extend(of.note.as_ref().map(|note| Row::new("note", Words::new(note))));
        layout::rows(out, &rows, 4, style);
    }
    if let Some(words) = people::left_out(people) {
        layout::paragraph(out, &Words::default().paint(&words, Paint::Faint), 2, style);
    }
}

fn paint(person: &PersonRow) -> Paint {
    match person.device.part {
        DevicePart::Joins => Paint::New,
        DevicePart::Leaves => Paint::Old,
        DevicePart::Excluded => Paint::Faint,
    }
}

/// A side of a device, a line for each lock screen.
fn timeline(label: &str, side: &Timeline) -> Row {
    let mut lines = side.screens.iter().map(screen).collect::<Vec<_>>();
    lines.extend(side.rest.as_ref().map(|words| Words::default().paint(words, Paint::Faint)));
    Row { lines, ..Row::new(&format!("  {label}"), Words::default()) }
}

fn screen(row: &ScreenRow) -> Words {
    let title = row.title.as_ref().map(|title| format!("{title}: ")).unwrap_or_default();
    Words::new(&row.when).and("  ").and(&title).and(&row.text).and("  ").paint(&row.from, Paint::Faint)
}
