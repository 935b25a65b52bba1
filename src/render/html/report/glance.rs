//! The plan as a table: what, which message, who, when.

use maud::{Markup, html};

use super::{PageReport, facts, message, top, who};
use crate::audience::Relation;
use crate::render::one_line;
use crate::render::plan::{Block, rows};
use crate::text::short;
use crate::timing::words::length;

/// How much of a text stands in a cell.
const CELL: usize = 160;

impl PageReport<'_> {
    pub(super) fn glance(&self) -> Markup {
        let shown = (1..).zip(self.all()).take(self.cards.len());
        html! {
            section #glance {
                h2 { "At a glance" }
                table.glance {
                    thead { tr { th scope="col" { "What" } th scope="col" { "Message" } th scope="col" { "Who" } th scope="col" { "When" } } }
                    tbody { @for (number, block) in shown { (self.glanced(number, block)) } }
                }
                @let rest = self.view.blocks.len() + self.view.drift.len() - self.cards.len();
                @if rest > 0 {
                    p.faint { "The " (self.cards.len()) " riskiest are shown; " a href="#rest" { (rest) " more" } " are listed below." }
                }
            }
        }
    }

    fn glanced(&self, number: usize, block: &Block) -> Markup {
        html! {
            tr {
                th scope="row" { (top::action(block.action)) " " (self.link(&block.address)) }
                (cell("Message", block.whole.and_then(|change| message::in_brief(&self.view.review, change))))
                (cell("Who", self.reached(number, block)))
                (cell("When", self.when(block)))
            }
        }
    }

    fn reached(&self, number: usize, block: &Block) -> Option<Markup> {
        if !block.parts.is_empty() {
            let change = if block.parts.len() == 1 { "changes" } else { "change" };
            return Some(html! { (block.parts.len()) " of " (block.total) " " (change) });
        }
        let one = self.who.get(&number)?.first()?;
        Some(html! {
            span dir="auto" { (one_line(&short(&one.words, CELL))) }
            @if let Some(effect) = one.effect.as_ref().filter(|effect| **effect != Relation::Same) {
                " " span.chip.calm { (who::headline(effect)) }
            }
        })
    }

    fn when(&self, block: &Block) -> Option<Markup> {
        let soonest = block.changes().flat_map(|change| &change.sends).map(|send| send.after_seconds).min();
        if let Some(after) = soonest {
            let after = if after == 0 { "at once".to_owned() } else { format!("after {}", length(after)) };
            return Some(html! { span.danger { "sends " (after) } });
        }
        let row = rows::of_times(&self.view, block).into_iter().next()?;
        Some(html! { @for words in row.lines.iter().take(1) { (facts::line(words)) } })
    }
}

fn cell(label: &str, content: Option<Markup>) -> Markup {
    match content {
        Some(content) => html! { td data-label=(label) { (content) } },
        None => html! { td.none { span aria-hidden="true" { "–" } } },
    }
}
