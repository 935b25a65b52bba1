//! Tables for a terminal: columns with titles, and a bar at the right if there is room. If the columns do not fit, each
//! row becomes a block with a line for each cell.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use super::escape::stream;
use super::layout::{self, Paint, Style, Words, painted};
use super::plot::bar;
use crate::text::one_line;

/// The width between two columns.
const GAP: usize = 2;

/// The smallest and the largest width of a bar.
const BAR: std::ops::RangeInclusive<usize> = 8..=40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// Rows of texts. Every row has a cell for each column; the first cell is its name.
#[derive(Clone, Debug, Default)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
    /// The totals.
    foot: Option<Vec<String>>,
    /// The plotted number of each row; empty for a table without a plot.
    bars: Vec<u64>,
}

impl Table {
    pub fn new(columns: &[(&str, Align)]) -> Self {
        let columns = columns.iter().map(|(title, align)| (one_line(title), *align)).collect();
        Self { columns, ..Self::default() }
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| one_line(&cell)).collect());
    }

    /// Adds a row with a number to plot.
    pub(crate) fn plotted(&mut self, cells: impl IntoIterator<Item = String>, value: u64) {
        self.row(cells);
        self.bars.push(value);
    }

    pub(crate) fn foot(&mut self, cells: impl IntoIterator<Item = String>) {
        self.foot = Some(cells.into_iter().map(|cell| one_line(&cell)).collect());
    }

    /// The table as lines, at most as wide as the terminal.
    pub fn text(&self, style: Style) -> String {
        let shown = self.in_style(style);
        let widths = shown.widths();
        let whole = widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
        if whole <= style.width { shown.wide(&widths, whole, style) } else { shown.stacked(style) }
    }

    /// The table as the terminal can show it.
    fn in_style(&self, style: Style) -> Self {
        let mut table = self.clone();
        if style.ascii {
            let rows = table.rows.iter_mut().chain(table.foot.as_mut()).flatten();
            let titles = table.columns.iter_mut().map(|(title, _)| title);
            rows.chain(titles).for_each(|cell| *cell = stream::ascii(cell));
        }
        table
    }

    fn all(&self) -> impl Iterator<Item = &Vec<String>> {
        self.rows.iter().chain(&self.foot)
    }

    fn widths(&self) -> Vec<usize> {
        let title = |at: usize| self.columns[at].0.width();
        let cells = |at: usize| self.all().filter_map(move |row| row.get(at)).map(|cell| cell.width());
        (0..self.columns.len()).map(|at| cells(at).max().unwrap_or_default().max(title(at))).collect()
    }

    fn wide(&self, widths: &[usize], whole: usize, style: Style) -> String {
        let room = style.width.saturating_sub(whole + GAP).min(*BAR.end());
        let most = self.bars.iter().copied().max().unwrap_or_default();
        let mut out = String::new();
        let titles: Vec<&str> = self.columns.iter().map(|(title, _)| title.as_str()).collect();
        let line = |cells: &[&str], paint: Paint, bar: &str| {
            let mut line = String::new();
            for (at, (cell, (_, align))) in cells.iter().zip(&self.columns).enumerate() {
                let gap = " ".repeat(if at == 0 { 0 } else { GAP });
                let pad = " ".repeat(widths[at].saturating_sub(cell.width()));
                let cell = painted(cell, paint, style);
                let _ = match align {
                    Align::Left => write!(line, "{gap}{cell}{pad}"),
                    Align::Right => write!(line, "{gap}{pad}{cell}"),
                };
            }
            if !bar.is_empty() {
                let _ = write!(line, "{}{bar}", " ".repeat(GAP));
            }
            format!("{}\n", line.trim_end())
        };
        out.push_str(&line(&titles, Paint::Faint, ""));
        for (at, row) in self.rows.iter().enumerate() {
            let bar = match self.bars.get(at).filter(|_| room >= *BAR.start()) {
                Some(value) => bar(*value, most, room, style.ascii),
                None => String::new(),
            };
            out.push_str(&line(&texts(row), Paint::Plain, &bar));
        }
        if let Some(foot) = &self.foot {
            out.push_str(&line(&texts(foot), Paint::Strong, ""));
        }
        out
    }

    fn stacked(&self, style: Style) -> String {
        const INDENT: usize = 2;
        let most = self.bars.iter().copied().max().unwrap_or_default();
        let titles = self.columns.iter().skip(1).map(|(title, _)| title.width()).max().unwrap_or_default();
        let numbers = self.columns.iter().enumerate().skip(1).filter(|(_, (_, align))| *align == Align::Right);
        let numbers = numbers.flat_map(|(at, _)| self.all().filter_map(move |row| row.get(at)));
        let numbers = numbers.map(|cell| cell.width()).max().unwrap_or_default();
        let mut out = String::new();
        for (at, row) in self.all().enumerate() {
            if at > 0 {
                out.push('\n');
            }
            let name = row.first().map(String::as_str).unwrap_or_default();
            layout::paragraph(&mut out, &Words::default().paint(name, Paint::Strong), 0, style);
            // Empty cells are omitted.
            for ((title, align), cell) in self.columns.iter().zip(row).skip(1).filter(|(_, cell)| !cell.is_empty()) {
                let pad = match align {
                    Align::Right => numbers.saturating_sub(cell.width()),
                    Align::Left => 0,
                };
                let gap = titles.saturating_sub(title.width()) + GAP + pad;
                let label = painted(title, Paint::Faint, style);
                if INDENT + title.width() + gap + cell.width() <= style.width {
                    let line = format!("{}{label}{}{cell}", " ".repeat(INDENT), " ".repeat(gap));
                    let _ = writeln!(out, "{}", line.trim_end());
                } else {
                    layout::paragraph(&mut out, &Words::default().paint(title, Paint::Faint), INDENT, style);
                    layout::paragraph(&mut out, &Words::new(cell), INDENT * 2, style);
                }
            }
            let bar = self.bars.get(at).map(|value| bar(*value, most, style.width.saturating_sub(INDENT), style.ascii));
            if let Some(bar) = bar.filter(|bar| !bar.is_empty()) {
                let _ = writeln!(out, "{}{bar}", " ".repeat(INDENT));
            }
        }
        out
    }
}

fn texts(row: &[String]) -> Vec<&str> {
    row.iter().map(String::as_str).collect()
}

/// A number with separators: `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STYLE: Style = Style { width: 40, ..Style::PLAIN };

    fn sends() -> Table {
        let mut table = Table::new(&[("date", Align::Left), ("ios", Align::Right), ("total", Align::Right)]);
        table.plotted(vec!["2026-11-01".into(), "5".into(), "1,000".into()], 1000);
        table.plotted(vec!["2026-11-02".into(), "0".into(), "0".into()], 0);
        table.plotted(vec!["2026-11-03".into(), "12".into(), "500".into()], 500);
        table.foot(vec!["total".into(), "17".into(), "1,500".into()]);
        table
    }

    #[test]
    fn numbers_stand_beneath_each_other_with_bars_beside() {
        let expected = "\
date        ios  total
2026-11-01    5  1,000  ████████████████
2026-11-02    0      0
2026-11-03   12    500  ████████
total        17  1,500
";
        assert_eq!(sends().text(STYLE), expected);
        assert_eq!(sends().text(Style { ascii: true, ..STYLE }), expected.replace('█', "="));
    }

    #[test]
    fn bars_go_first_where_there_is_little_room() {
        assert!(!sends().text(Style { width: 30, ..STYLE }).contains('█'));
        assert!(sends().text(Style { width: 32, ..STYLE }).contains('█'));
    }

    #[test]
    fn rows_stand_by_themselves_where_columns_do_not_fit() {
        let text = sends().text(Style { width: 20, ..STYLE });
        let first = "\
2026-11-01
  ios        5
  total  1,000
  ██████████████████

2026-11-02
";
        assert!(text.starts_with(first), "{text}");
        assert!(text.ends_with("\ntotal\n  ios       17\n  total  1,500\n"), "{text}");
    }

    #[test]
    fn a_table_of_nothing_has_titles() {
        assert_eq!(Table::new(&[("a", Align::Left), ("b", Align::Right)]).text(STYLE), "a  b\n");
    }

    #[test]
    fn a_cell_cannot_break_out() {
        let mut table = Table::new(&[("name", Align::Left), ("id", Align::Left)]);
        table.row(vec!["a\n\u{1b}[2Jb".into(), "c\td".into()]);
        let text = table.text(STYLE);
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(!text.contains('\u{1b}') && text.contains("\\x1B"), "{text}");
    }

    #[test]
    fn numbers_have_groups_of_three() {
        let all = [0, 7, 999, 1_000, 12_345, 1_234_567].map(grouped);
        assert_eq!(all, ["0", "7", "999", "1,000", "12,345", "1,234,567"]);
        assert_eq!(grouped(u64::MAX), "18,446,744,073,709,551,615");
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_terminal(
            cells in prop::collection::vec(prop::collection::vec("[a-z日😀é\u{1b}\n ]{0,60}", 3), 0..4),
            width in 20..120usize,
            ascii: bool,
            color: bool,
        ) {
            let mut table = Table::new(&[("name", Align::Left), ("what it is", Align::Left), ("number", Align::Right)]);
            for (value, row) in cells.into_iter().enumerate() {
                table.plotted(row, value as u64);
            }
            let text = table.text(Style { width, color, ascii });
            for line in anstream::adapter::strip_str(&text).to_string().lines() {
                prop_assert!(line.width() <= width, "{line:?}");
            }
        }
    }
}
