//! The rows of a block: times, fields, immediate sends, and requests.

use std::collections::BTreeMap;

use serde_json::Value;

use super::value::{pair, shown};
use super::{Block, PlanView, content, message, requests, when, who, words};
use crate::nouns::delay::Delay;
use crate::plan::{Action, CausedSend, Change};
use crate::render::layout::{Paint, Row, Words};
use crate::review::before;
use crate::review::fields::Difference;

/// The number of parts of a resource that are shown.
pub(super) const PARTS: usize = 20;
/// The number of recipients of a message that are named.
const NAMED: usize = 5;

/// The content of a block: times, audience, fields, and the message as recipients will see it; or its parts.
pub(crate) fn of_content(view: &PlanView, block: &Block) -> Vec<Row> {
    let mut rows = of_times(view, block);
    rows.extend(block.whole.map(|change| who::rows(view, change)).unwrap_or_default());
    rows.extend(of_fields(block));
    rows.extend(block.whole.map(|change| message::rows(view, change)).unwrap_or_default());
    if rows.is_empty() {
        // For example two spellings of one audience: the request is sent nevertheless.
        rows.extend(block.whole.map(content::as_written).unwrap_or_default());
    }
    rows
}

/// The send times, and other messages to the same people shortly before or after.
pub(crate) fn of_times(view: &PlanView, block: &Block) -> Vec<Row> {
    let rows = |change| when::rows(view, change).into_iter().chain(when::near(view, change)).collect();
    block.whole.map(rows).unwrap_or_default()
}

/// The relevant fields of a block, or its parts.
pub(crate) fn of_fields(block: &Block) -> Vec<Row> {
    let mut rows = block.whole.map(content::rows).unwrap_or_default();
    rows.extend(of_parts(block));
    rows
}

/// The reversal of a change made on the service, from the live to the applied state, and its effect.
pub(crate) fn of_drift(view: &PlanView, block: &Block) -> Vec<Row> {
    let effect = |change| who::rows(view, change).into_iter().filter(|row| row.label == who::EFFECT);
    let mut rows: Vec<Row> = Vec::new();
    if let Some(change) = block.whole {
        rows.extend(when::rows(view, change));
        rows.extend(who::rows(view, change).into_iter().filter(|row| row.label == who::WHO));
        rows.extend(content::drifted(change));
        rows.extend(effect(change).map(|row| row.after("after this is put back, ")));
    }
    rows.extend(block.parts.iter().take(PARTS).map(|change| part(change)));
    if block.parts.len() > PARTS {
        rows.push(Row::new("…", Words::new(&format!("and {} more", block.parts.len() - PARTS))));
    }
    rows
}

/// The text rows of a block: immediate sends, reasons, and requests.
pub(crate) fn of_words(view: &PlanView, block: &Block) -> Vec<Row> {
    let mut rows = sends(block);
    for change in block.whole.iter().chain(&block.retired) {
        rows.extend(words::reasons(view, change));
    }
    for change in block.parts.iter().take(PARTS) {
        // The note on how to keep a change is the same for all parts.
        let is_said = |row: &Row| row.label == words::KEEP && rows.iter().any(|other| other.label == row.label);
        let own: Vec<Row> = words::reasons(view, change).into_iter().filter(|row| !is_said(row)).collect();
        rows.extend(own.into_iter().map(|row| if row.label == words::KEEP { row } else { of_part(change, row) }));
    }
    rows.extend(requests::row(view, block));
    rows
}

/// Adds the name of the part to its row.
fn of_part(change: &Change, mut row: Row) -> Row {
    let about = Words::new(change.address.part().unwrap_or_default());
    row.lines.insert(0, about);
    row
}

/// One row for each changed part.
pub(crate) fn of_parts(block: &Block) -> Vec<Row> {
    let parts = &block.parts;
    let mut rows: Vec<Row> = parts.iter().take(PARTS).map(|change| part(change)).collect();
    if parts.len() > PARTS {
        let more = parts.len() - PARTS;
        rows.push(Row::new("…", Words::new(&format!("and {more} more; --format json has all of them"))));
    }
    if !parts.is_empty() {
        let words = match block.total.saturating_sub(parts.len()) {
            0 => format!("{} changed", parts.len()),
            same => format!("{} changed, {same} unchanged", parts.len()),
        };
        rows.push(Row::new("", Words::default().paint(&words, Paint::Faint)));
    }
    rows
}

fn part(change: &Change) -> Row {
    let address = &change.address;
    let own = address.part().unwrap_or_default();
    // Values that the address contains are not repeated.
    let id = own.rsplit('/').next().unwrap_or_default();
    let key = address.key.split('/').next().unwrap_or_default();
    let is_said = |value: Option<&Value>| value.and_then(Value::as_str).is_some_and(|text| text == id || text == key);
    let (before, after) = match change.action {
        // Only applied values are removed.
        Action::Delete => (change.ledger.as_deref().or(before(change)), None),
        _ => (before(change), change.desired.as_deref()),
    };
    let found = Difference::between(before, after);
    let fields = found.fields.iter().filter(|field| !is_said(field.old.or(field.new)));
    let mut words = Words::default();
    for (number, field) in fields.enumerate() {
        let before = if number > 0 { "; " } else { "" };
        words = words.and(&format!("{before}{} ", field.path));
        words = match (field.old, field.new, change.action) {
            (Some(old), Some(new), _) => {
                let (old, new) = pair(old, new);
                words.paint(&old, Paint::Old).and(" → ").paint(&new, Paint::New)
            }
            // The sign of an added or removed part is enough.
            (None, Some(new), Action::Create) => words.paint(&shown(new), Paint::New),
            (Some(old), None, Action::Delete) => words.paint(&shown(old), Paint::Old),
            (None, Some(new), _) => words.and("(none) → ").paint(&shown(new), Paint::New),
            (old, None, _) => words.paint(&old.map(shown).unwrap_or_default(), Paint::Old).and(" → (none)"),
        };
    }
    Row::new(&format!("{} {own}", change.action.symbol()), words).paint(paint_of(change.action))
}

/// The colour of an action.
pub(crate) fn paint_of(action: Action) -> Paint {
    match action {
        Action::Create | Action::Adopt => Paint::New,
        Action::Update | Action::Replace => Paint::Changed,
        Action::Delete => Paint::Old,
        Action::ByHand => Paint::Asks,
        Action::Keep | Action::Forget | Action::Past => Paint::Faint,
    }
}

/// The caused messages, by their sender.
fn sends(block: &Block) -> Vec<Row> {
    let mut by: BTreeMap<(String, i64), Vec<&str>> = BTreeMap::new();
    for CausedSend { by: sender, tag, removed, after_seconds, to } in block.changes().flat_map(|change| &change.sends) {
        let starts = match tag {
            Some(tag) if *removed => format!("{sender} starts when {tag} is removed: "),
            Some(tag) => format!("{sender} starts when {tag} is added: "),
            None => format!("{sender}: "),
        };
        by.entry((starts, *after_seconds)).or_default().push(to);
    }
    let row = |((starts, after), to): ((String, i64), Vec<&str>)| {
        let when = if after == 0 { "at once".to_owned() } else { format!("after {}", Delay(after)) };
        let named: Vec<&str> = to.iter().take(NAMED).copied().collect();
        let who = match to.len() {
            1 => format!("{} gets a message, {when}", named[0]),
            number if number <= NAMED => format!("{} get a message, {when}", crate::text::all_of(&named)),
            number => format!("{} and {} more get a message, {when}", named.join(", "), number - NAMED),
        };
        Row::new("SENDS", Words::new(&starts).paint(&who, Paint::Danger)).paint(Paint::Danger)
    };
    by.into_iter().map(row).collect()
}
