//! The numbers of a plan. A resource counts once, with all of its parts; manual steps are counted one by one.

use std::collections::HashMap;

use super::{Block, PlanView};
use crate::address::{KindKey, count_resources};
use crate::guard;
use crate::plan::{Action, Change};

impl<'p> PlanView<'p> {
    /// The number of resources with an action, or of manual steps. Resources that were left out have the action
    /// [`Action::Keep`], but are not counted.
    pub fn count(&self, wanted: Action) -> usize {
        match wanted {
            Action::ByHand => self.plan.changes.iter().filter(|change| change.shown() == wanted).count(),
            Action::Keep | Action::Past => {
                self.unchanged().into_values().filter(|is_past| *is_past == (wanted == Action::Past)).count()
            }
            _ => self.changed().filter(|block| block.counted_as() == wanted).count(),
        }
    }

    /// The number of resources whose whole action is refused because its time has passed.
    pub(in crate::render) fn late(&self, wanted: Action) -> usize {
        let is_late = |block: &&Block| block.changes().all(Change::is_too_late);
        self.changed().filter(|block| block.counted_as() == wanted).filter(is_late).count()
    }

    /// The number of resources that were left out.
    pub fn left_out(&self) -> usize {
        count_resources(&self.plan.left_out)
    }

    fn changed(&self) -> impl Iterator<Item = &Block<'p>> {
        self.blocks.iter().chain(&self.drift)
    }

    /// The unchanged resources, with whether they are past. Declared ones that have no parts yet belong to them.
    fn unchanged(&self) -> HashMap<(KindKey, &str), bool> {
        let plan = self.plan;
        let mut all: HashMap<(KindKey, &str), bool> = HashMap::with_capacity(plan.changes.len());
        for change in &plan.changes {
            *all.entry(change.address.whole()).or_insert(true) &= change.action == Action::Past;
        }
        if self.is_by_files() && plan.choice.is_all() {
            let declared = plan.told.of.iter().filter(|(_, annotation)| annotation.place.is_some());
            for (address, _) in declared {
                all.entry(address.whole()).or_insert(false);
            }
        }
        let changed = self.changed().filter(|block| block.counted_as() != Action::Keep);
        for address in changed.map(|block| &block.address).chain(&plan.left_out) {
            all.remove(&address.whole());
        }
        all
    }

    /// How many deletions wait for other changes.
    pub(crate) fn held(&self) -> usize {
        let is_held = |change: &&Change| change.shown() == Action::ByHand && !change.is_manual();
        self.plan.changes.iter().filter(is_held).count()
    }

    /// The number of resources that are changed and cause messages.
    pub fn sending(&self) -> usize {
        self.resources(|change| !change.sends.is_empty())
    }

    /// The number of resources that are changed and send messages at once.
    pub(crate) fn sending_at_once(&self) -> usize {
        self.resources(|change| change.sends.iter().any(|send| send.after_seconds == 0))
    }

    /// The number of resources with a reverted change of the service.
    pub fn undoing(&self) -> usize {
        self.resources(Change::undoes)
    }

    fn resources(&self, is_one: impl Fn(&Change) -> bool) -> usize {
        let changes = self.plan.changes.iter().filter(|change| is_one(change));
        count_resources(changes.map(|change| &change.address))
    }

    /// The number of differences left to the dashboard.
    pub fn ignored(&self) -> usize {
        self.plan.changes.iter().map(|change| change.ignored.len()).sum()
    }

    /// The number of changes that wait for a decision.
    pub fn stuck(&self) -> usize {
        self.plan.changes.iter().filter(|change| guard::is_stuck(change)).count()
    }

    /// How many declared resources the service has as they are.
    pub fn matching(&self) -> usize {
        self.unchanged().len()
    }
}
