//! Messages that reach all devices after a plan although they are not marked as broadcasts.

use std::collections::BTreeSet;

use jiff::SignedDuration;
use pushplan_model::address::Address;
use pushplan_model::cores;
use pushplan_model::kinds::remote::may_name;
use pushplan_model::kinds::{self, Resource, Segment};
use pushplan_model::node::Shared;

use super::everybody::Segments;
use super::{Guard, Refused, makes, named, refused};
use crate::plan::{Action, Change, Plan};
use crate::review::{end, start};

/// Refuses a plan that creates or changes such a message, or makes an existing message reach all devices by changing a
/// segment.
pub(super) fn broadcast(plan: &Plan) -> Option<Refused> {
    let widened: BTreeSet<&str> = segments(plan).filter(|one| is_moved(one)).map(key).collect();
    let speaks = |change: &&Change| !change.broadcast && kinds::api(&change.address).has_runs();
    let (made, others): (Vec<&Change>, Vec<&Change>) = plan.changes.iter().filter(speaks).partition(|one| makes(one));
    let is_left = |change: &&Change| change.action != Action::Delete && !widened.is_empty();
    let left: Vec<&Change> = others.into_iter().filter(is_left).collect();
    // Few plans create a message or change a segment: in all others, segments need not be evaluated.
    if made.is_empty() && left.is_empty() {
        return None;
    }
    let then = side(plan, end);
    let made = cores::each_of(made, |change| {
        let is_it = change.desired.as_ref().is_some_and(|spec| then.messages_everybody(&change.address, &spec.tree()));
        is_it.then_some(&change.address)
    });
    let (before, after) = (side(plan, start), side(plan, in_place));
    let margin = SignedDuration::from_secs(plan.min_lead_seconds);
    let left = cores::each_of(left, |change| {
        let (address, api) = (&change.address, kinds::api(&change.address));
        let spec = start(change).filter(|spec| may_name(api.audiences(), spec))?.tree();
        let goes_out = api.runs(&spec).is_some_and(|runs| !runs.is_done(plan.made, margin));
        let mut through = if goes_out { after.followed(address, &spec) } else { BTreeSet::new() };
        through.retain(|key| widened.contains(key.as_str()));
        let is_it = !through.is_empty()
            && after.messages_everybody(address, &spec)
            && !before.messages_everybody(address, &spec);
        is_it.then_some((address, through))
    });
    let (left, through): (Vec<&Address>, Vec<BTreeSet<String>>) = left.into_iter().flatten().unzip();
    let addresses: BTreeSet<Address> = made.into_iter().flatten().chain(left).cloned().collect();
    let addresses: Vec<Address> = addresses.into_iter().collect();
    let through: BTreeSet<Address> = through.into_iter().flatten().map(|key| Address::new(Segment::KEY, key)).collect();
    let by = match through.is_empty() {
        true => String::new(),
        false => format!(", by what becomes of {}", named(&Vec::from_iter(through))),
    };
    let verb = if addresses.len() == 1 { "addresses" } else { "address" };
    let message = format!("{} {verb} every device{by}", named(&addresses));
    refused(Guard::Broadcast, addresses, message, "choose an audience, or confirm with lifecycle: {broadcast: true}")
}

fn key(change: &Change) -> &str {
    &change.address.key
}

fn segments(plan: &Plan) -> impl Iterator<Item = &Change> {
    plan.changes.iter().filter(|change| change.address.kind == Segment::KEY)
}

/// Whether a segment changes for all of its users. A replaced one is kept for users that still refer to it.
fn is_moved(change: &Change) -> bool {
    change.action == Action::Update
}

fn in_place(change: &Change) -> Option<&Shared> {
    if is_moved(change) { end(change) } else { start(change) }
}

/// The segments before or after a plan.
fn side<'p>(plan: &'p Plan, of: fn(&'p Change) -> Option<&'p Shared>) -> Segments<'p> {
    let specs = segments(plan).filter_map(|change| Some((key(change), of(change)?)));
    // A replaced one gets another id.
    let kept = segments(plan).filter(|change| change.action != Action::Replace);
    let ids = kept.filter_map(|change| Some((change.id.as_deref()?, key(change))));
    Segments::new(specs.map(|(key, spec)| (key, || spec.tree()))).with_ids(ids)
}
