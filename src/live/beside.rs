//! Lists that are only looked at beside: of kinds that nothing here is of. A plan can do without them, and says so.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::{Ask, Fetch, For, Look};
use crate::kinds::{KINDS, Kind};

/// The kinds that the project or the ledger has something of, and those that are asked for.
pub(super) fn needed(look: &Look) -> BTreeSet<&'static str> {
    let Look { desired, ledger, contents, .. } = look;
    let addresses = desired.keys().copied().chain(ledger.owned.keys()).chain(ledger.open.keys());
    let addresses = addresses.chain(ledger.retired.iter().map(|old| &old.address));
    let used: BTreeSet<&str> = addresses.map(|address| &*address.kind).collect();
    let is_needed = |key: &&str| used.contains(key) || contents.contains(key);
    KINDS.iter().map(|kind| kind.key).filter(is_needed).collect()
}

impl Fetch<'_> {
    /// Whether nothing can be worked out without the answer to a request.
    pub fn needs(&self, number: usize) -> bool {
        self.beside(number).is_none()
    }

    /// Takes in that a request has no answer. `None`: nothing can be worked out without it.
    pub fn lost(&mut self, number: usize, why: &str, now: Timestamp) -> Option<Vec<Ask>> {
        let kind = self.beside(number)?;
        let (_, request) = self.open.remove(&number)?;
        Some(self.do_without(kind, format!("{request} failed: {why}"), now))
    }

    /// The kind whose list a request asks for, where nothing here is of it.
    pub(super) fn beside(&self, number: usize) -> Option<&'static Kind> {
        match self.open.get(&number)? {
            (For::Page(kind), _) if !self.needed.contains(kind.key) => Some(kind),
            _ => None,
        }
    }

    /// Goes on with what is known of a kind so far.
    pub(super) fn do_without(&mut self, kind: &'static Kind, why: String, now: Timestamp) -> Vec<Ask> {
        self.live.whole.remove(kind.key);
        self.live.unlisted.entry(kind.key).or_insert(why);
        let mut asks = Vec::new();
        self.go_on(now, &mut asks);
        asks
    }
}
