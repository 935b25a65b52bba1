//! Possible renames: a new resource has the same content as one that is no longer declared, or a similar one.

use super::PlanView;
use crate::address::Address;
use crate::kinds::{self, Delete, Read};
use crate::node::yaml_text;
use crate::plan::{Action, Change, Likeness, Reason};
use crate::render::layout::{Paint, Row, Words};
use crate::text::all_of;

/// The label of a possible rename.
pub(crate) const RENAME: &str = "rename?";

/// The note that a removed resource may continue under another key.
pub(super) fn may_be_renamed(view: &PlanView, change: &Change) -> Option<Row> {
    let to = view.successor(&change.address).filter(|_| matches!(change.action, Action::Delete | Action::Forget))?;
    let words =
        format!("is this a rename? {} has the same content; its block shows how to declare the rename", to.address);
    Some(Row::new(RENAME, Words::new(&words)).paint(Paint::Asks))
}

/// The note that a new resource may continue one with another key.
pub(super) fn looks_renamed(
    view: &PlanView,
    change: &Change,
    from: &Address,
    in_doubt: bool,
    past: bool,
    similar: &[Likeness],
) -> Row {
    let common: Vec<String> = similar.iter().map(|likeness| likeness.word().to_owned()).collect();
    let says = match similar.is_empty() {
        true => "has the same content".to_owned(),
        false => format!("is similar (same {})", all_of(&common)),
    };
    let say = format!("lifecycle: {{renamed_from: {}}}", yaml_text(&from.key));
    let at = change.place.as_ref().map(|place| format!(" at {}:{}", place.file, place.line)).unwrap_or_default();
    let write = format!("add this below `{}:`{at}: ", change.address.key);
    // A resource of another kind is no rename.
    let is_rename = from.kind == change.address.kind;
    if change.action != Action::ByHand && !is_rename {
        return Row::new("waits", Words::new(&format!("{from} {says}, and is deleted first")));
    }
    if change.action != Action::ByHand {
        let words = match past {
            true => format!("is this a rename? {from} {says}, its time has passed, and it is no longer in your files"),
            false => format!("is this a rename? {from} {says}, is no longer in your files and would be deleted"),
        };
        let moves = view.again.other(&format!("mv {from} {}", change.address));
        let row = Row::new(RENAME, Words::new(&words))
            .paint(Paint::Asks)
            .line(Words::new(&format!("if so, {write}")).copy(&say))
            .line(Words::new("or rename it in the ledger now: ").copy(&moves));
        let again = Words::new("if not, recipients may get the same message twice");
        return if past { row.line(again) } else { row };
    }
    if view.plan.changes.iter().any(|other| other.address == *from && other.desired.is_some()) {
        let words = format!(
            "{from} had the same content before this change, and that version still exists: both would be sent"
        );
        let done = view.again.other(&format!("apply --done {from}"));
        let line = Words::new("delete the old version first, then: ").copy(&done);
        return Row::new("waits", Words::new(&words)).paint(Paint::Asks).line(line);
    }
    let is_there = if in_doubt { "may exist" } else { "still exists" };
    let says = if similar.is_empty() { "has the same content or name" } else { &says };
    let words = format!("{from} {says}, and {is_there}: both would be sent");
    let mut row = Row::new("waits", Words::new(&words)).paint(Paint::Asks);
    if is_rename {
        row = row.line(Words::new(&format!("is this a rename? If so, {write}")).copy(&say));
    }
    let first = |words: &str| Words::new(&if is_rename { format!("if not, {words}") } else { words.to_owned() });
    let first = match in_doubt {
        true => first("resolve the old one first: ")
            .copy(&view.again.other(&format!("resolve {from} --created ID")))
            .and(" or ")
            .copy(&view.again.other(&format!("resolve {from} --absent"))),
        false if is_by_hand(view, from) => first("remove the old one in the dashboard first, then: ")
            .copy(&view.again.other(&format!("apply --done {from}"))),
        false => first("keep the old one in this apply, which deletes it first"),
    };
    let row = row.line(first);
    if similar.is_empty() || in_doubt {
        return row;
    }
    let is_unlisted = kinds::api(from).lifecycle(view.plan.level).read == Read::LedgerOnly;
    let forget = format!("forget {from}{}", if is_unlisted { " --even-if-pending" } else { "" });
    row.line(Words::new("to send both, stop managing the old one: ").copy(&view.again.other(&forget)))
}

/// Whether a resource exists until someone deletes it in the dashboard.
fn is_by_hand(view: &PlanView, address: &Address) -> bool {
    if kinds::api(address).lifecycle(view.plan.level).delete == Delete::Never {
        return true;
    }
    let of_it = view.plan.changes.iter().filter(|change| change.address == *address);
    of_it.flat_map(|change| &change.reasons).any(|reason| matches!(reason, Reason::InDashboard { .. }))
}
