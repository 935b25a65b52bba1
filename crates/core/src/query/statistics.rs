//! The content of the service's reports.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, anyhow};
use jiff::ToSpan;
use jiff::civil::{Date, DateTime};
use pushplan_model::exchange::{BadAnswer, part};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{count, text};

/// A report with a number for every period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    Sends,
    Responses,
    Opens,
    TimeInApp,
    OptIns,
    OptOuts,
}

impl Statistic {
    /// Its name in paths and answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Sends => "sends",
            Self::Responses => "responses",
            Self::Opens => "opens",
            Self::TimeInApp => "timeinapp",
            Self::OptIns => "optins",
            Self::OptOuts => "optouts",
        }
    }

    /// The measure for the total of a period, if there are several.
    fn leading(self) -> Option<&'static str> {
        (self == Self::Responses).then_some("direct")
    }
}

/// The length of periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    Hourly,
    Daily,
    Monthly,
}

impl Precision {
    pub fn word(self) -> &'static str {
        match self {
            Self::Hourly => "hourly",
            Self::Daily => "daily",
            Self::Monthly => "monthly",
        }
    }
}

/// A day or a moment in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    Day(Date),
    At(DateTime),
}

impl Moment {
    /// Parses `2026-11-01`, `2026-11-01 09:00` or `2026-11-01T09:00`, the time in UTC.
    pub fn parse(written: &str) -> anyhow::Result<Self> {
        const FORM: &str = "write a day such as 2026-11-01, or a time in UTC such as 2026-11-01T09:00";
        let written = written.trim();
        // A day must not be followed by a time.
        if !written.contains([' ', 'T', 't', ':']) {
            return written.parse().map(Self::Day).map_err(|_| anyhow!(FORM));
        }
        let plain = written.strip_suffix(['Z', 'z']).unwrap_or(written);
        let is_plain = plain.bytes().all(|byte| byte.is_ascii_digit() || b"-:T t.".contains(&byte));
        let read = plain.replacen(' ', "T", 1).parse().ok().filter(|_| is_plain);
        read.map(Self::At).context(FORM)
    }

    pub fn first(self) -> DateTime {
        match self {
            Self::Day(day) => day.at(0, 0, 0, 0),
            Self::At(moment) => moment,
        }
    }

    pub fn last(self) -> DateTime {
        match self {
            Self::Day(day) => day.at(23, 59, 59, 0),
            Self::At(moment) => moment,
        }
    }

    /// Formats the start of a time as the contract requires, which has no seconds: the minute that contains it.
    fn wire(self) -> String {
        match self {
            Self::Day(day) => day.to_string(),
            Self::At(moment) => moment.strftime("%Y-%m-%d %H:%M").to_string(),
        }
    }

    /// Formats the end of a time as the contract requires: the end of the minute that contains it.
    fn wire_end(self) -> String {
        match self {
            Self::At(moment) if self.has_seconds() => Self::At(moment.saturating_add(1.minute())).wire(),
            end => end.wire(),
        }
    }

    fn has_seconds(self) -> bool {
        matches!(self, Self::At(moment) if (moment.second(), moment.subsec_nanosecond()) != (0, 0))
    }
}

impl std::fmt::Display for Moment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::At(moment) if self.has_seconds() => write!(f, "{}", moment.strftime("%Y-%m-%d %H:%M:%S%.f")),
            minute => f.write_str(&minute.wire()),
        }
    }
}

/// The path of a report by periods.
pub fn by_period(report: Statistic, from: Moment, to: Moment, precision: Precision) -> String {
    let (from, to) = (part(&from.wire()), part(&to.wire_end()));
    let precision = precision.word().to_uppercase();
    format!("/api/reports/{}/?start={from}&end={to}&precision={precision}", report.word())
}

/// The path of the report of devices.
pub fn of_devices(date: Option<Date>) -> String {
    match date {
        Some(date) => format!("/api/reports/devices/?date={date}"),
        None => "/api/reports/devices/".to_owned(),
    }
}

/// The path of the list of pushes. It may list more than [`within`] keeps, because its times have no seconds.
pub fn of_pushes(from: Moment, to: Moment) -> String {
    format!("/api/reports/responses/list?start={}&end={}", part(&from.wire()), part(&to.wire_end()))
}

/// Whether a listed push was sent in a time with seconds. A push without a readable time is in every time.
pub fn within(push: &Push, from: Moment, to: Moment) -> bool {
    let sent: Option<DateTime> = push.time.as_ref().and_then(|time| time.trim_end_matches('Z').parse().ok());
    let is_in = |sent| (!from.has_seconds() || from.first() <= sent) && (!to.has_seconds() || sent <= to.last());
    sent.is_none_or(is_in)
}

/// The path of one push.
pub fn of_push(id: &str) -> String {
    format!("/api/reports/responses/{}", part(id))
}

/// The numbers of one period.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Period {
    /// When it begins, in UTC: `2026-11-01 00:00:00`.
    pub date: String,
    /// By platform: `ios`; where there are several measures by both: `ios_direct`.
    pub values: BTreeMap<String, u64>,
    /// Of all platforms; of responses the direct ones.
    pub total: u64,
}

/// A report by periods.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Periods {
    /// The keys of `values` in the order in which they are shown.
    pub columns: Vec<String>,
    pub rows: Vec<Period>,
    pub totals: BTreeMap<String, u64>,
    pub total: u64,
}

/// Builds one report from the pages of an answer.
pub fn periods(report: Statistic, pages: &[Value]) -> Result<Periods, BadAnswer> {
    let mut made = Periods::default();
    let mut columns = BTreeSet::new();
    for page in pages {
        let items = page[report.word()].as_array();
        let items = items.ok_or_else(|| format!("the answer has no list of `{}`", report.word()))?;
        for item in items {
            let period = period(report, item)?;
            for (column, value) in &period.values {
                columns.insert(column.clone());
                let total = made.totals.entry(column.clone()).or_default();
                *total = total.saturating_add(*value);
            }
            made.total = made.total.saturating_add(period.total);
            made.rows.push(period);
        }
    }
    made.columns = columns.into_iter().collect();
    made.columns.sort_by_key(|column| (platform_rank(column), column.clone()));
    Ok(made)
}

/// The most common platforms come first.
fn platform_rank(name: &str) -> usize {
    let platform = name.split('_').next().unwrap_or_default();
    ["ios", "android"].iter().position(|known| *known == platform).unwrap_or(2)
}

fn period(report: Statistic, item: &Value) -> Result<Period, BadAnswer> {
    let unclear =
        || format!("a period in the answer cannot be read: {}", pushplan_model::text::short(&item.to_string(), 80));
    let date = moment(&item["date"]).ok_or_else(unclear)?;
    let mut values = BTreeMap::new();
    for (platform, value) in item.as_object().into_iter().flatten().filter(|(key, _)| *key != "date") {
        match value {
            Value::Null => {}
            Value::Object(measures) => {
                for (measure, value) in measures {
                    values.insert(format!("{platform}_{measure}"), count(value).ok_or_else(unclear)?);
                }
            }
            value => drop(values.insert(platform.clone(), count(value).ok_or_else(unclear)?)),
        }
    }
    let leads = |column: &str| report.leading().is_none_or(|measure| column.rsplit('_').next() == Some(measure));
    let leading = values.iter().filter(|(column, _)| leads(column)).map(|(_, value)| *value);
    let total = leading.fold(0, u64::saturating_add);
    Ok(Period { date: shown(date), values, total })
}

/// A time of a report, in UTC.
fn moment(value: &Value) -> Option<DateTime> {
    let said = value.as_str()?;
    match Moment::parse(said).ok()? {
        Moment::Day(day) => Some(day.at(0, 0, 0, 0)),
        Moment::At(moment) => Some(moment),
    }
}

fn shown(at: DateTime) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// The number of devices of one platform.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Platform {
    pub platform: String,
    pub unique_devices: u64,
    pub opted_in: u64,
    pub opted_out: u64,
    pub uninstalled: u64,
}

/// The report of devices.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Devices {
    /// All that have the app.
    pub total_unique_devices: u64,
    /// Up to when they are counted.
    pub date_closed: Option<String>,
    pub date_computed: Option<String>,
    pub platforms: Vec<Platform>,
}

pub fn devices(body: &Value) -> Result<Devices, BadAnswer> {
    let counts = body["counts"].as_object().ok_or("the answer has no counts of devices")?;
    let number = |value: &Value| count(value).unwrap_or_default();
    let mut platforms: Vec<Platform> = counts
        .iter()
        .map(|(platform, counts)| Platform {
            platform: platform.clone(),
            unique_devices: number(&counts["unique_devices"]),
            opted_in: number(&counts["opted_in"]),
            opted_out: number(&counts["opted_out"]),
            uninstalled: number(&counts["uninstalled"]),
        })
        .collect();
    platforms.sort_by_key(|one| (platform_rank(&one.platform), one.platform.clone()));
    let sum = platforms.iter().fold(0_u64, |sum, one| sum.saturating_add(one.unique_devices));
    Ok(Devices {
        total_unique_devices: count(&body["total_unique_devices"]).unwrap_or(sum),
        date_closed: text(&body["date_closed"]),
        date_computed: text(&body["date_computed"]),
        platforms,
    })
}

/// One push and its results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Push {
    pub push_id: String,
    /// When it was sent, in UTC: `2026-11-01 09:00:00`.
    pub time: Option<String>,
    /// As the service reports it: `BROADCAST_PUSH`, `SCHEDULED_PUSH`, `TAG_PUSH`, `UNICAST_PUSH`.
    pub r#type: String,
    /// The number of devices that it was sent to.
    pub sends: u64,
    /// The number of devices on which it was tapped.
    pub direct_responses: u64,
    /// The id of the group of pushes that it belongs to, if the service reports it.
    pub group_id: Option<String>,
}

/// The pushes of a listing's pages, in the order of the service.
pub fn pushes(pages: &[Value]) -> Result<Vec<Push>, BadAnswer> {
    let mut found = Vec::new();
    for page in pages {
        let items = page["pushes"].as_array().ok_or("the answer has no list of pushes")?;
        for item in items {
            found.push(push(item).ok_or("a push of the answer has no id")?);
        }
    }
    Ok(found)
}

/// One push; `None` if a record has no id.
pub fn push(record: &Value) -> Option<Push> {
    Some(Push {
        push_id: text(&record["push_uuid"]).or(text(&record["push_id"]))?,
        time: moment(&record["push_time"]).map(shown),
        r#type: text(&record["push_type"]).unwrap_or_default(),
        sends: count(&record["sends"]).unwrap_or_default(),
        direct_responses: count(&record["direct_responses"]).unwrap_or_default(),
        group_id: text(&record["group_id"]),
    })
}

#[cfg(test)]
mod tests;
