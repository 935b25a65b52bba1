//! The messages of single devices before and after, in rows that every form shows.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::PlanView;
use crate::plan::{LockScreen, MessagePeople, People, ReplayedDevice};
use crate::text::{count, quoted, short};

/// The number of lock screens that one side of a device shows.
const SCREENS: usize = 5;
/// The number of characters of a text on a lock screen.
const TEXT: usize = 120;

/// The heading of the devices.
pub const TITLE: &str = "People";

/// The devices of one message.
#[derive(Debug)]
pub struct PeopleRow<'p> {
    pub of: &'p MessagePeople,
    pub devices: Vec<PersonRow<'p>>,
}

/// A device, with its messages.
#[derive(Debug)]
pub struct PersonRow<'p> {
    pub device: &'p ReplayedDevice,
    pub before: Timeline,
    pub after: Timeline,
    /// Whether it receives the same on both sides.
    pub is_same: bool,
}

/// One side of a device.
#[derive(Debug)]
pub struct Timeline {
    pub screens: Vec<ScreenRow>,
    /// The text after the screens, or instead of them: `nothing until 18 Dec`, `and 3 more`.
    pub rest: Option<String>,
}

/// A message as it is shown on a device.
#[derive(Debug)]
pub struct ScreenRow {
    /// The local time of the device: `Fri 27 Nov 09:00`.
    pub when: String,
    pub title: Option<String>,
    /// Its text, or a note that it has none.
    pub text: String,
    pub from: String,
}

/// The devices of a plan, if any were replayed.
pub fn people<'p>(view: &PlanView<'p>) -> Option<&'p People> {
    view.plan.told.people.as_ref().filter(|people| !people.of.is_empty())
}

/// What the rows show: `What sample devices receive until 18 Dec in their local time, with and without this plan.`
pub fn about(people: &People) -> String {
    let day = people.until.to_zoned(TimeZone::UTC).strftime("%-d %b %Y");
    format!("What sample devices receive until {day} in their local time, with and without this plan.")
}

/// The number of messages without devices.
pub fn left_out(people: &People) -> Option<String> {
    let words = || format!("{} with other recipients not replayed", count(people.left_out, "more message"));
    (people.left_out > 0).then(words)
}

pub fn rows(people: &People) -> Vec<PeopleRow<'_>> {
    let mut rows = Vec::new();
    for of in &people.of {
        rows.push(PeopleRow { of, devices: of.devices.iter().map(|device| person(device, people.until)).collect() });
    }
    rows
}

fn person(device: &ReplayedDevice, until: Timestamp) -> PersonRow<'_> {
    let zone = TimeZone::get(&device.zone).unwrap_or(TimeZone::UTC);
    let ReplayedDevice { before, after, .. } = device;
    let (own, other) = (timeline(before, &zone, until), timeline(after, &zone, until));
    PersonRow { device, before: own, after: other, is_same: before == after }
}

fn timeline(screens: &[LockScreen], zone: &TimeZone, until: Timestamp) -> Timeline {
    let rest = match screens.len() {
        0 => Some(format!("nothing until {}", zone.to_datetime(until).strftime("%-d %b"))),
        all if all > SCREENS => Some(format!("and {} more", all - SCREENS)),
        _ => None,
    };
    Timeline { screens: screens.iter().take(SCREENS).map(|one| screen(one, zone)).collect(), rest }
}

fn screen(screen: &LockScreen, zone: &TimeZone) -> ScreenRow {
    let LockScreen { at, from, title, alert, message } = screen;
    let whole = |text: &str| short(&crate::render::one_line(text.trim()), TEXT);
    let text = match (alert.as_deref().filter(|alert| !alert.trim().is_empty()), message) {
        (Some(alert), _) => quoted(&whole(alert)),
        (None, Some(message)) => format!("Message Center: {}", quoted(&whole(message))),
        (None, None) => "no text".to_owned(),
    };
    let when = zone.to_datetime(*at).strftime("%a %-d %b %H:%M").to_string();
    ScreenRow { when, title: title.as_deref().map(whole), text, from: from.clone() }
}

impl PersonRow<'_> {
    /// `joins`, `leaves` or `excluded`.
    pub fn part(&self) -> &'static str {
        self.device.part.word()
    }

    /// The device in words, with its time zone: `a device in GB (Europe/London)`.
    pub fn words(&self) -> String {
        format!("{} ({})", self.device.words, self.device.zone)
    }

    /// The sides that are shown, each with its label: one side if both are the same.
    pub fn sides(&self) -> Vec<(&'static str, &Timeline)> {
        match self.is_same {
            true => vec![("before and after", &self.after)],
            false => vec![("before", &self.before), ("after", &self.after)],
        }
    }
}
