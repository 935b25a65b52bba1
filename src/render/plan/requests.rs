//! The requests of a block, in order, and the state if a run stops between them.

use std::collections::BTreeMap;

use super::{Block, PlanView};
use crate::address::Address;
use crate::ledger::Verb;
use crate::plan::{Action, Change, Step};
use crate::render::layout::{Paint, Row, Words};

/// The number of such states that are described.
const GAPS: usize = 6;
/// The number of requests of one block that are shown.
const REQUESTS: usize = 12;

/// The state that remains if a run stops in the middle of a change.
pub(crate) fn if_it_stops(view: &PlanView, change: &Change) -> Option<String> {
    stops(&steps(view, std::iter::once(change)))
}

/// The steps of changes, each with whether it is their own. A replacement includes the steps that update references to
/// it.
fn steps<'p>(view: &PlanView<'p>, changes: impl Iterator<Item = &'p Change>) -> Vec<(&'p Step, bool)> {
    let mut steps: Vec<(&Step, bool)> = Vec::new();
    for change in changes {
        steps.extend(view.steps_of(change).iter().map(|step| (*step, true)));
        if change.action == Action::Replace {
            let users = view.users_of(&change.address).iter();
            steps.extend(users.flat_map(|user| view.steps_of(user)).map(|step| (*step, false)));
        }
    }
    steps.sort_by_key(|(step, _)| step.number);
    steps.dedup_by_key(|(step, _)| step.number);
    steps
}

/// What is missing if a run stops between the deletion of an old version and the creation of the new one.
fn stops(steps: &[(&Step, bool)]) -> Option<String> {
    let sent: Vec<&Step> = steps.iter().map(|(step, _)| *step).filter(|step| step.request.is_some()).collect();
    if !sent.iter().any(|step| step.verb == Verb::Delete) {
        return None;
    }
    let made = sent.iter().enumerate().filter(|(_, step)| step.verb == Verb::Create);
    // If there are several, the last one counts.
    let made: BTreeMap<&Address, usize> = made.map(|(at, step)| (&step.address, at)).collect();
    let comes_later = |at: usize, step: &Step| made.get(&step.address).is_some_and(|made| *made > at);
    let gaps = sent.iter().enumerate().filter(|(at, step)| step.verb == Verb::Delete && comes_later(*at, step));
    let told: Vec<String> =
        gaps.take(GAPS).map(|(at, step)| format!("after {}: {} is gone", at + 1, step.address)).collect();
    let all = crate::text::any_of(&told);
    (!told.is_empty()).then(|| format!("if it stops {all} until the next apply; nothing is sent twice"))
}

/// The requests of a block in the order in which they are sent. A replacement includes those that update references to
/// it.
pub fn row(view: &PlanView, block: &Block) -> Option<Row> {
    let steps = steps(view, block.changes());
    let stops = stops(&steps);
    let mut lines: Vec<((&str, String, String), usize)> = Vec::new();
    for (step, own) in steps {
        let Some(request) = &step.request else { continue };
        let path = view.path(step, &request.path);
        let whose = if own { String::new() } else { format!("  {}", step.address) };
        let words = (request.method.word(), path.into_owned(), whose);
        match lines.last_mut().filter(|(last, _)| *last == words) {
            Some((_, times)) => *times += 1,
            None => lines.push((words, 1)),
        }
    }
    let more = lines.len().saturating_sub(REQUESTS);
    let numbered = lines.len() > 1;
    let mut row = Row { lines: Vec::new(), ..Row::new(if numbered { "order" } else { "request" }, Words::default()) };
    for (number, ((method, path, whose), times)) in lines.iter().take(REQUESTS).enumerate() {
        let times = if *times > 1 { format!("  {times} times") } else { String::new() };
        row.lines.push(match numbered {
            true => Words::after(&format!("{:<2}{method:<6} ", number + 1), Paint::Plain)
                .request(path)
                .and(whose)
                .and(&times),
            false => Words::new(&[method, " "].concat()).request(path).and(whose).and(&times),
        });
    }
    if more > 0 {
        row.lines.push(Words::new(&format!("… and {more} more; --format json has all of them")));
    }
    row.lines.extend(stops.map(|words| Words::default().paint(&words, Paint::Asks)));
    (!row.lines.is_empty()).then_some(row)
}
