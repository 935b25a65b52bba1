//! What a plan brings about: what the manifests say, nothing, or what was there before.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{Aligned, Site, unreadable};
use crate::address::Address;
use crate::cli::target;
use crate::compare::Unit;
use crate::failure::Failure;
use crate::ledger::history::{self, Act};
use crate::ledger::{Ledger, Owned};
use crate::manifest::Target;
use crate::plan::{Aim, Held};
use crate::promote::{Promoted, Side, kept, promote};

impl Site {
    /// What is to be there.
    pub(super) async fn aimed(
        &self,
        aim: &Aim,
        ledger: &Ledger,
    ) -> Result<(Cow<'_, BTreeMap<Address, Unit>>, Vec<Held>), Failure> {
        let units = match aim {
            Aim::Manifests => Cow::Borrowed(&self.units),
            Aim::Nothing => Cow::Owned(BTreeMap::new()),
            Aim::Before(number) => Cow::Owned(self.before(*number, ledger).await?),
            Aim::Promoted(from) => {
                let Promoted { units, held } = self.promoted(from, ledger).await?;
                return Ok((Cow::Owned(units), held));
            }
        };
        Ok((units, Vec::new()))
    }

    /// What another target has, as this one gets it.
    async fn promoted(&self, from: &str, ledger: &Ledger) -> Result<Promoted, Failure> {
        let project = &self.manifests.project;
        let Some(_) = project.target(from) else { return Err(target::unknown(from, &project.target_names())) };
        let (desired, _) = self.manifests.resolve(Some(from));
        let other = Site::new(&project.root, from.to_owned(), desired, self.manifests.clone())?;
        let (applied, _) = other.ledger().await?;
        if applied.applied.is_none() {
            return Err(Failure::new(format!(
                "nothing was applied to `{from}` yet, so that there is nothing to promote"
            ))
            .help(format!("apply it first: pushplan apply --target {from}")));
        }
        // Whatever key something had when it was applied, it is what has the new one.
        let (there, here) = (Aligned::new(&other.units, &applied), Aligned::new(&self.units, ledger));
        let values = |target: &str| project.target(target).map(Target::values).unwrap_or_default();
        let (theirs, ours) = (values(from), values(&self.target));
        let (from, to) = (Side::new(&there.units, &there.ledger, &theirs), Side::new(&here.units, &here.ledger, &ours));
        Ok(promote(from, to))
    }

    /// What the ledger remembers, with everything that a deed changed as it was before.
    async fn before(&self, number: usize, ledger: &Ledger) -> Result<BTreeMap<Address, Unit>, Failure> {
        let entries = self.log.history().await.map_err(unreadable)?;
        let deeds = history::deeds(&entries);
        let deed = deeds.iter().find(|deed| deed.number == number).ok_or_else(|| {
            Failure::usage(format!("the history has no number {number}")).help("`pushplan history` lists what there is")
        })?;
        let before = Ledger::replay(entries.iter().filter(|entry| entry.seq < deed.first).cloned());
        let mut owned = ledger.owned.clone();
        let mut renamed: BTreeMap<Address, String> = BTreeMap::new();
        for changed in &deed.changes {
            if let Act::Move(to) = &changed.act {
                // It gets its old key back, and stays what it is.
                owned.retain(|address, _| address.resource() != *to);
                let old = before.owned.iter().filter(|(address, _)| address.resource() == changed.address);
                owned.extend(old.map(|(address, owned)| (address.clone(), owned.clone())));
                renamed.insert(changed.address.clone(), to.key.clone());
                continue;
            }
            match before.owned.get(&changed.address) {
                Some(old) => drop(owned.insert(changed.address.clone(), old.clone())),
                None => drop(owned.remove(&changed.address)),
            }
        }
        let unit = |(address, owned): (Address, Owned)| {
            let renamed_from = renamed.get(&address.resource()).cloned();
            let unit = Unit { renamed_from, ..kept(self.units.get(&address), &owned) };
            (address, unit)
        };
        Ok(owned.into_iter().map(unit).collect())
    }
}
