//! A plan as one HTML page for reviewers: decisions, changes, audiences, times, and requests. The same plan gives the
//! same bytes.

mod cards;
mod decisions;
mod facts;
mod graph;
mod message;
mod messages;
mod people;
mod requests;
mod rest;
mod top;
mod who;
mod zones;

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::{page, phone};
use crate::address::Address;
use crate::digest::Digest;
use crate::plan::Plan;
use crate::render::one_line;
use crate::render::plan::{Block, NextSteps, PlanView};
use crate::review::Who;

const CSS: &str = include_str!("report.css");

/// The number of changes with a card, the riskiest first.
const CARDS: usize = 150;
/// The maximal size of all cards together in bytes.
const CARD_BYTES: usize = 3_500_000;
/// The maximal size of one card in bytes. Larger ones show only their head.
const LARGEST: usize = 250_000;

/// The report of a plan.
pub fn html(plan: &Plan, ahead: &NextSteps) -> String {
    let report = PageReport::of(plan, ahead);
    let body = report.body();
    page(&format!("Plan for {}", plan.target), &[phone::CSS, CSS].concat(), &body)
}

/// The inputs of all parts of the page.
struct PageReport<'p> {
    view: PlanView<'p>,
    ahead: &'p NextSteps,
    digest: Digest,
    /// The number of each resource's card; resources without a card get one line.
    numbers: BTreeMap<Address, usize>,
    /// By the number of the card: the audience of the change, which is slow to compute.
    who: BTreeMap<usize, Vec<Who>>,
    cards: Vec<Markup>,
    drawn: graph::Drawn,
}

impl<'p> PageReport<'p> {
    fn of(plan: &'p Plan, ahead: &'p NextSteps) -> Self {
        let view = PlanView::of(plan, &ahead.again);
        view.ask_ahead();
        let mut report = Self {
            ahead,
            digest: view.digest().clone(),
            numbers: BTreeMap::new(),
            who: BTreeMap::new(),
            cards: Vec::new(),
            drawn: graph::Drawn::of(&view),
            view,
        };
        let mut bytes = 0;
        let (mut cards, mut all) = (Vec::new(), BTreeMap::new());
        for (number, block) in (1..).zip(report.all()).take(CARDS) {
            let who = block.whole.map(|change| report.view.review.who(change).into_owned()).unwrap_or_default();
            let drifted = number > report.view.blocks.len();
            let mut card = report.card(number, block, &who, drifted);
            if card.0.len() > LARGEST {
                card = report.bare_card(number, block);
            }
            bytes += card.0.len();
            if bytes > CARD_BYTES {
                break;
            }
            cards.push((block.address.clone(), card));
            all.insert(number, who);
        }
        report.who = all;
        report.numbers = cards.iter().map(|(address, _)| address.clone()).zip(1..).collect();
        report.cards = cards.into_iter().map(|(_, card)| card).collect();
        report
    }

    /// The changes, followed by the drift that the plan reverts.
    fn all(&self) -> impl Iterator<Item = &Block<'p>> {
        self.view.blocks.iter().chain(&self.view.drift)
    }

    /// The number of cards about changes; the others are about drift.
    fn happening(&self) -> usize {
        self.cards.len().min(self.view.blocks.len())
    }

    fn body(&self) -> Markup {
        let is_nothing = self.view.blocks.is_empty() && self.view.drift.is_empty();
        let (happens, drift) = self.cards.split_at(self.happening());
        html! {
            (self.top())
            main {
                @if !is_nothing { (self.messages()) }
                (self.guards())
                (self.summary())
                (self.decisions())
                (self.people())
                @if !happens.is_empty() {
                    section #changes {
                        h2 { "Changes" }
                        @for card in happens { (card) }
                    }
                }
                (self.drift(drift))
                (self.uncarded())
                (self.graph())
                (self.past())
                (self.left_out())
                (self.requests())
                (self.unmanaged())
            }
            (self.footer())
        }
    }

    /// The name of a resource, linked to its card if it has one.
    fn link(&self, address: &Address) -> Markup {
        let text = one_line(&address.to_string());
        html! {
            @match self.numbers.get(&address.resource()) {
                Some(number) => a.address href=(format!("#change-{number}")) { (text) },
                None => span.address { (text) },
            }
        }
    }
}
