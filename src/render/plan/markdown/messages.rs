//! The changed messages, as a table: change, message, audience, time.

use super::{Cut, facts};
use crate::render::escape::markdown;
use crate::render::plan::loosened::{self, GuardRow};
use crate::render::plan::messages::{self, MessageRow, WhoMark};
use crate::render::plan::{NextSteps, PlanView, Risk, content, reach};
use crate::text::{count, short};

/// The number of characters of a cell.
const CELL: usize = 200;
pub(in crate::render) const HEAD: &str = "### Messages\n\n| Change | Message | Who | When |\n|---|---|---|---|\n";
/// The maximal size of a row in bytes.
const LARGEST: usize = 2_000;

/// The impact of the plan, in a line.
pub fn verdict(view: &PlanView, ahead: Option<&NextSteps>) -> String {
    format!("**{}**", markdown::text(&messages::short_verdict(view, ahead, 3 * CELL)))
}

/// A row for each changed message, the most urgent first, in at most this many bytes.
pub fn table(view: &PlanView, most: usize) -> Cut {
    let most = most.saturating_sub(HEAD.len() + 400);
    let (rows, more) = messages::rows(view);
    let (mut out, mut left) = (String::new(), more);
    for one in &rows {
        let row = row(one);
        if left > more || out.len() + row.len() > most {
            left += 1;
        } else {
            out.push_str(&row);
        }
    }
    let are = if left == 1 { "is" } else { "are" };
    let more = format!("\n{} {are} not in this table.\n", count(left, "more message"));
    let more = if left > 0 { more } else { String::new() };
    let counted = reach::population(view).map(|words| format!("\n{words}\n")).unwrap_or_default();
    let guards = guards(view);
    let others = messages::others(view).map(|words| format!("{}\n\n", markdown::text(&short(&words, 2 * CELL))));
    match (out.is_empty(), left) {
        (true, 0) => Cut { text: format!("{guards}{}", others.unwrap_or_default()), left },
        _ => Cut { text: format!("{HEAD}{out}{more}{counted}\n{guards}{}", others.unwrap_or_default()), left },
    }
}

/// The loosened guards, as a list.
pub fn guards(view: &PlanView) -> String {
    let (rows, left) = loosened::rows(view);
    if rows.is_empty() {
        return String::new();
    }
    let line = |row: &GuardRow| {
        let name = match &row.address {
            Some(_) => markdown::code(&short(&row.name, CELL)),
            None => markdown::text(&short(&row.name, CELL)),
        };
        let place = row.place.as_ref().map(|place| format!(" ({})", markdown::code(&short(place, CELL))));
        let words = [Some(&row.words), row.effect.as_ref()];
        let words: Vec<String> = words.into_iter().flatten().map(|words| markdown::text(&short(words, CELL))).collect();
        format!("- **{}** {name}: {}{}\n", row.label, words.join("; "), place.unwrap_or_default())
    };
    let rows: String = rows.iter().map(line).collect();
    let more = loosened::more(left).map(|words| format!("- {words}\n")).unwrap_or_default();
    format!("### Guards\n\n{rows}{more}\n")
}

/// The rows of the table, each with its risk.
pub(in crate::render) fn blocks(view: &PlanView) -> Vec<(Risk, String)> {
    messages::rows(view).0.iter().map(|one| (one.risk(), row(one))).collect()
}

fn row(row: &MessageRow) -> String {
    // In a table, a bar ends the cell even within code.
    let code =
        |what: &str| if what.contains(['|', '\\']) { markdown::code_in_html(what) } else { markdown::code(what) };
    let text = |text: &str| markdown::text(&short(text, CELL));
    let part = row.part.as_ref().map(|part| format!(" {}", text(part))).unwrap_or_default();
    let name = match &row.address {
        Some(_) => code(&short(&row.name, CELL)),
        None => text(&row.name),
    };
    let what = format!("**{}** {name}{part}", row.class.label());
    let said = (!row.text.is_empty()).then(|| facts::inline(&content::edited(row.text.clone()), CELL));
    let message: Vec<String> = said.into_iter().chain(row.hosts.iter().map(|words| text(words))).collect();
    let sign = |mark: &WhoMark| match mark {
        WhoMark::Joins => "+ ",
        WhoMark::Leaves => "− ",
        WhoMark::Gets => "",
    };
    let mut who: Vec<String> = row.who.iter().map(|(mark, words)| format!("{}{}", sign(mark), text(words))).collect();
    who.extend(row.reach.as_ref().map(|words| text(words)));
    for because in &row.because {
        let address = code(&short(&because.name, CELL));
        let place = because.place().map(|place| format!(" ({})", code(&short(&place, CELL)))).unwrap_or_default();
        who.push(format!("because {}{address} {}{place}", because.part, text(&because.words)));
    }
    if row.is_by_hand {
        who.push(text(messages::BY_HAND));
    }
    let when: Vec<String> = [&row.when, &row.quiet].into_iter().flatten().map(|words| text(words)).collect();
    let cells = [what.clone(), message.join("<br>"), who.join("<br>"), when.join("<br>")];
    let line: String = cells.iter().map(|cell| format!(" {cell} |")).collect();
    match line.len() > LARGEST {
        true => format!("| {} | too long to be shown here | | |\n", short(&what, CELL)),
        false => format!("|{line}\n"),
    }
}
