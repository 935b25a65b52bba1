//! Optional lists: of kinds without any declared or managed resource, and of people who can be read one by one. A plan
//! can do without them, and names the kinds whose lists are missing.

use std::collections::BTreeSet;

use jiff::Timestamp;
use pushplan_model::kinds::{KINDS, Kind};

use super::{Ask, Fetch, For, Look};

/// The kinds with a declared or managed resource, and the requested kinds.
pub(super) fn needed(look: &Look) -> BTreeSet<&'static str> {
    let Look { desired, ledger, contents, .. } = look;
    let addresses = desired.keys().copied().chain(ledger.owned.keys()).chain(ledger.open.keys());
    let addresses = addresses.chain(ledger.retired.iter().map(|old| &old.address));
    let used: BTreeSet<&str> = addresses.map(|address| &*address.kind).collect();
    let is_needed = |key: &&str| used.contains(key) || contents.contains(key);
    KINDS.iter().map(|kind| kind.key).filter(is_needed).collect()
}

/// An optional list.
#[derive(Clone, Copy, Debug)]
pub(super) enum Dispensable {
    Kind(&'static Kind),
    People,
    /// The report of pushes.
    Sends,
}

impl Fetch<'_> {
    /// Whether the answer to a request is required.
    pub fn needs(&self, number: usize) -> bool {
        self.beside(number).is_none()
    }

    /// Handles a request without an answer. `None` if the answer is required.
    pub fn lost(&mut self, number: usize, why: &str, now: Timestamp) -> Option<Vec<Ask>> {
        let beside = self.beside(number)?;
        let (_, request) = self.open.remove(&number)?;
        Some(self.do_without(beside, format!("{request} failed: {why}"), now))
    }

    /// The list of a request, if it is optional.
    pub(super) fn beside(&self, number: usize) -> Option<Dispensable> {
        match self.open.get(&number)? {
            (For::Page(kind), _) if !self.needed.contains(kind.key) => Some(Dispensable::Kind(kind)),
            (For::Census(_, kinds), _) if kinds.is_empty() => Some(Dispensable::People),
            (For::Sends, _) => Some(Dispensable::Sends),
            _ => None,
        }
    }

    /// Continues without a list.
    pub(super) fn do_without(&mut self, beside: Dispensable, why: String, now: Timestamp) -> Vec<Ask> {
        match beside {
            Dispensable::Kind(kind) => {
                self.live.whole.remove(kind.key);
                self.live.unlisted.entry(kind.key).or_insert(why);
            }
            Dispensable::People => {}
            Dispensable::Sends => self.sends.is_incomplete = true,
        }
        let mut asks = Vec::new();
        self.go_on(now, &mut asks);
        asks
    }
}
