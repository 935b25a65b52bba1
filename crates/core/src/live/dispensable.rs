//! Lists that are only looked at beside: of kinds that nothing here is of, and of people who can be looked up one by one. A
//! plan can do without them; where a kind is missing, it says so.

use std::collections::BTreeSet;

use jiff::Timestamp;
use pushplan_model::kinds::{KINDS, Kind};

use super::{Ask, Fetch, For, Look};

/// The kinds that the project or the ledger has something of, and those that are asked for.
pub(super) fn needed(look: &Look) -> BTreeSet<&'static str> {
    let Look { desired, ledger, contents, .. } = look;
    let addresses = desired.keys().copied().chain(ledger.owned.keys()).chain(ledger.open.keys());
    let addresses = addresses.chain(ledger.retired.iter().map(|old| &old.address));
    let used: BTreeSet<&str> = addresses.map(|address| &*address.kind).collect();
    let is_needed = |key: &&str| used.contains(key) || contents.contains(key);
    KINDS.iter().map(|kind| kind.key).filter(is_needed).collect()
}

/// A list that can be done without.
#[derive(Clone, Copy, Debug)]
pub(super) enum Dispensable {
    Kind(&'static Kind),
    People,
    /// The report of pushes.
    Sends,
}

impl Fetch<'_> {
    /// Whether nothing can be worked out without the answer to a request.
    pub fn needs(&self, number: usize) -> bool {
        self.beside(number).is_none()
    }

    /// Takes in that a request has no answer. `None`: nothing can be worked out without it.
    pub fn lost(&mut self, number: usize, why: &str, now: Timestamp) -> Option<Vec<Ask>> {
        let beside = self.beside(number)?;
        let (_, request) = self.open.remove(&number)?;
        Some(self.do_without(beside, format!("{request} failed: {why}"), now))
    }

    /// The list that a request asks for, where it can be done without.
    pub(super) fn beside(&self, number: usize) -> Option<Dispensable> {
        match self.open.get(&number)? {
            (For::Page(kind), _) if !self.needed.contains(kind.key) => Some(Dispensable::Kind(kind)),
            (For::Census(_, kinds), _) if kinds.is_empty() => Some(Dispensable::People),
            (For::Sends, _) => Some(Dispensable::Sends),
            _ => None,
        }
    }

    /// Continues with what is known so far.
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
