//! Messages that one person would get shortly after each other.

use std::collections::{BTreeSet, HashMap};

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use pushplan_model::address::Address;
use pushplan_model::audience::{self, Answer, Audience, Budget};
use pushplan_model::cores;
use pushplan_model::kinds::Sending;
use pushplan_model::nouns::audience::{SegmentRef, Selector};
use pushplan_model::nouns::device::DeviceTypes;
use pushplan_model::nouns::schedule::When;
use pushplan_model::nouns::zone;

use super::{Country, FIRST, LAST, Where, places, range};

/// The maximal number of pairs of messages that are compared, and of collisions.
const PAIRS: usize = 200_000;
const FOUND: usize = 10_000;
/// The maximal number of pairs of different audiences that are compared, and the total of steps for them.
const QUESTIONS: usize = 2_000;
const STEPS: usize = 20_000_000;

/// A message that is still to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Upcoming<'s> {
    pub address: &'s Address,
    /// The number of the variant of an experiment, from 1.
    pub variant: Option<usize>,
    pub when: When,
    pub audience: &'s Selector,
    /// Its audience, if it was computed already.
    pub people: Option<&'s Audience>,
    pub devices: Option<&'s DeviceTypes>,
    /// Whether it is new or changed.
    pub news: bool,
}

/// One of two messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Party {
    /// Its index among the given messages.
    pub number: usize,
    pub address: Address,
    pub variant: Option<usize>,
    pub when: When,
}

/// Two messages that can reach one person and are too close together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collision {
    /// The earlier one.
    pub one: Party,
    pub other: Party,
    /// The minimum time between them.
    pub apart_seconds: i64,
    /// An example of someone who gets both; `None` if the audiences are too complex.
    pub who: Option<String>,
    /// Whether one of them is new or changed.
    pub news: bool,
}

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collisions {
    /// The collisions: those with a new or changed message first, then sorted by time.
    pub found: Vec<Collision>,
    /// The number of pairs that are close together and were not compared, because there were too many.
    pub uncompared: usize,
    /// The minimum time between two messages.
    pub apart_seconds: i64,
}

/// `scheduled_pushes/sale`, or `experiments/test variant 2`
impl std::fmt::Display for Party {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.variant {
            Some(number) => write!(f, "{} variant {number}", self.address),
            None => self.address.fmt(f),
        }
    }
}

/// Finds messages that are too close together and can reach one device. It compares a limited number of pairs, those
/// with a new or changed message first, and counts the rest.
pub fn collisions<'s>(
    sends: &[Upcoming<'s>],
    apart: SignedDuration,
    segments: impl Fn(&SegmentRef) -> Option<&'s Selector> + Sync,
) -> Collisions {
    let mut result = Collisions { apart_seconds: apart.as_secs(), ..Collisions::default() };
    if !apart.is_positive() {
        return result;
    }
    let mut search = Search::new(sends, apart, segments);
    search.ask_ahead();
    let candidates = search.candidates();
    for news in [true, false] {
        let mut found = search.pass(news);
        found.sort_by_key(|collision| {
            (search.sends[collision.one.number].when_first(), collision.one.number, collision.other.number)
        });
        result.found.append(&mut found);
    }
    result.uncompared = candidates - search.compared;
    result
}

impl<'s> Upcoming<'s> {
    pub fn of(address: &'s Address, sending: Sending<'s>, news: bool) -> Self {
        Self {
            address,
            variant: sending.variant,
            when: sending.schedule.when,
            audience: sending.audience,
            people: None,
            devices: sending.said.devices.map(|devices| &devices.value),
            news,
        }
    }

    fn when_first(&self) -> Timestamp {
        range(self.when).0
    }
}

/// A message in the order of time.
struct Placed {
    first: Timestamp,
    last: Timestamp,
    number: usize,
}

struct Search<'a, 's, F> {
    sends: &'a [Upcoming<'s>],
    apart: SignedDuration,
    segments: F,
    order: Vec<Placed>,
    /// By message: the index of its audience among the different ones.
    classes: Vec<usize>,
    /// By audience: a message with it, and the computed audience, on demand.
    audiences: Vec<(usize, Option<Audience>)>,
    /// By audience: the places of its members.
    places: HashMap<usize, Where>,
    /// By two audiences: the common zones of their members, if these are known.
    zones: HashMap<(usize, usize), Option<Vec<TimeZone>>>,
    answers: HashMap<(usize, usize), Shared>,
    /// Answers that were computed in parallel in advance, each with its number of steps.
    ahead: HashMap<(usize, usize), (Shared, usize)>,
    /// The questions, while they are collected.
    listed: Option<BTreeSet<(usize, usize)>>,
    budget: Budget,
    looked: usize,
    compared: usize,
    found: usize,
}

/// Whether two audiences can share a device.
#[derive(Clone)]
enum Shared {
    Nobody,
    Some(Option<String>),
}

impl<'a, 's, F: Fn(&SegmentRef) -> Option<&'s Selector> + Sync> Search<'a, 's, F> {
    fn new(sends: &'a [Upcoming<'s>], apart: SignedDuration, segments: F) -> Self {
        let mut order: Vec<Placed> = sends
            .iter()
            .enumerate()
            .map(|(number, send)| {
                let (first, last) = range(send.when);
                Placed { first, last, number }
            })
            .collect();
        order.sort_by_key(|placed| (placed.first, placed.last, placed.number));
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut audiences = Vec::new();
        let classes = sends.iter().enumerate().map(|(number, send)| {
            // Audiences with the same text are compared once.
            let written = serde_json::to_string(&(send.audience, send.devices)).unwrap_or_default();
            *known.entry(written).or_insert_with(|| {
                audiences.push((number, None));
                audiences.len() - 1
            })
        });
        let classes = classes.collect();
        let budget = Budget::new(STEPS);
        let (answers, ahead) = (HashMap::new(), HashMap::new());
        Self {
            sends,
            apart,
            segments,
            order,
            classes,
            audiences,
            places: HashMap::new(),
            zones: HashMap::new(),
            answers,
            ahead,
            listed: None,
            budget,
            looked: 0,
            compared: 0,
            found: 0,
        }
    }

    /// Computes the answers that the search will need, in parallel. Each uses the steps that it would use in its turn,
    /// so the same ones are answered in total.
    fn ask_ahead(&mut self) {
        self.listed = Some(BTreeSet::new());
        for news in [true, false] {
            self.pass(news);
        }
        (self.looked, self.compared) = (0, 0);
        let pairs: Vec<(usize, usize)> = self.listed.take().into_iter().flatten().collect();
        let classes: BTreeSet<usize> = pairs.iter().flat_map(|(one, other)| [*one, *other]).collect();
        let classes: Vec<usize> = classes.into_iter().collect();
        let made = cores::each(&classes, |class| self.audience(self.audiences[*class].0));
        for (class, audience) in classes.into_iter().zip(made) {
            self.audiences[class].1 = Some(audience);
        }
        let answers = cores::each(&pairs, |(one, other)| {
            let mut budget = Budget::new(STEPS);
            let shared = self.overlap(*one, *other, &mut budget)?;
            Some((shared, STEPS - budget.left()))
        });
        self.ahead = pairs.into_iter().zip(answers).filter_map(|(pair, answer)| Some((pair, answer?))).collect();
    }

    /// The first moment that is far enough after a message that ends at `last`.
    fn free(&self, last: Timestamp) -> Timestamp {
        last.checked_add(self.apart).unwrap_or(Timestamp::MAX)
    }

    /// The index of the first later message that is far enough from this one.
    fn end(&self, at: usize) -> usize {
        let free = self.free(self.order[at].last);
        at + 1 + self.order[at + 1..].partition_point(|next| next.first < free)
    }

    /// The number of pairs that are close together.
    fn candidates(&self) -> usize {
        (0..self.order.len()).map(|at| self.end(at) - at - 1).sum()
    }

    fn is_enough(&self) -> bool {
        let is_listed = self.listed.as_ref().is_some_and(|listed| listed.len() >= QUESTIONS);
        self.looked >= PAIRS || self.found >= FOUND || is_listed
    }

    /// Compares the pairs with a new or changed message, or those without.
    fn pass(&mut self, news: bool) -> Vec<Collision> {
        let mut found = Vec::new();
        let mut skipped = 0;
        let is_new = |search: &Self, at: usize| search.sends[search.order[at].number].news;
        for at in 0..self.order.len() {
            if self.is_enough() || skipped >= PAIRS * 50 {
                break;
            }
            let own = is_new(self, at);
            if own && !news {
                continue;
            }
            if own {
                // In this pass, only new messages search forward, so they also search backward.
                let reach = SignedDuration::from_hours(i64::from(FIRST - LAST));
                let since = self.order[at].first.checked_sub(self.apart).and_then(|since| since.checked_sub(reach));
                let since = since.unwrap_or(Timestamp::MIN);
                for before in (0..at).rev() {
                    if self.order[before].first < since || self.is_enough() {
                        break;
                    }
                    if !is_new(self, before) && self.order[at].first < self.free(self.order[before].last) {
                        found.extend(self.look(before, at));
                    }
                }
            } else if news {
                continue;
            }
            for next in at + 1..self.end(at) {
                if self.is_enough() {
                    break;
                }
                match own || !is_new(self, next) {
                    true => found.extend(self.look(at, next)),
                    false => skipped += 1,
                }
            }
        }
        found
    }

    fn look(&mut self, at: usize, next: usize) -> Option<Collision> {
        self.looked += 1;
        let (one, other) = (self.order[at].number, self.order[next].number);
        let (first, second) = (&self.sends[one], &self.sends[other]);
        let mut gap = gap(first.when, second.when);
        if gap < self.apart {
            gap = self.gap_where_people_are(one, other).unwrap_or(gap);
        }
        // Each person gets one variant of an experiment.
        let variants = first.address == second.address && first.variant.is_some();
        if variants || gap >= self.apart {
            self.compared += 1;
            return None;
        }
        let news = first.news || second.news;
        let shared = self.shared(self.classes[one], self.classes[other])?;
        self.compared += 1;
        let Shared::Some(who) = shared else { return None };
        self.found += 1;
        Some(Collision { one: party(one, first), other: party(other, second), apart_seconds: gap.as_secs(), who, news })
    }

    /// The minimal distance between a moment and a local time, in the common zones of both audiences. `None` if these
    /// are unknown.
    fn gap_where_people_are(&mut self, one: usize, other: usize) -> Option<SignedDuration> {
        let (instant, time) = match (self.sends[one].when, self.sends[other].when) {
            (When::At(instant), When::EachZone(time)) | (When::EachZone(time), When::At(instant)) => (instant, time),
            _ => return None,
        };
        for number in [one, other] {
            let reached = || places(self.sends[number].audience, &self.segments, Country::All);
            self.places.entry(self.classes[number]).or_insert_with(reached);
        }
        let (one, other) = (self.classes[one], self.classes[other]);
        let zones = self.zones.entry((one.min(other), one.max(other))).or_insert_with(|| {
            let both = self.places[&one].clone().and(self.places[&other].clone());
            let named = both.named.iter().map(|(name, _)| zone::get(name));
            // An unknown zone can be any.
            named.collect::<Option<Vec<TimeZone>>>().filter(|zones| !both.elsewhere && !zones.is_empty())
        });
        let moments = zones.iter().flatten().filter_map(|zone| zone.to_timestamp(time).ok());
        moments.map(|there| there.duration_since(instant).abs()).min()
    }

    /// Whether two of the audiences can share a device; `None` if the limit is reached.
    fn shared(&mut self, one: usize, other: usize) -> Option<Shared> {
        let pair = (one.min(other), one.max(other));
        if let Some(known) = self.answers.get(&pair) {
            return Some(known.clone());
        }
        if let Some(listed) = &mut self.listed {
            listed.insert(pair);
            return None;
        }
        if self.answers.len() >= QUESTIONS || self.budget.is_spent() {
            return None;
        }
        let shared = match self.ahead.remove(&pair) {
            // With fewer steps left, it might have ended earlier.
            Some((shared, steps)) if self.budget.left() >= steps.max(audience::STEPS) => {
                self.budget.spend(steps);
                shared
            }
            _ => {
                for class in [one, other] {
                    if self.audiences[class].1.is_none() {
                        self.audiences[class].1 = Some(self.audience(self.audiences[class].0));
                    }
                }
                let mut budget = self.budget.clone();
                let shared = self.overlap(one, other, &mut budget)?;
                self.budget = budget;
                shared
            }
        };
        self.answers.insert(pair, shared.clone());
        Some(shared)
    }

    /// The recipients of a message.
    fn audience(&self, number: usize) -> Audience {
        let Upcoming { audience: selector, people, devices, when, .. } = self.sends[number];
        let whole = people.cloned().unwrap_or_else(|| Audience::of(selector, &self.segments));
        whole.reached(devices, matches!(when, When::EachZone(_)))
    }

    fn overlap(&self, one: usize, other: usize, budget: &mut Budget) -> Option<Shared> {
        let (first, second) = (self.audiences[one].1.as_ref()?, self.audiences[other].1.as_ref()?);
        Some(match audience::overlap_within(first, second, budget) {
            Answer::Yes(device) => Shared::Some(Some(device.to_string())),
            Answer::No(()) => Shared::Nobody,
            Answer::TooComplex => Shared::Some(None),
        })
    }
}

fn party(number: usize, send: &Upcoming) -> Party {
    Party { number, address: send.address.clone(), variant: send.variant, when: send.when }
}

/// The minimal distance between two messages.
fn gap(one: When, other: When) -> SignedDuration {
    if let (When::EachZone(one), When::EachZone(other)) = (one, other) {
        // A device has one clock, so the local times are compared.
        return one.duration_since(other).abs();
    }
    let ((first, last), (next, end)) = (range(one), range(other));
    next.duration_since(last).max(first.duration_since(end)).max(SignedDuration::ZERO)
}

#[cfg(test)]
mod tests;
