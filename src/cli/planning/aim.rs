//! What a plan brings about: what the manifests say, nothing, or what was there before.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{Site, unreadable};
use crate::address::Address;
use crate::compare::Unit;
use crate::failure::Failure;
use crate::ledger::history::{self, Act};
use crate::ledger::{Ledger, Owned};
use crate::plan::Aim;

impl Site {
    /// What is to be there.
    pub(super) async fn aimed(&self, aim: Aim, ledger: &Ledger) -> Result<Cow<'_, BTreeMap<Address, Unit>>, Failure> {
        Ok(match aim {
            Aim::Manifests => Cow::Borrowed(&self.units),
            Aim::Nothing => Cow::Owned(BTreeMap::new()),
            Aim::Before(number) => Cow::Owned(self.before(number, ledger).await?),
        })
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
            let declared = self.units.get(&address);
            let unit = Unit {
                spec: owned.spec,
                place: declared.and_then(|unit| unit.place.clone()),
                protect: Some(owned.protect),
                broadcast: declared.is_some_and(|unit| unit.broadcast),
                ignore: declared.map(|unit| unit.ignore.clone()).unwrap_or_default(),
                record: declared.is_some_and(|unit| unit.record),
                renamed_from: renamed.get(&address.resource()).cloned(),
                aside: declared.map(|unit| unit.aside.clone()).unwrap_or_default(),
            };
            (address, unit)
        };
        Ok(owned.into_iter().map(unit).collect())
    }
}
