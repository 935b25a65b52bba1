//! The calendar as one JSON object, with every fact of the other forms.

use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::Serialize;

use super::CalendarView;
use crate::nouns::schedule::When;
use crate::timing::calendar::{CalendarEntry, Standing};
use crate::timing::follows::Follow;
use crate::timing::{Collision, Party, range, words};

/// The version of this format. It increases when a field is removed or changes its meaning.
const VERSION: u32 = 1;

/// The scheduled messages of one target, according to the manifests.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CalendarDocument {
    /// The version of this format.
    format_version: u32,
    /// The target.
    target: String,
    /// The current time of the calendar.
    now: String,
    /// The zone that `shown` is in.
    zone: String,
    /// The quiet hours, in recipients' local time.
    quiet_hours: Option<QuietHours>,
    /// The minimum time between two messages to one person.
    apart_seconds: i64,
    /// Messages at a time, in the order of time.
    sends: Vec<CalendarSend>,
    /// Messages that pipelines send when an event happens.
    whenever: Vec<Whenever>,
    /// Pairs of messages that are too close together and can reach one person.
    collisions: Vec<Near>,
    /// Number of pairs of close messages that were not compared, because there are too many.
    uncompared_pairs: usize,
    /// Number of past times that are not in `sends`.
    past: usize,
    /// Number of future times that are not in `sends`.
    beyond: usize,
}

/// A daily period. It may pass midnight.
#[derive(Debug, Serialize, JsonSchema)]
pub struct QuietHours {
    from: String,
    to: String,
}

/// A message at a time.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CalendarSend {
    address: String,
    /// The number of the variant of an experiment, from 1.
    variant: Option<usize>,
    /// The number of the time, from 1, if a message has several.
    number: Option<usize>,
    /// File and line where it is declared.
    place: Option<ShownLine>,
    /// Day and time in the calendar's zone, or the recipients' local time.
    shown: String,
    #[serde(flatten)]
    when: Moment,
    /// The time zone in the manifest.
    written_zone: String,
    /// The content of the message.
    message: Option<String>,
    /// The audience, in words.
    who: String,
    /// The device types that it is sent to; empty means all.
    device_types: Vec<String>,
    /// Whether its time has passed.
    passed: bool,
    /// Whether it is in quiet hours: in the manifest's time zone, if recipients can be there, or in recipients' local
    /// time.
    quiet: bool,
    /// Whether recipients can be in any time zone: then `there` has large cities.
    anywhere: bool,
    /// The local times where recipients can be, from west to east.
    there: Vec<There>,
    /// Positions in `collisions`, from 0.
    collisions: Vec<usize>,
    /// Messages of pipelines that a tap on it can trigger.
    then: Vec<Then>,
}

/// The time: one moment, or recipients' local time.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Moment {
    /// Whether it is sent in recipients' local time.
    by_own_clock: bool,
    /// The moment. In recipients' local time, the first one.
    first: String,
    /// The moment. In recipients' local time, the last one.
    last: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ShownLine {
    file: String,
    line: usize,
}

/// A local time.
#[derive(Debug, Serialize, JsonSchema)]
pub struct There {
    city: String,
    /// The IANA name of its zone.
    zone: String,
    /// The local time.
    at: String,
    quiet: bool,
}

/// A message that follows another.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Then {
    address: String,
    /// The tag that a tap adds or removes.
    tag: String,
    /// Whether a tap removes it.
    removed: bool,
    delay_seconds: i64,
    /// The start of the time in which a tap triggers it.
    #[serde(flatten)]
    from: Moment,
    /// The end of the time in which a tap triggers it.
    until: Option<String>,
}

/// A message that is sent when an event happens.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Whenever {
    address: String,
    place: Option<ShownLine>,
    /// The time, in words.
    when: String,
    delay_seconds: i64,
    /// The start, if it is in the future.
    from: Option<String>,
    /// The end.
    until: Option<String>,
    /// Its hours, limits and cancellations, in words.
    rules: Vec<String>,
    /// Whether it can be sent in quiet hours.
    quiet: bool,
    message: Option<String>,
}

/// Two messages that are too close together.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Near {
    one: NearSide,
    other: NearSide,
    /// The minimum time between them.
    apart_seconds: i64,
    /// An example of a device that gets both; missing if the audiences are too complex to compare.
    who: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct NearSide {
    address: String,
    variant: Option<usize>,
    #[serde(flatten)]
    when: Moment,
}

/// The calendar as JSON.
pub fn json(view: &CalendarView) -> String {
    let calendar = view.calendar;
    let document = CalendarDocument {
        format_version: VERSION,
        target: view.target.to_owned(),
        now: calendar.now.to_string(),
        zone: words::zone(&calendar.zone).to_owned(),
        quiet_hours: calendar.quiet.map(|quiet| QuietHours {
            from: quiet.from.strftime("%H:%M").to_string(),
            to: quiet.to.strftime("%H:%M").to_string(),
        }),
        apart_seconds: calendar.collisions.apart_seconds,
        sends: calendar.sends.iter().map(|entry| send(view, entry)).collect(),
        whenever: calendar.standing.iter().map(|standing| whenever(view, standing)).collect(),
        collisions: calendar.collisions.found.iter().map(near).collect(),
        uncompared_pairs: calendar.collisions.uncompared,
        past: calendar.past,
        beyond: calendar.beyond,
    };
    serde_json::to_string_pretty(&document).expect("a document has text keys only") + "\n"
}

fn send(view: &CalendarView, entry: &CalendarEntry) -> CalendarSend {
    CalendarSend {
        address: entry.address.to_string(),
        variant: entry.variant,
        number: entry.number,
        place: place(view, entry.at),
        shown: entry.shown.to_string(),
        when: moment(entry.times.when),
        written_zone: words::zone(&entry.times.zone).to_owned(),
        message: entry.message.clone(),
        who: entry.who.clone(),
        device_types: entry.devices.clone(),
        passed: entry.passed,
        quiet: entry.times.quiet,
        anywhere: entry.times.anywhere,
        there: entry
            .times
            .there
            .iter()
            .map(|there| There {
                city: there.city(),
                zone: there.zone.to_string(),
                at: there.at.to_string(),
                quiet: there.quiet,
            })
            .collect(),
        collisions: entry.collisions.iter().map(|near| near.place).collect(),
        then: entry.follows.iter().map(then).collect(),
    }
}

fn then(follow: &Follow) -> Then {
    Then {
        address: follow.address.to_string(),
        tag: follow.tag.clone(),
        removed: follow.removed,
        delay_seconds: follow.delay_seconds,
        from: moment(follow.from),
        until: follow.until.map(|until| until.to_string()),
    }
}

fn whenever(view: &CalendarView, standing: &Standing) -> Whenever {
    Whenever {
        address: standing.address.to_string(),
        place: place(view, standing.at),
        when: standing.when.clone(),
        delay_seconds: standing.delay_seconds,
        from: standing.from.map(|from| from.to_string()),
        until: standing.until.map(|until| until.to_string()),
        rules: super::rules(standing),
        quiet: standing.quiet,
        message: standing.message.clone(),
    }
}

fn near(collision: &Collision) -> Near {
    let Collision { one, other, apart_seconds, who, news: _ } = collision;
    Near { one: side(one), other: side(other), apart_seconds: *apart_seconds, who: who.clone() }
}

fn side(party: &Party) -> NearSide {
    NearSide { address: party.address.to_string(), variant: party.variant, when: moment(party.when) }
}

fn moment(when: When) -> Moment {
    let (first, last) = range(when);
    let utc = |at| TimeZone::UTC.to_datetime(at).strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    Moment { by_own_clock: matches!(when, When::EachZone(_)), first: utc(first), last: utc(last) }
}

fn place(view: &CalendarView, at: crate::source::Span) -> Option<ShownLine> {
    view.place(at).map(|(file, line)| ShownLine { file: file.to_owned(), line })
}
