//! The changed messages, above everything else: the change, the message, the audience, the time.

use maud::{Markup, html};

use super::{PageReport, facts};
use crate::render::layout::Paint;
use crate::render::one_line;
use crate::render::plan::loosened;
use crate::render::plan::messages::{self, MessageRow, WhoMark};
use crate::render::plan::{content, reach};
use crate::review::MessageClass;
use crate::text::count;

impl PageReport<'_> {
    /// The impact of the plan, in a few sentences.
    pub(super) fn verdict(&self) -> Markup {
        html! {
            p.verdict {
                @for (words, paint) in messages::verdict(&self.view, Some(self.ahead)) {
                    span class=(if paint == Paint::Danger { "danger" } else { "strong" }) { (one_line(&words)) } " "
                }
            }
        }
    }

    pub(super) fn messages(&self) -> Markup {
        let (rows, more) = messages::rows(&self.view);
        html! {
            section #messages {
                h2 { "Messages" }
                @if !rows.is_empty() {
                    table.messages {
                        thead { tr { th scope="col" { "Change" } th scope="col" { "Message" } th scope="col" { "Who" } th scope="col" { "When" } } }
                        tbody { @for row in &rows { (self.message_row(row)) } }
                    }
                }
                @if more > 0 { p.faint { "and " (count(more, "more message")) ", below" } }
                @if let Some(words) = reach::population(&self.view) { p.faint { (one_line(&words)) } }
                @if let Some(words) = messages::others(&self.view) { p.faint { (one_line(&words)) } }
            }
        }
    }

    /// The guards that are loosened.
    pub(super) fn guards(&self) -> Markup {
        let (rows, left) = loosened::rows(&self.view);
        html! {
            @if !rows.is_empty() {
                section #guards {
                    h2 { "Guards" }
                    ul.decisions {
                        @for row in &rows {
                            li.decision.danger {
                                p {
                                    span.chip.danger { (row.label) } " "
                                    @match &row.address {
                                        Some(address) => (self.link(address)),
                                        None => span.address { (one_line(&row.name)) },
                                    }
                                    @if let Some(place) = &row.place { " " span.place { (one_line(place)) } }
                                }
                                p.out { (one_line(&row.sentence())) }
                            }
                        }
                        @if let Some(words) = loosened::more(left) { li.decision.danger { (words) } }
                    }
                }
            }
        }
    }

    fn message_row(&self, row: &MessageRow) -> Markup {
        html! {
            tr {
                th scope="row" {
                    span class=(format!("chip {}", mood(row.class))) { (row.class.label()) } " "
                    @match &row.address {
                        Some(address) => (self.link(address)),
                        None => span.address { (one_line(&row.name)) },
                    }
                    @if let Some(part) = &row.part { span.faint { " " (one_line(part)) } }
                }
                (cell("Message", (!row.text.is_empty() || !row.hosts.is_empty()).then(|| html! {
                    (facts::line(&content::edited(row.text.clone())))
                    @for words in &row.hosts { p.asks { (one_line(words)) } }
                })))
                (cell("Who", (!row.who.is_empty()).then(|| html! {
                    @for (mark, words) in &row.who {
                        p class=(match mark { WhoMark::Joins => "new", WhoMark::Leaves => "old", WhoMark::Gets => "gets" }) {
                            (one_line(words))
                        }
                    }
                    @if let Some(words) = &row.reach { p.gets { (one_line(words)) } }
                    @if row.is_by_hand { p.asks { (messages::BY_HAND) } }
                    @for because in &row.because {
                        p.faint {
                            "because " (because.part) @match &because.address { Some(address) => (self.link(address)), None => code { (because.name) } } " " (one_line(&because.words))
                            @if let Some(place) = because.place() { " " span.place { (one_line(&place)) } }
                        }
                    }
                })))
                (cell("When", row.when.as_ref().map(|when| html! {
                    p { (one_line(when)) }
                    @if let Some(quiet) = &row.quiet { p.asks { (one_line(quiet)) } }
                })))
            }
        }
    }
}

fn mood(class: MessageClass) -> &'static str {
    match class {
        MessageClass::SendsNow | MessageClass::SendsLater | MessageClass::Everyone | MessageClass::More => "danger",
        MessageClass::Different | MessageClass::QuietHours | MessageClass::NewHost => "asks",
        MessageClass::Time | MessageClass::Text => "changed",
        MessageClass::Fewer | MessageClass::Nobody | MessageClass::Cancelled => "old",
        MessageClass::New => "new",
    }
}

fn cell(label: &str, content: Option<Markup>) -> Markup {
    match content {
        Some(content) => html! { td data-label=(label) { (content) } },
        None => html! { td.none { span aria-hidden="true" { "–" } } },
    }
}
