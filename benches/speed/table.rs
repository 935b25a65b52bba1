//! The table: what was measured, what it should be, and whether it is.

use super::report::Sample;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    AtMost(f64),
    AtLeast(f64),
    Exactly(f64),
    /// It is said for the record.
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Met,
    /// It misses its target by less than its spread.
    Near,
    Missed,
    Noted,
}

impl Verdict {
    pub fn word(self) -> &'static str {
        match self {
            Self::Met => "ok",
            Self::Near => "within its spread",
            Self::Missed => "MISSED",
            Self::Noted => "noted",
        }
    }
}

/// A line of the table.
#[derive(Clone, Debug)]
pub struct Row {
    pub work: String,
    /// One for each round.
    pub values: Sample,
    pub target: Target,
    /// What the figure is made of.
    pub how: String,
}

impl Row {
    pub fn new(work: impl Into<String>, values: Sample, target: Target, how: impl Into<String>) -> Self {
        Self { work: work.into(), values, target, how: how.into() }
    }

    pub fn verdict(&self) -> Verdict {
        let (median, spread) = (self.values.median(), self.values.spread());
        let lacks = match self.target {
            Target::AtMost(most) => median - most,
            Target::AtLeast(least) => least - median,
            Target::Exactly(number) if (median - number).abs() < 0.5 => 0.0,
            Target::Exactly(_) => f64::INFINITY,
            Target::None => return Verdict::Noted,
        };
        match lacks {
            lacks if lacks <= 0.0 => Verdict::Met,
            lacks if lacks <= spread => Verdict::Near,
            _ => Verdict::Missed,
        }
    }

    pub fn measured(&self) -> String {
        let (median, spread) = (self.values.median(), self.values.spread());
        match self.target {
            Target::Exactly(_) => grouped(median),
            _ if median >= 1_000.0 => format!("{} ± {}", grouped(median), grouped(spread)),
            _ => format!("{median:.2} ± {spread:.2}"),
        }
    }

    pub fn wanted(&self) -> String {
        let number = |number: f64| if number >= 1_000.0 { grouped(number) } else { format!("{number}") };
        match self.target {
            Target::AtMost(most) => format!("≤ {}", number(most)),
            Target::AtLeast(least) => format!("≥ {}", number(least)),
            Target::Exactly(exact) => format!("= {}", number(exact)),
            Target::None => String::new(),
        }
    }
}

/// A whole number with its thousands apart.
pub fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Seconds as people say them.
pub fn seconds(time: f64) -> String {
    match time {
        time if time >= 10.0 => format!("{time:.1} s"),
        time if time >= 1.0 => format!("{time:.2} s"),
        time if time >= 0.01 => format!("{:.0} ms", time * 1e3),
        time => format!("{:.2} ms", time * 1e3),
    }
}

/// All lines, with columns that are as wide as they must be.
pub fn text(rows: &[Row]) -> String {
    let head = ["work", "measured", "target", "", "made of"].map(str::to_owned);
    let cells = rows
        .iter()
        .map(|row| [row.work.clone(), row.measured(), row.wanted(), row.verdict().word().to_owned(), row.how.clone()]);
    let all: Vec<[String; 5]> = std::iter::once(head).chain(cells).collect();
    let width = |column: usize| all.iter().map(|cells| cells[column].chars().count()).max().unwrap_or_default();
    let widths: [usize; 5] = std::array::from_fn(width);
    let mut out = String::new();
    for cells in &all {
        let line: Vec<String> = cells
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell}{:pad$}", "", pad = width - cell.chars().count()))
            .collect();
        out.push_str(line.join("  ").trim_end());
        out.push('\n');
    }
    out
}

pub fn missed(rows: &[Row]) -> Vec<&Row> {
    rows.iter().filter(|row| row.verdict() == Verdict::Missed).collect()
}
