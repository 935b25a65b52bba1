//! Whether any device can meet a set of clauses: a search that learns from its mistakes, within a budget.
//!
//! Conflict-driven clause learning with two watched literals, in the usual form. Nothing is random and no clock is asked, so
//! that the same question always gets the same answer.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::mem;
use std::ops::Not;

/// A variable, or its opposite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lit(u32);

impl Lit {
    fn var(self) -> usize {
        (self.0 >> 1) as usize
    }

    fn index(self) -> usize {
        self.0 as usize
    }

    fn is_negative(self) -> bool {
        self.0 & 1 == 1
    }
}

impl Not for Lit {
    type Output = Self;
    fn not(self) -> Self {
        Self(self.0 ^ 1)
    }
}

/// How many steps may still be taken.
#[derive(Clone, Debug)]
pub struct Budget(usize);

impl Budget {
    pub fn new(steps: usize) -> Self {
        Self(steps)
    }

    pub fn left(&self) -> usize {
        self.0
    }

    /// Takes some of it; false once nothing is left.
    pub fn spend(&mut self, steps: usize) -> bool {
        self.0 = self.0.saturating_sub(steps);
        self.0 > 0
    }

    pub fn is_spent(&self) -> bool {
        self.0 == 0
    }
}

/// The end of a search.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It can be; [`Solver::holds`] tells how.
    Can,
    /// It cannot be, because of these assumptions.
    Cannot(Vec<Lit>),
    OverBudget,
}

#[derive(Debug, Default)]
pub struct Solver {
    clauses: Vec<Vec<Lit>>,
    /// By literal: the clauses that want to know when it becomes false.
    watches: Vec<Vec<usize>>,
    values: Vec<Option<bool>>,
    levels: Vec<usize>,
    reasons: Vec<Option<usize>>,
    /// What was true or false last: where the search goes first. False to begin with, so that examples say little.
    saved: Vec<bool>,
    /// When a variable last took part in a conflict. The latest is decided first.
    stamps: Vec<usize>,
    waiting: BinaryHeap<(usize, usize)>,
    trail: Vec<Lit>,
    /// Where each level begins in the trail.
    begins: Vec<usize>,
    head: usize,
    conflicts: usize,
    impossible: bool,
    model: Vec<bool>,
}

impl Solver {
    /// With room for so many variables.
    pub fn with_room(variables: usize) -> Self {
        Self {
            watches: Vec::with_capacity(2 * variables),
            values: Vec::with_capacity(variables),
            levels: Vec::with_capacity(variables),
            reasons: Vec::with_capacity(variables),
            saved: Vec::with_capacity(variables),
            stamps: Vec::with_capacity(variables),
            waiting: BinaryHeap::with_capacity(2 * variables),
            trail: Vec::with_capacity(variables),
            ..Self::default()
        }
    }

    pub fn variable(&mut self) -> Lit {
        let var = self.values.len();
        self.values.push(None);
        self.levels.push(0);
        self.reasons.push(None);
        self.saved.push(false);
        self.stamps.push(0);
        self.waiting.push((0, var));
        self.watches.extend([vec![], vec![]]);
        Lit(u32::try_from(var << 1).expect("the budget of terms is far smaller"))
    }

    /// One of these must hold.
    pub fn clause(&mut self, lits: impl IntoIterator<Item = Lit>) {
        let mut lits: Vec<Lit> = lits.into_iter().collect();
        lits.sort_unstable();
        lits.dedup();
        if lits.windows(2).any(|pair| pair[0] == !pair[1]) || lits.iter().any(|lit| self.value(*lit) == Some(true)) {
            return;
        }
        lits.retain(|lit| self.value(*lit).is_none());
        match lits[..] {
            [] => self.impossible = true,
            [one] => self.assign(one, None),
            _ => {
                self.attach(lits);
            }
        }
    }

    /// Whether a literal held when the last search ended with [`Verdict::Can`].
    pub fn holds(&self, lit: Lit) -> bool {
        self.model[lit.var()] != lit.is_negative()
    }

    /// Whether all clauses can hold together with the assumptions.
    pub fn solve(&mut self, assumed: &[Lit], budget: &mut Budget) -> Verdict {
        let verdict = self.search(assumed, budget);
        if verdict == Verdict::Can {
            self.model = self.values.iter().map(|value| value.unwrap_or(false)).collect();
        }
        self.back_to(0);
        verdict
    }

    fn search(&mut self, assumed: &[Lit], budget: &mut Budget) -> Verdict {
        let (mut since, mut patience) = (0, 100);
        loop {
            if self.impossible {
                return Verdict::Cannot(vec![]);
            }
            let conflict = self.propagate(budget);
            if budget.is_spent() {
                return Verdict::OverBudget;
            }
            if let Some(conflict) = conflict {
                if self.begins.is_empty() {
                    self.impossible = true;
                    continue;
                }
                since += 1;
                self.learn(conflict, budget);
                continue;
            }
            if since > patience {
                (since, patience) = (0, patience + patience / 2);
                self.back_to(0);
                continue;
            }
            // The assumptions are the first decisions.
            let next = match assumed.get(self.begins.len()) {
                Some(lit) => match self.value(*lit) {
                    Some(false) => return Verdict::Cannot(self.blame(*lit)),
                    _ => Some(*lit),
                },
                None => self.undecided(),
            };
            let Some(next) = next else { return Verdict::Can };
            budget.spend(1);
            self.begins.push(self.trail.len());
            if self.value(next).is_none() {
                self.assign(next, None);
            }
        }
    }

    fn value(&self, lit: Lit) -> Option<bool> {
        self.values[lit.var()].map(|value| value != lit.is_negative())
    }

    fn assign(&mut self, lit: Lit, reason: Option<usize>) {
        let var = lit.var();
        self.values[var] = Some(!lit.is_negative());
        self.levels[var] = self.begins.len();
        self.reasons[var] = reason;
        self.trail.push(lit);
    }

    fn attach(&mut self, lits: Vec<Lit>) -> usize {
        let number = self.clauses.len();
        self.watches[lits[0].index()].push(number);
        self.watches[lits[1].index()].push(number);
        self.clauses.push(lits);
        number
    }

    /// Draws all conclusions. Returns a clause of which nothing holds, if there is one.
    fn propagate(&mut self, budget: &mut Budget) -> Option<usize> {
        while let Some(&lit) = self.trail.get(self.head) {
            self.head += 1;
            let falsified = !lit;
            let watching = mem::take(&mut self.watches[falsified.index()]);
            let mut kept = Vec::with_capacity(watching.len());
            let mut conflict = None;
            for (seen, &number) in watching.iter().enumerate() {
                let mut clause = mem::take(&mut self.clauses[number]);
                if clause[0] == falsified {
                    clause.swap(0, 1);
                }
                let first = clause[0];
                if self.value(first) != Some(true) {
                    let other = (2..clause.len()).find(|at| self.value(clause[*at]) != Some(false));
                    budget.spend(other.unwrap_or(clause.len()) / 4);
                    if let Some(other) = other {
                        clause.swap(1, other);
                        self.watches[clause[1].index()].push(number);
                        self.clauses[number] = clause;
                        continue;
                    }
                    match self.value(first) {
                        None => self.assign(first, Some(number)),
                        _ => conflict = Some((number, seen)),
                    }
                }
                kept.push(number);
                self.clauses[number] = clause;
                if conflict.is_some() {
                    break;
                }
            }
            budget.spend(1 + watching.len());
            if let Some((_, seen)) = conflict {
                kept.extend_from_slice(&watching[seen + 1..]);
            }
            self.watches[falsified.index()] = kept;
            if let Some((number, _)) = conflict {
                return Some(number);
            }
            if budget.is_spent() {
                return None;
            }
        }
        None
    }

    /// Learns the clause that would have avoided the conflict, and goes back to where it says something.
    fn learn(&mut self, conflict: usize, budget: &mut Budget) {
        self.conflicts += 1;
        let level = self.begins.len();
        let mut seen = vec![false; self.values.len()];
        let mut learned = vec![];
        let (mut open, mut at, mut clause) = (0, self.trail.len(), conflict);
        let decided = loop {
            budget.spend(self.clauses[clause].len());
            for &lit in &self.clauses[clause] {
                let var = lit.var();
                if seen[var] || self.levels[var] == 0 {
                    continue;
                }
                seen[var] = true;
                self.stamps[var] = self.conflicts;
                if self.levels[var] == level {
                    open += 1;
                } else {
                    learned.push(lit);
                }
            }
            let last = loop {
                at -= 1;
                if seen[self.trail[at].var()] {
                    break self.trail[at];
                }
            };
            open -= 1;
            match self.reasons[last.var()] {
                Some(reason) if open > 0 => clause = reason,
                _ => break !last,
            }
        };
        budget.spend(seen.len() / 16);
        // The second place belongs to the latest of the others: it is watched, and its level is where to go back to.
        learned.sort_unstable_by_key(|lit| Reverse(self.levels[lit.var()]));
        let back = learned.first().map_or(0, |lit| self.levels[lit.var()]);
        self.back_to(back);
        if learned.is_empty() {
            self.assign(decided, None);
        } else {
            learned.insert(0, decided);
            let number = self.attach(learned);
            self.assign(decided, Some(number));
        }
    }

    /// The assumptions that together make this one impossible, itself among them.
    fn blame(&self, assumed: Lit) -> Vec<Lit> {
        let mut core = vec![assumed];
        let mut seen = vec![false; self.values.len()];
        seen[assumed.var()] = true;
        for &lit in self.trail.iter().rev() {
            if !seen[lit.var()] || self.levels[lit.var()] == 0 {
                continue;
            }
            match self.reasons[lit.var()] {
                Some(reason) => self.clauses[reason].iter().for_each(|lit| seen[lit.var()] = true),
                // Up to here only assumptions were decided.
                None => core.push(lit),
            }
        }
        core
    }

    fn back_to(&mut self, level: usize) {
        let Some(&begin) = self.begins.get(level) else { return };
        for lit in self.trail.drain(begin..) {
            let var = lit.var();
            self.saved[var] = !lit.is_negative();
            self.values[var] = None;
            self.waiting.push((self.stamps[var], var));
        }
        self.begins.truncate(level);
        self.head = self.trail.len();
    }

    fn undecided(&mut self) -> Option<Lit> {
        while let Some((stamp, var)) = self.waiting.pop() {
            if self.values[var].is_none() && self.stamps[var] == stamp {
                let negative = !self.saved[var];
                return u32::try_from(var << 1).ok().map(|lit| Lit(lit | u32::from(negative)));
            }
        }
        None
    }
}
