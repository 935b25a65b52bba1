//! The message of a change as people will see it, and when that is where they are.

use crate::look::Seen;
use crate::plan::{Action, Change};
use crate::render::layout::{Paint, Row, Words};
use crate::render::plan::{Block, View, rows};
use crate::render::preview;
use crate::review::Side;
use crate::text::{count, quoted, short};
use crate::timing::{Times, words};

/// How many messages of one change are told: variants, outcomes and samples.
const TOLD: usize = 6;
/// How much of a text is told.
const TEXT: usize = 1_000;

/// The messages as they will be, or as they were where they go.
fn messages(view: &View, change: &Change) -> Vec<Seen> {
    let side = if change.action == Action::Delete { Side::Before } else { Side::After };
    let found = view.review.messages(change, side);
    if found.is_empty() { view.review.messages(change, Side::Before) } else { found }
}

/// The first message, on one line.
pub fn in_brief(view: &View, change: &Change) -> Option<String> {
    let all = messages(view, change);
    let first = all.iter().find(|seen| !seen.text.trim().is_empty())?;
    let more = all.iter().filter(|seen| seen.label != first.label).count();
    let more = if more > 0 { format!(" and {}", count(more, "other")) } else { String::new() };
    Some(format!("{}{more}", short(first.text.trim(), 120)))
}

/// All that a change says, with its defaults filled in, and how much of it fits.
pub fn rows(view: &View, change: &Change) -> Vec<Row> {
    if matches!(change.action, Action::Keep | Action::Adopt | Action::Forget | Action::Past) {
        return Vec::new();
    }
    let all = messages(view, change);
    let mut rows = Vec::new();
    for seen in all.iter().take(TOLD) {
        let label = seen.label.as_ref().map(|label| format!("{label}: ")).unwrap_or_default();
        if seen.text.trim().is_empty() && seen.message.is_none() {
            continue;
        }
        let title = seen.title.iter().map(|title| Words::new(&format!("title: {}", short(title, TEXT))));
        let row = Row::new("shown as", Words::new(&format!("{label}{}", short(&seen.text, TEXT))));
        rows.push(title.fold(row, Row::line));
        let fits: Vec<String> = seen.fits.iter().map(|fit| fitting(seen, fit)).collect();
        if !fits.is_empty() {
            rows.push(Row::new("fits", Words::new(&fits.join("; "))));
        }
        rows.extend(preview::facts(seen));
    }
    if all.len() > TOLD {
        rows.push(Row::new("shown as", Words::new(&format!("and {}", count(all.len() - TOLD, "more message")))));
    }
    rows
}

fn fitting(seen: &Seen, fit: &crate::look::Fit) -> String {
    match fit.whole {
        true => format!("{}: {}", fit.screen, seen.how_much(fit)),
        false => format!("{}: {} ({})", fit.screen, quoted(&short(&fit.shown, TEXT)), seen.how_much(fit)),
    }
}

/// When it goes out, by its author's clock, in UTC and where people are.
pub fn times(view: &View, block: &Block) -> Vec<Row> {
    let Some(change) = block.whole else { return Vec::new() };
    let told = |side| {
        let mut all = view.review.times(change, side);
        // Variants that go out together are told once.
        all.dedup_by_key(|times| times.when);
        all
    };
    let (old, new) = (told(Side::Before), told(Side::After));
    let when = |times: &Times| words::when(times, view.plan.made);
    let named = |times: &Times, of: &[Times]| match &times.label {
        Some(label) if of.len() > 1 => format!("{label}: "),
        _ => String::new(),
    };
    let shown = if new.is_empty() { &old } else { &new };
    if shown.is_empty() {
        return rows::when(view, block).into_iter().collect();
    }
    let mut row = Row { lines: Vec::new(), ..Row::new("when", Words::default()) };
    for (at, times) in shown.iter().enumerate().take(TOLD) {
        let before = Words::new(&named(times, shown));
        let was = old.get(at).filter(|old| !new.is_empty() && when(old) != when(times));
        row.lines.push(match was {
            Some(was) => before.paint(&when(was), Paint::Old).and(" -> ").paint(&when(times), Paint::New),
            None => before.and(&when(times)),
        });
    }
    if shown.len() > TOLD {
        row.lines.push(Words::new(&format!("and {}", count(shown.len() - TOLD, "more time"))));
    }
    let mut there = Row { lines: Vec::new(), ..Row::new("over there", Words::default()) };
    for times in shown.iter().take(TOLD) {
        let cities = words::elsewhere(times, words::MOST).join(", ");
        if !cities.is_empty() {
            there.lines.push(Words::new(&format!("{}{cities}", named(times, shown))));
        }
    }
    let there = Some(there).filter(|there| !there.lines.is_empty());
    std::iter::once(row).chain(there).collect()
}
