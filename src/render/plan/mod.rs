//! The plan, as people and programs read it: one file per form, all of the same [`View`].

pub(super) mod fields;
pub mod json;
mod rows;
mod text;
pub(super) mod value;
mod words;

use std::collections::BTreeMap;

use crate::address::Address;
use crate::kinds::{self, Delete};
use crate::plan::{Action, Change, Moved, Plan, Reason, Step};

pub use json::json;
pub use text::text;

/// A plan in the order in which people read it.
#[derive(Debug)]
pub struct View<'p> {
    pub plan: &'p Plan,
    /// What happens, the riskiest first.
    pub blocks: Vec<Block<'p>>,
    /// What was changed on the service alone and is put back at no risk.
    pub drift: Vec<Block<'p>>,
    /// What has had its time.
    pub past: Vec<&'p Change>,
    /// By the segment that gets a new id: those that are pointed at it.
    users: BTreeMap<&'p Address, Vec<&'p Change>>,
    steps: BTreeMap<&'p Address, Vec<&'p Step>>,
}

/// A resource with all that happens to it and to its parts.
#[derive(Debug)]
pub struct Block<'p> {
    pub address: Address,
    pub action: Action,
    pub risk: Risk,
    /// What changes, whatever sends first.
    pub changes: Vec<&'p Change>,
    /// How many parts it has, also those that do not change; 0 where it is applied as a whole.
    pub parts: usize,
}

/// Why a reader should look at a change, the most pressing first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    /// It messages people at once.
    Sends,
    /// It cannot go on before somebody decides.
    Stuck,
    /// What it makes can be neither changed nor removed.
    NoWayBack,
    Deletes,
    Replaces,
    ByHand,
    None,
}

impl Risk {
    pub const ALL: [Self; 7] =
        [Self::Sends, Self::Stuck, Self::NoWayBack, Self::Deletes, Self::Replaces, Self::ByHand, Self::None];

    fn of(change: &Change, plan: &Plan) -> Self {
        match change.action {
            _ if !change.sends.is_empty() => Self::Sends,
            _ if change.reasons.iter().any(is_stuck) => Self::Stuck,
            Action::Create if kinds::api(&change.address).lifecycle(plan.level).delete == Delete::Never => {
                Self::NoWayBack
            }
            Action::Delete => Self::Deletes,
            Action::Replace => Self::Replaces,
            Action::ByHand => Self::ByHand,
            _ => Self::None,
        }
    }
}

/// Whether apply waits for a person's decision.
fn is_stuck(reason: &Reason) -> bool {
    match reason {
        Reason::Collision { .. } | Reason::InDoubt { .. } | Reason::TooLate { .. } => true,
        Reason::Repoint { .. }
        | Reason::NotInPlace
        | Reason::InDashboard { .. }
        | Reason::Recovered { .. }
        | Reason::Went { .. }
        | Reason::Retired { .. }
        | Reason::StillUsed { .. }
        | Reason::Blocked { .. }
        | Reason::NeverTwice => false,
    }
}

/// Whether somebody changed it on the service.
fn is_drift(change: &Change) -> bool {
    matches!(change.moved, Some(Moved::Service | Moved::Removed))
}

/// Whether there is anything to say of it.
fn is_told(change: &Change) -> bool {
    match change.action {
        Action::Keep => !change.reasons.is_empty() || !change.sends.is_empty(),
        Action::Past => false,
        _ => true,
    }
}

impl<'p> View<'p> {
    pub fn of(plan: &'p Plan) -> Self {
        let mut users: BTreeMap<&Address, Vec<&Change>> = BTreeMap::new();
        for change in &plan.changes {
            for reason in &change.reasons {
                if let Reason::Repoint { to } = reason {
                    to.iter().for_each(|address| users.entry(address).or_default().push(change));
                }
            }
        }
        let mut steps: BTreeMap<&Address, Vec<&Step>> = BTreeMap::new();
        for step in &plan.steps {
            steps.entry(&step.address).or_default().push(step);
        }
        let mut groups: BTreeMap<Address, Block> = BTreeMap::new();
        for change in plan.changes.iter().filter(|change| change.action != Action::Past) {
            let address = change.address.resource();
            let block = groups.entry(address.clone()).or_insert_with(|| Block {
                address,
                action: Action::Keep,
                risk: Risk::None,
                changes: Vec::new(),
                parts: 0,
            });
            block.parts += usize::from(change.address.part().is_some());
            if is_told(change) {
                block.changes.push(change);
            }
        }
        let mut blocks: Vec<Block> = groups.into_values().filter(|block| !block.changes.is_empty()).collect();
        for block in &mut blocks {
            block.changes.sort_by_key(|change| (change.address.part().is_some(), Risk::of(change, plan)));
            block.action = block.symbol();
            block.risk = block.changes.iter().map(|change| Risk::of(change, plan)).min().unwrap_or(Risk::None);
        }
        blocks.sort_by_key(|block| block.risk);
        let (drift, blocks) = blocks
            .into_iter()
            .partition(|block| block.risk == Risk::None && block.changes.iter().all(|change| is_drift(change)));
        let past = plan.changes.iter().filter(|change| change.action == Action::Past).collect();
        Self { plan, blocks, drift, past, users, steps }
    }

    /// The steps that carry out a change.
    pub fn steps_of(&self, change: &Change) -> &[&'p Step] {
        self.steps.get(&change.address).map(Vec::as_slice).unwrap_or_default()
    }

    /// Those that are pointed at a segment's new id.
    pub fn users_of(&self, address: &Address) -> &[&'p Change] {
        self.users.get(address).map(Vec::as_slice).unwrap_or_default()
    }

    /// How many changes message people at once.
    pub fn sending(&self) -> usize {
        self.plan.changes.iter().filter(|change| !change.sends.is_empty()).count()
    }

    /// How many changes cannot go on before somebody decides.
    pub fn stuck(&self) -> usize {
        self.plan.changes.iter().filter(|change| change.reasons.iter().any(is_stuck)).count()
    }

    /// How many declared resources the service has as they are.
    pub fn matching(&self) -> usize {
        let mut kept: Vec<Address> = self.plan.changes.iter().map(|change| change.address.resource()).collect();
        kept.dedup();
        kept.len()
    }
}

impl Block<'_> {
    /// What happens to the resource as a whole: what happens to itself, or to all of its parts alike.
    fn symbol(&self) -> Action {
        let mut actions = self.changes.iter().map(|change| change.action);
        let first = actions.next().unwrap_or(Action::Keep);
        let whole = self.changes.first().is_some_and(|change| change.address.part().is_none());
        if whole || (self.changes.len() == self.parts && actions.all(|action| action == first)) {
            return first;
        }
        Action::Update
    }

    /// The change of the resource itself, where it is applied as a whole.
    pub fn whole(&self) -> Option<&Change> {
        self.changes.first().copied().filter(|change| change.address.part().is_none())
    }

    /// The changes of its parts.
    pub fn of_parts(&self) -> &[&Change] {
        &self.changes[usize::from(self.whole().is_some())..]
    }
}
