//! Decides whether a device can meet a set of clauses: a search that learns from conflicts, with a budget.
//!
//! Conflict-driven clause learning with two watched literals, in the usual form. It uses neither random numbers nor a
//! clock, so the same question always has the same answer.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::mem;
use std::ops::{Not, Range};

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

/// The number of steps that are left.
#[derive(Clone, Debug)]
pub struct Budget(usize);

impl Budget {
    pub fn new(steps: usize) -> Self {
        Self(steps)
    }

    pub fn left(&self) -> usize {
        self.0
    }

    /// Takes steps from it; returns false once none are left.
    pub fn spend(&mut self, steps: usize) -> bool {
        self.0 = self.0.saturating_sub(steps);
        self.0 > 0
    }

    pub fn is_spent(&self) -> bool {
        self.0 == 0
    }
}

/// The result of a search.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is possible; [`Solver::holds`] returns the values.
    Can,
    /// It is impossible, because of these assumptions.
    Cannot(Vec<Lit>),
    OverBudget,
}

/// The watches of one literal, in insertion order: the first and the last.
#[derive(Clone, Copy, Debug)]
struct Watches {
    first: u32,
    last: u32,
}

/// The end of a list of watches.
const NONE: u32 = u32::MAX;

impl Watches {
    const EMPTY: Self = Self { first: NONE, last: NONE };
}

#[derive(Debug, Default)]
pub struct Solver {
    /// The literals of all clauses, one clause after the other, and the end of each clause.
    lits: Vec<Lit>,
    ends: Vec<u32>,
    /// By literal: the clauses to visit when it becomes false.
    watches: Vec<Watches>,
    /// Each clause has two watches, at twice its number: the next watch in the list of each.
    next: Vec<u32>,
    values: Vec<Option<bool>>,
    levels: Vec<usize>,
    reasons: Vec<Option<usize>>,
    /// The last value of each variable, which the search tries first. Initially false, so that examples have few
    /// traits.
    saved: Vec<bool>,
    /// When a variable was last part of a conflict. The latest is decided first.
    stamps: Vec<usize>,
    waiting: BinaryHeap<(usize, usize)>,
    trail: Vec<Lit>,
    /// The start of each level in the trail.
    begins: Vec<usize>,
    head: usize,
    conflicts: usize,
    impossible: bool,
    model: Vec<bool>,
}

impl Solver {
    /// Reserves room for this number of variables.
    pub(crate) fn with_room(variables: usize) -> Self {
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
        self.watches.extend([Watches::EMPTY; 2]);
        Lit(small(var << 1))
    }

    /// Adds a clause: one of these literals must hold.
    pub(crate) fn clause(&mut self, lits: impl IntoIterator<Item = Lit>) {
        let start = self.lits.len();
        self.lits.extend(lits);
        self.lits[start..].sort_unstable();
        let own = &self.lits[start..];
        let is_opposite = |pair: &[Lit]| pair[0] == !pair[1];
        if own.windows(2).any(is_opposite) || own.iter().any(|lit| self.value(*lit) == Some(true)) {
            return self.lits.truncate(start);
        }
        let mut end = start;
        for at in start..self.lits.len() {
            let lit = self.lits[at];
            if self.value(lit).is_none() && (end == start || self.lits[end - 1] != lit) {
                self.lits[end] = lit;
                end += 1;
            }
        }
        self.lits.truncate(end);
        match self.lits[start..] {
            [] => self.impossible = true,
            [one] => {
                self.lits.truncate(start);
                self.assign(one, None);
            }
            _ => drop(self.attach()),
        }
    }

    /// Whether a literal held when the last search ended with [`Verdict::Can`].
    pub fn holds(&self, lit: Lit) -> bool {
        self.model[lit.var()] != lit.is_negative()
    }

    /// Decides whether all clauses can hold together with the assumptions.
    pub(crate) fn solve(&mut self, assumed: &[Lit], budget: &mut Budget) -> Verdict {
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

    /// Makes a clause of the literals that were added last, and watches the first two.
    fn attach(&mut self) -> usize {
        let number = self.ends.len();
        self.ends.push(small(self.lits.len()));
        self.next.extend([NONE; 2]);
        let start = self.range(number).start;
        for place in 0..2 {
            let lit = self.lits[start + place];
            append(&mut self.watches[lit.index()], &mut self.next, small(2 * number + place));
        }
        number
    }

    /// Returns the range of a clause's literals.
    fn range(&self, clause: usize) -> Range<usize> {
        let start = clause.checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[clause] as usize
    }

    fn lits_of(&self, clause: usize) -> &[Lit] {
        &self.lits[self.range(clause)]
    }

    /// Draws all conclusions. Returns a clause of which no literal holds, if there is one.
    fn propagate(&mut self, budget: &mut Budget) -> Option<usize> {
        while let Some(&lit) = self.trail.get(self.head) {
            self.head += 1;
            let falsified = !lit;
            let watching = mem::replace(&mut self.watches[falsified.index()], Watches::EMPTY);
            let mut kept = Watches::EMPTY;
            let (mut conflict, mut watch, mut seen) = (None, watching.first, 0);
            while watch != NONE && conflict.is_none() {
                let (this, number) = (watch, (watch / 2) as usize);
                watch = self.next[watch as usize];
                seen += 1;
                let Range { start, end } = self.range(number);
                if self.lits[start] == falsified {
                    self.lits.swap(start, start + 1);
                }
                let first = self.lits[start];
                if self.value(first) != Some(true) {
                    let other = (start + 2..end).find(|at| self.value(self.lits[*at]) != Some(false));
                    budget.spend((other.unwrap_or(end) - start) / 4);
                    if let Some(other) = other {
                        self.lits.swap(start + 1, other);
                        let list = &mut self.watches[self.lits[start + 1].index()];
                        append(list, &mut self.next, this);
                        continue;
                    }
                    match self.value(first) {
                        None => self.assign(first, Some(number)),
                        _ => conflict = Some(number),
                    }
                }
                append(&mut kept, &mut self.next, this);
            }
            // Watches that were not visited stay as they are.
            while watch != NONE {
                let this = watch;
                watch = self.next[watch as usize];
                seen += 1;
                append(&mut kept, &mut self.next, this);
            }
            budget.spend(1 + seen);
            self.watches[falsified.index()] = kept;
            if conflict.is_some() {
                return conflict;
            }
            if budget.is_spent() {
                return None;
            }
        }
        None
    }

    /// Learns the clause that would have avoided the conflict, and backtracks to the level at which it has a
    /// conclusion.
    fn learn(&mut self, conflict: usize, budget: &mut Budget) {
        self.conflicts += 1;
        let level = self.begins.len();
        let mut seen = vec![false; self.values.len()];
        let mut learned = vec![];
        let (mut open, mut at, mut clause) = (0, self.trail.len(), conflict);
        let decided = loop {
            budget.spend(self.range(clause).len());
            for at in self.range(clause) {
                let lit = self.lits[at];
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
        // The latest of the others takes the second place: it is watched, and the search backtracks to its level.
        learned.sort_unstable_by_key(|lit| Reverse(self.levels[lit.var()]));
        let back = learned.first().map_or(0, |lit| self.levels[lit.var()]);
        self.back_to(back);
        if learned.is_empty() {
            self.assign(decided, None);
        } else {
            self.lits.push(decided);
            self.lits.append(&mut learned);
            let number = self.attach();
            self.assign(decided, Some(number));
        }
    }

    /// Returns the assumptions that together make this one impossible, including itself.
    fn blame(&self, assumed: Lit) -> Vec<Lit> {
        let mut core = vec![assumed];
        let mut seen = vec![false; self.values.len()];
        seen[assumed.var()] = true;
        for &lit in self.trail.iter().rev() {
            if !seen[lit.var()] || self.levels[lit.var()] == 0 {
                continue;
            }
            match self.reasons[lit.var()] {
                Some(reason) => self.lits_of(reason).iter().for_each(|lit| seen[lit.var()] = true),
                // Up to here, only assumptions were decided.
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
                return Some(Lit(small(var << 1) | u32::from(negative)));
            }
        }
        None
    }
}

fn small(number: usize) -> u32 {
    u32::try_from(number).expect("the budget of terms is far smaller")
}

/// Appends a watch to a list.
fn append(list: &mut Watches, next: &mut [u32], watch: u32) {
    next[watch as usize] = NONE;
    match list.last {
        NONE => list.first = watch,
        last => next[last as usize] = watch,
    }
    list.last = watch;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const VARIABLES: usize = 6;

    /// A variable, counted from 1, or its opposite: 3 or -3.
    fn literal() -> impl Strategy<Value = i8> {
        (1..=6i8, any::<bool>()).prop_map(|(variable, not)| if not { -variable } else { variable })
    }

    /// Whether any assignment of the variables satisfies all clauses, found by trying every one.
    fn can(clauses: &[Vec<i8>]) -> bool {
        let holds = |chosen: u32, lit: i8| (chosen >> (lit.unsigned_abs() - 1) & 1 == 1) == (lit > 0);
        let meets = |chosen: u32| clauses.iter().all(|clause| clause.iter().any(|lit| holds(chosen, *lit)));
        (0..1 << VARIABLES).any(meets)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_answer_is_that_of_trying_everything(
            clauses in vec(vec(literal(), 1..4), 0..30),
            questions in vec(vec(literal(), 0..4), 1..4),
        ) {
            let mut solver = Solver::default();
            let all: Vec<Lit> = (0..VARIABLES).map(|_| solver.variable()).collect();
            let lit = |number: &i8| {
                let lit = all[usize::from(number.unsigned_abs()) - 1];
                if *number < 0 { !lit } else { lit }
            };
            clauses.iter().for_each(|clause| solver.clause(clause.iter().map(lit)));
            // Clauses that were learned from one question change no other answer.
            for assumed in &questions {
                let lits: Vec<Lit> = assumed.iter().map(lit).collect();
                let with = |more: &mut dyn Iterator<Item = i8>| can(&[&clauses[..], &more.map(|it| vec![it]).collect::<Vec<_>>()].concat());
                match solver.solve(&lits, &mut Budget::new(1_000_000)) {
                    Verdict::Can => {
                        prop_assert!(with(&mut assumed.iter().copied()));
                        prop_assert!(lits.iter().all(|lit| solver.holds(*lit)));
                        for clause in &clauses {
                            prop_assert!(clause.iter().any(|number| solver.holds(lit(number))), "{clause:?}");
                        }
                    }
                    Verdict::Cannot(core) => {
                        prop_assert!(!with(&mut assumed.iter().copied().filter(|number| core.contains(&lit(number)))));
                    }
                    Verdict::OverBudget => prop_assert!(false, "it is a small question"),
                }
            }
        }
    }
}
