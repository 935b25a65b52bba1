//! How many devices were reached by the pushes that git scheduled. Pure: what they are, what is asked of the service's reports,
//! and what the answers mean.

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

/// The kind of push that reports call what was scheduled.
const SCHEDULED: &str = "SCHEDULED_PUSH";
/// How far before its time a push may be reported to were sent, and how far behind it: clocks differ, and sending takes
/// time.
const EARLY: SignedDuration = SignedDuration::from_mins(1);
const LATE: SignedDuration = SignedDuration::from_mins(10);

/// A time at which something of ours sends by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occasion {
    pub address: Address,
    /// Which of several times of one thing it is, from 1.
    pub number: Option<usize>,
    /// The thing on the service.
    pub id: String,
    /// When it begins, and when it has ended: later only where each device's own clock decides.
    pub first: Timestamp,
    pub last: Timestamp,
    /// The ids that it is reported under, where they are known.
    pub push_ids: Vec<String>,
    /// Who was meant, in words.
    pub who: String,
    /// The device types.
    pub devices: String,
    /// Whether it was ever scheduled is unknown.
    pub in_doubt: bool,
    /// When it was to are sent as it was applied, where someone moved it on the service since.
    pub moved_from: Option<Timestamp>,
}

impl Occasion {
    /// Takes the time that the service has now. `runs` are all times of the thing that it is of.
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

/// What the service reports of one push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushReport {
    pub push_id: String,
    pub sends: u64,
    pub direct_responses: u64,
    /// When it was sent.
    pub time: Option<Timestamp>,
    push_type: String,
    /// What sent it, where the service tells.
    group: Option<String>,
}

impl PushReport {
    /// Whether it was scheduled, and by none of the resources with these ids, nor under one of these push ids.
    pub(crate) fn is_unknown(&self, ids: &BTreeSet<&str>) -> bool {
        let is_known = |id: &String| ids.contains(id.as_str());
        self.push_type == SCHEDULED && !is_known(&self.push_id) && !self.group.as_ref().is_some_and(is_known)
    }
}

/// What became of an occasion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PushOutcome {
    NotYet,
    /// Each device's own clock decides, and for some it is not time yet.
    UnderWay(Counted),
    Reached(Counted),
    /// It was sent and no device got it.
    Nobody(Counted),
    Unknown(Why),
}

/// What reports add up to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    pub push_ids: Vec<String>,
    pub sends: u64,
    pub direct_responses: u64,
    pub time: Option<Timestamp>,
    /// Its push id was unknown: the report is the only one that fits its time.
    pub matched: bool,
}

/// Why nobody can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Whether it was scheduled is unknown.
    InDoubt,
    /// The service has no report under its push ids.
    NoReport,
    /// Its push ids are unknown, and no report fits its time.
    NoneFits,
    /// Its push ids are not known, and several reports fit its time, or one fits several of ours.
    SeveralFit,
}

/// Everything of ours that sends at a time, in the order of time.
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
            // What has no time is sent as soon as it exists.
            let first = first.unwrap_or(at);
            let own = match push_ids.len() == times.len() {
                true => push_ids[place..=place].to_vec(),
                // Which of them belongs to which time is not told.
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

/// Puts them in the order of time.
pub fn sort(all: &mut [Occasion]) {
    all.sort_by(|one, other| (one.first, &one.address, one.number).cmp(&(other.first, &other.address, other.number)));
}

/// Who was meant, and on what, in words.
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

/// Who is in a segment of ours, in words.
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

    /// Whether what is asked of the service can tell anything of it.
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
        // What is asked about ends with a whole minute.
        let end = later(end, SignedDuration::from_mins(1));
        vec![Request::get(format!("/api/reports/responses/list?start={}&end={}", time(start), time(end)))]
    }

    /// When it can were sent.
    fn window(&self) -> (Timestamp, Timestamp) {
        (later(self.first, -EARLY), later(self.last, LATE))
    }

    /// Whether a report of a push whose id nobody knows may be about this.
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
    /// A report by itself, or an item of a list; `None` where it does not say how many it was sent to.
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

/// What became of each occasion. `by_id` are reports of pushes whose ids are known, `listed` all others that were found.
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
