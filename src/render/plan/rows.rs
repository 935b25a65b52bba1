//! The rows of a block: when, which fields, what is sent at once, which requests.

use std::collections::BTreeMap;

use serde_json::Value;

use super::value::{pair, shown};
use super::{Block, View, words};
use crate::kinds;
use crate::model::delay::Delay;
use crate::plan::{Action, Change, Moved, Send, Step};
use crate::render::layout::{Paint, Row, Words};
use crate::review::fields::{Difference, Field, fields};
use crate::text::count;

/// How many fields of something new, or of something that goes, are shown.
const FIELDS: usize = 12;
/// How many parts of a resource are shown.
const PARTS: usize = 20;
/// How many of those who get a message are named.
const NAMED: usize = 5;
/// How many requests of one block are shown.
const REQUESTS: usize = 12;

/// What a change starts from: what the service has, or what is remembered where it does not tell.
pub fn before(change: &Change) -> Option<&Value> {
    change.live.as_ref().or(change.ledger.as_ref())
}

/// The fields of a block that matter, or of its parts.
pub fn of_content(block: &Block) -> Vec<Row> {
    let mut rows = block.whole.map(of_fields).unwrap_or_default();
    rows.extend(of_parts(block));
    rows
}

/// What a block says in words: when, what is sent at once, why, and which requests.
pub fn of_words(view: &View, block: &Block) -> Vec<Row> {
    let mut rows = sends(block);
    for change in block.whole.iter().chain(&block.retired) {
        rows.extend(words::reasons(view, change));
    }
    for change in block.parts.iter().take(PARTS) {
        let own = words::reasons(view, change).into_iter();
        rows.extend(own.map(|row| of_part(change, row)));
    }
    rows.extend(requests(view, block));
    rows
}

/// A row about a part says which.
fn of_part(change: &Change, mut row: Row) -> Row {
    let about = Words::new(change.address.part().unwrap_or_default());
    row.lines.insert(0, about);
    row
}

/// When it messages people, where it does so by itself.
pub fn when(view: &View, block: &Block) -> Option<Row> {
    let change = block.whole?;
    let api = kinds::api(&change.address);
    let told =
        |spec: Option<&Value>| spec.and_then(|spec| api.runs(spec)).map(|runs| words::runs(&runs, view.plan.made));
    let words = match (told(before(change)), told(change.desired.as_ref())) {
        (Some(old), Some(new)) if old != new => changed(&old, &new),
        (_, Some(told)) | (Some(told), None) => Words::new(&told),
        (None, None) => return None,
    };
    Some(Row::new("when", words))
}

fn changed(old: &str, new: &str) -> Words {
    Words::default().paint(old, Paint::Old).and(" -> ").paint(new, Paint::New)
}

/// The fields that matter: those that change, or all of what comes or goes.
fn of_fields(change: &Change) -> Vec<Row> {
    match change.action {
        Action::Create => whole(change, change.desired.as_ref(), Paint::New),
        Action::Delete => whole(change, before(change), Paint::Old),
        Action::ByHand if change.desired.is_none() => whole(change, before(change), Paint::Plain),
        Action::ByHand if before(change).is_none() => whole(change, change.desired.as_ref(), Paint::Plain),
        Action::Update | Action::Replace | Action::ByHand => difference(change),
        Action::Keep | Action::Adopt | Action::Forget | Action::Past => Vec::new(),
    }
}

fn whole(change: &Change, spec: Option<&Value>, paint: Paint) -> Vec<Row> {
    let Some(spec) = spec else { return Vec::new() };
    let audiences = kinds::api(&change.address).audiences();
    let mut found = fields(spec, audiences);
    // The name stands in the first line already.
    found.retain(|(_, value)| value.as_str() != Some(&change.name) && !is_nothing(value));
    let is_audience = |path: &str| audiences.iter().any(|at| at.trim_start_matches('/').replace('/', ".") == path);
    found.sort_by_key(|(path, _)| !is_audience(path));
    let more = found.len().saturating_sub(FIELDS);
    let row = |(path, value): &(String, &Value)| Row::new(path, Words::default().paint(&shown(value), paint));
    let mut rows: Vec<Row> = found.iter().take(FIELDS).map(row).collect();
    if more > 0 {
        rows.push(Row::new("", Words::default().paint(&format!("and {}", count(more, "more field")), Paint::Faint)));
    }
    rows
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

fn difference(change: &Change) -> Vec<Row> {
    let found = Difference::between(before(change), change.desired.as_ref());
    let mut rows: Vec<Row> = Vec::new();
    for field in &found.fields {
        let mut row = Row::new(&field.path, Words::default());
        row.lines = field_lines(field);
        row.lines.extend(last_applied(change, field));
        rows.push(row);
    }
    if !found.fields.is_empty() && found.same > 0 {
        let are = if found.same == 1 { "field is" } else { "fields are" };
        rows.push(Row::new("", Words::default().paint(&format!("{} {are} unchanged", found.same), Paint::Faint)));
    }
    rows
}

/// `old -> new` where that is short enough to be read at a glance, otherwise each on its own line.
fn field_lines(field: &Field) -> Vec<Words> {
    const GLANCE: usize = 44;
    let (old, new) = match (field.old, field.new) {
        (Some(old), Some(new)) => pair(old, new),
        (old, new) => {
            let side = |value: Option<&Value>| value.map_or("(none)".to_owned(), shown);
            (side(old), side(new))
        }
    };
    if old.chars().count() + new.chars().count() <= GLANCE {
        return vec![changed(&old, &new)];
    }
    let side = |sign: &str, text: &str, paint| Words::after(sign, paint).paint(text, paint);
    let mut lines = Vec::new();
    if field.old.is_some() {
        lines.push(side("- ", &old, Paint::Old));
    }
    if field.new.is_some() {
        lines.push(side("+ ", &new, Paint::New));
    }
    lines
}

/// Where both sides moved, what they moved from.
fn last_applied(change: &Change, field: &Field) -> Option<Words> {
    let ledger = change.ledger.as_ref().filter(|_| change.moved == Some(Moved::Both))?;
    let moved = Difference::between(Some(ledger), change.live.as_ref());
    let was = moved.fields.iter().find(|moved| moved.path == field.path)?;
    let value = was.old.map_or("(none)".to_owned(), shown);
    Some(Words::default().paint(&format!("last applied: {value}; the service was edited"), Paint::Asks))
}

/// One row for each part that changes.
fn of_parts(block: &Block) -> Vec<Row> {
    let parts = &block.parts;
    let mut rows: Vec<Row> = parts.iter().take(PARTS).map(|change| part(change)).collect();
    if parts.len() > PARTS {
        let more = parts.len() - PARTS;
        rows.push(Row::new("…", Words::new(&format!("and {more} more; --format json has all of them"))));
    }
    if !parts.is_empty() {
        let change = if parts.len() == 1 { "changes" } else { "change" };
        let words = format!("{} of {} {change}", parts.len(), block.total);
        rows.push(Row::new("", Words::default().paint(&words, Paint::Faint)));
    }
    rows
}

fn part(change: &Change) -> Row {
    let address = &change.address;
    let own = address.part().unwrap_or_default();
    // What the address says already is not repeated.
    let id = own.rsplit('/').next().unwrap_or_default();
    let key = address.key.split('/').next().unwrap_or_default();
    let is_said = |value: Option<&Value>| value.and_then(Value::as_str).is_some_and(|text| text == id || text == key);
    let after = if change.action == Action::Delete { None } else { change.desired.as_ref() };
    let found = Difference::between(before(change), after);
    let fields = found.fields.iter().filter(|field| !is_said(field.old.or(field.new)));
    let mut words = Words::default();
    for (number, field) in fields.enumerate() {
        let before = if number > 0 { "; " } else { "" };
        words = words.and(&format!("{before}{} ", field.path));
        words = match (field.old, field.new, change.action) {
            (Some(old), Some(new), _) => {
                let (old, new) = pair(old, new);
                words.paint(&old, Paint::Old).and(" -> ").paint(&new, Paint::New)
            }
            // The sign of what comes or goes as a whole says it.
            (None, Some(new), Action::Create) => words.paint(&shown(new), Paint::New),
            (Some(old), None, Action::Delete) => words.paint(&shown(old), Paint::Old),
            (None, Some(new), _) => words.and("(none) -> ").paint(&shown(new), Paint::New),
            (old, None, _) => words.paint(&old.map(shown).unwrap_or_default(), Paint::Old).and(" -> (none)"),
        };
    }
    Row::new(&format!("{} {own}", change.action.symbol()), words).paint(paint_of(change.action))
}

/// The colour of an action.
pub fn paint_of(action: Action) -> Paint {
    match action {
        Action::Create | Action::Adopt => Paint::New,
        Action::Update | Action::Replace => Paint::Changed,
        Action::Delete => Paint::Old,
        Action::ByHand => Paint::Asks,
        Action::Keep | Action::Forget | Action::Past => Paint::Faint,
    }
}

/// What is sent, by what sends it.
fn sends(block: &Block) -> Vec<Row> {
    let mut by: BTreeMap<(String, i64), Vec<&str>> = BTreeMap::new();
    for Send { by: sender, tag, removed, after_seconds, to } in block.changes().flat_map(|change| &change.sends) {
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

/// The requests of a block in the order in which they are sent. Where it is replaced, also those that re-point its users.
fn requests(view: &View, block: &Block) -> Option<Row> {
    let mut steps: Vec<(&Step, bool)> = Vec::new();
    for change in block.changes() {
        steps.extend(view.steps_of(change).iter().map(|step| (*step, true)));
        if change.action == Action::Replace {
            let users = view.users_of(&change.address).iter();
            steps.extend(users.flat_map(|user| view.steps_of(user)).map(|step| (*step, false)));
        }
    }
    steps.sort_by_key(|(step, _)| step.number);
    steps.dedup_by_key(|(step, _)| step.number);
    let mut lines: Vec<((&str, String), usize)> = Vec::new();
    for (step, own) in steps {
        let Some(request) = &step.request else { continue };
        let whose = if own { String::new() } else { format!("  {}", step.address) };
        let words = (request.method.word(), format!("{}{whose}", request.path));
        match lines.last_mut().filter(|(last, _)| *last == words) {
            Some((_, times)) => *times += 1,
            None => lines.push((words, 1)),
        }
    }
    let more = lines.len().saturating_sub(REQUESTS);
    let numbered = lines.len() > 1;
    let mut row = Row { lines: Vec::new(), ..Row::new(if numbered { "order" } else { "request" }, Words::default()) };
    for (number, ((method, path), times)) in lines.iter().take(REQUESTS).enumerate() {
        let times = if *times > 1 { format!("  {times} times") } else { String::new() };
        row.lines.push(match numbered {
            true => Words::after(&format!("{:<2}{method:<6} ", number + 1), Paint::Plain).and(path).and(&times),
            false => Words::new(&format!("{method} {path}{times}")),
        });
    }
    if more > 0 {
        row.lines.push(Words::new(&format!("… and {more} more; --format json has all of them")));
    }
    (!row.lines.is_empty()).then_some(row)
}
