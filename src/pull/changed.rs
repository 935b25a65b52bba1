//! Resources of ours that somebody changed on the service.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::address::Address;
use crate::compare::{Names, Unit, ignoring};
use crate::kinds::{self, remote};
use crate::ledger::{Adopted, Ledger};
use crate::live::{Live, Seen};
use crate::manifest::Desired;

/// A declared resource that is something else on the service than what was last applied.
#[derive(Clone, Debug)]
pub struct Changed {
    pub address: Address,
    /// The name that the service knows it by.
    pub name: String,
    /// What the manifests say.
    pub desired: Value,
    /// What they are to say: what was changed on the service, and what was changed in git alone.
    pub wanted: Value,
    /// What the ledger learns.
    pub adopted: Adopted,
}

/// Every resource that was changed on the service since it was last applied, and is not declared so. What is applied in parts is
/// not among them, and neither are fields that are left to the dashboard.
pub fn changed(desired: &Desired, units: &BTreeMap<Address, Unit>, ledger: &Ledger, live: &Live) -> Vec<Changed> {
    let names = Names::new(ledger);
    let one = |address: &Address| {
        let declared = desired.resources.get(address)?;
        let unit = units.get(address).filter(|_| declared.spec.units(&address.key).len() == 1)?;
        let (owned, Seen::There(found)) = (ledger.owned.get(address)?, live.of(address)) else { return None };
        let api = kinds::api(address);
        let theirs = found.spec.as_ref().filter(|_| found.id == owned.id && !owned.past)?;
        let is_whole = declared.spec.canonical() == unit.spec;
        let live = names.by_key(api, theirs);
        if !is_whole || live == owned.spec {
            return None;
        }
        let kept = ignoring(&live, &unit.spec, &unit.ignore).0;
        let wanted = merged(api.audiences(), "", Some(&owned.spec), Some(&unit.spec), Some(&kept))?;
        let same = by_key(api.audiences(), &names, &unit.spec) == by_key(api.audiences(), &names, &wanted);
        if same {
            return None;
        }
        let adopted = Adopted {
            address: address.clone(),
            id: owned.id.clone(),
            refs: names.refs(api, theirs),
            spec: live,
            stamp: found.stamp.clone(),
            push_ids: owned.push_ids.clone(),
            protect: owned.protect,
            past: owned.past,
        };
        let name = found.name.clone();
        Some(Changed { address: address.clone(), name, desired: unit.spec.clone(), wanted, adopted })
    };
    desired.resources.keys().filter_map(one).collect()
}

/// The same with segments of ours by their keys.
fn by_key(audiences: &[&str], names: &Names, spec: &Value) -> Value {
    remote::point(audiences, spec, &mut |reference| {
        let key = reference["id"].as_str().and_then(|id| names.key(id));
        key.map_or_else(|| reference.clone(), Value::from)
    })
}

/// A field with both kinds of changes since it was last applied: what was changed in git alone stays, and what was changed on the
/// service takes its place. An audience is one field.
fn merged(
    audiences: &[&str],
    path: &str,
    ledger: Option<&Value>,
    desired: Option<&Value>,
    live: Option<&Value>,
) -> Option<Value> {
    if live == ledger {
        return desired.cloned();
    }
    match (desired, live) {
        (Some(Value::Object(ours)), Some(Value::Object(theirs))) if desired != ledger && !audiences.contains(&path) => {
            let keys: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
            let mut out = Map::new();
            for key in keys {
                let before = ledger.and_then(|ledger| ledger.get(key));
                let value = merged(audiences, &format!("{path}/{key}"), before, ours.get(key), theirs.get(key));
                out.extend(value.map(|value| (key.clone(), value)));
            }
            Some(out.into())
        }
        _ => live.cloned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_was_changed_in_git_alone_stays() {
        let both = |ledger: Value, desired: Value, live: Value| {
            merged(&["/criteria"], "", Some(&ledger), Some(&desired), Some(&live)).expect("a value")
        };
        let ledger = json!({ "name": "a", "push": { "alert": "x", "title": "t" } });
        let desired = json!({ "name": "b", "push": { "alert": "x", "title": "t" } });
        let live = json!({ "name": "a", "push": { "alert": "y" } });
        assert_eq!(both(ledger, desired, live), json!({ "name": "b", "push": { "alert": "y" } }));
        let criteria = |value: Value| json!({ "criteria": value });
        let one =
            both(criteria(json!({ "tag": "a" })), criteria(json!({ "tag": "b" })), criteria(json!({ "NOT": "c" })));
        assert_eq!(one, criteria(json!({ "NOT": "c" })));
    }
}
