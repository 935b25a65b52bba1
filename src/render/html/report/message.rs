//! The message as people will see it, on the screens of those who get it.

use maud::{Markup, html};

use crate::look::Seen;
use crate::plan::{Action, Change};
use crate::render::html::phone::{inbox, phone};
use crate::render::one_line;
use crate::review::prose::{self, Piece};
use crate::review::{Review, Side};
use crate::text::{count, short};

/// How many messages of one change are drawn: variants, outcomes and samples.
const DRAWN: usize = 6;
/// How much of a text stands in a cell of a table.
const CELL: usize = 180;
/// Whom a message comes from, which no plan knows.
const APP: &str = "Your app";

/// The messages of a change as they will be, or as they were where it goes.
fn messages(review: &Review, change: &Change) -> Vec<Seen> {
    let side = if change.action == Action::Delete { Side::Before } else { Side::After };
    let found = review.messages(change, side);
    if found.is_empty() { review.messages(change, Side::Before) } else { found }
}

/// All that a change says, drawn.
pub fn message(review: &Review, change: &Change) -> Markup {
    let all = messages(review, change);
    let same = change.action != Action::Create && !all.is_empty() && review.messages(change, Side::Before) == all;
    html! {
        @if !all.is_empty() {
            section.part.message {
                h4 { "What people see" @if same && change.action != Action::Delete { ": unchanged" } }
                @for seen in all.iter().take(DRAWN) { (one(seen)) }
                @if let more @ 1.. = all.len().saturating_sub(DRAWN) { p.faint { "and " (count(more, "more message")) } }
            }
        }
    }
}

fn one(seen: &Seen) -> Markup {
    html! {
        @if let Some(label) = &seen.label { h5 dir="auto" { (one_line(label)) } }
        div.phones {
            @for fit in &seen.fits { (phone(seen, fit, APP)) }
            @if let Some(message) = &seen.message { (inbox(message)) }
        }
        @if !seen.unfilled.is_empty() {
            p.warn { "No value for " @for (number, key) in seen.unfilled.iter().enumerate() { @if number > 0 { ", " } code { (one_line(key)) } }
                ": people read the braces unless the push gives one." }
        }
        @if let Some(tap) = &seen.tap { p.does { b { "A tap " } span dir="auto" { (one_line(tap)) } } }
        @for press in &seen.presses { p.does dir="auto" { (one_line(press)) } }
    }
}

/// The message in a few words, with what changes in it.
pub fn in_brief(review: &Review, change: &Change) -> Option<Markup> {
    let all = messages(review, change);
    let first = all.iter().find(|seen| !seen.text.trim().is_empty())?;
    let before = review.messages(change, Side::Before);
    let was = before.iter().find(|seen| seen.label == first.label).map(|seen| seen.text.as_str());
    let samples = all.iter().filter(|seen| seen.label != first.label).count();
    let edited = was.filter(|was| *was != first.text && change.action != Action::Create);
    let edits = edited.map(|was| match prose::words(&short(was, CELL), &short(&first.text, CELL)) {
        Some(pieces) => pieces,
        None => {
            vec![Piece::Goes(short(was, CELL)), Piece::Same(" ".to_owned()), Piece::Comes(short(&first.text, CELL))]
        }
    });
    Some(html! {
        div dir="auto" {
            @match edits {
                Some(pieces) => @for piece in &pieces {
                    @match piece {
                        Piece::Same(text) => (one_line(text)),
                        Piece::Goes(text) => del { (one_line(text)) },
                        Piece::Comes(text) => ins { (one_line(text)) },
                    }
                },
                None => (one_line(&short(&first.text, CELL))),
            }
        }
        @if samples > 0 { div.faint { "and " (count(samples, "other")) } }
    })
}
