//! Reports as one JSON object.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::{ByPeriod, ShownStatistics, StatisticsView};
use crate::query::statistics::{self, Period, Platform, Push, Statistic};

/// The version of this format. It increases when a field is removed or changes its meaning.
const VERSION: u32 = 1;

/// Statistics of one application. `report` is the type of the report.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum StatisticsDocument {
    Periods(Periods),
    Devices(Devices),
    Pushes(Pushes),
}

/// Numbers by period.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Periods {
    /// The version of this format.
    format_version: u32,
    /// The target.
    target: String,
    /// `sends`, `responses`, `opens`, `timeinapp`, `optins` or `optouts`.
    report: &'static str,
    /// The unit of the numbers: `devices`, `responses`, `opens`, `seconds` or `users`.
    unit: &'static str,
    /// `hourly`, `daily` or `monthly`.
    precision: &'static str,
    /// The first requested day or time, in UTC.
    from: String,
    /// The last requested day or time.
    to: String,
    /// The keys of `values` in the order in which they are shown.
    columns: Vec<String>,
    /// All periods, the oldest first, including those without events.
    rows: Vec<Period>,
    /// The sum of all periods, by column.
    totals: BTreeMap<String, u64>,
    /// The total of all platforms; for responses, the direct ones.
    total: u64,
}

/// Devices by platform.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Devices {
    /// The version of this format.
    format_version: u32,
    /// The target.
    target: String,
    /// `devices`.
    report: &'static str,
    /// The number of devices that have the app.
    total_unique_devices: u64,
    /// The end of the counted time.
    date_closed: Option<String>,
    /// The time of the count.
    date_computed: Option<String>,
    platforms: Vec<Platform>,
}

/// Pushes and their results.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Pushes {
    /// The version of this format.
    format_version: u32,
    /// The target.
    target: String,
    /// `push`.
    report: &'static str,
    /// The first requested day or time, in UTC; missing for a single push.
    from: Option<String>,
    /// The last requested day or time.
    to: Option<String>,
    /// The pushes, the newest first.
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
