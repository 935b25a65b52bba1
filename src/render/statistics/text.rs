//! Reports for a terminal.

use super::{ByPeriod, ShownStatistics, StatisticsView};
use crate::query::statistics::{Devices, Moment, Precision, Push, Statistic};
use crate::render::layout::{self, Paint, Row, Style, Words};
use crate::render::table::{Align, Table, grouped};
use crate::text::moment;
use crate::text::{all_of, count};

/// The report as lines.
pub fn text(view: &StatisticsView, style: Style) -> String {
    match &view.shown {
        ShownStatistics::Periods(shown) => by_period(view.target, shown, style),
        ShownStatistics::Devices(devices) => of_devices(view.target, devices, style),
        ShownStatistics::Pushes(from, to, pushes) => of_pushes(view.target, (*from, *to), pushes, style),
        ShownStatistics::Push(push) => of_push(push, style),
    }
}

fn title(report: Statistic) -> &'static str {
    match report {
        Statistic::Sends => "sends",
        Statistic::Responses => "responses",
        Statistic::Opens => "opens of the app",
        Statistic::TimeInApp => "time in the app",
        Statistic::OptIns => "opted-in users who opened the app",
        Statistic::OptOuts => "opted-out users who opened the app",
    }
}

/// A note on how to read the numbers.
fn note(report: Statistic, columns: &[String]) -> String {
    let own = match report {
        Statistic::Responses => "Bars show direct responses: users who tapped the notification. ",
        Statistic::TimeInApp => "Times are hours:minutes:seconds. ",
        Statistic::OptIns | Statistic::OptOuts => "A user who is active in several periods counts in each. ",
        Statistic::Sends | Statistic::Opens => "",
    };
    let mut platforms: Vec<&str> = columns.iter().filter_map(|column| column.split('_').next()).collect();
    platforms.dedup();
    format!("{own}The service counts only {} here.", all_of(&platforms))
}

/// A heading, the table, and a note.
fn under(heading: &str, table: &Table, note: Option<&str>, style: Style) -> String {
    let mut out = String::new();
    layout::paragraph(&mut out, &Words::default().paint(heading, Paint::Strong), 0, style);
    out.push('\n');
    out.push_str(&table.text(style));
    if let Some(note) = note {
        out.push('\n');
        layout::paragraph(&mut out, &Words::default().paint(note, Paint::Faint), 0, style);
    }
    out
}

fn sentence(words: &str, style: Style) -> String {
    let mut out = String::new();
    layout::paragraph(&mut out, &Words::new(words), 0, style);
    out
}

fn by_period(target: &str, shown: &ByPeriod, style: Style) -> String {
    let ByPeriod { report, precision, from, to, periods } = shown;
    let heading = format!("{target}: {}, {}, {from} to {to} (UTC)", title(*report), precision.word());
    let unit = match precision {
        Precision::Hourly => "hour",
        Precision::Daily => "day",
        Precision::Monthly => "month",
    };
    if periods.totals.values().all(|total| *total == 0) {
        return sentence(&format!("{heading}. None in {}.", count(periods.rows.len(), unit)), style);
    }
    let number = |number: u64| match report {
        Statistic::TimeInApp => clock(number),
        _ => grouped(number),
    };
    let total = if *report == Statistic::Responses { "direct" } else { "total" };
    let titles: Vec<String> = periods.columns.iter().map(|column| column.replace('_', " ")).collect();
    let columns = titles.iter().map(|title| (title.as_str(), Align::Right));
    let columns: Vec<_> = [("date", Align::Left)].into_iter().chain(columns).chain([(total, Align::Right)]).collect();
    let mut table = Table::new(&columns);
    let cells = |name: String, values: &std::collections::BTreeMap<String, u64>, total: u64| {
        let values = periods.columns.iter().map(|column| number(values.get(column).copied().unwrap_or_default()));
        [name].into_iter().chain(values).chain([number(total)]).collect::<Vec<_>>()
    };
    for row in &periods.rows {
        let date = match precision {
            Precision::Hourly => &row.date[..16],
            Precision::Daily => &row.date[..10],
            Precision::Monthly => &row.date[..7],
        };
        table.plotted(cells(date.to_owned(), &row.values, row.total), row.total);
    }
    table.foot(cells("total".to_owned(), &periods.totals, periods.total));
    under(&heading, &table, Some(&note(*report, &periods.columns)), style)
}

/// Seconds as hours, minutes and seconds.
fn clock(seconds: u64) -> String {
    format!("{}:{:02}:{:02}", grouped(seconds / 3600), seconds / 60 % 60, seconds % 60)
}

fn of_devices(target: &str, devices: &Devices, style: Style) -> String {
    let Devices { total_unique_devices, date_closed, date_computed: _, platforms } = devices;
    let until = date_closed.as_deref().map(|date| format!(" up to {}", moment(date))).unwrap_or_default();
    let heading = format!("{target}: devices{until}");
    if platforms.iter().all(|one| one.unique_devices + one.uninstalled == 0) && *total_unique_devices == 0 {
        return sentence(&format!("{heading}: none."), style);
    }
    let titles = ["devices", "opted in", "opted out", "uninstalled"].map(|title| (title, Align::Right));
    let columns: Vec<_> = [("platform", Align::Left)].into_iter().chain(titles).collect();
    let mut table = Table::new(&columns);
    let cells =
        |name: &str, numbers: [u64; 4]| [name.to_owned()].into_iter().chain(numbers.map(grouped)).collect::<Vec<_>>();
    let mut sum = [*total_unique_devices, 0, 0, 0];
    for one in platforms {
        let numbers = [one.unique_devices, one.opted_in, one.opted_out, one.uninstalled];
        sum.iter_mut().zip(numbers).skip(1).for_each(|(sum, number)| *sum = sum.saturating_add(number));
        table.plotted(cells(&one.platform, numbers), one.unique_devices);
    }
    table.foot(cells("total", sum));
    under(&heading, &table, None, style)
}

/// The type of a push: `scheduled`.
fn kind(push: &Push) -> String {
    push.r#type.strip_suffix("_PUSH").map_or_else(|| push.r#type.clone(), str::to_lowercase)
}

/// The share of recipients who tapped it.
fn rate(push: (u64, u64)) -> String {
    match push {
        (0, _) => String::new(),
        (sends, taps) => {
            let tenths = u128::from(taps) * 1000 / u128::from(sends);
            format!("{}.{} %", tenths / 10, tenths % 10)
        }
    }
}

fn of_pushes(target: &str, (from, to): (Moment, Moment), pushes: &[Push], style: Style) -> String {
    let heading = format!("{target}: pushes, {from} to {to} (UTC)");
    if pushes.is_empty() {
        return sentence(&format!("{heading}: none."), style);
    }
    let columns = [
        ("time", Align::Left),
        ("type", Align::Left),
        ("sends", Align::Right),
        ("direct", Align::Right),
        ("rate", Align::Right),
        ("push id", Align::Left),
    ];
    let mut table = Table::new(&columns);
    let mut sum = (0_u64, 0_u64);
    for push in pushes {
        sum = (sum.0.saturating_add(push.sends), sum.1.saturating_add(push.direct_responses));
        let time = push.time.as_ref().map_or_else(|| "unknown".to_owned(), |time| time[..16].to_owned());
        let rate = rate((push.sends, push.direct_responses));
        let numbers = [grouped(push.sends), grouped(push.direct_responses), rate];
        let cells = [time, kind(push)].into_iter().chain(numbers).chain([push.push_id.clone()]);
        table.plotted(cells, push.sends);
    }
    let numbers = [grouped(sum.0), grouped(sum.1), rate(sum)];
    let foot = ["total".to_owned(), String::new()].into_iter().chain(numbers).chain([String::new()]);
    table.foot(foot);
    under(&heading, &table, Some("Newest first. `direct` counts users who tapped the notification."), style)
}

fn of_push(push: &Push, style: Style) -> String {
    let Push { push_id, time, r#type: _, sends, direct_responses, group_id } = push;
    let taps = match rate((*sends, *direct_responses)) {
        rate if rate.is_empty() => grouped(*direct_responses),
        rate => format!("{}, {rate}", grouped(*direct_responses)),
    };
    let time = time.as_deref().map_or_else(|| "unknown".to_owned(), |time| format!("{time} UTC"));
    let sent = match sends {
        0 => Words::default().paint("0: it reached no device", Paint::Danger),
        sends => Words::new(&grouped(*sends)),
    };
    let mut rows = vec![
        Row::new("push", Words::default().together(push_id, Paint::Strong)),
        Row::new("time", Words::new(&time)),
        Row::new("type", Words::new(&kind(push))),
        Row::new("sends", sent),
        Row::new("direct responses", Words::new(&taps)),
    ];
    rows.extend(group_id.as_ref().map(|group| Row::new("group", Words::new(group))));
    let mut out = String::new();
    layout::rows(&mut out, &rows, 0, style);
    out
}
