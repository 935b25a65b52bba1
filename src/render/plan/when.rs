//! Send times: in the manifest's time zone, in UTC and in recipients' local time; or the trigger.

use std::collections::BTreeSet;

use super::PlanView;
use crate::address::Address;
use crate::plan::{Action, Change};
use crate::render::layout::{Paint, Row, Words};
use crate::review::{RuleChange, after, before};
use crate::text::count;
use crate::timing::{Collision, Times, words};

/// The number of times that are shown with recipients' local times.
const TIMES: usize = 6;

/// The times at which a change sends messages on its own.
pub fn rows(view: &PlanView, change: &Change) -> Vec<Row> {
    if matches!(change.action, Action::Adopt | Action::Forget | Action::Keep | Action::Past) {
        return Vec::new();
    }
    let both = view.review.both_times(change);
    let (old, new) = (&both.old, &both.new);
    let Some(shown) = new.first().or(old.first()) else {
        return set_off(view, change).into_iter().chain(rules(view, change)).collect();
    };
    let mut row = Row { lines: Vec::new(), ..Row::new("when", Words::default()) };
    // If all times are the same, they are shown once.
    let is_whole = old.is_empty() || new.is_empty() || both.each().all(|(was, is)| was.is_some() && is.is_some());
    if is_whole && are_alike(old) && are_alike(new) {
        let before = old.first().filter(|before| !new.is_empty() && before.when != shown.when);
        let is_other = before.is_some() || old.is_empty() || new.is_empty();
        row.lines = match is_other {
            true => lines(view, Words::default(), before, shown, true),
            false => vec![Words::new(&words::when(shown, view.plan.made))],
        };
        return vec![row];
    }
    let mut all: Vec<_> = both.each().collect();
    let is_same = |(was, is): &(Option<&Times>, Option<&Times>)| was.map(|was| was.when) == is.map(|is| is.when);
    let stay = !old.is_empty() && !new.is_empty();
    let mut more = 0;
    if all.len() > TIMES && stay {
        // Only unchanged times are left out.
        all.sort_by_key(is_same);
        let changed = all.iter().filter(|pair| !is_same(pair)).count();
        more = all.len() - changed.max(TIMES);
        all.truncate(changed.max(TIMES));
    }
    for (number, (was, is)) in all.iter().enumerate() {
        let label = is.or(*was).and_then(Times::label).map(|label| format!("{label}: ")).unwrap_or_default();
        let words = Words::new(&label);
        let clocks = number < TIMES;
        row.lines.extend(match (was, is) {
            (Some(was), None) if stay => {
                let label = if label.is_empty() { label } else { format!("former {label}") };
                let told = format!("no longer {}", words::when(was, view.plan.made));
                vec![Words::new(&label).paint(&told, Paint::Old)]
            }
            (None, Some(is)) if stay => lines(view, words.paint("new: ", Paint::New), None, is, clocks),
            (Some(was), Some(is)) if was.when == is.when => vec![words.and(&words::when(is, view.plan.made))],
            (was, Some(is)) => lines(view, words, *was, is, clocks),
            (Some(was), None) => lines(view, words, None, was, clocks),
            (None, None) => Vec::new(),
        });
    }
    if more > 0 {
        row.lines.push(Words::new(&format!("and {}", count(more, "more time"))));
    }
    vec![row]
}

fn are_alike(all: &[Times]) -> bool {
    all.iter().all(|times| times.when == all[0].when)
}

/// A time after some words, and the previous time if it differs. Recipients' local times follow if requested, or if
/// some are in quiet hours.
fn lines(view: &PlanView, begin: Words, before: Option<&Times>, times: &Times, clocks: bool) -> Vec<Words> {
    let now = view.plan.made;
    let first = match before {
        Some(before) => begin.paint(&words::changed(before, times, now), Paint::Changed),
        None => begin.and(&words::when(times, now)),
    };
    let clocks = clocks || times.there.iter().any(|there| there.quiet);
    let over_there = if clocks { words::elsewhere(times, words::MOST) } else { Vec::new() };
    let mut second = Words::default();
    for (number, told) in over_there.iter().enumerate() {
        let gap = if number > 0 { "   " } else { "" };
        let paint = if told.ends_with("quiet)") { Paint::Asks } else { Paint::Faint };
        second = second.and(gap).together(told, paint);
    }
    std::iter::once(first).chain((!over_there.is_empty()).then_some(second)).collect()
}

/// The trigger of a pipeline.
fn set_off(view: &PlanView, change: &Change) -> Option<Row> {
    let words = match view.review.both_set_off(change) {
        (Some(old), Some(new)) if old != new => {
            Words::default().paint(&old, Paint::Old).and(" → ").paint(&new, Paint::New)
        }
        (_, Some(told)) | (Some(told), None) => Words::new(&told),
        (None, None) => return None,
    };
    Some(Row::new("when", words))
}

/// The fields that decide whether a triggered message is sent: `at most 1 push in 24 hours to one device`.
fn rules(view: &PlanView, change: &Change) -> Vec<Row> {
    let is_whole = before(change).is_none() || after(change).is_none();
    let one = |rule: RuleChange| {
        let words = match (rule.old, rule.new) {
            (Some(old), Some(new)) if old == new => Words::new(&new),
            (None, Some(only)) | (Some(only), None) if is_whole => Words::new(&only),
            (old, new) => {
                let side = |side: Option<String>| side.unwrap_or_else(|| "(none)".to_owned());
                Words::default().paint(&side(old), Paint::Old).and(" → ").paint(&side(new), Paint::New)
            }
        };
        Row::new(rule.label, words)
    };
    view.review.rules(change).into_iter().map(one).collect()
}

/// Other messages that the same people would get shortly before or after: the nearest one, and the number of others.
pub fn near(view: &PlanView, change: &Change) -> Option<Row> {
    let near = view.collisions();
    let told = near.of(&change.address);
    let (first, earlier) = told.iter().min_by_key(|(collision, _)| collision.apart_seconds)?;
    let words = Words::default().paint(&words::collision(first, *earlier), Paint::Asks);
    let row = Row::new("too close", words).paint(Paint::Asks);
    let another = |(collision, earlier): &(&Collision, bool)| {
        let Collision { one, other, .. } = collision;
        (if *earlier { other } else { one }).address.clone()
    };
    let nearest = another(&(*first, *earlier));
    let others: BTreeSet<Address> = told.iter().map(another).filter(|address| *address != nearest).collect();
    Some(match others.len() {
        0 => row,
        more => {
            let apart = words::length(near.all.apart_seconds);
            row.line(Words::new(&format!("and {} within {apart}", count(more, "more message"))))
        }
    })
}
