//! How many devices were reached by managed pushes. Pure: the pushes, the requests for the service's reports, and the
//! meaning of the answers.

mod trial;

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use pushplan_ledger::Ledger;
use pushplan_model::address::Address;
use pushplan_model::audience;
use pushplan_model::exchange::{Request, part};
use pushplan_model::kinds::{self, Parts, Runs};
use pushplan_model::node::At;
use pushplan_model::nouns::audience::{SegmentRef, Selector};
use pushplan_model::source::Span;
use pushplan_model::text;
use serde_json::Value;

pub use trial::{Estimate, SMALLEST, Trial, TrialGroup, is_trial};

/// The type of scheduled pushes in reports.
const SCHEDULED: &str = "SCHEDULED_PUSH";
/// How far before its time, and how far after it, a push may be reported as sent: clocks differ, and sending takes
/// time.
const EARLY: SignedDuration = SignedDuration::from_mins(1);
const LATE: SignedDuration = SignedDuration::from_mins(10);

/// A time at which a managed resource sends by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occasion {
    pub address: Address,
    /// The number of this time among several of one resource, from 1.
    pub number: Option<usize>,
    /// The id of the resource on the service.
    pub id: String,
    /// The first and the last moment of the send: they differ only for a local time.
    pub first: Timestamp,
    pub last: Timestamp,
    /// The ids under which it is reported, if they are known.
    pub push_ids: Vec<String>,
    /// The audience, in words.
    pub who: String,
    /// The device types.
    pub devices: String,
    /// Whether it is unknown if it was ever scheduled.
    pub in_doubt: bool,
    /// The applied time, if someone moved the push on the service since.
    pub moved_from: Option<Timestamp>,
}

impl Occasion {
    /// Takes over the time that the service has now. `runs` are all times of its resource.
    pub fn follow(&mut self, runs: &[Runs]) {
        let place = self.number.unwrap_or(1) - 1;
        let Some(Runs { first: Some(first), last }) =
            runs.get(place).filter(|_| runs.len() == 1 || self.number.is_some())
        else {
            return;
        };
        if *first != self.first {
            self.moved_from = Some(self.first);
            self.first = *first;
            self.last = last.unwrap_or(*first).max(*first);
        }
    }
}

/// The service's report of one push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushReport {
    pub push_id: String,
    pub sends: u64,
    pub direct_responses: u64,
    /// When it was sent.
    pub time: Option<Timestamp>,
    push_type: String,
    /// The id of its sender, if the service shows it.
    group: Option<String>,
}

impl PushReport {
    /// Whether it was scheduled, but by none of the resources with these ids, and not under one of these push ids.
    pub(crate) fn is_unknown(&self, ids: &BTreeSet<&str>) -> bool {
        let is_known = |id: &String| ids.contains(id.as_str());
        self.push_type == SCHEDULED && !is_known(&self.push_id) && !self.group.as_ref().is_some_and(is_known)
    }
}

/// The outcome of an occasion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PushOutcome {
    NotYet,
    /// It has a local time, which has not come for some devices.
    UnderWay(Counted),
    Reached(Counted),
    /// It was sent and no device got it.
    Nobody(Counted),
    Unknown(Why),
}

/// The sum of some reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    pub push_ids: Vec<String>,
    pub sends: u64,
    pub direct_responses: u64,
    pub time: Option<Timestamp>,
    /// Its push id was unknown: the report is the only one that fits its time.
    pub matched: bool,
}

/// Why the outcome is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Whether it was scheduled is unknown.
    InDoubt,
    /// The service has no report under its push ids.
    NoReport,
    /// Its push ids are unknown, and no report fits its time.
    NoneFits,
    /// Its push ids are unknown, and several reports fit its time, or one report fits several occasions.
    SeveralFit,
}

/// All sends of managed resources that have a time, sorted by time.
pub fn occasions(ledger: &Ledger) -> Vec<Occasion> {
    let doubtful = ledger.open.iter().filter(|(address, _)| !ledger.owned.contains_key(address));
    let doubtful =
        doubtful.filter_map(|(address, open)| Some((address, "", open.intent.spec.as_ref()?, &[][..], open.at)));
    let owned = ledger.owned.iter();
    let owned = owned.map(|(address, owned)| (address, &*owned.id, &owned.spec, &*owned.push_ids, owned.applied));
    let mut found = Vec::new();
    for (address, id, spec, push_ids, at) in owned.chain(doubtful) {
        let times = kinds::api(address).occasions(spec);
        let several = times.len() > 1;
        if times.is_empty() {
            continue;
        }
        let (who, devices) = meant(address, spec, ledger);
        for (place, Runs { first, last }) in times.iter().enumerate() {
            // A push without a time is sent as soon as it exists.
            let first = first.unwrap_or(at);
            let own = match push_ids.len() == times.len() {
                true => push_ids[place..=place].to_vec(),
                // The service does not show which of them belongs to which time.
                false if several => Vec::new(),
                false => push_ids.to_vec(),
            };
            found.push(Occasion {
                address: address.clone(),
                number: several.then_some(place + 1),
                id: id.to_owned(),
                first,
                last: last.unwrap_or(first).max(first),
                push_ids: own,
                who: who.clone(),
                devices: devices.clone(),
                in_doubt: id.is_empty(),
                moved_from: None,
            });
        }
    }
    sort(&mut found);
    found
}

/// Sorts occasions by time.
pub fn sort(all: &mut [Occasion]) {
    all.sort_by(|one, other| (one.first, &one.address, one.number).cmp(&(other.first, &other.address, other.number)));
}

/// The audience and the device types, in words.
fn meant(address: &Address, spec: &Value, ledger: &Ledger) -> (String, String) {
    let Some(read) = kinds::api(address).read(spec) else { return Default::default() };
    let key = At::new(address.key.clone(), Span::NONE);
    let mut parts = Parts::new(&key);
    read.parts(&mut parts);
    let Some(meant) = parts.audiences.first() else { return Default::default() };
    let mut who = audience::words(meant.selector);
    if let Selector::Segment(reference) = &meant.selector.value
        && let SegmentRef::Key(segment) = &reference.value
        && let Some(inside) = criteria(segment, ledger)
    {
        who = format!("{who} ({inside})");
    }
    let named: Vec<String> =
        meant.devices.iter().flat_map(|devices| devices.named()).map(ToString::to_string).collect();
    (who, if named.is_empty() { "all kinds of device".to_owned() } else { text::all_of(&named) })
}

/// The criteria of a managed segment, in words.
fn criteria(segment: &str, ledger: &Ledger) -> Option<String> {
    let address = Address::new(<kinds::Segment as kinds::Resource>::KEY, segment);
    let read = kinds::api(&address).read(&ledger.owned.get(&address)?.spec)?;
    let key = At::new(segment.to_owned(), Span::NONE);
    let mut parts = Parts::new(&key);
    read.parts(&mut parts);
    parts.audiences.first().map(|meant| audience::words(meant.selector))
}

impl Occasion {
    pub fn has_begun(&self, now: Timestamp) -> bool {
        self.first <= now
    }

    /// Whether the service can have a report for it.
    pub fn is_asked_about(&self, now: Timestamp) -> bool {
        self.has_begun(now) && !self.in_doubt
    }

    /// The requests for its reports: one for each push id, or a list of what was sent then.
    pub fn reports(&self) -> Vec<Request> {
        if !self.push_ids.is_empty() {
            let one = |id: &String| Request::get(format!("/api/reports/responses/{}", part(id)));
            return self.push_ids.iter().map(one).collect();
        }
        let time = |at: Timestamp| part(&TimeZone::UTC.to_datetime(at).strftime("%Y-%m-%d %H:%M").to_string());
        let (start, end) = self.window();
        // The list covers whole minutes only.
        let end = later(end, SignedDuration::from_mins(1));
        vec![Request::get(format!("/api/reports/responses/list?start={}&end={}", time(start), time(end)))]
    }

    /// The time in which it can be sent.
    fn window(&self) -> (Timestamp, Timestamp) {
        (later(self.first, -EARLY), later(self.last, LATE))
    }

    /// Whether a report with an unknown push id may be about this occasion.
    fn fits(&self, report: &PushReport) -> bool {
        let (start, end) = self.window();
        let in_time = report.time.is_some_and(|time| start <= time && time <= end);
        in_time && report.push_type == SCHEDULED && report.group.as_ref().is_none_or(|group| *group == self.id)
    }
}

fn later(at: Timestamp, by: SignedDuration) -> Timestamp {
    at.checked_add(by).unwrap_or(at)
}

impl PushReport {
    /// Reads a single report, or an item of a list; `None` if it has no number of sends.
    pub fn read(record: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let push_id = text(&record["push_id"]).or_else(|| text(&record["push_uuid"]))?;
        let time = record["push_time"].as_str().and_then(|time| {
            let plain = time.trim_end_matches('Z').replace(' ', "T");
            format!("{plain}Z").parse().ok()
        });
        Some(Self {
            push_id,
            sends: record["sends"].as_u64()?,
            direct_responses: record["direct_responses"].as_u64().unwrap_or_default(),
            time,
            push_type: text(&record["push_type"]).unwrap_or_default(),
            group: text(&record["group_id"]).filter(|group| !group.is_empty()),
        })
    }
}

/// The outcome of each occasion. `by_id` has reports of known push ids, `listed` all others.
pub fn reached(
    all: &[Occasion],
    by_id: &BTreeMap<String, PushReport>,
    listed: &[PushReport],
    now: Timestamp,
) -> Vec<PushOutcome> {
    let known: BTreeSet<&str> = all.iter().flat_map(|one| &one.push_ids).map(String::as_str).collect();
    let listed: BTreeMap<&str, &PushReport> = listed
        .iter()
        .filter(|report| !known.contains(report.push_id.as_str()))
        .map(|report| (report.push_id.as_str(), report))
        .collect();
    let unnamed: Vec<&Occasion> = all.iter().filter(|one| one.push_ids.is_empty() && one.has_begun(now)).collect();
    let judge = |one: &Occasion| {
        if !one.has_begun(now) && !one.in_doubt {
            return PushOutcome::NotYet;
        }
        if one.in_doubt {
            return PushOutcome::Unknown(Why::InDoubt);
        }
        let (found, matched): (Vec<&PushReport>, bool) = if one.push_ids.is_empty() {
            let fitting: Vec<&PushReport> = listed.values().copied().filter(|report| one.fits(report)).collect();
            match fitting[..] {
                [] => return PushOutcome::Unknown(Why::NoneFits),
                [report] if unnamed.iter().filter(|other| other.fits(report)).count() == 1 => (fitting, true),
                _ => return PushOutcome::Unknown(Why::SeveralFit),
            }
        } else {
            (one.push_ids.iter().filter_map(|id| by_id.get(id)).collect(), false)
        };
        if found.is_empty() {
            return PushOutcome::Unknown(Why::NoReport);
        }
        let counted = Counted {
            push_ids: found.iter().map(|report| report.push_id.clone()).collect(),
            sends: found.iter().map(|report| report.sends).sum(),
            direct_responses: found.iter().map(|report| report.direct_responses).sum(),
            time: found.iter().filter_map(|report| report.time).min(),
            matched,
        };
        match counted.sends {
            _ if one.last > now => PushOutcome::UnderWay(counted),
            0 => PushOutcome::Nobody(counted),
            _ => PushOutcome::Reached(counted),
        }
    };
    all.iter().map(judge).collect()
}

#[cfg(test)]
mod tests;
