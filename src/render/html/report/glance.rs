//! The plan as a table: what, which message, who, when.

use maud::{Markup, html};

use super::{Report, facts, message, top, who};
use crate::render::one_line;
use crate::render::plan::{Block, rows};
use crate::text::short;

/// How much of a text stands in a cell.
const CELL: usize = 160;

impl Report<'_> {
    pub(super) fn glance(&self) -> Markup {
        let shown = self.all().take(self.cards.len());
        html! {
            section #glance {
                h2 { "At a glance" }
                table.glance {
                    thead { tr { th scope="col" { "What" } th scope="col" { "Message" } th scope="col" { "Who" } th scope="col" { "When" } } }
                    tbody { @for block in shown { (self.glanced(block)) } }
                }
                @let rest = self.view.blocks.len() + self.view.drift.len() - self.cards.len();
                @if rest > 0 {
                    p.faint { "The " (self.cards.len()) " riskiest are shown; " a href="#rest" { (rest) " more" } " are listed below." }
                }
            }
        }
    }

    fn glanced(&self, block: &Block) -> Markup {
        html! {
            tr {
                th scope="row" { (top::action(block.action)) " " (self.link(&block.address)) }
                td data-label="Message" { (cell(self.message(block))) }
                td data-label="Who" { (cell(self.audience(block))) }
                td data-label="When" { (cell(rows::when(&self.view, block).map(|row| html! { @for words in &row.lines { (facts::line(words)) } }))) }
            }
        }
    }

    fn message(&self, block: &Block) -> Option<Markup> {
        message::in_brief(&self.review, block.whole?)
    }

    fn audience(&self, block: &Block) -> Option<Markup> {
        let all = self.review.who(block.whole?);
        let one = all.first()?;
        Some(html! {
            span dir="auto" { (one_line(&short(&one.words, CELL))) }
            @if let Some(effect) = &one.effect { " " span.chip.calm { (who::headline(effect)) } }
        })
    }
}

fn cell(content: Option<Markup>) -> Markup {
    content.unwrap_or_else(|| html! { span.faint aria-label="none" { "–" } })
}
