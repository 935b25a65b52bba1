//! The calendar for programs: one JSON object with every fact that the other forms have.

use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::Serialize;

use super::CalendarView;
use crate::nouns::schedule::When;
use crate::timing::calendar::{CalendarEntry, Standing};
use crate::timing::follows::Follow;
use crate::timing::{Collision, Party, range, words};

/// The version of this form. It grows when a field changes its meaning or goes away.
const VERSION: u32 = 1;

/// What is sent and when, as the manifests say it for one target.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CalendarDocument {
    /// The version of this form.
    format_version: u32,
    /// The target.
    target: String,
    /// The moment that is taken for now.
    now: String,
    /// The zone that `shown` is in.
    zone: String,
    /// When people are not to be disturbed, by the clock where they are.
    quiet_hours: Option<QuietHours>,
    /// How far apart two messages to one person are to be.
    apart_seconds: i64,
    /// Messages at a time, in the order of time.
    sends: Vec<CalendarSend>,
    /// Messages that pipelines send whenever something happens.
    whenever: Vec<Whenever>,
    /// Pairs of messages that are too near to each other and can reach one person.
    collisions: Vec<Near>,
    /// How many pairs that are near to each other were too many to compare.
    uncompared_pairs: usize,
    /// How many times have passed and are not among `sends`.
    past: usize,
    /// How many are still to come and not among `sends`.
    beyond: usize,
}

/// A daily stretch of time. It may pass midnight.
#[derive(Debug, Serialize, JsonSchema)]
pub struct QuietHours {
    from: String,
    to: String,
}

/// A message at a time.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CalendarSend {
    address: String,
    /// Which variant of an experiment, from 1.
    variant: Option<usize>,
    /// Which of several times of one message, from 1.
    number: Option<usize>,
    /// File and line where it is declared.
    place: Option<ShownLine>,
    /// Day and time in the calendar's zone; by each device's own clock what that shows.
    shown: String,
    #[serde(flatten)]
    when: Moment,
    /// The zone that its author wrote.
    written_zone: String,
    /// The content of the message.
    message: Option<String>,
    /// Who gets it, in words.
    who: String,
    /// The kinds of device that it goes to; none: every kind.
    device_types: Vec<String>,
    /// Whether its time has passed.
    passed: bool,
    /// Whether it is in quiet hours by the author's clock, where people can have that, or by each device's own.
    quiet: bool,
    /// Whether those who get it can be anywhere: then `there` has big cities of the world.
    anywhere: bool,
    /// What the other clocks show where people can be, from west to east.
    there: Vec<There>,
    /// Places in `collisions`, from 0.
    collisions: Vec<usize>,
    /// Messages of pipelines that a tap on it can set off.
    then: Vec<Then>,
}

/// When: one moment, or the same time by each device's own clock.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Moment {
    /// Whether it goes by each device's own clock.
    by_own_clock: bool,
    /// The moment; by each device's own clock the first, where that time comes first.
    first: String,
    /// The moment; by each device's own clock the last.
    last: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ShownLine {
    file: String,
    line: usize,
}

/// A clock somewhere else.
#[derive(Debug, Serialize, JsonSchema)]
pub struct There {
    city: String,
    /// The IANA name of its zone.
    zone: String,
    /// What the clock shows.
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
    /// From when on.
    #[serde(flatten)]
    from: Moment,
    /// From when on a tap sets nothing off any more.
    until: Option<String>,
}

/// A message that is sent whenever something happens.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Whenever {
    address: String,
    place: Option<ShownLine>,
    /// When, in words.
    when: String,
    delay_seconds: i64,
    /// From when on, where it is later than now.
    from: Option<String>,
    /// From when on no more.
    until: Option<String>,
    message: Option<String>,
}

/// Two messages that are too near to each other.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Near {
    one: NearSide,
    other: NearSide,
    /// How far apart they are at the least.
    apart_seconds: i64,
    /// Who gets both, for example; nothing where the audiences are too complex to tell.
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
