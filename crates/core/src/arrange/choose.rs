//! Choosing a part of the changes, with `--only` and `--except`.

use std::collections::{BTreeMap, BTreeSet};

use pushplan_ledger::{Ledger, Owned, Retired};
use pushplan_model::address::Address;
use pushplan_model::kinds;
use pushplan_model::kinds::remote::{may_name, segments};
use pushplan_model::kinds::{Resource, Segment};
use pushplan_model::text::is_like;

use super::hand_over::DeclaredIds;
use super::successors::{looks_renamed, messages};
use crate::compare::renames::said_before;
use crate::compare::{Compared, Situation};
use crate::plan::{Action, Choice};

/// The changes that were excluded, and the patterns without effect.
#[derive(Debug, Default)]
pub struct LeftOut {
    /// Addresses that would have been changed.
    pub addresses: Vec<Address>,
    /// All excluded addresses, also those without a change.
    pub untouched: BTreeSet<Address>,
    /// Patterns that match nothing.
    pub idle: Vec<String>,
}

/// Excludes everything that is not chosen, and returns it. Dependencies of a chosen change are chosen with it; a change
/// that depends on one that is excluded by name, and does not exist yet, is excluded as well.
pub fn choose(choice: &Choice, compared: &mut Vec<Compared>, situation: &Situation) -> LeftOut {
    let ledger = situation.ledger;
    let stays = |one: &Compared| {
        one.change.action == Action::Keep && !(one.refresh || one.close || one.released || one.recovered.is_some())
    };
    if choice.only.is_empty() && choice.except.is_empty() && ledger.retired.is_empty() && compared.iter().all(stays) {
        return LeftOut::default();
    }
    let wanted = DeclaredIds::new(compared, ledger);
    let taken = taken(choice, compared, situation, &wanted);
    let mut left = LeftOut { idle: idle(choice, compared, ledger), ..LeftOut::default() };
    let not_ours = leave(compared, &taken, ledger, &mut left);
    for change in compared.iter_mut().map(|one| &mut one.change).filter(|change| change.action == Action::Create) {
        let stays = looks_renamed(change, false).any(|from| left.untouched.contains(from));
        // The excluded message with the same content is kept, and the two would message people twice.
        if stays && messages(change) {
            change.action = Action::ByHand;
        }
    }
    leave_versions(choice, compared, situation, &wanted, &mut left);
    left.addresses.sort();
    // Excluded resources that are not managed are no part of the plan.
    compared.retain(|one| !not_ours.contains(&one.change.address));
    left
}

fn is(patterns: &[String], address: &Address) -> bool {
    patterns.iter().any(|pattern| matches(pattern, address))
}

/// Returns the chosen addresses, with their dependencies.
fn taken(choice: &Choice, compared: &[Compared], situation: &Situation, wanted: &DeclaredIds) -> BTreeSet<Address> {
    let ledger = situation.ledger;
    let mut taken: BTreeSet<Address> = BTreeSet::new();
    let mut open: Vec<&Address> = compared.iter().map(|one| &one.change.address).collect();
    open.retain(|address| choice.only.is_empty() || is(&choice.only, address));
    let mut open: Vec<Address> = open.into_iter().cloned().collect();
    let mut needed: BTreeMap<&Address, Vec<Address>> = BTreeMap::new();
    for one in compared {
        needed.entry(&one.change.address).or_default().extend(needs(one));
    }
    let mut said: BTreeMap<Address, Vec<Address>> = BTreeMap::new();
    for (new, old) in if choice.is_all() { Vec::new() } else { said_before(compared, situation) } {
        said.entry(new).or_default().push(old);
    }
    for (new, old) in &said {
        needed.entry(new).or_default().extend(old.iter().cloned());
    }
    while let Some(address) = open.pop() {
        if is(&choice.except, &address) || !taken.insert(address.clone()) {
            continue;
        }
        open.extend(needed.get(&address).into_iter().flatten().cloned());
    }
    let perhaps: BTreeMap<&Address, &Address> = compared
        .iter()
        .filter_map(|one| Some((looks_renamed(&one.change, true).next()?, &one.change.address)))
        .collect();
    loop {
        let before = taken.len();
        for one in compared {
            let address = &one.change.address;
            let missing = |needed: &Address| !taken.contains(needed) && !ledger.owned.contains_key(needed);
            // If the new address is excluded, the old one is not removed from the ledger.
            let perhaps = perhaps.get(address).filter(|_| !is(&choice.only, address));
            let of = |owned: Option<&Owned>| owned.and_then(|owned| kinds::api(address).identity(&owned.spec));
            let heir = wanted.heir(one).filter(|heir| of(ledger.owned.get(*heir)) != of(one.owned.as_ref()));
            let heir = heir.or(perhaps.copied()).is_some_and(|heir| !taken.contains(heir));
            // Two messages would have the same content.
            let twice = said.get(address).is_some_and(|old| old.iter().any(|old| !taken.contains(old)));
            if taken.contains(address) && (heir || twice || needed[address].iter().any(missing)) {
                taken.remove(address);
            }
        }
        if taken.len() == before {
            return taken;
        }
    }
}

/// Returns the patterns that match nothing.
fn idle(choice: &Choice, compared: &[Compared], ledger: &Ledger) -> Vec<String> {
    let known = compared.iter().map(|one| &one.change.address).chain(ledger.retired.iter().map(|old| &old.address));
    let known: Vec<&Address> = known.collect();
    let patterns = choice.only.iter().chain(&choice.except);
    patterns.filter(|pattern| !known.iter().any(|address| matches(pattern, address))).cloned().collect()
}

/// Excludes everything that is not taken. Returns the addresses that are not managed.
fn leave(
    compared: &mut [Compared],
    taken: &BTreeSet<Address>,
    ledger: &Ledger,
    left: &mut LeftOut,
) -> BTreeSet<Address> {
    let mut not_ours: BTreeSet<Address> = BTreeSet::new();
    for one in compared.iter_mut().filter(|one| !taken.contains(&one.change.address)) {
        // A kept resource with a reason is a change of the ledger only.
        let changes = match one.change.action {
            Action::Keep => !one.change.reasons.is_empty(),
            Action::Past => false,
            _ => true,
        };
        if changes {
            left.addresses.push(one.change.address.clone());
        }
        if one.change.is_pruned() {
            not_ours.insert(one.change.address.clone());
        }
        one.change.action = Action::Keep;
        one.change.reasons.clear();
        one.change.moved = None;
        if one.recovered.take().is_some() {
            // A recovered object is not adopted: the ledger's state of it counts.
            one.owned = ledger.owned.get(&one.change.address).cloned();
        }
        (one.refresh, one.restamp, one.close, one.released) = (false, false, false, false);
        left.untouched.insert(one.change.address.clone());
    }
    not_ours
}

/// Excludes old versions together with the address that they had, even if nothing else is left of it.
fn leave_versions(
    choice: &Choice,
    compared: &[Compared],
    situation: &Situation,
    wanted: &DeclaredIds,
    left: &mut LeftOut,
) {
    let known: BTreeSet<&Address> = compared.iter().map(|one| &one.change.address).collect();
    for Retired { address, .. } in wanted.unwanted(situation.ledger) {
        let is_known = known.contains(address);
        let is_chosen = (choice.only.is_empty() || is(&choice.only, address)) && !is(&choice.except, address);
        if left.untouched.contains(address) || !(is_known || is_chosen) {
            left.untouched.insert(address.clone());
            if situation.deletes && !left.addresses.contains(address) {
                left.addresses.push(address.clone());
            }
        }
    }
}

/// The segments that a change depends on.
fn needs(one: &Compared) -> Vec<Address> {
    let audiences = kinds::api(&one.change.address).audiences();
    let Some(spec) = one.change.desired.as_ref().filter(|spec| may_name(audiences, spec)) else { return Vec::new() };
    let spec = spec.tree();
    let named = segments(audiences, &spec);
    named.into_iter().map(|key| Address::new(Segment::KEY, key)).collect()
}

/// Whether a pattern matches an address or its resource. `*` matches any characters.
pub fn matches(pattern: &str, address: &Address) -> bool {
    let whole = address.to_string();
    is_like(pattern, &whole) || is_like(pattern, &address.resource().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_addresses_and_their_parts() {
        let address = Address::new("tag_groups", "loyalty/named_users/u-1");
        for pattern in
            ["tag_groups/loyalty", "tag_groups/*", "*", "*/u-1", "tag_groups/loyalty/named_users/u-1", "tag*loy*"]
        {
            assert!(matches(pattern, &address), "{pattern}");
        }
        for pattern in ["tag_groups", "tag_groups/loy", "segments/*", "*/u-2", ""] {
            assert!(!matches(pattern, &address), "{pattern}");
        }
    }
}
