//! Messages with the same change become one row: the variants of an experiment, the same edit in many pushes.

use std::collections::{HashMap, HashSet};

use pushplan_model::audience::Relation;
use pushplan_model::kinds;
use pushplan_model::nouns::schedule::When;
use pushplan_model::text::count;
use pushplan_project::timing::{Times, range};

use super::{AudienceChange, MessageChange, MessageFate};
use crate::review::Review;
use crate::review::prose;

/// Messages in one row.
#[derive(Clone, Debug)]
pub struct MessageGroup<'r> {
    pub first: &'r MessageChange,
    pub messages: Vec<&'r MessageChange>,
}

impl Review<'_> {
    /// The changed messages in rows, the most urgent first.
    pub fn message_groups(&self) -> Vec<MessageGroup<'_>> {
        let mut groups: Vec<MessageGroup> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for message in self.impact() {
            let next = groups.len();
            let place = *places.entry(key(message)).or_insert(next);
            match groups.get_mut(place) {
                Some(group) => group.messages.push(message),
                None => groups.push(MessageGroup { first: message, messages: vec![message] }),
            }
        }
        groups
    }
}

impl MessageGroup<'_> {
    /// How many resources send them.
    pub fn senders(&self) -> usize {
        // They are sorted by sender only within one time.
        let mut senders: Vec<&str> = self.messages.iter().map(|message| message.sender.as_str()).collect();
        senders.sort_unstable();
        senders.dedup();
        senders.len()
    }

    /// The name of the sender: an address, or the number of senders of a kind.
    pub fn name(&self) -> String {
        match self.senders() {
            1 => self.first.sender.clone(),
            number => {
                let kind = kinds::kind(&self.first.address.kind);
                count(number, kind.map_or("message", |kind| kind.noun))
            }
        }
    }

    /// The first and the last time of all of them: the new times, or the old ones if they are cancelled.
    pub fn first_and_last(&self) -> Option<(&Times, &Times)> {
        let times = self.messages.iter().flat_map(|message| &message.times);
        let times: Vec<&Times> = times.filter_map(|(was, is)| is.as_ref().or(was.as_ref())).collect();
        let by_moment = |times: &&Times| range(times.when);
        Some((times.iter().copied().min_by_key(by_moment)?, times.iter().copied().max_by_key(by_moment)?))
    }

    /// Whether all of them have the same examples of people who join and leave.
    pub fn has_same_examples(&self) -> bool {
        let words = |message: &MessageChange| message.audience.relation.as_ref().map(ToString::to_string);
        self.messages.iter().all(|message| words(message) == words(self.first))
    }

    /// The times in zones where any of them is in quiet hours, each once.
    pub fn quiet(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        let clocks = self.messages.iter().flat_map(|message| &message.quiet).map(String::as_str);
        clocks.filter(|clock| seen.insert(*clock)).collect()
    }

    /// The part of a single resource: `variant 2`, `2 variants`.
    pub fn part(&self) -> Option<String> {
        let each = self.first.each;
        match (self.senders(), self.messages.len(), self.first.variant) {
            (1, 1, Some(number)) => Some(format!("{each} {number}")),
            (1, several, Some(_)) => Some(count(several, each)),
            _ => None,
        }
    }
}

impl MessageChange {
    /// The number of seconds by which its times move, if it is the same for all of them.
    pub fn shift(&self) -> Option<i64> {
        let seconds = |(was, is): &(Option<Times>, Option<Times>)| match (was.as_ref()?.when, is.as_ref()?.when) {
            (When::At(was), When::At(is)) => Some(is.duration_since(was).as_secs()),
            (When::EachZone(was), When::EachZone(is)) => Some(is.duration_since(was).as_secs()),
            _ => None,
        };
        let (first, rest) = self.times.split_first()?;
        let shift = seconds(first).filter(|shift| *shift != 0)?;
        rest.iter().all(|pair| seconds(pair) == Some(shift)).then_some(shift)
    }
}

/// Whether a message is sent in recipients' local time.
fn is_by_own_clock((was, is): &(Option<Times>, Option<Times>)) -> bool {
    is.as_ref().or(was.as_ref()).is_some_and(|times| matches!(times.when, When::EachZone(_)))
}

/// The moments of a message, before and after.
fn moments(message: &MessageChange) -> String {
    let when = |times: &Option<Times>| times.as_ref().map(|times| times.when);
    let moments: Vec<_> = message.times.iter().map(|(was, is)| (when(was), when(is))).collect();
    format!("{moments:?}")
}

/// The causes of a changed message other than its own edit.
fn because(message: &MessageChange) -> Vec<String> {
    let causes = message.causes.iter().filter(|cause| !cause.words.is_empty());
    causes.map(|cause| format!("{} {}", cause.name(), cause.words)).collect()
}

/// Messages with the same key are shown in one row.
fn key(message: &MessageChange) -> String {
    let MessageChange { sender, address, class, fate, audience, text, times, trigger, new_hosts, is_by_hand, .. } =
        message;
    let kind = &address.kind;
    let is_triggered = trigger.0.is_some() || trigger.1.is_some();
    let is_own = format!("{sender} {:?}", message.after_seconds);
    match fate {
        MessageFate::Sent => is_own,
        // A message with many dates is added or deleted as a whole.
        MessageFate::New | MessageFate::Cancelled if !is_triggered => {
            let words = &audience.words;
            let sender = if message.variant.is_some() { sender } else { "" };
            let content = if sender.is_empty() { message.content.as_str() } else { "" };
            let clocks: Vec<bool> = times.iter().map(is_by_own_clock).collect();
            let because = because(message);
            let is_quiet = !message.quiet.is_empty();
            let share = message.shares.map(|shares| shares.new.or(shares.old));
            format!(
                "{sender} {kind} {fate:?} {class:?} {words} {content} {clocks:?} {because:?} {is_quiet} {new_hosts:?} \
                 {is_by_hand} {share:?}"
            )
        }
        // The variants of one experiment only differ in their texts.
        MessageFate::New | MessageFate::Cancelled => {
            format!("{sender} {fate:?} {class:?} {trigger:?} {new_hosts:?} {is_by_hand}")
        }
        MessageFate::Changed => {
            let edit = match text.is_changed || !text.fields.is_empty() {
                true => format!("{} {:?}", prose::edit(text.old.as_deref(), text.new.as_deref()), text.fields),
                false => String::new(),
            };
            let shift = message.shift();
            // Times that move by different amounts are named one by one.
            let moved = match shift.is_none() && times.iter().any(super::is_moved) {
                true => moments(message),
                false => String::new(),
            };
            let because = because(message);
            let is_edited = !edit.is_empty() || !audience.edit.is_empty() || shift.is_some();
            // Separate edits of several resources are no common cause.
            let sender = if is_edited || !because.is_empty() { "" } else { sender };
            let relation = audience.relation.as_ref().filter(|relation| **relation != Relation::Same);
            let relation = relation.map(Relation::word).unwrap_or_default();
            let AudienceChange { everyone, nobody, is_loosened, edit: own, .. } = audience;
            let share = message.shares.and_then(|shares| shares.moved());
            let (is_quiet, any_hour) = (!message.quiet.is_empty(), message.any_hour.is_some());
            format!(
                "{sender} {kind} {class:?} {relation} {everyone} {nobody} {is_loosened} {own} {edit} {shift:?} {moved} \
                 {trigger:?} {is_quiet} {any_hour} {new_hosts:?} {because:?} {is_by_hand} {share:?}"
            )
        }
    }
}
