//! Audience: as a sentence or a tree, with the effect of a change, and the users of a segment.

use std::collections::BTreeSet;

use super::{PlanView, past, words};
use crate::address::Address;
use crate::audience::Relation;
use crate::kinds::remote::to_come;
use crate::kinds::{self, Resource, Segment, remote};
use crate::plan::{Action, Change, Reason, RemoteThing};
use crate::render::layout::{Paint, Row, Words};
use crate::review::{Mark, Marked, Who, before};

/// The label of the audience.
pub const WHO: &str = "who";
/// The label of the effect on the audience.
pub(crate) const EFFECT: &str = "effect";
/// The number of lines of a tree that are shown.
const LINES: usize = 40;
/// The number of users of a segment that are shown.
const USERS: usize = 12;

/// The audience and its changes.
pub fn rows(view: &PlanView, change: &Change) -> Vec<Row> {
    if matches!(change.action, Action::Adopt | Action::Forget | Action::Keep | Action::Past) {
        return Vec::new();
    }
    let mut rows = Vec::new();
    let is_segment = *change.address.kind == *Segment::KEY;
    for who in view.review.who(change).iter() {
        rows.extend(one(change, who, is_segment));
    }
    if is_segment {
        rows.extend(users(view, change));
    }
    rows.extend(split(view, change));
    rows
}

/// The division of the audience: `50 % / 50 % → 40 % / 40 % / 20 % nobody`.
fn split(view: &PlanView, change: &Change) -> Option<Row> {
    let words = match view.review.splits(change)? {
        (Some(old), Some(new)) if old != new => {
            Words::default().paint(&old.to_string(), Paint::Old).and(" → ").paint(&new.to_string(), Paint::New)
        }
        (_, Some(one)) | (Some(one), None) => Words::new(&one.to_string()),
        (None, None) => return None,
    };
    Some(Row::new("split", words))
}

fn one(change: &Change, who: &Who, is_segment: bool) -> Vec<Row> {
    let edited = who.tree.iter().any(|line| line.mark != Mark::Same);
    let comes_or_goes = who.effect.is_none();
    let told = match (comes_or_goes, edited) {
        (true, _) if is_segment => lines(&who.tree, mark_of(change)),
        (false, true) => lines(&who.tree, None),
        _ => vec![Words::new(&who.words)],
    };
    // If the audience of a segment is unchanged, the change concerns other fields.
    let same = matches!(who.effect, Some(Relation::Same)) && !edited;
    if is_segment && same {
        return Vec::new();
    }
    let mut row = Row::new(WHO, Words::default());
    row.lines = told;
    row.lines
        .extend(who.meaning.iter().map(|words| Words::default().paint(&format!("that is: {words}"), Paint::Faint)));
    row.lines.extend(
        who.last_applied.iter().map(|words| {
            Words::default().paint(&format!("last applied: {words}; the service was edited"), Paint::Asks)
        }),
    );
    let mut rows = vec![row];
    if let Some(effect) = who.effect.as_ref().filter(|_| !same) {
        let paint = if *effect == Relation::Same { Paint::Plain } else { Paint::Strong };
        let through = if who.through { " (through a segment in the audience)" } else { "" };
        rows.push(Row::new(EFFECT, Words::default().paint(&effect.to_string(), paint).and(through)));
    }
    rows
}

fn mark_of(change: &Change) -> Option<Paint> {
    match change.action {
        Action::Create => Some(Paint::New),
        Action::Delete => Some(Paint::Old),
        _ => None,
    }
}

/// A tree with additions and removals. In a long tree, unchanged lines are shown only near changes or if they lead to
/// one.
fn lines(tree: &[Marked], whole: Option<Paint>) -> Vec<Words> {
    let mut kept = vec![true; tree.len()];
    if tree.len() > LINES && whole.is_none() {
        kept = near_changes(tree);
    }
    let mut out: Vec<Words> = Vec::new();
    let mut skipped = 0;
    let gap = |out: &mut Vec<Words>, skipped: &mut usize| {
        if *skipped > 0 {
            out.push(Words::default().paint(&format!("  … {skipped} more, unchanged"), Paint::Faint));
            *skipped = 0;
        }
    };
    let marked = tree.iter().any(|line| line.mark != Mark::Same) && whole.is_none();
    for (line, keep) in tree.iter().zip(kept) {
        if !keep {
            skipped += 1;
            continue;
        }
        gap(&mut out, &mut skipped);
        if out.len() >= LINES {
            break;
        }
        let (sign, paint) = match (line.mark, whole) {
            (_, Some(paint)) => ("", paint),
            (Mark::Comes, _) => ("+ ", Paint::New),
            (Mark::Goes, _) => ("- ", Paint::Old),
            (Mark::Same, _) if marked => ("  ", Paint::Plain),
            (Mark::Same, _) => ("", Paint::Plain),
        };
        let mut indent = sign.to_owned();
        (0..line.line.depth).for_each(|_| indent.push_str("  "));
        out.push(Words::after(&indent, paint).paint(&line.line.text, paint));
    }
    gap(&mut out, &mut skipped);
    let shown = out.len();
    if tree.len() > shown && shown >= LINES {
        out.push(
            Words::default().paint(&format!("… {} lines in all; --format json has them", tree.len()), Paint::Faint),
        );
    }
    out
}

/// Marks the lines that change, their neighbours, and their parents.
fn near_changes(tree: &[Marked]) -> Vec<bool> {
    let mut kept = vec![false; tree.len()];
    for at in (0..tree.len()).filter(|at| tree[*at].mark != Mark::Same) {
        let from = at.saturating_sub(1);
        kept[from..tree.len().min(at + 2)].fill(true);
        let mut depth = tree[at].line.depth;
        for above in (0..at).rev() {
            if tree[above].line.depth < depth {
                if kept[above] && above < from {
                    break;
                }
                kept[above] = true;
                depth = tree[above].line.depth;
            }
            if depth == 0 {
                break;
            }
        }
    }
    kept
}

/// The resources that name a changed segment, with the effect on each.
fn users(view: &PlanView, change: &Change) -> Option<Row> {
    let holders = Holders::of(change);
    let gone = change.action == Action::Delete;
    // For a deleted segment, only those that still name it.
    let names = |user: &&&Change| {
        let audiences = kinds::api(&user.address).audiences();
        let desired = user.desired.iter().flat_map(|spec| remote::segments(audiences, spec));
        !gone || holders.by.contains(&user.address) || desired.into_iter().any(|key| key == change.address.key)
    };
    let users: Vec<&Change> = view.review.users(&change.address.key).iter().filter(names).copied().collect();
    if users.is_empty() {
        let nobody = if view.is_by_files() { "nothing in your files" } else { "nothing that is left" };
        return gone.then(|| Row::new("used by", Words::new(nobody)));
    }
    let mut row = Row { lines: Vec::new(), ..Row::new("used by", Words::default()) };
    let widest = users.iter().take(USERS).map(|user| user.address.to_string().chars().count()).max().unwrap_or(0);
    for (number, user) in users.iter().take(USERS).enumerate() {
        let last = number + 1 == users.len();
        let branch = if last { "└─ " } else { "├─ " };
        let address = user.address.to_string();
        let pad = " ".repeat(widest.min(44).saturating_sub(address.chars().count()) + 2);
        let sign = format!("{branch}{} ", user.shown().symbol());
        row.lines.push(
            Words::after(&sign, Paint::Plain)
                .paint(&address, Paint::Strong)
                .and(&pad)
                .and(&touched(view, user, &holders)),
        );
    }
    if users.len() > USERS {
        row.lines.push(Words::new(&format!("└─ and {} more", users.len() - USERS)));
    }
    Some(row)
}

/// Those that still use what a change would delete.
#[derive(Debug)]
pub struct Holders<'c> {
    by: BTreeSet<&'c Address>,
    /// Whether that is an old version of a segment that stays.
    is_old_version: bool,
}

impl<'c> Holders<'c> {
    pub fn of(change: &'c Change) -> Self {
        Self { by: holders(change), is_old_version: change.desired.is_some() || change.is_outdated() }
    }
}

fn holders(change: &Change) -> BTreeSet<&Address> {
    let by = change.reasons.iter().filter_map(|reason| match reason {
        Reason::StillUsed { by, .. } => Some(by),
        _ => None,
    });
    let ours = by.flatten().filter_map(|thing| match thing {
        RemoteThing::Ours(address) => Some(address),
        _ => None,
    });
    ours.collect()
}

/// The effect of a changed segment on a resource that names it and may be one of its holders.
pub fn touched(view: &PlanView, user: &Change, holders: &Holders) -> String {
    let holds = holders.by.contains(&user.address);
    let uses = if holders.is_old_version { "still uses the old version" } else { "still uses it" };
    let api = kinds::api(&user.address);
    // A resource that waits for a manual step is sent unchanged.
    let old = before(user).filter(|_| holds || user.action == Action::ByHand);
    let spec = old.or(user.desired.as_deref()).or(before(user));
    let runs = spec.and_then(|spec| api.runs(spec));
    let has_begun = runs.is_some_and(|runs| runs.has_begun(view.plan.made));
    let rest = spec.filter(|_| has_begun).map(|spec| to_come(&api.times(spec), view.plan.made)).unwrap_or_default();
    let when = runs.and_then(|runs| runs.first).map(words::moment).unwrap_or_default();
    let goes = match rest.is_empty() {
        _ if when.is_empty() && rest.is_empty() => String::new(),
        true if has_begun && runs.is_some_and(|runs| runs.first == runs.last) => format!("was due {when}"),
        true if has_begun => format!("began {when}"),
        true => format!("is sent {when}"),
        false => format!("is still sent {}", past::coming(&rest)),
    };
    match user.shown() {
        _ if holds && !goes.is_empty() => format!("{uses}; {goes}"),
        _ if holds => uses.to_owned(),
        Action::Replace if !when.is_empty() => format!("starts {when}; can be replaced until then"),
        Action::Past if user.rest().is_empty() => "its time has passed".to_owned(),
        _ if !goes.is_empty() => goes,
        Action::Keep => match view.review.users(&user.address.key).len() {
            number if *user.address.kind == *Segment::KEY && number > 0 => {
                format!("and {} through it", crate::text::count(number, "other resource"))
            }
            _ => String::new(),
        },
        action => action.word().to_owned(),
    }
}
