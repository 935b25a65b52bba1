//! The effects of loosened settings, and the messages in quiet hours that were tightened.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use pushplan_ledger::{CheckWeight, Exemption, Safeguards};
use pushplan_model::address::Address;
use pushplan_model::codes::Severity;
use pushplan_model::kinds;
use pushplan_model::nouns::on_drift::OnDrift;
use pushplan_model::nouns::quiet::Quiet;
use pushplan_project::check::SoftenedFinding;

use super::{Limits, SettingsPlaces, broadcast, deletes, drift, makes};
use crate::plan::{Action, Change, DeclaredAt, Loosened, Plan, QuietMessage, TightenedQuiet};
use crate::review::{Review, after, is_new_and_left_out};

/// Adds to each loosened setting what it now allows, and finds the messages that are now in quiet hours.
pub fn let_through(
    plan: &mut Plan,
    before: Option<&Safeguards>,
    settings_at: Option<&SettingsPlaces>,
    softened: Option<&BTreeSet<SoftenedFinding>>,
) {
    let usual = super::usual();
    let is_known = before.is_some();
    let before = before.unwrap_or(&usual);
    let mut loosened = std::mem::take(&mut plan.told.loosened);
    for one in &mut loosened {
        one.lets_through = match &one.code {
            Some(code) => softened.and_then(|all| by_check(plan, one, code, before, all)),
            None => by(plan, one, before),
        };
    }
    plan.told.loosened = loosened;
    plan.told.tightened_quiet =
        if is_known { tightened(plan, before, settings_at.and_then(|places| places.of(None))) } else { None };
}

/// The changes that a setting now allows, in the order of addresses. `None` if a plan does not show them.
fn by(plan: &Plan, loosened: &Loosened, before: &Safeguards) -> Option<Vec<Address>> {
    let refused = |refused: Option<super::Refused>| refused.map(|refused| refused.addresses).unwrap_or_default();
    let changes = |is: &dyn Fn(&Change) -> bool| -> Vec<Address> {
        let found: BTreeSet<Address> =
            plan.changes.iter().filter(|change| is(change)).map(|change| change.address.resource()).collect();
        found.into_iter().collect()
    };
    Some(match (loosened.setting.as_str(), &loosened.address) {
        ("lifecycle.broadcast", Some(address)) => {
            let mut plan = plan.clone();
            let own = plan.changes.iter_mut().filter(|change| change.address == *address);
            own.for_each(|change| change.broadcast = false);
            refused(broadcast::broadcast(&plan)).into_iter().filter(|one| one == address).collect()
        }
        // The guard checks the applied setting: it still refuses to delete the resource in this plan.
        ("lifecycle.protect", _) => Vec::new(),
        ("max_deletes", _) => {
            let now = plan.told.safeguards.as_ref().map_or(before.max_deletes, |now| now.max_deletes);
            let of = |max_deletes| deletes(plan, &Limits { max_deletes, ..Limits::default() });
            if of(now).is_some() { Vec::new() } else { refused(of(before.max_deletes)) }
        }
        // `--on-drift stop` still refuses it.
        ("on_drift", _) if plan.on_drift == OnDrift::Stop => Vec::new(),
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
        ("apart", _) => nearer(plan, before.apart_seconds?),
        _ => return None,
    })
}

/// The later ones of messages that are closer together than the previous setting allowed, and not too close now.
fn nearer(plan: &Plan, apart_seconds: i64) -> Vec<Address> {
    let now = plan.told.apart_seconds.unwrap_or(0);
    let found = Review::of(plan).collisions_within(SignedDuration::from_secs(apart_seconds)).found;
    let free = found.into_iter().filter(|collision| collision.apart_seconds >= now);
    free.map(|collision| collision.other.address).collect::<BTreeSet<Address>>().into_iter().collect()
}

/// The resources whose findings a check no longer reports, or only as warnings, and the messages that use them. `None`
/// if it concerns no resource.
fn by_check(
    plan: &Plan,
    loosened: &Loosened,
    code: &str,
    before: &Safeguards,
    softened: &BTreeSet<SoftenedFinding>,
) -> Option<Vec<Address>> {
    let now = plan.told.safeguards.as_ref()?;
    let is_let_through = |one: &&SoftenedFinding| {
        let is_own = loosened.address.is_none() || one.address == loosened.address;
        is_own && one.code.eq_ignore_ascii_case(code) && severity(one, before) > severity(one, now)
    };
    let found: Vec<&SoftenedFinding> = softened.iter().filter(is_let_through).collect();
    let addresses: BTreeSet<Address> = found.iter().filter_map(|one| one.address.clone()).collect();
    if addresses.is_empty() {
        return found.is_empty().then(Vec::new);
    }
    let users = Review::as_declared(plan).messages_using(&addresses);
    Some(addresses.into_iter().chain(users).collect::<BTreeSet<Address>>().into_iter().collect())
}

/// The severity of a finding with some settings; `None` if it is not reported.
fn severity(finding: &SoftenedFinding, settings: &Safeguards) -> Option<Severity> {
    let SoftenedFinding { code, address, usual } = finding;
    let exemptions = || address.iter().flat_map(|address| settings.exemptions(address));
    let is_it = |name: &str| name.eq_ignore_ascii_case(code);
    let is_allowed = exemptions().any(|one| matches!(one, Exemption::Allow(name) if is_it(name)));
    let is_warned = exemptions().any(|one| matches!(one, Exemption::Warn(name) if is_it(name)));
    match settings.checks.get(*code) {
        _ if is_allowed => None,
        Some(CheckWeight::Off) => None,
        Some(CheckWeight::Warning) => Some(Severity::Warning),
        None if is_warned => Some(Severity::Warning),
        None => Some(*usual),
    }
}

/// The pending messages that are in one range of quiet hours and not in another.
fn messages_in(plan: &Plan, quiet: Option<Quiet>, other: Option<Quiet>) -> Vec<QuietMessage> {
    let Some(quiet) = quiet else { return Vec::new() };
    let review = Review::of(plan);
    let mut found = Vec::new();
    let comes = |change: &&Change| kinds::api(&change.address).has_runs() && !is_new_and_left_out(change);
    for change in plan.changes.iter().filter(comes) {
        let clocks = review.quiet_clocks(change, quiet);
        let known = other.map(|other| review.quiet_clocks(change, other)).unwrap_or_default();
        let news = clocks.into_iter().find(|clock| !known.contains(clock));
        found.extend(news.map(|clock| QuietMessage { address: change.address.clone(), clock }));
    }
    found
}

/// Quiet hours that were extended, if a pending message is in them only for that reason.
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
