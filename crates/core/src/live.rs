//! Fetching what is there: a pure machine that says which requests to make, and makes of their answers what the service has.
//!
//! It only reads. Its driver carries the requests: the client over HTTP, the simulation over a model.

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
use pushplan_model::exchange::{Answer, Meaning, Request};
use pushplan_model::kinds::{self, Census, Counted, Found, KINDS, Kind, Read};
use pushplan_model::node::Shared;
use pushplan_model::nouns::level::Level;
use serde_json::Value;

/// What is looked for.
#[derive(Clone, Debug)]
pub struct Look<'l> {
    pub level: Level,
    /// Scheme, host and port: pages elsewhere are not followed.
    pub origin: &'l str,
    /// How long the service may take until everybody sees what was done.
    pub settle: SignedDuration,
    /// What the manifests declare.
    pub desired: &'l BTreeMap<&'l Address, &'l Shared>,
    pub ledger: &'l Ledger,
    /// Whether kinds are listed that nothing here is of: all that the service lists, but not what there is one of for each
    /// person.
    pub all_kinds: bool,
    /// The kinds whose things are all read, whoever made them: the contents of what is listed, and what there is one of for
    /// each person.
    pub contents: &'l BTreeSet<&'static str>,
    /// Whether absence from a list is confirmed before it is believed. Only the simulation leaves that out.
    pub confirm_absence: bool,
    /// Whether creations in an unknown state are looked for: a plan decides about them, other readers leave them alone.
    pub recovers: bool,
    pub proof: Proof,
}

/// What is taken for proof. Each is on; the simulation turns them off one by one to see that it notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// What is in an unknown state is absent only if two lists a settle time apart do not show it.
    pub two_lists: bool,
    /// What lists no longer show once it was sent is absent only if the service reports no push that is unknown.
    pub reported_sends: bool,
    /// What was updated is read again until its content was seen together with a version stamp.
    pub reread_updated: bool,
    /// Times that another machine wrote down are not compared with the own clock.
    pub by_own_clock: bool,
}

impl Default for Proof {
    fn default() -> Self {
        Self { two_lists: true, reported_sends: true, reread_updated: true, by_own_clock: true }
    }
}

/// What is to be done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Make this request and hand back its answer with the number.
    Get(usize, Request),
    /// Say when it is later than this.
    WaitUntil(Timestamp),
}

/// What the service has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Live {
    /// Everything that is listed, by kind and id.
    pub listed: BTreeMap<&'static str, BTreeMap<String, Found>>,
    /// The kinds whose lists are known to be whole.
    pub whole: BTreeSet<&'static str>,
    /// The creations in an unknown state that are proven to have come to nothing: two complete lists, a settle time apart, do
    /// not show them, and they were not sent either.
    pub disproved: BTreeSet<Address>,
    /// The deletions without an answer of things that are in no list and were not sent: the service's reports of pushes show it.
    pub unsent: BTreeSet<Address>,
    /// The kinds that nothing here is of and whose lists could not be had, or not all of them, and why.
    pub unlisted: BTreeMap<&'static str, String>,
    /// What is ours or is declared, by its address.
    pub units: BTreeMap<Address, LiveState>,
    /// What lists of people and devices show of each kind, by resource and part. Only of kinds that are all read.
    pub counted: BTreeMap<&'static str, BTreeMap<census::CensusKey, Counted>>,
}

/// What is known of one thing.
#[derive(Clone, Debug, PartialEq)]
pub enum LiveState {
    There(Found),
    Absent,
    /// The service does not tell: it is taken to be as the ledger remembers it.
    Untold,
}

impl Live {
    pub fn of(&self, address: &Address) -> &LiveState {
        self.units.get(address).unwrap_or(&LiveState::Untold)
    }

    /// Everything that is listed, with its kind.
    pub fn listed(&self) -> impl Iterator<Item = (&'static Kind, &Found)> {
        let known = KINDS.iter().filter_map(|kind| Some((kind, self.listed.get(kind.key)?)));
        known.flat_map(|(kind, all)| all.values().map(move |found| (kind, found)))
    }

    /// Everything that is listed, by kind and name, for whoever asks for many names.
    pub fn by_name(&self) -> HashMap<(&str, &str), Vec<&Found>> {
        let mut named: HashMap<(&str, &str), Vec<&Found>> = HashMap::new();
        for (kind, found) in self.listed() {
            named.entry((kind.key, &found.name)).or_default().push(found);
        }
        named
    }

    /// Everything of a kind that has a name.
    pub fn named<'s>(&'s self, kind: &str, name: &'s str) -> impl Iterator<Item = &'s Found> {
        self.listed.get(kind).into_iter().flat_map(BTreeMap::values).filter(move |found| found.name == name)
    }
}

/// What a request is for.
#[derive(Clone, Debug)]
enum For {
    Page(&'static Kind),
    /// A page of people or devices, for all kinds that are counted there, and for what is looked up there.
    Census(Census, Vec<&'static Kind>),
    /// The content of one listed thing.
    Content(&'static Kind, String),
    /// Whether something that no list shows is there all the same.
    Absence(Address),
    /// Everything that one lookup tells about.
    Lookup(Vec<Address>),
    /// A page of the report of pushes.
    Sends,
}

/// A fetch under way.
#[derive(Debug)]
pub struct Fetch<'l> {
    look: Look<'l>,
    live: Live,
    /// The kinds without whose lists nothing can be worked out.
    needed: BTreeSet<&'static str>,
    open: BTreeMap<usize, (For, Request)>,
    next: usize,
    pages: pages::Pages,
    lookups: people::Lookups,
    stage: Stage,
    /// Ours, and in no list so far.
    missing: BTreeSet<Address>,
    /// Creations in an unknown state that no list has shown so far.
    sought: BTreeSet<Address>,
    sends: sends::Sends,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Listing,
    /// Everything listed is known; contents and lookups are read.
    Reading,
    /// What was missing is looked for once more, a settle time later.
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
        let mut asks = Vec::new();
        fetch.list(&mut asks);
        fetch.take_census(&mut asks);
        fetch.begin_lookups(prefetched.people, &mut asks);
        fetch.go_on(now, &mut asks);
        (fetch, asks)
    }

    /// Takes in an answer. `Err` says in words why nothing can be worked out.
    pub fn on(&mut self, number: usize, answer: &Answer, now: Timestamp) -> Result<Vec<Ask>, String> {
        let beside = self.beside(number);
        match (self.take_in(number, answer, now), beside) {
            (Err(why), Some(beside)) => Ok(self.do_without(beside, why, now)),
            (taken, _) => taken,
        }
    }

    fn take_in(&mut self, number: usize, answer: &Answer, now: Timestamp) -> Result<Vec<Ask>, String> {
        let Some((purpose, request)) = self.open.remove(&number) else { return Ok(Vec::new()) };
        let mut asks = Vec::new();
        self.sends.at = self.sends.at.max(answer.at);
        let meaning = answer.meaning();
        let failed = || Err(format!("{request} failed: {}", answer.error()));
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
                        // What others made may be in a form that is unknown here. That is no reason to give up.
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
                // The second list shows it as well, or it may have been created in a gap of the ledger: answers that contradict
                // each other prove nothing.
                Meaning::Missing
                    if self.has_gap() || self.stage == Stage::ReadingAgain && self.may_be_ours(kind, &id) =>
                {
                    return Err(contradicts_list(&request));
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
                    // One answer does not prove that something is gone: it is looked up once more.
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

    /// Says that it is later.
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

    /// What was found.
    pub fn finish(self) -> Live {
        self.live
    }

    fn ask(&mut self, purpose: For, request: Request, asks: &mut Vec<Ask>) {
        self.next += 1;
        self.open.insert(self.next, (purpose, request.clone()));
        asks.push(Ask::Get(self.next, request));
    }

    /// The kinds that are looked at.
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
    ) -> Result<(), String> {
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
                        // A list that was cut off proves nothing, whatever another one showed.
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

    /// Asks for what the lists do not show.
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

    /// The things whose content has to be read: ours if they moved since they were last seen, and what may be ours.
    fn unread(&mut self, kind: &'static Kind) -> Vec<String> {
        let Look { ledger, proof, .. } = self.look.clone();
        let Some(listed) = self.live.listed.get_mut(kind.key) else { return Vec::new() };
        let mut ids = BTreeSet::new();
        for owned in ledger.owned.iter().filter(|(address, _)| address.kind == kind.key).map(|(_, owned)| owned) {
            let Some(found) = listed.get_mut(&owned.id) else { continue };
            // Never changed since it was made, it is what it was made to be. An update by pushplan that left no trace was lost.
            let known = owned.stamp.as_ref().filter(|stamp| !stamp.is_empty() || proof.reread_updated);
            let changed = found.stamp.as_deref().and_then(|stamp| kind.api.stamped(stamp));
            let is_as_made = known.is_none() && changed.is_some() && changed == found.made;
            if found.stamp.is_some() && (found.stamp.as_ref() == known || is_as_made) {
                // The ledger's references are by key; ids are what a reader of live things expects.
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

    /// The things of which nothing is known but that they are listed, if all contents are asked for, or any of them may be
    /// ours.
    fn without_content(&self, kind: &'static Kind) -> Vec<String> {
        let is_asked = self.has_gap() || self.look.contents.contains(kind.key);
        let listed = self.live.listed.get(kind.key).filter(|_| is_asked);
        let unread = listed.into_iter().flat_map(BTreeMap::values).filter(|found| found.spec.is_none());
        unread.map(|found| found.id.clone()).collect()
    }
}

/// Says that a list shows something, and that its own answer is that there is none.
pub(crate) fn contradicts_list(request: &Request) -> String {
    format!("{request}: the list contains it, but the service answers HTTP 404 for it. Try again")
}

/// A segment outside git as the wire names it.
fn by_id(reference: &Value) -> Value {
    reference.get("id").unwrap_or(reference).clone()
}
