//! Parts without cards: changes of little risk in a large plan, drift, past pushes, and resources that were left out.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::{PageReport, facts, top};
use crate::plan::Action;
use crate::render::one_line;
use crate::render::plan::text::held_lines;
use crate::render::plan::{Block, past, unmanaged, words};
use crate::text::{count, short};

/// The maximal size in bytes of the lines for changes without a card.
const BYTES: usize = 2_500_000;
/// The number of past pushes, and of resources left out, that are named.
const NAMED: usize = 200;
/// The number of characters of a name that are shown.
const NAME: usize = 60;

impl PageReport<'_> {
    /// Changes made only on the service.
    pub(super) fn drift(&self, cards: &[Markup]) -> Markup {
        html! {
            @if !self.view.drift.is_empty() {
                section #drift {
                    h2 { "Changed on the service" }
                    p {
                        "Changed on the service since the last apply"
                        @if let Some(at) = self.view.plan.told.last_apply { " (" (words::moment(at)) ")" }
                        "; it is not in your files. " (words::PUT_BACK)
                    }
                    @for card in cards { (card) }
                }
            }
        }
    }

    /// The changes without a card, each in a line.
    pub(super) fn uncarded(&self) -> Markup {
        let rest: Vec<&Block> = self.all().skip(self.cards.len()).collect();
        if rest.is_empty() {
            return html! {};
        }
        let mut lines = Vec::new();
        let mut bytes = 0;
        for block in &rest {
            let line = row(block);
            bytes += line.0.len();
            if bytes > BYTES {
                break;
            }
            lines.push(line);
        }
        let untold = &rest[lines.len()..];
        html! {
            section #rest {
                h2 { "The other " (count(rest.len(), "change")) }
                p { "They are less risky than those above: " (tally(&rest)) "." }
                ul.rows { @for line in &lines { (line) } }
                @if !untold.is_empty() {
                    p { "Not listed, to keep this page short: " (count(untold.len(), "change")) " (" (tally(untold)) "). "
                        code { "--format json" } " has all of them." }
                }
            }
        }
    }

    pub(super) fn past(&self) -> Markup {
        let past = &self.view.past;
        html! {
            @if !past.is_empty() {
                section #past {
                    h2 { "Past pushes" }
                    ul.rows {
                        @for change in past.iter().take(NAMED) {
                            li { span.address { (one_line(&change.address.to_string())) } " " (past::fate(change)) }
                        }
                    }
                    @if past.len() > NAMED { p.faint { "and " (past.len() - NAMED) " more" } }
                }
            }
        }
    }

    /// Unmanaged resources of the service.
    pub(super) fn unmanaged(&self) -> Markup {
        html! {
            @if let Some(words) = unmanaged::words(&self.view) {
                section #unmanaged { (facts::line(&words)) }
            }
        }
    }

    pub(super) fn left_out(&self) -> Markup {
        let left = &self.view.plan.left_out;
        html! {
            @if !left.is_empty() {
                section #left-out {
                    h2 { "Left out" }
                    p {
                        @match &self.view.plan.told.at_work {
                            Some(words) => { (one_line(words)) " It does not touch:" }
                            None => { "This plan covers a part of the project. It does not touch " (count(left.len(), "address")) ":" }
                        }
                    }
                    ul.rows {
                        @for address in left.iter().take(NAMED) { li { span.address { (one_line(&address.to_string())) } } }
                    }
                    @if left.len() > NAMED { p.faint { "and " (left.len() - NAMED) " more" } }
                }
            }
            @let held = held_lines(self.view.plan);
            @if !held.is_empty() {
                section #not-promoted {
                    h2 { "Not promoted" }
                    ul.rows { @for line in held.iter().take(NAMED) { li { (one_line(line)) } } }
                    @if held.len() > NAMED { p.faint { "and " (held.len() - NAMED) " more" } }
                }
            }
        }
    }
}

fn row(block: &Block) -> Markup {
    let name = block.changes().next().map(|change| change.name.as_str()).unwrap_or_default();
    let place = block.changes().find_map(|change| change.place.as_ref());
    html! {
        li {
            span class=(format!("chip {}", top::mood(block.action))) { (block.action.symbol()) " " (block.action.word()) }
            " " span.address { (one_line(&block.address.to_string())) }
            @if !name.is_empty() && name != block.address.key { " " bdi.faint { (one_line(&short(name, NAME))) } }
            @if let Some(place) = place { " " span.place { (one_line(&short(&place.file, NAME))) ":" (place.line) } }
        }
    }
}

/// The number of changes of each action: `9800 to update, 50 to create`.
fn tally(blocks: &[&Block]) -> String {
    let mut numbers: BTreeMap<Action, usize> = BTreeMap::new();
    for block in blocks {
        *numbers.entry(block.action).or_default() += 1;
    }
    let told = |(action, number): (&Action, &usize)| match action {
        Action::ByHand => count(*number, "manual step"),
        action => format!("{number} to {}", action.word()),
    };
    numbers.iter().map(told).collect::<Vec<_>>().join(", ")
}
