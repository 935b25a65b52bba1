//! A resource of a plan with everything that changes in it: one row for readers, counted once.

use super::Risk;
use crate::address::Address;
use crate::plan::{Action, Aim, Change, Plan};

/// A resource with all changes of itself, its parts and its old versions.
#[derive(Debug)]
pub struct Block<'p> {
    pub address: Address,
    pub action: Action,
    pub risk: Risk,
    /// The change of the resource itself, if it is applied as a whole.
    pub whole: Option<&'p Change>,
    /// The changed parts, those that send first.
    pub parts: Vec<&'p Change>,
    /// Old versions that an earlier run could not delete.
    pub retired: Vec<&'p Change>,
    /// The number of its parts, including unchanged ones; 0 if it is applied as a whole.
    pub total: usize,
}

impl<'p> Block<'p> {
    /// The resources with visible changes, sorted by address. `is_plan` means that the plan changes the service.
    pub(in crate::render) fn of_plan(plan: &'p Plan, is_plan: bool) -> Vec<Self> {
        let mut blocks = Self::all(plan);
        let is_part = |change: &&Change| change.action != Action::Past && change.address.part().is_some();
        let parts = if blocks.is_empty() { &[][..] } else { &plan.changes };
        for part in parts.iter().filter(is_part) {
            let resource = part.address.resource();
            if let Ok(place) = blocks.binary_search_by(|block| block.address.cmp(&resource)) {
                blocks[place].total += 1;
            }
        }
        let aims_there = is_plan && !matches!(plan.aim, Aim::Nothing | Aim::Before(_));
        for block in &mut blocks {
            let stays = aims_there && plan.told.of.get(&block.address).is_some_and(|aside| aside.place.is_some());
            block.action = block.action(stays);
        }
        blocks
    }

    /// All visible changes, sorted by address.
    fn all(plan: &'p Plan) -> Vec<Self> {
        let told = plan.changes.iter().filter(|change| change.is_told());
        let mut told: Vec<(Address, &Change)> = told.map(|change| (change.address.resource(), change)).collect();
        told.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut blocks: Vec<Self> = Vec::new();
        for (address, change) in told {
            if blocks.last().is_none_or(|block| block.address != address) {
                blocks.push(Self::new(address));
            }
            blocks.last_mut().into_iter().for_each(|block| block.add(change));
        }
        blocks
    }

    fn new(address: Address) -> Self {
        Self {
            address,
            action: Action::Keep,
            risk: Risk::None,
            whole: None,
            parts: Vec::new(),
            retired: Vec::new(),
            total: 0,
        }
    }

    fn add(&mut self, change: &'p Change) {
        let retired = change.is_outdated();
        match change.address.part() {
            _ if retired => self.retired.push(change),
            Some(_) => self.parts.push(change),
            None => self.whole = Some(change),
        }
    }

    /// All changes of the block.
    pub fn changes(&self) -> impl Iterator<Item = &'p Change> {
        self.whole.iter().chain(&self.parts).chain(&self.retired).copied()
    }

    /// The action that the resource is counted with. A part that is unchanged or needs a manual step does not count.
    pub(in crate::render) fn counted_as(&self) -> Action {
        let mut is_manual = false;
        let is_done = self.changes().map(Change::shown).any(|action| {
            is_manual |= action == Action::ByHand;
            !matches!(action, Action::Keep | Action::Past | Action::ByHand)
        });
        match (is_done, is_manual) {
            (true, _) => self.action,
            (false, true) => Action::ByHand,
            (false, false) => Action::Keep,
        }
    }

    /// The action on the resource: its own, or the common one of all its parts. A resource that stays declared is not
    /// deleted with its last part.
    fn action(&self, stays: bool) -> Action {
        if let Some(change) = self.whole.or(self.retired.first().copied().filter(|_| self.parts.is_empty())) {
            return change.shown();
        }
        let mut actions = self.parts.iter().map(|change| change.shown());
        let first = actions.next().unwrap_or(Action::Update);
        let alike = self.parts.len() == self.total && actions.all(|action| action == first);
        let goes = first == Action::Delete && stays;
        if alike && !goes { first } else { Action::Update }
    }
}
