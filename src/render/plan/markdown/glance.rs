//! The plan as a table, for those who ask what people will get: what, which message, who, when.

use super::{Cut, decisions, facts};
use crate::audience::Relation;
use crate::plan::{Action, Change};
use crate::render::escape::markdown;
use crate::render::one_line;
use crate::render::plan::{Block, PlanView, when};
use crate::review::Side;
use crate::text::{count, short};

/// How many characters a cell has.
const CELL: usize = 160;
/// How many of those who get a message are named.
const NAMED: usize = 3;
/// How many bytes a row has at the most.
const LARGEST: usize = 2_000;

/// A row for each resource that messages people, or whose message, audience or time changes; in at most so many bytes.
pub fn glance(view: &PlanView, most: usize) -> Cut {
    const HEAD: &str = "| What | Message | Who | When |\n|---|---|---|---|\n";
    let most = most.saturating_sub(HEAD.len() + 120);
    let (mut out, mut left) = (String::new(), 0);
    for block in view.blocks.iter().chain(&view.drift) {
        // Whether there is a row is seen from its cells alone, which take long to work out for those that nobody sees.
        if left > 0 {
            left += usize::from(is_told(block));
            continue;
        }
        let Some(row) = row(view, block) else { continue };
        if out.len() + row.len() > most {
            left += 1;
        } else {
            out.push_str(&row);
        }
    }
    if out.is_empty() && left == 0 {
        return Cut::default();
    }
    let are = if left == 1 { "is" } else { "are" };
    let more = format!("\n{} {are} not in this table.\n", count(left, "more change"));
    let more = if left > 0 { more } else { String::new() };
    Cut { text: format!("{HEAD}{out}{more}\n"), left }
}

fn is_told(block: &Block) -> bool {
    let is_told = |change: &Change| !matches!(change.action, Action::Adopt | Action::Forget | Action::Keep);
    block.changes().any(|change| !change.sends.is_empty()) || block.whole.is_some_and(is_told)
}

fn row(view: &PlanView, block: &Block) -> Option<String> {
    if !is_told(block) {
        return None;
    }
    let text = |text: String| markdown::text(&short(&text, CELL));
    let message = block.whole.and_then(|change| message(view, change));
    let cells = [message.map(text), who(view, block).map(text), when(view, block)];
    if cells.iter().all(Option::is_none) {
        return None;
    }
    let what = format!("{} {}", block.action.symbol(), short(&block.address.to_string(), CELL));
    // Within a table a bar ends also what is code.
    let code = |what: &str| {
        if what.contains(['|', '\\']) { markdown::code_in_html(what) } else { markdown::code(what) }
    };
    let mut row = format!("| {} |", code(&what));
    for cell in cells {
        let cell = cell.filter(|cell| !cell.is_empty());
        row.push_str(&cell.map_or(" |".to_owned(), |cell| format!(" {cell} |")));
    }
    if row.len() > LARGEST {
        row = format!("| {} | too long to be told here | | |", code(&short(&what, CELL / 4)));
    }
    Some(format!("{row}\n"))
}

/// The first message, as it will be or as it was where it goes.
fn message(view: &PlanView, change: &Change) -> Option<String> {
    let (first, more) = says(view, change)?;
    let more = if more > 0 { format!(" (and {})", count(more, "other")) } else { String::new() };
    Some(format!("{first}{more}"))
}

/// The first message of a change, on one line, and how many others there are.
pub fn says(view: &PlanView, change: &Change) -> Option<(String, usize)> {
    let all = view.review.messages(change, Side::After);
    let all = if all.is_empty() { view.review.messages(change, Side::Before) } else { all };
    let first = all.iter().find(|seen| !seen.text.trim().is_empty())?;
    let more = all.iter().filter(|seen| seen.label != first.label).count();
    Some((short(&one_line(first.text.trim()), CELL - 40), more))
}

fn who(view: &PlanView, block: &Block) -> Option<String> {
    let got: Vec<&str> =
        block.changes().flat_map(|change| &change.sends).map(|send| send.to.as_str()).take(NAMED).collect();
    let all = block.changes().map(|change| change.sends.len()).sum::<usize>();
    if all > 0 {
        let more = if all > NAMED { format!(" and {} more", all - NAMED) } else { String::new() };
        return Some(format!("{}{more}", got.join(", ")));
    }
    let all = view.review.who(block.whole?);
    let first = all.first()?;
    let effect = first.effect.as_ref().filter(|effect| **effect != Relation::Same).map(ToString::to_string);
    let effect = effect.as_deref().and_then(|effect| effect.split(": ").next().map(str::to_owned));
    let effect = effect.map(|effect| format!(" ({effect})")).unwrap_or_default();
    let more = if all.len() > 1 { format!(" (and {})", count(all.len() - 1, "other")) } else { String::new() };
    Some(format!("{}{effect}{more}", short(&first.words, CELL - 40)))
}

fn when(view: &PlanView, block: &Block) -> Option<String> {
    if block.changes().any(|change| !change.sends.is_empty()) {
        return Some(decisions::when(block).trim_start_matches("Sends ").to_owned());
    }
    let row = when::rows(view, block.whole?).into_iter().next()?;
    row.lines.first().map(|words| facts::inline(words, CELL))
}
