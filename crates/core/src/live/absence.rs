//! Proof that a managed resource is gone: its own answer, or two lists a settle time apart.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use jiff::Timestamp;
use pushplan_ledger::{Ledger, Settling, Verb};
use pushplan_model::address::Address;
use pushplan_model::exchange::Request;
use pushplan_model::kinds::{self, KINDS, Kind, Read};
use pushplan_model::node::Shared;
use pushplan_model::nouns::level::Level;
use serde_json::Value;

use super::{Ask, Fetch, For, LiveState, Look, Stage};

impl<'l> Fetch<'l> {
    /// The resources that are, or may be, managed and are in no list so far.
    pub fn missing(&self) -> impl Iterator<Item = &Address> {
        self.missing.iter().chain(&self.sought)
    }

    /// Reads the content of missing resources that are listed after all, and requests the others separately. Also reads
    /// newly listed resources if all contents are requested.
    pub(super) fn read_missing(&mut self, asks: &mut Vec<Ask>) {
        let level = self.look.level;
        let missing: BTreeSet<Cow<str>> = self.missing.iter().map(|address| self.memory(address).id).collect();
        let again: BTreeSet<&str> = self.missing().map(|address| &*address.kind).collect();
        let is_read = |kind: &&Kind| again.contains(kind.key) && kind.api.lifecycle(level).read == Read::ListedThenGet;
        let mut unread = Vec::new();
        for kind in KINDS.iter().filter(is_read) {
            let ids: BTreeSet<String> =
                self.without_content(kind).into_iter().chain(self.unread_candidates(kind)).collect();
            let ids = ids.into_iter().filter(|id| !missing.contains(id.as_str()));
            unread.extend(ids.filter_map(|id| Some((kind, kind.api.get(&id, &Value::Null, level)?, id))));
        }
        for (kind, request, id) in unread {
            self.ask(For::Content(kind, id), request, asks);
        }
        for address in self.missing.clone() {
            let (api, id) = (kinds::api(&address), self.memory(&address).id);
            let found = self.listed(&address.kind, &id);
            if let (None, Some(request)) = (found, self.get(&address, level)) {
                self.missing.remove(&address);
                self.ask(For::Absence(address), request, asks);
                continue;
            }
            let unread = found.is_some_and(|found| found.spec.is_none());
            if let (true, Some(request)) = (unread, api.get(&id, &Value::Null, level)) {
                self.ask(For::Content(kinds::of(&address), id.into_owned()), request, asks);
            }
        }
    }

    /// Whether the absence of a resource needs a second proof: if an existing one were forgotten, it would be left
    /// unmanaged.
    pub(super) fn is_confirmed(&self, address: &Address) -> bool {
        let Look { ledger, confirm_absence, .. } = &self.look;
        let is_unknown = self.looks_twice() && created(ledger, address).is_some();
        *confirm_absence && (ledger.owned.contains_key(address) || is_unknown)
    }

    /// Finds a managed resource in the lists.
    pub(super) fn find(&mut self, address: &Address, id: &str) {
        let api = kinds::api(address);
        let seen = match api.lifecycle(self.look.level).read {
            Read::LedgerOnly => LiveState::Untold,
            _ if self.listed(&address.kind, id).is_some() => return,
            _ if !self.live.whole.contains(&*address.kind) => LiveState::Untold,
            _ if !self.look.confirm_absence => LiveState::Absent,
            _ => {
                self.missing.insert(address.clone());
                return;
            }
        };
        self.live.units.insert(address.clone(), seen);
    }

    /// Continues when all answers are in. The state of listed managed resources is known; the others are requested
    /// separately, or searched in another list a settle time later.
    pub(super) fn settle(&mut self, now: Timestamp, asks: &mut Vec<Ask>) {
        let Look { ledger, level, settle, confirm_absence, .. } = self.look.clone();
        // Listed, but their own answers are 404: a second list decides.
        let mut contradicted = BTreeSet::new();
        for (address, owned) in &ledger.owned {
            if !self.live.units.contains_key(address)
                && let Some(found) = self.live.listed.get_mut(&*address.kind).and_then(|all| all.get_mut(&owned.id))
            {
                if let Some(spec) = &mut found.spec {
                    spec.join(&owned.spec);
                }
                // A stale list can have the stamp from before an update together with the content from after it.
                let is_by_itself = kinds::api(address).lifecycle(level).read == Read::ListedThenGet;
                if is_by_itself
                    && found.stamp != owned.stamp
                    && owned.applied.checked_add(settle).is_ok_and(|settled| settled > now)
                {
                    found.stamp = None;
                }
                let seen = LiveState::There(found.clone());
                self.live.units.insert(address.clone(), seen);
            } else if !self.live.units.contains_key(address) && !self.missing.contains(address) {
                if confirm_absence {
                    self.missing.insert(address.clone());
                    contradicted.insert(address);
                } else {
                    self.live.units.insert(address.clone(), LiveState::Absent);
                }
            }
        }
        self.begin_search();
        self.ask_for_sends(1, now, asks);
        if self.missing().next().is_none() {
            self.stage = Stage::Done;
            return;
        }
        // A resource that was just created may not be visible yet, neither in a list nor separately.
        let settling =
            Settling { settle, read_at: now, clock: None, is_over: false, by_own_clock: self.look.proof.by_own_clock };
        let at = self.sends.at;
        let visible = |address: &Address| {
            let memory = Memory::of(ledger, address);
            // The service takes no time that has passed: whatever gave it its last one has settled by the service's clock.
            let runs = kinds::api(address).runs(memory.spec);
            match at.zip(runs).is_some_and(|(at, runs)| runs.is_over(at, settle)) {
                true => now,
                false => settling.after(memory.at).unwrap_or(now),
            }
        };
        let second_list = now.saturating_add(settle).unwrap_or(now);
        let mut until = if self.sought.is_empty() { now } else { second_list };
        for address in self.missing.clone() {
            // Whether an earlier run deleted it is unknown: its own answer is not enough.
            let is_unknown = self.looks_twice() && ledger.open.contains_key(&address);
            // Another resource may have replaced it in a gap of the ledger: a complete list shows that one.
            let needs_list = is_unknown || self.has_gap() || contradicted.contains(&address);
            match self.get(&address, level).filter(|_| !needs_list) {
                Some(request) if now >= visible(&address) => {
                    self.missing.remove(&address);
                    self.ask(For::Absence(address), request, asks);
                }
                Some(_) => until = until.max(visible(&address)),
                None => until = until.max(visible(&address)).max(second_list),
            }
        }
        if self.missing().next().is_some() && self.open.is_empty() {
            self.stage = Stage::Waiting(until);
            asks.push(Ask::WaitUntil(until));
        }
    }

    fn get(&self, address: &Address, level: Level) -> Option<Request> {
        let Memory { id, spec, .. } = self.memory(address);
        kinds::api(address).get(&id, spec, level)
    }

    pub(super) fn memory(&self, address: &Address) -> Memory<'l> {
        Memory::of(self.look.ledger, address)
    }
}

/// The ledger's state of a resource that is managed, or that an earlier run was about to create.
#[derive(Debug)]
pub struct Memory<'l> {
    pub id: Cow<'l, str>,
    pub spec: &'l Shared,
    /// When it was recorded.
    pub at: Timestamp,
}

static NOTHING: LazyLock<Shared> = LazyLock::new(Shared::default);

impl<'l> Memory<'l> {
    /// Returns an empty state if the ledger does not know the address.
    fn of(ledger: &'l Ledger, address: &Address) -> Self {
        if let Some(owned) = ledger.owned.get(address) {
            return Self { id: Cow::Borrowed(&owned.id), spec: &owned.spec, at: owned.applied };
        }
        match created(ledger, address) {
            Some((spec, at)) => Self { id: kinds::api(address).own_id(spec).unwrap_or_default().into(), spec, at },
            None => Self { id: Cow::Borrowed(""), spec: &NOTHING, at: Timestamp::UNIX_EPOCH },
        }
    }
}

/// The content of a creation in an unknown state, and when it was intended.
fn created<'l>(ledger: &'l Ledger, address: &Address) -> Option<(&'l Shared, Timestamp)> {
    let open = ledger.open.get(address).filter(|open| open.intent.verb == Verb::Create)?;
    Some((open.intent.spec.as_ref()?, open.at))
}
