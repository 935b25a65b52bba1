//! Past runs and their actors: a line for each, or all changes of one.

pub mod json;

use std::collections::BTreeMap;
use std::fmt::Write;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use unicode_width::UnicodeWidthStr;

use super::layout::{self, Paint, Row, Words, painted};
use super::plan::value;
use super::{Style, one_line};
use crate::address::Address;
use crate::ledger::history::{Act, Changed, Deed, Ending};
use crate::ledger::{Done, Ended, Verb};
use crate::plan::Action;
use crate::review::fields::Difference;

/// The number of addresses in a line.
const NAMED: usize = 2;

/// A line for each run, newest first.
pub fn list(target: &str, deeds: &[Deed], style: Style) -> String {
    if deeds.is_empty() {
        return format!("Nothing was applied to {} yet.", one_line(target));
    }
    let lines: Vec<[String; 5]> = deeds.iter().rev().map(line).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].width()).max().unwrap_or_default();
    let widths: [usize; 4] = [width(0), width(1), width(2), width(3)];
    let mut out = String::new();
    for (line, deed) in lines.iter().zip(deeds.iter().rev()) {
        let [number, at, actor, ended, what] = line;
        let pad = |text: &str, column: usize| " ".repeat(widths[column].saturating_sub(text.width()));
        let ended = format!("{}{}", painted(ended, paint(deed), style), pad(ended, 3));
        let row = format!("{}{number}  {at}  {actor}{}  {ended}  {what}", pad(number, 0), pad(actor, 2));
        let _ = writeln!(out, "{}", row.trim_end());
    }
    let _ = write!(out, "\n`pushplan history N` shows the changes of one run.");
    out
}

fn line(deed: &Deed) -> [String; 5] {
    let ended = deed.run.as_ref().map_or("ledger only", |run| run.ended.word());
    let counts = || counts(deed).into_iter().map(|(word, number)| format!("{number} {word}")).collect::<Vec<_>>();
    let what = match &deed.run {
        Some(run) => run.reverts.map(reverts).into_iter().chain(counts()).collect::<Vec<_>>().join(", "),
        None => deed.note.map_or_else(|| by_hand(deed), str::to_owned),
    };
    let what = if what.is_empty() { "nothing".to_owned() } else { what };
    [deed.number.to_string(), moment(deed.at), one_line(&deed.actor), ended.to_owned(), one_line(&what)]
}

/// The words for a run that reverts another.
fn reverts(number: usize) -> String {
    format!("revert of {number}")
}

fn by_hand(deed: &Deed) -> String {
    let named: Vec<String> =
        deed.changes.iter().take(NAMED).map(|changed| format!("{} {}", word(changed), changed.address)).collect();
    let more = deed.changes.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", named.join(", "))
}

/// The number of resources per result. One that is applied in parts counts once.
fn counts(deed: &Deed) -> Vec<(&'static str, usize)> {
    let done: Vec<&Changed> = deed.changes.iter().filter(|changed| changed.is_done()).collect();
    // A replacement creates one version and deletes the other, in either order.
    let is = |changed: &Changed, verb: Verb| changed.act == Act::Step(verb);
    let both = |changed: &Changed, verb: Verb| done.iter().any(|one| is(one, verb) && one.address == changed.address);
    let word = |changed: &Changed| match is(changed, Verb::Create) && both(changed, Verb::Delete) {
        true => "replaced",
        false => word(changed),
    };
    let is_counted = |changed: &&Changed| !(is(changed, Verb::Delete) && both(changed, Verb::Create));
    let counted: Vec<&Changed> = done.iter().copied().filter(is_counted).collect();
    let mut parts: BTreeMap<Address, Vec<&'static str>> = BTreeMap::new();
    for changed in counted.iter().filter(|changed| deed.parts_before.contains_key(&changed.address.resource())) {
        parts.entry(changed.address.resource()).or_default().push(word(changed));
    }
    let whole = |changed: &&Changed| match parts.contains_key(&changed.address.resource()) {
        true => None,
        false => Some((order(word(changed)), word(changed))),
    };
    let in_parts = parts.iter().map(|(resource, words)| of_parts(words, deed.parts_before[resource]));
    let all = counted.iter().filter_map(whole).chain(in_parts.map(|word| (order(word), word)));
    let mut numbers: BTreeMap<(usize, &'static str), usize> = BTreeMap::new();
    all.for_each(|word| *numbers.entry(word).or_default() += 1);
    let mut words: Vec<(&'static str, usize)> = numbers.into_iter().map(|((_, word), number)| (word, number)).collect();
    let failed = |changed: &&Changed| matches!(changed.result, Some(Done::Not { .. }));
    let rest = [
        ("failed", deed.changes.iter().filter(failed).count()),
        ("unconfirmed", deed.changes.iter().filter(|changed| changed.is_open()).count()),
    ];
    words.extend(rest.into_iter().filter(|(_, number)| *number > 0));
    words
}

/// The word for a resource, from those for its changed parts and the number of its parts before.
fn of_parts(words: &[&'static str], before: usize) -> &'static str {
    let first = words[0];
    let is_whole = match first {
        "created" | "adopted" => before == 0,
        _ => words.len() == before,
    };
    if is_whole && words.iter().all(|word| *word == first) { first } else { Verb::Update.done() }
}

/// The place of a word in a list of counts.
fn order(word: &str) -> usize {
    const WORDS: [&str; 8] = ["created", "replaced", "updated", "deleted", "adopted", "forgotten", "moved", "resolved"];
    WORDS.iter().position(|known| *known == word).unwrap_or(WORDS.len())
}

/// The word for a change, the same as in a plan.
fn word(changed: &Changed) -> &'static str {
    match changed.act {
        Act::Step(Verb::Create) if changed.before.is_some() => "replaced",
        // It was managed already: `pull` recorded its live state.
        Act::Step(Verb::Adopt) if changed.before.is_some() => "updated",
        _ => changed.act.done(),
    }
}

fn paint(deed: &Deed) -> Paint {
    match deed.run.as_ref().map(|run| run.ended) {
        None => Paint::Faint,
        Some(Ending::Ended(Ended::Done)) => Paint::New,
        Some(Ending::Ended(Ended::Partly)) => Paint::Danger,
        Some(Ending::Ended(Ended::Interrupted) | Ending::CutOff | Ending::NotEnded) => Paint::Asks,
    }
}

fn moment(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M:%SZ").to_string()
}

/// All changes of one run.
pub fn one(target: &str, deed: &Deed, style: Style) -> String {
    let mut out = String::new();
    let ended = match &deed.run {
        None => "a change to the ledger only".to_owned(),
        Some(run) if run.ended == Ending::NotEnded => "not ended: it is running or was interrupted".to_owned(),
        Some(run) => run.ended.word().to_owned(),
    };
    let head = Words::default().paint(&format!("{} of {target}", deed.number), Paint::Strong);
    layout::paragraph(&mut out, &head.and(": ").paint(&ended, paint(deed)), 0, style);
    let mut rows = vec![Row::new("when", Words::new(&moment(deed.at))), Row::new("who", Words::new(&deed.actor))];
    if let Some(run) = &deed.run {
        rows.push(Row::new("plan", Words::new(&format!("{}, pushplan {}", run.plan.short(), run.tool))));
        if let Some(number) = run.reverts {
            rows.push(Row::new("reverts", Words::new(&format!("the changes of {number}"))));
        }
    }
    layout::rows(&mut out, &rows, 2, style);
    match deed.note {
        Some(note) => out.push_str(&format!("\n{note}\n")),
        None if deed.changes.is_empty() => out.push_str("\nNothing was changed.\n"),
        None => {}
    }
    for changed in &deed.changes {
        out.push('\n');
        change(&mut out, changed, style);
    }
    out
}

fn change(out: &mut String, changed: &Changed, style: Style) {
    let (symbol, paint) = sign(changed);
    let left = Words::after(&format!("{symbol} "), paint).paint(&changed.address.to_string(), Paint::Strong);
    let word = word(changed);
    let (result, paint) = match &changed.result {
        Some(Done::Done { .. }) => (to(changed, word), Paint::Plain),
        Some(Done::Not { why }) => (format!("not {word}: {why}"), Paint::Danger),
        Some(Done::Unknown { why }) => (format!("unconfirmed, {word}: {why}"), Paint::Asks),
        None => (format!("unconfirmed, {word}: the result is unknown"), Paint::Asks),
    };
    layout::paragraph(out, &left.and("  ").paint(&result, paint), 0, style);
    let difference = Difference::between(changed.before.as_deref(), changed.after.as_deref());
    let rows: Vec<Row> = difference
        .fields
        .iter()
        .map(|field| {
            let words = match (field.old, field.new) {
                (Some(old), Some(new)) => {
                    let (old, new) = value::pair(old, new);
                    Words::default().paint(&old, Paint::Old).and(" → ").paint(&new, Paint::New)
                }
                (Some(old), None) => Words::after("- ", Paint::Old).paint(&value::shown(old), Paint::Old),
                (None, Some(new)) => Words::after("+ ", Paint::New).paint(&value::shown(new), Paint::New),
                (None, None) => Words::default(),
            };
            Row::new(&field.path, words)
        })
        .collect();
    layout::rows(out, &rows, 4, style);
}

/// The word for a change, with its result.
fn to(changed: &Changed, word: &str) -> String {
    match (&changed.act, &changed.id) {
        (Act::Move(to), _) => format!("{word} to {to}"),
        (Act::Resolve, None) => format!("{word}: it does not exist"),
        (_, Some(id)) => format!("{word}, id {id}"),
        (_, None) => word.to_owned(),
    }
}

/// The symbol of a plan for the same change.
fn sign(changed: &Changed) -> (&'static str, Paint) {
    match &changed.act {
        Act::Step(Verb::Create) if changed.before.is_some() => (Action::Replace.symbol(), Paint::Changed),
        Act::Step(Verb::Create) => (Action::Create.symbol(), Paint::New),
        Act::Step(Verb::Update) => (Action::Update.symbol(), Paint::Changed),
        Act::Step(Verb::Delete) => (Action::Delete.symbol(), Paint::Old),
        Act::Step(Verb::Adopt) => (Action::Adopt.symbol(), Paint::New),
        Act::Step(Verb::Forget) => (Action::Forget.symbol(), Paint::Faint),
        Act::Move(_) | Act::Step(Verb::Move) => (Action::Update.symbol(), Paint::Changed),
        Act::Resolve => (Action::ByHand.symbol(), Paint::Asks),
    }
}
