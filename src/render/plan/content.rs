//! The fields of a change: the changed ones, or all fields of a created or deleted resource.

use std::collections::BTreeMap;

use serde_json::Value;

use super::SAID;
use super::value::{pair, shown};
use crate::audience;
use crate::kinds;
use crate::look::page::{Page, is_page};
use crate::node::{Decode, Node, Reader};
use crate::nouns::audience::Selector;
use crate::nouns::delay::Delay;
use crate::plan::{Action, Change, Moved};
use crate::render::layout::{Paint, Row, Words};
use crate::render::line_breaks;
use crate::review::fields::{Difference, Field, fields};
use crate::review::prose::{self, Piece};
use crate::review::{Pair, RenamedVariable, after, before, pairs, renamed_variables, with_renamed};
use crate::text::count;

/// The number of fields shown for a created or deleted resource, besides the texts for recipients, the audience and the
/// times.
pub(super) const FIELDS: usize = 12;
/// The largest length of values that are shown as `old -> new`.
const GLANCE: usize = 44;
/// Longer texts are shown only around their changes.
const LONG: usize = 600;
/// The number of unchanged characters of a long text that are shown next to a change.
const BESIDE: usize = 60;
/// The number of items of a list that are named.
const ITEMS: usize = 12;

/// The relevant fields, without the audience and the times, which have their own rows.
pub fn rows(change: &Change) -> Vec<Row> {
    match change.action {
        Action::Create => whole(change, change.desired.as_deref(), Paint::New),
        Action::Delete => whole(change, before(change), Paint::Old),
        Action::ByHand if change.desired.is_none() => whole(change, before(change), Paint::Plain),
        Action::ByHand if before(change).is_none() => whole(change, change.desired.as_deref(), Paint::Plain),
        Action::Update | Action::Replace | Action::ByHand => difference(change),
        Action::Keep | Action::Adopt | Action::Forget | Action::Past => Vec::new(),
    }
}

/// The fields that were changed on the service and that the plan reverts.
pub fn drifted(change: &Change) -> Vec<Row> {
    if change.moved == Some(Moved::Service) { by_path(change) } else { rows(change) }
}

/// The changed fields, each with its whole path, which is what `lifecycle.ignore` takes.
pub(crate) fn by_path(change: &Change) -> Vec<Row> {
    let found = Difference::between(before(change), after(change));
    let told = found.fields.iter().filter(|field| !is_told(change, &field.path));
    told.map(|field| Row { label: field.path.clone(), ..row(field, Vec::new()) }).collect()
}

/// All changed fields, including those for which `is_told` holds.
pub fn as_written(change: &Change) -> Vec<Row> {
    if !matches!(change.action, Action::Update | Action::Replace) {
        return Vec::new();
    }
    let found = Difference::between(before(change), after(change));
    found.fields.iter().map(|field| row(field, Vec::new())).collect()
}

/// Whether another row shows a field: it belongs to the audience or the times.
pub(super) fn is_told(change: &Change, path: &str) -> bool {
    let api = kinds::api(&change.address);
    let within = |at: &&str| beneath(path, at).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
    let is_time = path.ends_with("scheduled_time") || path.ends_with("schedule");
    let is_trigger = |key| beneath(path, key).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
    let sets_off = ["immediate_trigger", "historical_trigger"].into_iter().any(is_trigger);
    let is_rule = kinds::of(&change.address)
        .rules
        .iter()
        .any(|key| path.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '['])));
    let runs = || change.desired.as_deref().or(before(change)).is_some_and(|spec| api.runs(spec).is_some());
    api.audiences().iter().any(within) || is_time && runs() || sets_off || is_rule
}

/// The rest of a path after a pointer that it begins with: `push.audience.or` is beneath `/push/audience`.
fn beneath<'p>(path: &'p str, pointer: &str) -> Option<&'p str> {
    let pointer = pointer.trim_start_matches('/');
    let is_same = |(a, b): (u8, u8)| a == b || a == b'.' && b == b'/';
    let begins = path.len() >= pointer.len() && path.bytes().zip(pointer.bytes()).all(is_same);
    begins.then(|| path.get(pointer.len()..)).flatten()
}

/// The readable name of a field: `push.notification.alert` is the alert, regardless of the resource.
pub fn label(path: &str) -> String {
    const AROUND: [&str; 3] = ["push", "notification", "outcome"];
    let mut said = String::with_capacity(path.len() + 8);
    let mut parts = path.split('.').peekable();
    let mut begun = false;
    while let Some(part) = parts.next() {
        if parts.peek().is_some() && AROUND.contains(&part) {
            continue;
        }
        if std::mem::replace(&mut begun, true) {
            said.push('.');
        }
        match part.strip_prefix("variants[").and_then(|rest| rest.strip_suffix(']')) {
            Some(number) => {
                let number = number.parse().map_or(0, |number: usize| number + 1);
                said.push_str(&format!("variant {number} "));
            }
            None => said.push_str(part),
        }
    }
    if said.contains(' ') { said.replace(" .", " ") } else { said }
}

/// A value in the readable form for its field.
fn said(path: &str, value: &Value) -> String {
    match value.as_i64().filter(|_| label(path).ends_with("delay")) {
        Some(seconds) => format!("{} ({seconds} s)", Delay(seconds)),
        None => shown(value),
    }
}

/// Returns the value of a change's field in readable form. An audience becomes a sentence.
pub fn as_said(change: &Change, path: &str, value: &Value) -> String {
    let is_it = |at: &&str| beneath(path, at) == Some("");
    let selector = || Selector::decode(&Node::from_json_value(value), &mut Reader::default());
    let audience = kinds::api(&change.address).audiences().iter().any(is_it).then(selector).flatten();
    audience.map_or_else(|| said(path, value), |selector| audience::words(&selector))
}

fn whole(change: &Change, spec: Option<&Value>, paint: Paint) -> Vec<Row> {
    let Some(spec) = spec else { return Vec::new() };
    let mut found = fields(spec, kinds::api(&change.address).audiences());
    // The first line already has the name.
    found.retain(|(path, value)| {
        let is_name = ["name", "display_name"].contains(&path.as_str()) && value.as_str() == Some(&change.name);
        !is_name && !is_nothing(value) && !is_told(change, path)
    });
    let all = found.len();
    if all > FIELDS {
        let mut others = found.iter().filter(|(path, _)| is_of_people(path)).count();
        found.retain(|(path, _)| {
            let is_kept = is_of_people(path);
            others += usize::from(!is_kept);
            is_kept || others <= FIELDS
        });
    }
    let more = all - found.len();
    let mut rows: Vec<Row> = Vec::new();
    for (path, value) in &found {
        let name = label(path);
        match value.as_str().filter(|text| is_body(path) && is_page(text)) {
            Some(body) => rows.extend(page(&name, &Page::default(), &Page::of(body), paint)),
            None => rows.push(Row::new(&name, Words::default().paint(&said(path, value), paint))),
        }
    }
    if more > 0 {
        rows.push(faint(&format!("and {}", count(more, "more field"))));
    }
    rows
}

/// Whether a field is a text for recipients, concerns the audience or the time, or is at the top level, such as the
/// switch that turns a resource on. Such fields are shown however many other fields there are.
fn is_of_people(path: &str) -> bool {
    let name = path.rsplit_once('.').map_or(path, |(_, name)| name);
    let is_top = name.len() == path.len() && !path.contains('[');
    is_top
        || SAID.contains(&name)
        || ["share", "delay", "device_types"].contains(&name)
        || name.ends_with("default_value")
        || name.ends_with("_time")
}

/// Whether a text may be an HTML page. Any other text is shown unchanged, whatever characters it has.
fn is_body(path: &str) -> bool {
    path.rsplit_once('.').map_or(path, |(_, name)| name) == "body"
}

fn faint(words: &str) -> Row {
    Row::new("", Words::default().paint(words, Paint::Faint))
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
    let renamed = before(change).zip(after(change)).map(|(old, new)| renamed_variables(old, new)).unwrap_or_default();
    let old = before(change).filter(|_| !renamed.is_empty()).map(|old| with_renamed(old, &renamed));
    let found = Difference::between(old.as_ref().or(before(change)), after(change));
    let mut rows: Vec<Row> = renamed.iter().map(renamed_row).collect();
    for field in found.fields.iter().filter(|field| !is_told(change, &field.path)) {
        let texts = text_of(field.old).zip(text_of(field.new));
        match texts.filter(|(_, new)| is_body(&field.path) && is_page(new)) {
            Some((old, new)) => rows.extend(page(&label(&field.path), &Page::of(old), &Page::of(new), Paint::New)),
            None if comes_or_goes(field) => rows.extend(opened(change, field)),
            None => rows.push(row(field, last_applied(change, field).into_iter().collect())),
        }
    }
    // A renamed variable counts as changed, as in the JSON form.
    let same = if renamed.is_empty() { found.same } else { Difference::between(before(change), after(change)).same };
    if !rows.is_empty() && same > 0 {
        let are = if same == 1 { "field is" } else { "fields are" };
        rows.push(faint(&format!("{same} {are} unchanged")));
    }
    rows
}

/// A renamed variable. Its placeholders are not shown one by one.
fn renamed_row(RenamedVariable { from, to }: &RenamedVariable) -> Row {
    let words = Words::default().paint(from, Paint::Old).and(" renamed to ").paint(to, Paint::New);
    Row::new("variable", words)
}

/// Whether a whole map is added or removed, such as a variant.
fn comes_or_goes(field: &Field) -> bool {
    field.moved.is_none() && field.old.xor(field.new).is_some_and(Value::is_object)
}

/// Shows such a map field by field.
fn opened(change: &Change, field: &Field) -> Vec<Row> {
    let Some(value) = field.old.xor(field.new) else { return Vec::new() };
    let mut rows = Vec::new();
    for (below, value) in fields(value, &[]) {
        let path = format!("{}.{below}", field.path);
        if !is_told(change, &path) {
            let side = Some(value);
            let (old, new) = if field.old.is_some() { (side, None) } else { (None, side) };
            let mut row = row(&Field { path, old, new, moved: None }, Vec::new());
            // Another variant may have its number now.
            if old.is_some() && row.label.starts_with("variant ") {
                row.label.insert_str(0, "former ");
            }
            rows.push(row);
        }
    }
    rows
}

fn row(field: &Field, more: Vec<Words>) -> Row {
    let mut row = Row::new(&label(&field.path), Words::default());
    row.lines = lines(field);
    row.lines.extend(more);
    row
}

/// A field in the clearest form for its change: words, items, or one value after the other.
fn lines(field: &Field) -> Vec<Words> {
    if let Some((from, to)) = field.moved {
        return vec![Words::new(&format!("moved from place {} to place {}", from + 1, to + 1))];
    }
    if let Some(pieces) = text_of(field.old).zip(text_of(field.new)).and_then(|(old, new)| prose::words(old, new)) {
        return vec![edited(pieces)];
    }
    let (old, new) = match (field.old, field.new) {
        (Some(old), Some(new)) if old.is_string() && new.is_string() => pair(old, new),
        (old, new) => {
            let side = |value: Option<&Value>| value.map_or("(none)".to_owned(), |value| said(&field.path, value));
            (side(old), side(new))
        }
    };
    if old.chars().count() + new.chars().count() <= GLANCE {
        return vec![Words::default().paint(&old, Paint::Old).and(" → ").paint(&new, Paint::New)];
    }
    if let Some(lines) = items(field.old).zip(items(field.new)).map(|(old, new)| set(old, new)) {
        return lines;
    }
    let side = |sign: &str, text: &str, paint| Words::after(sign, paint).paint(text, paint);
    let goes = field.old.map(|_| side("- ", &old, Paint::Old));
    goes.into_iter().chain(field.new.map(|_| side("+ ", &new, Paint::New))).collect()
}

fn text_of(value: Option<&Value>) -> Option<&str> {
    value.and_then(Value::as_str)
}

fn items(value: Option<&Value>) -> Option<&[Value]> {
    value.and_then(Value::as_array).map(Vec::as_slice)
}

/// A text with its removed and added words. The marks are readable without colours.
pub fn edited(pieces: Vec<Piece>) -> Words {
    let length: usize = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Same(text) | Piece::Goes(text) | Piece::Comes(text) => text.chars().count(),
        })
        .sum();
    let pieces = if length > LONG { prose::around(pieces, BESIDE) } else { pieces };
    pieces.into_iter().fold(Words::default(), |words, piece| match piece {
        Piece::Same(text) => words.and(&text),
        Piece::Goes(text) => words.paint(&format!("[-{}-]", line_breaks(&text)), Paint::Old),
        Piece::Comes(text) => words.paint(&format!("{{+{}+}}", line_breaks(&text)), Paint::New),
    })
}

/// The items that are added to and removed from a list, or a note that only the order changes.
fn set(old: &[Value], new: &[Value]) -> Vec<Words> {
    let mut left: Vec<&Value> = new.iter().collect();
    let mut goes: Vec<&Value> = Vec::new();
    for item in old {
        match left.iter().position(|other| *other == item) {
            Some(at) => drop(left.remove(at)),
            None => goes.push(item),
        }
    }
    let named = |items: &[&Value]| {
        let mut words: Vec<String> = items.iter().take(ITEMS).map(|item| shown(item)).collect();
        if items.len() > ITEMS {
            words.push(format!("{} more", items.len() - ITEMS));
        }
        words.join(", ")
    };
    let mut lines = Vec::new();
    for (sign, items, paint) in [("- ", &goes, Paint::Old), ("+ ", &left, Paint::New)] {
        if !items.is_empty() {
            lines.push(Words::after(sign, paint).paint(&named(items), paint));
        }
    }
    let same = old.len() - goes.len();
    lines.push(match lines.is_empty() {
        true => Words::new("the same items in another order"),
        false => Words::default().paint(&format!("{same} unchanged"), Paint::Faint),
    });
    lines
}

/// Addresses of a page, each with how often it is used.
type Addresses = fn(&Page) -> &BTreeMap<String, usize>;

const ADDRESSES: [(&str, Addresses); 4] = [
    ("links", |page| &page.links),
    ("images", |page| &page.images),
    ("loads", |page| &page.loads),
    ("placeholders", |page| &page.placeholders),
];

/// An HTML body: the changes of its text, and tables of the changed links, images and placeholders.
fn page(name: &str, old: &Page, new: &Page, paint: Paint) -> Vec<Row> {
    let line = |text: &str| text.replace('\n', " / ");
    let is_new = *old == Page::default();
    let text = match prose::words(&old.text, &new.text) {
        _ if is_new => Some(Words::default().paint(&crate::text::short(&line(&new.text), LONG), paint)),
        _ if old.text == new.text => None,
        Some(pieces) => Some(edited(
            pieces
                .into_iter()
                .map(|piece| match piece {
                    Piece::Same(text) => Piece::Same(line(&text)),
                    Piece::Goes(text) => Piece::Goes(line(&text)),
                    Piece::Comes(text) => Piece::Comes(line(&text)),
                })
                .collect(),
        )),
        None => {
            let (old, new) = (Value::from(line(&old.text)), Value::from(line(&new.text)));
            let (old, new) = pair(&old, &new);
            Some(Words::default().paint(&format!("[-{old}-]"), Paint::Old).paint(&format!("{{+{new}+}}"), Paint::New))
        }
    };
    let mut rows: Vec<Row> = text.map(|words| Row::new(name, words)).into_iter().collect();
    for (what, of) in ADDRESSES {
        let (was, is) = (of(old), of(new));
        let mut lines: Vec<Words> = Vec::new();
        for pair in replaced(old, new, of) {
            lines.push(match (pair, is_new) {
                ((Some(old), Some(new)), _) => {
                    Words::default().paint(&times(was, old), Paint::Old).and(" → ").paint(&times(is, new), paint)
                }
                ((Some(old), None), _) => side("- ", &times(was, old), Paint::Old),
                ((None, Some(new)), true) => side("", &times(is, new), paint),
                ((None, Some(new)), false) => side("+ ", &times(is, new), paint),
                ((None, None), _) => continue,
            });
        }
        for (at, number) in is {
            if let Some(before) = was.get(at).filter(|before| *before != number) {
                lines.push(Words::new(&format!("{at}  {before} → {number} times")));
            }
        }
        if lines.len() > ITEMS {
            let more = lines.len() - ITEMS;
            lines.truncate(ITEMS);
            lines.push(Words::default().paint(&format!("and {more} more"), Paint::Faint));
        }
        if !lines.is_empty() {
            rows.push(Row { lines, ..Row::new(&format!("{name} {what}"), Words::default()) });
        }
    }
    if rows.is_empty() {
        rows.push(Row::new(
            name,
            Words::new(
                "its markup or style changes; text, links and images are the same: check the page before it is sent",
            ),
        ));
    }
    rows
}

/// The changed addresses of a page: each removed one with its replacement.
pub(super) fn replaced<'t>(old: &'t Page, new: &'t Page, of: Addresses) -> Vec<Pair<'t>> {
    let (was, is) = (of(old), of(new));
    let goes: Vec<&str> = was.keys().filter(|at| !is.contains_key(*at)).map(String::as_str).collect();
    let comes: Vec<&str> = is.keys().filter(|at| !was.contains_key(*at)).map(String::as_str).collect();
    pairs(&goes, &comes, |one, other| old.labels.get(one).is_some_and(|label| new.labels.get(other) == Some(label)))
}

/// An address, and its number of occurrences in a page if there are several.
fn times(all: &BTreeMap<String, usize>, at: &str) -> String {
    match all.get(at) {
        Some(number) if *number > 1 => format!("{at} ({number} times)"),
        _ => at.to_owned(),
    }
}

fn side(sign: &str, text: &str, paint: Paint) -> Words {
    match sign {
        "" => Words::default().paint(text, paint),
        sign => Words::after(sign, paint).paint(text, paint),
    }
}

/// The last applied value, if both sides changed it.
fn last_applied(change: &Change, field: &Field) -> Option<Words> {
    let ledger = change.ledger.as_ref().filter(|_| change.moved == Some(Moved::Both))?;
    let moved = Difference::between(Some(ledger), change.live.as_deref());
    let was = moved.fields.iter().find(|moved| moved.path == field.path)?;
    let value = was.old.map_or("(none)".to_owned(), shown);
    Some(Words::default().paint(&format!("last applied: {value}; the service was edited"), Paint::Asks))
}
