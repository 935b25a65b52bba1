//! Devices that show how an audience changes: one that joins, one that leaves, and one that stays outside.

use super::example::ExampleDevice;
use super::facts::{About, Fact};
use super::question::{Question, Solution};
use super::solver::Budget;
use super::terms::{Id, Join, Term, Terms};
use super::value::Value;
use super::{Audience, STEPS};
use crate::nouns::vocabulary::GROUPS;

/// One device for each way that a change of an audience can concern it, if there is such a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Neighbors {
    pub joins: Option<ExampleDevice>,
    pub leaves: Option<ExampleDevice>,
    /// In neither audience, but as near to them as possible: if it can, it fails only one condition.
    pub excluded: Option<ExampleDevice>,
}

impl Neighbors {
    /// Finds the devices for an audience before and after a change; `None` is nobody. Devices that are opted in are
    /// preferred, because no notification reaches others. If a question is too complex, it has no device.
    pub fn of(before: Option<&Audience>, after: Option<&Audience>) -> Self {
        let Some((mut terms, before, after)) = both(before, after) else { return Self::default() };
        let opted_in = opted_in().map(|fact| terms.is(fact.into(), false));
        let mut search = Search {
            question: Question::about(&terms, &[&[before, after], opted_in.as_slice()].concat()),
            terms: &terms,
            sides: [before, after],
            opted_in,
            budget: Budget::new(STEPS),
        };
        Self {
            joins: search.device(&[after], &[before]),
            leaves: search.device(&[before], &[after]),
            excluded: search.excluded(),
        }
    }
}

struct Search<'t> {
    terms: &'t Terms,
    question: Question<'t>,
    sides: [Id; 2],
    opted_in: Option<Id>,
    budget: Budget,
}

impl Search<'_> {
    /// Returns a device in some terms and outside others, opted in if there is one. Its description leaves out what
    /// both audiences require.
    fn device(&mut self, within: &[Id], without: &[Id]) -> Option<ExampleDevice> {
        let device = self.found(within, without)?.between(self.terms, self.sides[0], self.sides[1]);
        Some(self.without_words(device, self.opted_in.as_slice()))
    }

    fn found(&mut self, within: &[Id], without: &[Id]) -> Option<ExampleDevice> {
        let reached = [within, self.opted_in.as_slice()].concat();
        [reached.as_slice(), within].into_iter().find_map(|within| {
            let Solution::Device(found) = self.question.ask(within, without, &mut self.budget) else { return None };
            Some(ExampleDevice::of(self.terms, &[within, without].concat(), &found))
        })
    }

    /// Leaves conditions out of the description of a device.
    fn without_words(&self, device: ExampleDevice, conditions: &[Id]) -> ExampleDevice {
        conditions.iter().fold(device, |device, id| match self.terms.get(*id) {
            Term::Is { fact, .. } => device.given(&fact.about),
            _ => device,
        })
    }

    /// Returns a device in neither audience. If possible, it fails only one condition, preferably an exclusion. Its
    /// description names the conditions that it fails.
    fn excluded(&mut self) -> Option<ExampleDevice> {
        let sides = self.sides;
        for side in [sides[1], sides[0]] {
            let Term::Joined(Join::All, conditions) = self.terms.get(side) else { continue };
            let mut missed = conditions.clone();
            // Without a time zone, a device is outside for no reason of the audience.
            missed.sort_by_key(|id| (is_time_zone(self.terms, *id), !is_exclusion(self.terms, *id)));
            for one in missed {
                let others: Vec<Id> = conditions.iter().copied().filter(|id| *id != one).collect();
                if let Some(device) = self.found(&others, &sides) {
                    return Some(self.without_words(device, &[others.as_slice(), self.opted_in.as_slice()].concat()));
                }
            }
        }
        self.device(&[], &sides)
    }
}

/// Whether a condition excludes people: each of its facts is one that a device must not have.
fn is_exclusion(terms: &Terms, id: Id) -> bool {
    match terms.get(id) {
        Term::Is { not, .. } => *not,
        Term::Joined(_, members) => {
            members.iter().all(|member| matches!(terms.get(*member), Term::Is { not: true, .. }))
        }
        Term::Everyone | Term::Nobody => false,
    }
}

/// Whether a condition is that a device has a time zone.
fn is_time_zone(terms: &Terms, id: Id) -> bool {
    matches!(terms.get(id), Term::Is { fact, not: true } if **fact == Fact::no_time_zone())
}

/// Puts two audiences into the same set of terms.
fn both(before: Option<&Audience>, after: Option<&Audience>) -> Option<(Terms, Id, Id)> {
    match (before, after) {
        (Some(before), Some(after)) => super::together(before, after),
        (Some(before), None) => {
            let forms = before.forms.as_ref()?;
            Some((forms.terms.clone(), forms.root, Terms::NOBODY))
        }
        (None, Some(after)) => {
            let forms = after.forms.as_ref()?;
            Some((forms.terms.clone(), Terms::NOBODY, forms.root))
        }
        (None, None) => None,
    }
}

/// The fact that a device is opted in.
fn opted_in() -> Option<Fact> {
    let place = GROUPS.iter().position(|group| group.id == "ua_opt_in")?;
    Some(Fact::new(About::Property(place), [Value::Text("true".to_owned())]))
}
