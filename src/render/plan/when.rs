//! When it messages people: by the author's clock, by UTC, by the clocks over there; or what sets it off.

use super::View;
use crate::plan::{Action, Change};
use crate::render::layout::{Paint, Row, Words};
use crate::timing::{Times, words};

/// How many times are told.
const TIMES: usize = 6;

/// When a change messages people, where it does so by itself.
pub fn rows(view: &View, change: &Change) -> Vec<Row> {
    if matches!(change.action, Action::Adopt | Action::Forget | Action::Keep | Action::Past) {
        return Vec::new();
    }
    let (old, new) = view.review.both_times(change);
    if old.is_empty() && new.is_empty() {
        return set_off(view, change).into_iter().collect();
    }
    let shown: &[Times] = if new.is_empty() { &old } else { &new };
    // Where all are the same moment, once is enough.
    let one = shown.iter().all(|times| times.when == shown[0].when);
    let alike = one && old.iter().all(|times| times.when == old[0].when);
    let mut row = Row { lines: Vec::new(), ..Row::new("when", Words::default()) };
    for (number, times) in shown.iter().enumerate().take(if alike { 1 } else { TIMES }) {
        let before = old.get(number).filter(|before| !new.is_empty() && before.when != times.when);
        row.lines.extend(lines(view, before, times, times.label.as_deref().filter(|_| !alike)));
    }
    if !alike && shown.len() > TIMES {
        row.lines.push(Words::new(&format!("and {} more times", shown.len() - TIMES)));
    }
    vec![row]
}

fn lines(view: &View, before: Option<&Times>, times: &Times, label: Option<&str>) -> Vec<Words> {
    let now = view.plan.made;
    let label = label.map(|label| format!("{label}: ")).unwrap_or_default();
    let told = match before {
        Some(before) => words::changed(before, times, now),
        None => words::when(times, now),
    };
    let mut first = Words::new(&label);
    first = if before.is_some() { first.paint(&told, Paint::Changed) } else { first.and(&told) };
    let over_there = words::elsewhere(times, words::MOST);
    let mut second = Words::default();
    for (number, told) in over_there.iter().enumerate() {
        let gap = if number > 0 { "   " } else { "" };
        let paint = if told.ends_with("quiet)") { Paint::Asks } else { Paint::Faint };
        second = second.and(gap).together(told, paint);
    }
    std::iter::once(first).chain((!over_there.is_empty()).then_some(second)).collect()
}

/// What sets off a pipeline.
fn set_off(view: &View, change: &Change) -> Option<Row> {
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
pub fn near(view: &View, change: &Change) -> Vec<Row> {
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
