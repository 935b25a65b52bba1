//! An example device: the traits that put it in some audiences and outside of others, and no more.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::among::Among;
use super::facts::{About, Fact};
use super::phrases;
use super::question::Traits;
use super::terms::{Id, Join, Term, Terms};
use super::value::Value;

/// A device, as far as it matters: every device with these traits is an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExampleDevice {
    traits: BTreeMap<About, KnownValues>,
    /// Conditions that both of two audiences require. They do not show the difference, so the description leaves them
    /// out.
    given: BTreeSet<About>,
}

/// Knowledge about one property of a device: it has one of these values, or none of them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct KnownValues {
    values: Among,
    so: bool,
}

/// The known values of a device while they are collected.
type Gathered = BTreeMap<About, (Vec<Value>, bool)>;

impl ExampleDevice {
    /// Returns the traits of a device that put it in some terms and outside others. If several members decide a
    /// compound, the one that needs the fewest words is used.
    pub(super) fn of(terms: &Terms, roots: &[Id], found: &Traits) -> Self {
        let needed = terms.within(roots);
        let mut answers = vec![(false, 0); terms.len()];
        for id in (0..terms.len()).filter(|id| needed[*id]) {
            answers[id] = answer(terms.get(id), &answers, found);
        }
        let mut told = vec![false; terms.len()];
        roots.iter().for_each(|root| told[*root] = true);
        let mut traits = Gathered::new();
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
                    // A member that is described anyway needs no words at all.
                    let cheapest = deciding.min_by_key(|member| (!told[**member], answers[**member].1));
                    cheapest.into_iter().for_each(|member| told[*member] = true);
                }
                Term::Joined(_, members) => members.iter().for_each(|member| told[*member] = true),
            }
        }
        let known = |(values, so): (Vec<Value>, bool)| KnownValues { values: values.into_iter().collect(), so };
        let traits = traits.into_iter().map(|(about, gathered)| (about, known(gathered))).collect();
        Self { traits, given: BTreeSet::new() }
    }

    /// Marks everything that both audiences require, so that the description of the device leaves it out.
    pub(super) fn between(mut self, terms: &Terms, one: Id, other: Id) -> Self {
        let (one, other) = (asked(terms, one), asked(terms, other));
        let both = one.intersection(&other).filter_map(|id| match terms.get(*id) {
            Term::Is { fact, .. } => Some(fact.about.clone()),
            _ => None,
        });
        self.given = both.collect();
        self
    }

    /// Marks a thing that the description of the device leaves out.
    pub(super) fn given(mut self, about: &About) -> Self {
        self.given.insert(about.clone());
        self
    }

    /// Returns the required facts, and whether the device has them: for each property one of some values, or none of
    /// them.
    pub fn traits(&self) -> impl Iterator<Item = (Fact, bool)> {
        let fact = |about: &About, known: &KnownValues| Fact { about: about.clone(), values: known.values.clone() };
        self.traits.iter().map(move |(about, known)| (fact(about, known), known.so))
    }
}

/// Such as: `an iOS device in GB, with the tag vip and not in the segment staff`.
impl fmt::Display for ExampleDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = match self.traits.get(&About::Kind) {
            Some(KnownValues { values, so: true }) => {
                match values.iter().map(phrases::kind).collect::<String>().as_str() {
                    name @ ("iOS" | "Android" | "Amazon") => format!("an {name} device"),
                    "the web" => "a web browser".to_owned(),
                    name => format!("a device on {name}"),
                }
            }
            _ => "a device".to_owned(),
        };
        let mut is: Vec<_> = self.traits.iter().collect();
        is.retain(|(about, known)| **about != About::Kind || !known.so);
        if is.iter().any(|(about, _)| !self.given.contains(about)) {
            is.retain(|(about, _)| !self.given.contains(about));
        }
        let user = is.iter().position(|(about, known)| **about == About::NamedUser && known.so);
        let user = user.map(|place| is.remove(place));
        let noun = user.map_or_else(
            || noun.clone(),
            |(about, known)| format!("{noun} {}", phrases::said_of(about, &known.values, false)),
        );
        if is.is_empty() {
            return f.write_str(if self.traits.is_empty() { "any device" } else { &noun });
        }
        is.sort_by_key(|(_, known)| !known.so);
        let words = is.iter().map(|(about, known)| phrases::said_of(about, &known.values, !known.so));
        write!(f, "{noun} {}", phrases::some_of(words, "and", "more traits"))
    }
}

/// Returns the terms that a term requires of every device in it.
fn asked(terms: &Terms, id: Id) -> BTreeSet<Id> {
    match terms.get(id) {
        Term::Joined(Join::All, members) => members.iter().copied().collect(),
        _ => BTreeSet::from([id]),
    }
}

/// The value of a member that decides a compound by itself.
fn decisive(join: Join) -> bool {
    join == Join::Any
}

/// Returns whether a device is in a term, and the number of words that explain it.
fn answer(term: &Term, answers: &[(bool, usize)], found: &Traits) -> (bool, usize) {
    match term {
        Term::Everyone => (true, 0),
        Term::Nobody => (false, 0),
        Term::Is { fact, not } => {
            let so = found.get(&fact.about).is_some_and(|value| fact.values.contains(value));
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

/// Adds that the device has a fact, or does not have it.
fn tell(traits: &mut Gathered, fact: &Fact, so: bool, found: &Traits) {
    match (so, found.get(&fact.about), traits.get_mut(&fact.about)) {
        (true, Some(value), _) => {
            traits.insert(fact.about.clone(), (vec![value.clone()], true));
        }
        // The value that it has excludes all others.
        (false, _, Some((_, true))) => {}
        (false, _, Some((values, _))) => values.extend(fact.values.iter().cloned()),
        (false, _, None) => {
            traits.insert(fact.about.clone(), (fact.values.iter().cloned().collect(), false));
        }
        (true, None, _) => {}
    }
}
