//! The local times at which recipients get a message: a strip of a day for each, with quiet hours shaded.

use jiff::civil::{DateTime, Time};
use maud::{Markup, html};

use crate::nouns::quiet::Quiet;
use crate::nouns::schedule::When;
use crate::plan::{Action, Change};
use crate::render::one_line;
use crate::review::{Review, Side};
use crate::timing::{Times, words};

/// The number of times of one change that are drawn.
const DRAWN: usize = 4;
/// The number of clocks of one time that are drawn.
const CLOCKS: usize = 16;
/// The minutes of a day.
const DAY: i64 = 24 * 60;
/// The smallest distance from the ends of the strip, in minutes, at which a mark is fully visible.
const EDGE: i64 = 12;

/// The strips of a change, for its new times, or for its old ones if the change deletes it.
pub fn zones(review: &Review, change: &Change) -> Markup {
    let side = if change.action == Action::Delete { Side::Before } else { Side::After };
    let times = review.times(change, side);
    // Variants that are sent at the same time share one picture.
    let is_first = |(number, one): &(usize, &Times)| times[..*number].iter().all(|before| before.when != one.when);
    let all: Vec<&Times> = times.iter().enumerate().filter(is_first).map(|(_, one)| one).collect();
    let quiet = review.plan.told.quiet;
    html! {
        @for times in all.iter().take(DRAWN) {
            section.part.zones {
                h4 { "When it arrives" @if let Some(label) = times.label().filter(|_| all.len() > 1) { ": " (one_line(&label)) } }
                p { (one_line(&words::when(times, review.plan.made))) }
                (strips(times, quiet))
            }
        }
        @if let more @ 1.. = all.len().saturating_sub(DRAWN) { p.faint { "and " (more) " more times" } }
    }
}

/// The local time of some recipients.
struct Clock {
    whose: String,
    at: DateTime,
    quiet: bool,
}

fn clocks(times: &Times) -> Vec<Clock> {
    let own = match times.when {
        When::EachZone(at) => Clock { whose: "Recipients' local time".to_owned(), at, quiet: times.quiet },
        When::At(instant) => {
            let whose = words::zone(&times.zone).rsplit('/').next().unwrap_or_default().replace('_', " ");
            Clock { whose, at: times.zone.to_datetime(instant), quiet: times.quiet }
        }
    };
    let there = times.there.iter().map(|there| Clock { whose: there.city(), at: there.at, quiet: there.quiet });
    std::iter::once(own).chain(there).collect()
}

fn strips(times: &Times, quiet: Option<Quiet>) -> Markup {
    let mut clocks = clocks(times);
    let left = clocks.len().saturating_sub(CLOCKS);
    clocks.truncate(CLOCKS);
    html! {
        ul.clocks {
            @for clock in &clocks { (strip(clock, quiet)) }
        }
        div.hours aria-hidden="true" { span { "0" } span { "6" } span { "12" } span { "18" } span { "24 h" } }
        p.faint {
            @if let Some(quiet) = quiet { "Shaded: quiet hours, " (hour(quiet.from)) " to " (hour(quiet.to)) " in \
                their local time. " }
            @if times.anywhere { "Recipients can be in any time zone; these are large cities. " }
            @if left > 0 { (left) " more time zones are not shown." }
        }
    }
}

fn strip(clock: &Clock, quiet: Option<Quiet>) -> Markup {
    let shown = clock.at.strftime("%H:%M %a").to_string();
    let minute = i64::from(clock.at.hour()) * 60 + i64::from(clock.at.minute());
    let is_quiet = if clock.quiet { ", in quiet hours" } else { "" };
    html! {
        li {
            span.city { (one_line(&clock.whose)) }
            svg.day viewBox=(format!("0 0 {DAY} 20")) preserveAspectRatio="none" role="img"
                aria-label=(format!("{}: {shown}{is_quiet}", one_line(&clock.whose))) {
                rect.hours-of-day width=(DAY) height="20" {}
                @for (from, to) in quiet.map(shaded).unwrap_or_default() { rect.quiet x=(from) width=(to - from) height="20" {} }
                @for hour in [6, 12, 18] { path.tick d=(format!("M{} 0V20", hour * 60)) {} }
                path.mark.disturbs[clock.quiet] d=(format!("M{} 10h0", minute.clamp(EDGE, DAY - EDGE))) {}
            }
            span.at { (shown) @if clock.quiet { " " span.chip.changed { "quiet" } } }
        }
    }
}

/// The quiet minutes of a day: one range, or two if it crosses midnight.
fn shaded(quiet: Quiet) -> Vec<(i64, i64)> {
    let minute = |time: Time| i64::from(time.hour()) * 60 + i64::from(time.minute());
    let (from, to) = (minute(quiet.from), minute(quiet.to));
    if from <= to { vec![(from, to)] } else { vec![(0, to), (from, DAY)] }
}

fn hour(time: Time) -> String {
    time.strftime("%H:%M").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_night_is_shaded_on_both_sides_of_midnight() {
        let time = |text: &str| text.parse().expect("a time");
        let quiet = |from, to| Quiet { from: time(from), to: time(to) };
        assert_eq!(shaded(quiet("21:00", "08:30")), [(0, 510), (1260, 1440)]);
        assert_eq!(shaded(quiet("13:00", "15:00")), [(780, 900)]);
    }
}
