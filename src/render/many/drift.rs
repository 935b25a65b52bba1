//! Drift of several targets: a line for each, then the changes, with equal ones shown once.

use schemars::JsonSchema;
use serde::Serialize;

use super::json::Error;
use super::text::failed;
use super::{ShownBlock as Folding, fold};
use crate::failure::Failure;
use crate::render::layout::{self, Paint, Row, Style, Words};
use crate::render::plan::Risk;
use crate::render::plan::drift::json::DriftDocument as Drifted;
use crate::render::plan::drift::{self, ShownDrift};
use crate::render::plan::markdown::LIMIT;
use crate::text::count;

/// The number of targets that are listed by name.
const LISTED: usize = 200;

/// The drift of a target, or its failure.
#[derive(Debug)]
pub enum DriftResult<'d> {
    Found(ShownDrift<'d>),
    Failed(&'d Failure),
}

/// A line for each target, then the drift of those that have any.
pub fn text(all: &[(&str, DriftResult)], style: Style) -> String {
    let mut out = String::new();
    let rows: Vec<Row> = all.iter().map(|(target, said)| row(target, said)).collect();
    layout::rows(&mut out, &rows, 2, style);
    out.push('\n');
    for (targets, found) in folded(all, |shown| drift::text(shown, style)) {
        let line = Words::default().paint(&format!("On {}:", targets.join(", ")), Paint::Strong);
        layout::paragraph(&mut out, &line, 0, style);
        out.push('\n');
        out.push_str(&found);
        out.push('\n');
    }
    layout::paragraph(&mut out, &Words::new(&summary(all)), 0, style);
    out
}

/// Returns the drift of all targets as Markdown for a pull request. Counts the targets whose details do not fit.
pub fn markdown(all: &[(&str, DriftResult)]) -> String {
    use crate::render::escape::markdown::text;
    let mut out = format!("## {}\n\n", text(&summary(all)));
    for (target, said) in all.iter().take(LISTED) {
        out.push_str(&format!("- {}: {}\n", text(target), text(&crate::text::short(&words(said), 300))));
    }
    if all.len() > LISTED {
        out.push_str(&format!("- and {} more\n", all.len() - LISTED));
    }
    out.push('\n');
    let mut left = 0;
    for (targets, found) in folded(all, drift::markdown) {
        let part = format!("### On {}\n\n{found}\n", text(&crate::text::short(&targets.join(", "), 600)));
        if out.len() + part.len() + 200 <= LIMIT {
            out.push_str(&part);
        } else {
            left += targets.len();
        }
    }
    if left > 0 {
        out.push_str(&format!("{} not shown here for lack of room.\n", count(left, "target")));
    }
    out
}

/// The drift, once for all targets that have the same.
fn folded<'t>(all: &[(&'t str, DriftResult)], show: impl Fn(&ShownDrift) -> String) -> Vec<(Vec<&'t str>, String)> {
    let found = all.iter().filter_map(|(target, said)| match said {
        DriftResult::Found(shown) if !shown.drift.is_none() => {
            let block = show(shown);
            Some((*target, vec![Folding { risk: Risk::None, same: block.clone(), block }]))
        }
        _ => None,
    });
    fold(found.collect()).into_iter().map(|it| (it.targets, it.blocks.concat())).collect()
}

fn words(said: &DriftResult) -> String {
    match said {
        DriftResult::Failed(failure) => format!("failed: {}", failure.message),
        DriftResult::Found(shown) if shown.drift.is_none() && shown.drift.untold() > 0 => {
            format!("no drift; {} not compared", count(shown.drift.untold(), "resource"))
        }
        DriftResult::Found(shown) if shown.drift.is_none() => "no drift".to_owned(),
        DriftResult::Found(shown) => shown.counts(),
    }
}

fn row(target: &str, said: &DriftResult) -> Row {
    match said {
        DriftResult::Failed(failure) => failed(target, failure),
        DriftResult::Found(shown) => {
            let paint = if shown.drift.is_none() { Paint::Faint } else { Paint::Asks };
            Row::new(target, Words::default().paint(&words(said), paint)).paint(Paint::Strong)
        }
    }
}

fn summary(all: &[(&str, DriftResult)]) -> String {
    let failed = all.iter().filter(|(_, said)| matches!(said, DriftResult::Failed(_))).count();
    let drifted =
        all.iter().filter(|(_, said)| matches!(said, DriftResult::Found(shown) if !shown.drift.is_none())).count();
    let same = all.len() - failed - drifted;
    if drifted + failed == 0 {
        return format!("{}, none with drift.", count(all.len(), "target"));
    }
    let parts = [(drifted, "with drift"), (same, "without drift"), (failed, "failed")];
    let parts: Vec<String> =
        parts.iter().filter(|(number, _)| *number > 0).map(|(number, words)| format!("{number} {words}")).collect();
    format!("{}: {}.", count(all.len(), "target"), parts.join(", "))
}

/// The output of `pushplan drift --format json` for several targets.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DriftsDocument<'d> {
    /// The version of this format. It increases when a field is removed or changes its meaning.
    pub format_version: u32,
    /// Whether something was changed, removed or added on any target.
    pub drifted: bool,
    pub targets: Vec<DriftTarget<'d>>,
}

/// One target: the drift, or the error.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DriftTarget<'d> {
    pub target: String,
    /// The drift. Null if the check failed.
    pub drift: Option<Drifted<'d>>,
    /// Null if it succeeded.
    pub error: Option<Error>,
}

impl<'d> DriftTarget<'d> {
    fn new((target, said): &(&str, DriftResult<'d>)) -> Self {
        let (drift, error) = match said {
            DriftResult::Found(shown) => (Some(Drifted::new(shown)), None),
            DriftResult::Failed(failure) => (None, Some(Error::new(failure))),
        };
        Self { target: (*target).to_owned(), drift, error }
    }
}

/// All targets as one JSON object.
pub fn json(all: &[(&str, DriftResult)]) -> String {
    let drifted = all.iter().any(|(_, said)| matches!(said, DriftResult::Found(shown) if !shown.drift.is_none()));
    let document = DriftsDocument { format_version: 1, drifted, targets: all.iter().map(DriftTarget::new).collect() };
    let mut text = serde_json::to_string_pretty(&document).expect("texts and numbers are valid JSON");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_beyond_the_list_are_counted() {
        let names: Vec<String> = (0..LISTED + 5).map(|number| format!("t{number}")).collect();
        let failure = Failure::new("no answer");
        let all: Vec<_> = names.iter().map(|name| (name.as_str(), DriftResult::Failed(&failure))).collect();
        let list = markdown(&all);
        assert!(list.contains("- t199: ") && !list.contains("- t200: ") && list.contains("- and 5 more\n"), "{list}");
        assert!(!markdown(&all[..LISTED]).contains("more"));
    }
}
