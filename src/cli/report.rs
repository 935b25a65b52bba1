use std::collections::BTreeSet;

use clap::{Args, Subcommand, ValueEnum};
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, Unit};

use super::forms::among;
use super::planning::TargetArgs;
use super::{Context, Ended, asking, ledger};
use crate::address::Address;
use crate::engine::ledger::unreadable;
use crate::engine::outcome::not_sending;
use crate::engine::target::Opened;
use crate::engine::workspace::same_app;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ledger::{Ledger, Log};
use crate::outcome;
use crate::query::statistics::{self, Moment, Periods, Precision, Push, Statistic as Kind};
use crate::render::Format;
use crate::render::statistics::{ByPeriod, ShownStatistics, StatisticsView, csv, json, text};

/// The output formats.
const FORMATS: &[Format] = &[Format::Text, Format::Json, Format::Csv];

/// The maximal number of periods of one report.
const MOST: i64 = 100_000;

/// Print statistics of the service: sends, opens, devices.
///
/// It also prints responses and pushes. The form is a table with a plot, JSON or CSV. All times are in UTC. Nothing is changed. Of the project, only
/// pushplan.toml is read.
#[derive(Debug, Args)]
pub struct Report {
    #[command(subcommand)]
    what: ReportCommand,
}

#[derive(Debug, Subcommand)]
enum ReportCommand {
    /// Notifications sent to devices
    Sends(ByTime),
    /// Responses to notifications: direct and influenced opens
    Responses(ByTime),
    /// Opens of the app
    Opens(ByTime),
    /// Time in the app
    Timeinapp(ByTime),
    /// Devices by platform: opted in, opted out, uninstalled
    Devices(OfDevices),
    /// Users who opened the app while opted in
    Optins(ByTime),
    /// Users who opened the app while opted out
    Optouts(ByTime),
    /// Pushes with their sends and direct responses, or one push
    Push(OfPush),
}

#[derive(Debug, Args)]
struct ByTime {
    #[command(flatten)]
    range: Range,

    /// Length of the periods
    #[arg(long, value_enum, default_value_t = Periodic::Daily)]
    precision: Periodic,

    #[command(flatten)]
    how: How,
}

#[derive(Debug, Args)]
struct Range {
    /// First day or time in UTC, such as 2026-11-01 or 2026-11-01T09:00:30 [default: 24 hours, 30 days or 12 months before --to, by --precision]
    #[arg(long, value_name = "TIME", value_parser = Moment::parse)]
    from: Option<Moment>,

    /// Last day or time in UTC [default: now]
    #[arg(long, value_name = "TIME", value_parser = Moment::parse)]
    to: Option<Moment>,
}

#[derive(Debug, Args)]
struct OfDevices {
    /// Count devices at the end of this day [default: now]
    #[arg(long, value_name = "DATE")]
    date: Option<Date>,

    #[command(flatten)]
    how: How,
}

#[derive(Debug, Args)]
struct OfPush {
    /// Id of a push, or an address such as scheduled_pushes/sale [default: list the last 30 days, newest first]
    #[arg(value_name = "PUSH_ID", conflicts_with_all = ["from", "to"])]
    id: Option<String>,

    #[command(flatten)]
    range: Range,

    #[command(flatten)]
    how: How,
}

#[derive(Debug, Args)]
struct How {
    /// Form: text for people, json for programs, csv for spreadsheets
    #[arg(long, value_parser = among(FORMATS), default_value_t = Format::Text)]
    format: Format,

    #[command(flatten)]
    place: TargetArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Periodic {
    Hourly,
    Daily,
    // Not in the contract, but the live service has it.
    Monthly,
}

impl Periodic {
    fn precision(self) -> Precision {
        match self {
            Self::Hourly => Precision::Hourly,
            Self::Daily => Precision::Daily,
            Self::Monthly => Precision::Monthly,
        }
    }
}

/// The answer of the service.
enum ReportAnswer {
    Periods(Kind, Precision, (Moment, Moment), Periods),
    Devices(statistics::Devices),
    Pushes((Moment, Moment), Vec<Push>),
    Push(Push),
}

impl Report {
    pub fn run(&self, context: &Context) -> Ended {
        let how = self.what.how();
        let (target, told) =
            asking::with(&how.place, context, async |opened| Ok((opened.name.clone(), self.what.ask(opened).await?)))?;
        let shown = match &told {
            ReportAnswer::Periods(report, precision, (from, to), periods) => ShownStatistics::Periods(ByPeriod {
                report: *report,
                precision: *precision,
                from: *from,
                to: *to,
                periods,
            }),
            ReportAnswer::Devices(devices) => ShownStatistics::Devices(devices),
            ReportAnswer::Pushes((from, to), pushes) => ShownStatistics::Pushes(*from, *to, pushes),
            ReportAnswer::Push(push) => ShownStatistics::Push(push),
        };
        let view = StatisticsView { target: &target, shown };
        let text = match how.format {
            Format::Json => json(&view),
            Format::Csv => csv(&view),
            _ => text(&view, context.out.style()),
        };
        context.out.show(how.format, &text);
        Ok(Exit::Done)
    }
}

impl ReportCommand {
    fn how(&self) -> &How {
        match self {
            Self::Sends(of)
            | Self::Responses(of)
            | Self::Opens(of)
            | Self::Timeinapp(of)
            | Self::Optins(of)
            | Self::Optouts(of) => &of.how,
            Self::Devices(of) => &of.how,
            Self::Push(of) => &of.how,
        }
    }

    async fn ask(&self, opened: &Opened) -> Result<ReportAnswer, Failure> {
        match self {
            Self::Sends(of) => of.ask(Kind::Sends, opened).await,
            Self::Responses(of) => of.ask(Kind::Responses, opened).await,
            Self::Opens(of) => of.ask(Kind::Opens, opened).await,
            Self::Timeinapp(of) => of.ask(Kind::TimeInApp, opened).await,
            Self::Optins(of) => of.ask(Kind::OptIns, opened).await,
            Self::Optouts(of) => of.ask(Kind::OptOuts, opened).await,
            Self::Devices(of) => of.ask(opened).await,
            Self::Push(of) => of.ask(opened).await,
        }
    }
}

impl ByTime {
    async fn ask(&self, kind: Kind, opened: &Opened) -> Result<ReportAnswer, Failure> {
        let precision = self.precision.precision();
        let (from, to) = self.range.resolve(precision, opened.now())?;
        let periods = length(from, to, precision);
        if periods > MOST {
            return Err(Failure::usage(format!("this report would have {periods} periods, but the limit is {MOST}"))
                .help("choose a shorter time with --from and --to, or longer periods with --precision"));
        }
        let path = statistics::by_period(kind, from, to, precision);
        let pages = asking::pages(opened, &path).await?;
        let periods = statistics::periods(kind, &pages).map_err(|why| asking::unclear(&path, why))?;
        Ok(ReportAnswer::Periods(kind, precision, (from, to), periods))
    }
}

impl OfDevices {
    async fn ask(&self, opened: &Opened) -> Result<ReportAnswer, Failure> {
        let path = statistics::of_devices(self.date);
        let body = asking::read(opened, &path).await?;
        statistics::devices(&body).map(ReportAnswer::Devices).map_err(|why| asking::unclear(&path, why))
    }
}

impl OfPush {
    async fn ask(&self, opened: &Opened) -> Result<ReportAnswer, Failure> {
        let Some(id) = &self.id else {
            let (from, to) = self.range.resolve(Precision::Daily, opened.now())?;
            let path = statistics::of_pushes(from, to);
            let pages = asking::pages(opened, &path).await?;
            let mut pushes = statistics::pushes(&pages).map_err(|why| asking::unclear(&path, why))?;
            pushes.retain(|push| statistics::within(push, from, to));
            // Pushes with the same time are in the order of sending, the last first.
            pushes.reverse();
            pushes.sort_by(|one, other| other.time.cmp(&one.time));
            return Ok(ReportAnswer::Pushes((from, to), pushes));
        };
        let found = if id.contains('/') { Some(self.at(id, opened).await?) } else { None };
        let id = found.as_ref().unwrap_or(id);
        if matches!(id.as_str(), "" | "." | ".." | "list") {
            return Err(Failure::usage(format!("`{id}` is not the id of a push")));
        }
        let path = statistics::of_push(id);
        let Some(mut body) = asking::find(opened, &path).await? else {
            return Err(Failure::new(format!("{} has sent no push `{id}`", opened.name))
                .help("`pushplan report push` lists those of the last 30 days"));
        };
        // It is the requested push, even if the record has no id.
        if let Some(record) = body.as_object_mut() {
            record.entry("push_id").or_insert_with(|| id.as_str().into());
        }
        statistics::push(&body).map(ReportAnswer::Push).ok_or_else(|| asking::unclear(&path, "it contains no push"))
    }
}

impl OfPush {
    /// The push of a managed resource, according to the ledger.
    async fn at(&self, written: &str, opened: &Opened) -> Result<String, Failure> {
        let address = ledger::address(written)?;
        let (log, target) = self.how.place.log()?;
        let ledger = Ledger::replay(log.read(0).await.map_err(unreadable)?);
        same_app(&ledger, opened)?;
        let Some(owned) = ledger.owned.get(&address) else {
            return Err(Failure::usage(format!("the ledger of `{target}` has nothing at {address}"))
                .help("`pushplan report push` lists the pushes of the last 30 days"));
        };
        let sending: BTreeSet<Address> = outcome::occasions(&ledger).into_iter().map(|one| one.address).collect();
        if owned.push_ids.is_empty() && !sending.contains(&address) {
            return Err(not_sending(&address, &ledger, &sending, &target));
        }
        match &owned.push_ids[..] {
            [only] => Ok(only.clone()),
            [] => Err(Failure::new(format!("the push id of {address} is unknown"))
                .help(format!("`pushplan outcome {address}` finds its report by its time"))),
            several => {
                Err(Failure::usage(format!("{address} has {} pushes: {}", several.len(), crate::text::all_of(several)))
                    .help("choose one by its id"))
            }
        }
    }
}

impl Range {
    /// The start and the end, both included.
    fn resolve(&self, precision: Precision, now: Timestamp) -> Result<(Moment, Moment), Failure> {
        let now = TimeZone::UTC.to_datetime(now);
        let to = self.to.unwrap_or(match precision {
            Precision::Hourly => Moment::At(now.round(Unit::Minute).unwrap_or(now)),
            Precision::Daily | Precision::Monthly => Moment::Day(now.date()),
        });
        let from = self.from.unwrap_or_else(|| before(to.last(), precision));
        if to.last() < from.first() {
            return Err(Failure::usage(format!("the last time, {to}, is before the first, {from}")));
        }
        Ok((from, to))
    }
}

/// The default start of a report.
fn before(last: DateTime, precision: Precision) -> Moment {
    let day = last.date();
    match precision {
        Precision::Hourly => {
            let hour = day.at(last.hour(), 0, 0, 0);
            Moment::At(hour.saturating_sub(23.hours()))
        }
        Precision::Daily => Moment::Day(day.saturating_sub(29.days())),
        Precision::Monthly => Moment::Day(day.first_of_month().saturating_sub(11.months())),
    }
}

/// The approximate number of periods.
fn length(from: Moment, to: Moment, precision: Precision) -> i64 {
    let days =
        i64::from(to.last().date().since((Unit::Day, from.first().date())).map_or(0, |span| span.get_days())) + 1;
    match precision {
        Precision::Hourly => days * 24,
        Precision::Daily => days,
        Precision::Monthly => days / 28 + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(from: Option<&str>, to: Option<&str>, precision: Precision) -> Result<(String, String), Failure> {
        let moment = |text: &str| Moment::parse(text).expect("a moment");
        let range = Range { from: from.map(moment), to: to.map(moment) };
        let now = "2026-11-15T12:34:56Z".parse().expect("a time");
        let resolved = range.resolve(precision, now)?;
        Ok((resolved.0.to_string(), resolved.1.to_string()))
    }

    #[test]
    fn what_is_not_said_is_chosen_well() {
        let is = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        assert_eq!(resolved(None, None, Precision::Daily).expect("a range"), is("2026-10-17", "2026-11-15"));
        assert_eq!(
            resolved(None, None, Precision::Hourly).expect("a range"),
            is("2026-11-14 13:00", "2026-11-15 12:35")
        );
        assert_eq!(resolved(None, None, Precision::Monthly).expect("a range"), is("2025-12-01", "2026-11-15"));
        assert_eq!(
            resolved(None, Some("2026-01-30"), Precision::Daily).expect("a range"),
            is("2026-01-01", "2026-01-30")
        );
        assert_eq!(
            resolved(Some("2026-11-15"), None, Precision::Daily).expect("a range"),
            is("2026-11-15", "2026-11-15")
        );
        let why = resolved(Some("2026-11-16"), None, Precision::Daily).expect_err("in the future");
        assert_eq!(why.message, "the last time, 2026-11-15, is before the first, 2026-11-16");
    }

    #[test]
    fn the_number_of_periods_is_known_beforehand() {
        let day = |text: &str| Moment::parse(text).expect("a day");
        assert_eq!(length(day("2026-11-01"), day("2026-11-30"), Precision::Daily), 30);
        assert_eq!(length(day("2026-11-01"), day("2026-11-01"), Precision::Hourly), 24);
        assert!(length(day("0001-01-01"), day("9999-12-31"), Precision::Hourly) > MOST);
        assert!(length(day("0001-01-01"), day("9999-12-31"), Precision::Monthly) > MOST);
    }
}
