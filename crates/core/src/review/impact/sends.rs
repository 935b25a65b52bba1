//! Messages that a plan itself triggers: a tag that it adds or removes starts a pipeline.

use std::collections::BTreeMap;

use pushplan_model::text::count;

use super::{AudienceChange, MessageCause, MessageChange, MessageClass, MessageFate, TextChange};
use crate::plan::{CausedSend, Change, RemoteThing};
use crate::review::{Review, Side};

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
        let new = pipeline.and_then(|change| self.texts(change, Side::After).into_iter().next());
        let mut causes: Vec<MessageCause> = Vec::new();
        for (change, send) in sends {
            let address = change.address.resource();
            let words = match &send.tag {
                Some(tag) if send.removed => format!("removes the tag {tag}"),
                Some(tag) => format!("adds the tag {tag}"),
                None => "is applied".to_owned(),
            };
            let aside = self.plan.told.of.get(&address).and_then(|aside| aside.place.clone());
            let cause = MessageCause { address, place: change.place.clone().or(aside), words };
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
            text: TextChange { old: None, new, is_changed: false },
            times: Vec::new(),
            trigger: (None, None),
            quiet: Vec::new(),
            causes,
            recipients: recipients.into_iter().map(str::to_owned).collect(),
            after_seconds: Some(after_seconds),
        }
    }
}
