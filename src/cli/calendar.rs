use std::path::PathBuf;

use clap::Args;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::forms::among;
use super::many::each;
use super::places::Places;
use super::planning::TargetArgs;
use super::{Context, Ended};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::nouns::zone::{Meant, meant};
use crate::private;
use crate::render::Format;
use crate::render::Style;
use crate::render::calendar::{self, CalendarView};
use crate::timing;
use crate::timing::calendar::{CalendarRequest, calendar};

/// The output formats.
const FORMATS: &[Format] = &[Format::Text, Format::Markdown, Format::Ics, Format::Json];

/// List scheduled messages by time, offline.
#[derive(Debug, Args)]
pub struct Calendar {
    #[command(flatten)]
    places: Places,

    /// Form of the calendar: text for people, ics for calendars, JSON for programs
    #[arg(long, value_parser = among(FORMATS), default_value_t = Format::Text)]
    format: Format,

    /// Time zone of days and times, such as Europe/Paris [default: the most frequent one]
    #[arg(long, value_name = "ZONE")]
    zone: Option<String>,

    /// First day, such as 2026-11-27 [default: from now on]
    #[arg(long, value_name = "DATE")]
    from: Option<Date>,

    /// Last day
    #[arg(long, value_name = "DATE", conflicts_with = "days")]
    to: Option<Date>,

    /// Number of days from the first
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..=100_000))]
    days: Option<i32>,

    /// File to write to
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Current time to assume, such as 2026-11-15T12:00Z [default: now]
    #[arg(long, value_name = "TIME")]
    now: Option<Timestamp>,
}

impl Calendar {
    pub fn run(&self, context: &Context) -> Ended {
        let zone = self.zone.as_deref().map(zone).transpose()?;
        if let (Some(from), Some(to)) = (self.from, self.to)
            && to < from
        {
            return Err(Failure::usage(format!("the last day, {to}, is before the first, {from}")));
        }
        let now = self.now.unwrap_or_else(Timestamp::now);
        match &self.out {
            None => each::run(&self.places, self.format, context, |place, context| {
                self.one(place, zone.as_ref(), now, context)
            }),
            Some(path) => {
                let (text, exit) = each::text_of(&self.places, self.format, context, |place, context| {
                    self.one(place, zone.as_ref(), now, context)
                })?;
                private::write(path, text.as_bytes())
                    .map_err(|error| Failure::new(format!("{} cannot be written: {error}", path.display())))?;
                Ok(exit)
            }
        }
    }

    fn one(&self, place: &TargetArgs, zone: Option<&TimeZone>, now: Timestamp, context: &Context) -> Ended {
        let workspace = place.read_for(context, now, self.format == Format::Json)?;
        let (desired, _) = workspace.manifests.resolve(Some(&workspace.target));
        let target = workspace.manifests.project.target(&workspace.target);
        let apart = target.and_then(|target| target.apart.as_ref());
        let asked = CalendarRequest {
            now,
            zone: zone.cloned(),
            from: self.from,
            to: self.to,
            days: self.days,
            quiet: target.and_then(|target| target.quiet_hours.as_ref()).map(|hours| hours.quiet()),
            apart: apart.map_or(timing::APART, |apart| SignedDuration::from_secs(apart.value.0)),
        };
        let calendar = calendar(&desired, &asked);
        let view =
            CalendarView { calendar: &calendar, target: &workspace.target, sources: &workspace.manifests.sources };
        let style = match self.out {
            Some(_) => Style { width: FILE_WIDTH, ..Style::PLAIN },
            None => context.out.style(),
        };
        let text = match self.format {
            Format::Markdown => calendar::markdown(&view),
            Format::Ics => calendar::ics(&view),
            Format::Json => calendar::json(&view),
            _ => calendar::text(&view, style),
        };
        match self.out {
            Some(_) => context.out.exact(text.as_bytes()),
            None => context.out.show(self.format, &text),
        }
        Ok(Exit::Done)
    }
}

/// The number of columns of a text file.
const FILE_WIDTH: usize = 100;

fn zone(name: &str) -> Result<TimeZone, Failure> {
    meant(name).map_err(|near: Meant| {
        let failure = Failure::usage(format!("`{name}` is not a time zone"));
        failure.help(match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "use an IANA name such as Europe/Paris, America/New_York or UTC".to_owned(),
        })
    })
}
