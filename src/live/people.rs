//! Looking at people and devices: many of them in their lists, the others one by one.
//!
//! What a list shows is believed where it is just what the ledger remembers. Everything else is asked for alone, as if there
//! were no list: lists spare requests and change no answer.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Ask, Fetch, For, Look, Seen};
use crate::address::Address;
use crate::exchange::Request;
use crate::kinds::{self, Census, Read};
use crate::ledger::Verb;

/// So many are asked for one by one without a look at their list.
const FEW: usize = 4;
/// As many lookups take as long as one page: pages come one after the other, lookups side by side.
const PAGE: usize = 8;

/// What is looked up, and how far lists help with that.
#[derive(Debug, Default)]
pub(super) struct Lookups {
    /// What each request would tell about.
    open: BTreeMap<Request, Vec<Address>>,
    gains: BTreeMap<Census, Gain>,
}

/// What a list has brought so far.
#[derive(Debug, Default)]
struct Gain {
    /// How many lookups it may still spare.
    left: usize,
    spared: usize,
    pages: usize,
}

impl Gain {
    /// Whether another page is likely to spare more time than it takes. A list may be far longer than what is looked for in
    /// it, or have it all at its end: an eighth of what is left to find is spent on looking.
    fn goes_on(&self) -> bool {
        self.left > FEW && self.pages * PAGE <= self.spared + self.left / 8
    }
}

impl<'l> Fetch<'l> {
    /// Finds out what is looked up, and asks for the first pages of the lists that may show it.
    pub(super) fn begin_lookups(&mut self, asks: &mut Vec<Ask>) {
        let Look { level, ledger, desired, .. } = self.look.clone();
        let in_doubt = ledger.open.iter().filter(|(_, open)| open.intent.verb == Verb::Create);
        let in_doubt = in_doubt.map(|(address, _)| address);
        let all: BTreeSet<&Address> = desired.keys().copied().chain(ledger.owned.keys()).chain(in_doubt).collect();
        for address in all {
            let Some((id, known)) = self.known_of(address) else { continue };
            match kinds::api(address).get(&id, &known, level) {
                Some(request) => self.lookups.open.entry(request).or_default().push(address.clone()),
                None => drop(self.live.units.insert(address.clone(), Seen::Absent)),
            }
        }
        let Lookups { open, gains } = &mut self.lookups;
        for (request, addresses) in open {
            let is_settled =
                |address: &Address| ledger.owned.contains_key(address) && !ledger.open.contains_key(address);
            if let Some(list) = Census::showing(request).filter(|_| addresses.iter().all(is_settled)) {
                gains.entry(list).or_default().left += 1;
            }
        }
        let lists: Vec<Census> = gains.iter().filter(|(_, gain)| gain.left > FEW).map(|(list, _)| *list).collect();
        let read_anyway = |list: &Census| {
            self.open.values().any(|(purpose, _)| matches!(purpose, For::Census(other, _) if other == list))
        };
        let lists: Vec<Census> = lists.into_iter().filter(|list| !read_anyway(list)).collect();
        for list in lists {
            self.ask(For::Census(list, Vec::new()), list.request(), asks);
        }
    }

    /// Whether it is in no list of its kind.
    pub(super) fn is_looked_up(&self, address: &Address) -> bool {
        kinds::api(address).lifecycle(self.look.level).read == Read::LookedUp || address.part().is_some()
    }

    /// Takes from a page what is as the ledger remembers it, and says whether the next one is worth its time.
    pub(super) fn believe(&mut self, list: Census, items: &[Value]) -> bool {
        let mut spared = 0;
        for item in items {
            let Some(request) = list.same(item) else { continue };
            let Some(addresses) = self.lookups.open.get(&request) else { continue };
            let answer = list.answer(item);
            let seen: Option<Vec<(Address, Seen)>> = addresses
                .iter()
                .map(|address| Some((address.clone(), self.as_remembered(address, &answer)?)))
                .collect();
            if let Some(seen) = seen {
                self.live.units.extend(seen);
                self.lookups.open.remove(&request);
                spared += 1;
            }
        }
        let gain = self.lookups.gains.entry(list).or_default();
        gain.pages += 1;
        gain.spared += spared;
        gain.left = gain.left.saturating_sub(spared);
        gain.goes_on()
    }

    /// What an answer shows of something, where that is what the ledger remembers and nothing is under way.
    fn as_remembered(&self, address: &Address, answer: &Value) -> Option<Seen> {
        let owned = self.look.ledger.owned.get(address).filter(|_| !self.look.ledger.open.contains_key(address))?;
        match self.looked_up(address, answer) {
            Ok(Seen::There(mut found)) if found.spec.as_ref() == Some(&owned.spec) => {
                found.spec = Some(owned.spec.clone());
                Some(Seen::There(found))
            }
            _ => None,
        }
    }

    /// Asks for what no list has shown.
    pub(super) fn ask_alone(&mut self, asks: &mut Vec<Ask>) {
        for (request, addresses) in std::mem::take(&mut self.lookups.open) {
            self.ask(For::Lookup(addresses), request, asks);
        }
    }

    fn known_of(&self, address: &Address) -> Option<(Cow<'l, str>, Cow<'l, Value>)> {
        if self.is_looked_up(address) { self.known(address) } else { None }
    }

    /// The id and the content under which something is looked up.
    fn known(&self, address: &Address) -> Option<(Cow<'l, str>, Cow<'l, Value>)> {
        let Look { desired, ledger, .. } = &self.look;
        if let Some(owned) = ledger.owned.get(address) {
            return Some((owned.id.as_str().into(), owned.spec.tree()));
        }
        let intended = ledger.open.get(address).and_then(|open| open.intent.spec.as_ref());
        let spec = desired.get(address).copied().or(intended)?.tree();
        Some((kinds::api(address).own_id(&spec).unwrap_or_default().into(), spec))
    }

    pub(super) fn looked_up(&self, address: &Address, body: &Value) -> Result<Seen, String> {
        let Some((id, known)) = self.known(address) else { return Ok(Seen::Absent) };
        Ok(kinds::api(address).got(&id, &known, body)?.map_or(Seen::Absent, Seen::There))
    }
}
