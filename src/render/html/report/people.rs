//! What single devices receive before and after: two short timelines of lock screens each.

use maud::{Markup, html};

use super::PageReport;
use crate::plan::DevicePart;
use crate::render::one_line;
use crate::render::plan::people::{self, PersonRow, ScreenRow, Timeline};

impl PageReport<'_> {
    pub(super) fn people(&self) -> Markup {
        let Some(people) = people::people(&self.view) else { return html! {} };
        html! {
            section #people {
                h2 { (people::TITLE) }
                p.faint { (people::about(people)) }
                @for row in people::rows(people) {
                    section.replayed {
                        h3 { (self.link(&row.of.address)) }
                        @for person in &row.devices { (device(person)) }
                        @if let Some(note) = &row.of.note { p.asks { (one_line(note)) } }
                    }
                }
                @if let Some(words) = people::left_out(people) { p.faint { (words) } }
            }
        }
    }
}

fn device(person: &PersonRow) -> Markup {
    let mood = match person.device.part {
        DevicePart::Joins => "new",
        DevicePart::Leaves => "old",
        DevicePart::Excluded => "same",
    };
    html! {
        div.person {
            p { span class=(format!("chip {mood}")) { (person.part()) } " " (one_line(&person.words())) }
            div.sides {
                @for (label, side) in person.sides() { (timeline(label, side)) }
            }
        }
    }
}

fn timeline(label: &str, Timeline { screens, rest }: &Timeline) -> Markup {
    html! {
        div.side {
            h4 { (label) }
            @if !screens.is_empty() { ol.screens { @for one in screens { (screen(one)) } } }
            @if let Some(words) = rest { p.faint { (words) } }
        }
    }
}

fn screen(ScreenRow { when, title, text, from }: &ScreenRow) -> Markup {
    html! {
        li.ph {
            div class="ph-note" {
                div class="ph-head" { bdi class="ph-app" { (one_line(from)) } span class="ph-now" { (when) } }
                @if let Some(title) = title { div class="ph-title" dir="auto" { (one_line(title)) } }
                div class="ph-text" dir="auto" { (one_line(text)) }
            }
        }
    }
}
