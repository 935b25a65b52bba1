//! Plans of several targets for a pull request: a table of the targets, and every change once. The limit in bytes is
//! the same as for a plan of one target.

use super::{PlanResult, PlanView, Several, every_change, heading, named};
use crate::render::escape::markdown::{code, text};
use crate::render::plan::markdown::{LIMIT, blocks, messages};
use crate::text::{count, in_one, short};

/// The number of characters of a line that are shown.
const LINE: usize = 300;
/// The number of targets with a line of their own.
const LINES: usize = 100;
/// The number of sentences that say what the plans were compared with.
const COMPARED: usize = 8;
/// The bytes reserved for the end.
const END: usize = 2_000;

/// A change in full, and on one line in case it does not fit.
struct Block {
    whole: String,
    line: String,
}

/// The plans as Markdown, within the size limit of review hosts. The same plans give the same bytes.
pub fn markdown(several: &Several) -> String {
    let mut out = format!("## Plan for {}\n\n", text(&several.summary()));
    for words in several.compared_with().iter().take(COMPARED) {
        out.push_str(&format!("> [!NOTE]\n> {}\n\n", text(&short(words, 2 * LINE))));
    }
    out.push_str(&table(several));
    for folded in every_change(several, messages::blocks, String::as_str) {
        let on = text(&short(&named(&folded.targets), 4 * LINE));
        let head = format!("On {on}:\n\n{}", values(&folded.values));
        let section = format!("{head}{}{}\n", messages::HEAD, folded.blocks.concat());
        if out.len() + section.len() + END <= LIMIT / 2 {
            out.push_str(&section);
        }
    }
    out.push_str(&refusals(several));
    let shown =
        |view: &PlanView| blocks(view).into_iter().map(|(risk, whole, line)| (risk, Block { whole, line })).collect();
    let mut left = 0;
    for folded in every_change(several, shown, |block| &block.whole) {
        let same = text(&short(&heading(&folded.targets, folded.blocks.len()), 4 * LINE));
        let head = format!("### {same}\n\n{}", values(&folded.values));
        let mut room = LIMIT.saturating_sub(out.len() + END + head.len());
        let mut section = head;
        for block in &folded.blocks {
            let Some(fits) = [&block.whole, &block.line].into_iter().find(|text| text.len() <= room) else {
                left += 1;
                continue;
            };
            room -= fits.len();
            section.push_str(fits);
        }
        if out.len() + section.len() + END <= LIMIT {
            out.push_str(&section);
            out.push('\n');
        } else {
            left += folded.blocks.len();
        }
    }
    let all = code(&short(&format!("{} --format json", several.again.plan()), LINE));
    if left > 0 {
        out.push_str(&format!("{} not shown here for lack of room; {all} has all of it.\n", count(left, "change")));
    }
    out
}

/// The values of variables, as a list.
fn values(values: &[String]) -> String {
    let list: String = values.iter().map(|words| format!("- {}\n", text(words))).collect();
    if list.is_empty() { list } else { list + "\n" }
}

fn table(several: &Several) -> String {
    let mut out = String::from("| target | |\n|---|---|\n");
    let lines = several.all.iter().zip(&several.views).take(LINES);
    for ((target, said), view) in lines {
        let words = match (said, view) {
            (PlanResult::Failed(failure), _) => format!("failed: {}", failure.message),
            (PlanResult::Planned(..), Some(view)) => several.words(view),
            (PlanResult::Planned(..), None) => String::new(),
        };
        out.push_str(&format!("| {} | {} |\n", cell(target), cell(&words)));
    }
    let more = several.all.len().saturating_sub(LINES);
    if more > 0 {
        out.push_str(&format!("| {more} more | |\n"));
    }
    out.push('\n');
    out
}

/// A text as one cell of a table.
fn cell(words: &str) -> String {
    text(&short(&in_one(words), LINE)).replace('|', "\\|")
}

fn refusals(several: &Several) -> String {
    let mut lines = Vec::new();
    for (target, _, ahead) in several.planned() {
        for refused in ahead.refusals() {
            let words = format!("{target}: {} — {}", refused.message, refused.help);
            lines.push(format!("- {}\n", text(&short(&in_one(&words), LINE))));
        }
    }
    if lines.is_empty() {
        return String::new();
    }
    let more = lines.len().saturating_sub(LINES);
    let more = if more > 0 { format!("- {more} more\n") } else { String::new() };
    lines.truncate(LINES);
    format!("Apply will refuse this plan:\n\n{}{more}\n", lines.concat())
}
