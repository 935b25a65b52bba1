//! Scheduled messages: one file per form, all of the same [`Calendar`].

mod ics;
pub mod json;
mod markdown;
mod text;

pub use ics::ics;
pub use json::json;
pub use markdown::markdown;
pub use text::text;

use jiff::civil::DateTime;

use crate::source::{Sources, Span};
use crate::text::{all_of, count, short};
use crate::timing::calendar::{Calendar, CalendarEntry, Standing};
use crate::timing::follows::Follow;
use crate::timing::words;

/// A calendar, and further inputs of its forms.
#[derive(Clone, Copy, Debug)]
pub struct CalendarView<'c> {
    pub calendar: &'c Calendar,
    pub target: &'c str,
    pub sources: &'c Sources,
}

/// The number of characters of a message that are shown.
const MESSAGE: usize = 60;
/// The number of collisions of one message that are shown one by one.
const TOLD: usize = 3;

impl CalendarView<'_> {
    /// The zone of the times, and the quiet hours.
    fn heading(&self) -> String {
        let quiet = self.calendar.quiet.map(|quiet| format!(" Quiet hours: {quiet}."));
        format!("Times in {}.{}", words::zone(&self.calendar.zone), quiet.unwrap_or_default())
    }

    /// File and line.
    fn place(&self, at: Span) -> Option<(&str, usize)> {
        let source = self.sources.get(at.file()?);
        Some((&source.path, source.position(at.range().start).line))
    }

    /// Why a message is marked.
    fn marks(&self, entry: &CalendarEntry) -> Vec<String> {
        let quiet = words::quiet_places(&entry.times).map(|places| format!("quiet hours {places}"));
        let mut marks: Vec<String> = quiet.into_iter().collect();
        let near = entry.collisions.iter().take(TOLD);
        marks.extend(near.map(|near| words::collision(&self.calendar.collisions.found[near.place], near.earlier)));
        if entry.collisions.len() > TOLD {
            marks.push(format!("also close to {}", count(entry.collisions.len() - TOLD, "other message")));
        }
        marks
    }

    /// A summary of the whole calendar.
    fn summary(&self) -> String {
        let Calendar { sends, past, beyond, standing, .. } = self.calendar;
        let marked = sends.iter().filter(|entry| is_marked(entry)).count();
        let mut told = match (sends.len(), marked) {
            (0, _) => "Nothing is scheduled".to_owned(),
            (all, 0) => count(all, "scheduled message"),
            (all, marked) => format!("{}, {marked} marked with !", count(all, "scheduled message")),
        };
        if !standing.is_empty() {
            told.push_str(&format!("; {} triggered", standing.len()));
        }
        if *beyond > 0 {
            told.push_str(&format!("; {beyond} more outside these days"));
        }
        match past {
            0 => {}
            1 => told.push_str("; 1 send time has passed"),
            past => told.push_str(&format!("; {past} send times have passed")),
        }
        told.push('.');
        told
    }

    /// The quiet hours, if a triggered message can be sent in them.
    fn disturbs(&self, standing: &Standing) -> Option<String> {
        let quiet = self.calendar.quiet.filter(|_| standing.quiet)?;
        Some(format!("can be sent in quiet hours ({quiet})"))
    }

    /// The number of pairs that were not compared.
    fn uncompared(&self) -> Option<String> {
        let number = self.calendar.collisions.uncompared;
        (number > 0).then(|| format!("{} of messages close together were not compared.", count(number, "more pair")))
    }
}

fn is_marked(entry: &CalendarEntry) -> bool {
    !entry.collisions.is_empty() || words::quiet_places(&entry.times).is_some()
}

/// The name of an entry: `scheduled_pushes/sale`, `experiments/test variant 2`, `scheduled_pushes/sale (2)`.
fn name(entry: &CalendarEntry) -> String {
    match (entry.variant, entry.number) {
        (Some(variant), _) => format!("{} variant {variant}", entry.address),
        (None, Some(number)) => format!("{} ({number})", entry.address),
        (None, None) => entry.address.to_string(),
    }
}

/// The hours, limits and cancellations of a triggered message: `limit at most 1 push in 1 day to one device`.
fn rules(standing: &Standing) -> Vec<String> {
    standing.rules.iter().map(|rule| format!("{} {}", rule.label, rule.words)).collect()
}

/// The audience and the device types.
fn who(entry: &CalendarEntry) -> String {
    match entry.devices.is_empty() {
        true => entry.who.clone(),
        false => format!("{}, on {}", entry.who, all_of(&entry.devices)),
    }
}

/// A message, shortened for a line.
fn message(text: Option<&String>) -> Option<String> {
    text.map(|text| format!("\"{}\"", short(&text.replace(['\n', '\r'], " "), MESSAGE)))
}

/// The messages that a tap on it triggers, and from when.
fn follow(view: &CalendarView, follow: &Follow) -> String {
    use crate::nouns::schedule::When;
    let from = match follow.from {
        When::At(instant) => view.calendar.zone.to_datetime(instant),
        When::EachZone(time) => time,
    };
    let delay = match follow.delay_seconds {
        0 => "at once".to_owned(),
        seconds => format!("{} later", crate::nouns::delay::Delay(seconds)),
    };
    let verb = if follow.removed { "removes" } else { "adds" };
    let zone = &view.calendar.zone;
    let year = zone.to_datetime(view.calendar.now).year();
    let told = |at: DateTime| at.strftime(if at.year() == year { "%a %-d %b %H:%M" } else { "%a %-d %b %Y %H:%M" });
    let until = follow.until.map(|until| told(zone.to_datetime(until)));
    let until = until.map(|until| format!(", until {until}")).unwrap_or_default();
    format!("a tap {verb} the tag {}: {} follows {delay}, from {} on{until}", follow.tag, follow.address, told(from))
}
