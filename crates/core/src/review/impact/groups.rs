//! Messages with the same change become one row: the variants of an experiment, the same edit in many pushes.

use std::collections::HashMap;

use pushplan_model::audience::Relation;
use pushplan_model::kinds;
use pushplan_model::nouns::schedule::When;
use pushplan_model::text::count;
use pushplan_project::timing::{Times, range};

use super::{MessageChange, MessageClass};
use crate::review::Review;
use crate::review::prose;

/// Messages that are shown in one row.
#[derive(Clone, Debug)]
pub struct MessageGroup<'r> {
    pub first: &'r MessageChange,
    pub messages: Vec<&'r MessageChange>,
}

impl Review<'_> {
    /// The messages that change, in rows, the most urgent first.
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
        // They are in the order of their senders, within one time.
        let mut senders: Vec<&str> = self.messages.iter().map(|message| message.sender.as_str()).collect();
        senders.sort_unstable();
        senders.dedup();
        senders.len()
    }

    /// What sends them: an address, or how many there are of a kind.
    pub fn name(&self) -> String {
        match self.senders() {
            1 => self.first.sender.clone(),
            number => {
                let kind = kinds::kind(&self.first.address.kind);
                count(number, kind.map_or("message", |kind| kind.noun))
            }
        }
    }

    /// The first and the last time of all of them: as they will be, or as they were if they are cancelled.
    pub fn first_and_last(&self) -> Option<(&Times, &Times)> {
        let times = self.messages.iter().flat_map(|message| &message.times);
        let times: Vec<&Times> = times.filter_map(|(was, is)| is.as_ref().or(was.as_ref())).collect();
        let by_moment = |times: &&Times| range(times.when);
        Some((times.iter().copied().min_by_key(by_moment)?, times.iter().copied().max_by_key(by_moment)?))
    }

    /// Which part of the one resource they are: `variant 2`, `2 variants`.
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
    /// By how many seconds each of its times moves, if all of them move alike.
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

/// Whether a message is sent by each device's own clock.
fn is_by_own_clock((was, is): &(Option<Times>, Option<Times>)) -> bool {
    is.as_ref().or(was.as_ref()).is_some_and(|times| matches!(times.when, When::EachZone(_)))
}

/// The moments of a message, as they were and as they will be.
fn moments(message: &MessageChange) -> String {
    let when = |times: &Option<Times>| times.as_ref().map(|times| times.when);
    let moments: Vec<_> = message.times.iter().map(|(was, is)| (when(was), when(is))).collect();
    format!("{moments:?}")
}

/// Two messages with one key are shown in one row.
fn key(message: &MessageChange) -> String {
    let MessageChange {
        sender,
        address,
        class,
        fate,
        audience,
        text,
        times,
        trigger,
        quiet,
        new_hosts,
        causes,
        is_by_hand,
        ..
    } = message;
    let shift = message.shift();
    let is_moved = shift.is_none() && times.iter().any(super::is_moved);
    let own = format!("{sender} {:?}", message.after_seconds);
    let relation = audience.relation.as_ref().filter(|relation| **relation != Relation::Same);
    let relation = relation.map(ToString::to_string).unwrap_or_default();
    let edit = match text.is_changed || !text.fields.is_empty() {
        true => format!("{} {:?}", prose::edit(text.old.as_deref(), text.new.as_deref()), text.fields),
        false => String::new(),
    };
    match class {
        // One message on many days comes or goes as a whole.
        MessageClass::New | MessageClass::Cancelled if trigger.0.is_none() && trigger.1.is_none() => {
            let (kind, words) = (&address.kind, &audience.words);
            let sender = if message.variant.is_some() { sender } else { "" };
            let content = if sender.is_empty() { message.content.as_str() } else { "" };
            let clocks: Vec<bool> = times.iter().map(is_by_own_clock).collect();
            let because: Vec<&str> = causes.iter().map(|cause| cause.words.as_str()).collect();
            format!(
                "{sender} {kind} {fate:?} {words} {content} {clocks:?} {because:?} {quiet:?} {new_hosts:?} {is_by_hand}"
            )
        }
        // The variants of one experiment differ in their texts alone.
        MessageClass::New | MessageClass::Cancelled | MessageClass::Everyone | MessageClass::QuietHours => {
            let moved = if is_moved || shift.is_some() { moments(message) } else { String::new() };
            format!("{sender} {fate:?} {class:?} {moved} {quiet:?} {new_hosts:?} {trigger:?} {is_by_hand}")
        }
        MessageClass::SendsNow | MessageClass::SendsLater => own,
        _ if is_moved || trigger.0 != trigger.1 || !quiet.is_empty() => {
            let moved = if is_moved || shift.is_some() { moments(message) } else { String::new() };
            format!("{sender} {class:?} {relation} {edit} {moved} {trigger:?} {quiet:?}")
        }
        _ => {
            // An edit of each resource by itself is no common cause.
            let because: Vec<String> = causes
                .iter()
                .filter(|cause| !cause.words.is_empty())
                .map(|cause| format!("{} {}", cause.name(), cause.words))
                .collect();
            let kind = &address.kind;
            let sender = if edit.is_empty() && because.is_empty() && shift.is_none() { sender } else { "" };
            format!("{sender} {kind} {class:?} {relation} {edit} {shift:?} {new_hosts:?} {because:?} {is_by_hand}")
        }
    }
}
