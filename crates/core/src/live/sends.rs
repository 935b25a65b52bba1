//! Whether a push that is in no list may have been sent: a person may have moved it to an earlier time. The service's
//! report of pushes is read twice, like lists, because one answer may be wrong.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use pushplan_ledger::{CLOCKS_APART, Intent, Owned, Verb};
use pushplan_model::address::Address;
use pushplan_model::exchange::{Meaning, Request, part};
use pushplan_model::kinds;
use serde_json::Value;

use super::{Ask, Fetch, For, LiveState, Look};
use crate::outcome::PushReport;

/// The content of the report of pushes.
#[derive(Debug, Default)]
pub(super) struct Sends {
    /// How many times it was requested.
    asked: u8,
    /// Whether a page of it could not be read: then nothing is proven.
    pub(super) is_incomplete: bool,
    pushes: Vec<PushReport>,
    /// The latest time in the service's answers.
    pub(super) at: Option<Timestamp>,
}

impl Fetch<'_> {
    /// Requests the report if it was requested fewer times than `times`, and a decision depends on it.
    pub(super) fn ask_for_sends(&mut self, times: u8, now: Timestamp, asks: &mut Vec<Ask>) {
        let sought =
            self.creations().filter(|intent| self.sought.contains(&intent.address) && vanishes(&intent.address));
        let sought = sought.map(|intent| &intent.address).chain(self.vanished());
        let since = sought.filter_map(|address| Some(self.look.ledger.open.get(address)?.at)).min();
        let Some(since) = since.filter(|_| self.sends.asked < times && self.look.proof.reported_sends) else { return };
        self.sends.asked = times;
        let time = |at: Timestamp| part(&TimeZone::UTC.to_datetime(at).strftime("%Y-%m-%d %H:%M").to_string());
        let start = time(since.saturating_sub(CLOCKS_APART).unwrap_or(since));
        let end = self.sends.at.unwrap_or(now).max(now);
        let end = time(end.saturating_add(CLOCKS_APART).unwrap_or(end));
        let request = Request::get(format!("/api/reports/responses/list?start={start}&end={end}"));
        self.ask(For::Sends, request, asks);
    }

    /// Processes a page. An unreadable one is no reason to fail: a person decides then.
    pub(super) fn take_sends(&mut self, meaning: Meaning, request: &Request, body: &Value, asks: &mut Vec<Ask>) {
        let pushes = body["pushes"].as_array().filter(|_| meaning == Meaning::Done);
        let pushes = pushes.map(|pushes| pushes.iter().map(PushReport::read).collect::<Option<Vec<_>>>());
        let next = self.pages.next(self.look.origin, &request.path, body);
        let (Some(Some(pushes)), Ok(next)) = (pushes, next) else {
            self.sends.is_incomplete = true;
            return;
        };
        self.sends.pushes.extend(pushes);
        if let Some(next) = next {
            self.ask(For::Sends, Request::get(next), asks);
        }
    }

    /// Whether a creation that is in no list may have been sent.
    pub(super) fn may_be_sent(&self, intent: &Intent) -> bool {
        vanishes(&intent.address) && self.reports_unknown(None, &intent.seen)
    }

    /// The addresses of deletions without an answer whose resources are in no list. A person may have sent them before
    /// the deletion took effect.
    fn vanished(&self) -> impl Iterator<Item = &Address> {
        let Look { ledger, recovers, .. } = &self.look;
        let deletions = ledger.open.values().map(|open| &open.intent).filter(|intent| intent.verb == Verb::Delete);
        deletions.map(|intent| &intent.address).filter(|address| {
            let is_there = matches!(self.live.units.get(address), Some(LiveState::There(_)));
            *recovers && vanishes(address) && ledger.owned.contains_key(address) && !is_there
        })
    }

    /// Computes, after all reports are read, which deletions without an answer were of pushes that were not sent.
    pub(super) fn end_reports(&mut self) {
        let is_unsent = |address: &&Address| {
            let owned = self.look.ledger.owned.get(address);
            owned.is_some_and(|owned| !self.reports_unknown(Some(owned), &BTreeSet::new()))
        };
        self.live.unsent = self.vanished().filter(is_unsent).cloned().collect();
    }

    /// Whether the service may have sent a push that belongs neither to another managed resource nor to a listed or
    /// known one.
    fn reports_unknown(&self, own: Option<&Owned>, seen: &BTreeSet<String>) -> bool {
        if !self.look.proof.reported_sends {
            return false;
        }
        let others = self.look.ledger.owned.values().filter(|owned| own.is_none_or(|own| own.id != owned.id));
        let owned = others.flat_map(|owned| owned.push_ids.iter().chain([&owned.id]));
        let listed = self.live.listed().flat_map(|(_, found)| found.push_ids.iter().chain([&found.id]));
        let known: BTreeSet<&str> = owned.chain(listed).chain(seen).map(String::as_str).collect();
        self.sends.is_incomplete || self.sends.pushes.iter().any(|push| push.is_unknown(&known))
    }
}

fn vanishes(address: &Address) -> bool {
    kinds::api(address).leaves_list_when_sent()
}
