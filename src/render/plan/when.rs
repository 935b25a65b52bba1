//! When it messages people: by the author's clock, by UTC, by the clocks over there; or what sets it off.

use super::PlanView;
use crate::plan::{Action, Change};
use crate::render::layout::{Paint, Row, Words};
use crate::text::count;
use crate::timing::{Times, words};

/// How many times are told with the clocks over there; and how many messages that are near.
const TIMES: usize = 6;

/// When a change messages people, where it does so by itself.
pub fn rows(view: &PlanView, change: &Change) -> Vec<Row> {
    if matches!(change.action, Action::Adopt | Action::Forget | Action::Keep | Action::Past) {
        return Vec::new();
    }
    let both = view.review.both_times(change);
    let (old, new) = (&both.old, &both.new);
    let Some(shown) = new.first().or(old.first()) else { return set_off(view, change).into_iter().collect() };
    let mut row = Row { lines: Vec::new(), ..Row::new("when", Words::default()) };
    // Where all are the same moment, once is enough.
    let is_whole = old.is_empty() || new.is_empty() || both.each().all(|(was, is)| was.is_some() && is.is_some());
    if is_whole && are_alike(old) && are_alike(new) {
        let before = old.first().filter(|before| !new.is_empty() && before.when != shown.when);
        row.lines = lines(view, Words::default(), before, shown, true);
        return vec![row];
    }
    let mut all: Vec<_> = both.each().collect();
    let is_same = |(was, is): &(Option<&Times>, Option<&Times>)| was.map(|was| was.when) == is.map(|is| is.when);
    let stay = !old.is_empty() && !new.is_empty();
    let mut more = 0;
    if all.len() > TIMES && stay {
        // What stays is left out, and nothing else.
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
            (was, Some(is)) => lines(view, words, was.filter(|was| was.when != is.when), is, clocks),
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

/// A time behind some words, and what it was before where that was another. Clocks over there are told where they are asked for,
/// or where people sleep.
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

/// What sets off a pipeline.
fn set_off(view: &PlanView, change: &Change) -> Option<Row> {
    let words = match view.review.both_set_off(change) {
        (Some(old), Some(new)) if old != new => {
            Words::default().paint(&old, Paint::Old).and(" -> ").paint(&new, Paint::New)
        }
        (_, Some(told)) | (Some(told), None) => Words::new(&told),
        (None, None) => return None,
    };
    Some(Row::new("when", words))
}

/// Other messages that the same people would get shortly before or after.
pub fn near(view: &PlanView, change: &Change) -> Vec<Row> {
    let told = view.collisions().of(&change.address);
    let mut rows: Vec<Row> = Vec::new();
    let mut said: Vec<String> = Vec::new();
    for (collision, earlier) in told.iter() {
        if said.len() == TIMES {
            break;
        }
        let words = words::collision(collision, *earlier);
        // Variants that go out together are near to the same.
        if !said.contains(&words) {
            said.push(words);
        }
    }
    for words in said {
        let words = Words::default().paint(&words, Paint::Asks);
        match rows.first_mut() {
            Some(row) => row.lines.push(words),
            None => rows.push(Row::new("near", words).paint(Paint::Asks)),
        }
    }
    if let Some(row) = rows.first_mut().filter(|_| told.len() > TIMES) {
        row.lines.push(Words::new(&format!("and {} more", told.len() - TIMES)));
    }
    rows
}
