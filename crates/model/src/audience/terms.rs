//! Audiences in canonical form: equal parts exist once.
//!
//! A term is a fact, its opposite, or several terms joined by "all" or "any". Only facts are negated, a compound is
//! never a direct member of one with the same join, a compound has at most one fact about each property, and members
//! that another member implies are left out.

use std::cmp::Ordering;
use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::Arc;

use super::among::Among;
use super::facts::{About, Fact};
use super::value::Value;

/// The index of a term. The terms in it have lower ones.
pub type Id = usize;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    Everyone,
    Nobody,
    Is { fact: Arc<Fact>, not: bool },
    Joined(Join, Vec<Id>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Join {
    All,
    Any,
}

impl Join {
    /// Returns the term that decides a compound by itself.
    fn decisive(self) -> Id {
        match self {
            Self::All => Terms::NOBODY,
            Self::Any => Terms::EVERYONE,
        }
    }

    /// Returns the compound without members.
    fn empty(self) -> Id {
        match self {
            Self::All => Terms::EVERYONE,
            Self::Any => Terms::NOBODY,
        }
    }
}

/// The number of terms that most audiences stay below.
const USUAL: usize = 14;

/// A hasher that uses a mark as its own hash.
#[derive(Clone, Debug, Default)]
struct Marked(u64);

impl Hasher for Marked {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |mark, byte| mark.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, mark: u64) {
        self.0 = mark;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A set of distinct terms.
#[derive(Clone, Debug)]
pub struct Terms {
    terms: Vec<Term>,
    /// The id of each term by its mark, or by the next free mark.
    ids: HashMap<u64, Id, BuildHasherDefault<Marked>>,
    /// The sort keys of compounds: the number of their facts and a hash of their content, independent of the order of
    /// creation.
    marks: Vec<(usize, u64)>,
    /// Whether members are kept as written, to explain which of them exclude each other.
    as_said: bool,
}

impl Terms {
    pub(crate) const EVERYONE: Id = 0;
    pub const NOBODY: Id = 1;

    pub fn canonical() -> Self {
        let ids = HashMap::with_capacity_and_hasher(USUAL, BuildHasherDefault::default());
        let (terms, marks) = (Vec::with_capacity(USUAL), Vec::with_capacity(USUAL));
        let mut terms = Self { terms, ids, marks, as_said: false };
        terms.put(Term::Everyone);
        terms.put(Term::Nobody);
        terms
    }

    /// Returns terms that are flat and have no negated compounds, but are not simplified.
    pub fn as_said() -> Self {
        Self { as_said: true, ..Self::canonical() }
    }

    pub fn get(&self, id: Id) -> &Term {
        &self.terms[id]
    }

    pub fn len(&self) -> usize {
        self.terms.len()
    }

    fn put(&mut self, term: Term) -> Id {
        let mark = self.mark(&term);
        self.put_marked(term, mark)
    }

    /// Returns the number of facts of a term, and a hash of its content that is the same in other sets of terms.
    fn mark(&self, term: &Term) -> (usize, u64) {
        let mut hasher = DefaultHasher::new();
        let leaves = match term {
            Term::Joined(join, members) => {
                join.hash(&mut hasher);
                members.iter().for_each(|member| self.marks[*member].hash(&mut hasher));
                members.iter().fold(0usize, |sum, member| sum.saturating_add(self.marks[*member].0))
            }
            other => {
                other.hash(&mut hasher);
                1
            }
        };
        (leaves, hasher.finish())
    }

    fn put_marked(&mut self, term: Term, (leaves, mark): (usize, u64)) -> Id {
        let mut place = mark;
        while let Some(id) = self.ids.get(&place) {
            if self.terms[*id] == term {
                return *id;
            }
            place = place.wrapping_add(1);
        }
        let id = self.terms.len();
        self.marks.push((leaves, mark));
        self.ids.insert(place, id);
        self.terms.push(term);
        id
    }

    /// Facts come first, then their opposites, then compounds.
    fn order(&self, a: Id, b: Id) -> Ordering {
        let class = |id: Id| match &self.terms[id] {
            Term::Everyone | Term::Nobody => 0,
            Term::Is { not, .. } => 1 + usize::from(*not),
            Term::Joined(..) => 3,
        };
        class(a).cmp(&class(b)).then_with(|| match (&self.terms[a], &self.terms[b]) {
            (Term::Is { fact: a, .. }, Term::Is { fact: b, .. }) => a.cmp(b),
            _ => self.marks[a].cmp(&self.marks[b]),
        })
    }

    /// Returns a fact, or its opposite.
    pub fn is(&mut self, mut fact: Arc<Fact>, mut not: bool) -> Id {
        if self.as_said {
            return self.put(Term::Is { fact, not });
        }
        if !fact.values.iter().all(|value| fact.about.can_be(value)) {
            let Fact { about, values } = Arc::make_mut(&mut fact);
            values.retain(|value| about.can_be(value));
        }
        let Fact { about, values } = &*fact;
        let (nobody, everyone) = match not {
            false => (Self::NOBODY, Self::EVERYONE),
            true => (Self::EVERYONE, Self::NOBODY),
        };
        if values.is_empty() {
            return nobody;
        }
        match about.count() {
            Some(count) if values.len() == count => return everyone,
            // The opposite of opted in is opted out.
            Some(2) if not => {
                let said = values.iter().any(|value| value.text() == Some("true"));
                fact = Arc::new(Fact::new(about.clone(), [Value::Text((!said).to_string())]));
                not = false;
            }
            _ => {}
        }
        self.put(Term::Is { fact, not })
    }

    /// Joins several terms.
    pub fn join(&mut self, join: Join, members: impl IntoIterator<Item = Id>) -> Id {
        let mut flat = Vec::new();
        for member in members {
            match &self.terms[member] {
                Term::Joined(inner, within) if *inner == join => flat.extend_from_slice(within),
                _ => flat.push(member),
            }
        }
        if flat.contains(&join.decisive()) {
            return join.decisive();
        }
        flat.retain(|id| *id != join.empty());
        flat.sort_unstable();
        flat.dedup();
        let mut members = self.merged(join, flat);
        if members.contains(&join.decisive()) {
            return join.decisive();
        }
        if !self.as_said {
            members = self.absorbed(join, members);
        }
        members.sort_by(|a, b| self.order(*a, *b));
        match members[..] {
            [] => join.empty(),
            [one] => one,
            _ => self.put(Term::Joined(join, members)),
        }
    }

    /// Merges the members about one property into one. With `as_said`, it merges only lists of values, never members
    /// that exclude each other.
    fn merged(&mut self, join: Join, members: Vec<Id>) -> Vec<Id> {
        let listed = |not: bool| not == (join == Join::All);
        let (facts, mut rest): (Vec<Id>, Vec<Id>) = members
            .into_iter()
            .partition(|member| matches!(self.terms[*member], Term::Is { not, .. } if !self.as_said || listed(not)));
        let about = |id: Id| match &self.terms[id] {
            Term::Is { fact, .. } => Some((&fact.about, id)),
            _ => None,
        };
        let mut said: Vec<(&About, Id)> = facts.into_iter().filter_map(about).collect();
        said.sort();
        let mut merged = Vec::new();
        for of_one in said.chunk_by(|(one, _), (other, _)| one == other) {
            match of_one {
                [(_, id)] => rest.push(*id),
                _ => merged.extend(self.union_or_intersection(join, of_one.iter().map(|(_, id)| *id))),
            }
        }
        for (fact, not) in merged {
            let id = self.is(fact.into(), not);
            rest.push(id);
        }
        rest.retain(|id| *id != join.empty());
        rest
    }

    /// Merges facts about one property into a single one.
    fn union_or_intersection(&self, join: Join, ids: impl Iterator<Item = Id>) -> Option<(Fact, bool)> {
        // "Any of" is the opposite of "all of" the opposites.
        let turned = join == Join::Any;
        let (mut within, mut without): (Option<Among>, Vec<Value>) = (None, Vec::new());
        let mut about = None;
        for id in ids {
            let Term::Is { fact, not } = &self.terms[id] else { continue };
            about = Some(&fact.about);
            if *not != turned {
                without.extend(fact.values.iter().cloned());
            } else {
                match &mut within {
                    Some(within) => within.retain(|value| fact.values.contains(value)),
                    None => within = Some(fact.values.clone()),
                }
            }
        }
        let without: Among = without.into_iter().collect();
        let (values, not) = match within {
            Some(mut within) => {
                within.retain(|value| !without.contains(value));
                (within, false)
            }
            None => (without, true),
        };
        Some((Fact { about: about?.clone(), values }, not != turned))
    }

    /// Removes members that the other members make redundant.
    fn absorbed(&self, join: Join, members: Vec<Id>) -> Vec<Id> {
        let compound = |id: &Id| match &self.terms[*id] {
            Term::Joined(_, within) => Some((*id, within)),
            _ => None,
        };
        let mut compounds: Vec<(Id, &Vec<Id>)> = members.iter().filter_map(compound).collect();
        if compounds.is_empty() {
            return members;
        }
        let fact = |id: &Id| match &self.terms[*id] {
            Term::Is { fact, .. } => Some((&fact.about, *id)),
            _ => None,
        };
        let facts: HashMap<&About, Id> = members.iter().filter_map(fact).collect();
        let mut gone: HashSet<Id> = HashSet::new();
        for (id, within) in &compounds {
            let idle = within.iter().any(|inner| {
                let Term::Is { fact, .. } = &self.terms[*inner] else { return false };
                facts.get(&fact.about).is_some_and(|outer| match join {
                    Join::All => self.implies(*outer, *inner),
                    Join::Any => self.implies(*inner, *outer),
                })
            });
            if idle {
                gone.insert(*id);
            }
        }
        // A compound that contains all members of another. Those with few members come first.
        compounds.retain(|(id, _)| !gone.contains(id));
        if compounds.len() < 2 {
            return members.into_iter().filter(|id| !gone.contains(id)).collect();
        }
        compounds.sort_by_key(|(_, within)| within.len());
        let mut holders: HashMap<Id, Vec<(Id, &Vec<Id>)>> = HashMap::new();
        for (id, within) in &compounds {
            within.iter().for_each(|inner| holders.entry(*inner).or_default().push((*id, within)));
        }
        for (id, within) in &compounds {
            let rarest = within.iter().filter_map(|inner| holders.get(inner)).min_by_key(|holders| holders.len());
            for (other, wider) in rarest.into_iter().flatten() {
                if other != id && wider.len() > within.len() && !gone.contains(other) {
                    let wider: HashSet<&Id> = wider.iter().collect();
                    if within.iter().all(|inner| wider.contains(inner)) {
                        gone.insert(*other);
                    }
                }
            }
        }
        members.into_iter().filter(|id| !gone.contains(id)).collect()
    }

    /// Whether one fact about a property implies another about it.
    fn implies(&self, one: Id, other: Id) -> bool {
        let (Term::Is { fact: a, not: no_a }, Term::Is { fact: b, not: no_b }) = (&self.terms[one], &self.terms[other])
        else {
            return false;
        };
        match (no_a, no_b) {
            (false, false) => a.values.is_subset(&b.values),
            (true, true) => b.values.is_subset(&a.values),
            (false, true) => a.values.is_disjoint(&b.values),
            (true, false) => false,
        }
    }

    /// Copies a term of another set, which is canonical as well.
    pub fn adopt(&mut self, other: &Self, root: Id) -> Id {
        let needed = other.within(&[root]);
        let mut places = vec![0; root + 1];
        self.terms.reserve(places.len());
        self.marks.reserve(places.len());
        self.ids.reserve(places.len());
        for id in (0..=root).filter(|id| needed[*id]) {
            let term = match other.get(id) {
                Term::Joined(join, members) => {
                    Term::Joined(*join, members.iter().map(|member| places[*member]).collect())
                }
                term => term.clone(),
            };
            places[id] = self.put_marked(term, other.marks[id]);
        }
        places[root]
    }

    /// Returns which terms are part of these, including themselves.
    pub fn within(&self, roots: &[Id]) -> Vec<bool> {
        let mut needed = vec![false; self.terms.len()];
        roots.iter().for_each(|root| needed[*root] = true);
        for id in (0..self.terms.len()).rev().filter(|_| !roots.is_empty()) {
            if needed[id]
                && let Term::Joined(_, members) = &self.terms[id]
            {
                members.iter().for_each(|member| needed[*member] = true);
            }
        }
        needed
    }
}
