//! The messages whose recipients change, as descriptions of devices.

use std::collections::BTreeSet;

use pushplan_model::address::Address;
use pushplan_model::audience::{Audience, Relation};
use pushplan_model::kinds::{self, Firing};

use super::{MessageChange, MessageFate};
use crate::plan::Change;
use crate::review::{Review, Side, after, before};

/// A sender, and the recipients of its message before and after. A side without an audience or a trigger reaches
/// nobody.
#[derive(Clone, Debug)]
pub struct ChangedRecipients {
    pub address: Address,
    pub before: Recipients,
    pub after: Recipients,
}

/// The recipients of a message, on one side.
#[derive(Clone, Debug)]
pub enum Recipients {
    Nobody,
    /// The members of an audience.
    Audience(Audience),
    /// The devices that get or lose a tag.
    Tagged(Firing),
}

impl Review<'_> {
    /// Returns the messages whose recipients change, the most urgent first, each sender once. Messages that the plan
    /// itself triggers are not included, because their changes name the recipients.
    pub fn changed_recipients(&self) -> Vec<ChangedRecipients> {
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        for message in self.impact().iter().filter(|message| message.fate != MessageFate::Sent) {
            if !seen.insert(&message.address) {
                continue;
            }
            let change = self.plan.changes.iter().find(|change| change.address == message.address);
            found.extend(change.and_then(|change| self.recipients_of(change, message)));
        }
        found
    }

    fn recipients_of(&self, change: &Change, message: &MessageChange) -> Option<ChangedRecipients> {
        // A new variant of an existing experiment adds no recipients.
        let trigger = &message.trigger;
        let relation = self.effects(change).first().cloned().flatten();
        // The trigger of a pipeline may change although its condition does not.
        let relation = relation.filter(|relation| trigger.1.is_none() || *relation != Relation::Same);
        let is_changed = match (&relation, message.fate) {
            (Some(relation), _) => *relation != Relation::Same,
            (None, MessageFate::Changed) => trigger.0 != trigger.1,
            (None, _) => true,
        };
        let is_on = |side: Side| {
            let is_left = if side == Side::Before { MessageFate::New } else { MessageFate::Cancelled };
            relation.is_some() || message.fate != is_left
        };
        let recipients = |side: Side| match is_on(side) {
            true => self.recipients(change, side),
            false => Recipients::Nobody,
        };
        is_changed.then(|| ChangedRecipients {
            address: change.address.clone(),
            before: recipients(Side::Before),
            after: recipients(Side::After),
        })
    }

    fn recipients(&self, change: &Change, side: Side) -> Recipients {
        if let Some(audience) = self.push_audience(change, side) {
            return Recipients::Audience(audience);
        }
        let spec = if side == Side::Before { before(change) } else { after(change) };
        let firing = spec.and_then(|spec| kinds::api(&change.address).firing(spec));
        firing.map_or(Recipients::Nobody, Recipients::Tagged)
    }
}
