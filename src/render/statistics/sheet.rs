//! Reports as CSV: a line of titles, and a line for each row. Sums are left to the spreadsheet.

use super::{ByPeriod, ShownStatistics, StatisticsView};
use crate::query::statistics::Push;
use crate::render::csv::{Cell, line};

/// The report as comma-separated values.
pub fn csv(view: &StatisticsView) -> String {
    match &view.shown {
        ShownStatistics::Periods(shown) => of_periods(shown),
        ShownStatistics::Devices(devices) => {
            let titles = ["platform", "unique_devices", "opted_in", "opted_out", "uninstalled"];
            let rows = devices.platforms.iter().map(|one| {
                let numbers = [one.unique_devices, one.opted_in, one.opted_out, one.uninstalled];
                [Cell::from(one.platform.as_str())].into_iter().chain(numbers.map(Cell::from)).collect()
            });
            sheet(&titles, rows)
        }
        ShownStatistics::Pushes(_, _, pushes) => of_pushes(pushes),
        ShownStatistics::Push(push) => of_pushes(std::slice::from_ref(*push)),
    }
}

fn sheet(titles: &[&str], rows: impl Iterator<Item = Vec<Cell>>) -> String {
    let titles: Vec<Cell> = titles.iter().map(|title| Cell::from(*title)).collect();
    [titles].into_iter().chain(rows).map(|row| line(&row)).collect()
}

fn of_periods(shown: &ByPeriod) -> String {
    let columns = &shown.periods.columns;
    let titles: Vec<&str> = ["date"].into_iter().chain(columns.iter().map(String::as_str)).chain(["total"]).collect();
    let rows = shown.periods.rows.iter().map(|row| {
        let values = columns.iter().map(|column| Cell::from(row.values.get(column).copied().unwrap_or_default()));
        [Cell::from(row.date.as_str())].into_iter().chain(values).chain([Cell::from(row.total)]).collect()
    });
    sheet(&titles, rows)
}

fn of_pushes(pushes: &[Push]) -> String {
    let titles = ["time", "type", "sends", "direct_responses", "push_id", "group_id"];
    let rows = pushes.iter().map(|push| {
        vec![
            Cell::from(push.time.as_deref().unwrap_or_default()),
            Cell::from(push.r#type.as_str()),
            Cell::from(push.sends),
            Cell::from(push.direct_responses),
            Cell::from(push.push_id.as_str()),
            Cell::from(push.group_id.as_deref().unwrap_or_default()),
        ]
    });
    sheet(&titles, rows)
}
