//! Comma-separated values according to RFC 4180, for spreadsheets: lines end in CR LF, and texts are never formulas.

use std::borrow::Cow;

use super::escape::stream;
use crate::text::visible;

/// One cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    Number(u64),
    Text(String),
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// A line with its end.
pub fn line(cells: &[Cell]) -> String {
    let cells: Vec<Cow<str>> = cells.iter().map(cell).collect();
    format!("{}\r\n", cells.join(","))
}

fn cell(cell: &Cell) -> Cow<'_, str> {
    match cell {
        Cell::Number(number) => number.to_string().into(),
        Cell::Text(text) => quoted(text).into(),
    }
}

/// The characters at the beginning of a formula, which a spreadsheet would run.
const FORMULA: [char; 4] = ['=', '+', '-', '@'];

fn quoted(text: &str) -> String {
    let shown = visible(text);
    let shown = stream::unsigned(&shown);
    // A spreadsheet may skip white space before the character, so that is ignored here.
    let is_formula = shown.trim_start().starts_with(FORMULA);
    let text = if is_formula { format!("'{shown}") } else { shown.into_owned() };
    // A CI system could read a line in a log that begins with a colon as a command.
    let needs = text.contains(['"', ',', '\r', '\n']) || text.starts_with([' ', ':']) || text.ends_with(' ');
    if needs { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let cells = ["plain", "a,b", "say \"hi\"", "two\nlines", ""].map(Cell::from);
        assert_eq!(line(&cells), "plain,\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",\r\n");
        assert_eq!(line(&[Cell::from(7), Cell::from("x")]), "7,x\r\n");
    }

    #[test]
    fn a_text_is_no_formula_and_no_command() {
        for text in ["=1+1", "+1", "-1", "@SUM(A1)", "=cmd|' /C calc'!A0"] {
            assert_eq!(line(&[Cell::from(text)]), format!("'{text}\r\n"), "{text}");
        }
        assert_eq!(line(&[Cell::from(" =1")]), "' =1\r\n");
        assert_eq!(line(&[Cell::from("\t=1")]), "\\t=1\r\n");
        assert_eq!(line(&[Cell::from("::error::x")]), "\"::error::x\"\r\n");
        assert_eq!(line(&[Cell::from("a\u{1b}[2Jb")]), "a\\x1B[2Jb\r\n");
    }
}
