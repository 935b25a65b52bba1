//! The changed messages, in rows that every form shows: the message, the audience, the time, and the causes.

mod said;

use std::collections::BTreeSet;

use super::{NextSteps, PlanView, Risk, loosened, reach};
use crate::address::Address;
use crate::audience::Relation;
use crate::guard::Guard;
use crate::nouns::split::Share;
use crate::plan::{Action, Change, DeclaredAt};
use crate::render::layout::Paint;
use crate::review::prose::Piece;
use crate::review::{EACH_DEVICE, MessageCause, MessageChange, MessageClass, MessageFate, MessageGroup};
use crate::text::{all_of, count, short};
use crate::timing::Times;
use crate::timing::words;

/// What a message changes because of if its own audience is edited: what stands before its name, and after it.
const OWN_AUDIENCE: (&str, &str) = ("the audience of ", "was edited");
/// The number of senders of one row that are named.
const NAMED: usize = 3;
/// The number of changes without effect on messages that are named.
const OTHERS: usize = 5;
/// The number of rows without risk that are shown.
const CALM: usize = 12;

/// A row.
#[derive(Clone, Debug)]
pub struct MessageRow {
    pub class: MessageClass,
    /// The sender, or the number of senders.
    pub name: String,
    /// The sender, if it is a single resource of the plan.
    pub address: Option<Address>,
    /// `variant 2`, or the first names of several senders.
    pub part: Option<String>,
    pub when: Option<String>,
    /// The text, word by word.
    pub text: Vec<Piece>,
    /// The people who join or leave, or the recipients.
    pub who: Vec<(WhoMark, String)>,
    /// The number of devices that it reaches, if that was counted.
    pub reach: Option<String>,
    /// The places where it is sent in quiet hours.
    pub quiet: Option<String>,
    /// The new hosts.
    pub hosts: Vec<String>,
    pub because: Vec<Because>,
    /// Nothing changes before a manual step.
    pub is_by_hand: bool,
}

/// The number of causes of one row that are named.
const CAUSES: usize = 6;
/// The audience of a message for everyone.
const EVERYONE: &str = "to every device of its device types";
/// The note about a manual step.
pub const BY_HAND: &str = "unchanged until the manual steps below are done";

/// The effect on some people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhoMark {
    Joins,
    Leaves,
    Gets,
}

/// A cause of a changed message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Because {
    /// What of it changes: `the audience of `. Empty if that is not said.
    pub part: &'static str,
    /// An address, or the source of a value: `var.discount`, `overlays.eu`, a body file.
    pub name: String,
    /// `None` if it is not a resource.
    pub address: Option<Address>,
    pub words: String,
    pub place: Option<DeclaredAt>,
}

impl Because {
    /// `all.yaml:2`.
    pub fn place(&self) -> Option<String> {
        self.place.as_ref().map(|place| format!("{}:{}", place.file, place.line))
    }
}

impl MessageRow {
    pub fn risk(&self) -> Risk {
        match self.class {
            MessageClass::SendsNow | MessageClass::SendsLater => Risk::Sends,
            class if class.is_risky() => Risk::Audience,
            MessageClass::Time => Risk::Time,
            MessageClass::Text => Risk::Text,
            _ => Risk::None,
        }
    }

    pub fn paint(&self) -> Paint {
        match self.class {
            MessageClass::SendsNow | MessageClass::SendsLater | MessageClass::Everyone => Paint::Danger,
            MessageClass::More | MessageClass::Different | MessageClass::QuietHours | MessageClass::NewHost => {
                Paint::Asks
            }
            MessageClass::Time | MessageClass::Text => Paint::Changed,
            MessageClass::Fewer | MessageClass::Nobody | MessageClass::Cancelled => Paint::Old,
            MessageClass::New => Paint::New,
        }
    }
}

/// The sentences about the impact, each with its colour, including that the plan would be refused.
pub fn verdict(view: &PlanView, ahead: Option<&NextSteps>) -> Vec<(String, Paint)> {
    let mut out = at_stake(view);
    out.extend(safety(view, ahead).into_iter().map(|words| (words, Paint::Danger)));
    out
}

/// The changes for recipients.
fn at_stake(view: &PlanView) -> Vec<(String, Paint)> {
    let said = view.review.verdict();
    let mut out: Vec<(String, Paint)> = said
        .iter()
        .map(|one| (format!("{}.", one.words), if one.class.is_risky() { Paint::Danger } else { Paint::Strong }))
        .collect();
    if out.is_empty() {
        out.push(("No message changes.".to_owned(), Paint::Strong));
    }
    out
}

/// The reverted changes of the dashboard, the loosened guards, and the note that the plan would be refused.
pub fn safety(view: &PlanView, ahead: Option<&NextSteps>) -> Vec<String> {
    let undoing = view.undoing();
    // A refusal for this reason says so itself.
    let is_refused = ahead.is_some_and(|ahead| ahead.refused.iter().any(|refused| refused.guard == Guard::Drift));
    let reverts = format!("This reverts {} made in the dashboard.", count(undoing, "change"));
    let reverts = (undoing > 0 && !is_refused).then_some(reverts);
    let guards = loosened::sentences(view).into_iter().map(|words| format!("{words}."));
    reverts.into_iter().chain(guards).chain(ahead.and_then(NextSteps::refusal)).collect()
}

/// The verdict in a limited number of characters. The note that the plan would be refused is never cut.
pub fn short_verdict(view: &PlanView, ahead: Option<&NextSteps>, most: usize) -> String {
    let safety = safety(view, ahead).join(" ");
    let at_stake: Vec<String> = at_stake(view).into_iter().map(|(words, _)| words).collect();
    let room = most.saturating_sub(safety.chars().count() + 1).max(most / 3);
    let whole = format!("{} {safety}", short(&at_stake.join(" "), room));
    whole.trim_end().to_owned()
}

/// The changes that concern no message, deletions first: `Deletes segments/old. Other changes: segments/vip and templates/new.`
pub fn others(view: &PlanView) -> Option<String> {
    let impact = view.review.impact();
    let told: BTreeSet<Address> = impact
        .iter()
        .flat_map(|message| message.causes.iter().map(|cause| cause.address.resource()))
        .chain(impact.iter().map(|message| message.address.resource()))
        .collect();
    let is_other = |change: &&Change| {
        change.is_told() && change.action != Action::Past && !told.contains(&change.address.resource())
    };
    let others: BTreeSet<Address> =
        view.plan.changes.iter().filter(is_other).map(|change| change.address.resource()).collect();
    let deletions = view.blocks.iter().filter(|block| block.action == Action::Delete).map(|block| &block.address);
    let deletions: BTreeSet<&Address> = deletions.filter(|address| others.contains(address)).collect();
    let of = |action: Action| -> BTreeSet<&Address> {
        view.blocks.iter().filter(|block| block.action == action).map(|block| &block.address).collect()
    };
    let (replacements, moves) = (of(Action::Replace), view.moved());
    let (deleted, rest): (Vec<&Address>, Vec<&Address>) =
        others.iter().partition(|address| deletions.contains(address));
    let (replaced, rest): (Vec<&Address>, Vec<&Address>) =
        rest.into_iter().partition(|address| replacements.contains(*address));
    let (moved, changed): (Vec<&Address>, Vec<&Address>) =
        rest.into_iter().partition(|address| moves.contains(*address));
    let other = impact.is_empty() && deleted.is_empty() && replaced.is_empty() && moved.is_empty();
    let changes = if other { "Changes:" } else { "Other changes:" };
    let named = [("Deletes", deleted), ("Replaces", replaced), ("Renames in the ledger:", moved), (changes, changed)];
    let sentence =
        |(verb, all): (&str, Vec<&Address>)| (!all.is_empty()).then(|| format!("{verb} {}.", first_of(&all)));
    let sentences: Vec<String> = named.into_iter().filter_map(sentence).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// Names the first ones, and counts the others.
fn first_of(addresses: &[&Address]) -> String {
    let mut named: Vec<String> = addresses.iter().take(OTHERS).map(ToString::to_string).collect();
    if addresses.len() > OTHERS {
        named.push(format!("{} more", addresses.len() - OTHERS));
    }
    all_of(&named)
}

/// The rows, and the number of those left out. All risky ones are shown.
pub fn rows(view: &PlanView) -> (Vec<MessageRow>, usize) {
    let groups = view.review.message_groups();
    let calm = groups.iter().filter(|group| !group.first.class.is_risky()).count();
    let mut shown = 0;
    let mut rows = Vec::new();
    for group in &groups {
        if !group.first.class.is_risky() {
            shown += 1;
            if shown > CALM {
                continue;
            }
        }
        rows.push(row(view, group));
    }
    (rows, calm.saturating_sub(CALM))
}

fn row(view: &PlanView, group: &MessageGroup) -> MessageRow {
    let message = group.first;
    let many = group.senders() > 1;
    let names = || {
        let mut senders: Vec<String> = group.messages.iter().map(|message| message.sender.clone()).collect();
        senders.dedup();
        let more = senders.len().saturating_sub(NAMED);
        senders.truncate(NAMED);
        if more > 0 {
            senders.push(format!("{more} more"));
        }
        all_of(&senders)
    };
    let is_ours = message.sender == message.address.to_string();
    MessageRow {
        class: message.class,
        name: group.name(),
        address: (is_ours && !many).then(|| message.address.clone()),
        part: if many { Some(names()) } else { part(group) },
        when: if many { when_of_many(group) } else { when(message) },
        text: said::text(group),
        who: [unchanged_times(group), who(group)].concat(),
        reach: reach::of_group(view.plan, group),
        quiet: quiet(group),
        hosts: message.new_hosts.iter().map(|host| format!("new host: {}", host.words())).collect(),
        because: because(group),
        is_by_hand: message.is_by_hand,
    }
}

/// The part of a resource, and that it is new if its class does not say so.
fn part(group: &MessageGroup) -> Option<String> {
    let is_new = group.first.fate == MessageFate::New && group.first.class != MessageClass::New;
    let parts = [group.part(), is_new.then(|| "new".to_owned())];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The shift of several messages, or the first and the last time of added or removed ones.
fn when_of_many(group: &MessageGroup) -> Option<String> {
    let message = group.first;
    if message.fate == MessageFate::Changed {
        // Either all of them have the same times or the same trigger, or all move by the same length.
        let is_moved = |(was, is): &(Option<Times>, Option<Times>)| {
            was.as_ref().map(|times| times.when) != is.as_ref().map(|times| times.when)
        };
        let is_alike = message.times.iter().any(is_moved) || message.trigger.0 != message.trigger.1;
        return message.shift().map(words::shift).or_else(|| when(message).filter(|_| is_alike));
    }
    let (first, last) = group.first_and_last()?;
    let (from, to) = (words::brief(first), words::brief(last));
    Some(if first.when == last.when { from } else { format!("{from} to {to}") })
}

/// The times of a few messages that do not change, each after the key of its sender: `sale: Thu 10 Dec 2026 10:00 UTC`.
fn unchanged_times(group: &MessageGroup) -> Vec<(WhoMark, String)> {
    let is_few = group.senders() > 1 && group.messages.len() <= NAMED && when_of_many(group).is_none();
    let one = |message: &&MessageChange| Some((WhoMark::Gets, format!("{}: {}", message.address.key, when(message)?)));
    group.messages.iter().filter(|_| is_few).filter_map(one).collect()
}

/// The send time, and the previous one if it changes.
fn when(message: &MessageChange) -> Option<String> {
    match message.after_seconds {
        Some(0) => return Some("at once".to_owned()),
        Some(seconds) => return Some(format!("after {}", words::length(seconds))),
        None => {}
    }
    match &message.trigger {
        (Some(old), Some(new)) if old != new => return Some(changed_trigger(message, old, new)),
        (_, Some(happens)) => return Some(format!("when {happens}")),
        (Some(happens), None) => return Some(format!("no longer when {happens}")),
        (None, None) => {}
    }
    let told = |(was, is): &(Option<Times>, Option<Times>)| match (was, is) {
        (Some(was), Some(is)) if was.when != is.when => words::brief_change(was, is),
        (None, Some(is)) if message.fate == MessageFate::Changed => format!("new: {}", words::brief(is)),
        (_, Some(is)) => words::brief(is),
        (Some(was), None) if message.fate == MessageFate::Changed => format!("no longer {}", words::brief(was)),
        (Some(was), None) => words::brief(was),
        (None, None) => String::new(),
    };
    let is_moved = |(was, is): &&(Option<Times>, Option<Times>)| {
        was.as_ref().map(|times| times.when) != is.as_ref().map(|times| times.when)
    };
    // A changed time comes first.
    let first = message.times.iter().find(is_moved).or(message.times.first())?;
    let (moved, stay): (Vec<_>, Vec<_>) = message.times.iter().partition(is_moved);
    let (moved, stay) = (moved.len(), stay.len());
    let more = match (message.fate == MessageFate::Changed && moved > 0, message.times.len() - 1) {
        (_, 0) => String::new(),
        (false, others) => format!("; {}", count(others, "other time")),
        (true, _) => {
            let changes = (moved > 1).then(|| format!("; {}", count(moved - 1, "other change")));
            let stay = (stay > 0).then(|| format!("; {} unchanged", count(stay, "time")));
            [changes, stay].into_iter().flatten().collect()
        }
    };
    Some(format!("{}{more}", told(first)))
}

/// The old and the new trigger. A trigger that stays is named once, with its delays.
fn changed_trigger(message: &MessageChange, old: &str, new: &str) -> String {
    match message.new_delay() {
        Some((happens, was, is)) => format!("{was} → {is} after {happens}"),
        None => format!("when {old} → when {new}"),
    }
}

fn who(group: &MessageGroup) -> Vec<(WhoMark, String)> {
    let message = group.first;
    let audience = &message.audience;
    let of = if group.has_same_examples() { String::new() } else { format!(" {}", message.sender) };
    if message.fate == MessageFate::Sent {
        let named: Vec<&str> = message.recipients.iter().take(NAMED).map(String::as_str).collect();
        let more = message.recipients.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let devices = if message.is_to_users() { EACH_DEVICE } else { "" };
        return vec![(WhoMark::Gets, format!("to {}{more}{devices}", named.join(", ")))];
    }
    let (was, is) = (times(message, |(was, _)| was), times(message, |(_, is)| is));
    let again = match message.fate == MessageFate::Changed && was != is {
        true => format!(", {} (until now {was})", count(is, "time")),
        false => String::new(),
    };
    let again = format!("{again}{}", share(group));
    let excluded = if audience.is_example_freed { ", excluded until now" } else { "" };
    match &audience.relation {
        _ if audience.nobody => vec![(WhoMark::Leaves, "no device can get it any more".to_owned())],
        Some(Relation::Same) if audience.everyone => vec![(WhoMark::Gets, format!("to everyone, as before{again}"))],
        Some(Relation::Same) => {
            let part = message.shares.and_then(|shares| shares.moved_words());
            let words = match part {
                Some((was, is)) => format!("to {is} of the same audience (until now {was})"),
                None => format!("to the same people{again}"),
            };
            vec![(WhoMark::Gets, words)]
        }
        Some(Relation::TooComplex) => {
            vec![(WhoMark::Joins, "its audience is too complex to compare: check who gets it".to_owned())]
        }
        Some(relation) => {
            let joins =
                relation.joins().map(|device| (WhoMark::Joins, format!("joins{of}, for example: {device}{excluded}")));
            let leaves =
                relation.leaves().map(|device| (WhoMark::Leaves, format!("leaves{of}, for example: {device}")));
            let all = audience.everyone.then(|| (WhoMark::Gets, EVERYONE.to_owned()));
            let moved = message.shares.and_then(|shares| shares.moved_words());
            let share = moved.map(|(was, is)| (WhoMark::Gets, format!("{is} of them gets it, not {was}")));
            joins.into_iter().chain(leaves).chain(all).chain(share).collect()
        }
        None if audience.everyone => vec![(WhoMark::Gets, format!("{EVERYONE}{again}"))],
        None if audience.words.is_empty() => Vec::new(),
        None => vec![(WhoMark::Gets, format!("to {}{again}", audience.words))],
    }
}

/// The share of the audience that gets a variant, if that changes or is not an equal part: `, to 40 % of them`.
fn share(group: &MessageGroup) -> String {
    let message = group.first;
    let Some(shares) = message.shares.filter(|shares| shares.is_said(message.fate)) else { return String::new() };
    let each = if group.messages.len() > 1 { " each" } else { "" };
    match (shares.moved_words(), shares.new) {
        (Some((was, is)), _) => format!(", to {is} of them (until now {was})"),
        (None, Some(new)) => format!(", to {} of them{each}", Share::both(new, new, shares.is_even).0),
        (None, None) => String::new(),
    }
}

fn times(message: &MessageChange, side: impl Fn(&(Option<Times>, Option<Times>)) -> &Option<Times>) -> usize {
    message.times.iter().filter(|pair| side(pair).is_some()).count()
}

fn quiet(group: &MessageGroup) -> Option<String> {
    if let Some(quiet) = group.first.any_hour {
        return Some(format!("also in quiet hours ({quiet})"));
    }
    let clocks = group.quiet();
    let (first, more) = clocks.split_first()?;
    let more = if more.is_empty() { String::new() } else { format!(" and {}", count(more.len(), "more time zone")) };
    Some(format!("quiet hours: {first}{more}"))
}

/// The causes of the row's change, besides an edit of its own.
fn because(group: &MessageGroup) -> Vec<Because> {
    let message = group.first;
    let is_other = |cause: &&MessageCause| !cause.words.is_empty();
    let others = message.causes.iter().any(|cause| is_other(&cause));
    // Its own edit is listed if another cause could be taken for the only one.
    let own = message.causes.iter().find(|cause| !is_other(cause)).filter(|_| others && message.audience.is_own);
    let one = |cause: &MessageCause| {
        let (part, words) = if cause.words.is_empty() { OWN_AUDIENCE } else { ("", cause.words.as_str()) };
        let address = cause.origin.is_none().then(|| cause.address.clone());
        Because { part, name: cause.name(), address, words: words.to_owned(), place: cause.place.clone() }
    };
    let mut causes: Vec<Because> = own.into_iter().chain(message.causes.iter().filter(is_other)).map(one).collect();
    let more = causes.len().saturating_sub(CAUSES);
    if more > 1 {
        causes.truncate(CAUSES);
        let name = format!("{more} other changes");
        causes.push(Because { part: "", name, address: None, words: "contribute".to_owned(), place: None });
    }
    causes
}
