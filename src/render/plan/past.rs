//! Resources whose time, or first time, has passed, in words.

use jiff::Timestamp;

use super::PlanView;
use super::words::{limit, moment};
use crate::kinds;
use crate::kinds::remote::Coming;
use crate::plan::{Action, Change, Moved, Reason};
use crate::render::layout::{Paint, Row, Words};
use crate::text::{all_of, count};

/// The number of remaining times that are named.
const TIMES: usize = 4;

/// What happened to a resource whose time, or first time, has passed.
pub fn fate(change: &Change) -> String {
    let told = change.reasons.iter().find_map(|reason| match reason {
        Reason::Went { at, rest, .. } if !rest.is_empty() => Some(still(*at, rest)),
        Reason::Went { at, edited, .. } => Some(went(change, *at, *edited)),
        Reason::TooLate { at } => Some(record(*at)),
        _ => None,
    });
    told.unwrap_or_else(|| went(change, None, false))
}

/// What happened to a resource whose time has passed.
pub(super) fn went(change: &Change, at: Option<Timestamp>, edited: bool) -> String {
    let went = at.map_or("its time has passed".to_owned(), |at| format!("was due on {}", moment(at)));
    let gone =
        if change.moved == Some(Moved::Removed) { "the service no longer has the remaining sends, and " } else { "" };
    let edits = if edited { ", even if you edit it; to send it again, use a new key" } else { "" };
    format!("{went}; {gone}it will not be sent again{edits}")
}

/// The text for a resource that has begun and has not ended.
fn still(at: Option<Timestamp>, rest: &[Coming]) -> String {
    let went = at.map_or("has begun".to_owned(), |at| format!("was due on {}", moment(at)));
    format!("{went} and is still sent {}", coming(rest))
}

/// The remaining times of a resource that has begun: `on Fri 20 Nov 2026 14:00 UTC`.
pub fn coming(rest: &[Coming]) -> String {
    let one = |time: &Coming| match time.from {
        None => format!("until {}", moment(time.to)),
        Some(from) if from == time.to => format!("on {}", moment(from)),
        Some(from) => format!("from {} to {}", moment(from), moment(time.to)),
    };
    let mut told: Vec<String> = rest.iter().take(TIMES).map(one).collect();
    if let more @ 1.. = rest.len().saturating_sub(TIMES) {
        told.push(format!("at {}", count(more, "more time")));
    }
    all_of(&told)
}

/// What happens to a resource that has begun and has not ended, and how to cancel the remaining sends.
pub(super) fn half_out(view: &PlanView, change: &Change, at: Option<Timestamp>, edited: bool, rest: &[Coming]) -> Row {
    if change.action == Action::Delete {
        let sent = at.map_or("has been sent".to_owned(), |at| format!("was due on {}", moment(at)));
        let begun = |time: &Coming| {
            time.from.is_none().then(|| format!("to recipients whose local time reaches it until {}", moment(time.to)))
        };
        let (now, later): (Vec<_>, Vec<_>) = rest.iter().copied().partition(|time| time.from.is_none());
        let later = (!later.is_empty()).then(|| coming(&later));
        let called_off: Vec<String> = now.iter().filter_map(begun).chain(later).collect();
        let words = format!("what {sent} cannot be undone; it is no longer sent {}", all_of(&called_off));
        return Row::new("cancels", Words::new(&words));
    }
    let row = Row::new("half out", Words::new(&still(at, rest)));
    if !edited {
        return row;
    }
    let applied = if change.moved == Some(Moved::Git) { "as it was applied" } else { "as the service has it" };
    let words = format!("{}, {applied}, without the later edits", still(at, rest));
    let deletes = kinds::api(&change.address).lifecycle(view.plan.level).delete.is_possible(true);
    let id = change.id.as_deref().map(|id| format!(" ({})", view.id(id))).unwrap_or_default();
    let call_off = match deletes {
        true => "to cancel the rest, remove it from your files and apply".to_owned(),
        false => {
            let limit = limit(view, change);
            format!("to cancel the rest, remove it{id} in the service's dashboard{limit} and from your files")
        }
    };
    Row::new("half out", Words::default().paint(&words, Paint::Danger))
        .paint(Paint::Asks)
        .line(Words::new(&call_off))
        .line(Words::new("then declare the replacement under a new key: otherwise both are sent"))
}

/// The text for a resource that was never managed and is declared as a record of the past.
pub(super) fn record(at: Timestamp) -> String {
    format!("was scheduled for {} and is not sent; your files keep it as a record", moment(at))
}
