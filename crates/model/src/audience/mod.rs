//! The algebra of audiences: which devices match, and how two audiences relate to each other. Pure and exact.
//!
//! A selector and its segments become an [`Audience`] in canonical form. Questions about it are decided by proof: the
//! conditions and the laws that every device follows become clauses, and a search with a budget finds a device that
//! answers the question, or proves that there is none. Over the budget, the answer is "too complex"; a wrong relation
//! is never claimed.
//!
//! The laws: a device has one value in each group that the service fills in, is of one kind, is one channel and belongs
//! to at most one named user. `ua_opt_in` and `ua_background_enabled` are `true` or `false` on every device,
//! `ua_location_enabled` on those with SDK 6.0 or later. Groups of one platform exist only on its devices, a channel
//! belongs to one platform, and only open channels have an address. A device that was seen somewhere in the last month
//! was also seen there in the last year. An attribute has at most one value; numbers are ordered by size and texts by
//! their letters.

mod among;
mod attributes;
mod condition;
mod conflict;
mod example;
mod expand;
mod facts;
mod formula;
mod nearby;
mod phrases;
mod question;
mod solver;
mod terms;
mod value;
mod words;

use std::fmt;
use std::sync::Arc;

pub use among::Among;
pub use conflict::Conflict;
pub use example::ExampleDevice;
pub use facts::{About, Fact};
pub use formula::FormulaPart;
pub use nearby::Neighbors;
pub use solver::Budget;
pub use value::{DeviceClass as Platform, Value};
pub use words::{TreeLine, tree, words};

use crate::nouns::audience::{SegmentRef, Selector};
use crate::nouns::device::DeviceTypes;
use expand::Expanded;
use question::{Question, Solution};
use terms::{Id, Join, Term, Terms};

/// The maximum number of steps for one question: well under a tenth of a second.
pub const STEPS: usize = 400_000;

/// The maximum number of lines of a canonical form.
const MOST_LINES: usize = 10_000;

/// An audience in canonical form.
#[derive(Clone, Debug)]
pub struct Audience {
    /// `None` if it is too complex.
    forms: Option<Forms>,
}

#[derive(Clone, Debug)]
struct Forms {
    terms: Terms,
    root: Id,
    /// The selector as written, and the limits of those whom a push reaches, for explanations. A negated limit leaves out
    /// those whom the fact is true of.
    written: Arc<(Expanded, usize)>,
    limits: Vec<(Arc<Fact>, bool)>,
}

impl Forms {
    /// Returns the audience as it was written, without simplification; `None` if it is too complex.
    fn as_said(&self) -> Option<(Terms, Id)> {
        let (expanded, part) = &*self.written;
        let mut terms = Terms::as_said();
        let mut root = expanded.terms(*part, &mut terms)?;
        for limit in &self.limits {
            root = limited(&mut terms, root, limit);
        }
        Some((terms, root))
    }
}

/// Returns the part of a term that keeps to a limit.
fn limited(terms: &mut Terms, root: Id, (fact, is_negated): &(Arc<Fact>, bool)) -> Id {
    let limit = terms.is(fact.clone(), *is_negated);
    terms.join(Join::All, [limit, root])
}

/// The relation of the second of two audiences to the first, with a device that joins and one that leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relation {
    Same,
    /// Everyone still matches, and others join.
    Broader {
        joins: ExampleDevice,
    },
    /// Nobody joins, and some leave.
    Narrower {
        leaves: ExampleDevice,
    },
    /// Everyone leaves, and others join.
    Disjoint {
        joins: ExampleDevice,
        leaves: ExampleDevice,
    },
    /// Some stay, some leave, some join.
    Different {
        joins: ExampleDevice,
        leaves: ExampleDevice,
    },
    TooComplex,
}

impl Relation {
    /// Returns a device that joins.
    pub fn joins(&self) -> Option<&ExampleDevice> {
        match self {
            Self::Broader { joins } | Self::Disjoint { joins, .. } | Self::Different { joins, .. } => Some(joins),
            Self::Same | Self::Narrower { .. } | Self::TooComplex => None,
        }
    }

    /// Returns a device that leaves.
    pub fn leaves(&self) -> Option<&ExampleDevice> {
        match self {
            Self::Narrower { leaves } | Self::Disjoint { leaves, .. } | Self::Different { leaves, .. } => Some(leaves),
            Self::Same | Self::Broader { .. } | Self::TooComplex => None,
        }
    }

    /// Returns the relation with another example of a device that joins.
    pub fn joined_by(self, device: ExampleDevice) -> Self {
        match self {
            Self::Broader { .. } => Self::Broader { joins: device },
            Self::Disjoint { leaves, .. } => Self::Disjoint { joins: device, leaves },
            Self::Different { leaves, .. } => Self::Different { joins: device, leaves },
            Self::Same | Self::Narrower { .. } | Self::TooComplex => self,
        }
    }

    /// The identifier in machine-readable output.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Broader { .. } => "broader",
            Self::Narrower { .. } => "narrower",
            Self::Disjoint { .. } => "disjoint",
            Self::Different { .. } => "different",
            Self::TooComplex => "too_complex",
        }
    }
}

/// A yes with evidence, or a no with evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<Y, N> {
    Yes(Y),
    No(N),
    TooComplex,
}

impl Audience {
    /// Returns the audience of a selector. Segments are resolved by the lookup; an unknown one remains a condition of
    /// its own.
    pub fn of<'s>(selector: &'s Selector, segments: impl Fn(&SegmentRef) -> Option<&'s Selector>) -> Self {
        let forms = || {
            let (expanded, part) = Expanded::of(selector, &segments)?;
            let mut terms = Terms::canonical();
            let root = expanded.terms(part, &mut terms)?;
            Some(Forms { terms, root, written: Arc::new((expanded, part)), limits: Vec::new() })
        };
        Self { forms: forms() }
    }

    /// Limits the audience to these kinds of device: those that a push reaches.
    pub fn on(self, devices: &DeviceTypes) -> Self {
        self.limited(Fact::devices(devices), false)
    }

    /// Limits the audience to those whom a push reaches: with one of the given device types, and with a time zone if it is
    /// sent in recipients' local time.
    pub fn reached(self, devices: Option<&DeviceTypes>, is_local: bool) -> Self {
        let whole = self.limited(devices.and_then(Fact::devices), false);
        if is_local { whole.limited(Some(Fact::no_time_zone()), true) } else { whole }
    }

    fn limited(mut self, limit: Option<Fact>, is_negated: bool) -> Self {
        if let (Some(forms), Some(fact)) = (&mut self.forms, limit) {
            let limit = (Arc::new(fact), is_negated);
            forms.root = limited(&mut forms.terms, forms.root, &limit);
            forms.limits.push(limit);
        }
        self
    }

    /// Returns the canonical form as lines, with segments resolved; `None` if it is too long to read. A segment that is
    /// used in several places is in each of them.
    pub fn canonical(&self) -> Option<Vec<TreeLine>> {
        let Forms { terms, root, .. } = self.forms.as_ref()?;
        let mut lines = Vec::new();
        let mut open = vec![(*root, 0)];
        while let Some((id, depth)) = open.pop() {
            let text = match terms.get(id) {
                Term::Everyone => "everyone".to_owned(),
                Term::Nobody => "nobody".to_owned(),
                Term::Is { fact, not } => phrases::condition(fact, *not),
                Term::Joined(join, members) => {
                    open.extend(members.iter().rev().map(|member| (*member, depth + 1)));
                    if *join == Join::All { "all of" } else { "any of" }.to_owned()
                }
            };
            lines.push(TreeLine { depth, text });
            if lines.len() + open.len() > MOST_LINES {
                return None;
            }
        }
        Some(lines)
    }
}

/// Whether two audiences have the same canonical form. Others may still be equivalent: [`compare`] decides that.
impl PartialEq for Audience {
    fn eq(&self, other: &Self) -> bool {
        together(self, other).is_some_and(|(_, one, other)| one == other)
    }
}

/// Compares an audience with an earlier version.
pub fn compare(before: &Audience, after: &Audience) -> Relation {
    let Some((terms, before, after)) = together(before, after) else { return Relation::TooComplex };
    if before == after {
        return Relation::Same;
    }
    let mut question = Question::about(&terms, &[before, after]);
    let mut budget = Budget::new(STEPS);
    let mut device = |within: &[Id], without: &[Id]| match question.ask(within, without, &mut budget) {
        Solution::Device(found) => {
            let device = ExampleDevice::of(&terms, &[within, without].concat(), &found);
            Some(Some(device.between(&terms, before, after)))
        }
        Solution::None(_) => Some(None),
        Solution::OverBudget => None,
    };
    let (Some(joins), Some(leaves)) = (device(&[after], &[before]), device(&[before], &[after])) else {
        return Relation::TooComplex;
    };
    match (joins, leaves) {
        (None, None) => Relation::Same,
        (Some(joins), None) => Relation::Broader { joins },
        (None, Some(leaves)) => Relation::Narrower { leaves },
        (Some(joins), Some(leaves)) => match device(&[before, after], &[]) {
            None => Relation::TooComplex,
            Some(None) => Relation::Disjoint { joins, leaves },
            Some(Some(_)) => Relation::Different { joins, leaves },
        },
    }
}

/// Whether an audience matches nobody, whatever devices exist, and why; or a device that it matches.
pub fn nobody(audience: &Audience) -> Answer<Conflict, ExampleDevice> {
    let Some(forms) = &audience.forms else { return Answer::TooComplex };
    let mut budget = Budget::new(STEPS);
    match Question::about(&forms.terms, &[forms.root]).ask(&[forms.root], &[], &mut budget) {
        Solution::Device(found) => Answer::No(ExampleDevice::of(&forms.terms, &[forms.root], &found)),
        Solution::None(_) => match forms.as_said() {
            Some((said, root)) => Answer::Yes(Conflict::of(&said, root, &mut budget)),
            None => Answer::TooComplex,
        },
        Solution::OverBudget => Answer::TooComplex,
    }
}

/// Whether an audience matches every possible device; or a device that it leaves out.
pub fn everyone(audience: &Audience) -> Answer<(), ExampleDevice> {
    let Some(forms) = &audience.forms else { return Answer::TooComplex };
    let mut budget = Budget::new(STEPS);
    match Question::about(&forms.terms, &[forms.root]).ask(&[], &[forms.root], &mut budget) {
        Solution::Device(found) => Answer::No(ExampleDevice::of(&forms.terms, &[forms.root], &found)),
        Solution::None(_) => Answer::Yes(()),
        Solution::OverBudget => Answer::TooComplex,
    }
}

/// Whether two audiences can have a device in common; if so, returns one.
pub fn overlap(one: &Audience, other: &Audience) -> Answer<ExampleDevice, ()> {
    overlap_within(one, other, &mut Budget::new(STEPS))
}

/// Checks whether two audiences can have a device in common. It is one of several questions that share the budget `all`.
pub fn overlap_within(one: &Audience, other: &Audience, all: &mut Budget) -> Answer<ExampleDevice, ()> {
    let Some((terms, one, other)) = together(one, other) else { return Answer::TooComplex };
    let share = STEPS.min(all.left());
    let mut budget = Budget::new(share);
    let answer = overlapping(&terms, one, other, &mut budget);
    all.spend(share - budget.left() + terms.len());
    answer
}

fn overlapping(terms: &Terms, one: Id, other: Id, budget: &mut Budget) -> Answer<ExampleDevice, ()> {
    match Question::about(terms, &[one, other]).ask(&[one, other], &[], budget) {
        Solution::Device(found) => Answer::Yes(ExampleDevice::of(terms, &[one, other], &found)),
        Solution::None(_) => Answer::No(()),
        Solution::OverBudget => Answer::TooComplex,
    }
}

/// Puts two audiences into the same set of terms.
fn together(one: &Audience, other: &Audience) -> Option<(Terms, Id, Id)> {
    let (one, other) = (one.forms.as_ref()?, other.forms.as_ref()?);
    let mut terms = one.terms.clone();
    let place = terms.adopt(&other.terms, other.root);
    Some((terms, one.root, place))
}

/// For a plan, such as: `broader: everyone who matched still matches; others join, such as a device in GB`.
impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Same => f.write_str("same: exactly those who matched before"),
            Self::Broader { joins } => {
                write!(f, "broader: everyone who matched still matches; others join, such as {joins}")
            }
            Self::Narrower { leaves } => write!(f, "narrower: nobody joins; some leave, such as {leaves}"),
            Self::Disjoint { joins, leaves } => {
                write!(f, "disjoint: everyone who matched leaves, such as {leaves}; others join, such as {joins}")
            }
            Self::Different { joins, leaves } => {
                write!(f, "different: some join, such as {joins}; some leave, such as {leaves}")
            }
            Self::TooComplex => f.write_str("too complex to compare"),
        }
    }
}
