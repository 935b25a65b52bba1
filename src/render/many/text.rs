//! Plans of several targets for a terminal.

use super::{PlanResult, Several, every_change, heading, named, not_promoted};
use crate::render::layout::{self, Paint, Row, Style, Words};
use crate::render::plan::text::{blocks, message_blocks};

/// A line for each target, then every change once under the targets that have it, and the next steps.
pub fn text(several: &Several, style: Style) -> String {
    whole(several, true, style)
}

/// Returns the plans of several targets before an apply, without the next steps.
pub fn before_apply(several: &Several, style: Style) -> String {
    whole(several, false, style)
}

fn whole(several: &Several, ahead: bool, style: Style) -> String {
    let mut out = String::new();
    for words in several.compared_with() {
        layout::paragraph(&mut out, &Words::default().paint(&words, Paint::Asks), 0, style);
        out.push('\n');
    }
    lines(&mut out, several, style);
    messages(&mut out, several, style);
    changes(&mut out, several, style);
    held(&mut out, several, style);
    let mut line = Words::new(&several.summary());
    let (changed, _, failed) = several.numbers();
    let refused = several.planned().any(|(.., ahead)| !ahead.refusals().is_empty());
    if ahead && changed > 0 && failed == 0 && !refused && several.goes_on() {
        line = line.and(" Next: ").copy(&several.go_on());
    }
    layout::paragraph(&mut out, &line, 0, style);
    if ahead {
        refusals(&mut out, several, style);
    }
    out
}

/// A line for each target.
fn lines(out: &mut String, several: &Several, style: Style) {
    let row = |(target, said): &(&str, PlanResult), view: Option<&_>| match (said, view) {
        (PlanResult::Failed(failure), _) => failed(target, failure),
        (PlanResult::Planned(plan, _), Some(view)) => {
            let paint = if plan.is_empty() { Paint::Faint } else { Paint::Plain };
            Row::new(target, Words::default().paint(&several.words(view), paint)).paint(Paint::Strong)
        }
        (PlanResult::Planned(..), None) => Row::new(target, Words::default()),
    };
    let rows: Vec<Row> = several.all.iter().zip(&several.views).map(|(one, view)| row(one, view.as_ref())).collect();
    layout::rows(out, &rows, 2, style);
    out.push('\n');
}

/// The line of a failed target, with help.
pub(super) fn failed(target: &str, failure: &crate::failure::Failure) -> Row {
    let mut lines = failure.message.lines().map(str::trim);
    let first = Words::after("failed: ", Paint::Danger).and(lines.next().unwrap_or_default());
    let row = lines.map(Words::new).fold(Row::new(target, first).paint(Paint::Strong), Row::line);
    let mut help = failure.help.iter().flat_map(|help| help.lines()).map(str::trim);
    match help.next() {
        Some(first) => {
            help.map(Words::new).fold(row.line(Words::after("= help: ", Paint::Strong).and(first)), Row::line)
        }
        None => row,
    }
}

/// Every message that changes, once, under the targets that have it.
fn messages(out: &mut String, several: &Several, style: Style) {
    for folded in every_change(several, |view| message_blocks(view, style), String::as_str) {
        let words = format!("Messages on {}", named(&folded.targets));
        layout::paragraph(out, &Words::default().paint(&words, Paint::Strong), 0, style);
        values(out, &folded.values, style);
        folded.blocks.iter().for_each(|block| out.push_str(block));
        out.push('\n');
    }
}

/// The values of variables, a line each.
fn values(out: &mut String, values: &[String], style: Style) {
    values.iter().for_each(|words| layout::paragraph(out, &Words::new(words), 2, style));
}

fn changes(out: &mut String, several: &Several, style: Style) {
    for folded in every_change(several, |view| blocks(view, style), String::as_str) {
        let words = Words::default().paint(&heading(&folded.targets, folded.blocks.len()), Paint::Strong);
        layout::paragraph(out, &words, 0, style);
        values(out, &folded.values, style);
        out.push('\n');
        folded.blocks.iter().for_each(|block| out.push_str(block));
    }
}

/// The resources that are not promoted, with their targets.
fn held(out: &mut String, several: &Several, style: Style) {
    for (targets, lines) in not_promoted(several) {
        let words = format!("Not promoted to {}:", named(&targets));
        layout::paragraph(out, &Words::default().paint(&words, Paint::Asks), 0, style);
        lines.iter().for_each(|line| layout::paragraph(out, &Words::new(line), 2, style));
        out.push('\n');
    }
}

/// The reasons why an apply would refuse the plans, each with its target.
fn refusals(out: &mut String, several: &Several, style: Style) {
    for (target, _, ahead) in several.planned() {
        for refused in ahead.refusals() {
            let sign = format!("refused on {target}: ");
            layout::paragraph(out, &Words::after(&sign, Paint::Danger).and(&refused.message), 0, style);
            layout::paragraph(out, &Words::after("= help: ", Paint::Strong).and(&refused.help), 2, style);
        }
    }
}
