//! The output of `pull`: the files that it wrote, the resources that it did not pull, and why.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use similar::TextDiff;

use super::{Repetition, one_line, visible};
use crate::address::Address;
use crate::kinds::{self, Kind};
use crate::ledger::Adopted;
use crate::manifest::edit::{Clash, Placed, Settled, Unplaced};
use crate::pull::{Gone, Left, PulledFile};
use crate::source::{Position, Sources, Span};
use crate::text;

/// The number of resources with the same reason that are named.
const NAMED: usize = 5;

/// A count of a kind: `2 segments`.
pub fn count(number: usize, kind: &Kind) -> String {
    match number {
        1 => format!("1 {}", kind.noun),
        _ => format!("{number} {}", kind.plural()),
    }
}

/// The counts of each kind.
fn counts(addresses: &[Address]) -> String {
    let mut of: BTreeMap<&str, usize> = BTreeMap::new();
    for address in addresses {
        *of.entry(&address.kind).or_default() += 1;
    }
    let counts = of.iter().filter_map(|(kind, number)| Some(count(*number, kinds::kind(kind)?)));
    text::all_of(&counts.collect::<Vec<_>>())
}

/// One line for a file: `Wrote segments.yaml: 12 segments`. Many new files share one line.
pub fn files(files: &[(String, PulledFile)], done: bool) -> Vec<String> {
    let (wrote, added) = if done { ("Wrote", "Added") } else { ("Would write", "Would add") };
    let (few, many): (Vec<_>, Vec<_>) =
        files.iter().partition(|(_, file)| files.len() <= MANY || file.before.is_some());
    let mut lines: Vec<String> = few.iter().map(|(name, file)| one(name, file, wrote, added)).collect();
    if !many.is_empty() {
        let gains: Vec<Address> = many.iter().flat_map(|(_, file)| file.gains.clone()).collect();
        lines.push(format!("{wrote} {}: {}", text::count(many.len(), "file"), counts(&gains)));
    }
    lines
}

/// Above this number, new files are not listed one by one.
const MANY: usize = 40;

fn one(name: &str, file: &PulledFile, wrote: &str, added: &str) -> String {
    let (name, gains) = (one_line(name), counts(&file.gains));
    match (&file.before, &file.instead_of) {
        (Some(_), _) => format!("{added} to {name}: {gains}"),
        (None, None) => format!("{wrote} {name}: {gains}"),
        (None, Some(other)) => {
            format!("{wrote} {name}: {gains}, since {} is there and cannot be added to", one_line(other))
        }
    }
}

/// The resources that are not pulled, by kind and reason.
pub fn left(all: &[Left]) -> Vec<String> {
    let mut by_reason: BTreeMap<(&str, bool, &str), Vec<&Left>> = BTreeMap::new();
    for left in all {
        by_reason.entry((left.kind, left.is_part, &left.why)).or_default().push(left);
    }
    let line = |((kind, is_part, why), some): (&(&str, bool, &str), &Vec<&Left>)| {
        let kind = kinds::kind(kind)?;
        let number = match is_part {
            true => format!("{} of {}", text::count(some.len(), "part"), kind.plural()),
            false => count(some.len(), kind),
        };
        let named = some.iter().take(NAMED).map(|left| match left.name == left.id || left.name.is_empty() {
            true => text::short(&left.id, 60),
            false => format!("{} ({})", text::short(&left.name, 60), text::short(&left.id, 60)),
        });
        let mut named: Vec<String> = named.collect();
        if some.len() > NAMED {
            named.push(format!("{} more", some.len() - NAMED));
        }
        Some(format!("Skipped: {number}: {why}: {}", named.join(", ")))
    };
    by_reason.iter().filter_map(line).map(|line| one_line(&line)).collect()
}

/// The change of a file, as a diff; `before`: its current content.
pub fn diff(name: &str, before: Option<&str>, after: &str) -> String {
    let old = if before.is_some() { format!("a/{name}") } else { "/dev/null".to_owned() };
    let diff = TextDiff::from_lines(before.unwrap_or_default(), after);
    let text =
        diff.unified_diff().context_radius(3).header(&one_line(&old), &one_line(&format!("b/{name}"))).to_string();
    visible(text.trim_end_matches('\n'))
}

/// The values that were edited in place, and the other targets for which the edit has an effect.
pub fn edited(settled: &Settled, done: bool) -> Vec<String> {
    let is_edited = |placed: &Placed| !placed.edits.is_empty() || !placed.bodies.is_empty();
    let all = settled.placed.iter().filter(|(_, placed)| is_edited(placed));
    let word = if done { "Edited" } else { "Would edit" };
    let line = |(address, placed): (&Address, &Placed)| {
        let values = text::count(placed.edits.len() + placed.bodies.len(), "place");
        let also = settled.also.get(address).map(|targets| {
            let (noun, uses) = if targets.len() == 1 { ("target", "uses") } else { ("targets", "use") };
            format!("; this also changes it for the {noun} {}, which {uses} the same manifest", text::all_of(targets))
        });
        let gone = settled.remarks_gone.get(address).map(|number| match done {
            true => format!("; {} went with what was removed", text::count(*number, "comment")),
            false => format!("; {} would go with what is removed", text::count(*number, "comment")),
        });
        one_line(&format!("{word} {address} in {values}{}{}", also.unwrap_or_default(), gone.unwrap_or_default()))
    };
    all.map(line).collect()
}

/// The resources that were adopted because the files already declare them as they are.
pub fn agreed(all: &BTreeSet<Address>, done: bool) -> Option<String> {
    let mut named: Vec<String> = all.iter().take(NAMED).map(|it| text::short(&it.to_string(), 120)).collect();
    if all.len() > NAMED {
        named.push(format!("{} more", all.len() - NAMED));
    }
    let word = if done { "Adopted" } else { "Would adopt" };
    (!all.is_empty()).then(|| one_line(&format!("{word} as declared: {}", text::all_of(&named))))
}

/// The counts of completed and remaining work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ending {
    /// Resources that the files already declare as they are on the service.
    pub agreed: usize,
    /// Resources that are added to the files.
    pub pulled: usize,
    /// Tag groups that are added to the files because resources name them.
    pub groups: usize,
    pub edited: usize,
    pub by_hand: usize,
    /// Declared resources that were removed on the service.
    pub gone: usize,
    /// Resources that wait for a decision in a plan.
    pub undecided: usize,
}

impl Ending {
    /// Whether no work remains.
    pub fn is_whole(&self) -> bool {
        self.by_hand + self.gone + self.undecided == 0
    }
}

/// The last line: completed work, remaining work, and how to continue. `plan`: the command that makes a plan.
pub fn ending(ending: &Ending, done: bool, plan: &str) -> String {
    let would_be = if done { "" } else { "would be " };
    let of = |number: usize, what: &str| {
        (number > 0).then(|| format!("{} {}", text::count(number, "resource"), what.replace("{}", would_be)))
    };
    let said: Vec<String> = [
        of(ending.agreed, "{}adopted as declared"),
        of(ending.pulled, "{}pulled and adopted"),
        (ending.groups > 0)
            .then(|| format!("{} {would_be}added to the files", text::count(ending.groups, "tag group"))),
        of(ending.edited, "{}edited in place"),
        of(ending.by_hand, "left for you to edit"),
        of(ending.gone, "removed on the service and left for you to delete in your files"),
        of(ending.undecided, "left for you to decide about"),
    ]
    .into_iter()
    .flatten()
    .collect();
    match said.is_empty() {
        true => format!(
            "Nothing to pull: nothing changed on the service since the last apply or pull. {plan} shows differences \
                in your files."
        ),
        false if !done => format!("{}. Nothing was written.", said.join(", ")),
        false => format!("{}. Next: {plan}", said.join(", ")),
    }
}

/// The resources that change because of an edit elsewhere.
pub fn following(settled: &Settled) -> Option<String> {
    let mut named: Vec<String> = settled.following.iter().take(NAMED).map(ToString::to_string).collect();
    if settled.following.len() > NAMED {
        named.push(format!("{} more", settled.following.len() - NAMED));
    }
    let change = if settled.following.len() == 1 { "changes" } else { "change" };
    let line = format!("With these edits, {} {change} too: `pushplan plan` shows how.", text::all_of(&named));
    (!named.is_empty()).then(|| one_line(&line))
}

/// The results for parts of resources that are applied in parts.
pub fn parts(adopted: &[Adopted], forgotten: &[Address], done: bool) -> Vec<String> {
    let is_part = |address: &&Address| address.part().is_some();
    let adopted: Vec<&Address> = adopted.iter().map(|it| &it.address).filter(is_part).collect();
    let line = |word: &str, parts: &[&Address], why: &str| {
        let mut named: Vec<String> = parts.iter().take(NAMED).map(|it| text::short(&it.to_string(), 120)).collect();
        if parts.len() > NAMED {
            named.push(format!("{} more", parts.len() - NAMED));
        }
        let said = format!("{word} {} {why}: {}", text::count(parts.len(), "part"), named.join(", "));
        (!parts.is_empty()).then(|| one_line(&said))
    };
    let (take, forget) = if done { ("Adopted", "Forgot") } else { ("Would adopt", "Would forget") };
    let taken = line(take, &adopted, "from the service");
    let gone = line(forget, &forgotten.iter().collect::<Vec<_>>(), "that the service no longer has");
    taken.into_iter().chain(gone).collect()
}

/// A resource that was removed on the service, and how to remove it from git.
pub fn gone(gone: &Gone) -> String {
    one_line(&format!("Removed on the service: {}. {}", gone.address, gone.way_out()))
}

/// Values that could not be written to git, each with the relevant places; `after`: the new content of files.
pub fn unplaced(settled: &Settled, sources: &Sources, after: &BTreeMap<&str, &str>, again: &Repetition) -> Vec<String> {
    let mut lines = Vec::new();
    for (address, placed) in &settled.placed {
        for Unplaced { path, live, words, places, notes, clash } in &placed.unplaced {
            let what = if path.is_empty() { String::new() } else { format!(" {path}") };
            let places = places.iter().filter(|(span, _)| span.file().is_some());
            let places = places.map(|(span, why)| format!("{}: {why}", place(*span, sources, after)));
            let places = places.chain(notes.iter().cloned()).collect::<Vec<_>>().join("; ");
            if let Some(Clash { git, applied }) = clash {
                lines.push(one_line(&format!(
                    "Not edited: {address}{what} was changed in git and on the service: git has {}, the service has \
                        {}, last applied was {} ({places}). The value in git is kept. Edit it there, or take the \
                        service's value with `{}`.",
                    side(git.value.as_ref(), git.words.as_ref()),
                    side(live.as_ref(), words.as_ref()),
                    side(applied.value.as_ref(), applied.words.as_ref()),
                    again.other(&format!("pull {} --theirs", text::shell_word(&address.to_string()))),
                )));
                continue;
            }
            let has = match live {
                Some(_) if path.is_empty() => "it was changed on the service".to_owned(),
                live => format!("the service has {}", side(live.as_ref(), words.as_ref())),
            };
            lines.push(one_line(&format!("Not edited: {address}{what}: {has} ({places})")));
        }
    }
    lines
}

/// A position in a file after it was written.
fn place(span: Span, sources: &Sources, after: &BTreeMap<&str, &str>) -> String {
    let Some(source) = span.file().map(|file| sources.get(file)) else { return String::new() };
    let Some(text) = after.get(&*source.path) else { return sources.place(span) };
    let Position { line, column } = source.position(span.range().start);
    let diff = TextDiff::from_lines(source.text.as_str(), *text);
    let old = line.saturating_sub(1);
    let Some(op) = diff.ops().iter().find(|op| op.old_range().contains(&old)) else { return sources.place(span) };
    let (was, is) = (op.old_range(), op.new_range());
    let new = (is.start + (old - was.start)).min(is.end.saturating_sub(1)).max(is.start);
    let (was, is) = (source.text.lines().nth(old).unwrap_or_default(), text.lines().nth(new).unwrap_or_default());
    format!("{}:{}:{}", source.path, new + 1, shifted(was, is, column))
}

/// The new column of a position after another edit in its line.
fn shifted(was: &str, is: &str, column: usize) -> usize {
    let (was, is): (Vec<char>, Vec<char>) = (was.chars().collect(), is.chars().collect());
    let same = was.iter().zip(&is).take_while(|(a, b)| a == b).count();
    let behind = was.iter().rev().zip(is.iter().rev()).take_while(|(a, b)| a == b).count();
    match column <= same || was.len() + 1 - column.min(was.len()) > behind {
        true => column,
        false => (column + is.len()).saturating_sub(was.len()).max(1),
    }
}

/// The value of one of several sides, in manifest syntax if that is known.
fn side(value: Option<&Value>, words: Option<&String>) -> String {
    let said = |value: &Value| words.cloned().unwrap_or_else(|| value.to_string());
    value.map_or_else(|| "nothing there".to_owned(), |value| text::short(&said(value), VALUE))
}

/// The number of characters of a value that are shown.
const VALUE: usize = 200;
