//! The reasons for a change, and its manual steps.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::Value;

use super::renamed::{looks_renamed, may_be_renamed};
use super::{PlanView, content, doubts, past};
use crate::address::Address;
use crate::guard;
use crate::kinds::{self, Delete, Read, Resource, Segment, Update};
use crate::ledger::Verb;
use crate::plan::{Action, Aim, Change, DeclarationWarning, Moved, Overwritten, Reason, RemoteThing};
use crate::render::layout::{Paint, Row, Words};
use crate::review::before;
use crate::text::{all_of, count, minutes};
pub use crate::timing::words::{distance, moment};

/// The number of warnings of a resource that are shown.
const WARNINGS: usize = 3;

/// The noun for the kind of a resource.
pub fn noun(change: &Change) -> &'static str {
    kinds::of(&change.address).noun
}

fn a(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {noun}")
}

/// All notes about a change besides its fields and requests.
pub fn reasons(view: &PlanView, change: &Change) -> Vec<Row> {
    let whys = change.reasons.iter().map(|reason| why(view, change, reason));
    whys.chain(notes(view, change)).chain(warnings(view, change)).collect()
}

/// The warnings of checks about the declaration of a resource.
fn warnings(view: &PlanView, change: &Change) -> Option<Row> {
    let found = &view.plan.told.of.get(&change.address)?.warnings;
    let line = |warning: &DeclarationWarning| {
        let place = warning.place.as_ref().map(|place| format!(" ({}:{})", place.file, place.line)).unwrap_or_default();
        Words::new(&format!("{}: {}{place}", warning.code, warning.message))
    };
    let mut lines: Vec<Words> = found.iter().take(WARNINGS).map(line).collect();
    if found.len() > WARNINGS {
        let more = count(found.len() - WARNINGS, "more warning");
        lines.push(Words::new(&format!("and {more}: ")).copy(&view.again.other("validate")));
    }
    let first = if lines.is_empty() { return None } else { lines.remove(0) };
    Some(lines.into_iter().fold(Row::new("warning", first).paint(Paint::Asks), Row::line))
}

/// The notes that follow from the change itself rather than from a reason.
pub fn notes(view: &PlanView, change: &Change) -> Vec<Row> {
    let mut rows: Vec<Row> = no_way_back(view, change).into_iter().collect();
    rows.extend(drift(change));
    rows.extend(keep(view, change));
    rows.extend(of_action(view, change));
    rows.extend(last_used(view, change));
    rows.extend(may_be_renamed(view, change));
    if view.steps_of(change).iter().any(|step| step.empties_devices()) {
        let words = format!("every device that has this {} loses it, also if another system added it", noun(change));
        rows.push(Row::new("devices", Words::new(&words)).paint(Paint::Danger));
    }
    if change.protect && matches!(change.action, Action::Delete | Action::Replace) {
        let words = Words::new("lifecycle.protect is set: apply refuses to delete it");
        rows.push(Row::new("protected", words).paint(Paint::Danger));
    }
    if !change.ignored.is_empty() {
        let words = format!("{}: left as the service has it (lifecycle.ignore)", change.ignored.join(", "));
        rows.push(Row::new("ignored", Words::new(&words)));
    }
    rows
}

/// Earlier versions of segments: of those that it still names, and of others by their keys.
fn earlier(named: &[Address], refs: &BTreeMap<String, String>) -> String {
    let others = refs.keys().map(|key| Address::new(Segment::KEY, key));
    let all: BTreeSet<String> = named.iter().cloned().chain(others).map(|address| address.to_string()).collect();
    let version = if all.len() == 1 { "an earlier version" } else { "earlier versions" };
    format!("{version} of {}", all_of(&all.into_iter().collect::<Vec<_>>()))
}

/// One reason, in words.
pub fn why(view: &PlanView, change: &Change, reason: &Reason) -> Row {
    let (address, noun) = (&change.address, noun(change));
    let asks = |label: &str, words: String| Row::new(label, Words::new(&words)).paint(Paint::Asks);
    let plain = |label: &str, words: String| Row::new(label, Words::new(&words));
    match reason {
        Reason::Repoint { to, outdated } if !outdated.is_empty() => plain("refers to", earlier(to, outdated)),
        Reason::RefersToEarlier { refs } => plain("refers to", earlier(&[], refs)),
        Reason::Repoint { to, .. } => {
            let to: Vec<String> = to.iter().map(ToString::to_string).collect();
            let (get, id) = if to.len() == 1 { ("gets", "a new id") } else { ("get", "new ids") };
            plain("refers to", format!("{}, which {get} {id}", all_of(&to)))
        }
        Reason::NotInPlace => plain("replace", replacing(view, change)),
        Reason::InDashboard { old } => by_hand(view, change, old.as_deref()),
        Reason::Collision { ids } if change.ledger.is_some() => taken_from_ours(view, change, ids),
        Reason::Collision { ids } if ids.len() == 1 => {
            let there = match address.part() {
                Some(_) => "the service already has this, not managed by pushplan".to_owned(),
                None => format!("the service already has an unmanaged {noun} with this name: {}", ids[0]),
            };
            asks("taken", there)
                .line(Words::new("to take it over as it is: ").copy(&view.again.other(&format!("adopt {address}"))))
        }
        Reason::Collision { ids } => {
            let kind = kinds::of(address).plural();
            let many = format!("the service already has {} unmanaged {kind} with this name; adopt one:", ids.len());
            let each = |id: &String| Words::default().copy(&view.again.other(&format!("adopt {address} --id {id}")));
            ids.iter().map(each).fold(asks("taken", many), Row::line)
        }
        Reason::InDoubt { since, candidates } => doubts::created(view, address, *since, candidates),
        Reason::DeletedOrSent { since, id, due } => doubts::deleted(view, address, *since, id, *due),
        Reason::UnknownSinceGap { since, accepted } => doubts::since_gap(view, address, *since, *accepted),
        Reason::Recovered { id } => plain(
            "recovered",
            format!(
                "an earlier apply created it and lost the answer; it was found ({}) and is not created again",
                view.id(id)
            ),
        ),
        Reason::Went { at, edited, rest } if rest.is_empty() => plain("past", past::went(change, *at, *edited)),
        Reason::Went { at, edited, rest } => past::half_out(view, change, *at, *edited, rest),
        Reason::TooLate { at } if change.moved == Some(Moved::Service) => {
            let words =
                format!("someone postponed it, and its time in your files, {}, has passed or is too near", moment(*at));
            asks("too late", words)
                .line(Words::new("to send it at the new time, write that time into your files"))
                .line(Words::new("to cancel it, remove it from your files"))
        }
        Reason::TooLate { at } if change.action == Action::Past => plain("past", past::record(*at)),
        Reason::TooLate { at } => {
            let now = view.plan.made;
            let late = match *at <= now {
                true => "has passed".to_owned(),
                false => format!("is nearer than {}", minutes(view.plan.min_lead_seconds)),
            };
            if change.ledger.is_some() {
                let words = format!(
                    "its time in your files, {}, {late}: on the service it keeps the time of the last apply",
                    moment(*at)
                );
                return asks("too late", words).line(Words::new("give it a later time, or remove it to cancel it"));
            }
            asks("too late", format!("its time, {}, {late}: it will not be created", moment(*at))).line(Words::new(
                match change.reasons.iter().any(|other| matches!(other, Reason::LooksRenamed { .. })) {
                    true => "see below if it is a rename; otherwise give it a later time, or remove it from your files",
                    false => "give it a later time, or remove it from your files",
                },
            ))
        }
        Reason::Retired { id, .. } if change.action == Action::Delete => {
            let words = Words::new("an earlier version (").request(view.id(id));
            let runs = change.live.as_ref().and_then(|spec| kinds::api(address).runs(spec));
            match runs.and_then(|runs| runs.first.filter(|_| runs.has_begun(view.plan.made))) {
                Some(at) => {
                    let words = words.and(&format!(") was due {} and may have been sent: ", moment(at)));
                    Row::new("old version", words.and("the rest of it is deleted")).paint(Paint::Danger)
                }
                None => Row::new("old version", words.and(") is deleted: nothing uses it now")),
            }
        }
        Reason::Retired { id, .. } => {
            Row::new("old version", Words::new("an earlier version (").request(view.id(id)).and(") still exists"))
        }
        Reason::StillUsed { id, by } => {
            let is_theirs = by.iter().any(|who| matches!(who, RemoteThing::Other { .. }));
            let by: Vec<String> = by.iter().map(ToString::to_string).collect();
            let uses = if by.len() == 1 { "uses" } else { "use" };
            let does = match view.plan.aim {
                Aim::Nothing => "destroy".to_owned(),
                Aim::Before(number) => format!("revert {number}"),
                _ => "apply".to_owned(),
            };
            // An apply does not change unmanaged resources.
            let is_pruned = change.reasons.iter().any(|reason| matches!(reason, Reason::Pruned { .. }));
            let then = match is_theirs || is_pruned {
                true => format!("change that in the dashboard; a later {does} then deletes it"),
                false => format!("a later {does} deletes it"),
            };
            let held = format!(" is not deleted yet: {} still {uses} it; {then}", all_of(&by));
            Row::new("held", Words::default().request(view.id(id)).and(&held))
        }
        Reason::Blocked { by } => {
            let by: Vec<String> = by.iter().map(ToString::to_string).collect();
            asks("blocked", format!("{} must be created or adopted first", all_of(&by)))
        }
        Reason::NeverTwice => {
            asks("gone", "the service no longer has it; pushplan will not create it again".to_owned()).line(
                Words::new("to create it again: ")
                    .copy(&view.again.other(&format!("forget {address}")))
                    .and(", then ")
                    .copy(&view.again.other("apply")),
            )
        }
        Reason::Renamed { from } => {
            let stays = if change.action == Action::Keep { "; the service keeps it as it is" } else { "" };
            plain("moved", format!("from {from}{stays}"))
        }
        Reason::HandedOver { to } => {
            plain("moved", format!("to {to}, the same object on the service; this address is removed from the ledger"))
        }
        Reason::NothingRenamed { from } => {
            plain("renamed", format!("no managed resource has the key {from}: this is a new one"))
        }
        Reason::LooksRenamed { from, in_doubt, past, similar } => {
            looks_renamed(view, change, from, *in_doubt, *past, similar)
        }
        Reason::Pruned { made } => pruned(view, change, *made),
        Reason::Unprotected => {
            asks("unprotected", "lifecycle.protect is removed: it can be deleted and replaced afterwards".to_owned())
        }
    }
}

/// The row for an undeclared resource of a kind that the target prunes.
fn pruned(view: &PlanView, change: &Change, made: Option<Timestamp>) -> Row {
    let (address, noun) = (&change.address, noun(change));
    let made = made.map(|at| format!(", created {}", moment(at))).unwrap_or_default();
    let why = format!("not in your files{made}; prune.{} of {} deletes it", address.kind, view.plan.target);
    if kinds::api(address).lifecycle(view.plan.level).delete != Delete::Never {
        let row = Row::new("pruned", Words::new(&why));
        return match unseen(view, change) {
            Some(unseen) => row.line(Words::new(&unseen)).paint(Paint::Asks),
            None => row,
        };
    }
    let id = change.id.as_deref().map(|id| format!(" ({id})")).unwrap_or_default();
    Row::new("pruned", Words::new(&format!("not in your files{made}")))
        .line(Words::new(&format!("this API cannot remove {}{}", a(noun), limit(view, change))))
        .line(Words::new(&format!("turn it off or remove it{id} in the service's dashboard")))
        .line(Words::new("to keep it: ").copy(&view.again.other(&format!("pull {address}"))))
        .paint(Paint::Asks)
}

/// The possible users of a segment or a tag that the API cannot read.
fn unseen(view: &PlanView, change: &Change) -> Option<String> {
    if ![kinds::Segment::KEY, kinds::LegacyTag::KEY].contains(&&*change.address.kind) {
        return None;
    }
    let untold = |kind: &&kinds::Kind| !kind.api.audiences().is_empty() && kind.api.list(view.plan.level).is_empty();
    let untold: Vec<String> = kinds::KINDS.iter().filter(untold).map(kinds::Kind::plural).collect();
    let lists = format!("this API cannot list {}: check that none of them names it", untold.join(" or "));
    (!untold.is_empty()).then_some(lists)
}

/// The name of a managed resource is taken by an unmanaged one.
fn taken_from_ours(view: &PlanView, change: &Change, ids: &[String]) -> Row {
    let (address, noun) = (&change.address, noun(change));
    let has = if ids.len() == 1 { format!("{} that is not managed has", a(noun)) } else { "others have".to_owned() };
    let row = Row::new("taken", Words::new(&format!("{has} this name: {}", all_of(ids)))).paint(Paint::Asks);
    if change.moved == Some(Moved::Removed) {
        let id = if ids.len() == 1 { "" } else { " --id ID" };
        return row
            .line(Words::new("the managed one no longer exists; to take over the other one as it is:"))
            .line(Words::default().copy(&view.again.other(&format!("forget {address}"))))
            .line(Words::default().copy(&view.again.other(&format!("adopt {address}{id}"))));
    }
    row.line(Words::new("rename or remove it in the service's dashboard, or choose another name in your files"))
}

/// The order in which the old and the new version are deleted and created, from the steps.
fn replacing(view: &PlanView, change: &Change) -> String {
    let place = |verb| view.steps_of(change).iter().find(|step| step.verb == verb).map(|step| step.number);
    // What is left to a person goes on naming the old one.
    let updated = view.users_of(&change.address).iter().filter(|user| !view.steps_of(user).is_empty());
    let users = match updated.count() {
        0 => String::new(),
        1 => ", 1 reference is updated".to_owned(),
        number => format!(", {number} references are updated"),
    };
    let order = match (place(Verb::Create), place(Verb::Delete)) {
        (Some(new), Some(old)) if old < new => {
            format!("the old one is deleted first, then the new one is created{users}")
        }
        (_, Some(_)) => format!("the new one is created first{users}, the old one is deleted last"),
        (_, None) => format!("the new one is created{users}, the old one is kept for now"),
    };
    format!("this change cannot be made in place{}: {order}", limit(view, change))
}

/// The warning that the old version is sent unchanged unless someone acts.
fn still_due(view: &PlanView, change: &Change) -> Option<String> {
    let runs = before(change).and_then(|spec| kinds::api(&change.address).runs(spec))?;
    let at = runs.first.filter(|at| *at > view.plan.made)?;
    Some(format!("unless you act, the old one is sent unchanged on {}, {}", moment(at), distance(view.plan.made, at)))
}

/// The reference to the documented limit: ` (AP101)`.
pub(super) fn limit(view: &PlanView, change: &Change) -> String {
    let limit = kinds::api(&change.address).limit(view.plan.level);
    limit.map(|limit| format!(" ({})", limit.name)).unwrap_or_default()
}

fn by_hand(view: &PlanView, change: &Change, old: Option<&str>) -> Row {
    let (address, noun) = (&change.address, noun(change));
    let lifecycle = kinds::api(address).lifecycle(view.plan.level);
    let cannot = match (lifecycle.update, lifecycle.delete) {
        (Update::Never, Delete::Never) => format!("this API can neither change nor remove {}", a(noun)),
        (_, Delete::Never) => format!("this API cannot remove {}", a(noun)),
        (_, Delete::BeforeStart) if !change.rest().is_empty() => {
            format!("this API cannot remove {} that has started", a(noun))
        }
        _ => format!("this API can no longer change {}", a(noun)),
    };
    let with_id = |words: Words| match old {
        Some(id) => words.and(" (").request(id).and(")"),
        None => words,
    };
    let cannot = cannot + &limit(view, change);
    let row = Row::new(MANUAL, Words::new(&cannot)).paint(Paint::Asks);
    // An apply would create a declared resource again.
    let forget = if lifecycle.read == Read::LedgerOnly { " --even-if-pending" } else { "" };
    let done = match &view.plan.aim {
        Aim::Nothing => format!("forget {address}{forget}"),
        _ => format!("apply --done {address}"),
    };
    let done = Words::after("2. ", Paint::Plain).copy(&view.again.other(&done));
    let first = Words::after("1. ", Paint::Plain);
    let row = match still_due(view, change) {
        Some(words) => row.line(Words::default().paint(&words, Paint::Danger)),
        None => row,
    };
    if change.desired.is_none() {
        return row.line(with_id(first.and("remove it")).and(" in the service's dashboard")).line(done);
    }
    row.line(with_id(first.and("turn off or remove the old one")).and(" in the service's dashboard"))
        .line(done)
        .line(Words::new("until then, the new one is not created, because people would get both messages"))
}

/// Whether a creation can be undone.
fn no_way_back(view: &PlanView, change: &Change) -> Option<Row> {
    let making = matches!(change.action, Action::Create | Action::Replace) && !guard::is_stuck(change);
    let lifecycle = kinds::api(&change.address).lifecycle(view.plan.level);
    let words = match (making, lifecycle.delete, lifecycle.update) {
        (true, Delete::Never, Update::Never) => "after creation, this API can neither change nor cancel it",
        (true, Delete::Never, _) => "after creation, this API cannot remove it",
        (true, Delete::BeforeStart, _) => "can be cancelled until it starts",
        (true, Delete::BeforeEnd, _) if is_sent_once(change) => "can be cancelled until it is sent",
        (true, Delete::BeforeEnd, _) => "can be cancelled until the last send",
        _ => return None,
    };
    Some(Row::new("undo", Words::new(words)))
}

/// Whether all recipients get it at one time.
fn is_sent_once(change: &Change) -> bool {
    let runs = change.desired.as_deref().and_then(|spec| kinds::api(&change.address).runs(spec));
    runs.is_some_and(|runs| runs.first.is_some() && runs.first == runs.last)
}

/// The label of a change made on the service.
pub(crate) const DRIFT: &str = "drift";
/// The label of the command that keeps it.
pub(crate) const KEEP: &str = "to keep";
/// The label of what has to be done in the dashboard.
pub(super) const MANUAL: &str = "manual";
/// What the plan does about it.
pub(crate) const PUT_BACK: &str = "This plan puts it back.";
/// The number of overwritten fields that are named.
const FIELDS: usize = 5;

fn drift(change: &Change) -> Option<Row> {
    let words = match (change.moved?, change.action) {
        (Moved::Git, _) => return None,
        (Moved::Service, Action::ByHand) => "changed on the service since the last apply",
        (Moved::Service, _) => "changed on the service since the last apply; this puts it back",
        (Moved::Both, Action::Delete) if change.address.part().is_some() => {
            "edited on the service since the last apply; only what pushplan applied is removed"
        }
        (Moved::Both, Action::Delete) => "edited on the service since the last apply; it will still be deleted",
        (Moved::Both, _) => "changed in your files and on the service since the last apply",
        (Moved::Removed, Action::Create | Action::Replace) => {
            "removed on the service since the last apply; this puts it back"
        }
        // The removal from the ledger already says so.
        (Moved::Removed, Action::Forget) => return None,
        (Moved::Removed, _) => "removed on the service since the last apply",
    };
    let row = Row::new(DRIFT, Words::new(words)).paint(Paint::Asks);
    let fields = if change.moved == Some(Moved::Both) { change.overwritten() } else { Vec::new() };
    let more = fields.len().saturating_sub(FIELDS);
    let row = fields.iter().take(FIELDS).fold(row, |row, field| row.line(Words::new(&all_sides(change, field))));
    Some(if more > 0 { row.line(Words::new(&format!("and {}", count(more, "more field")))) } else { row })
}

/// A field that was changed on the service, with its value on each side.
fn all_sides(change: &Change, field: &Overwritten) -> String {
    let said = |side: Option<&Value>| {
        let words = side.map_or("nothing".to_owned(), |value| content::as_said(change, &field.path, value));
        if words.contains("; ") { format!("({words})") } else { words }
    };
    let Overwritten { path, last_applied, service, git } = field;
    let (last, theirs) = (said(*last_applied), said(*service));
    match change.desired {
        None => format!("{path}: last applied {last}, the service has {theirs}"),
        Some(_) if field.is_of_both() => {
            format!("{path}: last applied {last}, the service has {theirs}, your files have {}", said(*git))
        }
        Some(_) => format!("{path}: edited only on the service, to {theirs}; this restores {last}"),
    }
}

/// The command that keeps a change made on the service.
fn keep(view: &PlanView, change: &Change) -> Option<Row> {
    let pull = |how: &str| view.again.other(&format!("pull {}{how}", change.address.resource()));
    let theirs = |how: &str| Words::default().copy(&pull(how));
    let words = match change.moved? {
        _ if view.plan.aim != Aim::Manifests || change.desired.is_none() => return None,
        Moved::Git => return None,
        Moved::Service => theirs(""),
        // If both sides changed a field, git's value is kept without `--theirs`.
        Moved::Both => theirs(" --theirs"),
        Moved::Removed if view.plan.is_removed_part(change) => Words::new("removed: ").copy(&pull("")),
        Moved::Removed => Words::new("removed: delete it from your files"),
    };
    Some(Row::new(KEEP, words))
}

/// When the service last used a resource that is deleted or replaced.
fn last_used(view: &PlanView, change: &Change) -> Option<Row> {
    let goes = matches!(change.action, Action::Delete | Action::Replace);
    let at = view.plan.told.of.get(&change.address)?.last_used.filter(|_| goes)?;
    let words = format!("{} ({})", distance(view.plan.made, at), moment(at));
    Some(Row::new("last used", Words::new(&words)))
}

/// Further notes about the action.
fn of_action(view: &PlanView, change: &Change) -> Option<Row> {
    let id = change.id.as_deref().map(|id| format!(" ({})", view.id(id))).unwrap_or_default();
    match change.action {
        Action::Adopt if change.reasons.is_empty() => {
            let words = format!(
                "the service has it{id} as your files declare it; it is added to the ledger, and nothing is \
                 sent"
            );
            Some(Row::new("adopt", Words::new(&words)))
        }
        // The handover already says it.
        Action::Forget if change.reasons.iter().any(|reason| matches!(reason, Reason::HandedOver { .. })) => None,
        Action::Forget => {
            let words = match &view.plan.aim {
                Aim::Nothing => "nothing is left to delete; removed from the ledger",
                _ if change.moved.is_none() && has_run(view, change) => {
                    "its time has passed and your files do not declare it; it is removed from the ledger"
                }
                _ => "the service no longer has it and your files do not declare it; it is removed from the ledger",
            };
            Some(Row::new("forget", Words::new(words)))
        }
        _ => None,
    }
}

/// Whether its time has passed, according to what was last applied.
fn has_run(view: &PlanView, change: &Change) -> bool {
    let runs = change.ledger.as_ref().and_then(|spec| kinds::api(&change.address).runs(spec));
    runs.is_some_and(|runs| runs.has_begun(view.plan.made))
}
