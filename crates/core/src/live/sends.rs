//! Whether a push may have been sent that no list shows any more: a person may have moved it to an earlier time. The service's
//! report of pushes is read twice, as lists are, because one answer may be wrong.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use pushplan_ledger::{CLOCKS_APART, Intent};
use pushplan_model::exchange::{Meaning, Request, part};
use pushplan_model::kinds;
use serde_json::Value;

use super::{Ask, Fetch, For};
use crate::outcome::PushReport;

/// What the report of pushes says.
#[derive(Debug, Default)]
pub(super) struct Sends {
    /// How often it was asked for.
    asked: u8,
    /// A page of it could not be read: nothing is proven.
    pub(super) is_incomplete: bool,
    pushes: Vec<PushReport>,
    /// The latest time that the service's answers show.
    pub(super) at: Option<Timestamp>,
}

impl Fetch<'_> {
    /// Asks for the report if it was asked for less often, and something depends on it.
    pub(super) fn ask_for_sends(&mut self, times: u8, now: Timestamp, asks: &mut Vec<Ask>) {
        let since = self.creations().filter(|intent| self.sought.contains(&intent.address) && self.vanishes(intent));
        let since = since.filter_map(|intent| Some(self.look.ledger.open.get(&intent.address)?.at)).min();
        let Some(since) = since.filter(|_| self.sends.asked < times && self.look.proof.reported_sends) else { return };
        self.sends.asked = times;
        let time = |at: Timestamp| part(&TimeZone::UTC.to_datetime(at).strftime("%Y-%m-%d %H:%M").to_string());
        let start = time(since.saturating_sub(CLOCKS_APART).unwrap_or(since));
        let end = self.sends.at.unwrap_or(now).max(now);
        let end = time(end.saturating_add(CLOCKS_APART).unwrap_or(end));
        let request = Request::get(format!("/api/reports/responses/list?start={start}&end={end}"));
        self.ask(For::Sends, request, asks);
    }

    /// Takes in a page. One that cannot be read is no reason to give up: a person decides then.
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

    /// Whether a creation that no list shows may have been sent.
    pub(super) fn may_be_sent(&self, intent: &Intent) -> bool {
        if !self.vanishes(intent) || !self.look.proof.reported_sends {
            return false;
        }
        let owned = self.look.ledger.owned.values().flat_map(|owned| owned.push_ids.iter().chain([&owned.id]));
        let listed = self.live.listed().flat_map(|(_, found)| found.push_ids.iter().chain([&found.id]));
        let known: BTreeSet<&str> = owned.chain(listed).chain(&intent.seen).map(String::as_str).collect();
        self.sends.is_incomplete || self.sends.pushes.iter().any(|push| push.is_unknown(&known))
    }

    fn vanishes(&self, intent: &Intent) -> bool {
        kinds::api(&intent.address).leaves_list_when_sent()
    }
}
