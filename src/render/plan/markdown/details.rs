//! One change, folded below its summary line.

use std::collections::BTreeMap;

use super::{Bounds, decisions, facts};
use crate::plan::{Action, Change, Moved};
use crate::render::escape::markdown;
use crate::render::layout::{Row, Words};
use crate::render::one_line;
use crate::render::plan::text::{NAME, name, place};
use crate::render::plan::{Block, PlanView, Risk, content, rows, when, who, words};
use crate::review::Side;
use crate::text::short;

/// The number of characters that the summary line has for the effect.
const GIST: usize = 120;
/// The number of characters of an address that are shown.
const ADDRESS: usize = 160;
/// The maximal size of a change in bytes.
const LARGEST: usize = 9_000;
/// The limits that are tried for a change, from the full form to the shortest one.
const BOUNDS: [Bounds; 3] = [
    Bounds { lines: 120, characters: 1_000 },
    Bounds { lines: 60, characters: 240 },
    Bounds { lines: 24, characters: 80 },
];

/// A change with all its details, and whether some of them are cut because they are too long.
pub fn details(view: &PlanView, block: &Block, drifted: bool) -> (String, bool) {
    let mut said = rows::of_words(view, block);
    if drifted && block.changes().all(|change| change.moved == Some(Moved::Service)) {
        // The heading already says it.
        said.retain(|row| row.label != words::DRIFT);
    }
    let content = if drifted { rows::of_drift(view, block) } else { rows::of_content(view, block) };
    let (differences, mut rest) = facts::apart(content);
    rest.extend(said);
    let head = head(view, block, drifted);
    let place = place(view, block);
    let place = if place.is_empty() { place } else { format!("{}\n\n", markdown::text(&short(&place, 2 * ADDRESS))) };
    for bounds in BOUNDS {
        let (block, list) = (facts::block(&differences, bounds), facts::list(&rest, bounds));
        let gap = if block.is_empty() || list.is_empty() { "" } else { "\n" };
        let whole = format!("{head}{place}{block}{gap}{list}\n</details>\n\n");
        if whole.len() <= LARGEST {
            let is_cut = bounds.lines != BOUNDS[0].lines || facts::lines(&differences, &rest) > bounds.lines;
            return (whole, is_cut);
        }
    }
    (format!("{head}Too long to show here; `--format json` has all of it.\n\n</details>\n\n"), true)
}

/// The summary line: the action, the resource, and the effect.
fn head(view: &PlanView, block: &Block, drifted: bool) -> String {
    let name = name(block).map(|name| format!(" “{}”", short(name, NAME))).unwrap_or_default();
    let gist = gist(view, block, drifted);
    let gist = if gist.is_empty() { gist } else { format!(" — {}", short(&gist, GIST)) };
    let line = format!("{}{name}{gist}", short(&block.address.to_string(), ADDRESS));
    format!("<details><summary>{} {}</summary>\n\n", sign(block.action), markdown::text(&line))
}

/// The sign of an action, escaped for HTML.
fn sign(action: Action) -> String {
    action.symbol().replace('<', "&lt;")
}

/// The effect of a change, in a few words.
fn gist(view: &PlanView, block: &Block, drifted: bool) -> String {
    let Some(change) = block.whole else { return of_parts(block) };
    if drifted {
        return if change.moved == Some(Moved::Removed) { "removed" } else { "edited" }.to_owned() + " on the service";
    }
    let effect = || who::rows(view, change).into_iter().find(|row| row.label == who::EFFECT).map(|row| plain(&row));
    let first = |rows: Vec<Row>| rows.into_iter().find(|row| !row.label.is_empty());
    let labelled = |row: Row| format!("{}: {}", row.label, new_value(&row));
    let by_action = || match change.action {
        Action::Create if block.risk == Risk::NoWayBack => {
            Some(format!("new {}, which cannot be undone", words::noun(change)))
        }
        Action::Create => Some(format!("new {}", words::noun(change))),
        Action::Delete => Some("deleted".to_owned()),
        Action::Adopt => Some("adopted as it is".to_owned()),
        Action::Forget => Some("removed from the ledger".to_owned()),
        _ => None,
    };
    match block.risk {
        Risk::Sends => of_parts(block),
        Risk::Stuck => "waits for a decision".to_owned(),
        Risk::ByHand => "manual step".to_owned(),
        Risk::Text => match says(view, change) {
            Some(says) => format!("new text “{says}”"),
            None => first(content::rows(change)).map(labelled).unwrap_or_default(),
        },
        Risk::Time => first(when::rows(view, change)).map(|row| plain(&row)).unwrap_or_default(),
        _ => by_action().or_else(effect).or_else(|| first(content::rows(change)).map(labelled)).unwrap_or_default(),
    }
}

fn plain(row: &Row) -> String {
    row.lines.first().map(Words::plain).unwrap_or_default()
}

/// The new value of a field.
fn new_value(row: &Row) -> String {
    let lines: Vec<String> = row.lines.iter().map(Words::plain).collect();
    let new = lines.iter().find_map(|line| line.strip_prefix("+ "));
    short(new.unwrap_or(lines.first().map_or("", String::as_str)), GIST)
}

/// The effect of a change on its parts.
fn of_parts(block: &Block) -> String {
    let sends: usize = block.changes().map(|change| change.sends.len()).sum();
    if sends > 0 {
        let messages = if sends == 1 { "1 message".to_owned() } else { format!("{sends} messages") };
        return format!("{}, {messages}", decisions::when(block).to_lowercase());
    }
    match block.parts.len() {
        _ if block.action == Action::Delete => "deleted".to_owned(),
        0 => String::new(),
        number => format!("{number} changed, {} unchanged", block.total.saturating_sub(number)),
    }
}

/// A change on one line, if there is no room for more.
pub fn line(block: &Block) -> String {
    let gist = match block.risk {
        Risk::Sends => of_parts(block),
        Risk::Stuck => "waits for a decision".to_owned(),
        _ => match block.action {
            Action::ByHand => "manual step".to_owned(),
            Action::Keep => "kept".to_owned(),
            action => action.word().to_owned(),
        },
    };
    format!("- {} {gist}\n", markdown::code(&short(&block.address.to_string(), ADDRESS / 2)))
}

/// The counts of the changes that do not fit, the most frequent first: `delete 9000 segments`.
pub fn counted(blocks: &[&Block]) -> String {
    const KINDS: usize = 12;
    let mut numbers: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for block in blocks {
        let does = if block.risk == Risk::Sends { "send" } else { block.action.word() };
        let kind = block.address.kind.replace('_', " ");
        *numbers.entry((does, kind)).or_default() += 1;
    }
    let mut numbers: Vec<_> = numbers.into_iter().collect();
    numbers.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    let mut told: Vec<String> =
        numbers.iter().take(KINDS).map(|((does, kind), number)| format!("{number} {kind} ({does})")).collect();
    let rest: usize = numbers.iter().skip(KINDS).map(|(_, number)| number).sum();
    if rest > 0 {
        told.push(format!("{rest} others"));
    }
    told.join(", ")
}

/// The first text of a change that is new, on one line.
fn says(view: &PlanView, change: &Change) -> Option<String> {
    let texts = |side: Side| -> Vec<String> {
        view.review.messages(change, side).iter().map(|seen| seen.text.trim().to_owned()).collect()
    };
    let old = texts(Side::Before);
    let new = texts(Side::After).into_iter().find(|text| !text.is_empty() && !old.contains(text))?;
    Some(short(&one_line(&new), GIST))
}
