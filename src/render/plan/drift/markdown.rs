//! Drift for an issue or a pull request, within the size limit of a comment and cut only between blocks.

use super::{ShownDrift, added};
use crate::render::escape::markdown;
use crate::render::layout::Words;
use crate::render::plan::markdown::{Bounds, LIMIT, facts, messages, named};
use crate::render::plan::{Block, PlanView, text, words};
use crate::text::{count, short};

/// The maximal size in bytes of the head and of the notes about the rest.
const AROUND: usize = 8_000;
/// The maximal size of one change in bytes.
const LARGEST: usize = 9_000;
/// The limits that are tried for a change, from the full form to the shortest one.
const BOUNDS: [Bounds; 3] = [
    Bounds { lines: 120, characters: 1_000 },
    Bounds { lines: 60, characters: 240 },
    Bounds { lines: 24, characters: 80 },
];
/// The number of added resources that are named.
const NAMED: usize = 50;
/// The number of characters of a line.
const LINE: usize = 300;

/// The drift, in at most [`LIMIT`] bytes.
pub fn markdown(shown: &ShownDrift) -> String {
    let target = markdown::text(&short(&shown.plan.target, super::NAME));
    let marker = format!("<!-- pushplan drift target={} -->\n", named(&shown.plan.target));
    let asides: String =
        shown.asides().iter().map(|told| format!("\n{}\n", markdown::text(&short(told, 2 * LINE)))).collect();
    if shown.drift.is_none() {
        return format!("{marker}{}\n{asides}", markdown::text(&short(&shown.nothing(), 2 * LINE)));
    }
    let since = shown.drift.since.map(words::moment).unwrap_or_default();
    let mut out = format!(
        "{marker}## Drift of {target} — {}\n\nChanged on the service {} ({since}), not by pushplan.\n\n",
        shown.counts(),
        shown.since()
    );
    let view = shown.view();
    out.push_str(&format!("{}\n\n{}", messages::verdict(&view, None), messages::table(&view, LIMIT / 4).text));
    let made = made(shown);
    let most = LIMIT.saturating_sub(AROUND + made.len() + asides.len());
    let mut left = Vec::new();
    for block in &view.blocks {
        let told = details(shown, &view, block);
        if left.is_empty() && out.len() + told.len() <= most {
            out.push_str(&told);
        } else {
            left.push(block);
        }
    }
    out.push_str(&on_lines(&left, LIMIT.saturating_sub(out.len() + made.len() + asides.len() + 600)));
    if !left.is_empty() {
        let all = format!("{} --format json", shown.again.other("drift"));
        out.push_str(&format!("{} has all of it.\n\n", markdown::code(&short(&all, 120))));
    }
    format!("{out}{made}{}\n", asides.trim_start())
}

/// A change of a managed resource, folded below its summary line.
fn details(shown: &ShownDrift, view: &PlanView, block: &Block) -> String {
    let name = text::name(block).map(|name| format!(" “{}”", short(name, text::NAME))).unwrap_or_default();
    let line = format!("{}{name} — {}", short(&block.address.to_string(), 160), what(block));
    let head = format!("<details><summary>{} {}</summary>\n\n", block.action.symbol(), markdown::text(&line));
    let (differences, mut others) = facts::apart(shown.rows(view, block));
    others.extend(shown.ways(block));
    for bounds in BOUNDS {
        let (block, list) = (facts::block(&differences, bounds), facts::list(&others, bounds));
        let gap = if block.is_empty() || list.is_empty() { "" } else { "\n" };
        let whole = format!("{head}{block}{gap}{list}\n</details>\n\n");
        if whole.len() <= LARGEST {
            return whole;
        }
    }
    format!("{head}Too long to show here; `--format json` has all of it.\n\n</details>\n\n")
}

fn what(block: &Block) -> &'static str {
    match block.action {
        crate::plan::Action::Delete => "removed",
        _ => "edited",
    }
}

/// The changes that do not fit, a line each, up to the limit.
fn on_lines(left: &[&Block], most: usize) -> String {
    let mut out = String::new();
    for (number, block) in left.iter().enumerate() {
        let line = format!("- {} {}\n", markdown::code(&short(&block.address.to_string(), 80)), what(block));
        if out.len() + line.len() > most {
            out.push_str(&format!("- and {}\n", count(left.len() - number, "more change")));
            break;
        }
        out.push_str(&line);
    }
    if out.is_empty() { out } else { format!("{out}\n") }
}

/// The resources that were added on the service.
fn made(shown: &ShownDrift) -> String {
    let all = &shown.drift.added;
    if all.is_empty() {
        return String::new();
    }
    let mut out = "### Created in the dashboard\n\n".to_owned();
    for one in all.iter().take(NAMED) {
        out.push_str(&format!("- {}\n", markdown::text(&short(&added(one), LINE))));
    }
    if all.len() > NAMED {
        out.push_str(&format!("- and {} more\n", all.len() - NAMED));
    }
    for command in shown.to_take() {
        out.push_str(&facts::item("To add it to git:", &[facts::line(&Words::default().copy(&command), LINE)]));
    }
    format!("{out}\n")
}
