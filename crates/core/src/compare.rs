//! Comparison of desired state, live state and ledger: the action for each address.
//!
//! Pure: no request, no clock. Crash recovery is decided here too: an intent without an outcome is compared with the
//! live state.

mod applied;
mod begun;
mod fields;
pub(crate) mod gap;
mod index;
mod kept;
mod recovery;
pub(crate) mod renames;
mod similar;
mod situation;
mod stale;
mod units;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use pushplan_ledger::{Intent, Ledger, Owned};
use pushplan_model::address::Address;
use pushplan_model::cores;
use pushplan_model::kinds::remote::{pointed, segments};
use pushplan_model::kinds::{self, Api, Create, Found, Update};
use pushplan_model::node::Shared;
use pushplan_model::nouns::audience::written;
use pushplan_model::nouns::level::Level;
use serde_json::Value;

use crate::live::LiveState;
use crate::plan::{Action, Change, Moved, Reason};
use index::CompareIndex;

pub use applied::Applied;
pub use fields::ignoring;
pub use gap::{found_in_gap, may_be_replaced};
pub use renames::moves;
pub(crate) use situation::Situation;
pub(crate) use units::place_at;
pub use units::{Unit, by_key, digest, taken, units};

/// The result of the comparison for one address.
#[derive(Clone, Debug)]
pub struct Compared {
    pub change: Change,
    /// Its entry in the ledger, after recovery.
    pub owned: Option<Owned>,
    /// The object that a creation with a lost answer made: it is adopted first.
    pub recovered: Option<Box<Found>>,
    /// Whether the ledger is out of date: in a protection, or a value that is the same on all sides.
    pub refresh: bool,
    /// Whether the ledger could record a newer version stamp or ids of pushes. This alone is no reason to write.
    pub restamp: bool,
    /// Whether an intent without effect has to be closed.
    pub close: bool,
    /// Whether a manual step was done: the old resource is removed from the ledger first.
    pub released: bool,
    /// Whether it may have been created in a gap of the ledger, also if it is excluded.
    pub since_gap: bool,
    pub stamp: Option<String>,
}

/// Compares every address that is declared, managed or unconfirmed.
pub(crate) fn compare(situation: &Situation) -> Vec<Compared> {
    let Situation { units, ledger, .. } = situation;
    let addresses: BTreeSet<&Address> = units.keys().chain(ledger.owned.keys()).chain(ledger.open.keys()).collect();
    let mut known = CompareIndex::new(situation);
    // References to a recovered resource use its new id, also before the ledger has adopted it.
    let found = |address: &Address| {
        Some((address.clone(), Comparison::new(situation, address, &known).compared().recovered?.id))
    };
    known.renewed = ledger.open.keys().filter_map(found).collect();
    let one = |address| Comparison::new(situation, address, &known).compared();
    let mut compared: Vec<Compared> = cores::each_of(Vec::from_iter(addresses), one);
    renames::tell(&mut compared, situation);
    compared
}

/// Segments by their ids, with the keys that they have in the project.
#[derive(Debug)]
pub struct Names<'l> {
    keys: BTreeMap<&'l str, &'l str>,
}

impl<'l> Names<'l> {
    pub fn new(ledger: &'l Ledger) -> Self {
        let retired = ledger.retired.iter().filter(|old| is_segment(&old.address));
        let owned = ledger.owned.iter().filter(|(address, _)| is_segment(address));
        let keys = retired
            .map(|old| (old.id.as_str(), old.address.key.as_str()))
            .chain(owned.map(|(address, owned)| (owned.id.as_str(), address.key.as_str())));
        Self { keys: keys.collect() }
    }

    /// The key of a managed segment.
    pub fn key(&self, id: &str) -> Option<&'l str> {
        self.keys.get(id).copied()
    }

    /// The managed segments that a spec names by their ids: keys with their ids.
    pub fn refs(&self, api: &dyn Api, spec: &Value) -> BTreeMap<String, String> {
        let named = segments(api.audiences(), spec).into_iter();
        named.filter_map(|id| Some((self.key(id)?.to_owned(), id.to_owned()))).collect()
    }

    /// Converts ids of segments in a spec to keys.
    pub fn by_key(&self, api: &dyn Api, spec: &Shared) -> Shared {
        pointed(api.audiences(), spec, &mut |reference| match reference.as_str() {
            Some(id) => self.keys.get(id).map_or_else(|| written::outside(id), |key| Value::from(*key)),
            None => reference.clone(),
        })
    }

    /// A managed spec with segments by their keys. A segment that was removed from the ledger since keeps the key under which
    /// this was applied, if the manifests still name it so: the service has what was applied.
    pub fn by_key_of(&self, api: &dyn Api, spec: &Shared, owned: &Owned, desired: Option<&Shared>) -> Shared {
        let wanted = desired.map(|desired| segments(api.audiences(), desired));
        pointed(api.audiences(), spec, &mut |reference| {
            let Some(id) = reference.as_str() else { return reference.clone() };
            let remembered = || owned.refs.iter().find(|(_, known)| *known == id).map(|(key, _)| key.as_str());
            let is_named = |key: &&str| wanted.as_ref().is_none_or(|wanted| wanted.contains(key));
            let key = self.key(id).or_else(|| remembered().filter(is_named));
            key.map_or_else(|| written::outside(id), Value::from)
        })
    }
}

fn is_segment(address: &Address) -> bool {
    address.kind == <kinds::Segment as kinds::Resource>::KEY
}

fn segment_address(key: &str) -> Address {
    Address::new(<kinds::Segment as kinds::Resource>::KEY, key)
}

struct Comparison<'k, 's> {
    situation: &'s Situation<'s>,
    address: &'k Address,
    api: &'static dyn Api,
    known: &'k CompareIndex<'s>,
}

impl<'k, 's> Comparison<'k, 's> {
    /// The live spec of something managed, with segments by their keys.
    fn keyed(&self, spec: &Shared, owned: &Owned) -> Shared {
        let desired = self.situation.units.get(self.address).map(|unit| &unit.spec);
        self.known.names.by_key_of(self.api, spec, owned, desired)
    }

    fn new(situation: &'s Situation<'s>, address: &'k Address, known: &'k CompareIndex<'s>) -> Self {
        Self { situation, address, api: kinds::api(address), known }
    }

    /// The state before anything is decided.
    fn blank(&self, unit: Option<&Unit>, owned: Option<&Owned>) -> Compared {
        let spec = unit.map(|unit| &unit.spec).or(owned.map(|owned| &owned.spec));
        Compared {
            change: Change {
                address: self.address.clone(),
                action: Action::Keep,
                name: spec.map(|spec| self.api.called(spec)).unwrap_or_default(),
                place: unit.and_then(|unit| unit.place.clone()),
                id: None,
                desired: unit.map(|unit| unit.spec.clone()),
                live: None,
                ledger: None,
                moved: None,
                reasons: Vec::new(),
                sends: Vec::new(),
                protect: owned.is_some_and(|owned| owned.protect),
                broadcast: unit.is_some_and(|unit| unit.broadcast),
                ignored: Vec::new(),
            },
            owned: None,
            recovered: None,
            refresh: false,
            since_gap: false,
            restamp: false,
            close: false,
            released: false,
            stamp: None,
        }
    }

    fn compared(&self) -> Compared {
        if let Some(kept) = self.kept() {
            return kept;
        }
        let unit = self.situation.units.get(self.address);
        let mut owned = self.situation.ledger.owned.get(self.address).cloned();
        let mut out = self.blank(unit, owned.as_ref());
        if self.situation.under_way.contains(self.address) {
            out.change.id = owned.as_ref().map(|owned| owned.id.clone());
            out.owned = owned;
            return out;
        }
        let mut seen = Cow::Borrowed(self.situation.live.of(self.address));
        if !self.situation.own_only {
            self.take_by_name(&mut owned, &mut seen);
        }
        if !self.recover(&mut owned, &mut seen, &mut out) {
            out.owned = owned;
            return out;
        }
        if let Some(owned) = &owned {
            out.change.id = Some(owned.id.clone());
            out.change.ledger = Some(owned.spec.clone());
        }
        if let Some(owned) = owned.as_mut().filter(|owned| owned.past && !self.has_begun(owned, &seen)) {
            // An earlier plan marked it as past, but the service lists it as pending.
            owned.past = false;
            out.refresh = true;
        }
        let learns = learn(owned.as_mut(), &seen);
        self.decide(owned.as_ref(), &seen, &mut out);
        out.restamp |= learns && out.change.action == Action::Keep;
        out.owned = owned;
        out
    }

    fn decide(&self, owned: Option<&Owned>, seen: &LiveState, out: &mut Compared) {
        let unit = self.situation.units.get(self.address);
        match (unit, owned) {
            (None, None) => out.close = true,
            (Some(unit), None) => self.undone(unit, seen, out),
            (unit, Some(owned)) if self.has_begun(owned, seen) => {
                self.begun(unit, owned, seen, out);
                self.wait_for_put_off(unit, owned, seen, out);
            }
            (Some(unit), Some(owned)) => {
                self.both(unit, owned, seen, out);
                self.wait_for_replaced(owned, seen, out);
            }
            (None, Some(owned)) => self.undeclared(owned, seen, out),
        }
    }

    /// Decides about a declared unit that is not managed yet.
    fn undone(&self, unit: &Unit, seen: &LiveState, out: &mut Compared) {
        let name = self.api.called(&unit.spec);
        let (mut ids, mut waits) = (Vec::new(), Vec::new());
        if self.address.part().is_none() {
            let others = self.known.others(self.address, &name);
            ids.extend(self.foreign(others.iter().copied(), &mut waits).map(|found| found.id.clone()));
        }
        if let LiveState::There(found) = seen {
            out.change.live = found.spec.as_ref().map(|spec| self.known.names.by_key(self.api, spec));
            let identity = self.api.identity(&unit.spec);
            let is_ours = identity.is_some_and(|identity| self.known.is_ours(&self.address.kind, identity));
            if ids.is_empty() && waits.is_empty() && !is_ours {
                ids.push(found.id.clone());
            }
        }
        if ids.is_empty() && !waits.is_empty() {
            out.change.action = Action::ByHand;
            out.change.reasons.push(Reason::Blocked { by: waits });
            return;
        }
        if !ids.is_empty() {
            out.change.action = Action::ByHand;
            out.change.reasons.push(Reason::Collision { ids });
            return;
        }
        let late = if self.api.has_runs() { self.situation.too_late(self.api, &unit.spec) } else { None };
        let is_over = matches!(late, Some(Reason::TooLate { at }) if at <= self.situation.now);
        out.change.action = if unit.record && is_over { Action::Past } else { Action::Create };
        out.change.reasons.extend(late);
        if out.change.action == Action::Create {
            self.wait_for_gap(out);
        }
    }

    fn both(&self, unit: &Unit, owned: &Owned, seen: &LiveState, out: &mut Compared) {
        let life = self.api.lifecycle(self.situation.level);
        let found = match seen {
            LiveState::There(found) => Some(found),
            LiveState::Untold => None,
            LiveState::Absent => {
                out.change.moved = Some(Moved::Removed);
                if life.create == Create::Once {
                    out.change.action = Action::ByHand;
                    out.change.reasons.push(Reason::NeverTwice);
                } else if !self.collides(&unit.spec, out) {
                    out.change.action = Action::Create;
                }
                return;
            }
        };
        let mut live = match found.and_then(|found| found.spec.as_ref()) {
            Some(spec) => self.keyed(spec, owned),
            None => owned.spec.clone(),
        };
        live.join(&owned.spec);
        self.hold_against(&live, unit, owned, found, out);
        out.change.live = Some(live);
    }

    /// Compares a unit with the live spec, which names managed segments by their keys.
    fn hold_against(&self, live: &Shared, unit: &Unit, owned: &Owned, found: Option<&Found>, out: &mut Compared) {
        let (desired, ignored) = fields::ignoring(&unit.spec, live, &unit.ignore);
        out.change.ignored = ignored;
        if let Cow::Owned(desired) = &desired {
            out.change.desired = Some(desired.clone().into());
        }
        // A stamp belongs to content that was read.
        out.stamp = found.filter(|found| found.spec.is_some()).and_then(|found| found.stamp.clone());
        let stale = self.stale(&desired, live, owned, found);
        // Fields that are left to the dashboard count as unchanged on both sides.
        let (applied, _) = fields::ignoring(&owned.spec, live, &unit.ignore);
        let is_same = same(&desired, live);
        out.change.moved = moved(&desired, live, &applied);
        let protected = unit.protect.unwrap_or(owned.protect);
        if owned.protect && !protected {
            out.change.reasons.push(Reason::Unprotected);
        }
        if is_same && stale.is_empty() {
            out.restamp = out.stamp.is_some() && out.stamp != owned.stamp || is_rezoned(unit, owned, self.address);
            out.refresh |= !same(&owned.spec, &desired) || owned.protect != protected;
            out.refresh |= self.is_repointed(&desired, owned, found);
            return;
        }
        out.change.reasons.extend(self.pointing(stale, live, owned, found));
        let renames = self.api.name(&desired) != self.api.name(live);
        if !(renames && self.collides(&desired, out)) {
            self.change(&desired, live, owned, out);
        }
    }

    /// Whether an unmanaged object has the name that a resource needs, and is not turned off.
    fn collides(&self, desired: &Value, out: &mut Compared) -> bool {
        if self.address.part().is_some() || self.api.lifecycle(self.situation.level).create == Create::Upsert {
            return false;
        }
        let others = self.known.others(self.address, &self.api.name(desired));
        let mut waits = Vec::new();
        let ids = in_the_way(self.api, self.foreign(others.iter().copied(), &mut waits));
        let why = match (ids.is_empty(), waits.is_empty()) {
            (false, _) => Reason::Collision { ids },
            (true, false) => Reason::Blocked { by: waits },
            (true, true) => return false,
        };
        out.change.action = Action::ByHand;
        out.change.reasons.push(why);
        true
    }

    /// Drops objects that an unconfirmed creation at another address may have created, and adds that address to `waits`.
    fn foreign<'f>(
        &self,
        others: impl Iterator<Item = &'f Found>,
        waits: &mut Vec<Address>,
    ) -> impl Iterator<Item = &'f Found> {
        let mut foreign = Vec::new();
        for found in others {
            let is_it = |(address, id): (&Address, &String)| address.kind == self.address.kind && *id == found.id;
            let may_be = |intent: &&&Intent| intent.address != *self.address && !intent.seen.contains(&found.id);
            let mut sought = self.known.sought(&self.address.kind, &found.name).iter();
            match sought.find(may_be) {
                _ if self.known.renewed.iter().any(is_it) => {}
                Some(intent) if waits.contains(&intent.address) => {}
                Some(intent) => waits.push(intent.address.clone()),
                None => foreign.push(found),
            }
        }
        foreign.into_iter()
    }

    /// Decides how a change is made, as the API allows it.
    fn change(&self, desired: &Value, live: &Value, owned: &Owned, out: &mut Compared) {
        let Situation { level, .. } = self.situation;
        let (action, reason) = how(self.api, *level, &owned.id, live, desired);
        out.change.action = action;
        out.change.reasons.extend(reason);
        out.change.reasons.extend(self.situation.too_late(self.api, desired));
        let is_late = out.change.reasons.iter().any(|reason| matches!(reason, Reason::TooLate { .. }));
        if is_late && out.change.moved == Some(Moved::Service) {
            // Someone postponed it on the service, and its declared time is over: a person has to decide whether it is
            // still sent.
            out.change.action = Action::ByHand;
        }
        by_hand_done(self.situation, owned, out);
    }

    fn undeclared(&self, owned: &Owned, seen: &LiveState, out: &mut Compared) {
        let live = match seen {
            LiveState::There(found) => found.spec.as_ref().map(|spec| self.keyed(spec, owned)),
            _ => Some(owned.spec.clone()),
        };
        if !self.situation.deletes {
            return;
        }
        out.change.live = live;
        let life = self.api.lifecycle(self.situation.level);
        match life.delete.is_possible(self.has_begun(owned, seen)) {
            _ if *seen == LiveState::Absent => {
                out.change.action = Action::Forget;
                out.change.moved = Some(Moved::Removed);
                out.change.live = None;
            }
            true => {
                out.change.action = Action::Delete;
                // The deletion also deletes edits made on the service.
                out.change.moved = out.change.live.as_ref().filter(|live| **live != owned.spec).map(|_| Moved::Both);
            }
            false => {
                out.change.action = Action::ByHand;
                out.change.reasons.push(Reason::InDashboard { old: Some(owned.id.clone()) });
                by_hand_done(self.situation, owned, out);
            }
        }
    }
}

/// Whether two specs are equal. Most are one value that is shared.
fn same(one: &Value, other: &Value) -> bool {
    std::ptr::eq(one, other) || one == other
}

/// The sides that changed since the last apply; none if they agree.
fn moved(desired: &Value, live: &Value, applied: &Value) -> Option<Moved> {
    match (same(desired, applied), same(live, applied)) {
        _ if same(desired, live) => None,
        (false, true) => Some(Moved::Git),
        (true, false) => Some(Moved::Service),
        _ => Some(Moved::Both),
    }
}

/// Whether its times were written in another zone than now. The ledger then records the new zone.
fn is_rezoned(unit: &Unit, owned: &Owned, address: &Address) -> bool {
    owned.zone.is_some() && unit.zone(address) != owned.zone
}

/// Takes over the ids of reports. The ledger may lack them after a lost answer or a decision of a person.
fn learn(owned: Option<&mut Owned>, seen: &LiveState) -> bool {
    let (Some(owned), LiveState::There(found)) = (owned, seen) else { return false };
    if found.push_ids.is_empty() || found.push_ids == owned.push_ids {
        return false;
    }
    owned.push_ids.clone_from(&found.push_ids);
    true
}

/// The live spec, if the service shows it.
fn shown(seen: &LiveState) -> Option<&Shared> {
    match seen {
        LiveState::There(found) => found.spec.as_ref(),
        LiveState::Absent | LiveState::Untold => None,
    }
}

/// The ids of objects that are not turned off.
fn in_the_way<'f>(api: &dyn Api, others: impl IntoIterator<Item = &'f Found>) -> Vec<String> {
    let is_off = |found: &Found| found.spec.as_ref().is_some_and(|spec| api.is_off(spec));
    others.into_iter().filter(|found| !is_off(found)).map(|found| found.id.clone()).collect()
}

/// How the API allows a managed resource to change from its live to its desired state.
pub fn how(api: &dyn Api, level: Level, id: &str, live: &Value, desired: &Value) -> (Action, Option<Reason>) {
    let in_dashboard = || Reason::InDashboard { old: Some(id.to_owned()) };
    match api.lifecycle(level).update {
        Update::InPlace if api.update(id, live, desired, level).is_some() => (Action::Update, None),
        Update::InPlace | Update::Replacing => (Action::Replace, Some(Reason::NotInPlace)),
        Update::Never => (Action::ByHand, Some(in_dashboard())),
    }
}

/// Handles a report by a user that the old resource is turned off: if the service lists it, this is checked.
pub(crate) fn by_hand_done(situation: &Situation, owned: &Owned, out: &mut Compared) {
    let address = &out.change.address;
    let is_in_dashboard = |reason: &Reason| matches!(reason, Reason::InDashboard { .. });
    if !out.change.reasons.iter().any(is_in_dashboard) || !situation.done.contains(address) {
        return;
    }
    let off = match situation.live.of(address) {
        LiveState::There(found) => found.spec.as_ref().is_some_and(|spec| kinds::api(address).is_off(spec)),
        LiveState::Absent | LiveState::Untold => true,
    };
    if !off {
        return;
    }
    out.change.reasons.retain(|reason| !is_in_dashboard(reason));
    out.change.id = Some(owned.id.clone());
    if let Some(desired) = &out.change.desired {
        let (api, ours) = (kinds::api(address), situation.ledger.ids());
        let name = api.name(desired);
        let others = situation.live.named(&address.kind, &name);
        let ids = in_the_way(api, others.filter(|found| !ours.contains(&(&*address.kind, found.id.as_str()))));
        if !ids.is_empty() {
            out.change.reasons.push(Reason::Collision { ids });
            return;
        }
    }
    out.released = true;
    out.change.action = if out.change.desired.is_some() { Action::Create } else { Action::Forget };
}
