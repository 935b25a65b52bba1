//! Resources that have another key than before: said so by `lifecycle.renamed_from`, or by the looks of it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Compared, Situation, Unit};
use crate::address::Address;
use crate::kinds::{self, Create};
use crate::ledger::Ledger;
use crate::plan::{Action, Reason};

/// The resources that are said to be renamed and are known by their old key alone: the new address with the old one. What is
/// another thing on the service under another key is not moved.
pub fn moves(units: &BTreeMap<Address, Unit>, ledger: &Ledger) -> BTreeMap<Address, Address> {
    let declared: BTreeSet<Address> = units.keys().map(Address::resource).collect();
    let known: BTreeSet<Address> = ledger.owned.keys().chain(ledger.open.keys()).map(Address::resource).collect();
    let mut moves = BTreeMap::new();
    for (address, unit) in units {
        let Some(from) = old_address(address, unit) else { continue };
        let to = address.resource();
        let is_free = !declared.contains(&from) && !known.contains(&to) && !moves.values().any(|other| *other == from);
        if moves.contains_key(&to) || !is_free || !known.contains(&from) {
            continue;
        }
        let is_same = |old: &Address, spec: &Value| {
            let new = old.renamed(&from, &to).and_then(|new| units.get(&new));
            let identity = |spec: &Value| kinds::api(old).identity(spec);
            new.is_none_or(|new| identity(&new.spec) == identity(spec))
        };
        let mut parts = ledger.owned.iter().filter(|(old, _)| old.resource() == from);
        if parts.all(|(old, owned)| is_same(old, &owned.spec)) {
            moves.insert(to, from);
        }
    }
    moves
}

fn old_address(address: &Address, unit: &Unit) -> Option<Address> {
    unit.renamed_from.as_ref().map(|key| Address::new(address.kind.clone(), key.clone()))
}

/// Says of each change whether its resource was renamed, or looks as if.
pub fn tell(compared: &mut [Compared], situation: &Situation) {
    for one in compared.iter_mut() {
        let address = &one.change.address;
        if let Some(from) = situation.moves.get(&address.resource()) {
            one.change.reasons.push(Reason::Renamed { from: from.clone() });
        } else if one.owned.is_none()
            && one.change.action == Action::Create
            && let Some(from) = situation.units.get(address).and_then(|unit| old_address(address, unit))
        {
            one.change.reasons.push(Reason::NothingRenamed { from });
        }
    }
    look_alike(compared, situation);
}

/// What goes, by what it says.
#[derive(Default)]
struct Going<'c> {
    /// By their content.
    same: BTreeMap<(&'c str, String), &'c Address>,
    /// Those that are there until a person takes them away, by their names.
    staying: BTreeMap<(&'c str, String), &'c Address>,
}

/// Something new that says the same as what is no longer declared may be a rename that nobody told of. Where the old one
/// cannot be deleted, the new one waits for a person: both would message people.
fn look_alike(compared: &mut [Compared], situation: &Situation) {
    let mut going = Going::default();
    for one in compared.iter() {
        let (address, Some(owned), None) = (&one.change.address, &one.owned, &one.change.desired) else { continue };
        let stays = one.change.reasons.iter().any(|reason| matches!(reason, Reason::InDashboard { .. }));
        if address.part().is_some() || one.change.action != Action::Delete && !stays {
            continue;
        }
        going.same.entry((&address.kind, without_key(address, &owned.spec))).or_insert(address);
        if stays {
            let name = kinds::api(address).name(&owned.spec);
            going.staying.entry((&address.kind, name)).or_insert(address);
        }
    }
    if going.same.is_empty() {
        return;
    }
    let mut found: Vec<(usize, Address, bool)> = Vec::new();
    for (number, one) in compared.iter().enumerate() {
        let (address, Some(desired)) = (&one.change.address, &one.change.desired) else { continue };
        let api = kinds::api(address);
        let is_new = one.change.action == Action::Create && one.owned.is_none() && address.part().is_none();
        // What has the same identity is handed over by itself.
        if !is_new || api.lifecycle(situation.level).create == Create::Upsert {
            continue;
        }
        let namesake = going.staying.get(&(&*address.kind, api.name(desired)));
        let old = namesake.or_else(|| going.same.get(&(&*address.kind, without_key(address, desired))));
        if let Some(old) = old {
            let stays = going.staying.values().any(|other| other == old);
            found.push((number, (*old).clone(), stays));
        }
    }
    for (number, from, stays) in found {
        let change = &mut compared[number].change;
        change.reasons.push(Reason::LooksRenamed { from });
        if stays {
            change.action = Action::ByHand;
        }
    }
}

/// What something says, whatever its key: a name that is the key says nothing.
fn without_key(address: &Address, spec: &Value) -> String {
    let is_named_by_key = kinds::api(address).name(spec) == address.key;
    match spec {
        Value::Object(map) if is_named_by_key => {
            let mut map = map.clone();
            map.retain(|_, value| *value != address.key);
            Value::Object(map).to_string()
        }
        spec => spec.to_string(),
    }
}
