//! The messages of single devices before and after, in a part of the page that is collapsed at first.

use super::Cut;
use crate::render::escape::markdown;
use crate::render::plan::PlanView;
use crate::render::plan::people::{self, PeopleRow, PersonRow, ScreenRow, Timeline};
use crate::text::{count, short};

/// The number of characters of a phrase.
const PHRASE: usize = 200;

/// The devices of each message, in at most this many bytes.
pub fn people(view: &PlanView, most: usize) -> Cut {
    let Some(people) = people::people(view) else { return Cut { text: String::new(), left: 0 } };
    let rows = people::rows(people);
    let devices: usize = rows.iter().map(|row| row.devices.len()).sum();
    let about = markdown::text(&people::about(people));
    let start = format!(
        "<details>\n<summary>{}: {} before and after</summary>\n\n{about}\n\n",
        people::TITLE,
        count(devices, "device")
    );
    let end = "\n</details>\n\n";
    let room = most.saturating_sub(start.len() + end.len() + PHRASE);
    let (mut body, mut left) = (String::new(), 0);
    for row in &rows {
        let block = message(row);
        match left == 0 && body.len() + block.len() <= room {
            true => body.push_str(&block),
            false => left += 1,
        }
    }
    let more = match left {
        0 => String::new(),
        left => format!("{} not shown here.\n", count(left, "more message")),
    };
    let beyond = people::left_out(people).map(|words| format!("{}.\n", markdown::text(&words))).unwrap_or_default();
    Cut { text: format!("{start}{body}{more}{beyond}{end}"), left }
}

fn message(PeopleRow { of, devices }: &PeopleRow) -> String {
    let mut out = format!("**{}**\n\n", markdown::code(&short(&of.address.to_string(), PHRASE)));
    for person in devices {
        device(&mut out, person);
    }
    if let Some(note) = &of.note {
        out.push_str(&format!("- note: {}\n", markdown::text(&short(note, PHRASE))));
    }
    out.push('\n');
    out
}

fn device(out: &mut String, person: &PersonRow) {
    let words = markdown::text(&short(&person.words(), PHRASE));
    out.push_str(&format!("- **{}** {words}\n", person.part()));
    for (label, Timeline { screens, rest }) in person.sides() {
        let mut lines: Vec<String> = screens.iter().map(screen).collect();
        lines.extend(rest.as_ref().map(|words| markdown::text(words)));
        out.push_str(&format!("  - {label}: {}\n", lines.join("<br>")));
    }
}

fn screen(ScreenRow { when, title, text, from }: &ScreenRow) -> String {
    let title = title.as_ref().map(|title| format!("{}: ", markdown::text(title))).unwrap_or_default();
    format!("{when} {title}{} {}", markdown::text(text), markdown::code(&short(from, PHRASE)))
}
