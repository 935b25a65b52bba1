//! Messages that a plan itself triggers: a tag that it adds or removes starts a pipeline.

use std::collections::BTreeMap;

use pushplan_model::kinds::Spec;
use pushplan_model::node::At;
use pushplan_model::source::Span;
use pushplan_model::text::count;

use super::{AudienceChange, MessageCause, MessageChange, MessageClass, MessageFate, TextChange};
use crate::plan::{CausedSend, Change, RemoteThing};
use crate::review::{Review, Side};

/// The addition for a message to a named user.
pub const EACH_DEVICE: &str = ", on each of their devices";

impl MessageChange {
    /// Whether it is sent to named users, who can have several devices.
    pub fn is_to_users(&self) -> bool {
        self.recipients.iter().any(|who| who.starts_with("named user "))
    }
}

impl<'p> Review<'p> {
    /// One message for each sender and delay.
    pub(super) fn sent(&self) -> Vec<MessageChange> {
        let mut by: BTreeMap<(&RemoteThing, i64), Vec<(&'p Change, &'p CausedSend)>> = BTreeMap::new();
        for change in &self.plan.changes {
            for send in &change.sends {
                by.entry((&send.by, send.after_seconds)).or_default().push((change, send));
            }
        }
        by.into_iter().map(|((sender, after), sends)| self.one_sent(sender, after, &sends)).collect()
    }

    /// The text that a pipeline sends with this delay.
    fn sent_after(&self, change: &Change, seconds: i64) -> Option<String> {
        let key = At::new(change.address.key.clone(), Span::NONE);
        let messages = self.of_resource(change, Side::After, |spec: &dyn Spec| super::Messages::of(spec, &key))?;
        let at = messages.delays.iter().position(|delay| delay.0 == seconds).unwrap_or(0);
        messages.texts.get(at).cloned()
    }

    fn one_sent(
        &self,
        sender: &RemoteThing,
        after_seconds: i64,
        sends: &[(&'p Change, &'p CausedSend)],
    ) -> MessageChange {
        let pipeline = match sender {
            RemoteThing::Ours(address) => self.plan.changes.iter().find(|change| change.address == *address),
            RemoteThing::Other { .. } => None,
        };
        let new = pipeline.and_then(|change| self.sent_after(change, after_seconds));
        let mut causes: Vec<MessageCause> = Vec::new();
        for (change, send) in sends {
            let address = change.address.resource();
            let words = match &send.tag {
                Some(tag) if send.removed => format!("removes the tag {tag}"),
                Some(tag) => format!("adds the tag {tag}"),
                None => "is applied".to_owned(),
            };
            let aside = self.plan.told.of.get(&address).and_then(|aside| aside.place.clone());
            let cause = MessageCause::of(address, change.place.clone().or(aside), words);
            if !causes.contains(&cause) {
                causes.push(cause);
            }
        }
        let mut recipients: Vec<&str> = sends.iter().map(|(_, send)| send.to.as_str()).collect();
        recipients.sort_unstable();
        recipients.dedup();
        let words = match &recipients[..] {
            [one] => (*one).to_owned(),
            many => count(many.len(), "recipient"),
        };
        MessageChange {
            sender: sender.to_string(),
            address: pipeline.unwrap_or(sends[0].0).address.clone(),
            variant: None,
            each: "message",
            fate: MessageFate::Sent,
            class: if after_seconds == 0 { MessageClass::SendsNow } else { MessageClass::SendsLater },
            audience: AudienceChange { words, ..AudienceChange::default() },
            text: TextChange { new, ..TextChange::default() },
            content: String::new(),
            times: Vec::new(),
            is_conditional: false,
            trigger: (None, None),
            quiet: Vec::new(),
            causes,
            any_hour: None,
            new_hosts: Vec::new(),
            is_by_hand: false,
            recipients: recipients.into_iter().map(str::to_owned).collect(),
            shares: None,
            after_seconds: Some(after_seconds),
            reach: None,
        }
    }
}
