//! What settings that a change loosens let through, and which messages quiet hours that it tightens concern.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use pushplan_ledger::Safeguards;
use pushplan_model::address::Address;
use pushplan_model::kinds;
use pushplan_model::nouns::on_drift::OnDrift;
use pushplan_model::nouns::quiet::Quiet;

use super::{Limits, broadcast, deletes, drift, is_deletion, makes};
use crate::plan::{Action, Change, DeclaredAt, Loosened, Plan, QuietMessage, TightenedQuiet};
use crate::review::{Review, after};

/// Adds to each setting that is looser than it was what that lets through, and finds the messages that are in quiet hours by now.
pub fn let_through(plan: &mut Plan, before: Option<&Safeguards>, settings_at: Option<&DeclaredAt>) {
    let usual = super::usual();
    let is_known = before.is_some();
    let before = before.unwrap_or(&usual);
    let mut loosened = std::mem::take(&mut plan.told.loosened);
    for one in &mut loosened {
        one.lets_through = by(plan, one, before);
    }
    plan.told.loosened = loosened;
    plan.told.tightened_quiet = if is_known { tightened(plan, before, settings_at) } else { None };
}

/// What a setting lets through, in the order of addresses.
fn by(plan: &Plan, loosened: &Loosened, before: &Safeguards) -> Vec<Address> {
    let refused = |refused: Option<super::Refused>| refused.map(|refused| refused.addresses).unwrap_or_default();
    let changes = |is: &dyn Fn(&Change) -> bool| -> Vec<Address> {
        let found: BTreeSet<Address> =
            plan.changes.iter().filter(|change| is(change)).map(|change| change.address.resource()).collect();
        found.into_iter().collect()
    };
    match (loosened.setting.as_str(), &loosened.address) {
        ("lifecycle.broadcast", Some(address)) => {
            let mut plan = plan.clone();
            let own = plan.changes.iter_mut().filter(|change| change.address == *address);
            own.for_each(|change| change.broadcast = false);
            refused(broadcast::broadcast(&plan)).into_iter().filter(|one| one == address).collect()
        }
        ("lifecycle.protect", Some(address)) => changes(&|change| {
            let goes = is_deletion(change) || change.action == Action::Replace;
            change.address.resource() == *address && goes
        }),
        ("max_deletes", _) => {
            let now = plan.told.safeguards.as_ref().map_or(before.max_deletes, |now| now.max_deletes);
            let of = |max_deletes| deletes(plan, &Limits { max_deletes, ..Limits::default() });
            if of(now).is_some() { Vec::new() } else { refused(of(before.max_deletes)) }
        }
        ("on_drift", _) => refused(drift(&Plan { on_drift: OnDrift::Stop, ..plan.clone() }, &Limits::default())),
        ("min_lead", _) => {
            let margin = SignedDuration::from_secs(before.min_lead_seconds);
            let is_near = |at: Timestamp| at > plan.made && at.duration_since(plan.made) < margin;
            changes(&|change| {
                let times = || after(change).map(|spec| kinds::api(&change.address).times(spec)).unwrap_or_default();
                makes(change) && times().into_iter().any(|runs| runs.first.is_some_and(is_near))
            })
        }
        ("prune", _) => changes(&|change| change.is_pruned() && !before.prune.contains(&*change.address.kind)),
        ("quiet_hours", _) => {
            let now = plan.told.quiet;
            messages_in(plan, before.quiet_hours, now).into_iter().map(|message| message.address).collect()
        }
        _ => Vec::new(),
    }
}

/// The messages to come that are in some quiet hours and not in others.
fn messages_in(plan: &Plan, quiet: Option<Quiet>, other: Option<Quiet>) -> Vec<QuietMessage> {
    let Some(quiet) = quiet else { return Vec::new() };
    let review = Review::of(plan);
    let mut found = Vec::new();
    for change in plan.changes.iter().filter(|change| kinds::api(&change.address).has_runs()) {
        let clocks = review.quiet_clocks(change, quiet);
        let known = other.map(|other| review.quiet_clocks(change, other)).unwrap_or_default();
        let news = clocks.into_iter().find(|clock| !known.contains(clock));
        found.extend(news.map(|clock| QuietMessage { address: change.address.clone(), clock }));
    }
    found
}

/// Quiet hours that are longer than they were, if a message to come is in them only by that.
fn tightened(plan: &Plan, before: &Safeguards, settings_at: Option<&DeclaredAt>) -> Option<TightenedQuiet> {
    let now = plan.told.quiet.filter(|now| Some(*now) != before.quiet_hours)?;
    let mut messages = messages_in(plan, Some(now), before.quiet_hours);
    let is_new = |address: &Address| {
        plan.changes.iter().any(|change| change.address == *address && change.action == Action::Create)
    };
    messages.retain(|message| !is_new(&message.address));
    let place = settings_at.cloned();
    (!messages.is_empty()).then_some(TightenedQuiet { was: before.quiet_hours, place, messages })
}
