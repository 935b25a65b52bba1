//! Deleting what nobody declares, where the target asks for it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Other, others, spoken_for};
use crate::compare::{Compared, Names, Situation};
use crate::kinds::{Api, Delete, Kind, Resource, Segment, kind};
use crate::ledger::Owned;
use crate::plan::{Action, Change, Reason, Thing};

/// Adds the deletion of everything of these kinds that nobody declares, but for what is ignored. What has begun to message
/// people stays, and so does what has a name that is declared, or may be what an earlier run made.
pub fn prune(compared: &mut Vec<Compared>, situation: &Situation, kinds: &BTreeSet<&'static str>, ignore: &[String]) {
    if !situation.deletes || kinds.is_empty() {
        return;
    }
    let names = Names::new(situation.ledger);
    let others = others(situation.live, situation.ledger, situation.units);
    let mut found = Vec::new();
    {
        let spoken_for = spoken_for(compared.iter().map(|one| &one.change));
        let recovered: BTreeSet<&str> =
            compared.iter().filter_map(|one| Some(one.recovered.as_ref()?.id.as_str())).collect();
        let is_free = |other: &&Other| {
            let id = other.found.id.as_str();
            !spoken_for.contains(&(other.kind.key, id)) && !recovered.contains(id)
        };
        let unclear = unclear(situation);
        let is_asked = |other: &&Other| kinds.contains(other.kind.key) && !other.is_ignored(ignore);
        found.extend(
            others.iter().filter(is_asked).filter(is_free).filter_map(|other| one(other, situation, &names, &unclear)),
        );
    }
    compared.extend(found);
    compared.sort_by(|one, other| one.change.address.cmp(&other.change.address));
}

/// The deletion of one thing, as the API allows it; `None` where it stays.
fn one(other: &Other, situation: &Situation, names: &Names, unclear: &[Thing]) -> Option<Compared> {
    let (api, found) = (other.kind.api, other.found);
    let is_segment = other.kind.key == Segment::KEY;
    // What somebody's push points at is not known where pushes should be listed and are not.
    if is_segment && situation.live.unlisted.keys().any(|key| kind(key).is_some_and(points)) {
        return None;
    }
    // What cannot be understood cannot be judged either.
    let spec = found.spec.as_ref()?;
    if has_begun(api, spec, situation) {
        return None;
    }
    let by_hand = api.lifecycle(situation.level).delete == Delete::Never;
    // All that can be done by hand has been.
    if by_hand && api.is_off(spec) {
        return None;
    }
    let mut reasons = vec![Reason::Pruned { made: found.made }];
    let held: Vec<Thing> = unclear.iter().filter(|_| is_segment).cloned().collect();
    let is_held = !held.is_empty();
    if is_held {
        reasons.push(Reason::StillUsed { id: found.id.clone(), by: held });
    }
    let deletes = !by_hand && !is_held;
    let live = names.by_key(api, spec);
    let owned = Owned {
        id: found.id.clone(),
        spec: live.clone(),
        refs: names.refs(api, spec),
        stamp: found.stamp.clone(),
        push_ids: found.push_ids.clone(),
        protect: false,
        past: false,
        applied: situation.now,
    };
    let change = Change {
        address: other.address.clone(),
        action: if deletes { Action::Delete } else { Action::ByHand },
        name: found.name.clone(),
        place: None,
        id: Some(found.id.clone()),
        desired: None,
        live: Some(live),
        ledger: None,
        moved: None,
        reasons,
        sends: Vec::new(),
        protect: false,
        broadcast: false,
        ignored: Vec::new(),
    };
    Some(Compared {
        change,
        owned: deletes.then_some(owned),
        recovered: None,
        refresh: false,
        restamp: false,
        close: false,
        released: false,
        stamp: None,
    })
}

/// What points at segments, perhaps: its content is in a form that is not known here.
fn unclear(situation: &Situation) -> Vec<Thing> {
    let listed = situation.live.listed();
    let unread = listed.filter(|(kind, found)| points(kind) && found.spec.is_none());
    unread.map(|(kind, found)| Thing::other(kind.key, found)).collect()
}

/// Whether things of a kind point at segments.
fn points(kind: &Kind) -> bool {
    !kind.api.audiences().is_empty()
}

fn has_begun(api: &dyn Api, spec: &Value, situation: &Situation) -> bool {
    api.runs(spec).is_some_and(|runs| runs.first.is_none_or(|first| first <= situation.now))
}
