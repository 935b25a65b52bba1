//! The full versions of texts that are cut above, so a reviewer can read every text to its end.

use serde_json::Value;

use super::Cut;
use crate::kinds;
use crate::look::page::is_page;
use crate::look::wrap;
use crate::plan::{Action, Change};
use crate::render::escape::markdown;
use crate::render::one_line;
use crate::render::plan::content::{FIELDS, is_told};
use crate::render::plan::rows::PARTS;
use crate::render::plan::text::NAME;
use crate::render::plan::{Block, PlanView};
use crate::review::fields::{Difference, Field};
use crate::review::{after, before};
use crate::text::{count, short};

/// The number of characters of a value that are always shown in the details.
const SHOWN: usize = 200;
/// The number of items of a list that are always shown in the details.
const ITEMS: usize = 12;
/// The number of characters of a value that are shown in the sentence for an audience.
const IN_WORDS: usize = 40;
/// The number of conditions of the old and the new audience that are always shown, and the length of their sentence.
const CONDITIONS: usize = 24;
const SENTENCE: usize = 800;
/// The width of the lines in a block, because code hosts do not wrap them.
const COLUMNS: usize = 100;
/// The number of characters of an address or a path that are shown.
const PLACE: usize = 160;

/// Every new value that the details show only partly, in at most this many bytes, and whether one did not fit. Values
/// after that one are skipped.
pub fn whole(view: &PlanView, most: usize) -> Cut {
    const HEAD: &str = "### In full\n\nTexts that are shown above in part:\n\n";
    let (mut text, mut left) = (String::new(), 0);
    for told in view.blocks.iter().chain(&view.drift).flat_map(of_block) {
        let room = most.saturating_sub(HEAD.len() + text.len());
        if told.len() > room {
            left = 1;
            break;
        }
        text.push_str(&told);
    }
    let head = if text.is_empty() { "" } else { HEAD };
    Cut { text: format!("{head}{text}"), left }
}

/// The full versions of the texts that the details of a block show only partly.
pub fn of_block(block: &Block) -> Vec<String> {
    let made = changes(block).into_iter().flat_map(|(change, is_left_out)| told(change, is_left_out));
    made.chain(gone(block)).collect()
}

/// The changes of a block that create or change something, and whether the details of the block omit each of them.
fn changes<'p>(block: &Block<'p>) -> Vec<(&'p Change, bool)> {
    let whole = block.whole.into_iter().map(|change| (change, false));
    let parts = block.parts.iter().enumerate().map(|(number, change)| (*change, number >= PARTS));
    let makes =
        |change: &Change| matches!(change.action, Action::Create | Action::Update | Action::Replace | Action::ByHand);
    whole.chain(parts).filter(|(change, _)| makes(change)).collect()
}

/// The deleted parts that the details of their block do not name.
fn gone(block: &Block) -> Option<String> {
    let unnamed = block.parts.iter().skip(PARTS).filter(|change| change.action == Action::Delete);
    let lines: Vec<String> = unnamed.map(|change| format!("- {}\n", one_line(&change.address.to_string()))).collect();
    let head = format!("{} — {} deleted", short(&block.address.to_string(), PLACE), count(lines.len(), "more part"));
    (!lines.is_empty()).then(|| details(&head, &lines.concat()))
}

/// The new values of a change that its details show only partly: each long text separately, and all short values
/// together.
fn told(change: &Change, is_left_out: bool) -> Vec<String> {
    let fields = Difference::between(before(change), after(change)).fields;
    let all = is_left_out || before(change).is_none() && fields.len() > FIELDS;
    let audiences = audiences(change);
    let within = |path: &str| {
        let below =
            |at: &str| path.strip_prefix(at).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
        audiences.iter().any(|(at, _)| below(at))
    };
    let made = fields.iter().filter_map(|Field { path, new, .. }| Some((path.clone(), (*new)?)));
    let (mut long, brief): (Vec<_>, Vec<_>) =
        made.filter(|(path, _)| !within(path)).partition(|(path, value)| is_cut(change, path, value));
    long.splice(0..0, audiences);
    let mut out = Vec::new();
    if all && !brief.is_empty() {
        let lines: String = brief.iter().map(|(path, value)| of_line(&format!("{path}: {}", written(value)))).collect();
        out.push(folded(change, &count(brief.len(), "field"), &lines));
    }
    for (path, value) in long {
        let text = written(value);
        let size = format!("{}, {}", count(text.lines().count(), "line"), count(text.chars().count(), "character"));
        let head = format!("{} — {size}", short(&path, PLACE));
        out.push(folded(change, &head, &text.lines().map(of_line).collect::<String>()));
    }
    out
}

/// The new audiences of a change that are long or contain a long value. Both their sentence and their differences may
/// be cut.
fn audiences(change: &Change) -> Vec<(String, &Value)> {
    let pointers = kinds::api(&change.address).audiences();
    let made = pointers.iter().filter_map(|at| Some((*at, after(change)?.pointer(at)?)));
    let cut = made.filter(|(at, new)| {
        let old = before(change).and_then(|spec| spec.pointer(at));
        let are_many = conditions(new) + old.map_or(0, conditions) > CONDITIONS;
        old != Some(*new) && (are_many || new.to_string().len() > SENTENCE || names_long(new))
    });
    cut.map(|(at, new)| (at.trim_start_matches('/').replace('/', "."), new)).collect()
}

/// The number of maps in a value: each is a condition.
fn conditions(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(conditions).sum(),
        Value::Object(map) => 1 + map.values().map(conditions).sum::<usize>(),
        _ => 0,
    }
}

fn names_long(value: &Value) -> bool {
    match value {
        Value::String(text) => text.chars().nth(IN_WORDS).is_some(),
        Value::Array(items) => items.iter().any(names_long),
        Value::Object(map) => map.iter().any(|(key, value)| key.chars().nth(IN_WORDS).is_some() || names_long(value)),
        _ => false,
    }
}

/// Whether the details may cut a value, or omit its line breaks and its markup.
fn is_cut(change: &Change, path: &str, value: &Value) -> bool {
    let is_name = ["name", "display_name"].contains(&path);
    match value {
        Value::String(text) => {
            let most = match is_name {
                true => NAME,
                false if is_told(change, path) => IN_WORDS,
                false => SHOWN,
            };
            text.chars().nth(most).is_some() || text.contains('\n') || is_page(text)
        }
        Value::Array(items) if items.len() > ITEMS => true,
        value => value.to_string().len() > SHOWN,
    }
}

/// A text unchanged, any other value as JSON.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) if value.to_string().len() > SHOWN => {
            serde_json::to_string_pretty(value).unwrap_or_default()
        }
        value => value.to_string(),
    }
}

fn folded(change: &Change, what: &str, lines: &str) -> String {
    details(&format!("{} {what}", short(&change.address.to_string(), PLACE)), lines)
}

/// Lines of a diff, collapsed.
fn details(head: &str, lines: &str) -> String {
    let (head, block) = (markdown::text(head), markdown::block("diff", lines));
    format!("<details><summary>{head}</summary>\n\n{block}\n</details>\n\n")
}

/// Formats a line as an added line of a diff. A line that is too wide continues with a deeper indent.
fn of_line(line: &str) -> String {
    let blanks = line.len() - line.trim_start_matches(' ').len();
    let (indent, line) = (blanks.min(COLUMNS / 2), &line[blanks..]);
    let broken = wrap(line, COLUMNS - indent).into_iter().enumerate().map(|(number, line)| {
        let indent = " ".repeat(if number > 0 { indent + 4 } else { indent });
        format!("{}\n", format!("+ {indent}{line}").trim_end())
    });
    broken.collect()
}
