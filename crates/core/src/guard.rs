//! Guards: rules that refuse a plan unless a person allows it. Each refusal has numbers and the option to proceed.

mod broadcast;
mod everybody;
mod let_through;
mod loosened;
mod older;

use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;
use pushplan_model::address::Address;
use pushplan_model::kinds;
use pushplan_model::nouns::delay::Delay;
use pushplan_model::nouns::on_drift::OnDrift;
use pushplan_model::text::{all_of, any_of, count, minutes};
use pushplan_project::timing::words::moment;

use crate::plan::{Action, Change, Moved, Plan, Reason};

pub use everybody::Segments;
pub use let_through::let_through;
pub use loosened::{SettingsPlaces, loosened, remembered, usual};

/// The default of `max_deletes`.
pub(crate) const MAX_DELETES: usize = 5;
/// The default of `min_lead`.
pub(crate) const MIN_LEAD: SignedDuration = SignedDuration::from_mins(5);
/// One in this number of a kind may always be deleted.
const SHARE: usize = 5;
/// The number of addresses in a refusal.
const NAMED: usize = 5;

/// The limits that guards apply.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// `max_deletes` of the target.
    pub max_deletes: usize,
    /// `--allow-deletes N`: at most this number, whatever the other limits are.
    pub allow_deletes: Option<usize>,
    /// `--allow-sends`.
    pub allow_sends: bool,
    /// `--allow-older`: files that do not contain the last apply may undo something.
    pub allow_older: bool,
    /// Whether the refused command lacks these options, because only `apply` has them.
    pub elsewhere: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_deletes: MAX_DELETES, allow_deletes: None, allow_sends: false, allow_older: false, elsewhere: false }
    }
}

impl Limits {
    /// The advice to proceed with an option.
    fn go_on(&self, option: &str) -> String {
        format!("to proceed, {}", self.option(option))
    }

    fn option(&self, option: &str) -> String {
        match self.elsewhere {
            true => format!("run `pushplan apply {option}` once"),
            false => format!("pass {option}"),
        }
    }

    /// The advice to exclude a resource, with a text before it.
    fn leave_out(&self, before: &str, words: &str) -> String {
        if self.elsewhere { String::new() } else { format!("{before}{words}") }
    }
}

/// The guard that refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Guard {
    Sends,
    Broadcast,
    Deletes,
    Older,
    OtherProject,
    Protect,
    TooLate,
    Drift,
    Collision,
    InDoubt,
}

impl Guard {
    /// Its name in machine-readable output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Sends => "sends",
            Self::Broadcast => "broadcast",
            Self::Deletes => "deletes",
            Self::Older => "older",
            Self::OtherProject => "other_project",
            Self::Protect => "protect",
            Self::TooLate => "too_late",
            Self::Drift => "drift",
            Self::Collision => "collision",
            Self::InDoubt => "in_doubt",
        }
    }
}

/// A refusal: the problem with numbers, and the advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub guard: Guard,
    pub message: String,
    pub help: String,
    /// The addresses that it concerns.
    pub addresses: Vec<Address>,
}

/// The reasons to refuse a plan. Empty: it may be applied.
pub fn guards(plan: &Plan, limits: &Limits) -> Vec<Refused> {
    let mut found = Vec::new();
    found.extend(older::older(plan, limits));
    found.extend(sends(plan, limits));
    found.extend(broadcast::broadcast(plan));
    found.extend(deletes(plan, limits));
    found.extend(leaving(plan, limits));
    found.extend(of_other_project(plan, limits));
    found.extend(protect(plan, limits));
    found.extend(too_late(plan, limits));
    found.extend(drift(plan, limits));
    found.extend(undecided(plan, limits));
    found
}

/// Whether a change waits for a person's decision: until then, nothing is applied unless it is excluded.
pub fn is_stuck(change: &Change) -> bool {
    is_late(change) || change.reasons.iter().any(|reason| undecided_as(reason).is_some())
}

fn makes(change: &Change) -> bool {
    matches!(change.action, Action::Create | Action::Update | Action::Replace)
}

fn is_late(change: &Change) -> bool {
    makes(change) && change.reasons.iter().any(|reason| matches!(reason, Reason::TooLate { .. }))
}

fn undecided_as(reason: &Reason) -> Option<Guard> {
    match reason {
        Reason::Collision { .. } => Some(Guard::Collision),
        Reason::InDoubt { .. } | Reason::DeletedOrSent { .. } | Reason::UnknownSinceGap { .. } => Some(Guard::InDoubt),
        Reason::Repoint { .. }
        | Reason::RefersToEarlier { .. }
        | Reason::NotInPlace
        | Reason::InDashboard { .. }
        | Reason::Recovered { .. }
        | Reason::Went { .. }
        | Reason::TooLate { .. }
        | Reason::Retired { .. }
        | Reason::StillUsed { .. }
        | Reason::Blocked { .. }
        | Reason::NeverTwice
        | Reason::Unprotected
        | Reason::Renamed { .. }
        | Reason::HandedOver { .. }
        | Reason::NothingRenamed { .. }
        | Reason::Pruned { .. }
        | Reason::LooksRenamed { .. } => None,
    }
}

fn named(addresses: &[Address]) -> String {
    let words: Vec<String> = addresses.iter().take(NAMED).map(ToString::to_string).collect();
    match addresses.len().saturating_sub(NAMED) {
        0 => all_of(&words),
        more => format!("{} and {more} more", words.join(", ")),
    }
}

fn chosen(plan: &Plan, is: impl Fn(&Change) -> bool) -> Vec<Address> {
    plan.changes.iter().filter(|change| is(change)).map(|change| change.address.clone()).collect()
}

fn refused(guard: Guard, addresses: Vec<Address>, message: String, help: impl Into<String>) -> Option<Refused> {
    (!addresses.is_empty()).then(|| Refused { guard, message, help: help.into(), addresses })
}

fn sends(plan: &Plan, limits: &Limits) -> Option<Refused> {
    if limits.allow_sends {
        return None;
    }
    let addresses = chosen(plan, |change| !change.sends.is_empty());
    let messages: usize = plan.changes.iter().map(|change| change.sends.len()).sum();
    let delays: BTreeSet<i64> =
        plan.changes.iter().flat_map(|change| &change.sends).map(|it| it.after_seconds).collect();
    let are = if messages == 1 { "is" } else { "are" };
    let when = match (delays.first(), delays.len()) {
        (Some(0) | None, 0 | 1) => "at once".to_owned(),
        (Some(0) | None, _) => "at once or later".to_owned(),
        (Some(after), 1) => format!("after {}", Delay(*after)),
        (Some(first), _) => format!("after {} or later", Delay(*first)),
    };
    let message = format!("{} {are} sent {when}, by {}", count(messages, "message"), named(&addresses));
    refused(Guard::Sends, addresses, message, format!("check the lines with SENDS; {}", limits.go_on("--allow-sends")))
}

/// Whether it is a deletion without a replacement.
fn is_deletion(change: &Change) -> bool {
    change.action == Action::Delete && !change.reasons.iter().any(|reason| matches!(reason, Reason::Retired { .. }))
}

/// Refuses many deletions. Only kinds that lose more than one in [`SHARE`] of what is managed count, with all their
/// deletions. Each part of a resource is one deletion.
fn deletes(plan: &Plan, limits: &Limits) -> Option<Refused> {
    let mut kinds: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for change in &plan.changes {
        let (deleted, owned) = kinds.entry(&change.address.kind).or_default();
        *deleted += usize::from(is_deletion(change));
        // A pruned resource is adopted first.
        *owned += usize::from(change.ledger.is_some() || change.is_pruned());
    }
    let total: usize = kinds.values().map(|(deleted, _)| deleted).sum();
    let too_many = |(deleted, owned): &(usize, usize)| *deleted > owned / SHARE;
    let beyond: Vec<(&str, usize, usize)> = kinds
        .iter()
        .filter(|(_, numbers)| too_many(numbers))
        .map(|(kind, (deleted, owned))| (*kind, *deleted, *owned))
        .collect();
    let counted: usize = beyond.iter().map(|(_, deleted, _)| deleted).sum();
    let is_allowed = match limits.allow_deletes {
        Some(allowed) => total <= allowed,
        None => counted <= limits.max_deletes,
    };
    if is_allowed {
        return None;
    }
    let told = |(kind, deleted, owned): &(&str, usize, usize)| {
        format!("{deleted} of {owned} in {kind} ({} %)", deleted * 100 / (*owned).max(1))
    };
    let message = match limits.allow_deletes {
        Some(allowed) => format!("{}; --allow-deletes allows {allowed}", count(total, "deletion")),
        None => {
            let what: Vec<String> = beyond.iter().map(told).collect();
            let (most, share) = (limits.max_deletes, 100 / SHARE);
            let all = count(counted, "deletion");
            format!("{all} ({}); the limit is {most}, not counting kinds that lose at most {share} %", what.join(", "))
        }
    };
    let go_on = limits.go_on(&format!("--allow-deletes {total}"));
    let help = format!("{go_on}, or set max_deletes of the target in pushplan.toml");
    refused(Guard::Deletes, chosen(plan, is_deletion), message, help)
}

/// Refuses deletions that remove something from every device without an explicit option, however few they are.
fn leaving(plan: &Plan, limits: &Limits) -> Option<Refused> {
    if limits.allow_deletes.is_some() {
        return None;
    }
    let leaves = plan.steps.iter().filter(|step| step.empties_devices());
    let addresses: Vec<Address> = leaves.map(|step| step.address.clone()).collect();
    // A replaced one is no deletion, but still needs the option.
    let total = plan.changes.iter().filter(|change| is_deletion(change)).count().max(1);
    let message = format!("{} would be deleted and removed from every device", named(&addresses));
    let go_on = limits.go_on(&format!("--allow-deletes {total}"));
    let help =
        format!("{go_on}{}", limits.leave_out(", ", &format!("or leave {} out with --except", named(&addresses))));
    refused(Guard::Deletes, addresses, message, help)
}

/// Refuses deletions of resources that were last applied from another project, because this project may not know them.
fn of_other_project(plan: &Plan, limits: &Limits) -> Option<Refused> {
    let other = plan.told.other_home.as_ref().filter(|_| limits.allow_deletes.is_none())?;
    let addresses = chosen(plan, |change| is_deletion(change) && change.ledger.is_some());
    let this = plan.told.home.as_ref().map(|home| format!("; this is {home}")).unwrap_or_default();
    let message = format!(
        "{} would be deleted, and the last apply was from another project, {other}{this}",
        count(addresses.len(), "resource")
    );
    let total = plan.changes.iter().filter(|change| is_deletion(change)).count();
    let help = format!(
        "use a separate ledger for each project; if this project was only moved or renamed, {}",
        limits.go_on(&format!("--allow-deletes {total}"))
    );
    refused(Guard::OtherProject, addresses, message, help)
}

fn protect(plan: &Plan, limits: &Limits) -> Option<Refused> {
    let addresses = chosen(plan, |change| change.protect && (is_deletion(change) || change.action == Action::Replace));
    let are = if addresses.len() == 1 { "is" } else { "are" };
    let message = format!("{} {are} protected and would be deleted or replaced", named(&addresses));
    let or = limits.leave_out("; ", "or leave it out with --except");
    let help = format!("first apply `lifecycle: {{protect: false}}` alone, then this change{or}");
    refused(Guard::Protect, addresses, message, help)
}

fn too_late(plan: &Plan, limits: &Limits) -> Option<Refused> {
    let addresses = chosen(plan, is_late);
    let their = if addresses.len() == 1 { "its" } else { "their" };
    let lead = minutes(plan.min_lead_seconds);
    let time = |reason: &Reason| if let Reason::TooLate { at } = reason { Some(*at) } else { None };
    let times =
        plan.changes.iter().filter(|change| is_late(change)).flat_map(|change| change.reasons.iter().filter_map(time));
    let message = match (&addresses[..], &times.collect::<Vec<_>>()[..]) {
        ([address], [at]) if *at <= plan.made => format!("the time of {address} has passed ({})", moment(*at)),
        ([address], [at]) => format!("the time of {address} is less than {lead} away ({})", moment(*at)),
        _ => format!("the times of {} have passed or are less than {lead} away", named(&addresses)),
    };
    let or = limits.leave_out(", ", "or leave it out with --except");
    let help = format!("give {their} push a later time{or}");
    refused(Guard::TooLate, addresses, message, help)
}

/// Refuses to revert changes made on the service, if the plan is set to stop on drift.
fn drift(plan: &Plan, limits: &Limits) -> Option<Refused> {
    if plan.on_drift == OnDrift::Overwrite {
        return None;
    }
    let undone: Vec<&Change> = plan.changes.iter().filter(|change| change.undoes()).collect();
    let named: Vec<String> = undone.iter().take(NAMED).map(|change| edited(change)).collect();
    let more = undone.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let message = format!(
        "it would revert {} made on the service since the last apply: {}{more}",
        count(undone.len(), "change"),
        named.join("; ")
    );
    let addresses: Vec<Address> = undone.iter().map(|change| change.address.clone()).collect();
    let mut help = ways_to_keep(plan, &undone);
    let patterns: BTreeSet<Address> = addresses.iter().map(Address::resource).collect();
    let first = patterns.first().map(ToString::to_string).unwrap_or_default();
    let (each, more) = if patterns.len() == 1 { ("it", "") } else { ("each", " and so on") };
    help.push(match limits.elsewhere {
        true => "or overwrite the changes with your files: `pushplan apply --on-drift overwrite`".to_owned(),
        false => format!("skip {each} with --except {first}{more}, or overwrite the changes with --on-drift overwrite"),
    });
    let help = help.join("; ");
    refused(Guard::Drift, addresses, message, help)
}

/// The ways to keep changes made on the service: pull edits, also of resources that are no longer declared, and remove
/// deleted resources from the files.
fn ways_to_keep(plan: &Plan, undone: &[&Change]) -> Vec<String> {
    let of = |is_it: &dyn Fn(&Change) -> bool| -> BTreeSet<Address> {
        undone.iter().filter(|change| is_it(change)).map(|change| change.address.resource()).collect()
    };
    let is_removed = |change: &Change| change.moved == Some(Moved::Removed);
    let removed = of(&|change| is_removed(change) && !plan.is_removed_part(change));
    let parts = of(&|change| is_removed(change) && plan.is_removed_part(change));
    let disputed = of(&|change| change.moved == Some(Moved::Both) && change.desired.is_some());
    let undeclared = of(&|change| !is_removed(change) && change.desired.is_none());
    let edited = of(&|change| !is_removed(change) && change.desired.is_some());
    let listed = |all: &BTreeSet<Address>| {
        let words: Vec<String> = all.iter().take(NAMED).map(ToString::to_string).collect();
        words.join(" ")
    };
    let mut ways = Vec::new();
    if !edited.is_empty() {
        // If both sides changed a field, git's value is kept without the option.
        let how = if disputed.is_empty() { "" } else { " --theirs" };
        ways.push(format!("keep the service's version with pushplan pull {}{how}", listed(&edited)));
    }
    if !undeclared.is_empty() {
        ways.push(format!(
            "keep resources that are no longer in your files with pushplan pull {}",
            listed(&undeclared)
        ));
    }
    if !parts.is_empty() {
        ways.push(format!("keep it removed with pushplan pull {}", listed(&parts)));
    }
    if !removed.is_empty() {
        ways.push(format!("keep it deleted: remove it from your files: {}", listed(&removed)));
    }
    ways
}

/// The fields of a change that were edited: `templates/winback (push.notification.alert)`.
fn edited(change: &Change) -> String {
    let address = &change.address;
    if change.moved == Some(Moved::Removed) {
        return format!("{address} (removed there)");
    }
    let paths: Vec<String> = change.overwritten().into_iter().map(|field| field.path).collect();
    let more = paths.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{address} ({}{more})", paths[..paths.len().min(NAMED)].join(", "))
}

/// One refusal for each change that needs a decision, because each has its own advice.
fn undecided(plan: &Plan, limits: &Limits) -> Vec<Refused> {
    let mut found = Vec::new();
    for change in &plan.changes {
        let address = &change.address;
        if change.reasons.is_empty() {
            continue;
        }
        let except = format!("or --except {address}");
        for reason in &change.reasons {
            let (guard, message, help) = match reason {
                Reason::Collision { ids } => {
                    let id = if ids.len() == 1 { "" } else { " --id ID" };
                    let has = match (address.part(), ids.len()) {
                        (Some(_), _) => "this, not managed by pushplan".to_owned(),
                        (None, 1) => format!("an unmanaged {} with this name", kinds::of(address).noun),
                        (None, _) => format!("unmanaged {} with this name", kinds::of(address).plural()),
                    };
                    let message = format!("{address}: the service already has {has} ({})", all_of(ids));
                    let help = match (&change.ledger, change.moved) {
                        (None, _) => {
                            format!("pushplan adopt {address}{id}{}", limits.leave_out(", ", &except))
                        }
                        (Some(_), Some(Moved::Removed)) => format!(
                            "pushplan forget {address}, then pushplan adopt {address}{id}{}",
                            limits.leave_out("; ", &except)
                        ),
                        (Some(_), _) => {
                            format!(
                                "rename or remove it in the dashboard, or choose another name{}",
                                limits.leave_out("; ", &except)
                            )
                        }
                    };
                    (Guard::Collision, message, help)
                }
                Reason::InDoubt { since, candidates } => {
                    let mut message = format!("{address}: whether it was created on {since:.0} is unknown");
                    if !candidates.is_empty() {
                        message += &format!("; it may be {}", any_of(candidates));
                    }
                    let id = if let [id] = candidates.as_slice() { id } else { "ID" };
                    let or = limits.leave_out(", ", &except);
                    let help = format!("pushplan resolve {address} --created {id} | --absent{or}");
                    (Guard::InDoubt, message, help)
                }
                Reason::DeletedOrSent { since, id, due } => {
                    let message = format!(
                        "{address}: the answer to its deletion on {since:.0} was lost; whether it was deleted before its time, \
                         {due:.0}, is unknown"
                    );
                    let or = limits.leave_out(", ", &except);
                    let help = format!(
                        "if it was deleted: pushplan resolve {address} --absent; if it was sent or still exists: pushplan \
                         resolve \
                         {address} --created {id}{or}"
                    );
                    (Guard::InDoubt, message, help)
                }
                Reason::UnknownSinceGap { accepted, .. } => {
                    let message = format!(
                        "{address}: whether it was created before {accepted:.0} is unknown, because the ledger was restored from a \
                         backup"
                    );
                    let or = limits.leave_out(", ", &except);
                    let sent = if kinds::api(address).has_runs() { " | --created ID --sent" } else { "" };
                    let help = format!("pushplan resolve {address} --created ID{sent} | --absent{or}");
                    (Guard::InDoubt, message, help)
                }
                _ => continue,
            };
            found.push(Refused { guard, message, help, addresses: vec![address.clone()] });
        }
    }
    found
}
