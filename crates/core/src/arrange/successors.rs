//! New messages that say what another one says or said: they are made once that one is gone or changed. If that fails, they are not
//! made, so that nobody gets both.

use pushplan_ledger::Verb;
use pushplan_model::address::Address;
use pushplan_model::kinds;

use super::Arranging;
use crate::compare::Compared;
use crate::compare::renames::said_before;
use crate::plan::{Change, Reason};

impl Arranging<'_> {
    /// What says the same as something that goes, or is similar, and messages people, is made once all of that is gone. What says
    /// what another one said is made once that one is changed.
    pub(super) fn successors(&mut self, compared: &[Compared]) {
        for change in compared.iter().map(|one| &one.change).filter(|change| messages(change)) {
            let Some(made) = self.made.get(&change.address).copied() else { continue };
            for goes in looks_renamed(change, false).filter_map(|from| self.last.get(from).copied()) {
                if self.drafts[goes].step.verb == Verb::Delete {
                    self.drafts[made].after.insert(goes);
                }
            }
        }
        for (new, old) in said_before(compared, self.situation) {
            if let (Some(made), Some(changed)) = (self.made.get(&new), self.last.get(&old)) {
                self.drafts[*made].after.insert(*changed);
            }
        }
    }
}

/// What says the same, or is similar, and is no longer declared: what goes, or has had its time.
pub(super) fn looks_renamed(change: &Change, is_past: bool) -> impl Iterator<Item = &Address> {
    change.reasons.iter().filter_map(move |reason| match reason {
        Reason::LooksRenamed { from, past, .. } if *past == is_past => Some(from),
        _ => None,
    })
}

/// Whether what is declared messages people, by itself or once something sets it off.
pub(super) fn messages(change: &Change) -> bool {
    change.desired.as_ref().is_some_and(|desired| kinds::api(&change.address).messages(desired))
}
