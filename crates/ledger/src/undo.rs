//! The state before a deed, under the current addresses.
//!
//! A resource is followed by its address from the end of the deed until now, through every move, while it is managed. A
//! resource that was deleted or removed from the ledger since counts as gone, even if another one has its key now.

mod trail;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use pushplan_model::address::Address;
use pushplan_model::kinds::remote::{named, pointed, to_come};
use pushplan_model::kinds::{self, Resource, Segment};
use pushplan_model::node::Shared;
use serde_json::Value;

use super::history::{Act, Changed, Deed};
use super::intent::{Done, Verb};
use super::record::Entry;
use super::state::{Ledger, Owned};
use trail::{Lifeline, Trail};

/// The result of undoing a deed.
#[derive(Debug, Default)]
pub struct Undone {
    /// The resources to manage.
    pub owned: BTreeMap<Address, Owned>,
    /// The resources that get a key back: their current keys, by the address with the old key.
    pub renamed: BTreeMap<Address, String>,
    /// Resources that the deed adopted and that are still managed. They stay managed.
    pub adopted: Vec<Address>,
    /// The ids of resources that the run removed from the ledger and that the service may still have. They stay
    /// removed.
    pub forgotten: BTreeMap<Address, String>,
    /// Resources that the deed changed and that undoing does not change.
    pub left: BTreeMap<Address, Left>,
    /// Resources that get their earlier content, by the address that they have now.
    pub put_back: BTreeSet<Address>,
    /// The number of resources that already are as before the deed.
    pub as_before: usize,
}

/// Why undoing does not change a resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Left {
    /// It was deleted or removed from the ledger since.
    Gone,
    /// Another resource has its key now.
    Another,
    /// Its time has passed.
    Past,
    /// It named a segment that was deleted or removed from the ledger since.
    Names(Address),
    /// It was deleted without being managed.
    NotOurs,
}

/// A key that cannot be given back, because another resource has it now.
#[derive(Debug, PartialEq, Eq)]
pub struct Taken {
    pub old: Address,
    pub now: Address,
}

/// Computes the result of undoing a deed. The entries are those of the whole ledger, from the first on.
pub fn undone(entries: &[Entry], deed: &Deed, ledger: &Ledger, now: Timestamp) -> Result<Undone, Taken> {
    let mut acts: BTreeMap<&Address, Vec<&Changed>> = BTreeMap::new();
    for changed in deed.changes.iter().filter(|changed| may_have_been(changed)) {
        if !matches!(changed.act, Act::Move(_)) {
            acts.entry(&changed.address).or_default().push(changed);
        }
    }
    let mut undoing = Undoing {
        trail: Trail::of(entries, deed),
        ledger,
        now,
        restored: BTreeMap::new(),
        out: Undone { owned: ledger.owned.clone(), ..Undone::default() },
    };
    for (address, changes) in acts {
        undoing.undo(address, &changes);
    }
    undoing.restore();
    undoing.give_keys_back(deed)?;
    Ok(undoing.out)
}

/// The runs after a deed that changed the content of what gets its earlier content back: all of that is undone too.
pub fn undone_too(deeds: &[Deed], deed: &Deed, undone: &Undone) -> BTreeMap<usize, BTreeSet<Address>> {
    let mut found: BTreeMap<usize, BTreeSet<Address>> = BTreeMap::new();
    for now in &undone.put_back {
        let mut at = now.clone();
        for later in deeds.iter().rev().take_while(|later| later.number > deed.number) {
            for changed in later.changes.iter().rev() {
                match &changed.act {
                    Act::Move(to) => at = at.renamed(to, &changed.address).unwrap_or(at),
                    Act::Step(Verb::Create | Verb::Update | Verb::Adopt)
                        if changed.address == at && changed.before != changed.after && may_have_been(changed) =>
                    {
                        found.entry(later.number).or_default().insert(now.clone());
                    }
                    Act::Step(_) | Act::Resolve => {}
                }
            }
        }
    }
    found
}

impl Undone {
    /// Whether nothing has to be done.
    pub fn is_idle(&self, ledger: &Ledger) -> bool {
        self.renamed.is_empty() && self.owned == ledger.owned
    }
}

/// Whether a change took effect or may have.
fn may_have_been(changed: &Changed) -> bool {
    !matches!(changed.result, Some(Done::Not { .. }))
}

struct Undoing<'l> {
    trail: Trail,
    ledger: &'l Ledger,
    now: Timestamp,
    /// The resources to restore, by their current address. Their content names segments by the keys at the end of the
    /// deed.
    restored: BTreeMap<Address, Owned>,
    out: Undone,
}

impl Undoing<'_> {
    /// Undoes the changes of a deed to an address, as it was at the end of the deed.
    fn undo(&mut self, address: &Address, changes: &[&Changed]) {
        let did = |verb: Verb| changes.iter().any(|changed| changed.act == Act::Step(verb));
        let Some(line) = self.trail.lines.get(address).cloned() else {
            if did(Verb::Adopt) && did(Verb::Delete) {
                self.out.left.insert(address.clone(), Left::NotOurs);
            }
            return;
        };
        let was = self.trail.old.get(address).cloned();
        let is_deletion = |changed: &&Changed| changed.act == Act::Step(Verb::Delete) && changed.is_done();
        let is_it = |id: Option<&str>| was.as_ref().is_some_and(|was| id.is_none_or(|id| id == was.id));
        let deleted = changes.iter().any(|changed| is_deletion(changed) && is_it(changed.id.as_deref()));
        // The answer to a deletion may have come after the run.
        let went = !line.stayed || line.gone && !did(Verb::Create) && !did(Verb::Update);
        match was {
            Some(was) if went && deleted => self.bring_back(address, &line, was),
            Some(was) if !line.stayed && did(Verb::Forget) => self.stay_forgotten(address, &line, was),
            Some(_) if !line.stayed => {}
            None if did(Verb::Create) && !line.by_hand => self.take_away(&line),
            was => {
                if was.is_none() && !line.gone {
                    self.out.adopted.push(line.at.clone());
                }
                self.put_back(&line, was, changes);
            }
        }
    }

    /// Restores a deleted resource.
    fn bring_back(&mut self, address: &Address, line: &Lifeline, was: Owned) {
        let there = self.ledger.owned.get(address);
        if !line.gone || there.is_some_and(|there| there.spec == was.spec) {
            self.out.as_before += 1;
        } else if there.is_some() || self.ledger.open.contains_key(address) {
            self.out.left.insert(address.clone(), Left::Another);
        } else if self.has_begun(address, &was) {
            self.out.left.insert(address.clone(), Left::Past);
        } else {
            self.restored.insert(address.clone(), was);
        }
    }

    /// Handles a resource that was removed from the ledger. Whether the service still has it is unknown.
    fn stay_forgotten(&mut self, address: &Address, line: &Lifeline, was: Owned) {
        if !line.gone {
            self.out.as_before += 1;
        } else if self.ledger.owned.contains_key(address) {
            self.out.left.insert(address.clone(), Left::Another);
        } else if !self.has_begun(address, &was) {
            self.out.forgotten.insert(address.clone(), was.id);
        }
    }

    /// Deletes a resource that was created.
    fn take_away(&mut self, line: &Lifeline) {
        let there = self.ledger.owned.get(&line.at);
        match there {
            Some(_) if line.gone => drop(self.out.left.insert(line.at.clone(), Left::Another)),
            // If messages remain, they are cancelled with it.
            Some(owned) if self.has_begun(&line.at, owned) && !self.is_to_come(&line.at, owned) => {
                self.out.left.insert(line.at.clone(), Left::Past);
            }
            Some(_) => drop(self.out.owned.remove(&line.at)),
            None => self.out.as_before += 1,
        }
    }

    /// Restores the old content of a changed resource.
    fn put_back(&mut self, line: &Lifeline, was: Option<Owned>, changes: &[&Changed]) {
        let is_change = |changed: &&&Changed| matches!(changed.act, Act::Step(Verb::Create | Verb::Update));
        let mut steps = changes.iter().filter(is_change).peekable();
        // A resource that was deleted outside of pushplan and created again has no content in between: the content
        // before the deed counts.
        let known = steps.peek().and(was.as_ref()).map(|was| was.spec.clone());
        let Some(spec) = steps.find_map(|changed| changed.before.clone()).or(known) else { return };
        match self.ledger.owned.get(&line.at) {
            Some(owned) if !line.gone && !self.has_begun(&line.at, owned) => {
                let refs = was.as_ref().map_or_else(BTreeMap::new, |was| was.refs.clone());
                let (protect, zone) = was.map_or((owned.protect, None), |was| (was.protect, was.zone));
                self.restored.insert(line.at.clone(), Owned { spec, refs, protect, zone, ..owned.clone() });
            }
            Some(_) if !line.gone => drop(self.out.left.insert(line.at.clone(), Left::Past)),
            _ => drop(self.out.left.insert(line.at.clone(), Left::Gone)),
        }
    }

    /// Adds the restored resources, with segments by their current keys. A resource that named a segment that is gone
    /// stays as it is.
    fn restore(&mut self) {
        loop {
            let lost =
                self.restored.iter().find_map(|(address, owned)| Some((address.clone(), self.lost(address, owned)?)));
            let Some((address, segment)) = lost else { break };
            self.restored.remove(&address);
            self.out.left.insert(address, Left::Names(segment));
        }
        for (address, owned) in &self.restored {
            let spec = self.renamed(address, owned);
            let refs = self.ledger.owned.get(address).map_or_else(BTreeMap::new, |now| now.refs.clone());
            let owned = Owned { spec, refs, ..owned.clone() };
            match self.ledger.owned.get(address) {
                Some(now) if *now == owned => self.out.as_before += 1,
                Some(_) => drop(self.out.put_back.insert(address.clone())),
                None => {}
            }
            self.out.owned.insert(address.clone(), owned);
        }
    }

    /// Returns the first segment that it named and that no longer exists.
    fn lost(&self, address: &Address, owned: &Owned) -> Option<Address> {
        let named = named(kinds::api(address).audiences(), &owned.spec);
        let key = named.into_iter().find(|key| self.key_now(key, owned).is_none())?;
        Some(Address::new(Segment::KEY, key))
    }

    fn renamed(&self, address: &Address, owned: &Owned) -> Shared {
        pointed(kinds::api(address).audiences(), &owned.spec, &mut |reference| {
            let key = reference.as_str().and_then(|key| self.key_now(key, owned));
            key.map_or_else(|| reference.clone(), Value::from)
        })
    }

    /// Returns the current key of a segment, by its key at the end of the deed, for a resource that named it.
    fn key_now(&self, key: &str, by: &Owned) -> Option<String> {
        let address = Address::new(Segment::KEY, key);
        if let Some(line) = self.trail.lines.get(&address).filter(|line| !line.gone) {
            return Some(line.at.key.clone());
        }
        // Another segment with this key will do if it is restored now, has the id that the resource named, or has
        // exactly the old content.
        let is_same = |now: &Owned| {
            by.refs.get(key).is_some_and(|id| *id == now.id)
                || self.trail.old.get(&address).is_some_and(|old| old.spec == now.spec)
        };
        let is_there = self.restored.contains_key(&address) || self.ledger.owned.get(&address).is_some_and(is_same);
        is_there.then(|| key.to_owned())
    }

    /// Gives moved resources their old keys back, from wherever they are now.
    fn give_keys_back(&mut self, deed: &Deed) -> Result<(), Taken> {
        for changed in deed.changes.iter().rev() {
            let Act::Move(to) = &changed.act else { continue };
            let old = &changed.address;
            let parts =
                || self.trail.lines.iter().filter(|(address, _)| address.resource() == *to).map(|(_, line)| line);
            let Some(now) = parts().find(|line| !line.gone).map(|line| line.at.resource()) else {
                self.out.left.entry(parts().next().map_or(to, |line| &line.at).clone()).or_insert(Left::Gone);
                continue;
            };
            if now == *old {
                self.out.as_before += 1;
                continue;
            }
            let mut known = self.out.owned.keys().chain(self.ledger.owned.keys()).chain(self.ledger.open.keys());
            if known.any(|address| address.resource() == *old) {
                return Err(Taken { old: old.clone(), now });
            }
            let mut target = Ledger { owned: std::mem::take(&mut self.out.owned), ..Ledger::default() };
            target.rename(&now, old);
            self.out.owned = target.owned;
            self.out.renamed.insert(old.clone(), now.key);
        }
        Ok(())
    }

    /// Whether it has begun to message people, as far as the ledger knows.
    fn has_begun(&self, address: &Address, owned: &Owned) -> bool {
        owned.past || kinds::api(address).runs(&owned.spec).is_some_and(|runs| runs.has_begun(self.now))
    }

    /// Whether any of its messages is still to be sent.
    fn is_to_come(&self, address: &Address, owned: &Owned) -> bool {
        !to_come(&kinds::api(address).times(&owned.spec), self.now).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use pushplan_model::digest::Digest;
    use serde_json::json;

    use super::super::history::deeds;
    use super::super::intent::{Adopted, Intent, Outcome, Seq};
    use super::super::record::{Begin, Ended, Record};
    use super::*;

    fn template(key: &str) -> Address {
        Address::new("templates", key)
    }

    fn begin(run: &str) -> Record {
        let (run, plan, changes) = (run.to_owned(), Digest::of(b""), BTreeMap::new());
        Record::Begin(Begin {
            run,
            plan,
            app: String::new(),
            tool: String::new(),
            changes,
            lease: None,
            home: None,
            checkout: None,
            safeguards: None,
            reverts: None,
        })
    }

    fn end(run: &str) -> Record {
        Record::End { run: run.into(), ended: Ended::Done }
    }

    fn intent(key: &str, verb: Verb, id: Option<&str>, name: &str) -> Record {
        Record::Intents(vec![Intent {
            address: template(key),
            verb,
            id: id.map(str::to_owned),
            spec: Some(json!({ "name": name }).into()),
            refs: BTreeMap::new(),
            seen: BTreeSet::new(),
            deadline: Timestamp::UNIX_EPOCH,
            protect: false,
            zone: None,
        }])
    }

    fn done(key: &str, verb: Verb, id: Option<&str>) -> Record {
        let result = Done::Done { id: id.map(str::to_owned), push_ids: Vec::new() };
        Record::Outcomes(vec![Outcome { address: template(key), verb, result, unsettled: None }])
    }

    fn made(key: &str, id: &str, name: &str) -> [Record; 2] {
        [intent(key, Verb::Create, None, name), done(key, Verb::Create, Some(id))]
    }

    fn adopt(key: &str, id: &str, name: &str) -> Record {
        Record::Adopt(vec![Adopted {
            address: template(key),
            id: id.to_owned(),
            spec: json!({ "name": name }).into(),
            refs: BTreeMap::new(),
            stamp: None,
            protect: false,
            past: false,
            push_ids: Vec::new(),
            zone: None,
            pruned: false,
        }])
    }

    /// Undoes a deed. Returns the resources to manage by key and name, and the result.
    fn undo(number: usize, records: Vec<Record>) -> (Vec<(String, String)>, Undone) {
        let entry =
            |(place, record)| Entry { seq: place as Seq + 1, at: Timestamp::UNIX_EPOCH, actor: "ada".into(), record };
        let entries: Vec<Entry> = records.into_iter().enumerate().map(entry).collect();
        let ledger = Ledger::replay(entries.clone());
        let undone = undone(&entries, &deeds(&entries)[number - 1], &ledger, Timestamp::UNIX_EPOCH).expect("free keys");
        let said = |(address, owned): (&Address, &Owned)| {
            (address.key.clone(), owned.spec["name"].as_str().unwrap_or_default().to_owned())
        };
        (undone.owned.iter().map(said).collect(), undone)
    }

    fn said(key: &str, name: &str) -> (String, String) {
        (key.to_owned(), name.to_owned())
    }

    #[test]
    fn what_a_person_took_over_in_the_place_of_a_lost_one_stays() {
        let lost = vec![begin("r"), intent("a", Verb::Create, None, "A"), end("r")];
        let (owned, undone) = undo(1, [lost.clone(), vec![adopt("a", "theirs", "A")]].concat());
        assert_eq!((owned, undone.adopted), (vec![said("a", "A")], vec![template("a")]));
        // The resource that a run finds again is the lost one.
        let found = vec![begin("s"), adopt("a", "ours", "A"), end("s")];
        let (owned, undone) = undo(1, [lost, found].concat());
        assert_eq!((owned, undone.adopted), (vec![], vec![]));
    }

    #[test]
    fn what_is_deleted_and_made_again_in_one_run_is_the_same() {
        let [intended, answered] = made("a", "1", "A");
        let [intended_again, answered_again] = made("a", "2", "B");
        let delete = [intent("a", Verb::Delete, Some("1"), "A"), done("a", Verb::Delete, None)];
        let first = [vec![begin("r"), intended, answered, end("r"), begin("s")], delete.to_vec()].concat();
        let replaced = [first.clone(), vec![intended_again, answered_again, end("s")]].concat();
        assert_eq!(undo(2, replaced.clone()).0, [said("a", "A")]);
        assert_eq!(undo(1, replaced).0, []);
        // With a manual deletion, the resource is removed from the ledger first.
        let by_hand = Record::Forget(vec![template("a")]);
        let records = [first[..5].to_vec(), vec![by_hand], made("a", "2", "B").to_vec(), vec![end("s")]].concat();
        assert_eq!(undo(2, records).0, [said("a", "A")]);
    }

    #[test]
    fn a_move_of_another_one_moves_nothing_that_is_gone() {
        let [intended, answered] = made("a", "1", "A");
        let delete = [intent("a", Verb::Delete, Some("1"), "A"), done("a", Verb::Delete, None)];
        let first =
            [vec![begin("r"), intended, answered, end("r"), begin("s")], delete.to_vec(), vec![end("s")]].concat();
        let other = [vec![begin("t")], made("a", "2", "B").to_vec(), vec![end("t")]].concat();
        let moved = Record::Move { from: template("a"), to: template("b") };
        let records = [first, other, vec![moved]].concat();
        assert_eq!(undo(2, records.clone()).0, [said("a", "A"), said("b", "B")]);
        let (owned, undone) = undo(1, records);
        assert_eq!((owned, undone.as_before), (vec![said("b", "B")], 1), "it is gone, and nobody has its key");
    }

    #[test]
    fn what_was_let_go_and_taken_over_again_is_the_same() {
        let [intended, answered] = made("a", "1", "A");
        let update = [intent("a", Verb::Update, Some("1"), "B"), done("a", Verb::Update, None)];
        let records =
            [vec![begin("r"), intended, answered, end("r"), begin("s")], update.to_vec(), vec![end("s")]].concat();
        let forget = Record::Forget(vec![template("a")]);
        let (owned, undone) = undo(2, [records.clone(), vec![forget.clone()]].concat());
        assert_eq!((owned, undone.left.get(&template("a"))), (vec![], Some(&Left::Gone)));
        let again = [records, vec![forget, adopt("b", "1", "B")]].concat();
        assert_eq!(undo(2, again).0, [said("b", "A")]);
    }

    #[test]
    fn what_failed_is_not_undone() {
        let [intended, answered] = made("a", "1", "A");
        let update = intent("a", Verb::Update, Some("1"), "B");
        let (address, result) = (template("a"), Done::Not { why: "400".into() });
        let not = Record::Outcomes(vec![Outcome { address, verb: Verb::Update, result, unsettled: None }]);
        let failed = vec![begin("r"), intended, answered, end("r"), begin("s"), update.clone(), not, end("s")];
        let later = vec![begin("t"), update, done("a", Verb::Update, None), end("t")];
        let (owned, undone) = undo(2, [failed, later].concat());
        assert_eq!((owned, undone.as_before), (vec![said("a", "B")], 0));
    }
}
