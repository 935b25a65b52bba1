//! The declared, the live and the last applied state, side by side.

use std::collections::BTreeSet;

use serde_json::Value;

use super::layout::{Paint, Row, Style, Words, head, paragraph, rows};
use super::plan::value::shown;
use super::plan::words::moment;
use crate::plan::{Change, Reason};
use crate::review::fields::fields;

/// The words for a missing side, in the order of the sides.
const NOT: [&str; 3] = ["not declared", "not on the service", "not in the ledger"];

/// One block for each part: a field on which all sides agree is shown once; otherwise each side is named.
pub fn text(changes: &[&Change], style: Style) -> String {
    let mut out = String::new();
    for change in changes {
        if !out.is_empty() {
            out.push('\n');
        }
        let place = change.place.as_ref().map(|place| format!("{}:{}", place.file, place.line)).unwrap_or_default();
        head(&mut out, &Words::new(&change.address.to_string()), &Words::new("").copy(&place), style);
        let sides = [("declared", &change.desired), ("service", &change.live), ("ledger", &change.ledger)];
        let here: Vec<String> =
            sides.iter().filter(|(_, side)| side.is_some()).map(|(name, _)| (*name).to_owned()).collect();
        let missing: Vec<&str> =
            sides.iter().zip(NOT).filter(|((_, side), _)| side.is_none()).map(|(_, words)| words).collect();
        if let Some(id) = &change.id {
            rows(&mut out, &[Row::new("id", Words::new("").copy(id))], 4, style);
        }
        for reason in &change.reasons {
            if let Reason::InDoubt { since, .. } = reason {
                let words = format!(
                    "since {}: whether it was created is unknown; `pushplan plan` shows what to do",
                    moment(*since)
                );
                rows(&mut out, &[Row::new("unconfirmed", Words::new(&words)).paint(Paint::Asks)], 4, style);
            }
        }
        if !missing.is_empty() && !here.is_empty() {
            paragraph(&mut out, &Words::new(&missing.join(", ")).and("\n"), 4, style);
        }
        let of: Vec<(&str, Vec<(String, &Value)>)> =
            sides.iter().filter_map(|(name, side)| Some((*name, fields(side.as_ref()?, &[])))).collect();
        let paths: BTreeSet<&str> = of.iter().flat_map(|(_, all)| all).map(|(path, _)| path.as_str()).collect();
        let mut lines = Vec::new();
        for path in paths {
            let values: Vec<(&str, Option<&Value>)> = of
                .iter()
                .map(|(name, all)| (*name, all.iter().find(|(other, _)| other == path).map(|(_, value)| *value)))
                .collect();
            let first = values[0].1;
            if values.iter().all(|(_, value)| *value == first) {
                lines.push(Row::new(path, Words::new(&first.map(shown).unwrap_or_default())));
                continue;
            }
            let told = |value: Option<&Value>| value.map_or_else(|| "(none)".to_owned(), shown);
            let mut row: Option<Row> = None;
            for (name, value) in values {
                let words = Words::new("").paint(&format!("{name:<9}"), Paint::Faint).and(&told(value));
                row = Some(match row {
                    None => Row::new(path, words).paint(Paint::Changed),
                    Some(row) => row.line(words),
                });
            }
            lines.extend(row);
        }
        rows(&mut out, &lines, 4, style);
    }
    out
}
