//! Drift for a terminal.

use super::{ShownDrift, added};
use crate::render::layout::{self, Paint, Style, Words};
use crate::render::plan::text::{NAME, at_stake, name};
use crate::render::plan::{rows, words};
use crate::text::{quoted, short};

/// The number of added resources that are named.
const NAMED: usize = 50;

/// The drift, further notes, and the next steps.
pub fn text(shown: &ShownDrift, style: Style) -> String {
    let mut out = String::new();
    if shown.drift.is_none() {
        layout::paragraph(&mut out, &Words::new(&shown.nothing()), 0, style);
    } else {
        done(&mut out, shown, style);
    }
    for told in shown.asides() {
        layout::paragraph(&mut out, &Words::new(&told), 0, style);
    }
    out
}

fn done(out: &mut String, shown: &ShownDrift, style: Style) {
    let view = shown.view();
    let since = shown.drift.since.map(|at| format!(" ({})", words::moment(at))).unwrap_or_default();
    let target = short(&shown.plan.target, super::NAME);
    let heading = Words::default().paint("≠", Paint::Asks);
    layout::paragraph(
        out,
        &heading.and(&format!(" Changed on {target} {}{since}, not by pushplan:", shown.since())),
        0,
        style,
    );
    out.push('\n');
    at_stake(out, &view, None, style);
    for block in &view.blocks {
        let mut left = Words::default()
            .paint(block.action.symbol(), rows::paint_of(block.action))
            .and(" ")
            .paint(&block.address.to_string(), Paint::Strong);
        if let Some(name) = name(block) {
            left = left.and("  ").and(&quoted(&short(name, NAME)));
        }
        let place = view.place_of(block).map(|place| format!("{}:{}", place.file, place.line)).unwrap_or_default();
        layout::head(out, &left, &Words::default().paint(&place, Paint::Faint), style);
        for rows in [shown.rows(&view, block), shown.ways(block)] {
            layout::rows(out, &rows, 4, style);
        }
        out.push('\n');
    }
    for one in shown.drift.added.iter().take(NAMED) {
        let line = Words::after("+ ", Paint::New).and(&added(one));
        layout::paragraph(out, &line, 0, style);
    }
    let more = shown.drift.added.len().saturating_sub(NAMED);
    if more > 0 {
        layout::paragraph(out, &Words::new(&format!("  and {more} more created in the dashboard")), 0, style);
    }
    for command in shown.to_take() {
        layout::paragraph(out, &Words::new("to add it to git: ").copy(&command), 4, style);
    }
    if !shown.drift.added.is_empty() {
        out.push('\n');
    }
    layout::paragraph(out, &Words::new(&format!("Drift: {}.", shown.counts())), 0, style);
}
