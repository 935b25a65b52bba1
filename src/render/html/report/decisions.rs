//! Decisions and manual steps, at the top of the page.

use maud::{Markup, html};

use super::{PageReport, facts};
use crate::guard::Refused;
use crate::plan::{Action, Change};
use crate::render::one_line;
use crate::render::plan::decisions::{called, why};
use crate::render::plan::text::{FOR_READING, undeclared};
use crate::render::plan::{Block, Risk};
use crate::text::count;
use crate::timing::Collision;
use crate::timing::words::length;

/// The number of items of each type that are shown here; the others are further down.
const EACH: usize = 12;

/// How many pairs of messages close together are named.
const NEAREST: usize = 3;

/// The risks that need a decision, with their labels.
const RISKS: [(Risk, &str, &str); 5] = [
    (Risk::Sends, "Sends", "danger"),
    (Risk::Stuck, "Waits for you", "asks"),
    (Risk::NoWayBack, "Cannot be undone", "danger"),
    (Risk::Deletes, "Deletes", "old"),
    (Risk::ByHand, "Manual steps", "asks"),
];

impl PageReport<'_> {
    /// Whether a decision is needed.
    pub(super) fn decides(&self) -> bool {
        !self.view.blocks.is_empty() || !self.view.drift.is_empty()
    }

    pub(super) fn decisions(&self) -> Markup {
        let refused = self.ahead.refusals();
        let blocks = &self.view.blocks;
        // What is held waits for other changes, and nobody has anything to do.
        let is_held = |block: &Block| block.risk == Risk::ByHand && !block.changes().any(Change::is_manual);
        let asked = |risk: Risk| blocks.iter().filter(move |block| block.risk == risk && !is_held(block));
        let (near, summary) = self.view.collisions().summary();
        let is_calm =
            refused.is_empty() && near.is_empty() && RISKS.iter().all(|(risk, ..)| asked(*risk).next().is_none());
        html! {
            section #decisions {
                h2 { (if is_calm { "No decisions" } else { "Decisions" }) }
                @match undeclared(&self.view) {
                    Some(words) => p.calm-note { (one_line(&words)) },
                    None => @if is_calm && self.view.review.is_harmless() { p.calm-note { (self.calm()) } },
                }
                ul.decisions {
                    @for one in refused { (self.refusal(one)) }
                    @for (risk, word, mood) in RISKS {
                        @for block in asked(risk).take(EACH) { (self.decision(block, called(block, word), mood)) }
                        @if let more @ 1.. = asked(risk).count().saturating_sub(EACH) {
                            li class=(format!("decision {mood}")) {
                                span class=(format!("chip {mood}")) { (word) } " and " (more) " more, further down"
                            }
                        }
                    }
                    @if !near.is_empty() {
                        li.decision.changed {
                            p { span.chip.changed { "Close together" } " " (summary) }
                            @for one in near.iter().take(NEAREST) { (self.near(one)) }
                            @if let more @ 1.. = near.len().saturating_sub(NEAREST) {
                                p { "and " (count(more, "more pair")) " further apart" }
                            }
                        }
                    }
                }
                @if self.decides() { (self.next()) }
            }
        }
    }

    fn calm(&self) -> &'static str {
        if self.decides() {
            "No message reaches more people. Nothing is sent at once or deleted, and there is no manual step."
        } else {
            match self.view.plan.basis.is_service() {
                true => "There is nothing to decide: the service matches your files.",
                false => "There is nothing to decide.",
            }
        }
    }

    /// A refusal, with its advice.
    fn refusal(&self, refused: &Refused) -> Markup {
        html! {
            li.decision.danger {
                p { span.chip.danger { "Refused" } " " span dir="auto" { (one_line(&refused.message)) } }
                p.out { b { "Help: " } (one_line(&refused.help)) }
                @if !refused.addresses.is_empty() {
                    p.which {
                        @for (number, address) in refused.addresses.iter().take(EACH).enumerate() {
                            @if number > 0 { ", " }
                            (self.link(address))
                        }
                        @if refused.addresses.len() > EACH { " and " (refused.addresses.len() - EACH) " more" }
                    }
                }
            }
        }
    }

    fn decision(&self, block: &Block, word: &str, mood: &str) -> Markup {
        html! {
            li class=(format!("decision {mood}")) {
                p { span class=(format!("chip {mood}")) { (word) } " " (self.link(&block.address)) }
                @let why = why(&self.view, block);
                @for words in &why { (facts::line(words)) }
                @if why.is_empty() && block.risk == Risk::Deletes && block.action == Action::Delete { p { "It is \
                    deleted on the service and not replaced." } }
            }
        }
    }

    /// Two messages that one person gets shortly after each other.
    fn near(&self, collision: &Collision) -> Markup {
        let Collision { one, other, apart_seconds, who, .. } = collision;
        html! {
            p {
                (self.link(&one.address)) " and " (self.link(&other.address))
                @match apart_seconds { 0 => ", at the same time", seconds => { ", " (length(*seconds)) " apart" } }
                @if let Some(who) = who { ": " span dir="auto" { (one_line(who)) } }
            }
        }
    }

    /// The next command.
    fn next(&self) -> Markup {
        let plan = self.view.plan;
        let waits = self.view.stuck() > 0 || !self.ahead.refusals().is_empty();
        html! {
            p.next {
                @if !plan.basis.is_service() {
                    (FOR_READING)
                } @else if plan.has_news() {
                    @if waits { "Apply will refuse this plan. After the decision: " } @else { "Next: " }
                    code { (one_line(&self.ahead.apply())) }
                } @else {
                    "pushplan can do nothing before the manual steps are done."
                }
            }
        }
    }
}
