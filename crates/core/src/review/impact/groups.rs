//! Messages with the same change become one row: the variants of an experiment, the same edit in many pushes.

use std::collections::HashMap;

use pushplan_model::audience::Relation;
use pushplan_model::kinds;
use pushplan_model::text::count;

use super::{MessageChange, MessageClass};
use crate::review::Review;
use crate::review::prose::{self, Piece};

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

/// Two messages with one key are shown in one row.
fn key(message: &MessageChange) -> String {
    let MessageChange {
        sender, address, class, fate, audience, text, times, trigger, quiet, causes, is_by_hand, ..
    } = message;
    let is_moved = times.iter().any(|(was, is)| was.as_ref().map(|it| it.when) != is.as_ref().map(|it| it.when));
    let own = format!("{sender} {:?}", message.after_seconds);
    let relation = audience.relation.as_ref().filter(|relation| **relation != Relation::Same);
    let relation = relation.map(ToString::to_string).unwrap_or_default();
    let edit = match (text.is_changed, text.old == text.new) {
        (true, true) => format!("{:?}", text.fields),
        (true, false) => edit(text.old.as_deref(), text.new.as_deref()),
        (false, _) => String::new(),
    };
    match class {
        // The variants of one experiment differ in their texts alone.
        MessageClass::New | MessageClass::Cancelled | MessageClass::Everyone | MessageClass::QuietHours => {
            format!("{sender} {fate:?} {class:?} {quiet:?} {trigger:?} {is_by_hand}")
        }
        MessageClass::SendsNow | MessageClass::SendsLater => own,
        _ if is_moved || trigger.0 != trigger.1 || !quiet.is_empty() => format!("{sender} {class:?} {edit} {quiet:?}"),
        _ => {
            // An edit of each resource by itself is no common cause.
            let because: Vec<String> = causes
                .iter()
                .filter(|cause| !cause.words.is_empty())
                .map(|cause| format!("{} {}", cause.address, cause.words))
                .collect();
            let kind = &address.kind;
            let sender = if edit.is_empty() && because.is_empty() { sender } else { "" };
            format!("{sender} {kind} {class:?} {relation} {edit} {because:?} {is_by_hand}")
        }
    }
}

/// What goes and comes in a text, without what stays.
fn edit(old: Option<&str>, new: Option<&str>) -> String {
    let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
    match prose::words(old, new) {
        Some(pieces) => {
            let moved = pieces.iter().filter_map(|piece| match piece {
                Piece::Same(_) => None,
                Piece::Goes(text) => Some(format!("-{text}")),
                Piece::Comes(text) => Some(format!("+{text}")),
            });
            moved.collect::<Vec<_>>().join("|")
        }
        None => format!("-{old}|+{new}"),
    }
}
