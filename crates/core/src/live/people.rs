//! Reading people and devices: many of them in their lists, the others one by one.
//!
//! A list counts for exactly those that it shows as in the ledger. All others are read separately, as if there were no
//! list: lists save requests and change no answer.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use pushplan_ledger::{Ledger, Verb};
use pushplan_model::address::Address;
use pushplan_model::cores;
use pushplan_model::exchange::{BadAnswer, Request};
use pushplan_model::kinds::{self, Census, Found, Read};
use pushplan_model::nouns::level::Level;
use serde_json::Value;

use super::{Ask, Fetch, For, LiveState, Look};

/// Up to this number are read one by one, without their list.
const FEW: usize = 4;
/// The number of lookups that take as long as one page: pages are read one after the other, lookups concurrently.
const PAGE: usize = 8;

/// The lookups, and how many of them lists save.
#[derive(Debug, Default)]
pub(super) struct Lookups {
    /// The addresses that each request covers.
    open: Alone,
    gains: BTreeMap<Census, Gain>,
}

/// Managed people and devices whose state in lists agrees with the ledger.
#[derive(Debug, Default)]
pub struct People {
    pub(super) seen: BTreeMap<Address, Found>,
    /// The requests for those who are not shown like that, or are further back than is worth reading. Another read of
    /// the list would not help.
    pub(super) left: BTreeSet<Request>,
}

impl People {
    pub fn extend(&mut self, other: Self) {
        self.seen.extend(other.seen);
        self.left.extend(other.left);
    }
}

/// The benefit of reading a list so far.
#[derive(Debug, Default)]
pub(super) struct Gain {
    /// How many lookups it may still save.
    left: usize,
    spared: usize,
    pages: usize,
}

impl Gain {
    pub fn of(left: usize) -> Self {
        Self { left, ..Self::default() }
    }

    /// Whether the list is worth reading.
    pub fn is_much(&self) -> bool {
        self.left > FEW
    }

    /// Notes how many lookups another page has saved, and returns whether the next one is worth reading.
    pub fn page(&mut self, spared: usize) -> bool {
        self.pages += 1;
        self.spared += spared;
        self.left = self.left.saturating_sub(spared);
        self.goes_on()
    }

    /// Whether another page is likely to save more time than it takes. A list may be far longer than the number of
    /// lookups, or have all of them at its end: an eighth of the remaining lookups is spent on searching.
    fn goes_on(&self) -> bool {
        self.is_much() && self.pages * PAGE <= self.spared + self.left / 8
    }
}

impl<'l> Fetch<'l> {
    /// Finds the required lookups, and requests the first pages of the lists that may save them.
    pub(super) fn begin_lookups(&mut self, mut prefetched: People, asks: &mut Vec<Ask>) {
        let Look { level, ledger, desired, .. } = self.look.clone();
        let in_doubt = ledger.open.iter().filter(|(_, open)| open.intent.verb == Verb::Create);
        let in_doubt = in_doubt.map(|(address, _)| address);
        let all: BTreeSet<&Address> = desired.keys().copied().chain(ledger.owned.keys()).chain(in_doubt).collect();
        for address in all {
            // The address may now belong to another resource with a previously different key.
            let is_of = |found: &Found| {
                let owned = ledger.owned.get(address).filter(|owned| owned.id == found.id);
                owned.is_some_and(|owned| found.spec.as_ref() == Some(&owned.spec))
            };
            if let Some(found) = prefetched.seen.remove(address).filter(is_of) {
                // Both share one text, also if the ledger has since been joined with that of the manifests.
                let spec = ledger.owned.get(address).map(|owned| owned.spec.clone());
                self.live.units.insert(address.clone(), LiveState::There(Found { spec, ..found }));
                continue;
            }
            let Some((id, known)) = self.known_of(address) else { continue };
            match kinds::api(address).get(&id, &known, level) {
                Some(request) => self.lookups.open.entry(request).or_default().push(address.clone()),
                None => drop(self.live.units.insert(address.clone(), LiveState::Absent)),
            }
        }
        let Lookups { open, gains } = &mut self.lookups;
        for (request, addresses) in open {
            let is_settled =
                |address: &Address| ledger.owned.contains_key(address) && !ledger.open.contains_key(address);
            if let Some(list) = Census::showing(request)
                .filter(|_| addresses.iter().all(is_settled) && !prefetched.left.contains(request))
            {
                gains.entry(list).or_default().left += 1;
            }
        }
        let lists: Vec<Census> = gains.iter().filter(|(_, gain)| gain.is_much()).map(|(list, _)| *list).collect();
        let read_anyway = |list: &Census| {
            self.open.values().any(|(purpose, _)| matches!(purpose, For::Census(other, _) if other == list))
        };
        let lists: Vec<Census> = lists.into_iter().filter(|list| !read_anyway(list)).collect();
        for list in lists {
            self.ask(For::Census(list, Vec::new()), list.request(), asks);
        }
    }

    /// Whether a resource is in no list of its kind.
    pub(super) fn is_looked_up(&self, address: &Address) -> bool {
        is_looked_up(address, self.look.level)
    }

    /// Takes resources that agree with the ledger from a page, and returns whether the next one is worth reading.
    pub(super) fn believe(&mut self, list: Census, items: &[Value]) -> bool {
        let mut spared = 0;
        let shown = cores::each(items, |item| shown(&self.lookups.open, self.look.ledger, list, item));
        for (request, seen) in shown.into_iter().flatten() {
            if self.lookups.open.remove(&request).is_some() {
                self.live.units.extend(seen.into_iter().map(|(address, found)| (address, LiveState::There(found))));
                spared += 1;
            }
        }
        self.lookups.gains.entry(list).or_default().page(spared)
    }

    /// Requests the resources that no list has shown.
    pub(super) fn ask_alone(&mut self, asks: &mut Vec<Ask>) {
        for (request, addresses) in std::mem::take(&mut self.lookups.open) {
            self.ask(For::Lookup(addresses), request, asks);
        }
    }

    fn known_of(&self, address: &Address) -> Option<(Cow<'l, str>, Cow<'l, Value>)> {
        if self.is_looked_up(address) { self.known(address) } else { None }
    }

    /// The id and the content for a lookup.
    fn known(&self, address: &Address) -> Option<(Cow<'l, str>, Cow<'l, Value>)> {
        let Look { desired, ledger, .. } = &self.look;
        if let Some(owned) = ledger.owned.get(address) {
            return Some((owned.id.as_str().into(), owned.spec.tree()));
        }
        let intended = ledger.open.get(address).and_then(|open| open.intent.spec.as_ref());
        let spec = desired.get(address).copied().or(intended)?.tree();
        Some((kinds::api(address).own_id(&spec).unwrap_or_default().into(), spec))
    }

    pub(super) fn looked_up(&self, address: &Address, body: &Value) -> Result<LiveState, BadAnswer> {
        let Some((id, known)) = self.known(address) else { return Ok(LiveState::Absent) };
        Ok(kinds::api(address).got(&id, &known, body)?.map_or(LiveState::Absent, LiveState::There))
    }
}

/// Whether a resource is in no list of its kind.
pub(super) fn is_looked_up(address: &Address, level: Level) -> bool {
    kinds::api(address).lifecycle(level).read == Read::LookedUp || address.part().is_some()
}

/// The addresses that each lookup covers.
pub(super) type Alone = BTreeMap<Request, Vec<Address>>;

/// The lookup that an item of a list saves, and the resources that it shows, if all of them agree with the ledger.
pub(super) fn shown(
    alone: &Alone,
    ledger: &Ledger,
    list: Census,
    item: &Value,
) -> Option<(Request, Vec<(Address, Found)>)> {
    let request = list.same(item)?;
    let addresses = alone.get(&request)?;
    let answer = list.answer(item);
    let found = addresses.iter().map(|address| Some((address.clone(), as_remembered(ledger, address, &answer)?)));
    let found = found.collect::<Option<_>>()?;
    Some((request, found))
}

/// The state of a resource in an answer, if it agrees with the ledger and no request is unconfirmed.
fn as_remembered(ledger: &Ledger, address: &Address, answer: &Value) -> Option<Found> {
    let owned = ledger.owned.get(address).filter(|_| !ledger.open.contains_key(address))?;
    let found = kinds::api(address).got(&owned.id, &owned.spec.tree(), answer).ok()??;
    let is_same = found.spec.as_ref() == Some(&owned.spec);
    is_same.then(|| Found { spec: Some(owned.spec.clone()), ..found })
}
