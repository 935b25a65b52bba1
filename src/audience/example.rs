//! One device as an example: what is needed of it to be in some audiences and outside others, and no more.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::facts::{About, Fact};
use super::phrases;
use super::question::Known;
use super::terms::{Id, Join, Term, Terms};

/// A device, as far as it matters: whoever has these traits is an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    traits: BTreeMap<About, Known>,
    /// What both of two audiences ask for: it says nothing of how they differ, and goes without words.
    given: BTreeSet<About>,
}

impl Device {
    /// The traits of a device that put it in some terms and outside others. Of a compound that several members decide, the
    /// one that needs the fewest words is told.
    pub(super) fn of(terms: &Terms, roots: &[Id], found: &BTreeMap<About, Known>) -> Self {
        let needed = terms.within(roots);
        let mut answers = vec![(false, 0); terms.len()];
        for id in (0..terms.len()).filter(|id| needed[*id]) {
            answers[id] = answer(terms.get(id), &answers, found);
        }
        let mut told = vec![false; terms.len()];
        roots.iter().for_each(|root| told[*root] = true);
        let mut traits: BTreeMap<About, Known> = BTreeMap::new();
        for id in (0..terms.len()).rev() {
            if !told[id] {
                continue;
            }
            let (so, _) = answers[id];
            match terms.get(id) {
                Term::Everyone | Term::Nobody => {}
                Term::Is { fact, not } => tell(&mut traits, fact, so != *not, found),
                Term::Joined(join, members) if so == decisive(*join) => {
                    let deciding = members.iter().filter(|member| answers[**member].0 == so);
                    // A member that is told anyway needs no words at all.
                    let cheapest = deciding.min_by_key(|member| (!told[**member], answers[**member].1));
                    cheapest.into_iter().for_each(|member| told[*member] = true);
                }
                Term::Joined(_, members) => members.iter().for_each(|member| told[*member] = true),
            }
        }
        Self { traits, given: BTreeSet::new() }
    }

    /// The same in a comparison of two audiences.
    pub(super) fn between(mut self, terms: &Terms, one: Id, other: Id) -> Self {
        let (one, other) = (asked(terms, one), asked(terms, other));
        let both = one.intersection(&other).filter_map(|id| match terms.get(*id) {
            Term::Is { fact, .. } => Some(fact.about.clone()),
            _ => None,
        });
        self.given = both.collect();
        self
    }

    /// What it has to be, and whether it has to be so or not: of each thing one of some values, or none of them.
    pub fn traits(&self) -> impl Iterator<Item = (Fact, bool)> {
        self.traits.iter().map(|(about, known)| match known {
            Known::Is(value) => (Fact::new(about.clone(), [value.clone()]), true),
            Known::Not(values) => (Fact::new(about.clone(), values.iter().cloned()), false),
        })
    }
}

/// In words: `an iOS device in GB, with the tag vip and not in the segment staff`.
impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = match self.traits.get(&About::Kind) {
            Some(Known::Is(kind)) => match phrases::kind(kind).as_str() {
                name @ ("iOS" | "Android" | "Amazon") => format!("an {name} device"),
                "the web" => "a web browser".to_owned(),
                name => format!("a device on {name}"),
            },
            _ => "a device".to_owned(),
        };
        let mut is: Vec<_> = self.traits().collect();
        is.retain(|(fact, so)| fact.about != About::Kind || !so);
        if is.iter().any(|(fact, _)| !self.given.contains(&fact.about)) {
            is.retain(|(fact, _)| !self.given.contains(&fact.about));
        }
        if is.is_empty() {
            return f.write_str(if self.traits.is_empty() { "any device" } else { &noun });
        }
        is.sort_by_key(|(_, so)| !so);
        let words = is.iter().map(|(fact, so)| phrases::said(fact, !so));
        write!(f, "{noun} {}", phrases::some_of(words, "and", "more traits"))
    }
}

/// What a term asks of everybody.
fn asked(terms: &Terms, id: Id) -> BTreeSet<Id> {
    match terms.get(id) {
        Term::Joined(Join::All, members) => members.iter().copied().collect(),
        _ => BTreeSet::from([id]),
    }
}

/// What decides a compound by itself.
fn decisive(join: Join) -> bool {
    join == Join::Any
}

/// Whether a device is in a term, and how many words it takes to say why.
fn answer(term: &Term, answers: &[(bool, usize)], found: &BTreeMap<About, Known>) -> (bool, usize) {
    match term {
        Term::Everyone => (true, 0),
        Term::Nobody => (false, 0),
        Term::Is { fact, not } => {
            let so = matches!(found.get(&fact.about), Some(Known::Is(value)) if fact.values.contains(value));
            (so != *not, 1)
        }
        Term::Joined(join, members) => {
            let members = members.iter().map(|member| answers[*member]);
            let deciding = members.clone().filter(|(so, _)| *so == decisive(*join));
            match deciding.map(|(_, words)| words).min() {
                Some(words) => (decisive(*join), words),
                None => (!decisive(*join), members.fold(0, |sum, (_, words)| sum.saturating_add(words))),
            }
        }
    }
}

/// Adds that a fact is so of the device, or not.
fn tell(traits: &mut BTreeMap<About, Known>, fact: &Fact, so: bool, found: &BTreeMap<About, Known>) {
    match (so, found.get(&fact.about), traits.get_mut(&fact.about)) {
        (true, Some(known), _) => {
            traits.insert(fact.about.clone(), known.clone());
        }
        // What it is says what it is not.
        (false, _, Some(Known::Is(_))) => {}
        (false, _, Some(Known::Not(values))) => values.extend(fact.values.iter().cloned()),
        (false, _, None) => {
            traits.insert(fact.about.clone(), Known::Not(fact.values.clone()));
        }
        (true, None, _) => {}
    }
}
