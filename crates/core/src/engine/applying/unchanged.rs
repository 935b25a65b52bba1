//! An apply without changes: the ledger records which files it was made from.

use jiff::Timestamp;
use pushplan_ledger::{AppendError, Entry, Ledger, Log, Record};

use crate::engine::workspace::{Planned, Workspace};
use crate::engine::{Session, actor, turn};
use crate::plan::{Aim, Choice, Plan};

impl Workspace {
    /// Ends an apply whose plan has no step. Its files count as the last applied ones: an older clone, whose settings
    /// may delete more, is behind them.
    pub async fn end_unchanged(&self, planned: &Planned, session: &Session) {
        let Planned { plan, ledger, .. } = planned;
        let Some(last) = turn::end_dead(session, &self.log, ledger).await else { return };
        // Files that do not contain the last apply do not become the last applied ones.
        if self.descent(ledger).is_some_and(|descent| !descent.ancestry.may_undo()) {
            return;
        }
        let Some(record) = news(plan, ledger) else { return };
        let (at, actor) = (Timestamp::now(), actor::name());
        let entry = Entry { seq: last + 1, at, actor: actor.clone(), record };
        match self.log.append(&entry).await {
            Ok(()) => {
                let mut ledger = Ledger { run: None, ..ledger.clone() };
                ledger.take_in(entry);
                self.log.checkpoint(&ledger, &actor, at).await;
            }
            // Another run has begun. It records its own files.
            Err(AppendError::Conflict) => {}
            Err(AppendError::NotWritten(why) | AppendError::Unknown(why)) => {
                self.note(&format!("The ledger may not record that these files are the newest: {why}"), session);
            }
        }
    }
}

/// The record of the files of a plan without steps, if it is new. None for a choice of the resources, and none if
/// nothing was ever applied.
fn news(plan: &Plan, ledger: &Ledger) -> Option<Record> {
    let told = &plan.told;
    let is_whole = plan.aim == Aim::Manifests && plan.choice == Choice::default();
    let is_whole = is_whole && told.other_home.is_none() && ledger.seq > 0;
    let checkout = told.checkout.as_ref().filter(|_| is_whole)?;
    let is_known = ledger.checkout.as_ref().is_some_and(|known| known.commit == checkout.commit);
    let safeguards = told.safeguards.clone().map(Box::new);
    (!is_known).then(|| Record::Unchanged { checkout: Box::new(checkout.clone()), safeguards })
}
