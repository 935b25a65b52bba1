//! The requests in the order in which they are sent, and the consequences of a run that stops in between.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::PageReport;
use crate::address::Address;
use crate::ledger::Verb;
use crate::plan::Step;
use crate::render::one_line;
use crate::text::{count, short};

/// The number of requests that are shown.
const SHOWN: usize = 500;
/// The number of characters of a path that are shown.
const PATH: usize = 300;

impl PageReport<'_> {
    pub(super) fn has_requests(&self) -> bool {
        self.view.plan.steps.iter().any(|step| step.request.is_some())
    }

    pub(super) fn requests(&self) -> Markup {
        let steps: Vec<&Step> = self.view.plan.steps.iter().filter(|step| step.request.is_some()).collect();
        if steps.is_empty() {
            return html! {};
        }
        let gone = self.gone();
        html! {
            section #requests {
                h2 { "Requests, in order" }
                p { "Each request is logged before it is sent. If an apply stops half-way, the next one continues from there and sends nothing twice." }
                ol.requests {
                    @for step in steps.iter().take(SHOWN) { (self.request(step, gone.get(&step.number))) }
                }
                @if let more @ 1.. = steps.len().saturating_sub(SHOWN) {
                    p.faint { "and " (count(more, "more request")) "; " code { "--format json" } " has all of them" }
                }
            }
        }
    }

    fn request(&self, step: &Step, gone: Option<&&Address>) -> Markup {
        let Some(request) = &step.request else { return html! {} };
        html! {
            li {
                code.request { b { (request.method.word()) } " " (one_line(&short(&request.path, PATH))) }
                " " span.whose { (self.link(&step.address)) }
                @if let Some(address) = gone {
                    p.stops { "If it stops after this: " (one_line(&address.to_string())) " is gone until the next apply; nothing is sent twice." }
                }
            }
        }
    }

    /// The steps that delete a resource which a later step creates again.
    fn gone(&self) -> BTreeMap<usize, &Address> {
        let mut made: BTreeMap<&Address, usize> = BTreeMap::new();
        for step in self.view.plan.steps.iter().filter(|step| step.verb == Verb::Create) {
            made.insert(&step.address, step.number);
        }
        let deleted = self.view.plan.steps.iter().filter(|step| step.verb == Verb::Delete);
        deleted
            .filter(|step| made.get(&step.address).is_some_and(|made| *made > step.number))
            .map(|step| (step.number, &step.address))
            .collect()
    }
}
