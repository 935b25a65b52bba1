//! Reports as one JSON object.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::{ByPeriod, ShownStatistics, StatisticsView};
use crate::query::statistics::{self, Period, Platform, Push, Statistic};

/// The version of this form. It grows when a field changes its meaning or is removed.
const VERSION: u32 = 1;

/// Statistics of one application. `report` is the type of the report.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum StatisticsDocument {
    Periods(Periods),
    Devices(Devices),
    Pushes(Pushes),
}

/// Numbers of periods.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Periods {
    /// The version of this form.
    format_version: u32,
    /// The target.
    target: String,
    /// `sends`, `responses`, `opens`, `timeinapp`, `optins` or `optouts`.
    report: &'static str,
    /// What the numbers count: `devices`, `responses`, `opens`, `seconds` or `users`.
    unit: &'static str,
    /// `hourly`, `daily` or `monthly`.
    precision: &'static str,
    /// The first day or moment that was asked for, in UTC.
    from: String,
    /// The last one.
    to: String,
    /// The keys of `values` in the order in which they are shown.
    columns: Vec<String>,
    /// Every period, the oldest first, also those in which nothing happened.
    rows: Vec<Period>,
    /// What the rows add up to, by column.
    totals: BTreeMap<String, u64>,
    /// Of all platforms; of responses the direct ones.
    total: u64,
}

/// Devices by their platform.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Devices {
    /// The version of this form.
    format_version: u32,
    /// The target.
    target: String,
    /// `devices`.
    report: &'static str,
    /// All that have the app.
    total_unique_devices: u64,
    /// Up to when they are counted.
    date_closed: Option<String>,
    /// When they were counted.
    date_computed: Option<String>,
    platforms: Vec<Platform>,
}

/// What became of pushes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Pushes {
    /// The version of this form.
    format_version: u32,
    /// The target.
    target: String,
    /// `push`.
    report: &'static str,
    /// The first day or moment that was asked for, in UTC; none where one push was.
    from: Option<String>,
    /// The last one.
    to: Option<String>,
    /// The newest first.
    pushes: Vec<Push>,
}

/// The report as a JSON document.
pub fn json(view: &StatisticsView) -> String {
    let target = view.target.to_owned();
    let pushes = |from, to, pushes: &[Push]| {
        let (format_version, target) = (VERSION, target.clone());
        StatisticsDocument::Pushes(Pushes { format_version, target, report: "push", from, to, pushes: pushes.to_vec() })
    };
    let document = match &view.shown {
        ShownStatistics::Periods(shown) => StatisticsDocument::Periods(of_periods(target, shown)),
        ShownStatistics::Devices(devices) => {
            let statistics::Devices { total_unique_devices, date_closed, date_computed, platforms } =
                (*devices).clone();
            let report = "devices";
            let format_version = VERSION;
            let shown =
                Devices { format_version, target, report, total_unique_devices, date_closed, date_computed, platforms };
            StatisticsDocument::Devices(shown)
        }
        ShownStatistics::Pushes(from, to, all) => pushes(Some(from.to_string()), Some(to.to_string()), all),
        ShownStatistics::Push(push) => pushes(None, None, std::slice::from_ref(*push)),
    };
    let mut text = serde_json::to_string_pretty(&document).expect("a report has text keys only");
    text.push('\n');
    text
}

fn of_periods(target: String, shown: &ByPeriod) -> Periods {
    let statistics::Periods { columns, rows, totals, total } = shown.periods.clone();
    Periods {
        format_version: VERSION,
        target,
        report: shown.report.word(),
        unit: match shown.report {
            Statistic::Sends => "devices",
            Statistic::Responses => "responses",
            Statistic::Opens => "opens",
            Statistic::TimeInApp => "seconds",
            Statistic::OptIns | Statistic::OptOuts => "users",
        },
        precision: shown.precision.word(),
        from: shown.from.to_string(),
        to: shown.to.to_string(),
        columns,
        rows,
        totals,
        total,
    }
}
