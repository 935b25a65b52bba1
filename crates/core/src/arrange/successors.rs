//! New messages with the content that another one has or had: they are created after the other one is deleted or
//! changed. If that fails, they are not created, so that nobody gets both.

use pushplan_ledger::Verb;
use pushplan_model::address::Address;
use pushplan_model::kinds;

use super::Arranging;
use crate::compare::Compared;
use crate::compare::renames::said_before;
use crate::plan::{Change, Reason};

impl Arranging<'_> {
    /// Makes the creation of a message wait: for the deletion of all messages with the same or a similar content, and
    /// for the change of one that had its content until now.
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

/// Messages with the same or a similar content that are no longer declared: to be deleted, or past.
pub(super) fn looks_renamed(change: &Change, is_past: bool) -> impl Iterator<Item = &Address> {
    change.reasons.iter().filter_map(move |reason| match reason {
        Reason::LooksRenamed { from, past, .. } if *past == is_past => Some(from),
        _ => None,
    })
}

/// Whether a declared resource messages people, by itself or when triggered.
pub(super) fn messages(change: &Change) -> bool {
    change.desired.as_ref().is_some_and(|desired| kinds::api(&change.address).messages(desired))
}
