//! The service's reports: as a table with a plot, as JSON, and as CSV.

pub mod json;
mod sheet;
mod text;

pub use json::json;
pub use sheet::csv;
pub use text::text;

use crate::query::statistics::{Devices, Moment, Periods, Precision, Push, Statistic};

/// A report, and its target.
#[derive(Debug)]
pub struct StatisticsView<'v> {
    pub target: &'v str,
    pub shown: ShownStatistics<'v>,
}

/// The reported data.
#[derive(Debug)]
pub enum ShownStatistics<'v> {
    Periods(ByPeriod<'v>),
    Devices(&'v Devices),
    /// Pushes of a period, the newest first.
    Pushes(Moment, Moment, &'v [Push]),
    Push(&'v Push),
}

/// A report by periods, and its parameters.
#[derive(Debug)]
pub struct ByPeriod<'v> {
    pub report: Statistic,
    pub precision: Precision,
    pub from: Moment,
    pub to: Moment,
    pub periods: &'v Periods,
}

#[cfg(test)]
mod tests;
