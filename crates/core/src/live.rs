//! Fetching the live state: a pure machine that returns requests and computes the live state from their answers.
//!
//! It only reads. Its driver sends the requests: the client over HTTP, the simulation to a model.

mod absence;
mod census;
mod dispensable;
mod pages;
mod people;
mod prefetched;
mod remembered;
mod sends;
mod unknown;

use absence::Memory;

pub use pages::Pages;
pub use people::People;
pub use prefetched::{PrefetchedLists, Sought, items, take_page};

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::{SignedDuration, Timestamp};
use pushplan_ledger::Ledger;
use pushplan_model::address::Address;
use pushplan_model::cores;
use pushplan_model::exchange::{Answer, BadAnswer, Meaning, Request};
use pushplan_model::kinds::{self, Census, Counted, Found, KINDS, Kind, Read};
use pushplan_model::node::Shared;
use pushplan_model::nouns::level::Level;
use serde_json::Value;

/// The inputs of a fetch.
#[derive(Clone, Debug)]
pub struct Look<'l> {
    pub level: Level,
    /// Scheme, host and port: pages elsewhere are not followed.
    pub origin: &'l str,
    /// The settle time of the service.
    pub settle: SignedDuration,
    /// The declared resources.
    pub desired: &'l BTreeMap<&'l Address, &'l Shared>,
    pub ledger: &'l Ledger,
    /// Whether to list kinds without any declared or managed resource: all kinds that the service lists, except
    /// resources of single people.
    pub all_kinds: bool,
    /// The kinds whose resources are all read, managed or not: the contents of listed ones, and those of single people.
    pub contents: &'l BTreeSet<&'static str>,
    /// Whether absence from a list is confirmed. Only the simulation turns this off.
    pub confirm_absence: bool,
    /// Whether creations in an unknown state are searched for: a plan decides about them, other readers ignore them.
    pub recovers: bool,
    pub proof: Proof,
}

/// The rules for proofs. All are on; the simulation turns them off one by one to check that it detects the harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// A resource in an unknown state is absent only if two lists a settle time apart do not contain it.
    pub two_lists: bool,
    /// A resource that leaves lists after it was sent is absent only if the service reports no unknown push.
    pub reported_sends: bool,
    /// An updated resource is read again until its content was seen together with a version stamp.
    pub reread_updated: bool,
    /// Times that another machine recorded are not compared with this machine's clock.
    pub by_own_clock: bool,
}

impl Default for Proof {
    fn default() -> Self {
        Self { two_lists: true, reported_sends: true, reread_updated: true, by_own_clock: true }
    }
}

/// The next task of the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Send this request and return its answer with the number.
    Get(usize, Request),
    /// Report when this time has passed.
    WaitUntil(Timestamp),
}

/// The live state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Live {
    /// All listed resources, by kind and id.
    pub listed: BTreeMap<&'static str, BTreeMap<String, Found>>,
    /// The kinds whose lists are known to be complete.
    pub whole: BTreeSet<&'static str>,
    /// The creations in an unknown state that are proven to have had no effect: two complete lists, a settle time
    /// apart, do not contain them, and they were not sent either.
    pub disproved: BTreeSet<Address>,
    /// The deletions without an answer whose resources are in no list and were not sent, according to the service's
    /// reports of pushes.
    pub unsent: BTreeSet<Address>,
    /// The kinds without any declared or managed resource whose lists could not be read completely, and why.
    pub unlisted: BTreeMap<&'static str, String>,
    /// Managed and declared resources, by address.
    pub units: BTreeMap<Address, LiveState>,
    /// The content of lists of people and devices for each kind, by resource and part. Only for kinds that are read
    /// completely.
    pub counted: BTreeMap<&'static str, BTreeMap<census::CensusKey, Counted>>,
}

/// The live state of one resource.
#[derive(Clone, Debug, PartialEq)]
pub enum LiveState {
    There(Found),
    Absent,
    /// The service does not show it: its state in the ledger counts.
    Untold,
}

impl Live {
    pub fn of(&self, address: &Address) -> &LiveState {
        self.units.get(address).unwrap_or(&LiveState::Untold)
    }

    /// All listed resources, with their kinds.
    pub fn listed(&self) -> impl Iterator<Item = (&'static Kind, &Found)> {
        let known = KINDS.iter().filter_map(|kind| Some((kind, self.listed.get(kind.key)?)));
        known.flat_map(|(kind, all)| all.values().map(move |found| (kind, found)))
    }

    /// All listed resources, by kind and name, for callers with many names.
    pub fn by_name(&self) -> HashMap<(&str, &str), Vec<&Found>> {
        let mut named: HashMap<(&str, &str), Vec<&Found>> = HashMap::new();
        for (kind, found) in self.listed() {
            named.entry((kind.key, &found.name)).or_default().push(found);
        }
        named
    }

    /// The resources of a kind with a name.
    pub fn named<'s>(&'s self, kind: &str, name: &'s str) -> impl Iterator<Item = &'s Found> {
        self.listed.get(kind).into_iter().flat_map(BTreeMap::values).filter(move |found| found.name == name)
    }
}

/// The purpose of a request.
#[derive(Clone, Debug)]
enum For {
    Page(&'static Kind),
    /// A page of people or devices, for all kinds that are counted there, and for lookups.
    Census(Census, Vec<&'static Kind>),
    /// The content of one listed resource.
    Content(&'static Kind, String),
    /// Whether a resource that is in no list exists anyway.
    Absence(Address),
    /// All addresses that one lookup covers.
    Lookup(Vec<Address>),
    /// A page of the report of pushes.
    Sends,
}

/// A running fetch.
#[derive(Debug)]
pub struct Fetch<'l> {
    look: Look<'l>,
    live: Live,
    /// The kinds whose lists are required.
    needed: BTreeSet<&'static str>,
    open: BTreeMap<usize, (For, Request)>,
    next: usize,
    pages: pages::Pages,
    lookups: people::Lookups,
    stage: Stage,
    /// Managed resources that are in no list so far.
    missing: BTreeSet<Address>,
    /// Creations in an unknown state that are in no list so far.
    sought: BTreeSet<Address>,
    sends: sends::Sends,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Listing,
    /// All lists are read; contents and lookups are being read.
    Reading,
    /// A wait of a settle time before missing resources are searched again.
    Waiting(Timestamp),
    ListingAgain,
    ReadingAgain,
    Done,
}

impl<'l> Fetch<'l> {
    pub fn start(look: Look<'l>, now: Timestamp) -> (Self, Vec<Ask>) {
        Self::start_from(PrefetchedLists::default(), look, now)
    }

    /// Starts a fetch from lists that were fetched before. They were requested after the ledger was read.
    pub fn start_from(prefetched: PrefetchedLists, look: Look<'l>, now: Timestamp) -> (Self, Vec<Ask>) {
        let mut fetch = Self {
            needed: dispensable::needed(&look),
            look,
            live: Live { listed: prefetched.listed, ..Live::default() },
            open: BTreeMap::new(),
            next: 0,
            pages: pages::Pages::default(),
            lookups: people::Lookups::default(),
            stage: Stage::Listing,
            missing: BTreeSet::new(),
            sought: BTreeSet::new(),
            sends: sends::Sends::default(),
        };
        fetch.sends.at = prefetched.at;
        let mut asks = Vec::new();
        fetch.list(&mut asks);
        fetch.take_census(&mut asks);
        fetch.begin_lookups(prefetched.people, &mut asks);
        fetch.go_on(now, &mut asks);
        (fetch, asks)
    }

    /// Takes in an answer.
    pub fn on(&mut self, number: usize, answer: &Answer, now: Timestamp) -> Result<Vec<Ask>, BadAnswer> {
        let beside = self.beside(number);
        match (self.take_in(number, answer, now), beside) {
            (Err(why), Some(beside)) => Ok(self.do_without(beside, why.to_string(), now)),
            (taken, _) => taken,
        }
    }

    fn take_in(&mut self, number: usize, answer: &Answer, now: Timestamp) -> Result<Vec<Ask>, BadAnswer> {
        let Some((purpose, request)) = self.open.remove(&number) else { return Ok(Vec::new()) };
        let mut asks = Vec::new();
        self.sends.at = self.sends.at.max(answer.at);
        let meaning = answer.meaning();
        let failed = || Err(format!("{request} failed: {}", answer.error()).into());
        let body = answer.body.as_ref().unwrap_or(&Value::Null);
        match purpose {
            For::Page(kind) if meaning == Meaning::Done => {
                // Version stamps are times of the service, and so is this one.
                self.page(kind, &request, body, answer.at.unwrap_or(now), &mut asks)?;
            }
            For::Census(list, kinds) if meaning == Meaning::Done => {
                self.count(list, kinds, &request, body, &mut asks)?;
            }
            For::Page(_) | For::Census(..) => return failed(),
            For::Content(kind, id) => match meaning {
                Meaning::Done => {
                    let got = match kind.api.got(&id, &Value::Null, body) {
                        // Unmanaged resources may have an unknown form, which is no reason to fail.
                        Err(_) if !self.may_be_ours(kind, &id) => None,
                        got => got.map_err(|why| format!("{request}: {why}"))?,
                    };
                    let known = self.live.listed.entry(kind.key).or_default();
                    if let (Some(known), Some(got)) = (known.get_mut(&id), got) {
                        known.spec = got.spec;
                        known.name = got.name;
                    }
                }
                // One answer does not outweigh the list: it may be what an earlier run created.
                Meaning::Missing if self.looks_twice() && self.is_candidate(kind, &id) => {}
                // The second list contains it as well, or it may have been created in a gap of the ledger:
                // contradictory answers prove nothing.
                Meaning::Missing
                    if self.has_gap() || self.stage == Stage::ReadingAgain && self.may_be_ours(kind, &id) =>
                {
                    return Err(contradicts_list(&request).into());
                }
                // It was deleted since it was listed.
                Meaning::Missing => drop(self.live.listed.entry(kind.key).or_default().remove(&id)),
                _ => return failed(),
            },
            For::Absence(address) => match meaning {
                Meaning::Done => {
                    let Memory { id, spec, .. } = self.memory(&address);
                    let got = kinds::api(&address).got(&id, spec, body);
                    let seen = match got.map_err(|why| format!("{request}: {why}"))? {
                        Some(found) => LiveState::There(found),
                        None => LiveState::Absent,
                    };
                    self.live.units.insert(address, seen);
                }
                Meaning::Missing => drop(self.live.units.insert(address, LiveState::Absent)),
                _ => return failed(),
            },
            For::Sends => self.take_sends(meaning, &request, body, &mut asks),
            For::Lookup(addresses) => {
                if !matches!(meaning, Meaning::Done | Meaning::Missing) {
                    return failed();
                }
                for address in addresses {
                    let seen = match meaning {
                        Meaning::Missing => LiveState::Absent,
                        _ => self.looked_up(&address, body).map_err(|why| format!("{request}: {why}"))?,
                    };
                    // One answer does not prove that a resource is gone: it is requested again.
                    if seen == LiveState::Absent && self.is_confirmed(&address) {
                        self.missing.insert(address);
                        continue;
                    }
                    self.live.units.insert(address, seen);
                }
            }
        }
        self.go_on(now, &mut asks);
        Ok(asks)
    }

    /// Continues at a later time.
    pub fn later(&mut self, now: Timestamp) -> Vec<Ask> {
        let mut asks = Vec::new();
        if let Stage::Waiting(until) = self.stage {
            if now < until {
                return vec![Ask::WaitUntil(until)];
            }
            self.stage = Stage::ListingAgain;
            self.pages = pages::Pages::default();
            self.list(&mut asks);
            self.go_on(now, &mut asks);
        }
        asks
    }

    pub fn is_done(&self) -> bool {
        self.stage == Stage::Done
    }

    /// Returns the live state.
    pub fn finish(self) -> Live {
        self.live
    }

    fn ask(&mut self, purpose: For, request: Request, asks: &mut Vec<Ask>) {
        self.next += 1;
        self.open.insert(self.next, (purpose, request.clone()));
        asks.push(Ask::Get(self.next, request));
    }

    /// The kinds that are read.
    fn kinds(&self) -> Vec<&'static Kind> {
        let is_looked_at = |kind: &&Kind| self.look.all_kinds || self.needed.contains(kind.key);
        KINDS.iter().filter(is_looked_at).collect()
    }

    fn list(&mut self, asks: &mut Vec<Ask>) {
        let again = self.stage == Stage::ListingAgain;
        for kind in self.kinds() {
            if again && !self.missing().any(|address| address.kind == kind.key) {
                continue;
            }
            let known = self.live.listed.get(kind.key).filter(|_| !again).map(BTreeMap::len);
            for request in kind.api.list(self.look.level) {
                self.live.whole.insert(kind.key);
                if known.is_none() {
                    self.ask(For::Page(kind), request, asks);
                }
            }
            if known.is_some_and(|known| !kind.api.is_whole(known)) {
                self.live.whole.remove(kind.key);
            }
        }
    }

    fn page(
        &mut self,
        kind: &'static Kind,
        request: &Request,
        body: &Value,
        at: Timestamp,
        asks: &mut Vec<Ask>,
    ) -> Result<(), BadAnswer> {
        let listed = self.live.listed.entry(kind.key).or_default();
        let found = cores::each(items(kind, request, body)?, |item| kind.api.found(item));
        take_page(kind, request, found, (self.look.level, self.look.settle, at), listed)?;
        if !kind.api.is_whole(listed.len()) {
            self.live.whole.remove(kind.key);
        }
        if let Some(next) = self.pages.next(self.look.origin, &request.path, body)? {
            self.ask(For::Page(kind), Request::get(next), asks);
        }
        Ok(())
    }

    fn go_on(&mut self, now: Timestamp, asks: &mut Vec<Ask>) {
        if !self.open.is_empty() {
            return;
        }
        match self.stage {
            Stage::Listing => {
                self.read(asks);
                if self.open.is_empty() {
                    self.settle(now, asks);
                }
            }
            Stage::Reading => self.settle(now, asks),
            Stage::ListingAgain => {
                self.stage = Stage::ReadingAgain;
                self.read_missing(asks);
                self.go_on(now, asks);
            }
            Stage::ReadingAgain => {
                for address in std::mem::take(&mut self.missing) {
                    let owned = &self.look.ledger.owned[&address];
                    let seen = match self.listed(&address.kind, &owned.id) {
                        Some(found) => LiveState::There(found.clone()),
                        None if self.live.whole.contains(&*address.kind) => LiveState::Absent,
                        // An incomplete list proves nothing, whatever another one contained.
                        None => LiveState::Untold,
                    };
                    self.live.units.insert(address, seen);
                }
                self.ask_for_sends(2, now, asks);
                if self.open.is_empty() {
                    self.end_search();
                    self.end_reports();
                    self.stage = Stage::Done;
                }
            }
            Stage::Waiting(_) | Stage::Done => {}
        }
    }

    fn listed(&self, kind: &str, id: &str) -> Option<&Found> {
        self.live.listed.get(kind).and_then(|all| all.get(id))
    }

    /// Requests everything that lists do not show.
    fn read(&mut self, asks: &mut Vec<Ask>) {
        self.stage = Stage::Reading;
        let Look { level, ledger, .. } = self.look.clone();
        for kind in self.kinds() {
            if kind.api.lifecycle(level).read == Read::ListedThenGet {
                for id in self.unread(kind) {
                    if let Some(request) = kind.api.get(&id, &Value::Null, level) {
                        self.ask(For::Content(kind, id), request, asks);
                    }
                }
            }
        }
        for (address, owned) in &ledger.owned {
            if !self.is_looked_up(address) {
                self.find(address, &owned.id);
            }
        }
        self.ask_alone(asks);
    }

    /// The resources whose content has to be read: managed ones if they changed since they were last read, and possibly
    /// managed ones.
    fn unread(&mut self, kind: &'static Kind) -> Vec<String> {
        let Look { ledger, proof, .. } = self.look.clone();
        let Some(listed) = self.live.listed.get_mut(kind.key) else { return Vec::new() };
        let mut ids = BTreeSet::new();
        for owned in ledger.owned.iter().filter(|(address, _)| address.kind == kind.key).map(|(_, owned)| owned) {
            let Some(found) = listed.get_mut(&owned.id) else { continue };
            // A resource that was never changed after its creation has the created content. An update by pushplan that
            // left no trace was lost.
            let known = owned.stamp.as_ref().filter(|stamp| !stamp.is_empty() || proof.reread_updated);
            let changed = found.stamp.as_deref().and_then(|stamp| kind.api.stamped(stamp));
            let is_as_made = known.is_none() && changed.is_some() && changed == found.made;
            if found.stamp.is_some() && (found.stamp.as_ref() == known || is_as_made) {
                // The ledger's references are keys, but the live state has ids.
                found.spec = Some(kinds::remote::pointed(kind.api.audiences(), &owned.spec, &mut |reference| {
                    let id = reference.as_str().and_then(|key| owned.refs.get(key));
                    id.map_or_else(|| by_id(reference), |id| Value::from(id.as_str()))
                }));
            } else {
                ids.insert(owned.id.clone());
            }
        }
        for (_, open) in ledger.open.iter().filter(|(address, _)| address.kind == kind.key) {
            let name = open.intent.spec.as_ref().map(|spec| kind.api.name(spec)).unwrap_or_default();
            let new = listed.values().filter(|found| found.name == name && !open.intent.seen.contains(&found.id));
            ids.extend(new.map(|found| found.id.clone()));
        }
        ids.extend(self.without_content(kind));
        ids.into_iter().collect()
    }

    /// The listed resources without content, if all contents are requested, or any of them may be managed.
    fn without_content(&self, kind: &'static Kind) -> Vec<String> {
        let is_asked = self.has_gap() || self.look.contents.contains(kind.key);
        let listed = self.live.listed.get(kind.key).filter(|_| is_asked);
        let unread = listed.into_iter().flat_map(BTreeMap::values).filter(|found| found.spec.is_none());
        unread.map(|found| found.id.clone()).collect()
    }
}

/// The error that a list contains a resource whose own answer is 404.
pub(crate) fn contradicts_list(request: &Request) -> String {
    format!("{request}: the list contains it, but the service answers HTTP 404 for it. Try again")
}

/// A segment outside git, as in requests and answers.
fn by_id(reference: &Value) -> Value {
    reference.get("id").unwrap_or(reference).clone()
}
