//! Resources with a new key: declared with `lifecycle.renamed_from`, or recognized by their content.

use std::collections::{BTreeMap, BTreeSet};

use pushplan_ledger::{Ledger, Owned};
use pushplan_model::address::Address;
use pushplan_model::digest::Digest;
use pushplan_model::kinds::remote::pointed;
use pushplan_model::kinds::{self, Api, Create};
use pushplan_model::node::Shared;
use serde_json::Value;

use super::similar::Sketch;
use super::{Compared, Situation, Unit, segment_address};
use crate::plan::{Action, Likeness, Reason};

/// The resources that are declared as renamed and are in the ledger only under the old key: the new address with the
/// old one. A resource whose identity on the service depends on its key is not moved.
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
    unit.renamed_from.as_ref().map(|key| Address::new(address.kind, key.clone()))
}

/// Adds to each change whether its resource was renamed, or appears to be.
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

/// Resources that are no longer declared, by content.
#[derive(Default)]
struct Going<'c> {
    /// Resources to be deleted, by content.
    goes: BTreeMap<(&'c str, Digest), Vec<&'c Address>>,
    /// Resources that exist until a person deletes them, by content, with whether their state is unknown.
    stays: BTreeMap<(&'c str, Digest), (&'c Address, bool)>,
    /// Resources that exist until a person deletes them, by name, with whether their state is unknown.
    named: BTreeMap<(&'c str, String), (&'c Address, bool)>,
    /// Resources that have begun, by their content without times: they are past, or their remaining times are
    /// cancelled.
    begun: BTreeMap<(&'c str, Digest), (&'c Address, Old)>,
    /// Messages: a new message may be an edited version of one of them, also of another kind.
    messages: Vec<(&'c Address, Old, Sketch)>,
}

/// The state of an old resource with the same content.
#[derive(Clone, Copy, PartialEq)]
enum Old {
    Goes,
    Stays,
    InDoubt,
    Past,
}

/// Finds undeclared renames: a new resource with the content of one that is no longer declared, or a new message that
/// is similar, because it may have been edited at the same time. If the old one cannot be deleted, or its state is
/// unknown, the new one waits for a person, because both would message people. If the old one is past, the new one
/// would message people again, whatever its own time.
fn look_alike(compared: &mut [Compared], situation: &Situation) {
    for (number, from, old, similar) in lookalikes(compared, situation) {
        let change = &mut compared[number].change;
        let (in_doubt, past) = (old == Old::InDoubt, old == Old::Past);
        change.reasons.push(Reason::LooksRenamed { from, in_doubt, past, similar });
        if matches!(old, Old::Stays | Old::InDoubt) {
            change.action = Action::ByHand;
        }
    }
}

/// New resources by their positions, each with the old one that it may be, the state of that one, and their
/// similarities.
fn lookalikes(compared: &[Compared], situation: &Situation) -> Vec<(usize, Address, Old, Vec<Likeness>)> {
    let Situation { ledger, units, .. } = situation;
    let owned = |address: &Address| ledger.owned.get(address).map(|owned| &owned.spec);
    let mut old = Meanings::new(&owned);
    let mut going = Going::default();
    for one in compared {
        let address = &one.change.address;
        if one.change.desired.is_some() {
            // Its previous content is sent until a person deletes it.
            if let Some(owned) = one.owned.as_ref().filter(|owned| is_edited_by_hand(one, owned)) {
                for says in old.both(address, &owned.spec) {
                    going.stays.entry((&address.kind, says)).or_insert((address, false));
                }
            }
            continue;
        }
        let is_said = |is: fn(&Reason) -> bool| one.change.reasons.iter().any(is);
        let in_doubt = is_said(|reason| matches!(reason, Reason::InDoubt { .. } | Reason::DeletedOrSent { .. }));
        let stays = in_doubt || is_said(|reason| matches!(reason, Reason::InDashboard { .. }));
        if address.part().is_some() {
            continue;
        }
        if let Some(owned) = one.owned.as_ref().filter(|owned| !stays && has_begun(one, owned, situation)) {
            let is = match one.change.action {
                Action::Delete => Some(Old::Goes),
                Action::Keep | Action::Forget => Some(Old::Past),
                _ => None,
            };
            for (is, says) in
                is.into_iter().flat_map(|is| old.both(address, &timeless(&owned.spec)).map(|says| (is, says)))
            {
                going.begun.entry((&address.kind, says)).or_insert((address, is));
            }
        }
        if one.change.action != Action::Delete && !stays {
            continue;
        }
        let intended = ledger.open.get(address).and_then(|open| open.intent.spec.as_ref()).filter(|_| in_doubt);
        let owned = one.owned.as_ref().map(|owned| &owned.spec);
        for spec in owned.into_iter().chain(intended) {
            for says in old.both(address, spec) {
                match stays {
                    true => drop(going.stays.entry((&address.kind, says)).or_insert((address, in_doubt))),
                    false => {
                        let goes = going.goes.entry((&address.kind, says)).or_default();
                        if goes.last() != Some(&address) {
                            goes.push(address);
                        }
                    }
                }
            }
            if situation.similar && kinds::api(address).messages(spec) {
                let is = match (stays, in_doubt) {
                    (false, _) => Old::Goes,
                    (true, false) => Old::Stays,
                    (true, true) => Old::InDoubt,
                };
                going.messages.push((address, is, old.sketch(address, spec)));
            }
            if stays {
                let name = kinds::api(address).name(spec);
                going.named.entry((&address.kind, name)).or_insert((address, in_doubt));
            }
        }
    }
    if going.goes.is_empty() && going.stays.is_empty() && going.begun.is_empty() {
        return Vec::new();
    }
    let declared = |address: &Address| units.get(address).map(|unit| &unit.spec);
    let mut new = Meanings::new(&declared);
    let mut found: Vec<(usize, Address, Old, Vec<Likeness>)> = Vec::new();
    for (number, one) in compared.iter().enumerate() {
        let (address, Some(desired)) = (&one.change.address, &one.change.desired) else { continue };
        let api = kinds::api(address);
        let is_new = one.change.action == Action::Create && one.owned.is_none() && address.part().is_none();
        // A resource with the same identity is handed over anyway.
        if !is_new || api.lifecycle(situation.level).create == Create::Upsert {
            continue;
        }
        let says = new.both(address, desired).map(|says| (&*address.kind, says));
        let stays = going.named.get(&(&*address.kind, api.name(desired)));
        let stays = stays.or_else(|| says.iter().find_map(|says| going.stays.get(says)));
        let stays = stays.map(|(old, in_doubt)| (*old, if *in_doubt { Old::InDoubt } else { Old::Stays }));
        let mut begun = || {
            let says = new.both(address, &timeless(desired)).map(|says| (&*address.kind, says));
            says.iter().find_map(|says| going.begun.get(says)).copied()
        };
        let begun = if going.begun.is_empty() { None } else { begun() };
        let is_message = !going.messages.is_empty() && api.messages(desired);
        let similar = if is_message { new.similar(address, desired, &going.messages) } else { Vec::new() };
        // Kept resources are compared before deleted ones, because with a kept one there would be two.
        let waits = |(_, old, _): &&(&Address, Old, _)| matches!(old, Old::Stays | Old::InDoubt);
        let goes: Vec<&Address> = says.iter().filter_map(|says| going.goes.get(says)).flatten().copied().collect();
        if let Some((old, is)) = stays {
            found.push((number, old.clone(), is, Vec::new()));
        } else if let Some((old, is, common)) = similar.iter().find(waits) {
            found.push((number, (*old).clone(), *is, common.clone()));
        } else if !goes.is_empty() {
            // All of them are deleted before it is created.
            let goes: BTreeSet<&Address> = goes.into_iter().collect();
            found.extend(goes.into_iter().map(|old| (number, old.clone(), Old::Goes, Vec::new())));
        } else if let Some((old, is)) = begun {
            found.push((number, old.clone(), is, Vec::new()));
        } else {
            found.extend(similar.into_iter().map(|(old, is, common)| (number, old.clone(), is, common)));
        }
    }
    found
}

/// New messages with the previous content of a message that the same plan changes: each with that one. If the change
/// fails, both would have it.
pub(crate) fn said_before(compared: &[Compared], situation: &Situation) -> Vec<(Address, Address)> {
    let is_whole = |one: &&Compared| one.change.address.part().is_none();
    let changed = compared.iter().filter(is_whole).filter_map(|one| {
        let is_changed = matches!(one.change.action, Action::Update | Action::Replace);
        let owned = one.owned.as_ref().filter(|_| is_changed)?;
        let address = &one.change.address;
        kinds::api(address).messages(&owned.spec).then_some((address, &owned.spec))
    });
    let changed: Vec<(&Address, &Shared)> = changed.collect();
    let new = compared.iter().filter(is_whole).filter_map(|one| {
        let is_new = one.change.action == Action::Create && one.owned.is_none();
        let (address, desired) = (&one.change.address, one.change.desired.as_ref().filter(|_| is_new)?);
        let is_there = changed.iter().any(|(old, _)| old.kind == address.kind);
        (is_there && kinds::api(address).messages(desired)).then_some((address, desired))
    });
    let new: Vec<(&Address, &Shared)> = new.collect();
    if new.is_empty() {
        return Vec::new();
    }
    let Situation { ledger, units, .. } = situation;
    let owned = |address: &Address| ledger.owned.get(address).map(|owned| &owned.spec);
    let mut meanings = Meanings::new(&owned);
    let mut said: BTreeMap<(&str, Digest), Vec<&Address>> = BTreeMap::new();
    for (address, spec) in changed {
        for says in meanings.both(address, spec) {
            said.entry((&address.kind, says)).or_default().push(address);
        }
    }
    let declared = |address: &Address| units.get(address).map(|unit| &unit.spec);
    let mut meanings = Meanings::new(&declared);
    let mut pairs = Vec::new();
    for (address, spec) in new {
        let old = meanings.both(address, spec).into_iter().filter_map(|says| said.get(&(&*address.kind, says)));
        pairs.extend(old.flatten().map(|old| (address.clone(), (*old).clone())));
    }
    pairs
}

/// Whether a person has to replace the live resource.
fn is_edited_by_hand(one: &Compared, owned: &Owned) -> bool {
    let by_hand = one.change.reasons.iter().any(|reason| matches!(reason, Reason::InDashboard { .. }));
    by_hand && one.change.desired.as_ref() != Some(&owned.spec) && one.change.address.part().is_none()
}

/// Whether something has begun to message people.
fn has_begun(one: &Compared, owned: &Owned, situation: &Situation) -> bool {
    let begun = |runs: kinds::Runs| runs.has_begun(situation.now);
    owned.past || kinds::api(&one.change.address).runs(&owned.spec).is_some_and(begun)
}

/// The content of a spec without its times.
fn timeless(spec: &Shared) -> Shared {
    let mut spec = spec.tree().into_owned();
    forget_times(&mut spec);
    spec.into()
}

fn forget_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !matches!(name.as_str(), "schedule" | "scheduled_time" | "local_scheduled_time"));
            fields.values_mut().for_each(forget_times);
        }
        Value::Array(items) => items.iter_mut().for_each(forget_times),
        _ => {}
    }
}

/// How many nested segments are followed; deeper ones count by their keys.
const DEEP: usize = 32;

/// Digests of contents and audiences, independent of names of resources and segments.
struct Meanings<'s> {
    segment: &'s dyn Fn(&Address) -> Option<&'s Shared>,
    known: BTreeMap<String, Digest>,
    depth: usize,
}

impl<'s> Meanings<'s> {
    fn new(segment: &'s dyn Fn(&Address) -> Option<&'s Shared>) -> Self {
        Self { segment, known: BTreeMap::new(), depth: 0 }
    }

    /// Returns two digests without the name: one with segments by their keys, one with segments by their content. Either may be
    /// unchanged after a rename.
    fn both(&mut self, address: &Address, spec: &Shared) -> [Digest; 2] {
        [unnamed(kinds::api(address), spec), self.of(address, spec)]
    }

    fn of(&mut self, address: &Address, spec: &Shared) -> Digest {
        unnamed(kinds::api(address), &self.by_meaning(address, spec))
    }

    /// A spec with the contents of its segments instead of their keys.
    fn by_meaning(&mut self, address: &Address, spec: &Shared) -> Shared {
        pointed(kinds::api(address).audiences(), spec, &mut |reference| match reference.as_str() {
            Some(key) => Value::from(self.named(key).as_str()),
            None => reference.clone(),
        })
    }

    fn sketch(&mut self, address: &Address, spec: &Shared) -> Sketch {
        Sketch::new(kinds::api(address), spec, &self.by_meaning(address, spec))
    }

    /// Returns the messages that are similar to another one, with their similarities.
    fn similar<'m>(
        &mut self,
        address: &Address,
        spec: &Shared,
        all: &[(&'m Address, Old, Sketch)],
    ) -> Vec<(&'m Address, Old, Vec<Likeness>)> {
        let own = self.sketch(address, spec);
        all.iter().filter_map(|(old, is, sketch)| Some((*old, *is, sketch.common(&own)?))).collect()
    }

    fn named(&mut self, key: &str) -> Digest {
        if let Some(known) = self.known.get(key) {
            return known.clone();
        }
        let address = segment_address(key);
        let spec = (self.segment)(&address).filter(|_| self.depth < DEEP);
        let Some(spec) = spec else { return Digest::of(key.as_bytes()) };
        self.depth += 1;
        let digest = self.of(&address, spec);
        self.depth -= 1;
        self.known.insert(key.to_owned(), digest.clone());
        digest
    }
}

/// The digest of a content, without its name.
pub(super) fn unnamed(api: &dyn Api, spec: &Shared) -> Digest {
    let mut spec = spec.tree().into_owned();
    if let (Value::Object(map), Some(name)) = (&mut spec, api.name_field()) {
        map.remove(name);
    }
    Digest::of_value(&spec)
}
