//! A question about terms, as clauses: what the terms say, and the laws that every device follows.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::facts::{About, Value, tells_location};
use super::solver::{Budget, Lit, Solver, Verdict};
use super::terms::{Id, Join, Term, Terms};
use crate::model::device::DeviceType;

/// Terms together with the laws. Each question is asked within what is left of the budget.
#[derive(Debug)]
pub struct Question {
    solver: Solver,
    /// By term, where it is part of the question.
    lits: Vec<Option<Lit>>,
    /// What can be known of a device, by thing and value.
    known: BTreeMap<About, BTreeMap<Value, Lit>>,
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A device for which it is so: of each thing, the value that it has, or those that it has not.
    Device(BTreeMap<About, Known>),
    /// There is none, because of these.
    None(Vec<Id>),
    OverBudget,
}

/// What is known of one thing of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known {
    Is(Value),
    /// It is none of these.
    Not(BTreeSet<Value>),
}

impl Question {
    pub fn about(terms: &Terms, roots: &[Id]) -> Self {
        let needed = terms.within(roots);
        let mut values: BTreeMap<&About, BTreeMap<&Value, Vec<Id>>> = BTreeMap::new();
        for id in (0..terms.len()).filter(|id| needed[*id]) {
            if let Term::Is { fact, .. } = terms.get(id) {
                let values = values.entry(&fact.about).or_default();
                fact.values.iter().for_each(|value| values.entry(value).or_default().push(id));
            }
        }
        let mut solver = Solver::with_room(2 * terms.len() + 8);
        let mut known: BTreeMap<About, BTreeMap<Value, Lit>> = BTreeMap::new();
        for (about, values) in values {
            // Values that no fact and no law tells apart are one: a thousand named users are few cases.
            let mut cases: HashMap<_, Lit> = HashMap::new();
            let mut lits = BTreeMap::new();
            let is_one = values.len() == 1;
            for (value, ids) in values {
                // Most things have one value, which nothing needs to be told apart from.
                let lit = match is_one {
                    true => solver.variable(),
                    false => *cases.entry((ids, about.case(value))).or_insert_with(|| solver.variable()),
                };
                lits.insert(value.clone(), lit);
            }
            known.insert(about.clone(), lits);
        }
        laws(&mut solver, &mut known);
        let mut question = Self { solver, lits: vec![None; terms.len()], known };
        for id in (0..terms.len()).filter(|id| needed[*id]) {
            question.lits[id] = Some(question.encode(terms.get(id)));
        }
        question
    }

    /// A literal that holds exactly where the term does.
    fn encode(&mut self, term: &Term) -> Lit {
        let (lits, join) = match term {
            Term::Everyone => (vec![], Join::All),
            Term::Nobody => (vec![], Join::Any),
            Term::Is { fact, .. } => {
                let known = &self.known[&fact.about];
                (distinct(fact.values.iter().map(|value| known[value])), Join::Any)
            }
            Term::Joined(join, members) => (members.iter().filter_map(|member| self.lits[*member]).collect(), *join),
        };
        let lit = match lits[..] {
            [one] => one,
            _ => {
                let whole = self.solver.variable();
                // Any of them is not all of their opposites.
                let turn = |lit: Lit| if join == Join::Any { !lit } else { lit };
                lits.iter().for_each(|lit| self.solver.clause([!turn(whole), turn(*lit)]));
                self.solver.clause(lits.iter().map(|lit| !turn(*lit)).chain([turn(whole)]));
                whole
            }
        };
        if matches!(term, Term::Is { not: true, .. }) { !lit } else { lit }
    }

    /// Whether a device can be in all of some terms and in none of others.
    pub fn ask(&mut self, within: &[Id], without: &[Id], budget: &mut Budget) -> Found {
        let lit = |id: &Id| self.lits[*id].map(|lit| (lit, *id));
        let mut assumed: Vec<(Lit, Id)> = within.iter().filter_map(lit).collect();
        assumed.extend(without.iter().filter_map(lit).map(|(lit, id)| (!lit, id)));
        let lits: Vec<Lit> = assumed.iter().map(|(lit, _)| *lit).collect();
        match self.solver.solve(&lits, budget) {
            Verdict::OverBudget => Found::OverBudget,
            Verdict::Cannot(core) => {
                Found::None(assumed.into_iter().filter(|(lit, _)| core.contains(lit)).map(|(_, id)| id).collect())
            }
            Verdict::Can => {
                Found::Device(self.known.iter().map(|(about, lits)| (about.clone(), self.read(lits))).collect())
            }
        }
    }

    fn read(&self, lits: &BTreeMap<Value, Lit>) -> Known {
        match lits.iter().find(|(_, lit)| self.solver.holds(**lit)) {
            Some((value, _)) => Known::Is(value.clone()),
            None => Known::Not(lits.keys().cloned().collect()),
        }
    }
}

/// What holds of every device.
fn laws(solver: &mut Solver, known: &mut BTreeMap<About, BTreeMap<Value, Lit>>) {
    let kinds = kinds(solver, known);
    let kind = |device: &DeviceType| kinds.get(device).copied();
    for (about, lits) in &*known {
        let can_be = || lits.iter().filter(|(value, _)| about.can_be(value));
        let possible = distinct(can_be().map(|(_, lit)| *lit));
        lits.iter().filter(|(value, _)| !about.can_be(value)).for_each(|(_, lit)| solver.clause([!*lit]));
        // It has one value.
        at_most_one(solver, &possible);
        if about.count() == Some(can_be().count()) {
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
}

/// Each of these once.
fn distinct(lits: impl Iterator<Item = Lit>) -> Vec<Lit> {
    let mut lits: Vec<Lit> = lits.collect();
    lits.sort_unstable();
    lits.dedup();
    lits
}

/// The kinds of device that somebody speaks of or that a law needs. Each device is of one.
fn kinds(solver: &mut Solver, known: &mut BTreeMap<About, BTreeMap<Value, Lit>>) -> BTreeMap<DeviceType, Lit> {
    let needed =
        |about: &About| matches!(about, About::Kind | About::Channel | About::Address) || about.kind().is_some();
    if !known.keys().any(needed) {
        return BTreeMap::new();
    }
    let lits = known.entry(About::Kind).or_default();
    for device in [DeviceType::Ios, DeviceType::Android, DeviceType::Amazon] {
        lits.entry(Value::Kind(device)).or_insert_with(|| solver.variable());
    }
    let kind = |(value, lit): (&Value, &Lit)| match value {
        Value::Kind(device) => Some((device.clone(), *lit)),
        _ => None,
    };
    lits.iter().filter_map(kind).collect()
}

/// Only devices with SDK 6.0 or later say whether location is enabled, and all of those do.
fn location(solver: &mut Solver, known: &BTreeMap<About, BTreeMap<Value, Lit>>) {
    let Some((about, flags)) = known.iter().find(|(about, _)| about.is_location()) else { return };
    let flags: Vec<Lit> = flags.iter().filter(|(value, _)| about.can_be(value)).map(|(_, lit)| *lit).collect();
    for (version, lit) in known.iter().filter(|(about, _)| about.is_sdk()).flat_map(|(_, versions)| versions) {
        match tells_location(version) {
            Some(false) => flags.iter().for_each(|flag| solver.clause([!*lit, !*flag])),
            // Where only one of the two is spoken of, it may be the other.
            Some(true) if flags.len() == 2 => solver.clause(flags.iter().copied().chain([!*lit])),
            _ => {}
        }
    }
}

/// Who was seen somewhere in the last month was seen there in the last year.
fn places(solver: &mut Solver, known: &BTreeMap<About, BTreeMap<Value, Lit>>) {
    let mut seen: BTreeMap<&str, Vec<(Option<i64>, Lit)>> = BTreeMap::new();
    for (about, lits) in known {
        if let About::Place { id, months } = about {
            seen.entry(id).or_default().extend(lits.values().map(|lit| (*months, *lit)));
        }
    }
    for periods in seen.values_mut() {
        // Without a period it is any time.
        periods.sort_by_key(|(months, _)| (months.is_none(), *months));
        periods.windows(2).for_each(|pair| solver.clause([!pair[0].1, pair[1].1]));
    }
}

/// At most one of these holds: each says that what came before it does not.
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
