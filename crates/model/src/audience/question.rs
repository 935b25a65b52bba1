//! A question about terms, as clauses: the content of the terms, and the laws that every device follows.

use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash, Hasher};

use super::attributes;
use super::facts::{About, Case, tells_location};
use super::solver::{Budget, Lit, Solver, Verdict};
use super::terms::{Id, Join, Term, Terms};
use super::value::Value;
use crate::nouns::device::DeviceType;
use crate::nouns::zone::Spread;

/// Terms together with the laws. Each question uses what is left of the budget.
#[derive(Debug)]
pub struct Question<'t> {
    solver: Solver,
    /// The literal of each term, if it is part of the question.
    lits: Vec<Option<Lit>>,
    known: Vec<DeviceTrait<'t>>,
}

/// The possible values of one property of a device, in order. Traits are ordered by their property.
#[derive(Debug)]
struct DeviceTrait<'t> {
    about: &'t About,
    lits: Vec<(&'t Value, Lit)>,
}

/// A property, a value of it in a fact, and the term of that fact.
type Mention<'t> = (&'t About, &'t Value, Id);

/// The difference between values of a property: the terms whose facts contain the value, and how laws treat it.
struct Distinction<'t, 's>(&'s [Mention<'t>], Case<'t>);

impl Distinction<'_, '_> {
    fn terms(&self) -> impl Iterator<Item = Id> {
        self.0.iter().map(|(_, _, id)| *id)
    }
}

impl PartialEq for Distinction<'_, '_> {
    fn eq(&self, other: &Self) -> bool {
        self.1 == other.1 && self.terms().eq(other.terms())
    }
}

impl Eq for Distinction<'_, '_> {}

impl Hash for Distinction<'_, '_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.terms().for_each(|id| id.hash(state));
        self.1.hash(state);
    }
}

/// The result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Solution<'t> {
    /// A device that answers the question.
    Device(Traits<'t>),
    /// There is no such device, because of these terms.
    None(Vec<Id>),
    OverBudget,
}

/// The values of a device, by property. Only values that occur in the question are included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traits<'t>(Vec<(&'t About, &'t Value)>);

impl<'t> Traits<'t> {
    pub fn get(&self, about: &About) -> Option<&'t Value> {
        let at = self.0.binary_search_by(|(known, _)| (*known).cmp(about)).ok()?;
        Some(self.0[at].1)
    }
}

/// Properties and values that laws need, even if no condition names them.
static KIND: About = About::Kind;
static KINDS: [Value; 3] =
    [Value::Kind(DeviceType::Ios), Value::Kind(DeviceType::Android), Value::Kind(DeviceType::Amazon)];

impl<'t> Question<'t> {
    pub fn about(terms: &'t Terms, roots: &[Id]) -> Self {
        let needed = terms.within(roots);
        let mut said: Vec<Mention> = Vec::with_capacity(2 * terms.len());
        for id in (0..terms.len()).filter(|id| needed[*id]) {
            if let Term::Is { fact, .. } = terms.get(id) {
                said.extend(fact.values.iter().map(|value| (&fact.about, value, id)));
            }
        }
        said.sort_unstable();
        let mut solver = Solver::with_room(2 * terms.len() + 8);
        let mut known: Vec<DeviceTrait> = Vec::new();
        // By term: the literals of its fact's values.
        let mut any: Vec<(Id, Lit)> = Vec::with_capacity(said.len());
        for of_thing in said.chunk_by(|one, other| one.0 == other.0) {
            let about = of_thing[0].0;
            // Values that no fact and no law distinguishes are one: a thousand named users are a few cases.
            let mut cases: HashMap<Distinction, Lit, Spread> = HashMap::default();
            let mut lits = Vec::with_capacity(of_thing.len());
            for of_value in of_thing.chunk_by(|one, other| one.1 == other.1) {
                let value = of_value[0].1;
                // Most properties have one value, so nothing has to be distinguished.
                let lit = match of_value.len() == of_thing.len() {
                    true => solver.variable(),
                    false => {
                        *cases.entry(Distinction(of_value, about.case(value))).or_insert_with(|| solver.variable())
                    }
                };
                any.extend(of_value.iter().map(|(_, _, id)| (*id, lit)));
                lits.push((value, lit));
            }
            known.push(DeviceTrait { about, lits });
        }
        any.sort_unstable();
        any.dedup();
        laws(&mut solver, &mut known);
        let mut question = Self { solver, lits: vec![None; terms.len()], known };
        let (mut any, mut parts) = (&any[..], Vec::new());
        for id in (0..terms.len()).filter(|id| needed[*id]) {
            let (own, others) = any.split_at(any.partition_point(|(of, _)| *of <= id));
            any = others;
            question.lits[id] = Some(question.encode(terms.get(id), own, &mut parts));
        }
        question
    }

    /// Returns a literal that is equivalent to a term. A fact is the disjunction of its values. `lits` is a reused
    /// buffer for the literals of its parts.
    fn encode(&mut self, term: &Term, any: &[(Id, Lit)], lits: &mut Vec<Lit>) -> Lit {
        lits.clear();
        let join = match term {
            Term::Everyone => Join::All,
            Term::Nobody => Join::Any,
            Term::Is { .. } => {
                lits.extend(any.iter().map(|(_, lit)| *lit));
                Join::Any
            }
            Term::Joined(join, members) => {
                lits.extend(members.iter().filter_map(|member| self.lits[*member]));
                *join
            }
        };
        let lit = match lits[..] {
            [one] => one,
            _ => {
                let whole = self.solver.variable();
                // The negation of "any of" is "all of" the opposites.
                let turn = |lit: Lit| if join == Join::Any { !lit } else { lit };
                lits.iter().for_each(|lit| self.solver.clause([!turn(whole), turn(*lit)]));
                self.solver.clause(lits.iter().map(|lit| !turn(*lit)).chain([turn(whole)]));
                whole
            }
        };
        if matches!(term, Term::Is { not: true, .. }) { !lit } else { lit }
    }

    /// Asks for a device that is in all of some terms and in none of others.
    pub fn ask(&mut self, within: &[Id], without: &[Id], budget: &mut Budget) -> Solution<'t> {
        let lit = |id: &Id| self.lits[*id].map(|lit| (lit, *id));
        let mut assumed: Vec<(Lit, Id)> = within.iter().filter_map(lit).collect();
        assumed.extend(without.iter().filter_map(lit).map(|(lit, id)| (!lit, id)));
        let lits: Vec<Lit> = assumed.iter().map(|(lit, _)| *lit).collect();
        match self.solver.solve(&lits, budget) {
            Verdict::OverBudget => Solution::OverBudget,
            Verdict::Cannot(core) => {
                Solution::None(assumed.into_iter().filter(|(lit, _)| core.contains(lit)).map(|(_, id)| id).collect())
            }
            Verdict::Can => Solution::Device(Traits(self.known.iter().filter_map(|thing| self.read(thing)).collect())),
        }
    }

    fn read(&self, thing: &DeviceTrait<'t>) -> Option<(&'t About, &'t Value)> {
        let (value, _) = thing.lits.iter().find(|(_, lit)| self.solver.holds(*lit))?;
        Some((thing.about, value))
    }
}

/// Adds the laws that hold for every device.
fn laws(solver: &mut Solver, known: &mut Vec<DeviceTrait>) {
    let kinds = kinds(solver, known);
    let kind = |device: &DeviceType| {
        let place = kinds.binary_search_by(|(known, _)| (*known).cmp(device)).ok()?;
        Some(kinds[place].1)
    };
    let mut possible: Vec<Lit> = Vec::new();
    for DeviceTrait { about, lits } in &*known {
        possible.clear();
        for (value, lit) in lits {
            match about.can_be(value) {
                true => possible.push(*lit),
                false => solver.clause([!*lit]),
            }
        }
        let number = possible.len();
        // Each literal once.
        possible.sort_unstable();
        possible.dedup();
        // A device has one value.
        at_most_one(solver, &possible);
        if about.count() == Some(number) {
            solver.clause(possible.iter().copied());
        }
        // Some groups exist on one platform only.
        if let Some(platform) = about.kind().and_then(|device| kind(&device)) {
            possible.iter().for_each(|lit| solver.clause([!*lit, platform]));
        }
        for (value, lit) in lits {
            match (about, value) {
                // A channel belongs to one platform.
                (About::Channel, Value::Channel(_, line)) => match line.kind() {
                    Some(device) => solver.clause([Some(!*lit), kind(&device)].into_iter().flatten()),
                    None => {
                        for device in [DeviceType::Ios, DeviceType::Android, DeviceType::Amazon] {
                            solver.clause([Some(!*lit), kind(&device).map(|kind| !kind)].into_iter().flatten());
                        }
                    }
                },
                // Only open channels have an address.
                (About::Address, _) => {
                    for (device, kind) in &kinds {
                        if !matches!(device, DeviceType::Open(_)) {
                            solver.clause([!*lit, !*kind]);
                        }
                    }
                }
                _ => {}
            }
        }
    }
    location(solver, known);
    places(solver, known);
    let attributes = known.iter().filter_map(|thing| match (thing.about, &thing.lits[..]) {
        (About::Attribute(written), [(_, lit)]) => Some((written.as_str(), *lit)),
        _ => None,
    });
    attributes::laws(solver, attributes);
}

/// Returns the kinds of device that are named or that a law needs. Each device is of one kind.
fn kinds<'t>(solver: &mut Solver, known: &mut Vec<DeviceTrait<'t>>) -> Vec<(&'t DeviceType, Lit)> {
    let needed =
        |about: &About| matches!(about, About::Kind | About::Channel | About::Address) || about.kind().is_some();
    if !known.iter().any(|thing| needed(thing.about)) {
        return Vec::new();
    }
    let place = known.binary_search_by(|thing| thing.about.cmp(&KIND)).unwrap_or_else(|place| {
        known.insert(place, DeviceTrait { about: &KIND, lits: Vec::new() });
        place
    });
    let lits = &mut known[place].lits;
    for kind in &KINDS {
        if let Err(place) = lits.binary_search_by(|(value, _)| (*value).cmp(kind)) {
            lits.insert(place, (kind, solver.variable()));
        }
    }
    let kind = |(value, lit): &(&'t Value, Lit)| match value {
        Value::Kind(device) => Some((device, *lit)),
        _ => None,
    };
    lits.iter().filter_map(kind).collect()
}

/// Only devices with SDK 6.0 or later report whether location is enabled, and all of them do.
fn location(solver: &mut Solver, known: &[DeviceTrait]) {
    let Some(DeviceTrait { about, lits }) = known.iter().find(|thing| thing.about.is_location()) else { return };
    let flags: Vec<Lit> = lits.iter().filter(|(value, _)| about.can_be(value)).map(|(_, lit)| *lit).collect();
    for (version, lit) in known.iter().filter(|thing| thing.about.is_sdk()).flat_map(|thing| &thing.lits) {
        match tells_location(version) {
            Some(false) => flags.iter().for_each(|flag| solver.clause([!*lit, !*flag])),
            // If only one of the two values is named, the device may have the other.
            Some(true) if flags.len() == 2 => solver.clause(flags.iter().copied().chain([!*lit])),
            _ => {}
        }
    }
}

/// A device that was seen somewhere in the last month was also seen there in the last year.
fn places(solver: &mut Solver, known: &[DeviceTrait]) {
    let mut seen: BTreeMap<&str, Vec<(Option<i64>, Lit)>> = BTreeMap::new();
    for DeviceTrait { about, lits } in known {
        if let About::Place { id, months } = about {
            seen.entry(id).or_default().extend(lits.iter().map(|(_, lit)| (*months, *lit)));
        }
    }
    for periods in seen.values_mut() {
        // Without a period, any time counts.
        periods.sort_by_key(|(months, _)| (months.is_none(), *months));
        periods.windows(2).for_each(|pair| solver.clause([!pair[0].1, pair[1].1]));
    }
}

/// Adds that at most one of these holds: each one excludes the ones before it.
fn at_most_one(solver: &mut Solver, lits: &[Lit]) {
    let mut before: Option<Lit> = None;
    for lit in lits.iter().filter(|_| lits.len() > 1) {
        let so_far = solver.variable();
        solver.clause([!*lit, so_far]);
        if let Some(before) = before {
            solver.clause([!before, so_far]);
            solver.clause([!before, !*lit]);
        }
        before = Some(so_far);
    }
}
