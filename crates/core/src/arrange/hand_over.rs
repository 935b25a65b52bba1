//! An object that is now declared under another address: the old address is removed from the ledger, and nothing is deleted.

use std::collections::BTreeMap;

use pushplan_ledger::{Ledger, Retired};
use pushplan_model::address::Address;
use pushplan_model::kinds;

use crate::compare::Compared;
use crate::plan::{Action, Reason};

/// The declared resources, by their identity on the service.
pub struct DeclaredIds(BTreeMap<(String, String), Address>);

impl DeclaredIds {
    pub fn new(compared: &[Compared], ledger: &Ledger) -> Self {
        // Needed only if a managed resource is deleted.
        let stays = |one: &Compared| one.owned.is_none() || one.change.action == Action::Keep;
        if ledger.retired.is_empty() && compared.iter().all(stays) {
            return Self(BTreeMap::new());
        }
        let declared = compared.iter().filter_map(|one| {
            let address = &one.change.address;
            let identity = kinds::api(address).identity(&one.change.desired.as_ref()?.tree())?;
            Some(((address.kind.to_string(), identity), address.clone()))
        });
        Self(declared.collect())
    }

    /// The other address under which an object is declared.
    fn elsewhere(&self, address: &Address, spec: &serde_json::Value) -> Option<&Address> {
        let identity = kinds::api(address).identity(spec)?;
        self.0.get(&(address.kind.to_string(), identity)).filter(|other| *other != address)
    }

    /// Removes addresses from the ledger that are declared elsewhere, instead of deleting them. Returns their new
    /// addresses.
    pub(crate) fn hand_over(&self, compared: &mut [Compared]) -> BTreeMap<Address, Address> {
        let mut went = BTreeMap::new();
        for one in compared.iter_mut() {
            if let Some(to) = self.heir(one) {
                one.change.action = Action::Forget;
                one.change.reasons.push(Reason::HandedOver { to: to.clone() });
                went.insert(one.change.address.clone(), to.clone());
            }
        }
        went
    }

    /// The address that declares the object that a change would delete.
    pub(crate) fn heir(&self, one: &Compared) -> Option<&Address> {
        let owned = one.owned.as_ref().filter(|_| one.change.action == Action::Delete)?;
        self.elsewhere(&one.change.address, &owned.spec)
    }

    /// Whether another address declares an old version.
    pub fn keeps(&self, address: &Address, spec: &serde_json::Value) -> bool {
        self.elsewhere(address, spec).is_some()
    }

    /// The old versions that are not declared.
    pub(crate) fn unwanted<'l>(&self, ledger: &'l Ledger) -> Vec<&'l Retired> {
        ledger.retired.iter().filter(|old| !self.keeps(&old.address, &old.spec)).collect()
    }
}
