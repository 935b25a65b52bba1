//! The aim of a plan: the manifests, an empty target, or an earlier state.

use std::borrow::Cow;
use std::collections::BTreeMap;

use pushplan_io::failure::Failure;
use pushplan_ledger::Ledger;
use pushplan_model::address::Address;
use pushplan_project::manifest::Target;

use super::Workspace;
use crate::compare::Unit;
use crate::engine::Session;
use crate::engine::target::{self, Opened};
use crate::plan::{Aim, NotPromoted};
use crate::planner::Aligned;
use crate::promote::{Promoted, PromotionSide, promote};

impl Workspace {
    /// The units of the aim.
    pub(super) async fn aimed(
        &self,
        aim: &Aim,
        ledger: &Ledger,
        opened: &Opened,
        session: &Session,
    ) -> Result<(Cow<'_, BTreeMap<Address, Unit>>, Vec<NotPromoted>), Failure> {
        let units = match aim {
            Aim::Manifests => Cow::Borrowed(&self.units),
            Aim::Nothing => Cow::Owned(BTreeMap::new()),
            Aim::Before(number) => Cow::Owned(self.before(*number, ledger, opened.now(), session).await?),
            Aim::Promoted(from) => {
                let Promoted { units, held } = self.promoted(from, ledger).await?;
                return Ok((Cow::Owned(units), held));
            }
        };
        Ok((units, Vec::new()))
    }

    /// The units of another target, as this one gets them.
    async fn promoted(&self, from: &str, ledger: &Ledger) -> Result<Promoted, Failure> {
        let project = &self.manifests.project;
        let Some(_) = project.target(from) else { return Err(target::unknown(from, &project.target_names())) };
        let (desired, _) = self.manifests.resolve(Some(from));
        let other = Workspace::new(&project.root, from.to_owned(), desired, self.manifests.clone())?;
        let (applied, _) = other.ledger().await?;
        if applied.applied.is_none() {
            return Err(Failure::new(format!("nothing was applied to `{from}` yet: there is nothing to promote"))
                .help(format!("apply it first: pushplan apply --target {from}")));
        }
        // Resources that were applied under an old key are matched by the new one.
        let (there, here) = (Aligned::new(&other.units, &applied), Aligned::new(&self.units, ledger));
        let values = |target: &str| project.target(target).map(Target::values).unwrap_or_default();
        let (theirs, ours) = (values(from), values(&self.target));
        let (from, to) = (
            PromotionSide::new(&there.units, &there.ledger, &theirs),
            PromotionSide::new(&here.units, &here.ledger, &ours),
        );
        Ok(promote(from, to))
    }
}
